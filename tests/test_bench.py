"""Benchmarks: lines that are there are not measured again, every model takes part, mistakes are told in one line."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from test_cli import kgalign

from kgalign import MODELS, DataError, KgalignError, OptionError, make_model
from kgalign.bench import TABLES, Plan, check, planned_lines
from kgalign.bench.plan import find_datasets
from kgalign.bench.results import append, make_line, read_lines
from kgalign.bench.runs import in_own_process
from kgalign.bench.summary import summarise
from kgalign.bench.systems import find_systems
from kgalign.datasets import DEMOS

DEMO = DEMOS / "fr_en"
VARIANTS = ("", "-JEA", "-EHD", "-EHD-JEA")


def measured(table, plan):
    return list(TABLES[table].measure(plan))


@pytest.fixture
def plan(tmp_path):
    return Plan(DEMO, tmp_path / "results" / "lines.jsonl", models=["names"], seeds=[0])


def test_a_finished_line_is_not_measured_again(plan):
    first = measured("table2", plan)
    assert [line["system"] for line in first] == [f"names{variant}" for variant in VARIANTS]
    assert measured("table2", replace(plan)) == []
    assert len(measured("table2", replace(plan, again=True))) == 4
    assert len(read_lines(plan.results)) == 4, "the later of two for the same run"
    assert len(measured("table2", replace(plan, seeds=[0, 1]))) == 4
    assert len(measured("table2", replace(plan, label=", k=5", settings={"k": 5}))) == 4


def test_an_interrupted_table_goes_on_where_it_stopped(plan):
    whole = measured("table2", replace(plan, results=None))
    started = TABLES["table2"].measure(plan)
    begun = [next(started), next(started)]
    started.close()
    rest = measured("table2", replace(plan))
    assert [line["system"] for line in begun + rest] == [line["system"] for line in whole]
    assert [line["metrics"]["hits@1"] for line in begun + rest] == [line["metrics"]["hits@1"] for line in whole]


def test_an_interruption_says_how_to_go_on(tmp_path):
    command = [
        "bench",
        "table2",
        "--data",
        DEMO,
        "--models",
        "names",
        "--seeds",
        ",".join(map(str, range(50))),
        "--results",
        "lines",
    ]
    run = subprocess.Popen(
        [sys.executable, "-m", "kgalign", *map(str, command)],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while run.poll() is None and not (tmp_path / "lines").exists():
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    assert (
        run.communicate()[1].splitlines()[-1]
        == "kgalign: interrupted; what was measured is in lines: the same command goes on from there"
    )
    assert run.returncode == 130


def test_lines_say_what_reasoning_gained_and_how_it_went(plan):
    lines = {line["system"]: line["metrics"] for line in measured("table2", plan)}
    assert "gain" not in lines["names"]
    joint = lines["names-JEA"]
    assert joint["gain"] == pytest.approx(joint["hits@1"] - lines["names"]["hits@1"], abs=1e-5)
    assert joint["gain_interval"][0] < joint["gain"] < joint["gain_interval"][1]
    easy = lines["names-EHD"]
    assert len(easy["round_hits@1"]) == easy["rounds"]
    assert easy["round_hits@1"][-1] == pytest.approx(easy["hits@1"])
    for curve in ("reliability", "reliability_before"):
        assert sum(found["count"] for found in easy[curve]) == 966


def test_development_links_are_lines_of_their_own(plan):
    measured("table2", plan)
    lines = measured("table2", replace(plan, development=True))
    assert {line["split"] for line in lines} == {"development"}
    assert {line["split"] for line in read_lines(plan.results)} == {"development", "fold 1"}


@pytest.mark.parametrize(("table", "systems"), [("table3", 5), ("table4", 5)])
def test_sweeps_have_a_row_for_each_value(plan, table, systems):
    lines = measured(table, plan)
    assert len({line["system"] for line in lines}) == len(lines) == systems
    assert measured(table, replace(plan)) == []


def test_peers_are_measured_in_both_protocols(plan, monkeypatch):
    monkeypatch.setattr("kgalign.bench.runs.in_own_process", lambda work, *arguments: work(*arguments))  # for speed
    lines = measured("peers", plan)
    assert [line["protocol"] for line in lines] == ["closed"] * 4 + ["open"] * 4
    assert all(line["experiment"] == "names" for line in lines)
    assert measured("peers", replace(plan)) == []


def test_a_run_in_its_own_process_answers_or_says_that_it_died():
    assert in_own_process(math.sqrt, 4.0) == 2.0
    with pytest.raises(KgalignError, match="a run ended before it was done"):
        in_own_process(os._exit, 1)


def test_a_new_model_appears_by_its_line_in_models(plan, monkeypatch):
    monkeypatch.setitem(MODELS, "twice", f"{__name__}:Twice")
    assert "twice" in {system.name for system in find_systems(replace(plan, models=()))}
    assert len(measured("quick", replace(plan, models=["twice"]))) == 4


@dataclass(frozen=True)
class Twice:
    """A model that leaves its work to another."""

    k: int = 5

    def fit(self, task):
        return self

    def predict(self, task, known):
        return make_model("names", k=self.k).predict(task, known)


def test_systems_take_what_the_plan_offers_and_their_fields_know(tmp_path):
    (tmp_path / "glove.tiny.txt").write_text("a 1 0\n")
    (tmp_path / "dbp15k").mkdir()
    systems = {system.name: system for system in find_systems(Plan(tmp_path, device="cpu"), seed=4)}
    assert systems["RDGCN"].options["word_vectors"] == str(tmp_path / "glove.tiny.txt")
    assert systems["RDGCN"].options["seed"] == 4
    assert systems["fast"].options == {"seed": 4, "word_vectors": None}
    assert systems["AlignE"].options["bootstrap"] is False
    assert systems["GM"].options.get("simulated") is None
    assert systems["GM"].plain.options["simulated"] == 0


def test_datasets_are_found_where_they_lie(tmp_path):
    assert [(dataset.pair, dataset.split) for dataset in find_datasets(DEMO)] == [("fr_en", "fold 1")]
    assert [dataset.pair for dataset in find_datasets(DEMOS)] == ["zh_en", "fr_en"], "the order of the paper"
    assert [dataset.pair for dataset in find_datasets(DEMOS, ["zh_en"], [1])] == ["zh_en"]
    with pytest.raises(OptionError, match=r"unknown fold 7: .* has 1"):
        find_datasets(DEMO, folds=[7])
    folder = tmp_path / "dbp15k" / "xx_yy"
    folder.mkdir(parents=True)
    for name in ("ent_ids_1", "ent_ids_2", "triples_1", "triples_2"):
        (folder / name).write_text("")
    assert [(dataset.pair, dataset.split) for dataset in find_datasets(tmp_path)] == [("xx_yy", "canonical 30 %")]


def test_trained_models_are_kept_and_used_again(tmp_path):
    pytest.importorskip("torch")
    plan = Plan(DEMO, models=["je"], seeds=[0], settings={"epochs": 2, "size": 8, "batch": 2000}, device="cpu", keep=tmp_path)
    first, second = measured("table2", plan), measured("table2", plan)
    assert len(list(tmp_path.iterdir())) == 1
    assert [line["metrics"]["hits@1"] for line in first] == [line["metrics"]["hits@1"] for line in second]
    assert first[0]["metrics"]["training_seconds"] == second[0]["metrics"]["training_seconds"]


def test_quick_runs_models_with_small_settings():
    pytest.importorskip("torch")
    lines = measured("quick", Plan(DEMO, models=["names", "mtranse"], seeds=[0], device="cpu"))
    assert [line["system"] for line in lines] == [f"{name}{variant}" for name in ("names", "MTransE") for variant in VARIANTS]
    assert lines[-1]["options"]["size"] == 32


def test_every_model_has_settings_that_it_can_work_with():
    pytest.importorskip("torch")
    check("quick", Plan(DEMO))
    assert {system.model for system in find_systems(Plan(DEMO))} == set(MODELS)


def test_summary_sets_ours_beside_the_paper(tmp_path):
    file = tmp_path / "lines.jsonl"
    for seed, hits in enumerate((0.50, 0.52)):
        gain = {"gain": 0.02, "gain_interval": [0.01, 0.03], "gain_p": 0.002}
        about = {"seconds": 2.0, "options": {"model": "gcn_align"}, "seed": seed}
        append(make_line("table2", "GCN-JEA", "zh_en", {"hits@1": hits, **gain}, **about), file)
    header, rows = summarise(read_lines(file))
    assert header == ["", "zh_en", "gain by reasoning", "seconds"]
    assert rows == [["GCN-JEA", "51.00 ± 1.41 (43.43, +7.57)", "+2.00 [+1.00, +3.00], p < 0.01", "2.0"]]


def test_a_line_that_was_cut_off_is_told(tmp_path):
    file = tmp_path / "lines.jsonl"
    file.write_text('{"experiment": "table2", "sys')
    with pytest.raises(DataError, match=r"lines.jsonl:1: expected a line of results"):
        read_lines(file)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tabel2"], "unknown table 'tabel2': expected one of table2, "),
        (["table2"], "--data: expected a folder with datasets"),
        (["table2", "--data", "nowhere"], "nowhere: no such folder"),
        (["table2", "--data", DEMO, "--pairs", "zh_en"], "unknown pair 'zh_en'"),
        (["table2", "--data", DEMO, "--seeds", "x"], "--seeds x: expected whole numbers"),
        (["table2", "--data", DEMO, "--seeds", ""], "--seeds: expected one or more whole numbers"),
        (["quick", "--models", "magic"], "unknown model 'magic'"),
        (["peers", "--data", DEMO, "--models", "je"], "the table peers has no rows of the model je"),
        (["quick", "--models", "names", "--set", "k=0"], "k=0: expected 1 or more"),
        (["quick", "--models", "names", "--set", "epochs=2"], "--set epochs=2: expected NAME=VALUE"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(tmp_path, arguments, message):
    done = kgalign("bench", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_command_adds_lines_and_prints_the_table(tmp_path):
    arguments = ("bench", "table2", "--data", DEMO, "--models", "names", "--seeds", "0,1")
    done = kgalign(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "names-EHD-JEA" in done.stdout
    assert "8 lines measured" in done.stderr
    again = kgalign(*arguments, "--json", cwd=tmp_path)
    assert "0 lines measured, 8 of this kind" in again.stderr
    file = tmp_path / "benchmarks" / "results.jsonl"
    assert json.loads(again.stdout) == [json.loads(text) for text in file.read_text("utf-8").splitlines()]
    assert len(planned_lines("table2", Plan(DEMO, Path(file), models=["names"], seeds=[1]))) == 4
