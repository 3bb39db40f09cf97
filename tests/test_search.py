import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from kgalign import OptionError
from kgalign.search import find_candidates, pack, pair_products, top_k, unique_pairs


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 6), st.integers(0, 10**6))
def test_top_k_is_what_the_full_matrix_says(n, m, k, seed):
    random = np.random.default_rng(seed)
    source = random.random((n, 8)) * (random.random((n, 8)) < 0.5)
    target = random.random((m, 8)) * (random.random((m, 8)) < 0.5)
    full = np.sort(source @ target.T, axis=1)[:, ::-1][:, :k]
    places, dense = top_k(source, target, k, memory_mb=1)
    np.testing.assert_allclose(np.take_along_axis(source @ target.T, places, axis=1), dense, atol=1e-6)
    columns, thin = top_k(sparse.csr_array(source), sparse.csr_array(target), k)
    np.testing.assert_allclose(dense, full, atol=1e-6)
    np.testing.assert_allclose(np.where(columns >= 0, thin, 0), full, atol=1e-6)


def test_blocks_do_not_change_the_answer():
    random = np.random.default_rng(0)
    source, target = random.random((50, 4)), random.random((200_000, 4))
    small, large = top_k(source, target, 3, memory_mb=2), top_k(source, target, 3, memory_mb=500)
    np.testing.assert_array_equal(small[0], large[0])


def test_both_directions_add_targets_that_have_the_row_among_their_best():
    source = np.array([[1.0, 0.0], [0.9, 0.1]])
    target = np.array([[1.0, 0.0], [0.0, 1.0]])
    one_way = find_candidates(source, target, np.arange(2), np.arange(2), 1)
    both = find_candidates(source, target, np.arange(2), np.arange(2), 1, both_directions=True)
    assert one_way.targets.tolist() == [[0], [0]]
    assert both.targets.tolist() == [[0, -1], [0, 1]]


def test_candidates_come_from_the_pool_only():
    vectors = np.eye(5)
    candidates = find_candidates(vectors, vectors, np.array([1, 3]), np.array([0, 3, 4]), 3)
    assert candidates.queries.tolist() == [1, 3]
    assert set(candidates.targets.ravel().tolist()) <= {0, 3, 4, -1}
    assert candidates.targets[1, 0] == 3


def test_no_queries_or_an_empty_pool_give_no_candidates():
    nothing = np.empty(0, np.int64)
    assert len(find_candidates(np.eye(3), np.eye(3), nothing, np.arange(3), 2)) == 0
    assert (find_candidates(np.eye(3), np.eye(3), np.arange(3), nothing, 2).targets == -1).all()


def test_ties_are_not_broken_by_id_order():
    vectors = np.ones((300, 1))
    candidates = find_candidates(vectors, vectors, np.arange(300), np.arange(300), 1)
    assert (candidates.targets[:, 0] == candidates.queries).mean() < 0.1
    assert candidates.targets[0, 0] != 0


@pytest.mark.parametrize("metric", ["inner", "cosine", "manhattan"])
def test_torch_and_numpy_find_the_same(metric):
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(0)
    source, target = random.random((40, 6), np.float32), random.random((30, 6), np.float32)
    queries, pool = np.arange(0, 40, 2), np.arange(5, 30)
    found = [
        find_candidates(*vectors, queries, pool, 4, metric=metric, both_directions=True)
        for vectors in ((source, target), (torch.tensor(source), torch.tensor(target)))
    ]
    np.testing.assert_array_equal(found[0].targets, found[1].targets)
    np.testing.assert_allclose(found[0].scores, found[1].scores, atol=1e-5)


def test_an_engine_gets_every_block_of_a_search_and_does_not_change_it():
    blocks = []

    class Watching:
        def map(self, function, parts, shared, *, at_once=None):
            blocks.extend(parts)
            return [function(part, *shared) for part in parts]

    random = np.random.default_rng(0)
    for kind in (sparse.csr_array, np.asarray):
        blocks.clear()
        source, target = kind(random.random((50, 4))), kind(random.random((60, 4)))
        watched, plain = (top_k(source, target, 3, engine=engine) for engine in (Watching(), None))
        assert sorted(row for block in blocks for row in range(block.start, block.stop)) == list(range(50))
        np.testing.assert_array_equal(watched[0], plain[0])


def test_sparse_vectors_take_the_inner_product_only():
    vectors = sparse.csr_array(np.eye(2))
    with pytest.raises(OptionError, match="metric=cosine"):
        top_k(vectors, vectors, 1, metric="cosine")


def test_k_below_one_is_refused():
    with pytest.raises(OptionError, match="k=0"):
        find_candidates(np.eye(2), np.eye(2), np.arange(2), np.arange(2), 0)


def test_little_effort_finds_what_shares_rare_features():
    target = sparse.csr_array(np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 3.0], [0.0, 0.0, 3.0], [0.0, 1.0, 3.0]]))
    source = target[:1]
    everything, _ = top_k(source, target, 4)
    rare, scores = top_k(source, target, 4, effort=2)
    assert sorted(everything[0].tolist()) == [0, 1, 2, 3]
    assert rare[0].tolist() == [0, -1, -1, -1]
    assert scores[0, 0] == 1, "the common feature was passed over"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 50)), max_size=40), st.integers(1, 6))
def test_pack_keeps_the_best_of_each_row_once(pairs, k):
    rows, columns, scores = (
        (np.array(part, np.int64) for part in zip(*pairs, strict=True)) if pairs else [np.empty(0, np.int64)] * 3
    )
    packed = pack(rows, columns, scores, 6, k)
    for row in range(6):
        best = {}
        for _, column, score in [pair for pair in pairs if pair[0] == row]:
            best[column] = max(score, best.get(column, 0))
        there = packed.targets[row] >= 0
        assert packed.scores[row][there].tolist() == sorted(best.values(), reverse=True)[:k]
        assert all(best[t] == s for t, s in zip(packed.targets[row][there], packed.scores[row][there], strict=True))
    assert list(zip(*(part.tolist() for part in unique_pairs(rows, columns, 6)), strict=True)) == sorted(
        {(r, c) for r, c, _ in pairs}
    )


def test_pair_products_are_entries_of_the_full_matrix():
    random = np.random.default_rng(0)
    source, target = (
        random.random((20, 9)) * (random.random((20, 9)) < 0.4),
        random.random((30, 9)) * (random.random((30, 9)) < 0.4),
    )
    rows, columns = random.integers(20, size=50), random.integers(30, size=50)
    expected = (source @ target.T)[rows, columns]
    np.testing.assert_allclose(pair_products(source, target, rows, columns), expected, atol=1e-6)
    np.testing.assert_allclose(
        pair_products(sparse.csr_array(source), sparse.csr_array(target), rows, columns), expected, atol=1e-6
    )
