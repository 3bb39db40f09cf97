"""Candidates and links where an entity may have several links: who competes with whom, and what is decided."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kgalign.blocks import by_blocks
from kgalign.data import Alignment, Candidates, Cardinality, Floats, Ints, one_link, turned_cardinality

NEARLY_CERTAIN = 1e-9  # how far a probability stays from 0 and 1
MOST_SEVERAL = 1000  # candidates of an entity that may have several links


def with_cardinality(candidates: Candidates, cardinality: Cardinality) -> Candidates:
    """Candidates of a model that compares the candidates of each query, with the probabilities that they have under a cardinality.

    Where a source may have several targets but not the reverse, the sources of each target compete, and not the targets of a source. Where
    both may have several, each pair stands by itself against no match; without a no-match option, it is as probable as it is among the
    candidates of its query or of its target, whichever is more.
    """
    if cardinality == candidates.cardinality:
        return candidates
    if one_link(cardinality)[0]:
        return replace(candidates, cardinality=cardinality)
    if cardinality == "many-to-many" and np.isfinite(candidates.no_match_score):
        return replace(candidates, cardinality=cardinality)
    probabilities = _among_sources(candidates)
    if cardinality == "many-to-many":
        probabilities = np.maximum(probabilities, candidates.probabilities())
    return with_own_odds(candidates, probabilities, cardinality)


def with_odds(candidates: Candidates, probabilities: Floats) -> Candidates:
    """The same candidates with scores that give these probabilities, beside a no-match option with a score of 0; best first.

    Args:
        candidates: The candidates.
        probabilities: (n, k) the probability of each; those of a row sum to 1 at most.
    """
    targets, scores = by_blocks(_with_odds, candidates.targets, probabilities)
    return Candidates(candidates.queries, targets, scores, no_match_score=0.0)


def _with_odds(targets: Ints, probabilities: Floats) -> tuple[Ints, Floats]:
    odds = probabilities / np.maximum(1 - probabilities.sum(axis=1, keepdims=True), NEARLY_CERTAIN)
    scores = np.where(targets >= 0, np.log(np.maximum(odds, 1e-30)), -np.inf).astype(np.float32)
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.take_along_axis(targets, order, axis=1), np.take_along_axis(scores, order, axis=1)


def with_own_odds(candidates: Candidates, probabilities: Floats, cardinality: Cardinality) -> Candidates:
    """The same candidates, each with the score that gives it this probability by itself, best first; a score of 0 stands for no match.

    Args:
        candidates: The candidates.
        probabilities: (n, k) the probability of each; those of a row may sum to more than 1.
        cardinality: One under which a source may have several links.
    """
    own = np.clip(probabilities.astype(np.float64), NEARLY_CERTAIN, 1 - NEARLY_CERTAIN)
    scores = np.where(candidates.targets >= 0, np.log(own / (1 - own)), -np.inf)
    order = np.argsort(-scores, axis=1, kind="stable")
    targets, scores = (np.take_along_axis(array, order, axis=1) for array in (candidates.targets, scores))
    return Candidates(candidates.queries, targets, scores, no_match_score=0.0, cardinality=cardinality)


def turned_candidates(candidates: Candidates, most: int = MOST_SEVERAL) -> Candidates:
    """The same scored pairs with targets as queries: for each target its sources, best first, up to so many."""
    from kgalign.search import pack  # compiled code, slow to import

    rows, slots = candidates.edges()
    queries, at = np.unique(candidates.targets[rows, slots], return_inverse=True)
    packed = pack(at, candidates.queries[rows], candidates.scores[rows, slots], len(queries), most)
    return replace(
        candidates,
        queries=queries,
        targets=packed.targets,
        scores=packed.scores,
        cardinality=turned_cardinality(candidates.cardinality),
    )


def several_links(candidates: Candidates, least: float, *, fill: bool = False) -> Alignment:
    """The best links where an entity of one side, or of both, may have several: the exact optimum, since those do not compete.

    Each entity that has one link at most takes its most probable candidate; where both sides may have several links, every pair is a link
    that is probable enough.

    Args:
        candidates: The candidates, in an order that decides exact ties.
        least: Links are more probable than this.
        fill: Whether entities that have one link at most take their best candidate however improbable it is; where no entity has, every
            entity takes it.
    """
    probabilities = candidates.probabilities()
    rows, slots = candidates.edges()
    values, targets = probabilities[rows, slots], candidates.targets[rows, slots]
    single = one_link(candidates.cardinality)
    best = [_first_of_each(ids, values) for ids in (rows, targets)]
    chosen = values > least
    if any(single):
        chosen = best[single.index(True)] & (chosen | fill)
    elif fill:
        chosen |= best[0] | best[1]
    pairs, scores = np.column_stack([candidates.queries[rows], targets])[chosen], values[chosen]
    order = np.lexsort((pairs[:, 1], -scores, pairs[:, 0]))
    return Alignment(pairs[order], np.clip(scores[order], 0, 1))


def _first_of_each(ids: Ints, values: Floats) -> Ints:
    """(n,) whether each value is the largest of its id; of several, the first."""
    order = np.lexsort((-values, ids))  # stable
    is_first = np.ones(len(order), bool)
    is_first[1:] = np.diff(ids[order]) != 0
    found = np.zeros(len(order), bool)
    found[order[is_first]] = True
    return found


def _among_sources(candidates: Candidates) -> Floats:
    """(n, k) the softmax over the sources of each target, the no-match option included."""
    rows, slots = candidates.edges()
    pool, columns = np.unique(candidates.targets[rows, slots], return_inverse=True)
    logits = candidates.scores[rows, slots].astype(np.float64) / candidates.temperature
    highest = np.full(len(pool), candidates.no_match_score / candidates.temperature)
    np.maximum.at(highest, columns, logits)
    weights = np.exp(logits - highest[columns])
    no_match = np.exp(candidates.no_match_score / candidates.temperature - highest)
    found = np.zeros(candidates.scores.shape)
    found[rows, slots] = weights / (np.bincount(columns, weights, len(pool)) + no_match)[columns]
    return found
