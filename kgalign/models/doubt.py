"""Whether an entity has a counterpart at all: what winning a target against others does not tell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from kgalign.data import Floats

FARTHEST = 50.0  # log-odds beyond are as good as certain
LEAST_SHARE_RIGHT = 0.01  # of the winners, however bad all looks, and wrong however good
EM_ROUNDS = 100
SUPPOSED_RIGHT = 10.0  # pairs that are counted beside those there are, so that a handful does not run away
SUPPOSED_WRONG = 5.0


class Sign(NamedTuple):
    """What a sign of a pair weighs before any seed has taught it, and how far seeds may soon take it from there."""

    untaught: float
    range: float


# Fitted on parts of DBP15K, from forty entities to all, whose counterparts seeds tell, and on generated graphs; what differs, and what
# literals weigh, is a guess.
SIGNS = {
    "score": Sign(0.0, 1.0),  # says most where seeds have taught what it is made of
    "names": Sign(6.0, 6.0),
    "known neighbours": Sign(1.6, 2.0),  # the logarithm of how many both have
    "values": Sign(8.0, 8.0),
    "other values": Sign(8.0, 8.0),
    "other relations": Sign(5.0, 6.0),
}
BIAS = Sign(-3.2, 3.0)
MOST_UNTAUGHT = 2 / 3  # right of the winners, where hardly a seed tells: more is not believed


class Doubt(NamedTuple):
    """The log-odds that a pair is right, against "none of these", are a weighted sum of its signs; as if half of all were right.

    A pair's score tells it from others; these tell whether it is one at all.
    """

    weights: Floats  # (signs,)
    bias: float

    def log_odds(self, signs: Floats) -> Floats:
        """(n,) of the pairs whose signs are given (n, signs)."""
        return np.clip(signs @ self.weights + self.bias, -FARTHEST, FARTHEST)


UNTAUGHT = Doubt(np.array([sign.untaught for sign in SIGNS.values()]), BIAS.untaught)


def fit_doubt(right: Floats, wrong: Floats) -> Doubt:
    """The doubt that tells right pairs from the best wrong ones; both weigh the same. The fewer there are, the less it learns.

    right, wrong    (n, signs), (m, signs) of links, and of what their sources would be left with if the right target were not there
    """
    if not len(right) or not len(wrong):
        return UNTAUGHT
    signs, sides = np.concatenate([right, wrong]), np.repeat([1.0, -1.0], [len(right), len(wrong)])
    shares = np.repeat([0.5 / len(right), 0.5 / len(wrong)], [len(right), len(wrong)])
    start = np.append(UNTAUGHT.weights, UNTAUGHT.bias)
    pull = 1 / (len(right) * np.array([sign.range for sign in (*SIGNS.values(), BIAS)]) ** 2)

    def loss(point: Floats) -> tuple[float, Floats]:
        margins = sides * (signs @ point[:-1] + point[-1])
        slopes = -shares * sides / (1 + np.exp(np.clip(margins, -FARTHEST, FARTHEST)))
        away = point - start
        gradient = np.append(signs.T @ slopes, slopes.sum()) + pull * away
        return float(shares @ np.logaddexp(0, -margins) + pull @ away**2 / 2), gradient

    bounds = [*((0.0, None) for _ in SIGNS), (None, None)]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return Doubt(found[:-1], float(found[-1]))


def share_of_right(log_odds: Floats, won: Floats) -> float:
    """How many of those that won a target are right, when not half of them are but as many as their signs tell: expectation maximisation.

    One without a counterpart mostly loses to whom the target belongs, so there are more right pairs among the winners than sources with a
    counterpart.

    log_odds    (n,) if half of them were right
    won         (n,) how far each did, 0 to 1
    """
    odds, share = np.exp(log_odds), 0.5
    everyone = won.sum() + SUPPOSED_RIGHT + SUPPOSED_WRONG
    for _ in range(EM_ROUNDS):
        share = (float(won @ (share * odds / (share * odds + 1 - share))) + SUPPOSED_RIGHT) / everyone
    return min(max(share, LEAST_SHARE_RIGHT), 1 - LEAST_SHARE_RIGHT)
