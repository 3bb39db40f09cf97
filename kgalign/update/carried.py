"""An earlier run in the ids of the graphs as they are now: what can stay of it, and what the change of the graphs touches."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates, Floats, Ints, one_link
from kgalign.decoding.cardinality import with_odds, with_own_odds
from kgalign.features.constraints import allowed
from kgalign.runs.hashes import GraphChange, graph_hashes
from kgalign.update.earlier import Earlier

NO_LINE = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Carried:
    """What an earlier run says of the graphs as they are now.

    Attributes:
        source: How the source has changed.
        target: How the target has.
        alignment: The links that can stay, in the order of the earlier table.
        lines: (n,) the line of each of them in that table.
        first_line: (sources,) the first line of each source entity, NO_LINE: it had no link.
        lost: Links that cannot stay though both entities still exist.
        candidates: The earlier candidates of all queries, beside a no-match option with a score of 0.
        elsewhere: Links of other entities than queries and pool that were evidence.
        known: The confident ones among them.
        touched: (sources,) and (targets,) the entities that something has changed for: their statements, or what they may be linked to.
        seeds: The seeds that are new, and those that were seeds before and are none now.
        rejected: The same for rejected pairs.
    """

    source: GraphChange
    target: GraphChange
    alignment: Alignment
    lines: Ints
    first_line: Ints
    lost: Alignment
    candidates: Candidates
    elsewhere: Alignment
    known: Alignment
    touched: tuple[Ints, Ints]
    seeds: tuple[Alignment, Alignment]
    rejected: tuple[Alignment, Alignment]

    @classmethod
    def of(cls, earlier: Earlier, task: AlignmentTask) -> Carried:
        remembered = earlier.remembered
        now = graph_hashes(task)
        source, target = (GraphChange.between(*pair) for pair in zip((remembered.source, remembered.target), now, strict=True))
        sides = source, target
        links, there = _renumbered(earlier.alignment, sides)
        may = np.isin(links.sources, task.queries) & np.isin(links.targets, task.pool) & allowed(task, *links.pairs.T)
        first_line = np.full(len(task.source.entities), NO_LINE)
        sources_now = source.now[earlier.alignment.sources]
        lines = np.flatnonzero(sources_now >= 0)
        np.minimum.at(first_line, sources_now[lines], lines)
        seeds, before = task.seeds, _renumbered(remembered.seeds.alignment(), sides)[0]
        rejected, rejected_before = task.rejected, _renumbered(remembered.rejected.alignment(), sides)[0]
        changes = [
            (now.where(~now.among(then)), then.where(~then.among(now)))
            for now, then in ((seeds, before), (rejected, rejected_before))
        ]
        elsewhere, known = (
            _outside(_renumbered(each.alignment(), sides)[0], task) for each in (remembered.elsewhere, remembered.known)
        )
        found = cls(
            source,
            target,
            links.where(may),
            np.flatnonzero(there)[may],
            first_line,
            links.where(~may),
            _candidates(earlier, sides, task),
            elsewhere,
            known,
            (source.is_touched.copy(), target.is_touched.copy()),
            changes[0],
            changes[1],
        )
        found._touch(earlier, task)
        return found

    def _touch(self, earlier: Earlier, task: AlignmentTask) -> None:
        """Marks whatever else has changed for an entity: its link is gone, or it may be linked now, or a pair is decided."""
        sources, targets = self.touched
        remembered, links = earlier.remembered, earlier.alignment
        ends = self.source.now[links.sources], self.target.now[links.targets]
        sources[ends[0][(ends[1] < 0) & (ends[0] >= 0)]] = True
        targets[ends[1][(ends[0] < 0) & (ends[1] >= 0)]] = True
        for side, before, now, mask in (
            (self.source, remembered.queries, task.queries, sources),
            (self.target, remembered.pool, task.pool, targets),
        ):
            mask[np.setdiff1d(now, side.now[before])] = True
        for pairs in (*self.rejected, self.lost, self.seeds[1]):
            sources[pairs.sources], targets[pairs.targets] = True, True


def _renumbered(links: Alignment, sides: tuple[GraphChange, GraphChange]) -> tuple[Alignment, Ints]:
    """The links whose entities still exist, with the ids of today, and which of all links these are."""
    ends = np.column_stack([side.now[ids] for side, ids in zip(sides, links.pairs.T, strict=True)]).reshape(-1, 2)
    there: Ints = np.all(ends >= 0, axis=1)
    return replace(links.where(there), pairs=ends[there]), there


def _outside(links: Alignment, task: AlignmentTask) -> Alignment:
    """The links of entities that are neither queries, nor in the pool, nor in a seed."""
    inside = np.isin(links.sources, np.union1d(task.queries, task.seeds.sources))
    return links.where(~(inside | np.isin(links.targets, np.union1d(task.pool, task.seeds.targets))))


def _candidates(earlier: Earlier, sides: tuple[GraphChange, GraphChange], task: AlignmentTask) -> Candidates:
    """The earlier candidates as rows of today's queries; a query that had none has an empty row."""
    given = on_one_scale(earlier.candidates)
    queries = sides[0].now[given.queries]
    targets = np.append(sides[1].now, -1)[given.targets]
    targets[~np.isin(targets, task.pool)] = -1
    scores = np.where(targets >= 0, given.scores, -np.inf)
    order = np.argsort(targets < 0, axis=1, kind="stable")
    targets, scores = (np.take_along_axis(array, order, axis=1) for array in (targets, scores))
    rows = np.full((len(task.queries), targets.shape[1]), -1, np.int32)
    values = np.full(rows.shape, -np.inf, np.float32)
    there = np.isin(queries, task.queries)
    places = np.searchsorted(task.queries, queries[there])
    rows[places], values[places] = targets[there], scores[there]
    return replace(given, queries=task.queries, targets=rows, scores=values)


def on_one_scale(candidates: Candidates) -> Candidates:
    """The same candidates with scores that are log-odds beside a no-match option with a score of 0."""
    if (candidates.temperature, candidates.no_match_score) == (1.0, 0.0):
        return candidates
    return with_probabilities(candidates, candidates.probabilities())


def with_probabilities(candidates: Candidates, probabilities: Floats) -> Candidates:
    """The same candidates with these probabilities, on that scale."""
    if not one_link(candidates.cardinality)[0]:
        return with_own_odds(candidates, probabilities, candidates.cardinality)
    return replace(with_odds(candidates, probabilities), cardinality=candidates.cardinality)
