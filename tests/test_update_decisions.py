"""Decisions of people when a run is updated, reviewed or made again: they stand, and those that were taken back do not."""

import json
from pathlib import Path

import pytest
from commands import command

from kgalign import update

CITIES = ("Rome", "Paris", "Berlin", "Vienna", "Oslo", "Madrid", "Lisbon", "Dublin")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two tables of the same cities, s0 to s7 and t0 to t7."""
    monkeypatch.chdir(tmp_path)
    cities("left.csv", "s")
    cities("right.csv", "t")
    return tmp_path


def cities(name, letter, names=CITIES):
    rows = "".join(f"{letter}{number},{city}\n" for number, city in enumerate(names) if city)
    Path(name).write_text(f"id,name\n{rows}", "utf-8")


def log(name, *rows):
    """A file of decisions: (id, verdict, source, target), or the id of a decision that is taken back."""
    lines = [
        {"id": f"undo {row}", "undo": row, "author": "ann"}
        if isinstance(row, str)
        else dict(zip(("id", "verdict", "source", "target"), row, strict=True), author="ann")
        for row in rows
    ]
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return name


def named(task, links):
    return sorted((task.source.entities[one], task.target.entities[other]) for one, other in links.pairs.tolist())


def linked(run):
    return dict(named(run.task, run.alignment))


@pytest.fixture
def closed(folder):
    """A run in the closed protocol, of all cities but the last one."""
    (folder / "gold.tsv").write_text("".join(f"s{number}\tt{number}\n" for number in range(7)), "utf-8")
    assert command("align", "left.csv", "right.csv", "--gold", "gold.tsv", "--protocol", "closed", "-o", "run") == 0
    return folder / "run"


def test_matches_that_people_decided_on_stand_in_the_closed_protocol(closed):
    log("run.decisions.jsonl", ("1", "match", "s0", "t1"), ("2", "match", "s2", "t2"))
    found = update(closed)
    assert named(found.task, found.task.seeds) == [("s0", "t1"), ("s2", "t2")]
    assert (found.task.queries.tolist(), found.task.pool.tolist()) == ([1, 3, 4, 5, 6], [0, 3, 4, 5, 6])
    assert {"s0", "s2"}.isdisjoint(linked(found))
    assert {each.source: each.change for each in found.changes}["s2"] == "given"


def test_a_match_that_is_taken_back_is_aligned_again_in_the_closed_protocol(closed):
    log("run.decisions.jsonl", ("1", "match", "s0", "t1"))
    update(closed).write(closed)
    log("run.decisions.jsonl", ("1", "match", "s0", "t1"), "1")
    found = update(closed)
    assert found.task.queries.tolist() == found.task.pool.tolist() == list(range(7))
    assert linked(found)["s0"] == "t0"
