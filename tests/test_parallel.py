"""Sorting, grouping and sparse matrices on all cores: the same as numpy and scipy, for any number of threads."""

import numba
import numpy as np
import pytest
from scipy import sparse

from kgalign import matrices, parallel

SIZES = (0, 1, 1000, 100_000)  # the last one is divided into parts


@pytest.fixture(params=SIZES)
def size(request):
    return request.param


@pytest.mark.parametrize("count", [1, 300, 5000, 400_000])
def test_positions_by_row_are_those_of_a_stable_sort_without_rows_that_do_not_exist(size, count):
    rows = np.random.default_rng(size).integers(-1, count, size)
    order, starts = parallel.by_row(rows, count)
    there = np.flatnonzero(rows >= 0)
    assert np.array_equal(order, there[np.argsort(rows[there], kind="stable")])
    assert np.array_equal(np.diff(starts), np.bincount(rows[there], minlength=count))


@pytest.mark.parametrize("highest", [1, 1000, 2**40, 2**62])
def test_numbers_are_sorted_and_found_once_as_numpy_does_it(size, highest):
    keys = np.random.default_rng(size).integers(0, highest, size)
    keys[::3] = keys[:1]
    assert np.array_equal(parallel.argsort(keys), np.argsort(keys, kind="stable"))
    different, places = parallel.unique(keys)
    values, inverse = np.unique(keys, return_inverse=True)
    assert np.array_equal(different, values)
    assert np.array_equal(places, inverse)


@pytest.mark.parametrize("count", [1, 100, 50_000])
def test_ids_are_counted_and_summed_up(size, count):
    random = np.random.default_rng(size)
    ids, values = random.integers(0, count, size), random.random(size)
    assert np.array_equal(parallel.counts(ids, count), np.bincount(ids, minlength=count))
    assert np.allclose(parallel.sums(ids, values, count), np.bincount(ids, values, count))


def matrix(rows, columns, seed=0, share=0.02):
    found = sparse.random_array((rows, columns), density=share, rng=np.random.default_rng(seed), format="csr", dtype=np.float32)
    found.sort_indices()
    return found


def same(one, other):
    assert one.has_sorted_indices
    return one.shape == other.shape and np.allclose(one.toarray(), sparse.csr_array(other).toarray(), rtol=1e-5)


def test_sparse_products_transposes_and_rows_are_those_of_scipy():
    left, right = matrix(3000, 500), matrix(500, 2000, seed=1)
    assert same(matrices.product(left, right), left @ right)
    assert same(matrices.transposed(left), left.T)
    rows = np.random.default_rng(0).integers(0, 3000, 2500)
    assert same(matrices.rows_of(left, rows), left[rows])
    rows = np.array([3, 0, 3, 7])
    assert same(matrices.Beside([left, left], [1, 3]).rows(rows), sparse.csr_array(sparse.hstack([left, 3 * left]))[rows])


def test_entries_of_one_place_are_added_up():
    random = np.random.default_rng(0)
    rows, columns, values = random.integers(0, 50, 100_000), random.integers(0, 3000, 100_000), random.random(100_000)
    found = matrices.from_entries(values, rows, columns, (50, 3000))
    assert same(found, sparse.csr_array((values, (rows, columns)), shape=(50, 3000)))


def test_places_of_another_matrix_are_left_out():
    left, right = matrix(300, 400, share=0.2), matrix(300, 400, seed=1, share=0.2)
    right.data[::2] = 0
    found = matrices.without(left, right)
    assert np.array_equal(found.toarray(), np.where(right.toarray() > 0, 0, left.toarray()))
    assert (found.data != 0).all()


@pytest.mark.parametrize("longest", [0.0, 1.0])
def test_rows_have_length_one_or_are_as_much_shorter_as_they_were(longest):
    rows, weights = matrix(300, 400), np.random.default_rng(1).random(400).astype(np.float32)
    weights[::5] = 0
    wanted = rows.toarray() * weights
    lengths = np.linalg.norm(wanted, axis=1, keepdims=True)
    assert np.allclose(
        matrices.weighted_rows(rows, weights, longest).toarray(), wanted / np.maximum(lengths, longest or 1e-30), rtol=1e-5
    )


def test_every_number_of_threads_gives_the_same_bytes():
    random = np.random.default_rng(0)
    ids, values = random.integers(0, 1000, 200_000), random.random(200_000)
    left, right = matrix(3000, 500), matrix(500, 2000, seed=1)

    def results():
        product = matrices.weighted_rows(matrices.product(left, right), np.linspace(0, 1, 2000, dtype=np.float32))
        transposed = matrices.transposed(product)
        return [
            *parallel.by_row(ids, 1000),
            *parallel.unique(ids),
            parallel.sums(ids, values, 1000),
            transposed.data,
            transposed.indices,
        ]

    before = numba.get_num_threads()
    several = results()
    try:
        numba.set_num_threads(1)
        alone = results()
    finally:
        numba.set_num_threads(before)
    assert all(one.tobytes() == other.tobytes() for one, other in zip(several, alone, strict=True))
