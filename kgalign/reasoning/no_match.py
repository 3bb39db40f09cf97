"""The no-match classifier: whether the best candidate of a query is right at all, or the query has no match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import minimize

from kgalign.blocks import by_blocks, one_dense_thread
from kgalign.data import Floats, Ints

FARTHEST = 50.0  # log-odds beyond are as good as certain
LEAST_SHARE_RIGHT = 0.01  # of the best candidates, however bad all looks; and least share wrong, however good
EM_ROUNDS = 100  # at most
STANDING = 1e-9  # shares that change by less have converged
PRIOR_RIGHT = 5.0  # pairs that are counted beside the observed ones, so that a handful does not run to an extreme
PRIOR_WRONG = 10.0
MOST_RIGHT_UNTAUGHT = 2 / 3  # of the best candidates, where hardly any seed can show more


@dataclass(frozen=True)
class Feature:
    """A feature of a pair, its weight before any seed has taught one, and how far a few seeds may move it from there."""

    name: str
    prior: float
    range: float


SCORE = Feature("score", 0.0, 1.0)  # matters most where seeds have taught what it is made of
BIAS = Feature("bias", -3.2, 3.0)


@dataclass(frozen=True, eq=False)
class NoMatchClassifier:
    """A logistic regression: the log-odds that a pair is right, against no match, as if half of all pairs were right.

    The score of a pair ranks it among the candidates of its query. These features say whether it is right at all.
    """

    weights: Floats  # (features,)
    bias: float
    taught: Floats = field(default_factory=lambda: np.empty(0))  # (n,) the log-odds of the links that have taught it

    @classmethod
    def untaught(cls, features: Sequence[Feature]) -> NoMatchClassifier:
        """The classifier before any seed has taught it."""
        return cls(np.array([feature.prior for feature in features]), BIAS.prior)

    def log_odds(self, values: Floats) -> Floats:
        """(n,) for the pairs whose features (n, features) are given."""
        return np.clip(values @ self.weights + self.bias, -FARTHEST, FARTHEST)

    def recall(self, right: Floats | float) -> float:
        """The mean probability of the links that have taught it, which are all right, where so many of all pairs are; 1: none has."""
        return float(probability(self.taught, right).mean()) if len(self.taught) else 1.0


def probability(log_odds: Floats, right: Floats | float) -> Floats:
    """(n,) the probability of pairs with these log-odds, where so many of all pairs are right."""
    found: Floats = 1 / (1 + np.exp(-log_odds - np.log(right / (1 - right))))
    return found


def fit_no_match(features: Sequence[Feature], right: Floats, wrong: Floats) -> NoMatchClassifier:
    """The classifier that tells right pairs from the best wrong ones; both weigh the same. Few pairs move it only a little.

    Args:
        features: The features, in the order of the columns.
        right: (n, features) of links.
        wrong: (m, features) of the best candidates that the same queries would have without their right target.
    """
    untaught = NoMatchClassifier.untaught(features)
    if not len(right) or not len(wrong):
        return untaught
    values, signs = np.concatenate([right, wrong]), np.repeat([1.0, -1.0], [len(right), len(wrong)])
    shares = np.repeat([0.5 / len(right), 0.5 / len(wrong)], [len(right), len(wrong)])
    start = np.append(untaught.weights, untaught.bias)
    pull = 1 / (len(right) * np.array([feature.range for feature in (*features, BIAS)]) ** 2)

    def loss(point: Floats) -> tuple[float, Floats]:
        margins = signs * (values @ point[:-1] + point[-1])
        slopes = -shares * signs / (1 + np.exp(np.clip(margins, -FARTHEST, FARTHEST)))
        away = point - start
        gradient = np.append(values.T @ slopes, slopes.sum()) + pull * away
        return float(shares @ np.logaddexp(0, -margins) + pull @ away**2 / 2), gradient

    bounds = [*((0.0, None) for _ in features), (None, None)]
    with one_dense_thread():
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    fitted = NoMatchClassifier(found[:-1], float(found[-1]))
    return replace(fitted, taught=fitted.log_odds(right))


def share_of_right(log_odds: Floats, won: Floats) -> float:
    """The share of best candidates that are right, estimated from their own features by expectation maximisation.

    A query without a match mostly loses its best candidate to the query that the target belongs to. So the share among the best
    candidates is higher than the share of queries with a match.

    Args:
        log_odds: (n,) as if half of them were right.
        won: (n,) how far each query has won its best candidate against others, 0 to 1.
    """
    together, prior = np.zeros(len(won), np.int64), (PRIOR_RIGHT, PRIOR_WRONG)
    return float(_estimated_shares(log_odds, won, together, np.array([won.sum()]), prior)[0])


def careful_shares(log_odds: Floats, won: Floats, groups: Ints) -> Floats:
    """(n,) the share that no seed has confirmed: between the share of best candidates and that of queries, for the group of each query.

    Two graphs that have little in common have homonyms among their equal names: the fewer queries have a match, the less a good candidate
    means. The groups of a graph can have much and little in common with the other graph; a small group takes after all queries.

    Args:
        log_odds: (n,) as if half of them were right.
        won: (n,) how far each query has won its best candidate against others, 0 to 1.
        groups: (n,) the number of the group that each query belongs to.
    """
    counted, together = PRIOR_RIGHT + PRIOR_WRONG, np.zeros(len(groups), np.int64)
    overall = _estimated_shares(log_odds, won, together, _among(won, together), (PRIOR_RIGHT, PRIOR_WRONG))
    mean = float(overall[0]) if len(groups) else 0.5
    shares = _estimated_shares(log_odds, won, groups, _among(won, groups), (counted * mean, counted * (1 - mean)))
    return np.minimum(shares[groups], MOST_RIGHT_UNTAUGHT)


def _among(won: Floats, groups: Ints) -> Floats:
    """(g,) how many pairs of each group the right ones are a share of: between the winners and the queries."""
    return np.sqrt(np.bincount(groups, won) * np.bincount(groups))


def _estimated_shares(log_odds: Floats, won: Floats, groups: Ints, among: Floats, prior: tuple[float, float]) -> Floats:
    """(g,) the share of so many pairs of each group that are right, with some right and wrong ones counted beside the observed ones."""
    odds, shares = np.exp(log_odds), np.full(len(among), 0.5)
    for _ in range(EM_ROUNDS):
        of_groups = shares[groups]
        right = by_blocks(lambda odds, own, won: won * (own * odds / (own * odds + 1 - own)), odds, of_groups, won)
        before, shares = shares, (np.bincount(groups, right, len(among)) + prior[0]) / (among + sum(prior))
        if np.abs(shares - before).max(initial=0) < STANDING:
            break
    return np.clip(shares, LEAST_SHARE_RIGHT, 1 - LEAST_SHARE_RIGHT)
