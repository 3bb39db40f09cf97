"""Relation profiles: entities that are the same have relations that go together, even where no relation matches another exactly.

A person has a birthplace in one graph, and awards and battles in the other. Known links show which relations go together. Canonical
correlation analysis (Hotelling, 1936) turns that into vectors: directions of the profiles of either graph that vary together.
"""

from __future__ import annotations

import numpy as np
import scipy  # which imports its parts when they are first used
from scipy import sparse

from kgalign.blocks import one_dense_thread
from kgalign.data import Alignment, Floats
from kgalign.features.relations import Edges

MIN_LINKS = 200  # fewer do not show which relations go together
MIN_OFTEN = 5  # known links that have a relation: rarer ones are left out
MOST_RELATIONS = 1500  # of either graph, the most frequent ones
DIMENSIONS = 100
RIDGE = 3.0  # how far the analysis distrusts what few links show
ITERATIONS = 3  # of the subspace iteration that finds the directions

Sides = tuple[Floats, Floats]  # (n, d), (m, d)


def profile_vectors(edges: tuple[Edges, Edges], known: Alignment) -> Sides | None:
    """Unit vectors of the entities of both graphs, 0 for an entity without any relation; None where too few links are known.

    Args:
        edges: Those of both graphs.
        known: Each link counts by its probability.
    """
    if len(known) < MIN_LINKS:
        return None
    counts = sparse.diags_array(np.sqrt(known.scores).astype(np.float32))
    profiles, linked = [], []
    for side, ids in zip(edges, known.pairs.T, strict=True):
        profile = side.profiles
        often = np.bincount(profile[ids].indices, minlength=profile.shape[1])
        kept = np.argsort(-often, kind="stable")[:MOST_RELATIONS]
        profile = sparse.csr_array(profile[:, np.sort(kept[often[kept] >= MIN_OFTEN])])
        profiles.append(profile)
        linked.append(sparse.csr_array(counts @ profile[ids]))
    if not all(profile.shape[1] for profile in profiles):
        return None
    with one_dense_thread():
        directions = _directions(linked[0], linked[1])
    source, target = (_unit(profile @ own) for profile, own in zip(profiles, directions, strict=True))
    return source, target


def _directions(source: sparse.csr_array, target: sparse.csr_array) -> Sides:
    """(r, d) and (s, d) the directions in which the profiles of linked entities correlate, the strongest ones, by their correlation."""
    factors = []
    for side in (source, target):
        covariance = (side.T @ side).toarray().astype(np.float64)
        covariance[np.diag_indices_from(covariance)] += RIDGE
        factors.append(np.linalg.cholesky(covariance))
    solve = scipy.linalg.solve_triangular
    correlations = solve(factors[0], (source.T @ target).toarray().astype(np.float64), lower=True)
    correlations = solve(factors[1], correlations.T, lower=True).T
    size = min(DIMENSIONS, *correlations.shape)
    right = np.random.default_rng(0).standard_normal((correlations.shape[1], size))
    for _ in range(ITERATIONS):
        right, _ = np.linalg.qr(correlations.T @ (correlations @ right))
    left, strengths, turn = np.linalg.svd(correlations @ right, full_matrices=False)
    weights = np.sqrt(strengths)
    return (
        (solve(factors[0].T, left, lower=False) * weights).astype(np.float32),
        (solve(factors[1].T, right @ turn.T, lower=False) * weights).astype(np.float32),
    )


def _unit(rows: Floats) -> Floats:
    found: Floats = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)).astype(np.float32)
    return found
