"""Sorting, grouping and sparse products on all cores, with the same bytes for any number of threads.

Its loops are compiled on first use, so import it late.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from scipy import sparse

from kgalign.data import Floats, Ints

BLOCKS = 32  # parts of an array that are counted apart, at most; more would need more memory than time
SMALL = 1 << 14  # entries that one core sorts as fast
FEWEST = 1 << 10  # rows that are worth an array of their own
DIGIT = 11  # bits of a number that are sorted at once


def by_row(rows: Ints, count: int) -> tuple[Ints, Ints]:
    """Positions ordered by row, those of a row in their order, and where each row's begin. Rows are 0..count-1."""
    blocks = _blocks(len(rows), count)
    order, starts = _by_row(np.ascontiguousarray(rows), count, blocks)
    return order, starts


def argsort(keys: Ints) -> Ints:
    """Positions in ascending order of whole numbers that are not negative; equal ones in their order."""
    if len(keys) < SMALL:
        return np.argsort(keys, kind="stable")
    rest, order = keys.astype(np.uint64), np.arange(len(keys), dtype=np.int32 if len(keys) < 2**31 else np.int64)
    for low in range(0, int(keys.max()).bit_length(), DIGIT):
        rest, order = _by_digit(rest, order, np.uint64(low), DIGIT, _blocks(len(keys), 1 << DIGIT))
    return order


def unique(keys: Ints) -> tuple[Ints, Ints]:
    """The different numbers, ascending, and the place among them of each; none is negative."""
    order = argsort(keys)
    ordered = keys[order]
    is_first = np.ones(len(keys), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    places = np.empty(len(keys), np.int64)
    places[order] = np.cumsum(is_first) - 1
    return ordered[is_first], places


def product(left: sparse.csr_array, right: sparse.csr_array) -> sparse.csr_array:
    """The product of two matrices; indices sorted, zeros kept."""
    arrays = left.indptr, left.indices, left.data, right.indptr, right.indices
    size = -(-left.shape[0] // (8 * numba.get_num_threads()))  # of the rows that share one array of sums
    starts = _starts(_product_counts(*arrays[:2], *arrays[3:], right.shape[1], max(1, size)))
    indices, data = _product(*arrays, right.data, starts, right.shape[1], max(1, size))
    return _matrix(data, indices, starts, (left.shape[0], right.shape[1]))


def transposed(matrix: sparse.csr_array) -> sparse.csr_array:
    """The transpose as rows; indices sorted."""
    order, starts = by_row(matrix.indices, matrix.shape[1])
    rows = _row_numbers(matrix.indptr)
    return _matrix(_taken(matrix.data, order), _taken(rows, order), starts, matrix.shape[::-1])


def from_entries(values: Floats, rows: Ints, columns: Ints, shape: tuple[int, int]) -> sparse.csr_array:
    """The matrix of these entries; indices sorted, entries of one place added up in their order."""
    order, starts = by_row(rows, shape[0])
    indices, data = columns[order].astype(np.int32), np.asarray(values)[order]
    counts = _merge_rows(starts, indices, data)
    if int(counts.sum()) == len(indices):
        return _matrix(data, indices, starts, shape)
    kept = _starts(counts)
    data, indices = _packed(data, indices, starts, kept)
    return _matrix(data, indices, kept, shape)


def with_sorted_rows(matrix: sparse.csr_array) -> sparse.csr_array:
    """The same matrix with its indices sorted."""
    indices, data = matrix.indices.copy(), matrix.data.copy()
    _sort_rows(matrix.indptr, indices, data)
    return _matrix(data, indices, matrix.indptr, matrix.shape)


def _matrix(data: Floats, indices: Ints, starts: Ints, shape: Any) -> sparse.csr_array:
    """A matrix whose indices are known to be sorted and without duplicates."""
    starts = starts.astype(np.int32 if len(indices) < 2**31 else np.int64)
    found = sparse.csr_array((data, indices.astype(starts.dtype, copy=False), starts), shape=shape)
    found.has_sorted_indices, found.has_canonical_format = True, True
    return found


def _starts(counts: Ints) -> Ints:
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def parts(count: int) -> int:
    """Into how many parts of like size to divide so many rows, each of which needs an array of its own."""
    return max(1, min(4 * numba.get_num_threads(), count // FEWEST))


def _blocks(entries: int, count: int) -> int:
    """Into how many parts to divide an array that is counted by so many numbers: the counts of a part must not outweigh its entries."""
    return max(1, min(BLOCKS, entries // max(count, SMALL)))


@numba.njit(parallel=True, cache=True)
def _by_row(rows, count, blocks):  # type: ignore[no-untyped-def]
    size = -(-len(rows) // blocks)
    places = np.zeros((blocks, count + 1), np.int64)
    for block in numba.prange(blocks):
        for at in range(block * size, min(len(rows), (block + 1) * size)):
            places[block, rows[at]] += 1
    starts = np.zeros(count + 1, np.int64)
    total = 0
    for row in range(count):
        starts[row] = total
        for block in range(blocks):
            here = places[block, row]
            places[block, row] = total
            total += here
    starts[count] = total
    order = np.empty(len(rows), np.int64)
    for block in numba.prange(blocks):
        for at in range(block * size, min(len(rows), (block + 1) * size)):
            place = places[block, rows[at]]
            order[place] = at
            places[block, rows[at]] = place + 1
    return order, starts


@numba.njit(parallel=True, cache=True)
def _by_digit(keys, order, low, bits, blocks):  # type: ignore[no-untyped-def]
    """Keys and what goes with them, ordered by one digit of the keys."""
    size, count = -(-len(keys) // blocks), 1 << bits
    mask = np.uint64(count - 1)
    places = np.zeros((blocks, count), np.int64)
    for block in numba.prange(blocks):
        for at in range(block * size, min(len(keys), (block + 1) * size)):
            places[block, np.int64((keys[at] >> low) & mask)] += 1
    total = 0
    for value in range(count):
        for block in range(blocks):
            here = places[block, value]
            places[block, value] = total
            total += here
    sorted_keys, sorted_order = np.empty_like(keys), np.empty_like(order)
    for block in numba.prange(blocks):
        for at in range(block * size, min(len(keys), (block + 1) * size)):
            digit = np.int64((keys[at] >> low) & mask)
            place = places[block, digit]
            sorted_keys[place] = keys[at]
            sorted_order[place] = order[at]
            places[block, digit] = place + 1
    return sorted_keys, sorted_order


@numba.njit(parallel=True, cache=True)
def _product_counts(indptr, indices, other_indptr, other_indices, width, size):  # type: ignore[no-untyped-def]
    """How many different columns each row of the product has."""
    rows = len(indptr) - 1
    counts = np.zeros(rows, np.int64)
    for block in numba.prange(-(-rows // size)):
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
def _product(indptr, indices, data, other_indptr, other_indices, other_data, starts, width, size):  # type: ignore[no-untyped-def]
    rows = len(indptr) - 1
    columns = np.empty(starts[rows], np.int32)
    values = np.empty(starts[rows], data.dtype)
    for block in numba.prange(-(-rows // size)):
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
def _row_numbers(indptr):  # type: ignore[no-untyped-def]
    """The row of each entry."""
    numbers = np.empty(indptr[-1], np.int32)
    for row in numba.prange(len(indptr) - 1):
        numbers[indptr[row] : indptr[row + 1]] = row
    return numbers


@numba.njit(parallel=True, cache=True)
def _taken(values, order):  # type: ignore[no-untyped-def]
    found = np.empty(len(order), values.dtype)
    for at in numba.prange(len(order)):
        found[at] = values[order[at]]
    return found


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
