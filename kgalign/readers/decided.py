"""What people have decided, in a task: matches become seeds, other pairs are rejected, and some sources have no counterpart."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Ints, one_link

ALONE = 62  # the bit of a type that no target has, so that its sources match nothing


@dataclass(frozen=True, eq=False)
class Decided:
    """Decisions that stand, by the ids of entities.

    Attributes:
        matches: Pairs that are matches. They keep to the cardinality of the task.
        rejected: Pairs that are none.
        alone: (n,) sources without a counterpart.
    """

    matches: Alignment
    rejected: Alignment
    alone: Ints

    def __len__(self) -> int:
        return len(self.matches) + len(self.rejected) + len(self.alone)


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


def _union(rejected: Alignment, more: Alignment, matches: Alignment) -> Alignment:
    both = rejected + more
    both = both.where(np.unique(both.keys, return_index=True)[1])
    return both.where(~np.isin(both.keys, matches.keys))


def _types(task: AlignmentTask, alone: Ints) -> tuple[Ints, Ints] | None:
    """The types, in which sources without a counterpart have one of their own, and no other."""
    if not len(alone):
        return task.types
    if task.types is None:
        source, target = (np.zeros(len(graph.entities), np.int64) for graph in (task.source, task.target))
    else:
        source, target = (side.copy() for side in task.types)
    source[alone] = 1 << ALONE
    return source, target
