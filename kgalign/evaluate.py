"""Figures of an alignment against gold links. Nothing else reads test links."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgalign.data import Alignment, Candidates, Cardinality, Floats, Ints, Protocol, one_link

CONFIDENT = 0.9
BINS = 10


def evaluate(
    alignment: Alignment,
    gold: Alignment,
    *,
    protocol: Protocol,
    cardinality: Cardinality | None = None,
    candidates: Candidates | None = None,
    complete: bool = False,
    bootstrap: int = 0,
    seed: int = 0,
) -> dict[str, Any]:
    """The figures of an alignment against gold links, as fractions.

    - `recall`: gold links that were found.
    - `precision`: right links among the judged ones. A link is judged if it touches a gold link.
    - `not_judged`: the number of other links.
    - `hits@1`: sources of gold links whose most probable link is right. An unmatched source counts as wrong.
    - `many_to_one`: links that share their target with another. `one_to_many`: links that share their source, where they may.
    - `ece`: expected calibration error, the mean distance between probability and truth over the judged links.
    - `hits@10`, `mrr`, `candidate_hits@1`: the rank of the right target among the candidates of its source, where those are given; of
      several right targets, the rank of the best one counts. `candidate_recall`: gold links among the candidates.

    Args:
        alignment: The links to measure.
        gold: The gold links.
        protocol: The protocol under which the links were found; it is repeated in the figures.
        cardinality: How many links an entity may have. Of several links of an entity that has one at most, the most probable is judged. None:
            as many as in the gold links.
        candidates: The candidates that the links were chosen from.
        complete: There are no right links but the gold links, so every other link is judged, and wrong.
        bootstrap: Draws for 95 % confidence intervals, which are stored as `name_interval`; 0: none.
        seed: Seed of the draws.
    """
    cardinality = cardinality or cardinality_of(gold)
    best, right, judged = _judged(alignment, gold, cardinality, complete)
    found = gold.among(best)
    hit = _hits(best, gold, found)
    figures: dict[str, Any] = {"protocol": protocol, "gold": len(gold), "matched": len(best), "not_judged": int((~judged).sum())}
    figures |= {"complete": True} if complete else {}
    figures |= _ranking(candidates, gold) if candidates is not None else {}
    figures |= {
        "hits@1": _mean(hit),
        "precision": _mean(right[judged]),
        "recall": _mean(found),
        "f1": _f1(_mean(right[judged]), _mean(found)),
        "many_to_one": many_to_one(alignment),
    }
    figures |= {} if one_link(cardinality)[0] else {"one_to_many": many_to_one(alignment.turned())}
    figures |= calibration(best.scores[judged], right[judged])
    if bootstrap:
        random = np.random.default_rng(seed)
        figures["hits@1_interval"] = _interval(hit, bootstrap, random)
        figures["precision_interval"] = _interval(right[judged], bootstrap, random)
    return figures


def compare(first: Alignment, second: Alignment, gold: Alignment, *, draws: int = 1000, seed: int = 0) -> dict[str, Any]:
    """How many more gold links the second alignment finds than the first, and whether that may be chance, by a paired bootstrap.

    - `gain`: recall of the second less recall of the first.
    - `gain_interval`: its 95 % interval when gold links are drawn anew, with replacement.
    - `gain_p`: the probability of a gain at least as far from zero if there were none; at least 2 / (draws + 1).

    Args:
        first: One alignment.
        second: Another alignment.
        gold: The gold links.
        draws: The number of draws.
        seed: Seed of the draws.
    """
    cardinality = cardinality_of(gold)
    before, after = (np.isin(gold.keys, _single_links(alignment, cardinality).keys) for alignment in (first, second))
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


def cardinality_of(links: Alignment) -> Cardinality:
    """How many links the entities of these links have."""
    single = [len(np.unique(ids)) == len(ids) for ids in np.unique(links.pairs, axis=0).T]
    if single[0]:
        return "one-to-one" if single[1] else "many-to-one"
    return "one-to-many" if single[1] else "many-to-many"


def reliability(alignment: Alignment, gold: Alignment, cardinality: Cardinality | None = None) -> list[dict[str, float]]:
    """For each tenth of probability that occurs: the mean probability, the share of right links, and the number of judged links."""
    best, right, judged = _judged(alignment, gold, cardinality or cardinality_of(gold))
    probabilities, right = best.scores[judged], right[judged]
    bins = _bins(probabilities)
    return [
        {"probability": _mean(probabilities[bins == i]), "right": _mean(right[bins == i]), "count": int((bins == i).sum())}
        for i in np.unique(bins)
    ]


def ranks(candidates: Candidates, gold: Alignment) -> Floats:
    """(n,) the rank of each gold link's target among the candidates of its source, inf where it is not among them.

    Candidates with the same score share their mean rank, so that the order of ids does not matter.
    """
    row_of = {query: row for row, query in enumerate(candidates.queries.tolist())}
    rows = np.array([row_of.get(source, -1) for source in gold.sources.tolist()], np.int64)
    found = np.full(len(gold), np.inf)
    queried = np.flatnonzero(rows >= 0)
    targets, scores = candidates.targets[rows[queried]], candidates.scores[rows[queried]]
    hit = targets == gold.targets[queried, None]
    there = hit.any(axis=1)
    own = np.where(hit, scores, -np.inf).max(axis=1, initial=-np.inf)[there, None]
    better = (scores[there] > own).sum(axis=1)
    equal = ((scores[there] == own) & (targets[there] >= 0)).sum(axis=1)
    found[queried[there]] = better + (equal + 1) / 2
    return found


def many_to_one(alignment: Alignment) -> float:
    """The share of links that share their target with another link."""
    _, where, counts = np.unique(alignment.targets, return_inverse=True, return_counts=True)
    return _mean(counts[where] > 1)


def calibration(probabilities: Floats, right: Ints) -> dict[str, float]:
    """Expected calibration error over ten bins of equal width; accuracy and number of links with a probability above 0.9."""
    gaps = np.bincount(_bins(probabilities), right - probabilities, BINS)
    confident = probabilities > CONFIDENT
    return {
        "ece": float(np.abs(gaps).sum() / max(1, len(right))),
        "accuracy_above_0.9": _mean(right[confident]),
        "pairs_above_0.9": int(confident.sum()),
    }


def _judged(
    alignment: Alignment, gold: Alignment, cardinality: Cardinality, complete: bool = False
) -> tuple[Alignment, Ints, Ints]:
    """The links that count, whether each is right, and whether it is judged: whether it touches a gold link."""
    best = _single_links(alignment, cardinality)
    right = best.among(gold)
    return best, right, complete | np.isin(best.sources, gold.sources) | np.isin(best.targets, gold.targets)


def _hits(links: Alignment, gold: Alignment, found: Ints) -> Ints:
    """(s,) whether the most probable link of each source of gold links is right; `found` says which gold links are."""
    if len(np.unique(gold.sources)) == len(gold):
        return found
    best = _best_of_each(links, links.sources)
    return np.isin(np.unique(gold.sources), best.sources[best.among(gold)])


def _bins(probabilities: Floats) -> Ints:
    """(n,) the bin of each probability."""
    return np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)


def _ranking(candidates: Candidates, gold: Alignment) -> dict[str, float]:
    found = best = ranks(candidates, gold)
    sources, owners = np.unique(gold.sources, return_inverse=True)
    if len(sources) < len(gold):
        best = np.full(len(sources), np.inf)
        np.minimum.at(best, owners, found)
    return {
        "hits@10": _mean(best <= 10),
        "mrr": _mean(1 / best),
        "candidate_hits@1": _mean(best <= 1),
        "candidate_recall": _mean(np.isfinite(found)),
    }


def _single_links(alignment: Alignment, cardinality: Cardinality) -> Alignment:
    """The most probable link of each entity that has one link at most; the target decides only where the source may have several."""
    single_source, single_target = one_link(cardinality)
    if single_source:
        return _best_of_each(alignment, alignment.sources)
    return _best_of_each(alignment, alignment.targets) if single_target else alignment


def _best_of_each(alignment: Alignment, ids: Ints) -> Alignment:
    """The most probable link of each id."""
    order = np.lexsort((-alignment.scores, ids))
    _, first = np.unique(ids[order], return_index=True)
    return alignment.where(order[first])


def _interval(values: Ints, draws: int, random: np.random.Generator) -> list[float]:
    """The 95 % interval of the mean when the values are drawn anew, with replacement."""
    if not len(values):
        return [0.0, 0.0]
    counts = random.binomial(len(values), values.mean(), draws)  # the mean of draws from zeros and ones
    return [float(edge) for edge in np.percentile(counts / len(values), [2.5, 97.5])]


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else 0.0
