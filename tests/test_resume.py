"""Rounds that are kept: a run that was killed goes on, with the same bytes, and takes no other run for its own."""

import json
import logging
import os
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kgalign
from kgalign import Alignment, Capabilities, align
from kgalign.cli import run as command
from kgalign.decoding.decoders import greedy, joint
from kgalign.errors import KgalignError, OptionError
from kgalign.models.fast import KINDS, Fast
from kgalign.models.names import Names
from kgalign.reasoning import State
from kgalign.runs import KeptRounds, task_hashes
from kgalign.runs.kept import ROUND, STORED, place_of_rounds
from kgalign.runs.stored_values import restore, store
from kgalign.search import LocalThreads

SAME = ("alignment.tsv", "unmatched.tsv", "candidates.parquet", "evidence.parquet")
KILLS = int(os.environ.get("KGALIGN_KILLS", "2"))


class KilledError(Exception):
    """Ends a run after a round, as a signal would."""


def content(folder):
    return [(folder / name).read_bytes() for name in SAME]


def killed_after(number, task, folder, **options):
    """Aligns until a round begins, and then no further."""

    def stop(figures, _):
        if figures.number == number + 1:
            raise KilledError

    with pytest.raises(KilledError):
        align(task, resume=folder, on_round=stop, **options)


@pytest.fixture(scope="module")
def task():
    return kgalign.demo()[0]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["fast", "names"])
def test_a_run_goes_on_after_any_round_with_the_same_bytes(tmp_path, model, task):
    whole = align(task, model=model)
    expected = content(whole.write(tmp_path / "whole"))
    for number in sorted({1, len(whole.reasoning.rounds) - 1}):  # in the first phase, where there are two, and in the last
        folder = tmp_path / f"after {number}"
        killed_after(number, task, folder, model=model)
        assert place_of_rounds(folder).is_dir()
        heard = []
        run = align(task, model=model, resume=folder, on_round=lambda figures, _, heard=heard: heard.append(figures.number))
        assert heard == list(range(number + 1, len(whole.reasoning.rounds) + 1))
        assert content(run.write(folder)) == expected
        assert not place_of_rounds(folder).exists()
        assert [figures.confident for figures in run.reasoning.rounds] == [figures.confident for figures in whole.reasoning.rounds]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs fork")
