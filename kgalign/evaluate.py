"""How good an alignment is. This is the only place where test links are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgalign.data import Alignment, Candidates, Floats, Ints, Protocol

CONFIDENT = 0.9
BINS = 10


def evaluate(
    alignment: Alignment,
    gold: Alignment,
    *,
    protocol: Protocol,
    candidates: Candidates | None = None,
    complete: bool = False,
    bootstrap: int = 0,
    seed: int = 0,
) -> dict[str, Any]:
    """The figures of an alignment against gold links, as fractions; those of the candidate lists too if they are given.

    hits@1          gold links that the alignment has; an unmatched source counts as wrong
    precision       right pairs among those that touch a gold entity: of other pairs nobody knows
    not_judged      how many of those other pairs there are
    many_to_one     pairs whose target another source has too
    ece             expected calibration error: how far probabilities are from the truth on average, over those that are judged
    complete        whether the gold links are all there are: then every other pair is wrong, and all are judged
    bootstrap       draws for 95 % confidence intervals, under `name_interval`; 0: none
    """
    best, right, judged = _judged(alignment, gold, complete)
    found = np.isin(gold.keys, best.keys)
    figures: dict[str, Any] = {"protocol": protocol, "gold": len(gold), "matched": len(best), "not_judged": int((~judged).sum())}
    figures |= {"complete": True} if complete else {}
    figures |= _ranking(candidates, gold) if candidates is not None else {}
    figures |= {
        "hits@1": _mean(found),
        "precision": _mean(right[judged]),
        "recall": _mean(found),
        "f1": _f1(_mean(right[judged]), _mean(found)),
        "many_to_one": many_to_one(alignment),
    }
    figures |= calibration(best.scores[judged], right[judged])
    if bootstrap:
        random = np.random.default_rng(seed)
        figures["hits@1_interval"] = _interval(found, bootstrap, random)
        figures["precision_interval"] = _interval(right[judged], bootstrap, random)
    return figures


def compare(first: Alignment, second: Alignment, gold: Alignment, *, draws: int = 1000, seed: int = 0) -> dict[str, Any]:
    """How much more of the gold the second alignment finds than the first, and whether that may be chance: a paired bootstrap.

    gain            hits@1 of the second less that of the first
    gain_interval   its 95 % interval when the gold links are drawn anew, with replacement, each with the answers of both
    gain_p          how probable a gain at least as far from zero would be if there were none; at least 2 / (draws + 1)
    """
    before, after = (np.isin(gold.keys, _best_of_each_source(alignment).keys) for alignment in (first, second))
    won, lost = int((after & ~before).sum()), int((before & ~after).sum())
    if not won and not lost:
        return {"gain": 0.0, "gain_interval": [0.0, 0.0], "gain_p": 1.0}
    n = len(gold)
    drawn = np.random.default_rng(seed).multinomial(n, np.array([won, lost, n - won - lost]) / n, draws)  # won, lost, the same
    gains = (drawn[:, 0] - drawn[:, 1]) / n
    rarer = min((gains <= 0).sum(), (gains >= 0).sum())
    return {
        "gain": (won - lost) / n,
        "gain_interval": [float(edge) for edge in np.percentile(gains, [2.5, 97.5])],
        "gain_p": float(min(1.0, 2 * (rarer + 1) / (draws + 1))),
    }


def reliability(alignment: Alignment, gold: Alignment) -> list[dict[str, float]]:
    """For each tenth of the probabilities that occurs: their mean, the share of right pairs, and how many there are."""
    best, right, judged = _judged(alignment, gold)
    probabilities, right = best.scores[judged], right[judged]
    bins = _bins(probabilities)
    return [
        {"probability": _mean(probabilities[bins == i]), "right": _mean(right[bins == i]), "count": int((bins == i).sum())}
        for i in np.unique(bins)
    ]


def ranks(candidates: Candidates, gold: Alignment) -> Floats:
    """(n,) the place of each gold link's target among its source's candidates, inf where it is not among them.

    Candidates with the same score share their mean place, so that no order of ids helps.
    """
    row_of = {query: row for row, query in enumerate(candidates.queries.tolist())}
    rows = np.array([row_of.get(source, -1) for source in gold.sources.tolist()], np.int64)
    places = np.full(len(gold), np.inf)
    asked = np.flatnonzero(rows >= 0)
    targets, scores = candidates.targets[rows[asked]], candidates.scores[rows[asked]]
    hit = targets == gold.targets[asked, None]
    there = hit.any(axis=1)
    own = np.where(hit, scores, -np.inf).max(axis=1, initial=-np.inf)[there, None]
    better = (scores[there] > own).sum(axis=1)
    equal = ((scores[there] == own) & (targets[there] >= 0)).sum(axis=1)
    places[asked[there]] = better + (equal + 1) / 2
    return places


def many_to_one(alignment: Alignment) -> float:
    """The share of pairs whose target another source has too."""
    _, where, counts = np.unique(alignment.targets, return_inverse=True, return_counts=True)
    return _mean(counts[where] > 1)


def calibration(probabilities: Floats, right: Ints) -> dict[str, float]:
    """Expected calibration error over ten bins of equal width; accuracy and number of the pairs above 0.9."""
    gaps = np.bincount(_bins(probabilities), right - probabilities, BINS)
    sure = probabilities > CONFIDENT
    return {
        "ece": float(np.abs(gaps).sum() / max(1, len(right))),
        "accuracy_above_0.9": _mean(right[sure]),
        "pairs_above_0.9": int(sure.sum()),
    }


def _judged(alignment: Alignment, gold: Alignment, complete: bool = False) -> tuple[Alignment, Ints, Ints]:
    """The best pair of each source, whether it is right, and whether anybody knows: whether it touches a gold entity."""
    best = _best_of_each_source(alignment)
    right = np.isin(best.keys, gold.keys)
    return best, right, complete | np.isin(best.sources, gold.sources) | np.isin(best.targets, gold.targets)


def _bins(probabilities: Floats) -> Ints:
    """(n,) the bin of each."""
    return np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)


def _ranking(candidates: Candidates, gold: Alignment) -> dict[str, float]:
    places = ranks(candidates, gold)
    return {
        "hits@10": _mean(places <= 10),
        "mrr": _mean(1 / places),
        "candidate_hits@1": _mean(places <= 1),
        "candidate_recall": _mean(np.isfinite(places)),
    }


def _best_of_each_source(alignment: Alignment) -> Alignment:
    """The pair with the highest score of each source."""
    order = np.lexsort((-alignment.scores, alignment.sources))
    _, first = np.unique(alignment.sources[order], return_index=True)
    return alignment.where(order[first])


def _interval(values: Ints, draws: int, random: np.random.Generator) -> list[float]:
    """The 95 % interval of the mean when the links are drawn anew, with replacement."""
    if not len(values):
        return [0.0, 0.0]
    counts = random.binomial(len(values), values.mean(), draws)  # the mean of draws from zeros and ones
    return [float(edge) for edge in np.percentile(counts / len(values), [2.5, 97.5])]


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else 0.0
