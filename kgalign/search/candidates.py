"""The best candidates of every query, block by block: never a full n x m matrix in memory."""

from __future__ import annotations

from functools import partial
from typing import Any

import numba
import numpy as np
from scipy import sparse

from kgalign.blocks import row_blocks, starts_of
from kgalign.data import Candidates, Floats, Ints
from kgalign.errors import OptionError
from kgalign.matrices import Beside, rows_of, transposed
from kgalign.parallel import argsort, by_row, parts, taken
from kgalign.search.dense import MEMORY_MB, Metric, comparable_rows, dense_blocks, dense_top_k
from kgalign.search.engine import Engine, LocalThreads
from kgalign.search.kernels import (
    count_different,
    dense_products,
    fronts,
    pack_lists,
    pack_rows,
    sort_by_rank,
    sparse_products,
    sparse_top_k,
)

MOST_ROWS = 1 << 14  # of a block: large searches have enough blocks for many machines
Vectors = Any  # (n, d) a numpy array, a torch tensor, a csr_array of scipy, or several of these beside each other


def find_candidates(
    source: Vectors,
    target: Vectors,
    queries: Ints,
    pool: Ints,
    k: int,
    *,
    metric: Metric = "inner",
    both_directions: bool = False,
    effort: int | None = None,
    memory_mb: int = MEMORY_MB,
    seed: int = 0,
    engine: Engine | None = None,
) -> Candidates:
    """For each query the k most similar targets of the pool, best first.

    Args:
        source: (n, d) vectors of all source entities.
        target: (m, d) vectors of all target entities, of the same kind.
        queries: (q,) source ids.
        pool: (p,) target ids.
        k: Candidates for each query.
        metric: How similar two vectors are; sparse ones take `inner` only.
        both_directions: A row also gets the targets that have it among their own k best, up to 4 k in all.
        effort: How many targets a query may meet, counted once for each shared feature, rarest features first. Features that are common
            to too many are passed over, and their share of the product is missing. A query with nothing rarer meets that many targets,
            drawn at random. None: all, exactly.
        memory_mb: Memory for a block of dense similarities; sparse ones need one row a thread.
        seed: Shuffles exact ties, so that no order of ids decides.
        engine: Where blocks are worked on; None: on this machine.
    """
    if k < 1:
        raise OptionError(f"k={k}: expected at least one candidate")
    if not len(queries) or not len(pool):
        return Candidates(queries, np.full((len(queries), 1), -1), np.full((len(queries), 1), -np.inf))
    shuffle = np.random.default_rng(seed)
    queries, pool = queries[shuffle.permutation(len(queries))], pool[shuffle.permutation(len(pool))]
    source, target = _rows(source, queries), _rows(target, pool)
    best = partial(top_k, k=k, metric=metric, effort=effort, memory_mb=memory_mb, engine=engine)
    columns, scores = _narrow(*best(source, target))
    nothing = np.empty((0, 1), np.int32), np.empty((0, 1), np.float32)
    others, other_scores = _narrow(*best(target, source)) if both_directions else nothing
    order, starts = by_row(others.ravel(), len(queries))
    longest = int(((columns >= 0).sum(axis=1) + np.diff(starts)).max(initial=0))
    width = max(1, min(4 * k if both_directions else k, longest))
    rows = argsort(queries)
    targets, scores = pack_lists(rows, columns, scores, order, starts, other_scores, pool.astype(np.int32), width)
    return Candidates(queries[rows], targets, scores)


