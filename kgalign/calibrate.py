"""Scores to probabilities that mean what they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar

from kgalign.data import Alignment, Candidates


def fit_temperature(candidates: Candidates, dev: Alignment) -> float:
    """The temperature at which the best candidate's probability predicts best whether it is right, on development links.

    Rows whose gold is not among the candidates count as wrong, so that they pull the probabilities down as they should.
    """
    gold = dict(dev.pairs.tolist())
    rows = np.flatnonzero(np.isin(candidates.queries, dev.sources))
    rows = rows[candidates.targets[rows, 0] >= 0]
    if not len(rows):
        return candidates.temperature
    asked = Candidates(candidates.queries[rows], candidates.targets[rows], candidates.scores[rows])
    right = asked.targets[:, 0] == [gold[query] for query in asked.queries.tolist()]
    spread = float(np.std(asked.scores[asked.targets >= 0])) or 1.0

    def log_loss(log_temperature: float) -> float:
        best = replace(asked, temperature=float(np.exp(log_temperature))).probabilities()[:, 0]
        best = np.clip(best, 1e-6, 1 - 1e-6)
        return -float(np.mean(np.where(right, np.log(best), np.log(1 - best))))

    bounds = (np.log(spread) - 7, np.log(spread) + 4)
    return float(np.exp(minimize_scalar(log_loss, bounds=bounds, method="bounded").x))
