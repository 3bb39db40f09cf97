"""Kills commands at random moments, and looks at what they leave behind. `python tests/kills.py 100` kills each a hundred times.

`python tests/kills.py 100 7 merge bench` kills these two, at the moments of seed 7.

The commands run in forks of a process that has imported everything, so that the moments fall into the work and not into imports.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import jinja2  # noqa: F401  # imported here, so that no fork has to
import pyarrow.parquet  # noqa: F401
import pyoxigraph  # noqa: F401

from kgalign.bench.results import Key, key, read_lines
from kgalign.cli import run
from kgalign.runs.folder import FILES

ENTITIES = 300  # of a graph, so that a command takes about a second
COMMANDS = ("align", "merge", "bench", "training")


def kill_commands(folder: Path, count: int, seed: int = 0, only: Sequence[str] = COMMANDS) -> dict[str, int]:
    """Kills `align`, `merge`, `bench` and a training that many times each, or some of them, and returns how often each state was left.

    Raises:
        AssertionError: A kill left something else than the old content, the new one or nothing; the next command left a draft; or a training
            that went on ended in other weights.
    """
    chance = random.Random(seed)
    write_pair(folder, ENTITIES, "left", "right")
    graphs = [str(folder / "left.tsv"), str(folder / "right.tsv")]
    states: dict[str, int] = {}
    align = ["align", *graphs, "--model", "names", "--max-rounds", "0", "-o", str(folder / "run")]
    _kill_one(align, folder / "run", _whole_run, count if "align" in only else 0, chance, states)
    merge = ["merge", str(folder / "run"), "--force", "-o", str(folder / "all.nq")]
    if "merge" in only:
        _kill_one(merge, folder / "all.nq", _whole_graph, count, chance, states)
    if "bench" in only:
        _kill_bench(folder, count, chance, states)
    if "training" in only and find_spec("torch"):
        _kill_training(folder, count, chance, states)
    return states


def write_pair(folder: Path, entities: int, source: str, target: str) -> None:
    """Two graphs whose names differ in one letter, and the links between them."""
    for name, city in ((source, "city"), (target, "City")):
        rows = (f"{city} {i}\tin\tland {i % 17}\n{city} {i}\tnear\t{city} {(i * 7 + 1) % entities}\n" for i in range(entities))
        (folder / f"{name}.tsv").write_text("".join(rows), "utf-8")
    (folder / "gold.tsv").write_text("".join(f"city {i}\tCity {i}\n" for i in range(entities)), "utf-8")


def _kill_bench(folder: Path, count: int, chance: random.Random, states: dict[str, int]) -> None:
    """Kills `bench`, which adds a line to its file for each figure, and goes on with those that are missing."""
    for name in ("one", "two"):
        (folder / "sets" / name).mkdir(parents=True)
        write_pair(folder / "sets" / name, 40, "source", "target")
    results = folder / "results.jsonl"
    command = ["bench", "real", "--data", str(folder / "sets"), "--results", str(results)]

    def figures() -> dict[Key, float]:
        assert not results.exists() or results.read_bytes()[-1:] in (b"", b"\n"), "half a line is left"
        return {key(line): line["metrics"]["f1"] for line in read_lines(results)}

    began = time.perf_counter()
    assert _fork(command) == 0
    seconds, content = time.perf_counter() - began, figures()
    for number in range(count):
        if figures() == content:
            results.unlink()
        ended = _fork(command, results, chance.uniform(0, seconds))
        assert figures().items() <= content.items(), f"kill {number}: {results} has other figures"
        _count(states, f"bench {'killed' if ended else 'done'}, {len(figures())} of {len(content)} lines")
    assert _fork(command) == 0
    assert figures() == content
    assert len(results.read_text("utf-8").splitlines()) == len(content), "a figure was measured twice"
    assert not list(folder.glob(".results*")), "drafts are left"


def _kill_training(folder: Path, count: int, chance: random.Random, states: dict[str, int]) -> None:
    """Kills a training with checkpoints up to three times before it may end; it has to end in the same bytes."""
    made = [folder / name for name in ("checkpoint", "model", "trained")]
    options = ["size=16", "ngrams=128", "negatives=4", "k=8", "nodes=12", "perspectives=3", "epochs=8", "dropout=0.1", "device=cpu"]
    settings = [text for option in (*options, f"checkpoint={made[0]}") for text in ("--set", option)]
    seeds = folder / "seeds.tsv"
    seeds.write_text("".join(f"city {i}\tCity {i}\n" for i in range(0, ENTITIES, 3)), "utf-8")
    graphs = [str(folder / "left.tsv"), str(folder / "right.tsv"), "--seeds", str(seeds), "--max-rounds", "0"]
    command = ["align", *graphs, "--model", "gm", *settings, "--save", str(made[1]), "-o", str(made[2])]

    def content() -> tuple[bytes, bytes]:
        return (made[1] / "gm.safetensors").read_bytes(), (made[2] / "alignment.tsv").read_bytes()

    began = time.perf_counter()
    assert _fork(command) == 0
    seconds, whole = time.perf_counter() - began, content()
    for number in range(count):
        if number % 3 == 0:
            for place in made:
                shutil.rmtree(place, ignore_errors=True)
        ended = _fork(command, made[2], chance.uniform(0, seconds))
        _count(
            states,
            f"training {'killed' if ended else 'done'}, {'some' if any(made[0].glob('*.safetensors')) else 'no'} epochs kept",
        )
        if number % 3 == 2 or number == count - 1:
            assert _fork(command) == 0, f"kill {number}: the training does not go on"
            assert content() == whole, f"kill {number}: the training that went on has other bytes"
            left = [path.name for place in (folder, *made) for path in place.iterdir() if path.name.startswith(".")]
            assert not left, f"kill {number}: {left} are left"


def _count(states: dict[str, int], state: str) -> None:
    states[state] = states.get(state, 0) + 1


def _kill_one(
    command: Sequence[str], place: Path, whole: Callable[[Path], bytes], count: int, chance: random.Random, states: dict[str, int]
) -> None:
    """Kills one command, each time with an earlier result at the place or without one."""
    began = time.perf_counter()
    assert _fork(command) == 0
    seconds, content = time.perf_counter() - began, whole(place)
    for number in range(count):
        had = chance.random() < 0.7
        if not had:
            shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
        late = chance.random() < 0.5  # after the draft was begun
        ended = _fork(command, place, chance.uniform(0, seconds / 3 if late else seconds), late)
        drafts = sorted(each.name for each in place.parent.glob(f".{place.name}-*"))
        state = f"{command[0]} {'killed' if ended else 'done'}"
        if place.exists():
            assert whole(place) == content, f"kill {number}: {place} is not whole"
            state += f", {'old' if had else 'new'} or whole"
        else:
            assert ended, f"kill {number}: {place} is missing"
            state += ", absent"
        state += f", {len(drafts)} drafts"
        _count(states, state)
        if drafts or number == count - 1:
            assert _fork(command) == 0
            assert whole(place) == content
            assert not list(place.parent.glob(f".{place.name}-*")), f"kill {number}: {drafts} are left"


def _fork(command: Sequence[str], place: Path | None = None, after: float = 0.0, late: bool = False) -> int:
    """Runs a command in a fork and returns how it ended; with a place, kills it after some seconds, or so long after its draft was begun."""
    child = os.fork()
    if not child:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os._exit(run(command))
    if place is not None:
        deadline = time.perf_counter() + 20
        draft = f".{place.name}-*/new" + ("" if place.suffix else "/*")
        while late and time.perf_counter() < deadline and not _has_ended(child) and not any(place.parent.glob(draft)):
            time.sleep(0.0005)
        end = time.perf_counter() + after
        while not _has_ended(child) and (left := end - time.perf_counter()) > 0:
            time.sleep(min(0.01, left))
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def _has_ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _whole_run(folder: Path) -> bytes:
    """The links and the evidence of a run folder that has all its files."""
    assert {path.name for path in folder.iterdir()} == FILES - {"classes.tsv", "changes.tsv"}, sorted(
        path.name for path in folder.iterdir()
    )
    assert (folder / "report.html").read_text("utf-8").rstrip().endswith("</html>")
    assert (folder / "run.json").read_text("utf-8").endswith("}\n")
    return b"".join(
        (folder / name).read_bytes() for name in ("alignment.tsv", "unmatched.tsv", "candidates.parquet", "evidence.parquet")
    )


def _whole_graph(path: Path) -> bytes:
    return path.read_bytes()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        seed, *some = sys.argv[2:] or ["0"]
        found = kill_commands(Path(temporary), int(sys.argv[1]), int(seed), some or COMMANDS)
    for state, often in sorted(found.items()):
        print(f"{often:4} {state}")
