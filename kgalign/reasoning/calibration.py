"""Calibration: scores become probabilities that match how often candidates are right."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # which imports its parts when they are first used

from kgalign.data import Alignment, Candidates, Cardinality, Floats, Ints
from kgalign.decoding.cardinality import turned_candidates, with_odds

LEAST = 1e-9  # how far probabilities stay from 0 and 1
PRIOR_TEMPERATURE, PRIOR_NO_MATCH = 0.4, 0.7  # how far a few links move the logarithms of both: standard deviations


@dataclass(frozen=True)
class Rescaling:
    """Other numbers by which scores become probabilities, for a model without a no-match classifier, see `calibrated`."""

    temperature: float
    no_match_score: float

    def __call__(self, candidates: Candidates) -> Candidates:
        """The candidates with calibrated probabilities."""
        return replace(candidates, temperature=self.temperature, no_match_score=self.no_match_score)


@dataclass(frozen=True)
class Sharpening:
    """A correction of probabilities that is the same if source and target change places.

    Probabilities are raised to the power 1 / temperature, those of no match times `no_match` too, and add up to 1 again: for the query and
    the target of a pair, whichever has more of them.
    """

    temperature: float = 1.0
    no_match: float = 1.0

    @classmethod
    def fit(cls, candidates: Candidates, links: Alignment, dev: Alignment) -> Sharpening:
        """The correction under which links that touch development links are right as often as their probabilities say.

        A wrong link leads away from one development link and to another one, so it counts half for each. A few links move the correction
        only a little.
        """
        touched = np.isin(links.sources, dev.sources).astype(float) + np.isin(links.targets, dev.targets)
        links, counts = links.where(touched > 0), touched[touched > 0] / 2
        right = links.among(dev)
        competition = _Competition.of(candidates)
        competition = competition.where(
            np.isin(competition.rows, np.flatnonzero(np.isin(candidates.queries, links.sources)))
            | np.isin(competition.columns, links.targets)
        )
        keys = (candidates.queries[competition.rows] << 32) | competition.columns
        order = np.argsort(keys)
        chosen = order[np.searchsorted(keys, links.keys, sorter=order)]

        def loss(point: Floats) -> float:
            values = np.clip(competition.sharpened(*np.exp(point))[chosen], LEAST, 1 - LEAST)
            surprise = -counts @ np.log(np.where(right, values, 1 - values))
            return float(surprise + ((point / (PRIOR_TEMPERATURE, PRIOR_NO_MATCH)) ** 2).sum() / 2)

        found = scipy.optimize.minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"maxiter": 150, "fatol": 1e-2}).x
        return cls(*np.exp(found).tolist())

    def __call__(self, candidates: Candidates) -> Candidates:
        """The candidates with corrected probabilities."""
        rows, slots = candidates.edges()
        probabilities = np.zeros(candidates.scores.shape)
        probabilities[rows, slots] = _Competition.of(candidates).sharpened(self.temperature, self.no_match)
        return replace(with_odds(candidates, probabilities), cardinality=candidates.cardinality)


@dataclass(frozen=True, eq=False)
class _Competition:
    """Probable pairs, and the probability that the query or the target of each has no match."""

    rows: Ints  # (e,)
    columns: Ints  # (e,)
    values: Floats  # (e,)
    unmatched: tuple[Floats, Floats]  # (n,), (m,)

    @classmethod
    def of(cls, candidates: Candidates) -> _Competition:
        rows, slots = candidates.edges()
        columns, values = candidates.targets[rows, slots].astype(np.int64), candidates.probabilities()[rows, slots]
        unmatched = tuple(np.clip(1 - np.bincount(ids, values), LEAST, 1) for ids in (rows, columns))
        return cls(rows, columns, np.clip(values, LEAST, 1), (unmatched[0], unmatched[1]))

    def where(self, chosen: Ints) -> _Competition:
        return replace(self, rows=self.rows[chosen], columns=self.columns[chosen], values=self.values[chosen])

    def sharpened(self, temperature: float, no_match: float) -> Floats:
        """(e,) the corrected probabilities."""
        values = self.values ** (1 / temperature)
        totals = [
            (np.bincount(ids, values, len(unmatched)) + no_match * unmatched ** (1 / temperature))[ids]
            for ids, unmatched in zip((self.rows, self.columns), self.unmatched, strict=True)
        ]
        return values / np.maximum(totals[0], totals[1])


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
