"""Links as triples in N-Triples, for graph stores: owl:sameAs, and what says the same of classes, properties and concepts."""

from __future__ import annotations

from pathlib import Path

from kgalign.data import Alignment, AlignmentTask
from kgalign.iri import SCHEME, strict_iri
from kgalign.writers.kinds import link_kinds

SAME_AS = "<http://www.w3.org/2002/07/owl#sameAs>"
EQUIVALENT_CLASS = "<http://www.w3.org/2002/07/owl#equivalentClass>"
EQUIVALENT_PROPERTY = "<http://www.w3.org/2002/07/owl#equivalentProperty>"
EXACT_MATCH = "<http://www.w3.org/2004/02/skos/core#exactMatch>"
PREDICATES = (SAME_AS, EQUIVALENT_CLASS, EQUIVALENT_PROPERTY, EXACT_MATCH)  # in the order of KINDS
PLAUSIBLE = 0.5


def write(alignment: Alignment, task: AlignmentTask, path: Path) -> None:
    """Writes one triple for each link with a probability above 0.5: its predicate claims that the two are identical."""
    plausible = alignment.where(alignment.scores > PLAUSIBLE)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for (source, target), kind in zip(plausible.pairs.tolist(), link_kinds(plausible, task).tolist(), strict=True):
            subject, same = iri(task.source.entities[source], "source"), iri(task.target.entities[target], "target")
            print(subject, PREDICATES[kind], same, ".", file=file)


def iri(entity: str, side: str) -> str:
    """The entity as an absolute IRI in angle brackets; characters that an IRI cannot hold are percent-encoded."""
    if entity.startswith("<") and entity.endswith(">"):
        entity = entity[1:-1]
    if not SCHEME.match(entity):
        entity = f"urn:kgalign:{side}:{entity}"  # N-Triples has no relative IRIs
    return f"<{strict_iri(entity)}>"