def test_runs_that_are_killed_at_any_moment_go_on_with_the_same_bytes():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    script = Path(__file__).with_name("resumed.py")
    done = subprocess.run(
        [sys.executable, script, str(KILLS), "--entities", "200"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert sum(int(line.split()[0]) for line in done.stdout.splitlines()) == KILLS, done.stdout


def test_rounds_of_another_run_are_refused_or_replaced(tmp_path, task, caplog):
    caplog.set_level(logging.INFO, "kgalign")
    killed_after(1, task, tmp_path / "run", model="names")
    others = {
        "seeds": {"task": replace(task, seeds=task.seeds.where(np.arange(len(task.seeds) - 1)))},
        "rules": {"task": task, "alpha": 0.6},
        "options of the model": {"task": task, "options": {"k": 5}},
    }
    for part, other in others.items():
        with pytest.raises(OptionError, match=f"differs in: {part}"):
            align(**{"model": "names", **other}, resume=tmp_path / "run")
    caplog.clear()
    run = align(task, model="names", alpha=0.6, resume=KeptRounds(tmp_path / "run", must_fit=False))
    assert run.reasoning.rounds[0].number == 1
    assert any("differs in: rules; the run begins anew" in record.getMessage() for record in caplog.records)


@dataclass(frozen=True)
class Scaled:
    """The names alone, with their scores times a factor."""

    factor: float
    other: Any = None  # which changes nothing

    @property
    def capabilities(self):
        return Capabilities()

    def fit(self, task):
        return FittedScaled(Names().fit(task), self.factor)


class Unknown:
    """The same, but nothing says what its options are."""

    capabilities = Capabilities()

    def __init__(self, factor):
        self.factor = factor

    def fit(self, task):
        return FittedScaled(Names().fit(task), self.factor)


@dataclass
class FittedScaled:
    names: Any
    factor: float
    capabilities = Capabilities()

    def predict(self, task, known):
        found = self.names.predict(task, known)
        return replace(found, scores=found.scores * self.factor)


LIGHT = tuple(replace(kind, weight=kind.weight / 10) if kind.name == "names" else kind for kind in KINDS)


@pytest.mark.parametrize(
    ("first", "other", "part"),
    [
        ({"model": Fast()}, {"model": Fast(kinds=LIGHT)}, "options of the model"),
        ({"model": Scaled(1.0)}, {"model": Scaled(0.2)}, "options of the model"),
        ({"decoder": partial(joint, tau=0.3)}, {"decoder": partial(joint, tau=0.2)}, "rules"),
        ({"decoder": joint}, {"decoder": greedy}, "rules"),
        ({"model": Scaled(1.0, {"a", "b"})}, {"model": Scaled(1.0, {"a", "c"})}, "options of the model"),
        ({"model": Scaled(1.0, np.dtype("f4"))}, {"model": Scaled(1.0, np.dtype("f8"))}, "options of the model"),
    ],
)
def test_rounds_of_other_objects_are_refused(tmp_path, task, first, other, part):
    first, other = ({"model": "names", **each} for each in (first, other))
    killed_after(1, task, tmp_path / "run", **first)
    with pytest.raises(OptionError, match=f"differs in: {part};"):
        align(task, resume=tmp_path / "run", **other)


def test_the_hash_of_a_set_is_the_same_in_every_process():
    code = "from kgalign.runs.fingerprint import value_hash; print(value_hash({'words': frozenset(map(str, range(50)))}))"
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    first, second = (subprocess.run([sys.executable, "-c", code], env=each, capture_output=True) for each in environments)
    assert first.returncode == 0
    assert first.stdout == second.stdout


def test_rounds_of_an_equal_object_with_another_engine_go_on(tmp_path, task):
    killed_after(1, task, tmp_path / "run", model=Names(k=5), decoder=partial(joint, tau=0.3))
    heard = []
    given = {"model": Names(k=5, engine=LocalThreads(2)), "decoder": partial(joint, tau=0.3)}
    align(task, resume=tmp_path / "run", on_round=lambda figures, _: heard.append(figures.number), **given)
    assert heard[0] == 2


@pytest.mark.parametrize(
    ("given", "name"), [({"model": Unknown(1.0)}, "Unknown"), ({"decoder": lambda candidates: joint(candidates)}, "lambda")]
)
def test_no_rounds_are_kept_of_objects_that_cannot_be_told_apart(tmp_path, task, caplog, given, name):
    given = {"model": "names", **given}
    with pytest.raises(OptionError, match=f"cannot be kept: .*{name}.* cannot be recognised in another process"):
        align(task, resume=tmp_path / "run", **given)
    align(task, resume=KeptRounds(tmp_path / "run", must_fit=False), **given)
    assert not place_of_rounds(tmp_path / "run").exists()
    assert len([record for record in caplog.records if "rounds cannot be kept" in record.getMessage()]) == 1


def test_files_that_a_model_was_given_belong_to_the_run(tmp_path, task):
    path = tmp_path / "vectors.txt"
    words = {word for graph in (task.source, task.target) for name in graph.names for word in name.lower().split()}
    path.write_text("".join(f"{word} {len(word)} 1\n" for word in sorted(words)), "utf-8")
    given = {"model": "names", "options": {"word_vectors": str(path)}}
    killed_after(1, task, tmp_path / "run", **given)
    path.write_text(path.read_text("utf-8") + "oslo 0 2\n", "utf-8")
    with pytest.raises(OptionError, match="differs in: files of the model"):
        align(task, resume=tmp_path / "run", **given)


def test_a_damaged_round_is_refused_or_replaced(tmp_path, task):
    killed_after(1, task, tmp_path / "run", model="names")
    path = place_of_rounds(tmp_path / "run") / ROUND
    whole = path.read_bytes()
    for damaged in (b"", b"no npz", whole[: len(whole) // 2], whole[:100] + bytes(100) + whole[200:]):
        path.write_bytes(damaged)
        with pytest.raises(OptionError, match="cannot be read"):
            align(task, model="names", resume=tmp_path / "run")
    align(task, model="names", resume=KeptRounds(tmp_path / "run", must_fit=False))


@pytest.mark.parametrize(
    "change",
    [
        lambda known_by, state: (list(known_by), state),
        lambda known_by, state: (known_by, state.alignment),
        lambda known_by, state: known_by,
        lambda known_by, state: (known_by, replace(state, rounds=5)),
        lambda known_by, state: (known_by, replace(state, rounds=(1,))),
        lambda known_by, state: (known_by, replace(state, phase="middle")),
        lambda known_by, state: (known_by, replace(state, found=state.candidates)),
        lambda known_by, state: (known_by, replace(state, fed_back="one")),
        lambda known_by, state: (known_by, replace(state, ever_confident=None)),
        lambda known_by, state: (known_by, replace(state, found=Alignment(np.array([[0, 10**6]])))),
        lambda known_by, state: (known_by, replace(state, known=Alignment(np.array([[-1, 0]])))),
    ],
)
def test_a_round_that_holds_something_else_is_refused(tmp_path, task, change):
    killed_after(1, task, tmp_path / "run", model="names")
    path = place_of_rounds(tmp_path / "run") / ROUND
    with path.open("rb") as file:
        kept = restore(file, STORED)
    with path.open("wb") as file:
        store(change(*kept), file)
    with pytest.raises(KgalignError, match=r"cannot be read|graphs do not have"):
        align(task, model="names", resume=tmp_path / "run")


def test_a_round_whose_arrays_are_compressed_is_refused(tmp_path, task):
    killed_after(1, task, tmp_path / "run", model="names")
    path = place_of_rounds(tmp_path / "run") / ROUND
    with np.load(path) as whole:
        np.savez_compressed(tmp_path / "packed.npz", **whole)
    (tmp_path / "packed.npz").replace(path)
    with pytest.raises(OptionError, match="are compressed"):
        align(task, model="names", resume=tmp_path / "run")


def test_rounds_of_short_runs_are_not_kept_unless_wanted(tmp_path, task):
    for after, kept in ((60.0, False), (0.0, True)):
        align(task, model="names", resume=KeptRounds(tmp_path / "run", after))
        assert place_of_rounds(tmp_path / "run").exists() == kept


def test_a_short_round_is_kept_while_a_long_one_goes_on(tmp_path, task):
    began, path = time.monotonic(), place_of_rounds(tmp_path / "run") / ROUND

    def wait(progress):
        """The second round takes until the first one is kept."""
        while progress.round == 1 and progress.step == "deciding" and not path.exists() and time.monotonic() < began + 30:
            time.sleep(0.05)

    kept = KeptRounds(tmp_path / "run", after=1.0, must_fit=False)

    def stop(figures, _):
        if figures.number == 2:
            raise KilledError

    with pytest.raises(KilledError):
        align(task, model="names", resume=kept, progress=wait, on_round=stop)
    heard = []
    align(task, model="names", resume=kept, on_round=lambda figures, _: heard.append(figures.number))
    assert heard[0] == 2


def test_a_run_that_goes_on_keeps_its_rounds_at_once(tmp_path, task):
    killed_after(1, task, tmp_path / "run", model="names")
    killed_after(2, task, KeptRounds(tmp_path / "run", after=1000.0, must_fit=False), model="names")
    heard = []
    align(task, model="names", resume=tmp_path / "run", on_round=lambda figures, _: heard.append(figures.number))
    assert heard[0] == 3


@pytest.mark.skipif(os.name != "posix", reason="needs locks")
def test_two_processes_do_not_keep_rounds_in_one_place(tmp_path, task):
    def keep_again(figures, _):
        if figures.number == 2:
            with pytest.raises(OptionError, match="another process keeps its rounds there"):
                align(task, model="names", resume=tmp_path / "run")
            align(task, model="names", resume=KeptRounds(tmp_path / "run", must_fit=False))

    align(task, model="names", resume=tmp_path / "run", on_round=keep_again)


def test_a_place_without_room_does_not_end_the_run(tmp_path, task, caplog):
    place_of_rounds(tmp_path / "run").write_text("a file in the way")
    assert len(align(task, model="names", resume=tmp_path / "run").alignment)
    assert [record.getMessage() for record in caplog.records if "rounds cannot be kept" in record.getMessage()]


def test_the_command_goes_on_and_says_so(tmp_path, capsys, caplog, monkeypatch):
    caplog.set_level(logging.INFO, "kgalign")
    monkeypatch.chdir(tmp_path)
    rows = [f"city {i}\tin\tland {i % 7}\ncity {i}\tnear\tcity {(i * 7 + 1) % 60}\n" for i in range(60)]
    for name in ("left.tsv", "right.tsv"):
        (tmp_path / name).write_text("".join(rows), "utf-8")
    align_them = ["align", "left.tsv", "right.tsv", "--model", "names", "--resume"]
    monkeypatch.setattr("kgalign.runs.folder.forget_rounds", lambda folder: None)
    assert command(align_them) == 0
    assert "going on" not in caplog.text
    (tmp_path / "notes.txt").write_text("another file in the working folder")
    assert command(align_them) == 0
    assert "going on after round 1" in caplog.text
    capsys.readouterr()
    caplog.clear()
    assert command([*align_them, "--alpha", "0.7"]) == 2
    assert "Without --resume the run begins anew" in capsys.readouterr().err
    assert command([*align_them[:-1], "--no-resume"]) == 0
    assert "going on" not in caplog.text


def test_stored_values_come_back_as_they_were(tmp_path):
    state = State(
        phase="first", found=Alignment(np.array([[1, 2]]), np.array([0.5]), record={"number": np.float64(0.25), "few": (1, 2)})
    )
    with (tmp_path / "state").open("wb") as file:
        store(state, file)
    with (tmp_path / "state").open("rb") as file:
        again = restore(file, STORED)
    assert (again.phase, again.check, again.candidates.no_match_score) == ("first", None, -np.inf)
    assert again.found.pairs.tolist() == [[1, 2]]
    assert json.dumps(again.found.record) == json.dumps({"number": 0.25, "few": [1, 2]})
    with (tmp_path / "state").open("rb") as file, pytest.raises(ValueError, match="State"):
        restore(file, (Alignment,))


def test_the_hash_of_a_task_changes_with_all_that_a_model_sees(task):
    first = task_hashes(task)
    assert task_hashes(kgalign.demo()[0]) == first
    longer = replace(task.source, entities=[*task.source.entities[:-1], task.source.entities[-1] + "x"])
    renamed = replace(task.source, names=[*task.source.names[:-1], "another name"])
    for source in (longer, renamed, replace(task.source, triples=task.source.triples[:-1])):
        changed = task_hashes(replace(task, source=source))
        assert [name for name in first if first[name] != changed[name]] == ["source"]
    assert task_hashes(replace(task, source=replace(task.source, record={"read": "otherwise"}))) == first
