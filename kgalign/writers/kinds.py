"""The kind of a link, which decides how RDF states it."""

from __future__ import annotations

import numpy as np

from kgalign.data import CONCEPT, INDIVIDUAL, Alignment, AlignmentTask, Ints


def link_kinds(alignment: Alignment, task: AlignmentTask) -> Ints:
    """(n,) the position in `KINDS` of the kind of each link: that of both entities.

    Where the two differ, the link is one of concepts if either entity is a concept: skos:exactMatch claims less than owl:sameAs. Else it
    is one of individuals.
    """
    sources, targets = task.source.kinds[alignment.sources], task.target.kinds[alignment.targets]
    of_two_kinds = np.where((sources == CONCEPT) | (targets == CONCEPT), CONCEPT, INDIVIDUAL)
    return np.where(sources == targets, sources, of_two_kinds)
