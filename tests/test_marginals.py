"""Marginals of one-to-one alignments: belief propagation against the sum over all alignments."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgalign import Candidates
from kgalign.decoding.marginals import balance, matching_marginals

SCORES = st.floats(-4, 4, width=32)


def candidates_of_edges(edges, count):
    """Candidates of scored pairs (query, target, score), each query's best first, for so many queries."""
    lists = [
        sorted(((target, score) for query, target, score in edges if query == row), key=lambda pair: -pair[1])
        for row in range(count)
    ]
    width = max(1, *map(len, lists))
    filled = [own + [(-1, -np.inf)] * (width - len(own)) for own in lists]
    targets, scores = (np.array([[pair[part] for pair in own] for own in filled]) for part in (0, 1))
    return Candidates(np.arange(count), targets.astype(np.int64), scores)


def by_pair(candidates, values):
    rows, slots = candidates.edges()
    return {(int(row), int(candidates.targets[row, slot])): float(values[row, slot]) for row, slot in zip(rows, slots, strict=True)}


def brute_force(edges, no_match_score=0.0):
    """The probability of each pair over all one-to-one alignments, each by the product of the odds of its links."""
    total, sums = 0.0, {(query, target): 0.0 for query, target, _ in edges}
    for size in range(len(edges) + 1):
        for chosen in combinations(edges, size):
            if len({query for query, _, _ in chosen}) == len({target for _, target, _ in chosen}) == size:
                weight = float(np.exp(sum(float(score) - no_match_score for _, _, score in chosen)))
                total += weight
                for query, target, _ in chosen:
                    sums[query, target] += weight
    return {pair: weight / total for pair, weight in sums.items()}


def is_tree_with(edges, query, target):
    """Whether one more edge closes no cycle: its ends are in different components."""
    reached, before = {("query", query)}, 0
    while len(reached) > before:
        before = len(reached)
        for one, other, _ in edges:
            ends = {("query", one), ("target", other)}
            reached |= ends if ends & reached else set()
    return ("target", target) not in reached


@st.composite
def scored_pairs(draw, most, tree):
    """Different scored pairs of up to four queries and four targets, without a cycle for a tree."""
    pairs = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=most, unique=True))
    edges = []
    for query, target in pairs:
        if not tree or is_tree_with(edges, query, target):
            edges.append((query, target, draw(SCORES)))
    return edges


@settings(deadline=None, max_examples=60)
@given(scored_pairs(12, tree=True))
def test_marginals_are_exact_where_candidates_form_trees(edges):
    candidates = candidates_of_edges(edges, 4)
    assert by_pair(candidates, matching_marginals(candidates, 0.0)) == pytest.approx(brute_force(edges), abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(scored_pairs(9, tree=False))
def test_marginals_are_near_the_truth_where_candidates_have_cycles(edges):
    candidates = candidates_of_edges(edges, 4)
    assert by_pair(candidates, matching_marginals(candidates, 0.0)) == pytest.approx(brute_force(edges), abs=0.1)


@settings(deadline=None, max_examples=60)
@given(scored_pairs(12, tree=False))
def test_marginals_of_a_query_and_of_a_target_sum_to_one_at_most(edges):
    candidates = candidates_of_edges(edges, 4)
    marginals = matching_marginals(candidates, 0.0)
    rows, slots = candidates.edges()
    assert (marginals >= 0).all()
    assert marginals.sum(axis=1).max() <= 1 + 1e-9
    assert np.bincount(candidates.targets[rows, slots], marginals[rows, slots]).max() <= 1 + 1e-3


@settings(deadline=None, max_examples=30)
@given(scored_pairs(12, tree=False), st.permutations(range(4)))
def test_marginals_do_not_depend_on_the_order_of_the_queries(edges, order):
    candidates = candidates_of_edges(edges, 4)
    plain, moved = (matching_marginals(each, 0.0) for each in (candidates, candidates.where(np.array(order))))
    np.testing.assert_allclose(moved, plain[np.array(order)], atol=1e-12)


def test_a_query_with_one_candidate_does_not_take_it_from_a_better_claim():
    """A softmax over each row would give the second query all of the target, and the first one less for its second candidate."""
    edges = [(0, 0, 24.8), (0, 1, 15.0), (1, 0, 23.4)]
    candidates = candidates_of_edges(edges, 2)
    found = by_pair(candidates, matching_marginals(candidates, 20.0))
    assert found == pytest.approx(brute_force(edges, 20.0), abs=1e-9)
    assert found[0, 0] > 0.75
    assert found[1, 0] < 0.25


def test_a_lost_target_leaves_the_second_candidate_to_the_query():
    edges = [(0, 0, 30.0), (1, 0, 25.0), (1, 1, 24.0)]
    candidates = candidates_of_edges(edges, 2)
    found = by_pair(candidates, matching_marginals(candidates, 15.0))
    assert found[0, 0] > 0.99
    assert found[1, 1] > 0.99


def test_far_scores_give_finite_marginals():
    candidates = candidates_of_edges([(0, 0, 1e6), (0, 1, -1e6), (1, 0, 1e6)], 3)
    marginals = matching_marginals(candidates, 0.0)
    assert np.isfinite(marginals).all()
    assert marginals[0, 0] == pytest.approx(0.5, abs=1e-6)
    assert not marginals[2].any(), "a query without candidates has no probability to give"


def test_sinkhorn_shares_are_those_of_dense_matrices():
    random = np.random.default_rng(3)
    scores = -np.sort(-random.normal(size=(6, 5)), axis=1)
    targets = np.array([random.permutation(8)[:5] for _ in range(6)])
    candidates = Candidates(np.arange(6), targets, scores)
    dense = np.zeros((6, 8))
    np.put_along_axis(dense, targets, candidates.probabilities(), axis=1)
    for _ in range(7):
        dense /= dense.sum(axis=1, keepdims=True)
        dense /= np.maximum(dense.sum(axis=0, keepdims=True), 1)
    assert np.allclose(balance(candidates, 7), np.take_along_axis(dense, targets, axis=1))
