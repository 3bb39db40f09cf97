from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgalign.decoding.assignment import assign


def brute_force(edges, unmatched):
    """The cheapest total over all ways to choose one edge or none for each row."""
    best = np.inf
    for choice in product(*([None, *row] for row in edges)):
        columns = [edge[0] for edge in choice if edge]
        if len(set(columns)) == len(columns):
            cost = sum(edge[1] if edge else price for edge, price in zip(choice, unmatched, strict=True))
            best = min(best, cost)
    return best


def solve(edges, unmatched, column_count):
    starts = np.cumsum([0, *(len(row) for row in edges)])
    columns = np.array([column for row in edges for column, _ in row], np.int64)
    costs = np.array([cost for row in edges for _, cost in row], np.float64)
    return assign(starts, columns, costs, column_count, np.array(unmatched, np.float64))


def check_certificate(solution, edges_or_arrays, unmatched):
    """Dual feasibility and equal objectives: a proof of the optimum that needs no other solver."""
    starts, columns, costs = edges_or_arrays
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    assert (solution.row_values <= unmatched + 1e-9).all()
    assert (solution.row_values[rows] <= costs + solution.column_prices[columns] + 1e-9).all()
    assert (solution.column_prices >= 0).all()
    assert abs(solution.duality_gap) <= 1e-9 * max(1, abs(solution.total)) * len(unmatched)


COSTS = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6), st.sampled_from([0.0, 1e-12, 1.0]))


@settings(max_examples=1500, deadline=None)
@given(st.data())
def test_total_is_that_of_brute_force(data):
    column_count = data.draw(st.integers(0, 4))
    columns = st.integers(0, max(0, column_count - 1))
    edge = st.tuples(columns, COSTS)
    edges = data.draw(st.lists(st.lists(edge, max_size=4 if column_count else 0), min_size=0, max_size=5))
    unmatched = data.draw(st.lists(COSTS, min_size=len(edges), max_size=len(edges)))
    solution = solve(edges, unmatched, column_count)
    matched = solution.columns[solution.columns >= 0]
    assert len(np.unique(matched)) == len(matched)
    assert solution.total == pytest.approx(brute_force(edges, unmatched), rel=1e-9, abs=1e-6)


def test_thousands_of_random_instances_match_brute_force():
    random = np.random.default_rng(0)
    for turn in range(3000):
        n, m = random.integers(1, 6), random.integers(1, 5)
        draw = (lambda size: random.integers(0, 4, size).astype(float)) if turn % 2 else (lambda size: random.normal(size=size))
        edges = [[(int(c), float(cost)) for c, cost in zip(random.integers(0, m, 4), draw(4), strict=True)] for _ in range(n)]
        unmatched = draw(n) + 1
        assert solve(edges, unmatched, m).total == pytest.approx(brute_force(edges, unmatched), abs=1e-9)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("contested", [1.0, 0.3])
def test_large_instances_carry_their_proof(ties, contested):
    random = np.random.default_rng(1)
    n = 20_000
    starts = np.arange(0, 10 * n + 1, 10)
    columns = random.integers(0, int(contested * n), 10 * n)
    costs = random.integers(0, 5, 10 * n).astype(float) if ties else random.exponential(size=10 * n)
    unmatched = np.full(n, 2.0)
    check_certificate(assign(starts, columns, costs, n, unmatched), (starts, columns, costs), unmatched)


def test_a_row_may_stay_unmatched_and_a_column_untaken():
    solution = solve([[(0, 1.0)], [(0, 2.0)], []], [3.0, 5.0, 0.5], 3)
    assert solution.columns.tolist() == [-1, 0, -1]
    assert solution.total == pytest.approx(3.0 + 2.0 + 0.5)


def test_nothing_to_assign_is_no_trouble():
    assert solve([], [], 0).columns.tolist() == []
    assert solve([[], []], [1.0, 2.0], 0).total == 3.0
