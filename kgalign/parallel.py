"""Sorting and grouping on all cores, with the same bytes for any number of threads.

Its loops are compiled on first use, so import it late.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from kgalign.blocks import starts_of

Ints = NDArray[Any]
Floats = NDArray[Any]
BLOCKS = 32  # parts of an array that are counted apart, at most; more would need more memory than time
SMALL = 1 << 14  # entries that one core sorts as fast
FEWEST = 1 << 10  # rows that are worth an array of their own
DIGIT = 11  # bits of a number that are sorted at once


def by_row(rows: Ints, count: int) -> tuple[Ints, Ints]:
    """Positions ordered by row, those of a row in their order, and where each row's begin. Rows are 0..count-1; others are left out."""
    rows = np.ascontiguousarray(rows, np.int32)
    order: Ints = np.empty(len(rows), _position(len(rows)))
    starts: Ints = _by_row(rows, count, max(0, count.bit_length() - DIGIT), _blocks(len(rows)), order)
    return order[: starts[-1]], starts


def argsort(keys: Ints) -> Ints:
    """Positions in ascending order of whole numbers that are not negative; equal ones in their order."""
    return _sorted(keys)[1]


def unique(keys: Ints) -> tuple[Ints, Ints]:
    """The different numbers, ascending, and the place among them of each; none is negative."""
    values, order = _sorted(keys)
    different, places = _unique(values, order, _blocks(len(keys)))
    return different, places


def taken(values: Any, order: Ints) -> Any:
    """The values at these positions."""
    return _taken(values, order) if len(order) >= SMALL else values[order]


def add_scaled(sums: Floats, values: Floats, factor: float) -> None:
    """Adds the values, times the factor, to the sums in their place."""
    _add_scaled(sums, values, np.float32(factor))


def is_among(keys: Ints, others: Ints) -> Ints:
    """(n,) whether each number is one of the others; none is negative."""
    if not len(others):
        return np.zeros(len(keys), bool)
    found: Ints = places_in(_sorted(others)[0], keys) >= 0
    return found


def places_in(ascending: Ints, keys: Ints) -> Ints:
    """(n,) where each key stands among ascending numbers, -1: nowhere."""
    found: Ints = _places_in(ascending, keys)
    return found


def places(targets: Ints) -> tuple[Ints, Ints]:
    """Row and column of each entry of an array that is not below 0, row by row."""
    if targets.size < SMALL:
        rows, columns = np.nonzero(targets >= 0)
        return rows.astype(np.int32), columns.astype(np.int32)
    counts = np.count_nonzero(targets >= 0, axis=1)
    found, slots = _places(targets, starts_of(counts))
    return found, slots


def flat(starts: Ints) -> Ints:
    """The row of each entry, where rows begin at these positions."""
    numbers: Ints = _row_numbers(starts)
    return numbers


