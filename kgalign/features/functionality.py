"""Evidence that adds up: known links at the other ends of relations that determine an entity.

This is the instance equation of PARIS (Suchanek, Abiteboul and Senellart, VLDB 2012). A known link at the end of two edges is evidence for
the entities at their beginning, as far as one relation includes the other and the end determines the beginning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from scipy import sparse

from kgalign.data import Alignment, Floats, Ints
from kgalign.features.relations import Edges

PRIOR_INCLUSION = 0.1  # of a relation in another before any fact is known, counted as one fact
SUREST = 0.999  # of one pair of edges


@dataclass(frozen=True, eq=False)
class AnchoredEvidence:
    """The evidence for any pair from the known links around it; a pair without any has none."""

    edges: tuple[Edges, Edges]
    shared: sparse.csr_array  # (n, m) the probability of each known link
    weights: tuple[Floats, Floats]  # (2 r, 2 s) how far a known link at the ends of two edges is evidence, seen from either graph

    @classmethod
    def of(cls, edges: tuple[Edges, Edges], known: Alignment) -> AnchoredEvidence:
        sizes = edges[0].adjacency.shape[0], edges[1].adjacency.shape[0]
        shared = sparse.csr_array((known.scores.astype(np.float32), (known.sources, known.targets)), shape=sizes)
        source_in_target, target_in_source = relation_inclusions(edges, known)
        weights = (
            target_in_source * inverse_functionality(edges[0])[:, None],
            source_in_target * inverse_functionality(edges[1])[None, :],
        )
        return cls(edges, shared, weights)

    def amount(self, sources: Ints, targets: Ints) -> Floats:
        """(n,) - log of the probability that no known link around the pair is evidence for it, seen from both graphs; 0: none is."""
        left, right = (side.triples for side in self.edges)
        right = right[np.lexsort((right[:, 2], right[:, 0]))]
        starts = [
            np.searchsorted(triples[:, 0], np.arange(side.adjacency.shape[0] + 1))
            for triples, side in zip((left, right), self.edges, strict=True)
        ]
        known = self.shared.indptr, self.shared.indices, self.shared.data
        found: Floats = _amounts(sources, targets, left, starts[0], right, starts[1], *known, *self.weights)
        return found


def inverse_functionality(side: Edges) -> Floats:
    """(2 r,) how well the end of each relation determines its beginning: the number of ends for each edge."""
    _, relations, ends = side.triples.T
    count, kinds = side.adjacency.shape[0], 2 * side.relations
    of_ends = np.bincount(np.unique(relations * count + ends) // max(count, 1), minlength=kinds)
    found: Floats = (of_ends / np.maximum(np.bincount(relations, minlength=kinds), 1)).astype(np.float32)
    return found


def relation_inclusions(edges: tuple[Edges, Edges], known: Alignment) -> tuple[Floats, Floats]:
    """(2 r, 2 s) twice: how far each source relation is included in each target relation, and the reverse, among known links."""
    order = np.argsort(known.scores, kind="stable")  # of several links of an entity, the most probable one stays
    kinds, facts = [2 * side.relations for side in edges], []
    for side, ids, others in ((edges[0], known.sources, known.targets), (edges[1], known.targets, known.targets)):
        number, probability = np.full(side.adjacency.shape[0], -1, np.int64), np.zeros(side.adjacency.shape[0], np.float32)
        number[ids[order]], probability[ids[order]] = others[order], known.scores[order]
        entities, relations, ends = side.triples.T
        inside = (number[entities] >= 0) & (number[ends] >= 0)
        entities, relations, ends = entities[inside], relations[inside], ends[inside]
        keys = number[entities] * edges[1].adjacency.shape[0] + number[ends]
        facts.append((keys, relations, probability[entities] * probability[ends]))
    keys, columns = np.unique(np.concatenate([facts[0][0], facts[1][0]]), return_inverse=True)
    at = np.split(columns, [len(facts[0][0])])
    weighted, plain = (
        [
            sparse.csr_array((values, (relations, column)), shape=(count, len(keys)))
            for (_, relations, weights), column, count in zip(facts, at, kinds, strict=True)
            for values in (weights if own else np.ones(len(weights), np.float32),)
        ]
        for own in (True, False)
    )
    often = [side.sum(axis=1) for side in weighted]
    left = ((weighted[0] @ plain[1].T).toarray() + PRIOR_INCLUSION) / (often[0][:, None] + 1)
    right = ((plain[0] @ weighted[1].T).toarray() + PRIOR_INCLUSION) / (often[1][None, :] + 1)
    return np.minimum(left, 1).astype(np.float32), np.minimum(right, 1).astype(np.float32)


@numba.njit(parallel=True, cache=True)
def _amounts(sources, targets, left, left_starts, right, right_starts, indptr, indices, data, forward, backward):  # type: ignore[no-untyped-def]
    """For each pair the sum over known links around it, each by the best pair of relations that leads to it."""
    amounts = np.zeros(len(sources), np.float32)
    for pair in numba.prange(len(sources)):
        first, last = right_starts[targets[pair]], right_starts[targets[pair] + 1]
        total = 0.0
        for edge in range(left_starts[sources[pair]], left_starts[sources[pair] + 1]):
            relation, end = left[edge, 1], left[edge, 2]
            for link in range(indptr[end], indptr[end + 1]):
                low, high = first, last
                while low < high:
                    middle = (low + high) // 2
                    if right[middle, 2] < indices[link]:
                        low = middle + 1
                    else:
                        high = middle
                best = 0.0
                while low < last and right[low, 2] == indices[link]:
                    other = right[low, 1]
                    value = -np.log(1 - min(SUREST, data[link] * forward[relation, other]))
                    value -= np.log(1 - min(SUREST, data[link] * backward[relation, other]))
                    best = max(best, value)
                    low += 1
                total += best
        amounts[pair] = total
    return amounts
