"""How probable each candidate is among all one-to-one alignments: the soft side of joint alignment."""

from __future__ import annotations

import numba
import numpy as np

from kgalign.data import Candidates, Floats

FARTHEST = 60.0  # scores further from that of no match are as good as certain


def matching_marginals(candidates: Candidates, no_match_score: float, iterations: int = 20) -> Floats:
    """(n, k) the probability of each candidate, where every one-to-one alignment counts by the product of the odds of its links.

    The odds of a link are exp(score - no_match_score). So a query loses a target to another query by as much as its score is lower, and
    then has the rest of its list, or no match. Belief propagation finds the probabilities: it is exact where candidates form a tree, and
    converges for all others (Bayati, Gamarnik, Katz, Nair and Tetali, 2007).
    """
    rows, slots = candidates.edges()
    pool, columns = np.unique(candidates.targets[rows, slots], return_inverse=True)
    odds = np.exp(np.clip(candidates.scores[rows, slots].astype(np.float64) - no_match_score, -FARTHEST, FARTHEST))
    by_column = np.argsort(columns, kind="stable")
    row_starts = np.searchsorted(rows, np.arange(len(candidates) + 1))
    column_starts = np.searchsorted(columns[by_column], np.arange(len(pool) + 1))
    from_columns = odds
    for _ in range(iterations):
        from_rows = odds / (1 + _sums_of_others(row_starts, np.arange(len(rows)), from_columns))
        from_columns = odds / (1 + _sums_of_others(column_starts, by_column, from_rows))
    belief = from_columns / (1 + _sums_of_others(row_starts, np.arange(len(rows)), from_columns))
    marginals = np.zeros(candidates.scores.shape)
    marginals[rows, slots] = belief / (1 + belief)
    return marginals


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
