"""The compiled loops of the search over sparse vectors."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(parallel=True, cache=True)
def pack_rows(starts, columns, scores, width):  # type: ignore[no-untyped-def]
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
def sort_rows(starts, columns):  # type: ignore[no-untyped-def]
    """Sorts each row's columns in place, and says which are the first of their kind."""
    fresh = np.ones(len(columns), np.bool_)
    for row in numba.prange(len(starts) - 1):
        columns[starts[row] : starts[row + 1]].sort()
        for at in range(starts[row] + 1, starts[row + 1]):
            fresh[at] = columns[at] != columns[at - 1]
    return fresh


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
