"""Sparse matrices on all cores, with the same bytes for any number of threads.

Its loops are compiled on first use, so import it late.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from scipy import sparse

from kgalign.blocks import starts_of
from kgalign.data import Floats, Ints
from kgalign.parallel import by_row, flat, parts, taken


def rows_of(matrix: sparse.csr_array, rows: Ints) -> sparse.csr_array:
    """The rows with these numbers, in this order."""
    starts = starts_of(np.diff(matrix.indptr)[rows])
    data, indices = _rows_of(matrix.indptr, matrix.indices, matrix.data, rows, starts)
    found = _matrix(data, indices, starts, (len(rows), matrix.shape[1]))
    found.has_sorted_indices = matrix.has_sorted_indices
    return found


def product(left: sparse.csr_array, right: sparse.csr_array) -> sparse.csr_array:
    """The product of two matrices; indices sorted, zeros kept."""
    arrays = left.indptr, left.indices, left.data, right.indptr, right.indices
    count = min(left.shape[0], parts(len(left.indices))) or 1
    starts = starts_of(_product_counts(*arrays[:2], *arrays[3:], right.shape[1], count))
    indices, data = _product(*arrays, right.data, starts, right.shape[1], count)
    return _matrix(data, indices, starts, (left.shape[0], right.shape[1]))


def transposed(matrix: sparse.csr_array) -> sparse.csr_array:
    """The transpose as rows; indices sorted."""
    order, starts = by_row(matrix.indices, matrix.shape[1])
    return _matrix(taken(matrix.data, order), taken(flat(matrix.indptr), order), starts, matrix.shape[::-1])


def from_entries(values: Floats, rows: Ints, columns: Ints, shape: tuple[int, int]) -> sparse.csr_array:
    """The matrix of these entries; indices sorted, entries of one place added up in their order."""
    order, starts = by_row(rows, shape[0])
    indices, data = taken(columns, order).astype(np.int32, copy=False), taken(values, order)
    counts = _merge_rows(starts, indices, data)
    if int(counts.sum()) == len(indices):
        return _matrix(data, indices, starts, shape)
    return front(data, indices, starts, counts, shape)


def with_sorted_rows(matrix: sparse.csr_array) -> sparse.csr_array:
    """The same matrix with its indices sorted."""
    indices, data = matrix.indices.copy(), matrix.data.copy()
    _sort_rows(matrix.indptr, indices, data)
    return _matrix(data, indices, matrix.indptr, matrix.shape)


def weighted_rows(matrix: sparse.csr_array, weights: Floats, longest: float = 1.0) -> sparse.csr_array:
    """Rows in which each column counts by its weight (f,), scaled to length 1; rows shorter than `longest` by as much less.

    A row without any weight is empty.
    """
    starts = starts_of(_count_weighted(matrix.indptr, matrix.indices, matrix.data, weights))
    data, indices = _weighted_rows(matrix.indptr, matrix.indices, matrix.data, weights, starts, longest)
    found = _matrix(data, indices, starts, matrix.shape)
    return found if matrix.has_sorted_indices else with_sorted_rows(found)


def unit_rows(matrix: sparse.csr_array) -> sparse.csr_array:
    """The same matrix with each row scaled to length 1; empty rows stay empty."""
    return weighted_rows(matrix, np.ones(matrix.shape[1], np.float32), 0.0)


@dataclass(frozen=True, eq=False)
class Beside:
    """Matrices next to each other, each multiplied by its factor. They are put together for the rows that are wanted."""

    matrices: Sequence[sparse.csr_array]
    factors: Sequence[float]

    def rows(self, rows: Ints) -> sparse.csr_array:
        """The rows with these numbers, in this order."""
        starts = starts_of(sum(np.diff(matrix.indptr)[rows] for matrix in self.matrices))
        data, indices = np.empty(starts[-1], np.float32), np.empty(starts[-1], np.int32)
        places, width = starts[:-1].copy(), 0
        for matrix, factor in zip(self.matrices, self.factors, strict=True):
            _put_beside(matrix.indptr, matrix.indices, matrix.data, np.float32(factor), width, rows, places, data, indices)
            width += matrix.shape[1]
        return _matrix(data, indices, starts, (len(places), width))


def without(matrix: sparse.csr_array, other: sparse.csr_array) -> sparse.csr_array:
    """The matrix without the places where the other one, with sorted indices, is above 0; zeros go too."""
    indices, data = matrix.indices.copy(), matrix.data.copy()
    counts = _without(matrix.indptr, indices, data, other.indptr, other.indices, other.data)
    return front(data, indices, matrix.indptr, counts, matrix.shape)


def front(data: Floats, indices: Ints, starts: Ints, counts: Ints, shape: Any) -> sparse.csr_array:
    """The matrix of the first entries of each row, as many as these."""
    kept = starts_of(counts)
    data, indices = _packed(data, indices, starts, kept)
    return _matrix(data, indices, kept, shape)


def _matrix(data: Floats, indices: Ints, starts: Ints, shape: Any) -> sparse.csr_array:
    """A matrix whose indices are known to be sorted and without duplicates."""
    starts = starts.astype(np.int32 if len(indices) < 2**31 else np.int64)
    found = sparse.csr_array((data, indices.astype(starts.dtype, copy=False), starts), shape=shape)
    found.has_sorted_indices, found.has_canonical_format = True, True
    return found


@numba.njit(parallel=True, cache=True)
def _product_counts(indptr, indices, other_indptr, other_indices, width, parts):  # type: ignore[no-untyped-def]
    """How many different columns each row of the product has."""
    rows = len(indptr) - 1
    counts = np.zeros(rows, np.int64)
    size = -(-rows // parts)
    for block in numba.prange(parts):
        seen = np.full(width, -1, np.int32)
        for row in range(block * size, min(rows, (block + 1) * size)):
            for at in range(indptr[row], indptr[row + 1]):
                for other in range(other_indptr[indices[at]], other_indptr[indices[at] + 1]):
                    column = other_indices[other]
                    if seen[column] != row:
                        seen[column] = row
                        counts[row] += 1
    return counts


@numba.njit(parallel=True, cache=True)
def _product(indptr, indices, data, other_indptr, other_indices, other_data, starts, width, parts):  # type: ignore[no-untyped-def]
    rows = len(indptr) - 1
    columns = np.empty(starts[rows], np.int32)
    values = np.empty(starts[rows], data.dtype)
    size = -(-rows // parts)
    for block in numba.prange(parts):
        seen = np.full(width, -1, np.int32)
        sums = np.zeros(width, data.dtype)
        for row in range(block * size, min(rows, (block + 1) * size)):
            first = starts[row]
            last = first
            for at in range(indptr[row], indptr[row + 1]):
                value = data[at]
                for other in range(other_indptr[indices[at]], other_indptr[indices[at] + 1]):
                    column = other_indices[other]
                    if seen[column] != row:
                        seen[column] = row
                        sums[column] = 0
                        columns[last] = column
                        last += 1
                    sums[column] += value * other_data[other]
            columns[first:last].sort()
            for at in range(first, last):
                values[at] = sums[columns[at]]
    return columns, values


@numba.njit(parallel=True, cache=True)
def _rows_of(indptr, indices, data, rows, starts):  # type: ignore[no-untyped-def]
    values, columns = np.empty(starts[-1], data.dtype), np.empty(starts[-1], indices.dtype)
    for row in numba.prange(len(rows)):
        first, last = indptr[rows[row]], indptr[rows[row] + 1]
        values[starts[row] : starts[row + 1]] = data[first:last]
        columns[starts[row] : starts[row + 1]] = indices[first:last]
    return values, columns


@numba.njit(parallel=True, cache=True)
def _count_weighted(indptr, indices, data, weights):  # type: ignore[no-untyped-def]
    """How many entries of each row are not 0."""
    counts = np.zeros(len(indptr) - 1, np.int64)
    for row in numba.prange(len(indptr) - 1):
        for at in range(indptr[row], indptr[row + 1]):
            counts[row] += data[at] * weights[indices[at]] != 0
    return counts


@numba.njit(parallel=True, cache=True)
def _weighted_rows(indptr, indices, data, weights, starts, longest):  # type: ignore[no-untyped-def]
    values, columns = np.empty(starts[-1], np.float32), np.empty(starts[-1], indices.dtype)
    for row in numba.prange(len(indptr) - 1):
        place = starts[row]
        squares: Any = 0.0
        for at in range(indptr[row], indptr[row + 1]):
            value = np.float32(data[at] * weights[indices[at]])
            if value:
                values[place], columns[place] = value, indices[at]
                squares += value * value
                place += 1
        length = np.sqrt(squares)
        scale = np.float32(1 / max(length, longest) if length > 0 else 1.0)
        for at in range(starts[row], place):
            values[at] *= scale
    return values, columns


@numba.njit(parallel=True, cache=True)
def _put_beside(indptr, indices, data, factor, shift, rows, places, values, columns):  # type: ignore[no-untyped-def]
    """Fills each row from its place on, which moves behind what is filled in."""
    for number in numba.prange(len(rows)):
        place = places[number]
        for at in range(indptr[rows[number]], indptr[rows[number] + 1]):
            values[place] = factor * data[at]
            columns[place] = shift + indices[at]
            place += 1
        places[number] = place


@numba.njit(parallel=True, cache=True)
def _without(indptr, indices, data, other_indptr, other_indices, other_data):  # type: ignore[no-untyped-def]
    """Moves what stays to the front of each row; how much that is."""
    counts = np.zeros(len(indptr) - 1, np.int64)
    for row in numba.prange(len(indptr) - 1):
        place = indptr[row]
        other, end = other_indptr[row], other_indptr[row + 1]
        for at in range(indptr[row], indptr[row + 1]):
            while other < end and other_indices[other] < indices[at]:
                other += 1
            gone = other < end and other_indices[other] == indices[at] and other_data[other] > 0
            if data[at] != 0 and not gone:
                indices[place], data[place] = indices[at], data[at]
                place += 1
        counts[row] = place - indptr[row]
    return counts


@numba.njit(cache=True)
def _sort_row(indices, data):  # type: ignore[no-untyped-def]
    """Sorts a row in place by index, equal ones in their order."""
    if len(indices) <= 24:
        for at in range(1, len(indices)):
            index, value = indices[at], data[at]
            before = at - 1
            while before >= 0 and indices[before] > index:
                indices[before + 1], data[before + 1] = indices[before], data[before]
                before -= 1
            indices[before + 1], data[before + 1] = index, value
    else:
        order = np.argsort(indices, kind="mergesort")
        indices[:], data[:] = indices[order], data[order]


@numba.njit(parallel=True, cache=True)
def _sort_rows(starts, indices, data):  # type: ignore[no-untyped-def]
    for row in numba.prange(len(starts) - 1):
        first, last = starts[row], starts[row + 1]
        is_sorted = True
        for at in range(first + 1, last):
            is_sorted &= indices[at - 1] < indices[at]
        if not is_sorted:
            _sort_row(indices[first:last], data[first:last])


@numba.njit(parallel=True, cache=True)
def _merge_rows(starts, indices, data):  # type: ignore[no-untyped-def]
    """Sorts each row in place and adds up what has the same index at the front of the row; how much is left of each row."""
    counts = np.zeros(len(starts) - 1, np.int64)
    for row in numba.prange(len(starts) - 1):
        first, last = starts[row], starts[row + 1]
        if first == last:
            continue
        _sort_row(indices[first:last], data[first:last])
        end = first
        for at in range(first + 1, last):
            if indices[at] == indices[end]:
                data[end] += data[at]
            else:
                end += 1
                indices[end], data[end] = indices[at], data[at]
        counts[row] = end + 1 - first
    return counts


@numba.njit(parallel=True, cache=True)
def _packed(data, indices, starts, kept):  # type: ignore[no-untyped-def]
    """The first entries of each row, as many as are kept."""
    values, columns = np.empty(kept[-1], data.dtype), np.empty(kept[-1], indices.dtype)
    for row in numba.prange(len(kept) - 1):
        count = kept[row + 1] - kept[row]
        values[kept[row] : kept[row + 1]] = data[starts[row] : starts[row] + count]
        columns[kept[row] : kept[row + 1]] = indices[starts[row] : starts[row] + count]
    return values, columns
