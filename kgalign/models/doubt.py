"""Whether an entity has a counterpart at all: what winning a target against others does not tell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from kgalign.data import Candidates, Floats

FARTHEST = 50.0  # log-odds beyond are as good as certain
LEAST_PRIOR = 0.01  # share of the winners that may be wrong however good all looks, and right however bad
EM_ROUNDS = 100


class Doubt(NamedTuple):
    """The odds that a pair of that score is right, against "none of these", are exp(sharpness * (score - nobody))."""

    sharpness: float
    nobody: float

    def log_odds(self, scores: Floats) -> Floats:
        return np.clip(self.sharpness * (scores - self.nobody), -FARTHEST, FARTHEST)


LENIENT = Doubt(1.5, 5.0)  # a name that is the same scores 12
STRICT_SHARPNESS, STRICT_SHARE = 0.42, 0.25  # about what seeds teach where there are enough; of all evidence that there could be


def strict_doubt(most: float) -> Doubt:
    """For want of seeds, where pairs have neighbours that are known; `most` is the score of a pair for which all evidence speaks."""
    return Doubt(STRICT_SHARPNESS, LENIENT.nobody + STRICT_SHARE * most)


def fit_doubt(right: Floats, wrong: Floats) -> Doubt:
    """The doubt that tells right pairs from the best wrong ones by their scores; both weigh the same.

    right, wrong    (n,), (m,) scores of links, and of what their sources would be left with if the right target were not there
    """
    if not len(right) or not len(wrong):
        return LENIENT
    scores, signs = np.concatenate([right, wrong]), np.repeat([1.0, -1.0], [len(right), len(wrong)])
    weights = np.repeat([0.5 / len(right), 0.5 / len(wrong)], [len(right), len(wrong)])

    def loss(point: Floats) -> tuple[float, Floats]:
        margins = signs * point[0] * (scores - point[1])
        slopes = -weights * signs / (1 + np.exp(np.clip(margins, -FARTHEST, FARTHEST)))
        gradient = np.array([slopes @ (scores - point[1]), -point[0] * slopes.sum()])
        return float(weights @ np.logaddexp(0, -margins)), gradient

    start = [LENIENT.sharpness, (np.median(right) + np.median(wrong)) / 2]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.05, 5), (None, None)])
    return Doubt(*found.x.tolist())


def with_prior(doubt: Doubt, candidates: Candidates, shares: Floats) -> Doubt:
    """The same, for sources of which not half are right but as many as their scores tell: expectation maximisation.

    Counted are those that won a target, by how far they did. One without a counterpart mostly loses to whom the target belongs, so there are
    more right pairs among the winners than sources with a counterpart.

    shares      (n, k) rows that add up to 1
    """
    rows = np.flatnonzero((candidates.targets >= 0).any(axis=1))
    best = shares[rows].argmax(axis=1)
    won = shares[rows, best]
    if not won.sum():
        return doubt
    odds = np.exp(doubt.log_odds(candidates.scores[rows, best].astype(np.float64)))
    prior = 0.5
    for _ in range(EM_ROUNDS):
        prior = float(np.average(prior * odds / (prior * odds + 1 - prior), weights=won))
    prior = min(max(prior, LEAST_PRIOR), 1 - LEAST_PRIOR)
    return doubt._replace(nobody=doubt.nobody - float(np.log(prior / (1 - prior))) / doubt.sharpness)
