"""Pairs that names retrieve are searched once for a task, and serve the next one where it asks for nearly the same."""

from dataclasses import replace

import numpy as np
import pytest

from kgalign import demo
from kgalign.models.fast import Fast


@pytest.fixture(scope="module")
def task():
    return demo("fr_en")[0]


@pytest.fixture(scope="module")
def ready(task):
    """Prepared for slightly more queries, and then for the task."""
    wide = replace(
        task, queries=np.union1d(task.queries, task.seeds.sources[:40]), seeds=task.seeds.where(np.arange(40, len(task.seeds)))
    )
    return Fast().fit(task).for_task(wide).for_task(task)


def as_set(pairs):
    return set(zip(*map(np.ndarray.tolist, pairs), strict=True))


def test_a_task_takes_its_pairs_from_a_search_for_slightly_more(task, ready):
    found, alone = as_set(ready.searched.pairs), as_set(Fast().fit(task).for_task(task).searched.pairs)
    assert 0 < len(found) < len(ready.searched.by_name[0])
    assert {row for row, _ in found} <= set(range(len(task.queries)))
    assert {target for _, target in found} <= set(task.pool.tolist())
    assert len(found & alone) > 0.95 * len(alone)


def test_predictions_are_made_from_these_pairs(task, ready):
    none = replace(ready, searched=replace(ready.searched, by_name=tuple(each[:0] for each in ready.searched.by_name)))
    candidates = [len(model.predict(task, task.seeds).edges()[0]) for model in (ready, none)]
    assert candidates[0] > candidates[1]


def test_a_search_does_not_serve_a_task_that_asks_for_much_less_or_for_something_else(task, ready):
    for other in (
        replace(task, queries=task.queries[:100]),
        replace(task, pool=task.pool[:100]),
        replace(task, pool=np.union1d(task.pool, task.seeds.targets[:60]), seeds=task.seeds.where(np.arange(60, len(task.seeds)))),
    ):
        assert ready.for_task(other).searched.base is other
