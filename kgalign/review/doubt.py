"""How probable it is that a question will be answered with yes: the probability of its link, corrected by the answers so far.

A logistic regression on a few features of each question. Before the first answer it says what the run says; each answer moves it a little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgalign.data import Floats, Ints
from kgalign.review.reviewed_run import ReviewedRun

# The weight of each feature before any answer, and how far a few answers may move it.
FEATURES = {
    "log-odds of its probability": (1.0, 0.7),
    "one": (0.0, 1.0),
    "it is no link": (0.0, 1.0),
    "other sources want the target": (-0.2, 0.5),
    "the source has other candidates": (-0.2, 0.5),
    "names are similar": (0.0, 0.5),
    "neighbours are linked": (0.0, 0.5),
}
FARTHEST = 0.01  # from 0 and 1, so that no probability is beyond doubt
LITTLE = 0.05  # probability of others that makes hardly a difference
STEPS = 30  # of Newton's method
MOST_ANSWERS = 2000  # the last ones count


@dataclass(frozen=True)
class Answer:
    """What an answer teaches.

    Attributes:
        features: Those of the question, in the order of FEATURES.
        right: The pair is a match.
        has_other: The source has another match.
    """

    features: tuple[float, ...]
    right: bool
    has_other: bool


def features_of(run: ReviewedRun, sources: Ints, targets: Ints, probabilities: Floats, is_link: Ints) -> Floats:
    """(n, features) of questions. All but the first three have a mean of 0 and a spread of 1 among doubtful questions."""
    lists, sizes = run.candidates, (len(run.task.source.entities), len(run.task.target.entities))
    others = [
        np.bincount(ids, lists.probabilities, size)[own] - probabilities
        for ids, size, own in zip((lists.targets, lists.sources), reversed(sizes), (targets, sources), strict=True)
    ]
    columns = [*(np.log(LITTLE + np.maximum(each, 0)) for each in others), *run.similar_and_shared(sources, targets)]
    weights = np.minimum(probabilities, 1 - probabilities) + 1e-3
    found = [log_odds(probabilities), np.ones(len(sources)), ~is_link]
    for values in columns:
        middle = np.average(values, weights=weights) if len(values) else 0.0
        spread = np.sqrt(np.average((values - middle) ** 2, weights=weights)) if len(values) else 1.0
        found.append(np.clip((values - middle) / (spread + 1e-6), -3, 3))
    return np.column_stack(found).astype(np.float64)


def plain_features(probability: float, is_link: bool) -> tuple[float, ...]:
    """The features of a question of which only these two are known any more."""
    return (float(log_odds(np.array(probability))), 1.0, float(not is_link), *[0.0] * (len(FEATURES) - 3))


def chance_of_yes(features: Floats, answers: Sequence[Answer]) -> Floats:
    """(n,) the probability that each question is answered with yes, after some answers."""
    start, ranges = (np.array(column) for column in zip(*FEATURES.values(), strict=True))
    weights, pull = start.copy(), 1 / ranges**2
    if answers:
        last = answers[-MOST_ANSWERS:]
        seen, right = np.array([each.features for each in last]), np.array([each.right for each in last], np.float64)
        for _ in range(STEPS):
            expected = _logistic(seen @ weights)
            slope = seen.T @ (right - expected) - pull * (weights - start)
            bend = (seen * (expected * (1 - expected))[:, None]).T @ seen + np.diag(pull)
            step = np.linalg.solve(bend, slope)
            weights = weights + step
            if np.abs(step).max() < 1e-6:
                break
    return _logistic(features @ weights)


def log_odds(probabilities: Floats) -> Floats:
    """(n,) those of probabilities that are not beyond doubt."""
    bounded = np.clip(probabilities, FARTHEST, 1 - FARTHEST)
    found: Floats = np.log(bounded / (1 - bounded))
    return found


def _logistic(values: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-np.clip(values, -30, 30)))
    return found
