"""Sparse vectors of entities, made of the links that are known around them."""

from __future__ import annotations

import numba
import numpy as np
from scipy import sparse

from kgalign.blocks import starts_of
from kgalign.data import Floats, Ints, KnowledgeGraph
from kgalign.features.relations import Edges
from kgalign.features.shared import capped
from kgalign.matrices import from_entries, weighted_rows
from kgalign.parallel import counts, sums, taken, unique

MIN_RELATION_MATCH = 0.05
Sides = tuple[sparse.csr_array, sparse.csr_array]  # (n, f), (m, f)


def relation_features(edges: tuple[Edges, Edges], shared: sparse.csr_array, matches: sparse.csr_array) -> Sides:
    """Features (relation of the target, entity of the target); a source edge has one for each match of its relation and its end.

    Args:
        edges: Those of both graphs.
        shared: (n, m) the probability of each known link.
        matches: How far relations match.
    """
    source, target = edges
    matches, width = without_weak(matches), shared.shape[1]
    arrays = (*_arrays(matches), *_arrays(shared))
    starts = starts_of(_count_leading(source.triples, arrays[0], arrays[3]))
    owners, keys, values = _leading(source.triples, *arrays, width, starts)
    features, columns = unique(keys)
    places = _places(features, target.triples, width)
    there = np.flatnonzero(places >= 0)
    return (
        capped(from_entries(values, owners, columns, (shared.shape[0], len(features)))),
        capped(
            from_entries(
                np.ones(len(there), np.float32), taken(target.triples[:, 0], there), taken(places, there), (width, len(features))
            )
        ),
    )


def roles(graph: KnowledgeGraph) -> sparse.csr_array:
    """(n, 2 r) the logarithm of how often each relation points to an entity; the columns of reversed relations are empty."""
    _, relations, tails = graph.triples.T
    shape = len(graph.entities), 2 * len(graph.relations)
    often = sparse.csr_array((np.ones(len(tails), np.float32), (tails, relations)), shape=shape)
    often.data = np.log1p(often.data)
    return often


def without_weak(matches: sparse.csr_array) -> sparse.csr_array:
    """The matches of relations without the very weak ones."""
    matches = sparse.csr_array(matches.multiply(matches > MIN_RELATION_MATCH), dtype=np.float32)
    matches.eliminate_zeros()
    return matches


def weighted(source: sparse.csr_array, target: sparse.csr_array, *, short: bool = True) -> Sides:
    """Rows in which a feature counts by its rarity in both graphs; features that no source entity has are left out.

    Args:
        source: (n, f) features of the source entities.
        target: (m, f) features of the target entities.
        short: Whether a row stays shorter than 1 if there is less in it than one unique feature: a feature that many have in common does
            not make two entities similar.
    """
    rarity = feature_rarity(source, target)
    return weighted_rows(source, rarity, float(short)), weighted_rows(target, rarity, float(short))


def feature_rarity(source: sparse.csr_array, target: sparse.csr_array) -> Floats:
    """(f,) how rare each feature is in both graphs: about 1 if one entity of either has it, 0 if all have it or no source entity has."""
    often = sums(source.indices, source.data, source.shape[1])
    entities = source.shape[0] + target.shape[0]
    rarity = np.log(entities / (1 + often + counts(target.indices, target.shape[1])))
    return (np.where(often > 0, rarity, 0).clip(0) / max(np.log(entities / 3), 1)).astype(np.float32)


def _arrays(matrix: sparse.csr_array) -> tuple[Ints, Ints, Floats]:
    return matrix.indptr, matrix.indices, matrix.data


@numba.njit(parallel=True, cache=True)
def _count_leading(triples, indptr, shared_indptr):  # type: ignore[no-untyped-def]
    """How many pairs of a match of its relation and a link of its end each edge has."""
    counts = np.empty(len(triples), np.int64)
    for edge in numba.prange(len(triples)):
        relation, end = triples[edge, 1], triples[edge, 2]
        counts[edge] = (indptr[relation + 1] - indptr[relation]) * (shared_indptr[end + 1] - shared_indptr[end])
    return counts


@numba.njit(parallel=True, cache=True)
def _leading(triples, indptr, indices, data, shared_indptr, shared_indices, shared_data, width, starts):  # type: ignore[no-untyped-def]
    """The entity of the edge of each of these pairs, a number for the other relation and end, and how far they match."""
    owners, keys = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int64)
    values = np.empty(starts[-1], np.float32)
    for edge in numba.prange(len(triples)):
        relation, end = triples[edge, 1], triples[edge, 2]
        place = starts[edge]
        for one in range(indptr[relation], indptr[relation + 1]):
            for two in range(shared_indptr[end], shared_indptr[end + 1]):
                owners[place] = triples[edge, 0]
                keys[place] = np.int64(indices[one]) * width + shared_indices[two]
                values[place] = data[one] * shared_data[two]
                place += 1
    return owners, keys, values


@numba.njit(parallel=True, cache=True)
def _places(features, triples, width):  # type: ignore[no-untyped-def]
    """The place of the relation and end of each edge among ascending features, -1: they are none."""
    places = np.full(len(triples), -1, np.int32)
    for edge in numba.prange(len(triples)):
        key = np.int64(triples[edge, 1]) * width + triples[edge, 2]
        place = np.searchsorted(features, key)
        if place < len(features) and features[place] == key:
            places[edge] = place
    return places
