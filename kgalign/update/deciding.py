"""What is near a change is decided again, in waves, until nothing moves; everything else stays as it is."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates, Floats, Ints, one_link
from kgalign.decoding.cardinality import with_cardinality
from kgalign.features.constraints import allowed_candidates
from kgalign.features.relations import Edges
from kgalign.reasoning import Rules
from kgalign.reasoning.calibration import Rescaling, Sharpening
from kgalign.reasoning.easy_to_hard import apart, confident_links, enough_new, plausible_candidates
from kgalign.update.carried import Carried, on_one_scale, with_probabilities

logger = logging.getLogger(__name__)
STEADY = 0.02  # a link of the same two entities whose probability moves by less stays as it was
NEAR = 0.2  # of the neighbours of an entity: where the links of more of them have moved, it is decided again
OPEN = 0.8  # entities without a link above this probability may take a target that is new or free
FIRST = 5  # candidates of theirs that count as wanted
WANTED = 0.05  # the least probability of a pair that is wanted
SAMPLE = 2000  # other queries that are predicted too: models estimate from all queries how many have a match
MOST_WAVES = 5


@dataclass(frozen=True, eq=False)
class Decided:
    """What came out of the waves.

    Attributes:
        alignment: All links, those that stayed among them.
        candidates: The candidates of all queries.
        evidence: The links that the last prediction was given as known.
        model: The fitted model, as it was after the last prediction.
        again: (sources,) the queries that were decided again.
        waves: How many waves there were.
    """

    alignment: Alignment
    candidates: Candidates
    evidence: Alignment
    model: Any
    again: Ints
    waves: int


def decide_again(
    model: Any,
    task: AlignmentTask,
    carried: Carried,
    rules: Rules,
    calibrate: Rescaling | Sharpening | None = None,
    on_step: Callable[[str], None] = lambda step: None,
) -> Decided:
    """Decides what is near a change again.

    The first wave has the entities that something has changed for, and those that may take a target that is new or free. A link that
    comes out with other entities, or with a probability that is STEADY or more away, has moved. The next wave has the entities of which more
    than NEAR of the neighbours have links that moved, and so on. All other links are evidence for the waves, and hold their targets: an
    entity gets such a target only if it wants it more.

    Args:
        model: A fitted model.
        task: The graphs as they are now.
        carried: What can stay of the earlier run.
        rules: How that run has reasoned.
        calibrate: What held-out seeds have taught that run about probabilities.
        on_step: Is called with what begins.
    """
    wave = _Wave(model, task, rules, calibrate, Edges.of_task(task), carried.elsewhere)
    alignment, candidates, evidence = carried.alignment, carried.candidates, wave.evidence(carried.alignment, carried.candidates)
    sources, targets = _queried(task, carried.touched)
    if any(map(len, carried.seeds)):  # as if links had moved from or to their entities
        came, went = carried.seeds
        near = wave.near(*_moved(came + went, Alignment.empty(), (len(sources), len(targets))))
        sources, targets = sources | near[0], targets | near[1]
    again, number = np.zeros(len(sources), bool), 0
    while number < MOST_WAVES and (sources.any() or targets.any()):
        number += 1
        on_step(f"deciding again, wave {number}")
        sources |= _partners(alignment.sources, targets[alignment.targets], len(sources))
        evidence = wave.evidence(alignment, candidates)
        model = wave.model.with_known(task, evidence) if wave.model.capabilities.looks else wave.model
        wave = replace(wave, model=model)
        free = targets & ~_partners(alignment.targets, alignment.scores > OPEN, len(targets)) & _mask(task.pool, len(targets))
        rivals = wave.rivals(alignment, candidates, free, sources, evidence)
        before, sources = alignment, sources & _mask(task.queries, len(sources))
        alignment, candidates, taken = wave.decide(alignment, candidates, (sources, rivals, free), evidence, number)
        again |= taken
        moved = _moved(before, alignment, (len(sources), len(targets)))
        logger.info(
            "wave %d: decided again: %d, of which %d moved; looked at besides: %d",
            number, taken.sum(), (moved[0] > 0).sum(), rivals.sum(),
        )  # fmt: skip
        sources, targets = wave.near(*moved)
        sources &= _mask(task.queries, len(sources))
        targets = _partners(before.targets, moved[0][before.sources] > 0, len(targets)) & ~_mask(alignment.targets, len(targets))
        if sources.sum() + targets.sum() < enough_new(len(task.queries)):
            break
    return Decided(alignment, candidates, evidence, wave.model, again, number)


@dataclass(frozen=True, eq=False)
class _Wave:
    """What all waves have in common."""

    model: Any
    task: AlignmentTask
    rules: Rules
    calibrate: Rescaling | Sharpening | None
    edges: tuple[Edges, Edges]
    elsewhere: Alignment

    def evidence(self, alignment: Alignment, candidates: Candidates) -> Alignment:
        """The links that a prediction is given as known: seeds, and what the model takes of the others."""
        if not self.rules.max_rounds:
            return self.task.seeds
        soft = self.model.capabilities.soft_evidence and not self.rules.freeze
        here = plausible_candidates(candidates) if soft else alignment.where(alignment.rounds > 0)
        return self.task.seeds + apart(self.elsewhere + here, self.task.seeds, self.task.cardinality)

    def predict(self, queries: Ints, pool: Ints, evidence: Alignment) -> Candidates:
        """The candidates of some queries, on the common scale."""
        part = replace(self.task, queries=queries, pool=pool)
        scored = allowed_candidates(part, self.model.predict(part, evidence))
        scored = self.calibrate(scored) if self.calibrate else scored
        found = on_one_scale(with_cardinality(scored, self.task.cardinality))
        if any(one_link(self.task.cardinality)):
            return found
        seeds = np.isin((found.queries[:, None] << 32) | found.targets, self.task.seeds.keys)
        return _without(found, seeds)

    def rivals(self, alignment: Alignment, candidates: Candidates, free: Ints, sources: Ints, evidence: Alignment) -> Ints:
        """(sources,) the queries without a certain link that may want one of some targets, and are not decided again anyway.

        Args:
            alignment: All links.
            candidates: The candidates of all queries. Targets that are new are in none of them, so they are searched for.
            free: (targets,) the targets that may be taken.
            sources: (sources,) the queries that are decided again anyway.
            evidence: The links that are known.
        """
        found = np.zeros(len(sources), bool)
        certain = _partners(alignment.sources, alignment.scores > OPEN, len(sources))
        is_open = ~(certain | sources)[self.task.queries]
        first = candidates.targets[:, :FIRST]
        found[self.task.queries[is_open & (np.append(free, False)[first] & (first >= 0)).any(axis=1)]] = True
        queries, pool = (
            self.task.queries[is_open],
            np.flatnonzero(free & ~_mask(candidates.targets[candidates.targets >= 0], len(free))),
        )
        if len(queries) and len(pool):
            wanted = self.predict(queries, pool, evidence)
            found[wanted.queries[(wanted.probabilities() > WANTED).any(axis=1)]] = True
        return found

    def decide(
        self, alignment: Alignment, candidates: Candidates, region: tuple[Ints, Ints, Ints], evidence: Alignment, number: int
    ) -> tuple[Alignment, Candidates, Ints]:
        """All links and candidates after a wave, and the queries that it has decided.

        Args:
            alignment: All links before.
            candidates: The candidates of all queries before.
            region: (sources,) the queries to decide again; (sources,) others, which are decided again if they take a target from the first, or
                lose one to them, or take one that is free; (targets,) the free targets.
            evidence: The links that are known.
            number: Of the wave.
        """
        task, single_target = self.task, one_link(self.task.cardinality)[1]
        sources, rivals, free = region
        others = task.queries[~(sources | rivals)[task.queries]]
        drawn = np.random.default_rng(self.rules.seed).permutation(len(others))[:SAMPLE]
        queries = np.union1d(np.flatnonzero(sources | rivals), others[drawn])
        found = self.predict(queries, task.pool, evidence)
        found = found.where((sources | rivals)[found.queries])
        holders = np.zeros(len(sources), bool)
        if single_target:
            held = alignment.where(~(sources | rivals)[alignment.sources])
            found = with_probabilities(found, _beside_holders(found, held, len(task.target.entities)))
            wanted = np.unique(found.targets[found.probabilities() > WANTED])
            contested = held.where(np.isin(held.targets, wanted))
            claims = _claims(found, contested)
            holders = _partners(contested.sources, claims > contested.scores / 4, len(sources))
        stand_by = candidates.where(holders[candidates.queries])
        rows = _stacked(found, stand_by)
        if single_target:
            fixed = alignment.where(~(sources | rivals | holders)[alignment.sources])
            rows = _without(rows, _mask(fixed.targets, len(task.target.entities))[rows.targets])
        links = self.rules.make_decoder(task.protocol)(rows)
        confident = confident_links(rows, self.rules.alpha)
        is_confident = links.among(confident) if self.rules.max_rounds else np.zeros(len(links), bool)
        links = replace(links, rounds=np.where(is_confident, number, 0))
        taken, links = _taken(alignment, links, sources, rivals | holders, free if single_target else None)
        rest = alignment.where(~taken[alignment.sources])
        again = found.where(taken[found.queries])
        return rest + links, _replaced(candidates, again), taken

    def near(self, source_moves: Floats, target_moves: Floats) -> tuple[Ints, Ints]:
        """The entities of either graph around which much has moved."""
        found = []
        for edges, moves in zip(self.edges, (source_moves, target_moves), strict=True):
            around = edges.adjacency @ moves
            found.append(around > NEAR * np.maximum(edges.degrees, 1))
        return found[0], found[1]


def _taken(before: Alignment, links: Alignment, sources: Ints, others: Ints, free: Ints | None) -> tuple[Ints, Alignment]:
    """The queries whose new links count, and these links.

    All of `sources` count, and of the others those that take a target from them, lose one to them, or take a free one; None: targets may
    have several links, so that all of them count that differ. Where the same two entities are
    linked with nearly the same probability, the earlier one stays.
    """
    size = len(sources)
    taken = sources.copy()
    differs = _moved(before.where((sources | others)[before.sources]), links, (size, 0))[0] > 0
    while free is not None:
        claimed = _mask(links.where(taken[links.sources]).targets, len(free))
        left = free | _mask(before.where(taken[before.sources]).targets, len(free))
        touches = _partners(before.sources, claimed[before.targets], size) | _partners(links.sources, left[links.targets], size)
        more = others & differs & touches & ~taken
        if not more.any():
            break
        taken |= more
    if free is None:
        taken |= others & differs
    links = links.where(taken[links.sources])
    steady = _steady(before, links)
    scores, rounds = links.scores.copy(), links.rounds.copy()
    at = steady >= 0
    scores[at], rounds[at] = before.scores[steady[at]], before.rounds[steady[at]]
    return taken, replace(links, scores=scores, rounds=rounds)


def _steady(before: Alignment, links: Alignment) -> Ints:
    """(n,) the position of the earlier link of the same two entities with nearly the same probability, -1: there is none."""
    order = np.argsort(before.keys)
    if not len(order):
        return np.full(len(links), -1)
    places = order[np.minimum(np.searchsorted(before.keys, links.keys, sorter=order), len(order) - 1)]
    same = (before.keys[places] == links.keys) & (np.abs(before.scores[places] - links.scores) < STEADY)
    return np.where(same, places, -1)


def _moved(before: Alignment, after: Alignment, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    """For each entity of either graph how far its links have moved: the sum of the differences of their probabilities, at most 1."""
    keys, where = np.unique(np.concatenate([before.keys, after.keys]), return_inverse=True)
    differences = np.zeros(len(keys))
    np.add.at(differences, where, np.concatenate([before.scores, -after.scores]))
    once = np.bincount(where, minlength=len(keys)) == 1
    differences = np.abs(differences)
    differences[(differences < STEADY) & ~once] = 0
    differences[once] = np.maximum(differences[once], STEADY)
    ends = keys >> 32, keys & (2**32 - 1)
    found = [
        np.minimum(np.bincount(ids, differences, size), 1) if size else np.zeros(0) for ids, size in zip(ends, sizes, strict=True)
    ]
    return found[0], found[1]


def _beside_holders(candidates: Candidates, held: Alignment, size: int) -> Floats:
    """(n, k) the probabilities, where targets have a link that is not decided again: the two compete by their odds, beside no match."""
    odds = np.zeros(size + 1)
    np.add.at(odds, held.targets, held.scores / np.maximum(1 - held.scores, 1e-4))
    probabilities = candidates.probabilities()
    own = probabilities / np.maximum(1 - probabilities, 1e-4)
    other = odds[candidates.targets]  # of no target: the last one, which has none
    return np.where(other > 0, own / (1 + own + other), probabilities)


def _claims(candidates: Candidates, held: Alignment) -> Floats:
    """(n,) how probable the best claim of the candidates on the target of each link is."""
    best = np.zeros(int(max(candidates.targets.max(initial=-1), held.targets.max(initial=-1))) + 2)
    np.maximum.at(best, candidates.targets, candidates.probabilities())
    return best[held.targets]


def _replaced(candidates: Candidates, again: Candidates) -> Candidates:
    """The candidates, with the rows of some queries replaced."""
    width = max(candidates.targets.shape[1], again.targets.shape[1])
    targets, scores = _widened(candidates, width)
    places = np.searchsorted(candidates.queries, again.queries)
    targets[places], scores[places] = _widened(again, width)
    return replace(candidates, targets=targets, scores=scores)


def _stacked(one: Candidates, other: Candidates) -> Candidates:
    """The rows of both."""
    width = max(one.targets.shape[1], other.targets.shape[1])
    sides = [_widened(each, width) for each in (one, other)]
    targets, scores = (np.concatenate(parts) for parts in zip(*sides, strict=True))
    return replace(one, queries=np.concatenate([one.queries, other.queries]), targets=targets, scores=scores)


def _widened(candidates: Candidates, width: int) -> tuple[Ints, Floats]:
    more = (0, 0), (0, width - candidates.targets.shape[1])
    return (
        np.pad(candidates.targets.astype(np.int32), more, constant_values=-1),
        np.pad(candidates.scores.astype(np.float32), more, constant_values=-np.inf),
    )


def _without(candidates: Candidates, gone: Ints) -> Candidates:
    """The candidates without some places (n, k)."""
    gone = gone | (candidates.targets < 0)
    order = np.argsort(gone, axis=1, kind="stable")
    targets, scores = np.where(gone, -1, candidates.targets), np.where(gone, -np.inf, candidates.scores)
    return replace(candidates, targets=np.take_along_axis(targets, order, axis=1), scores=np.take_along_axis(scores, order, axis=1))


def _queried(task: AlignmentTask, touched: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """The queries and the pool entities among the entities that are touched, as masks."""
    sources, targets = touched
    return sources & _mask(task.queries, len(sources)), targets & _mask(task.pool, len(targets))


def _mask(ids: Ints, size: int) -> Ints:
    found = np.zeros(size, bool)
    found[ids] = True
    return found


def _partners(ids: Ints, chosen: Ints, size: int) -> Ints:
    """(size,) which entities are at the end of a link that is chosen."""
    return _mask(ids[chosen], size)
