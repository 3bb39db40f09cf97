"""The best candidates of every query, block by block: never a full n x m matrix in memory."""

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
    effort: int | None = None,
    memory_mb: int = 512,
    seed: int = 0,
) -> Candidates:
    """For each query the k targets of the pool with the largest inner product, best first.

    source, target      vectors of all entities, (n, d) and (m, d), both sparse or both dense
    effort              how many targets a query may meet, counted once for each feature that they share, rarest features first; what is
                        common to too many is passed over, and its share of the product is missing. A query with nothing rarer meets
                        that many of them, drawn at random. None: all, exactly
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
    columns, scores = top_k(source, target, k, effort=effort, memory_mb=memory_mb)
    rows = np.repeat(np.arange(len(queries)), columns.shape[1])
    edges: list[tuple[Ints, Ints, Floats]] = [(rows, columns.ravel(), scores.ravel())]
    if both_directions:
        backward, backward_scores = top_k(target, source, k, effort=effort, memory_mb=memory_mb)
        edges.append((backward.ravel(), np.repeat(np.arange(len(pool)), backward.shape[1]), backward_scores.ravel()))
    rows, columns, scores = (np.concatenate(parts) for parts in zip(*edges, strict=True))
    there = (rows >= 0) & (columns >= 0)
    candidates = pack(rows[there], columns[there], scores[there], len(queries), 4 * k if both_directions else k)
    targets = np.where(candidates.targets >= 0, pool[candidates.targets], -1)
    back = np.argsort(queries)
    return Candidates(queries[back], targets[back].astype(np.int32), candidates.scores[back])


def top_k(source: Vectors, target: Vectors, k: int, *, effort: int | None = None, memory_mb: int = 512) -> tuple[Ints, Floats]:
    """(n, k) positions and inner products of the k best targets of each source, best first; -1 and -inf where there are fewer.

    Sparse vectors that share nothing are no candidates of each other.
    """
    k = min(k, target.shape[0])
    if sparse.issparse(source):
        if effort is not None:
            source, target = _rarest_first(source, target)
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
            np.iinfo(np.int64).max if effort is None else effort,
            8 * numba.get_num_threads(),
        )
    block = max(1, memory_mb * 2**20 // (24 * max(1, target.shape[0])))
    parts = [_dense_top_k(source[start : start + block] @ target.T, k) for start in range(0, source.shape[0], block)]
    if not parts:
        return np.empty((0, k), np.int64), np.empty((0, k), np.float32)
    columns, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
    return columns, scores


def pair_products(source: Vectors, target: Vectors, rows: Ints, columns: Ints) -> Floats:
    """(n,) the inner product of each source row with the target row beside it. Sparse vectors have their indices sorted."""
    if sparse.issparse(source):
        return _sparse_products(
            source.indptr, source.indices, source.data, target.indptr, target.indices, target.data, rows, columns
        )
    block = 2**18
    parts = [
        np.einsum("nd,nd->n", source[rows[at : at + block]], target[columns[at : at + block]]) for at in range(0, len(rows), block)
    ]
    return np.concatenate(parts) if parts else np.empty(0, np.float32)


def pack(rows: Ints, columns: Ints, scores: Floats, count: int, k: int) -> Candidates:
    """Candidates of the queries 0..count-1 out of scored pairs in any order; a pair given twice counts once, at its best."""
    order, starts = _by_row(rows, count)
    width = max(1, min(k, int(np.diff(starts).max(initial=0))))
    targets, values = _pack_rows(starts, columns[order].astype(np.int32), scores[order].astype(np.float32), width)
    return Candidates(np.arange(count), targets, values)


def unique_pairs(rows: Ints, columns: Ints, count: int) -> tuple[Ints, Ints]:
    """The same pairs, each once, ordered by row and column; rows are 0..count-1."""
    order, starts = _by_row(rows, count)
    columns = columns[order].astype(np.int32)
    fresh = _sort_rows(starts, columns)
    return np.repeat(np.arange(count), np.diff(starts))[fresh], columns[fresh]


def _dense_top_k(similarity: Floats, k: int) -> tuple[Ints, Floats]:
    best = np.argpartition(-similarity, k - 1, axis=1)[:, :k] if k < similarity.shape[1] else None
    if best is None:
        best = np.broadcast_to(np.arange(k), (len(similarity), k))
    scores = np.take_along_axis(similarity, best, axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _rarest_first(source: sparse.csr_array, target: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
    """The same vectors with their features numbered by how many targets have them."""
    often = np.bincount(target.indices, minlength=target.shape[1])
    numbers = np.empty(len(often), np.int32)
    numbers[np.argsort(often, kind="stable")] = np.arange(len(often), dtype=np.int32)
    renumbered = [
        sparse.csr_array((side.data.copy(), numbers[side.indices], side.indptr), shape=side.shape) for side in (source, target)
    ]
    renumbered[0].sort_indices()
    return renumbered[0], renumbered[1]


@numba.njit(cache=True)
def _by_row(rows, count):  # type: ignore[no-untyped-def]
    """Positions ordered by row, and where each row's begin: a counting sort."""
    starts = np.zeros(count + 1, np.int64)
    for row in rows:
        starts[row + 1] += 1
    starts = np.cumsum(starts)
    free = starts[:-1].copy()
    order = np.empty(len(rows), np.int64)
    for at in range(len(rows)):
        order[free[rows[at]]] = at
        free[rows[at]] += 1
    return order, starts