def top_k(
    source: Vectors,
    target: Vectors,
    k: int,
    *,
    metric: Metric = "inner",
    effort: int | None = None,
    memory_mb: int = MEMORY_MB,
    engine: Engine | None = None,
) -> tuple[Ints, Floats]:
    """(n, k) positions and similarities of the k best targets of each source, best first; -1 and -inf where there are fewer.

    Sparse vectors without a common feature are no candidates of each other. For the arguments see `find_candidates`.
    """
    k = min(k, target.shape[0])
    if not sparse.issparse(source):
        shared: tuple[Any, ...] = (comparable_rows(source, metric), comparable_rows(target, metric), k, metric)
        found = list((engine or LocalThreads()).map(dense_top_k, dense_blocks(source, target, memory_mb), shared, at_once=1))
    elif metric != "inner":
        raise OptionError(f"metric={metric}: sparse vectors are compared by their inner product; expected inner")
    else:
        postings = transposed(target)
        if effort is not None:
            source = _rarest_first(source, np.diff(postings.indptr))
        shared = source, postings, target.shape[0], k, np.iinfo(np.int64).max if effort is None else effort
        blocks = row_blocks(source.shape[0], min(MOST_ROWS, -(-source.shape[0] // (8 * numba.get_num_threads()))))
        found = list((engine or LocalThreads()).map(sparse_block, blocks, shared))
    if not found:
        return np.empty((0, k), np.int64), np.empty((0, k), np.float32)
    columns, scores = (np.concatenate(part) for part in zip(*found, strict=True))
    return columns, scores


def sparse_block(
    block: slice, source: sparse.csr_array, postings: sparse.csr_array, count: int, k: int, effort: int
) -> tuple[Ints, Floats]:
    """The best targets of a block of rows, as `top_k` returns them; a function of its own, so that other processes find it."""
    arrays = source.indptr, source.indices, source.data, postings.indptr, postings.indices, postings.data
    return sparse_top_k(block.start, block.stop, *arrays, count, k, effort)


def pair_products(source: Vectors, target: Vectors, rows: Ints, columns: Ints) -> Floats:
    """(n,) the inner product of each source row with the target row beside it. Sparse vectors have their indices sorted."""
    if sparse.issparse(source):
        arrays = source.indptr, source.indices, source.data, target.indptr, target.indices, target.data
        return sparse_products(*arrays, rows, columns, source.shape[1], parts(len(rows)))
    return dense_products(np.asarray(source, np.float32), np.asarray(target, np.float32), rows, columns)


def pack(rows: Ints, columns: Ints, scores: Floats, count: int, k: int) -> Candidates:
    """Candidates of the queries 0..count-1 from scored pairs in any order; a pair that occurs twice counts once, at its best."""
    order, starts = by_row(rows, count)
    width = max(1, min(k, int(np.diff(starts).max(initial=0))))
    ordered = taken(np.asarray(columns, np.int32), order), taken(np.asarray(scores, np.float32), order)
    targets, values = pack_rows(starts, *ordered, width)
    return Candidates(np.arange(count), targets, values)


def unique_pairs(rows: Ints, columns: Ints, count: int) -> tuple[Ints, Ints]:
    """The same pairs, each once, ordered by row and column; rows are 0..count-1."""
    order, starts = by_row(rows, count)
    columns = taken(np.ascontiguousarray(columns, np.int32), order)
    found, found_columns = fronts(starts, columns, starts_of(count_different(starts, columns)))
    return found, found_columns


def _narrow(columns: Ints, scores: Floats) -> tuple[Ints, Floats]:
    return columns.astype(np.int32, copy=False), scores.astype(np.float32, copy=False)


def _rows(vectors: Vectors, ids: Ints) -> Vectors:
    if isinstance(vectors, Beside):
        return vectors.rows(ids)
    return rows_of(vectors, ids) if sparse.issparse(vectors) else vectors[ids]


def _rarest_first(source: sparse.csr_array, often: Ints) -> sparse.csr_array:
    """The same vectors; the features of a row are ordered by how many targets have them."""
    ranks = np.empty(len(often), np.int32)
    ranks[argsort(often)] = np.arange(len(often), dtype=np.int32)
    indices, data = sort_by_rank(source.indptr, source.indices, source.data, ranks)
    return sparse.csr_array((data, indices, source.indptr), shape=source.shape)
