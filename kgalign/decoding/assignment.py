"""The exact optimum of the sparse one-to-one problem in which a row may stay unmatched at a price.

Rows and columns may differ in number, costs are real numbers, a row may have no edge at all. The method is that of Jonker and
Volgenant, made sparse and local:

1. Auction without a step size ("augmenting row reduction"): a free row takes its cheapest column and raises that column's price by
   its margin over the second cheapest. An uncontested row is settled by one bid, most others by a few.
2. The other rows are settled one at a time by the cheapest augmenting path (Dijkstra over reduced costs). A search ends at the first
   free column or at a row for which staying unmatched is cheapest, and leaves everything that it did not reach untouched.

The prices prove the optimum: see `Assignment.duality_gap`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from kgalign.data import Floats, Ints

BIDS_PER_ROW = 30  # after this many bids a row on average, prices rise by too little to be worth it: paths are quicker


@dataclass(frozen=True)
class Assignment:
    """The column of each row, the total cost, and the prices that prove the optimum."""

    columns: Ints  # (n,) column of each row, -1: unmatched
    total: float
    row_values: Floats  # (n,) the cost of the row with all prices counted
    column_prices: Floats  # (m,) at least 0; 0 for a column without a row

    @property
    def duality_gap(self) -> float:
        """Total cost less the lower bound that the prices give: 0, but for rounding, at the optimum."""
        return self.total - float(self.row_values.sum() - self.column_prices.sum())


def assign(starts: Ints, columns: Ints, costs: Floats, column_count: int, unmatched: Floats) -> Assignment:
    """The cheapest way to give each row one of its columns, no column twice, or to leave it unmatched.

    Args:
        starts: (n + 1,) the edges of row i are starts[i]:starts[i + 1].
        columns: (e,) the column of each edge.
        costs: (e,) the finite cost of each edge.
        column_count: The number of columns.
        unmatched: (n,) the finite price of leaving a row without a column.
    """
    row_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    worthwhile = costs < unmatched[row_of]  # an edge dearer than staying unmatched is in no optimum
    starts = np.concatenate([[0], np.cumsum(np.bincount(row_of[worthwhile], minlength=len(starts) - 1))])
    columns = columns[worthwhile].astype(np.int32)
    costs = costs[worthwhile].astype(np.float64)
    unmatched = unmatched.astype(np.float64)
    chosen, prices = _solve(starts, columns, costs, column_count, unmatched, BIDS_PER_ROW * (len(starts) - 1))
    return Assignment(*_certify(starts, columns, costs, unmatched, chosen, prices))


@numba.njit(cache=True)
def _solve(starts, columns, costs, m, unmatched, bids):  # type: ignore[no-untyped-def]
    """The chosen edge of each row (-1: unmatched) and the price of each column."""
    n = len(starts) - 1
    prices = np.zeros(m)
    owner = np.full(m, -1, np.int32)
    chosen = np.full(n, -1, np.int64)
    waiting = _auction(starts, columns, costs, unmatched, prices, owner, chosen, bids)
    distance = np.full(m, np.inf)
    reached_by = np.empty(m, np.int64)  # the edge by which a column was reached
    row_of_edge = np.repeat(np.arange(n), starts[1:] - starts[:-1])
    settled = np.zeros(m, np.bool_)
    touched = np.empty(m, np.int32)
    heap_keys, heap_columns = np.empty(1024), np.empty(1024, np.int32)
    for start in waiting:
        size = touched_count = 0
        row, base = start, 0.0  # base: the length of the path to this row
        end, end_column, end_row = np.inf, -1, -1
        while True:
            # The row's own value; the free row at the start has none, which shifts all lengths by the same amount.
            value = 0.0 if chosen[row] < 0 else costs[chosen[row]] + prices[columns[chosen[row]]]
            if base + unmatched[row] - value < end:
                end, end_column, end_row = base + unmatched[row] - value, -1, row
            for edge in range(starts[row], starts[row + 1]):
                column = columns[edge]
                length = base + costs[edge] + prices[column] - value
                if length < end and length < distance[column] and not settled[column]:
                    if distance[column] == np.inf:
                        touched[touched_count] = column
                        touched_count += 1
                    distance[column] = length
                    reached_by[column] = edge
                    if owner[column] < 0:
                        end, end_column = length, column
                        continue
                    if size == len(heap_keys):
                        heap_keys = np.concatenate((heap_keys, np.empty(size)))
                        heap_columns = np.concatenate((heap_columns, np.empty(size, np.int32)))
                    _push(heap_keys, heap_columns, size, length, column)
                    size += 1
            column = -1
            while size > 0 and heap_keys[0] < end:
                base, candidate = heap_keys[0], heap_columns[0]
                size -= 1
                _pop(heap_keys, heap_columns, size)
                if not settled[candidate]:
                    column = candidate
                    break
            if column < 0:
                break
            settled[column] = True
            row = owner[column]
        for at in range(touched_count):
            column = touched[at]
            if settled[column]:
                prices[column] += end - distance[column]
                settled[column] = False
            distance[column] = np.inf
        # Walk back: each row on the path gives up its column to the row before it.
        if end_column < 0:
            row = end_row
            edge = chosen[row]
            chosen[row] = -1
            if row == start:
                continue
            end_column = columns[edge]
        column = end_column
        while True:
            edge = reached_by[column]
            row = row_of_edge[edge]
            before = chosen[row]
            chosen[row] = edge
            owner[column] = row
            if row == start:
                break
            column = columns[before]
    return chosen, prices


@numba.njit(cache=True)
def _auction(starts, columns, costs, unmatched, prices, owner, chosen, bids):  # type: ignore[no-untyped-def]
    """Rows still free after at most that many bids; fills prices, owner and chosen."""
    n = len(starts) - 1
    waiting = np.empty(n, np.int32)
    waiting_count = 0
    for first in range(n):
        row = first
        while row >= 0:
            best, second, best_edge, second_edge = unmatched[row], np.inf, -1, -1
            for edge in range(starts[row], starts[row + 1]):
                offer = costs[edge] + prices[columns[edge]]
                if offer < best:
                    best, second, best_edge, second_edge = offer, best, edge, best_edge
                elif offer < second:
                    second, second_edge = offer, edge
            bids -= 1
            if best_edge < 0:
                break
            column = columns[best_edge]
            if best == second and owner[column] >= 0 and second_edge >= 0 and owner[columns[second_edge]] < 0:
                best_edge, column = second_edge, columns[second_edge]
            displaced = owner[column]
            if displaced >= 0 and (best == second or bids < 0):
                # A bid that raises nothing would only swap the two rows, for ever; and one must stop some time.
                waiting[waiting_count] = row
                waiting_count += 1
                break
            if displaced >= 0:
                chosen[displaced] = -1
                prices[column] += second - best
            owner[column] = row
            chosen[row] = best_edge
            row = displaced
    return waiting[:waiting_count]


@numba.njit(cache=True)
def _certify(starts, columns, costs, unmatched, chosen, prices):  # type: ignore[no-untyped-def]
    """Column and value of each row, the total, and the prices."""
    n = len(starts) - 1
    matched = np.full(n, -1, np.int64)
    values = unmatched.copy()
    total = 0.0
    for row in range(n):
        for edge in range(starts[row], starts[row + 1]):
            values[row] = min(values[row], costs[edge] + prices[columns[edge]])
        if chosen[row] >= 0:
            matched[row] = columns[chosen[row]]
            total += costs[chosen[row]]
        else:
            total += unmatched[row]
    return matched, total, values, prices


@numba.njit(cache=True)
def _push(keys, items, at, key, item):  # type: ignore[no-untyped-def]
    while at > 0:
        parent = (at - 1) >> 1
        if keys[parent] <= key:
            break
        keys[at], items[at] = keys[parent], items[parent]
        at = parent
    keys[at], items[at] = key, item


@numba.njit(cache=True)
def _pop(keys, items, size):  # type: ignore[no-untyped-def]
    """Takes the smallest entry off a heap that has `size` entries afterwards."""
    key, item = keys[size], items[size]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[at], items[at] = keys[child], items[child]
        at = child
    keys[at], items[at] = key, item
