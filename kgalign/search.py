"""The best candidates of every query, exactly, block by block: never a full n x m matrix in memory."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from scipy import sparse

from kgalign.data import Candidates, Floats, Ints
from kgalign.errors import OptionError

Vectors = Any  # (n, d) a numpy array, or a csr_array of scipy


def find_candidates(
    source: Vectors,
    target: Vectors,
    queries: Ints,
    pool: Ints,
    k: int,
    *,
    both_directions: bool = False,
    memory_mb: int = 512,
    seed: int = 0,
) -> Candidates:
    """For each query the k targets of the pool with the largest inner product, best first.

    source, target      vectors of all entities, (n, d) and (m, d), both sparse or both dense
    memory_mb           what a block of dense similarities may take; sparse ones need a row a thread
    both_directions     a row also gets the targets that have it among their own k best, up to 4 k in all
    seed                shuffles what is exactly tied, so that no order of ids decides
    """
    if k < 1:
        raise OptionError(f"k={k}: expected at least one candidate")
    if not len(queries) or not len(pool):
        return Candidates(queries, np.full((len(queries), 1), -1), np.full((len(queries), 1), -np.inf))
    shuffle = np.random.default_rng(seed)
    queries, pool = queries[shuffle.permutation(len(queries))], pool[shuffle.permutation(len(pool))]
    source, target = source[queries], target[pool]
    columns, scores = top_k(source, target, k, memory_mb=memory_mb)
    rows = np.repeat(np.arange(len(queries)), columns.shape[1])
    edges: list[tuple[Ints, Ints, Floats]] = [(rows, columns.ravel(), scores.ravel())]
    if both_directions:
        backward, backward_scores = top_k(target, source, k, memory_mb=memory_mb)
        edges.append((backward.ravel(), np.repeat(np.arange(len(pool)), backward.shape[1]), backward_scores.ravel()))
    rows, columns, scores = (np.concatenate(parts) for parts in zip(*edges, strict=True))
    there = (rows >= 0) & (columns >= 0)
    candidates = pack(rows[there], columns[there], scores[there], len(queries), 4 * k if both_directions else k)
    targets = np.where(candidates.targets >= 0, pool[candidates.targets], -1)
    back = np.argsort(queries)
    return Candidates(queries[back], targets[back].astype(np.int32), candidates.scores[back])


def top_k(source: Vectors, target: Vectors, k: int, *, memory_mb: int = 512) -> tuple[Ints, Floats]:
    """(n, k) positions and inner products of the k best targets of each source, best first; -1 and -inf where there are fewer.

    Sparse vectors that share nothing are no candidates of each other.
    """
    k = min(k, target.shape[0])
    if sparse.issparse(source):
        postings = sparse.csr_array(target.T)
        return _sparse_top_k(
            source.indptr,
            source.indices,
            source.data,
            postings.indptr,
            postings.indices,
            postings.data,
            target.shape[0],
            k,
            8 * numba.get_num_threads(),
        )
    block = max(1, memory_mb * 2**20 // (24 * max(1, target.shape[0])))
    parts = [_dense_top_k(source[start : start + block] @ target.T, k) for start in range(0, source.shape[0], block)]
    if not parts:
        return np.empty((0, k), np.int64), np.empty((0, k), np.float32)
    columns, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
    return columns, scores


def pack(rows: Ints, columns: Ints, scores: Floats, count: int, k: int) -> Candidates:
    """Candidates of the queries 0..count-1 out of scored pairs in any order; a pair given twice counts once, at its best."""
    order = np.lexsort((-scores, columns, rows))
    rows, columns, scores = rows[order], columns[order], scores[order]
    fresh = np.ones(len(rows), bool)
    fresh[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    rows, columns, scores = rows[fresh], columns[fresh], scores[fresh]
    order = np.lexsort((-scores, rows))
    rows, columns, scores = rows[order], columns[order], scores[order]
    ranks = np.arange(len(rows)) - np.searchsorted(rows, rows)
    kept = ranks < k
    width = int(ranks[kept].max(initial=0)) + 1
    targets = np.full((count, width), -1, np.int64)
    values = np.full((count, width), -np.inf, np.float32)
    targets[rows[kept], ranks[kept]] = columns[kept]
    values[rows[kept], ranks[kept]] = scores[kept]
    return Candidates(np.arange(count), targets, values)


def _dense_top_k(similarity: Floats, k: int) -> tuple[Ints, Floats]:
    best = np.argpartition(-similarity, k - 1, axis=1)[:, :k] if k < similarity.shape[1] else None
    if best is None:
        best = np.broadcast_to(np.arange(k), (len(similarity), k))
    scores = np.take_along_axis(similarity, best, axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1), np.take_along_axis(scores, order, axis=1)


@numba.njit(parallel=True, cache=True)
def _sparse_top_k(indptr, indices, data, post_indptr, post_indices, post_data, m, k, chunks):  # type: ignore[no-untyped-def]
    """One dense row of sums a thread, filled from the postings of each feature; then the k largest by a small sorted list."""
    n = len(indptr) - 1
    columns = np.full((n, k), -1, np.int64)
    scores = np.full((n, k), -np.inf, np.float32)
    chunks = min(n, chunks)
    for chunk in numba.prange(chunks):
        sums = np.zeros(m, np.float32)
        for row in range(chunk * n // chunks, (chunk + 1) * n // chunks):
            for at in range(indptr[row], indptr[row + 1]):
                feature, weight = indices[at], data[at]
                for post in range(post_indptr[feature], post_indptr[feature + 1]):
                    sums[post_indices[post]] += weight * post_data[post]
            for column in range(m):
                value = sums[column]
                sums[column] = 0
                if value > 0 and value > scores[row, k - 1]:
                    place = k - 1
                    while place > 0 and scores[row, place - 1] < value:
                        scores[row, place] = scores[row, place - 1]
                        columns[row, place] = columns[row, place - 1]
                        place -= 1
                    scores[row, place] = value
                    columns[row, place] = column
    return columns, scores
