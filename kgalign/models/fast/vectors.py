"""Sparse vectors of entities, made of the links that are known around them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kgalign.data import Floats, KnowledgeGraph
from kgalign.features.relations import Edges
from kgalign.features.shared import capped, combinations
from kgalign.features.text import unit_rows
from kgalign.parallel import from_entries, product, unique, with_sorted_rows

MIN_RELATION_MATCH = 0.05
MOST_TWO_HOPS = 64  # features for each entity, on average
Sides = tuple[sparse.csr_array, sparse.csr_array]  # (n, f), (m, f)


def relation_features(edges: tuple[Edges, Edges], shared: sparse.csr_array, matches: sparse.csr_array) -> Sides:
    """Features (relation of the target, entity of the target); a source edge has one for each match of its relation and its end.

    Args:
        edges: Those of both graphs.
        shared: (n, m) the probability of each known link.
        matches: How far relations match.
    """
    source, target = (side.triples for side in edges)
    matches = without_weak(matches)
    source = source[(np.diff(shared.indptr)[source[:, 2]] > 0) & (np.diff(matches.indptr)[source[:, 1]] > 0)]
    edge, relation, end, values = combinations(matches[source[:, 1]], shared[source[:, 2]])
    width = shared.shape[1]
    keys = relation.astype(np.int64) * width + end
    features, columns = unique(keys)
    target_keys = target[:, 1] * width + target[:, 2]
    places = np.searchsorted(features, target_keys)
    there = features[np.minimum(places, len(features) - 1)] == target_keys if len(features) else np.zeros(len(places), bool)
    ones = np.ones(there.sum(), np.float32)
    return (
        capped(from_entries(values, source[edge, 0], columns, (shared.shape[0], len(features)))),
        capped(from_entries(ones, target[there, 0], places[there], (shared.shape[1], len(features)))),
    )


def two_hops(edges: tuple[Edges, Edges], near: Sides, shared: sparse.csr_array) -> Sides:
    """For each entity the mean over its neighbours of what is near them, without the entity's own link.

    Two hops lead back to the entity itself, and a link is never evidence for itself.
    """
    own = shared, sparse.eye_array(shared.shape[1], dtype=np.float32, format="csr")
    source, target = (_two_hops(*side) for side in zip((side.adjacency for side in edges), near, own, strict=True))
    return source, target


def _two_hops(adjacency: sparse.csr_array, near: sparse.csr_array, own: sparse.csr_array) -> sparse.csr_array:
    """Hubs lead anywhere, and to more than memory would hold: neighbours with the least around them go first, as far as it lasts."""
    degrees, reach = np.diff(adjacency.indptr), np.diff(near.indptr)
    order = np.argsort(reach, kind="stable")
    passable = np.zeros(len(reach), np.float32)
    passable[order] = np.cumsum(degrees[order].astype(np.int64) * reach[order]) <= MOST_TWO_HOPS * len(reach)
    mean = sparse.diags_array(1 / np.maximum(degrees, 1).astype(np.float32))
    passable_near = sparse.csr_array(sparse.diags_array(passable) @ near)
    passable_near.eliminate_zeros()
    features = product(sparse.csr_array(mean @ adjacency), passable_near)
    features = sparse.csr_array(features - features.multiply(own > 0))
    features.eliminate_zeros()
    return features


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
    sides = []
    for side in (source, target):
        matrix = with_sorted_rows(side)
        matrix.data *= rarity[matrix.indices]
        matrix.eliminate_zeros()
        unit = unit_rows(matrix)
        if short:
            lengths = np.sqrt(matrix.multiply(matrix).sum(axis=1))
            unit.data *= np.repeat(np.minimum(lengths, 1), np.diff(unit.indptr)).astype(np.float32)
        sides.append(unit)
    return sides[0], sides[1]


def feature_rarity(source: sparse.csr_array, target: sparse.csr_array) -> Floats:
    """(f,) how rare each feature is in both graphs: about 1 if one entity of either has it, 0 if all have it or no source entity has."""
    often = np.bincount(source.indices, source.data, source.shape[1])
    entities = source.shape[0] + target.shape[0]
    rarity = np.log(entities / (1 + often + np.bincount(target.indices, minlength=target.shape[1])))
    return (np.where(often > 0, rarity, 0).clip(0) / max(np.log(entities / 3), 1)).astype(np.float32)
