"""Whether an entity has a counterpart at all: what winning a target against others does not tell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from kgalign.data import Floats

FARTHEST = 50.0  # log-odds beyond are as good as certain
LEAST_SHARE_RIGHT = 0.01  # of the winners, however bad all looks, and wrong however good
EM_ROUNDS = 100
RIDGE = 1e-4  # keeps a sign that nobody has at 0


SIGNS = ("score", "names", "known neighbours", "values", "other values")
MOST_OF_A_SIGN = (5.0, 20.0, 5.0, 20.0, 20.0)  # weights that seeds may teach


class Doubt(NamedTuple):
    """The log-odds that a pair is right, against "none of these", are a weighted sum of its signs.

    A pair's score tells it from others; these tell whether it is one at all.
    """

    weights: Floats  # (signs,)
    bias: float

    def log_odds(self, signs: Floats) -> Floats:
        """(n,) of the pairs whose signs are given (n, signs)."""
        return np.clip(signs @ self.weights + self.bias, -FARTHEST, FARTHEST)


# For want of seeds: fitted on parts of DBP15K, from forty entities to all, whose counterparts seeds tell, and on generated graphs; what
# literals weigh is a guess. It is as if half were right, too; how many are is found, but not believed where it is more than usual.
UNTAUGHT = Doubt(np.array([0.0, 6.0, 1.6, 8.0, 8.0]), -3.2)
MOST_UNTAUGHT = 2 / 3


def fit_doubt(right: Floats, wrong: Floats) -> Doubt:
    """The doubt that tells right pairs from the best wrong ones; both weigh the same.

    right, wrong    (n, signs), (m, signs) of links, and of what their sources would be left with if the right target were not there
    """
    if not len(right) or not len(wrong):
        return UNTAUGHT
    signs, sides = np.concatenate([right, wrong]), np.repeat([1.0, -1.0], [len(right), len(wrong)])
    shares = np.repeat([0.5 / len(right), 0.5 / len(wrong)], [len(right), len(wrong)])

    def loss(point: Floats) -> tuple[float, Floats]:
        margins = sides * (signs @ point[:-1] + point[-1])
        slopes = -shares * sides / (1 + np.exp(np.clip(margins, -FARTHEST, FARTHEST)))
        pull = np.append(RIDGE * point[:-1], 0)
        return float(shares @ np.logaddexp(0, -margins) + pull @ point / 2), np.append(signs.T @ slopes, slopes.sum()) + pull

    bounds = [*((0.0, most) for most in MOST_OF_A_SIGN), (None, None)]
    found = minimize(loss, np.zeros(len(bounds)), jac=True, method="L-BFGS-B", bounds=bounds).x
    return Doubt(found[:-1], float(found[-1]))


def share_of_right(log_odds: Floats, won: Floats) -> float:
    """How many of those that won a target are right, when not half of them are but as many as their signs tell: expectation maximisation.

    One without a counterpart mostly loses to whom the target belongs, so there are more right pairs among the winners than sources with a
    counterpart.

    log_odds    (n,) if half of them were right
    won         (n,) how far each did, 0 to 1
    """
    odds, share = np.exp(log_odds), 0.5
    for _ in range(EM_ROUNDS if won.any() else 0):
        share = float(np.average(share * odds / (share * odds + 1 - share), weights=won))
    return min(max(share, LEAST_SHARE_RIGHT), 1 - LEAST_SHARE_RIGHT)
