"""What people have decided, in a task: matches become seeds, other pairs are rejected, and some sources have no counterpart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kgalign.data import NO_COUNTERPART, Alignment, AlignmentTask, Ints, one_link
from kgalign.decisions import Standing

Find = Callable[[str], int | None]  # the id of an entity by its IRI


@dataclass(frozen=True, eq=False)
class Decided:
    """Decisions, by the ids of entities.

    Attributes:
        matches: Pairs that are matches. They keep to the cardinality of the task.
        rejected: Pairs that are none.
        alone: (n,) sources without a counterpart.
    """

    matches: Alignment
    rejected: Alignment
    alone: Ints

    @classmethod
    def of(cls, standing: Standing, source: Find, target: Find) -> Decided:
        """What stands, without decisions about entities that are not found."""
        pairs = []
        for place in (standing.matches, standing.rejected):
            ends = [(source(one), target(other)) for one, other in place]
            pairs.append(Alignment(np.array([pair for pair in ends if None not in pair], np.int64).reshape(-1, 2)))
        alone = [number for number in map(source, standing.alone) if number is not None]
        return cls(pairs[0], pairs[1], np.array(alone, np.int64))

    def __len__(self) -> int:
        return len(self.matches) + len(self.rejected) + len(self.alone)


def decided_of(task: AlignmentTask, standing: Standing) -> Decided:
    """What stands about the entities of a task."""
    source, target = ({iri: number for number, iri in enumerate(graph.entities)} for graph in (task.source, task.target))
    return Decided.of(standing, source.get, target.get)


def unmatched_sources(task: AlignmentTask) -> Ints:
    """(n,) the sources of a task that have no counterpart, as people have decided."""
    return np.empty(0, np.int64) if task.types is None else np.flatnonzero(task.types[0] & NO_COUNTERPART)


def with_decisions(task: AlignmentTask, decided: Decided) -> AlignmentTask:
    """The task in which matches are seeds, and in which nothing else contradicts what was decided.

    Entities of matches are queries and candidates only if they may have more links. Seeds that a decision contradicts are left out.
    """
    if not len(decided):
        return task
    single_source, single_target = one_link(task.cardinality)
    matches = decided.matches
    old = task.seeds
    replaced = np.isin(old.keys, np.concatenate([matches.keys, decided.rejected.keys])) | np.isin(old.sources, decided.alone)
    if single_source:
        replaced |= np.isin(old.sources, matches.sources)
    if single_target:
        replaced |= np.isin(old.targets, matches.targets)
    seeds = replace(old.where(~replaced) + matches, record=old.record)
    lost = old.where(~np.isin(old.keys, seeds.keys))
    given = task.lessons
    decided_on = task.decided + matches.where(~np.isin(matches.keys, given.keys))
    rejected = replace(_union(task.rejected, decided.rejected, matches), record=task.rejected.record)
    # What an overruled seed had linked is to be aligned again.
    queries, pool = np.union1d(task.queries, lost.sources), np.union1d(task.pool, lost.targets)
    return replace(
        task,
        seeds=seeds,
        rejected=rejected,
        queries=np.setdiff1d(queries, seeds.sources) if single_source else queries,
        pool=np.setdiff1d(pool, seeds.targets) if single_target else pool,
        types=_types(task, decided.alone),
        decided=decided_on.where(np.isin(decided_on.keys, seeds.keys)),
    )


def without_decisions(task: AlignmentTask, made: Decided) -> AlignmentTask:
    """The task as if these decisions had not been made.

    Seeds that they have replaced do not come back, nor do rejected pairs that were given to the task as well.
    """
    taken = task.decided.where(np.isin(task.decided.keys, made.matches.keys))
    alone = np.intersect1d(made.alone, unmatched_sources(task))
    types = task.types
    if types is not None and len(alone):
        own = types[0].copy()
        own[alone] &= ~NO_COUNTERPART
        types = (own, types[1]) if own.any() or types[1].any() else None
    return replace(
        task,
        seeds=task.seeds.where(~np.isin(task.seeds.keys, taken.keys)),
        rejected=task.rejected.where(~np.isin(task.rejected.keys, made.rejected.keys)),
        queries=np.union1d(task.queries, taken.sources),
        pool=np.union1d(task.pool, taken.targets),
        types=types,
        decided=task.decided.where(~np.isin(task.decided.keys, taken.keys)),
    )


def _union(rejected: Alignment, more: Alignment, matches: Alignment) -> Alignment:
    both = rejected + more
    both = both.where(np.unique(both.keys, return_index=True)[1])
    return both.where(~np.isin(both.keys, matches.keys))


def _types(task: AlignmentTask, alone: Ints) -> tuple[Ints, Ints] | None:
    """The types, in which sources without a counterpart are marked."""
    if not len(alone):
        return task.types
    if task.types is None:
        source, target = (np.zeros(len(graph.entities), np.int64) for graph in (task.source, task.target))
    else:
        source, target = (side.copy() for side in task.types)
    source[alone] |= NO_COUNTERPART
    return source, target