def counts(ids: Ints, count: int) -> Ints:
    """(count,) how often each id occurs."""
    blocks = _blocks(len(ids) // max(1, count) * SMALL // 4)
    return np.bincount(ids, minlength=count) if blocks < 2 else _counts(ids, count, blocks)


def sums(ids: Ints, values: Floats, count: int) -> Floats:
    """(count,) the sum of the values of each id."""
    blocks = _blocks(len(ids) // max(1, count) * SMALL // 4)
    return np.bincount(ids, values, count) if blocks < 2 else _sums(ids, values, count, blocks)


def parts(count: int) -> int:
    """Into how many parts of like size to divide so many rows, each of which needs an array of its own."""
    return max(1, min(numba.get_num_threads(), count // FEWEST))


def _sorted(keys: Ints) -> tuple[Ints, Ints]:
    """The numbers in ascending order, and their positions."""
    if len(keys) < SMALL:
        order = np.argsort(keys, kind="stable").astype(np.int32)
        return keys[order], order
    values, order = keys.astype(np.uint64), np.arange(len(keys), dtype=_position(len(keys)))
    for low in range(0, int(keys.max()).bit_length(), DIGIT):
        values, order = _by_digit(values, order, np.uint64(low), DIGIT, _blocks(len(keys)))
    return values.view(np.int64) if keys.dtype != np.uint64 else values, order


def _position(count: int) -> type:
    """The type that holds positions in an array of that length."""
    return np.int32 if count < 2**31 else np.int64


def _blocks(entries: int) -> int:
    return max(1, min(BLOCKS, entries // SMALL))


@numba.njit(parallel=True, cache=True)
def _by_row(rows, count, shift, blocks, order):  # type: ignore[no-untyped-def]
    """Fills the order. Entries go into buckets of rows next to each other first, then each bucket is sorted in the cache of a core."""
    size = -(-len(rows) // blocks)
    buckets = (count >> shift) + 1
    places = np.zeros((blocks, buckets), np.int64)
    for block in numba.prange(blocks):
        for at in range(block * size, min(len(rows), (block + 1) * size)):
            if 0 <= rows[at] < count:
                places[block, rows[at] >> shift] += 1
    bounds = np.zeros(buckets + 1, np.int64)
    total = 0
    for bucket in range(buckets):
        bounds[bucket] = total
        for block in range(blocks):
            here = places[block, bucket]
            places[block, bucket] = total
            total += here
    bounds[buckets] = total
    positions = np.empty(total, order.dtype)
    for block in numba.prange(blocks):
        for at in range(block * size, min(len(rows), (block + 1) * size)):
            if 0 <= rows[at] < count:
                place = places[block, rows[at] >> shift]
                positions[place] = at
                places[block, rows[at] >> shift] = place + 1
    starts = np.empty(count + 1, np.int64)
    starts[count] = total
    for bucket in numba.prange(buckets):
        first, last = bounds[bucket], bounds[bucket + 1]
        low, high = bucket << shift, min(count, (bucket + 1) << shift)
        ends = np.zeros(high - low, np.int64)
        for at in range(first, last):
            ends[rows[positions[at]] - low] += 1
        total = first
        for row in range(high - low):
            here = ends[row]
            starts[low + row] = ends[row] = total
            total += here
        for at in range(first, last):
            row = rows[positions[at]] - low
            order[ends[row]] = positions[at]
            ends[row] += 1
    return starts


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
def _unique(values, order, blocks):  # type: ignore[no-untyped-def]
    """The different ones of sorted values, and the place of the one at each position of the order."""
    size = -(-len(values) // blocks)
    first = np.zeros(blocks + 1, np.int64)
    for block in numba.prange(blocks):
        count = 0
        for at in range(block * size, min(len(values), (block + 1) * size)):
            count += at == 0 or values[at] != values[at - 1]
        first[block + 1] = count
    for block in range(blocks):
        first[block + 1] += first[block]
    different, places = np.empty(first[blocks], values.dtype), np.empty(len(values), order.dtype)
    for block in numba.prange(blocks):
        place = first[block] - 1
        for at in range(block * size, min(len(values), (block + 1) * size)):
            if at == 0 or values[at] != values[at - 1]:
                place += 1
                different[place] = values[at]
            places[order[at]] = place
    return different, places


@numba.njit(parallel=True, cache=True)
def _counts(ids, count, blocks):  # type: ignore[no-untyped-def]
    size = -(-len(ids) // blocks)
    parts = np.zeros((blocks, count), np.int64)
    for block in numba.prange(blocks):
        for at in range(block * size, min(len(ids), (block + 1) * size)):
            parts[block, ids[at]] += 1
    totals = np.zeros(count, np.int64)
    for number in numba.prange(count):
        for block in range(blocks):
            totals[number] += parts[block, number]
    return totals


@numba.njit(parallel=True, cache=True)
def _sums(ids, values, count, blocks):  # type: ignore[no-untyped-def]
    size = -(-len(ids) // blocks)
    parts = np.zeros((blocks, count))
    for block in numba.prange(blocks):
        for at in range(block * size, min(len(ids), (block + 1) * size)):
            parts[block, ids[at]] += values[at]
    totals = np.zeros(count)
    for number in numba.prange(count):
        for block in range(blocks):
            totals[number] += parts[block, number]
    return totals


@numba.njit(parallel=True, cache=True)
def _add_scaled(sums, values, factor):  # type: ignore[no-untyped-def]
    for at in numba.prange(len(sums)):
        sums[at] += factor * np.float32(values[at])


@numba.njit(parallel=True, cache=True)
def _places_in(ascending, keys):  # type: ignore[no-untyped-def]
    found = np.full(len(keys), -1, np.int32)
    for at in numba.prange(len(keys)):
        place = np.searchsorted(ascending, keys[at])
        if place < len(ascending) and ascending[place] == keys[at]:
            found[at] = place
    return found


@numba.njit(parallel=True, cache=True)
def _places(targets, starts):  # type: ignore[no-untyped-def]
    rows, columns = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32)
    for row in numba.prange(len(targets)):
        place = starts[row]
        for column in range(targets.shape[1]):
            if targets[row, column] >= 0:
                rows[place], columns[place] = row, column
                place += 1
    return rows, columns


@numba.njit(parallel=True, cache=True)
def _row_numbers(starts):  # type: ignore[no-untyped-def]
    """The row of each entry."""
    numbers = np.empty(starts[-1], np.int32)
    for row in numba.prange(len(starts) - 1):
        numbers[starts[row] : starts[row + 1]] = row
    return numbers


@numba.njit(parallel=True, cache=True)
def _taken(values, order):  # type: ignore[no-untyped-def]
    found = np.empty(len(order), values.dtype)
    for at in numba.prange(len(order)):
        found[at] = values[order[at]]
    return found
