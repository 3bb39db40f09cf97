"""Evidence that adds up: known links at the other ends of relations that determine an entity.

This is the instance equation of PARIS (Suchanek, Abiteboul and Senellart, VLDB 2012). A known link at the end of two edges is evidence for
the entities at their beginning, as far as one relation includes the other and the end determines the beginning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numba
import numpy as np
from scipy import sparse

from kgalign.data import Alignment, Floats, Ints
from kgalign.features.relations import Edges, facts_between_links
from kgalign.matrices import product, transposed
from kgalign.parallel import sums

PRIOR_INCLUSION = 0.1  # of a relation in another before any fact is known, counted as one fact
SUREST = 0.999  # of one pair of edges


@dataclass(frozen=True, eq=False)
class Inclusions:
    """How far relations include each other among known links.

    Attributes:
        common: (2 r, 2 s) the facts that two relations have in common, each by its probability in the source and in the target.
        often: (2 r,) and (2 s,) the facts of each relation between known links, each by its probability.
    """

    common: tuple[sparse.csr_array, sparse.csr_array]
    often: tuple[Floats, Floats]

    @classmethod
    def of(cls, edges: tuple[Edges, Edges], known: Alignment) -> Inclusions:
        known = known.where(known.scores > 0)  # so that both products have the same pairs of relations
        order = np.argsort(known.scores, kind="stable")  # of several links of an entity, the most probable one stays
        numbers, shares = [], []
        for side, ids in zip(edges, (known.sources, known.targets), strict=True):
            number, probability = np.full(side.adjacency.shape[0], -1, np.int64), np.zeros(side.adjacency.shape[0])
            number[ids[order]], probability[ids[order]] = known.targets[order], known.scores[order]
            numbers.append(number)
            shares.append(probability)
        sides = facts_between_links(edges, (numbers[0], numbers[1]), edges[1].adjacency.shape[0], (shares[0], shares[1]))
        (plain, weighted), (other_plain, other_weighted) = sides
        common = product(transposed(weighted), other_plain), product(transposed(plain), other_weighted)
        often = [sums(side.indices, side.data, side.shape[1]) for side in (weighted, other_weighted)]
        return cls(common, (often[0], often[1]))


@dataclass(frozen=True, eq=False)
class AnchoredEvidence:
    """The evidence for any pair from the known links around it; a pair without any has none."""

    edges: tuple[Edges, Edges]
    shared: sparse.csr_array  # (n, m) the probability of each known link
    inclusions: Inclusions

    @classmethod
    def of(cls, edges: tuple[Edges, Edges], known: Alignment) -> AnchoredEvidence:
        return cls(edges, _shared(edges, known), Inclusions.of(edges, known))

    def with_links(self, known: Alignment) -> AnchoredEvidence:
        """The same relations with other known links."""
        return replace(self, shared=_shared(self.edges, known))

    def amount(self, sources: Ints, targets: Ints) -> Floats:
        """(n,) - log of the probability that no known link around the pair is evidence for it, seen from both graphs; 0: none is."""
        left, right = self.edges
        common = self.inclusions.common
        found: Floats = _amounts(
            sources,
            targets,
            (left.triples, left.starts),
            (right.by_neighbour, right.starts),
            (self.shared.indptr, self.shared.indices, self.shared.data),
            (common[0].indptr, common[0].indices, common[0].data, common[1].data),
            self.inclusions.often,
            (left.inverse_functionality, right.inverse_functionality),
        )
        return found


def _shared(edges: tuple[Edges, Edges], known: Alignment) -> sparse.csr_array:
    sizes = edges[0].adjacency.shape[0], edges[1].adjacency.shape[0]
    return sparse.csr_array((known.scores.astype(np.float32), (known.sources, known.targets)), shape=sizes)


@numba.njit(parallel=True, cache=True)
def _amounts(sources, targets, left, right, shared, common, often, functionality):  # type: ignore[no-untyped-def]
    """For each pair the sum over known links around it, each by the best pair of relations that leads to it."""
    (left_edges, left_starts), (right_edges, right_starts) = left, right
    indptr, indices, data = shared
    amounts = np.zeros(len(sources), np.float32)
    for pair in numba.prange(len(sources)):
        first, last = right_starts[targets[pair]], right_starts[targets[pair] + 1]
        total = 0.0
        for edge in range(left_starts[sources[pair]], left_starts[sources[pair] + 1]):
            relation, end = left_edges[edge, 1], left_edges[edge, 2]
            for link in range(indptr[end], indptr[end + 1]):
                low, high = first, last
                while low < high:
                    middle = (low + high) // 2
                    if right_edges[middle, 2] < indices[link]:
                        low = middle + 1
                    else:
                        high = middle
                best = 0.0
                while low < last and right_edges[low, 2] == indices[link]:
                    other = right_edges[low, 1]
                    best = max(best, _of_relations(relation, other, data[link], common, often, functionality))
                    low += 1
                total += best
        amounts[pair] = total
    return amounts


@numba.njit(cache=True)
def _of_relations(relation, other, probability, common, often, functionality):  # type: ignore[no-untyped-def]
    """How far a link of that probability is evidence, at the ends of an edge of one relation and of an edge of the other."""
    indptr, indices, in_source, in_target = common
    low, high = indptr[relation], indptr[relation + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < other:
            low = middle + 1
        else:
            high = middle
    is_known = low < indptr[relation + 1] and indices[low] == other
    source_facts, target_facts = (in_source[low], in_target[low]) if is_known else (0.0, 0.0)
    source_in_target = min(1.0, (source_facts + PRIOR_INCLUSION) / (often[0][relation] + 1))
    target_in_source = min(1.0, (target_facts + PRIOR_INCLUSION) / (often[1][other] + 1))
    value = -np.log(1 - min(SUREST, probability * target_in_source * functionality[0][relation]))
    return value - np.log(1 - min(SUREST, probability * source_in_target * functionality[1][other]))