@numba.njit(parallel=True, cache=True)
def _pack_rows(starts, columns, scores, width):  # type: ignore[no-untyped-def]
    count = len(starts) - 1
    targets = np.full((count, width), -1, np.int32)
    values = np.full((count, width), -np.inf, np.float32)
    for row in numba.prange(count):
        order = np.argsort(-scores[starts[row] : starts[row + 1]]) + starts[row]
        used = 0
        for at in order:
            if used == width:
                break
            twice = False
            for slot in range(used):
                twice |= targets[row, slot] == columns[at]
            if not twice:
                targets[row, used] = columns[at]
                values[row, used] = scores[at]
                used += 1
    return targets, values


@numba.njit(parallel=True, cache=True)
def _sort_rows(starts, columns):  # type: ignore[no-untyped-def]
    """Sorts each row's columns in place, and says which are the first of their kind."""
    fresh = np.ones(len(columns), np.bool_)
    for row in numba.prange(len(starts) - 1):
        columns[starts[row] : starts[row + 1]].sort()
        for at in range(starts[row] + 1, starts[row + 1]):
            fresh[at] = columns[at] != columns[at - 1]
    return fresh


@numba.njit(parallel=True, cache=True)
def _sparse_top_k(indptr, indices, data, post_indptr, post_indices, post_data, m, k, effort, chunks):  # type: ignore[no-untyped-def]
    """One dense row of sums a thread, filled from the postings of each feature; then the k largest by a small sorted list."""
    n = len(indptr) - 1
    columns = np.full((n, k), -1, np.int32)
    scores = np.full((n, k), -np.inf, np.float32)
    chunks = min(n, chunks)
    for chunk in numba.prange(chunks):
        sums = np.zeros(m, np.float32)
        met = np.empty(m, np.int32)
        for row in range(chunk * n // chunks, (chunk + 1) * n // chunks):
            count, spent = 0, 0
            for at in range(indptr[row], indptr[row + 1]):
                feature, weight = indices[at], data[at]
                first, last = post_indptr[feature], post_indptr[feature + 1]
                spent += last - first
                if spent > effort:
                    if count:
                        break
                    last = first + min(last - first, effort)
                for post in range(first, last):
                    column = post_indices[post]
                    if sums[column] == 0:
                        if count == m:  # only if sums came back to 0: negative weights
                            continue
                        met[count] = column
                        count += 1
                    sums[column] += weight * post_data[post]
            for number in range(count):
                column = met[number]
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


@numba.njit(parallel=True, cache=True)
def _sparse_products(indptr, indices, data, other_indptr, other_indices, other_data, rows, columns):  # type: ignore[no-untyped-def]
    """Each product by going along two sorted rows side by side."""
    products = np.zeros(len(rows), np.float32)
    for number in numba.prange(len(rows)):
        at, end = indptr[rows[number]], indptr[rows[number] + 1]
        other, other_end = other_indptr[columns[number]], other_indptr[columns[number] + 1]
        total = 0.0
        while at < end and other < other_end:
            if indices[at] == other_indices[other]:
                total += data[at] * other_data[other]
                at += 1
                other += 1
            elif indices[at] < other_indices[other]:
                at += 1
            else:
                other += 1
        products[number] = total
    return products
