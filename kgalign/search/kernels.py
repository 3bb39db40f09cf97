"""The compiled loops of the search over sparse vectors."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(parallel=True, cache=True)
def pack_rows(starts, columns, scores, width):  # type: ignore[no-untyped-def]
    """The columns and scores of each row, the best first; a column that occurs twice counts once, at its best."""
    count = len(starts) - 1
    targets = np.full((count, width), -1, np.int32)
    values = np.full((count, width), -np.inf, np.float32)
    for row in numba.prange(count):
        first, last = starts[row], starts[row + 1]
        _fill(targets[row], values[row], columns[first:last], scores[first:last])
    return targets, values


@numba.njit(parallel=True, cache=True)
def pack_lists(rows, columns, scores, order, starts, other_scores, pool, width):  # type: ignore[no-untyped-def]
    """The same for rows whose own lists are given, and the places in other lists in which they occur.

    Args:
        rows: (n,) the row that stands at each place of the result.
        columns: (n, k) the list of each row, -1 behind its end.
        scores: (n, k) its scores.
        order: (e,) the places in the other lists, row by row.
        starts: (n + 1,) where those of each row begin.
        other_scores: (m, k) the scores of the other lists, one for each column.
        pool: (m,) what stands for each column in the result.
        width: Of the result, at most.
    """
    count = len(columns)
    targets = np.full((count, width), -1, np.int32)
    values = np.full((count, width), -np.inf, np.float32)
    for at in numba.prange(count):
        row = rows[at]
        own = np.sum(columns[row] >= 0)
        others = order[starts[row] : starts[row + 1]]
        found = np.empty(own + len(others), np.int32)
        found_scores = np.empty(own + len(others), np.float32)
        found[:own] = columns[row, :own]
        found_scores[:own] = scores[row, :own]
        for number in range(len(others)):
            other, slot = divmod(others[number], other_scores.shape[1])
            found[own + number] = other
            found_scores[own + number] = other_scores[other, slot]
        _fill(targets[at], values[at], found, found_scores)
        for slot in range(width):
            if targets[at, slot] >= 0:
                targets[at, slot] = pool[targets[at, slot]]
    return targets, values


@numba.njit(cache=True)
def _fill(targets, values, columns, scores):  # type: ignore[no-untyped-def]
    """Fills a row with the best columns, each once."""
    used = 0
    for at in np.argsort(-scores):
        if used == len(targets):
            break
        twice = False
        for slot in range(used):
            twice |= targets[slot] == columns[at]
        if not twice:
            targets[used] = columns[at]
            values[used] = scores[at]
            used += 1


@numba.njit(parallel=True, cache=True)
def count_different(starts, columns):  # type: ignore[no-untyped-def]
    """Sorts the columns of each row in place, the different ones in front; how many these are."""
    counts = np.zeros(len(starts) - 1, np.int64)
    for row in numba.prange(len(starts) - 1):
        first, last = starts[row], starts[row + 1]
        columns[first:last].sort()
        end = first
        for at in range(first, last):
            if at == first or columns[at] != columns[end - 1]:
                columns[end] = columns[at]
                end += 1
        counts[row] = end - first
    return counts


@numba.njit(parallel=True, cache=True)
def fronts(starts, columns, kept):  # type: ignore[no-untyped-def]
    """The first columns of each row, as many as are kept, and their rows."""
    rows, found = np.empty(kept[-1], np.int32), np.empty(kept[-1], columns.dtype)
    for row in numba.prange(len(starts) - 1):
        count = kept[row + 1] - kept[row]
        rows[kept[row] : kept[row + 1]] = row
        found[kept[row] : kept[row + 1]] = columns[starts[row] : starts[row] + count]
    return rows, found


@numba.njit(parallel=True, cache=True)
def sort_by_rank(indptr, indices, data, ranks):  # type: ignore[no-untyped-def]
    """The entries of each row in the order of the ranks of their columns."""
    columns, values = np.empty_like(indices), np.empty_like(data)
    for row in numba.prange(len(indptr) - 1):
        first, last = indptr[row], indptr[row + 1]
        order = np.argsort(ranks[indices[first:last]])
        for at in range(last - first):
            columns[first + at] = indices[first + order[at]]
            values[first + at] = data[first + order[at]]
    return columns, values


@numba.njit(nogil=True, cache=True)
def sparse_top_k(first_row, last_row, indptr, indices, data, post_indptr, post_indices, post_data, m, k, effort):  # type: ignore[no-untyped-def]
    """The k best of m targets for the rows from the first to before the last one.

    One dense row of sums is filled from the postings of each feature; a small sorted list keeps the k largest.
    """
    n = last_row - first_row
    columns = np.full((n, k), -1, np.int32)
    scores = np.full((n, k), -np.inf, np.float32)
    sums = np.zeros(m, np.float32)
    met = np.empty(m + 1, np.int32)
    for row in range(n):
        count, spent = 0, 0
        for at in range(indptr[first_row + row], indptr[first_row + row + 1]):
            feature, weight = indices[at], data[at]
            first, last = post_indptr[feature], post_indptr[feature + 1]
            spent += last - first
            if spent > effort:
                if count:
                    break
                last = first + min(last - first, effort)
            for post in range(first, last):  # without a branch, which no processor could foresee
                column = post_indices[post]
                before = sums[column]
                sums[column] = before + weight * post_data[post]
                met[count] = column
                count = min(count + (before == 0), m)  # more only if sums came back to 0: negative weights
        least = np.float32(0)
        for number in range(count):
            column = met[number]
            value = sums[column]
            sums[column] = 0
            if value > least:
                place = k - 1
                while place > 0 and scores[row, place - 1] < value:
                    scores[row, place] = scores[row, place - 1]
                    columns[row, place] = columns[row, place - 1]
                    place -= 1
                scores[row, place] = value
                columns[row, place] = column
                least = max(least, scores[row, k - 1])
    return columns, scores


@numba.njit(parallel=True, fastmath=True, cache=True)
def dense_products(source, target, rows, columns):  # type: ignore[no-untyped-def]
    """The inner product of each source row with the target row beside it."""
    products = np.zeros(len(rows), np.float32)
    for pair in numba.prange(len(rows)):
        row, column, total = rows[pair], columns[pair], np.float32(0)
        for at in range(source.shape[1]):
            total += source[row, at] * target[column, at]
        products[pair] = total
    return products


@numba.njit(parallel=True, cache=True)
def sparse_products(indptr, indices, data, other_indptr, other_indices, other_data, rows, columns, width, parts):  # type: ignore[no-untyped-def]
    """The inner product of each pair of rows: pairs with the same row one after the other share what is laid out for it."""
    products = np.zeros(len(rows), np.float32)
    size = -(-len(rows) // parts)
    for part in numba.prange(parts):
        laid_out = np.zeros(width, np.float32)
        row = -1
        for number in range(part * size, min(len(rows), (part + 1) * size)):
            if rows[number] != row:
                if row >= 0:
                    clear(laid_out, row, indptr, indices)
                row = rows[number]
                lay_out(laid_out, row, indptr, indices, data)
            products[number] = product_with(laid_out, columns[number], other_indptr, other_indices, other_data)
    return products


@numba.njit(cache=True)
def lay_out(array, row, indptr, indices, data):  # type: ignore[no-untyped-def]
    """Fills an array of zeros with a sparse row."""
    for at in range(indptr[row], indptr[row + 1]):
        array[indices[at]] = data[at]


@numba.njit(cache=True)
def clear(array, row, indptr, indices):  # type: ignore[no-untyped-def]
    """Turns the array into zeros again."""
    for at in range(indptr[row], indptr[row + 1]):
        array[indices[at]] = 0


@numba.njit(cache=True)
def product_with(array, row, indptr, indices, data):  # type: ignore[no-untyped-def]
    """The inner product of an array and a sparse row, without a branch."""
    total = 0.0
    for at in range(indptr[row], indptr[row + 1]):
        total += array[indices[at]] * data[at]
    return total


@numba.njit(cache=True)
def sparse_product(one, two, indptr, indices, data, other_indptr, other_indices, other_data):  # type: ignore[no-untyped-def]
    """The inner product of two sorted rows, by going along them side by side."""
    at, end = indptr[one], indptr[one + 1]
    other, other_end = other_indptr[two], other_indptr[two + 1]
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
    return total
