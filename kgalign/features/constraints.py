"""What must not be linked: pairs that are known to be wrong, entities of classes that do not go together, and entities of different kinds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgalign.data import KINDS, NO_COUNTERPART, PROPERTY, AlignmentTask, Candidates, Ints


def allowed(task: AlignmentTask, sources: Ints, targets: Ints) -> NDArray[Any]:
    """(n,) whether each pair of a source (n,) and a target (n,) may be a link.

    A pair may be one if the kinds of its entities are compatible, if they have a common type where the task has types, if neither has been
    decided to have no counterpart, and if the pair is not rejected. Entities without any of the types of the task go together: they are
    evidence for others.
    """
    may: NDArray[Any] = np.ones(len(sources), bool)
    if not _excludes(task):
        return may
    kinds = task.source.kinds, task.target.kinds
    if any(map(np.any, kinds)):  # else all are individuals
        may = compatible_kinds(task)[kinds[0][sources], kinds[1][targets]]
    if task.types is not None:
        left, right = task.types[0][sources], task.types[1][targets]
        may &= ((left & right) != 0) | ((left == 0) & (right == 0))
        may &= ((left | right) & NO_COUNTERPART) == 0
    if len(task.rejected):
        may &= ~np.isin((np.asarray(sources, np.int64) << 32) | targets, task.rejected.keys)
    return may


def allowed_candidates(task: AlignmentTask, candidates: Candidates) -> Candidates:
    """The candidates without those that must not be linked; the same object where there are none."""
    if not _excludes(task):
        return candidates
    rows, slots = candidates.edges()
    may = allowed(task, candidates.queries[rows], candidates.targets[rows, slots])
    if may.all():
        return candidates
    targets, scores = candidates.targets.copy(), candidates.scores.copy()
    targets[rows[~may], slots[~may]] = -1
    scores[rows[~may], slots[~may]] = -np.inf
    order = np.argsort(targets < 0, axis=1, kind="stable")  # the rest stays in its order
    return replace(candidates, targets=np.take_along_axis(targets, order, axis=1), scores=np.take_along_axis(scores, order, axis=1))


def _excludes(task: AlignmentTask) -> bool:
    """Whether a task has any pairs that must not be links."""
    return task.types is not None or len(task.rejected) > 0 or bool(task.source.kinds.any() or task.target.kinds.any())


def compatible_kinds(task: AlignmentTask) -> NDArray[Any]:
    """(4, 4) whether a source entity of one kind may match a target entity of another, both by their positions in `KINDS`.

    Equal kinds are compatible. The graphs may also model the same things as different kinds, such as a thesaurus of concepts and an
    ontology of classes. So a kind that only the source has is compatible with the kinds that only the target has; properties never are.
    Only queries, the candidate pool and seeds count.
    """
    source = _present(task.source.kinds[np.concatenate([task.queries, task.seeds.sources])])
    target = _present(task.target.kinds[np.concatenate([task.pool, task.seeds.targets])])
    is_property = np.arange(len(KINDS)) == PROPERTY
    only_source, only_target = source & ~target & ~is_property, target & ~source & ~is_property
    compatible: NDArray[Any] = np.eye(len(KINDS), dtype=bool) | np.outer(only_source, only_target)
    return compatible


def _present(kinds: NDArray[Any]) -> NDArray[Any]:
    """(4,) which kinds occur."""
    return np.bincount(kinds, minlength=len(KINDS)) > 0
