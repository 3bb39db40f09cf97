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
    rows, slots, row_starts, by_column, column_starts = _sorted_edges(candidates)
    values = candidates.probabilities()[rows, slots].astype(np.float64)
    shares = np.zeros(candidates.scores.shape)
    shares[rows, slots] = _balanced(row_starts, column_starts, by_column, values, iterations)
    return shares


def _sorted_edges(candidates: Candidates) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """The row and slot of each pair, where rows begin, the positions of pairs by target, and where targets begin."""
    rows, slots = candidates.edges()
    targets = candidates.targets[rows, slots]
    by_column, column_starts = by_row(targets, int(targets.max(initial=-1)) + 1)
    return rows, slots, np.searchsorted(rows, np.arange(len(candidates) + 1)), by_column, column_starts


@numba.njit(parallel=True, cache=True)
def _balanced(row_starts, column_starts, by_column, values, iterations):  # type: ignore[no-untyped-def]
    """The values after so many normalisations of rows and columns."""
    values = values.copy()
    for _ in range(iterations):
        for row in numba.prange(len(row_starts) - 1):
            total = 0.0
            for at in range(row_starts[row], row_starts[row + 1]):
                total += values[at]
            for at in range(row_starts[row], row_starts[row + 1]):
                values[at] /= max(total, 1e-300)
        for column in numba.prange(len(column_starts) - 1):
            total = 0.0
            for at in range(column_starts[column], column_starts[column + 1]):
                total += values[by_column[at]]
            for at in range(column_starts[column], column_starts[column + 1]):
                values[by_column[at]] /= max(total, 1.0)
    return values


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
