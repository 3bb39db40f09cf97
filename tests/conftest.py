"""Tiny graphs and candidates that several tests use."""

import os
from pathlib import Path

# Idle threads sleep. By default they spin, and where other processes want the cores, such as a second worker, all take many times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # read when numba and torch are loaded, so it comes before the other imports

import numpy as np
import pytest
from hypothesis import settings

from kgalign import Alignment, AlignmentTask, Candidates, KnowledgeGraph

settings.register_profile("kgalign", deadline=None)  # a busy machine is no mistake
settings.load_profile("kgalign")

DATA = Path(os.environ.get("KGALIGN_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable():
    """A report as text that every worker can send: what a test logs or raises may hold halves of characters, as names of files do."""
    return _whole((yield))


def _whole(value):
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_whole, value))
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value


def graph(names, triples=()):
    """A graph whose entities are called like their names; triples by name."""
    entities = [name.replace(" ", "_") for name in names]
    relations = sorted({relation for _, relation, _ in triples})
    ids = [(names.index(head), relations.index(relation), names.index(tail)) for head, relation, tail in triples]
    return KnowledgeGraph(entities, relations, np.array(ids, np.int64).reshape(-1, 3), names)


def task_of(source, target, seeds=()):
    """A task in which every source without a seed is a query, and every target without a seed is in the pool."""
    seeds = Alignment(np.array(seeds, np.int64).reshape(-1, 2))
    queries = np.setdiff1d(np.arange(len(source.entities)), seeds.sources)
    pool = np.setdiff1d(np.arange(len(target.entities)), seeds.targets)
    return AlignmentTask(source, target, seeds, queries, pool)


def candidates_of(matrix, temperature=1.0):
    """Candidates of a full matrix of probabilities, best first; zeros are no candidates."""
    matrix = np.asarray(matrix, float)
    order = np.argsort(-matrix, axis=1, kind="stable")
    scores = np.take_along_axis(matrix, order, axis=1)
    with np.errstate(divide="ignore"):
        return Candidates(np.arange(len(matrix)), np.where(scores > 0, order, -1), np.log(scores), temperature)


@pytest.fixture(scope="session")
def dbp15k():
    """The folder of DBP15K, where it is there."""
    folder = DATA / "dbp15k"
    if not folder.is_dir():
        pytest.skip(f"no DBP15K at {folder}: set KGALIGN_DATA to the folder that holds dbp15k/")
    return folder
