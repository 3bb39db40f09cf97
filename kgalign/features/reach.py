"""Reach: what is known three hops away, as dense vectors of entities that both graphs share.

This is the propagation of LightEA (Mao, Wang, Wu and Lan, EMNLP 2022). Every known link has a random vector, the same at both ends. Two steps
spread the vectors over neighbours and relations. In a third step an entity sums, over its edges, the outer product of the relation's
vector and the neighbour's: two entities are similar if similar relations lead to similar neighbours. The outer product is kept as the
elementwise product of two random projections, whose inner products are the same on average.
"""

from __future__ import annotations

import numba
import numpy as np
from scipy import sparse

from kgalign.data import Alignment, Floats
from kgalign.features.relations import Edges

STEPS = 2
DIMENSIONS = 512  # of the vector of a known link
SKETCH = 1024  # dimensions of the result


def reach_vectors(edges: tuple[Edges, Edges], known: Alignment, seed: int = 0) -> tuple[Floats, Floats]:
    """(n, d) and (m, d) unit vectors of the entities of both graphs; 0 where no known link is within reach.

    Args:
        edges: Those of both graphs.
        known: A link counts by its probability.
        seed: Draws the vectors and the projections.
    """
    random = np.random.default_rng(seed)
    links = _unit(_normal(random, len(known), DIMENSIONS)) * known.scores[:, None].astype(np.float32)
    projections = _normal(random, DIMENSIONS, SKETCH), _normal(random, (STEPS + 1) * DIMENSIONS, SKETCH)
    source, target = (
        _spread(side, ids, links, projections) for side, ids in zip(edges, (known.sources, known.targets), strict=True)
    )
    return source, target


def _spread(side: Edges, ids: Floats, links: Floats, projections: tuple[Floats, Floats]) -> Floats:
    """(n, d) the vectors of one graph; `ids` are the ends of the known links in it."""
    entities, relations, neighbours = side.triples.T
    count, kinds = side.adjacency.shape[0], 2 * side.relations
    ones = np.ones(len(entities), np.float32)
    adjacency = sparse.csr_array((ones, (entities, neighbours)), shape=(count, count))  # the number of edges
    of_entities = sparse.csr_array((ones, (entities, relations)), shape=(count, kinds))
    of_relations = sparse.csr_array((ones, (relations, entities)), shape=(kinds, count))
    degrees = np.diff(of_entities.indptr)[:, None].astype(np.float32)
    of_relations.data[:] = 1
    at_entities = sparse.csr_array((np.ones(len(ids), np.float32), (ids, np.arange(len(ids)))), shape=(count, len(ids)))
    steps = [at_entities @ links]
    for _ in range(STEPS):
        last = steps[-1]
        steps.append(_unit(adjacency @ last + degrees * last + of_entities @ _unit(of_relations @ last)))
    by_relation = _unit(of_relations @ steps[-1]) @ projections[0]
    by_neighbour = np.concatenate(steps, axis=1) @ projections[1]
    return _unit(_sums_of_products(side.starts, relations, neighbours, by_relation, by_neighbour))


@numba.njit(parallel=True, fastmath=True, cache=True)
def _sums_of_products(starts, relations, neighbours, by_relation, by_neighbour):  # type: ignore[no-untyped-def]
    """(n, d) for each entity the sum over its edges of the relation's row times the neighbour's row."""
    sums = np.zeros((len(starts) - 1, by_relation.shape[1]), np.float32)
    for entity in numba.prange(len(starts) - 1):
        for edge in range(starts[entity], starts[entity + 1]):
            relation, neighbour = relations[edge], neighbours[edge]
            for at in range(sums.shape[1]):
                sums[entity, at] += by_relation[relation, at] * by_neighbour[neighbour, at]
    return sums


def _normal(random: np.random.Generator, rows: int, columns: int) -> Floats:
    return random.standard_normal((rows, columns), np.float32)


def _unit(rows: Floats) -> Floats:
    found: Floats = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)).astype(np.float32)
    return found
