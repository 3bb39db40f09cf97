"""Calibration: scores become probabilities that match how often candidates are right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy  # which imports its parts when they are first used

from kgalign.data import Alignment, Candidates, Cardinality, Floats
from kgalign.decoding.cardinality import turned_candidates


def calibrated(candidates: Candidates, dev: Alignment, cardinality: Cardinality = "one-to-one") -> Candidates:
    """The same candidates, with the temperature and the no-match score under which development links are most probable.

    They predict whether the best candidate is right; a row whose counterpart is missing from the list counts as wrong. Where a source may
    have several targets but not the reverse, the best source of each target counts instead.
    """
    if cardinality == "one-to-many":
        found = calibrated(turned_candidates(candidates), dev.turned())
        return replace(candidates, temperature=found.temperature, no_match_score=found.no_match_score)
    rows = np.flatnonzero(np.isin(candidates.queries, dev.sources))
    rows = rows[candidates.targets[rows, 0] >= 0] if candidates.targets.shape[1] else rows[:0]
    if not len(rows):
        return candidates
    checked = Candidates(candidates.queries[rows], candidates.targets[rows], candidates.scores[rows], cardinality=cardinality)
    right = np.isin(Alignment(np.column_stack([checked.queries, checked.targets[:, 0]])).keys, dev.keys)
    scores = checked.scores[checked.targets >= 0]
    spread, middle = float(np.std(scores)) or 1.0, float(np.mean(scores))

    def log_loss(point: Floats) -> float:
        temperature, no_match = spread * np.exp(np.clip(point[0], -7, 4)), middle + spread * point[1]
        best = replace(checked, temperature=float(temperature), no_match_score=float(no_match)).probabilities()[:, 0]
        best = np.clip(best, 1e-9, 1 - 1e-9)
        losses = np.where(right, np.log(best), np.log(1 - best))
        # One more wrong link, as probable as the most probable one: without it, links that are all right would make everything certain.
        return -float(losses.sum() + np.log(1 - best.max())) / (len(losses) + 1)

    point = scipy.optimize.minimize(log_loss, [-1.5, 0.0], method="Nelder-Mead", options={"maxiter": 200}).x
    return replace(
        candidates, temperature=float(spread * np.exp(np.clip(point[0], -7, 4))), no_match_score=float(middle + spread * point[1])
    )
