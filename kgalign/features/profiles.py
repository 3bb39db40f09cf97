"""Relation profiles: entities that are the same have relations that go together, even where no relation matches another exactly.

A person has a birthplace in one graph, and awards and battles in the other. Known links show which relations go together. Canonical
correlation analysis (Hotelling, 1936) turns that into vectors: directions of the profiles of either graph that vary together.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numba
import numpy as np
import scipy  # which imports its parts when they are first used
from scipy import sparse

from kgalign.blocks import one_dense_thread, threads
from kgalign.data import Alignment, Floats
from kgalign.features.relations import Edges

MIN_LINKS = 200  # fewer do not show which relations go together
MIN_OFTEN = 5  # known links that have a relation: rarer ones are left out
MOST_RELATIONS = 1500  # of either graph, the most frequent ones
DIMENSIONS = 100
RIDGE = 3.0  # how far the analysis distrusts what few links show
ITERATIONS = 3  # of the subspace iteration that finds the directions
COLUMN_BLOCKS = 4  # that are solved side by side

Sides = tuple[Floats, Floats]  # (n, d), (m, d)


def profile_vectors(edges: tuple[Edges, Edges], known: Alignment) -> Sides | None:
    """Unit vectors of the entities of both graphs, 0 for an entity without any relation; None where too few links are known.

    Args:
        edges: Those of both graphs.
        known: Each link counts by its probability.
    """
    if len(known) < MIN_LINKS:
        return None
    weights = sparse.diags_array(np.sqrt(known.scores).astype(np.float32))
    linked, frequent = [], []
    for side, ids in zip(edges, known.pairs.T, strict=True):
        own = side.profiles[ids]
        often = np.bincount(own.indices, minlength=own.shape[1])
        kept = np.argsort(-often, kind="stable")[:MOST_RELATIONS]
        frequent.append(np.sort(kept[often[kept] >= MIN_OFTEN]))
        linked.append(sparse.csr_array(weights @ own[:, frequent[-1]]))
    if not all(map(len, frequent)):
        return None
    vectors = []
    for side, kept, directions in zip(edges, frequent, _directions(linked[0], linked[1]), strict=True):
        profile = side.profiles
        turned = np.zeros((profile.shape[1], directions.shape[1]), np.float32)
        turned[kept] = directions
        vectors.append(_unit_products(profile.indptr, profile.indices, profile.data, turned))
    return vectors[0], vectors[1]


def _directions(source: sparse.csr_array, target: sparse.csr_array) -> Sides:
    """(r, d) and (s, d) the directions in which the profiles of linked entities correlate, the strongest ones, by their correlation."""
    cross = sparse.csr_array(source.T @ target, dtype=np.float64)
    back = sparse.csr_array(cross.T)
    size = min(DIMENSIONS, *cross.shape)
    right = np.random.default_rng(0).standard_normal((cross.shape[1], size))
    with one_dense_thread(), ThreadPoolExecutor(min(threads(), COLUMN_BLOCKS)) as pool:

        def solve(factor: Floats, columns: Floats) -> Floats:
            blocks = np.array_split(columns, COLUMN_BLOCKS, axis=1)  # the same for any number of threads
            return np.hstack(list(pool.map(partial(_solve, factor), blocks)))

        one, other = pool.map(_factor, (source, target))
        for _ in range(ITERATIONS):
            left = solve(one.T, solve(one, cross @ solve(other.T, right)))
            right, _ = np.linalg.qr(solve(other, back @ left))
        left, strengths, turn = np.linalg.svd(solve(one, cross @ solve(other.T, right)), full_matrices=False)
        weights = np.sqrt(strengths)
        return (
            (solve(one.T, left) * weights).astype(np.float32),
            (solve(other.T, right @ turn.T) * weights).astype(np.float32),
        )


def _factor(profiles: sparse.csr_array) -> Floats:
    """The lower triangular factor of the covariance."""
    covariance = (profiles.T @ profiles).toarray().astype(np.float64)
    covariance[np.diag_indices_from(covariance)] += RIDGE
    factor: Floats = np.linalg.cholesky(covariance)
    return factor


def _solve(factor: Floats, columns: Floats) -> Floats:
    """The columns that a factor turns into these."""
    is_lower = factor.flags.c_contiguous  # and not the transpose of one
    found: Floats = scipy.linalg.solve_triangular(factor, columns, lower=is_lower, check_finite=False)
    return found


@numba.njit(parallel=True, cache=True)
def _unit_products(indptr, indices, data, dense):  # type: ignore[no-untyped-def]
    """The rows of the product of a sparse and a dense matrix, each of length 1; 0 for an empty one."""
    products = np.zeros((len(indptr) - 1, dense.shape[1]), np.float32)
    for row in numba.prange(len(products)):
        product = products[row]
        for at in range(indptr[row], indptr[row + 1]):
            product += data[at] * dense[indices[at]]
        length = np.sqrt(np.sum(product * product))
        if length > 0:
            product /= length
    return products
