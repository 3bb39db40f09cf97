"""The predicates that say of two entities that they are the same thing, or that they are not."""

from __future__ import annotations

from kgalign.readers.vocabulary import OWL, SKOS

# skos:closeMatch is not among them: it holds between things that are alike for some purposes only.
SAME = frozenset((f"{OWL}sameAs", f"{OWL}equivalentClass", f"{OWL}equivalentProperty", f"{SKOS}exactMatch"))
DIFFERENT = frozenset((f"{OWL}differentFrom",))
SHOWN = "owl:sameAs, owl:equivalentClass, owl:equivalentProperty or skos:exactMatch"
