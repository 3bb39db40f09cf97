"""How probable each candidate is where queries compete for targets: the soft side of joint alignment."""

from __future__ import annotations

import numba
import numpy as np

from kgalign.data import Candidates, Floats, Ints
from kgalign.parallel import by_row

FARTHEST = 60.0  # scores further from that of no match are as good as certain


def matching_marginals(candidates: Candidates, no_match_score: float, iterations: int = 20) -> Floats:
    """(n, k) the probability of each candidate, where every one-to-one alignment counts by the product of the odds of its links.

    The odds of a link are exp(score - no_match_score). So a query loses a target to another query by as much as its score is lower, and
    then has the rest of its list, or no match. Belief propagation finds the probabilities: it is exact where candidates form a tree, and
    converges for all others (Bayati, Gamarnik, Katz, Nair and Tetali, 2007).
    """
    rows, slots, row_starts, by_column, column_starts = _sorted_edges(candidates)
    odds = np.exp(np.clip(candidates.scores[rows, slots].astype(np.float64) - no_match_score, -FARTHEST, FARTHEST))
    from_columns = odds
    for _ in range(iterations):
        from_rows = odds / (1 + _sums_of_others(row_starts, np.arange(len(rows)), from_columns))
        from_columns = odds / (1 + _sums_of_others(column_starts, by_column, from_rows))
    belief = from_columns / (1 + _sums_of_others(row_starts, np.arange(len(rows)), from_columns))
    marginals = np.zeros(candidates.scores.shape)
    marginals[rows, slots] = belief / (1 + belief)
    return marginals


def balance(candidates: Candidates, iterations: int) -> Floats:
    """(n, k) probabilities after Sinkhorn normalisation, in which queries compete for targets: rows and columns sum to 1 at most."""
    order, starts = by_target(candidates.targets)
    values = np.ascontiguousarray(candidates.probabilities())
    _balance(values, candidates.targets, order, starts, iterations)
    return values


def share_rows(values: Floats) -> None:
    """Divides the values (n, k) of each row by their sum, in their place: a second array would take as much memory as the candidates."""
    _share_rows(values)


def share_among(values: Floats, targets: Ints, *, as_odds: bool) -> None:
    """Divides the values, in their place as `share_rows` does, so that those of a target sum to 1 at most.

    Args:
        values: (n, k) a probability for each candidate.
        targets: (n, k) the candidates, -1 where there is none.
        as_odds: Whether the candidates of a target first compete by their odds, beside no match.
    """
    _share_among(values, *by_target(targets), as_odds)


def by_target(targets: Ints) -> tuple[Ints, Ints]:
    """The places of (n, k) candidates ordered by their targets, and where each target begins."""
    return by_row(targets.ravel(), int(targets.max(initial=-1)) + 1)


def _sorted_edges(candidates: Candidates) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """The row and slot of each pair, where rows begin, the positions of pairs by target, and where targets begin."""
    rows, slots = candidates.edges()
    targets = candidates.targets[rows, slots]
    by_column, column_starts = by_row(targets, int(targets.max(initial=-1)) + 1)
    return rows, slots, np.searchsorted(rows, np.arange(len(candidates) + 1)), by_column, column_starts


@numba.njit(parallel=True, cache=True)
def _balance(values, targets, order, starts, iterations):  # type: ignore[no-untyped-def]
    """Normalises rows and columns of the values so many times, in their place.

    Only the factors of rows and columns change from one to the next, and they fit into a cache where values do not.
    """
    count, k = values.shape
    of_rows, of_columns = np.ones(count), np.ones(len(starts) - 1)
    by_column = np.empty(len(order))
    rows = np.empty(len(order), np.int32)
    for at in numba.prange(len(order)):
        rows[at] = order[at] // k
        by_column[at] = values[rows[at], order[at] % k]
    for _ in range(iterations):
        for row in numba.prange(count):
            total = 0.0
            for slot in range(k):
                if targets[row, slot] >= 0:
                    total += values[row, slot] * of_columns[targets[row, slot]]
            of_rows[row] = 1 / max(total, 1e-300)
        for column in numba.prange(len(of_columns)):
            total = 0.0
            for at in range(starts[column], starts[column + 1]):
                total += by_column[at] * of_rows[rows[at]]
            of_columns[column] /= max(total * of_columns[column], 1.0)
    for row in numba.prange(count):
        for slot in range(k):
            if targets[row, slot] >= 0:
                values[row, slot] = values[row, slot] * of_rows[row] * of_columns[targets[row, slot]]


@numba.njit(parallel=True, cache=True)
def _share_rows(values):  # type: ignore[no-untyped-def]
    for row in numba.prange(len(values)):
        values[row] /= max(values[row].sum(), 1e-30)


@numba.njit(parallel=True, cache=True)
def _share_among(values, order, starts, as_odds):  # type: ignore[no-untyped-def]
    k = values.shape[1]
    for column in numba.prange(len(starts) - 1):
        places = order[starts[column] : starts[column + 1]]
        total, odds = 0.0, 0.0
        for place in places:
            row, slot = divmod(place, k)
            if as_odds:
                values[row, slot] /= max(1 - values[row, slot], 1e-9)
            odds += values[row, slot]
        for place in places:
            row, slot = divmod(place, k)
            if as_odds:
                values[row, slot] /= 1 + odds
            total += values[row, slot]
        for place in places:
            values[place // k, place % k] /= max(total, 1.0)


@numba.njit(parallel=True, cache=True)
def _sums_of_others(starts, order, values):  # type: ignore[no-untyped-def]
    """For each value the sum of the others in its group, without the loss of precision that taking it from the whole sum has."""
    sums = np.zeros(len(values))
    for group in numba.prange(len(starts) - 1):
        before = 0.0
        for at in range(starts[group], starts[group + 1]):
            sums[order[at]] = before
            before += values[order[at]]
        after = 0.0
        for at in range(starts[group + 1] - 1, starts[group] - 1, -1):
            sums[order[at]] += after
            after += values[order[at]]
    return sums
