"""Kills runs at random moments, lets the same call go on, and compares the bytes. `python tests/resumed.py 20 --entities 100000`.

Each run is a fork of this process, which has imported everything but started no threads. A run is `align(..., resume=...)` of a generated
task, open and with seeds, and `write`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import pyarrow.parquet  # noqa: F401  # imported here, so that no fork has to

from benchmarks.measure.generated import generate
from kgalign import align
from kgalign.runs.kept import ROUND, STORED, place_of_rounds
from kgalign.runs.stored_values import restore

SAME = (
    "alignment.tsv",
    "alignment.sssom.tsv",
    "sameas.nt",
    "unmatched.tsv",
    "relations.tsv",
    "candidates.parquet",
    "evidence.parquet",
)


def kill_and_resume(folder: Path, count: int, entities: int, seed: int = 0) -> dict[str, int]:
    """Kills a run that many times, each time at a random moment, and returns how often it went on after which round.

    Raises:
        AssertionError: A run that went on has other bytes than one that was not killed, or left something beside its folder.
    """
    chance = random.Random(seed)
    place = folder / "run"
    began = time.perf_counter()
    assert _wait(_fork(place, entities)) == 0
    seconds, content = time.perf_counter() - began, _content(place)
    states: dict[str, int] = {}
    for number in range(count):
        child, moment = _fork(place, entities), chance.uniform(0, seconds)
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)
        was_killed = _wait(child) != 0
        state = f"{_kept_round(place)} rounds kept" if was_killed else "was over"
        states[state] = states.get(state, 0) + 1
        print(f"kill {number} after {moment:.1f} of {seconds:.1f} s: {state}", file=sys.stderr, flush=True)
        assert _wait(_fork(place, entities)) == 0
        assert _content(place) == content, f"kill {number}, after {moment:.2f} s: the run that went on has other bytes"
        left = sorted(path.name for path in folder.iterdir() if path != place)
        assert not left, f"kill {number}, after {moment:.2f} s: {left} are left"
    return states


def _fork(place: Path, entities: int) -> int:
    child = os.fork()
    if not child:
        try:
            align(*generate(entities), resume=place).write(place)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def _wait(child: int) -> int:
    return os.waitpid(child, 0)[1]


def _kept_round(place: Path) -> int:
    path = place_of_rounds(place) / ROUND
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        _, state = restore(file, STORED)
    return len(state.rounds)


def _content(place: Path) -> list[bytes]:
    """All bytes of a run but those that tell the time."""
    rounds = [json.loads(line) | {"seconds": 0} for line in (place / "rounds.jsonl").read_text("utf-8").splitlines()]
    return [*((place / name).read_bytes() for name in SAME), json.dumps(rounds).encode()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="how often a run is killed")
    parser.add_argument("--entities", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        found = kill_and_resume(Path(temporary), given.count, given.entities, given.seed)
    for state, often in sorted(found.items()):
        print(f"{often:4} {state}")
