"""Benchmarks: no line is measured twice, every model takes part, and a mistake of the user gives one line of text."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from test_cli import kgalign

from kgalign import MODELS, DataError, KgalignError, OptionError, demo, make_model, read
from kgalign.bench import TABLES, Plan, check, planned_lines
from kgalign.bench.ablation import ablation_rows, parts_with_evidence
from kgalign.bench.plan import find_datasets
from kgalign.bench.results import append, make_line, read_lines
from kgalign.bench.runs import in_own_process, measure_rows
from kgalign.bench.seed_rows import hub_seeds, random_seeds
from kgalign.bench.summary import summarise
from kgalign.bench.systems import find_cases, find_systems
from kgalign.datasets import DEMOS
from kgalign.features.relations import Edges
from kgalign.models import DEFAULT
from kgalign.models.fast import KINDS, EvidenceKind, Fast
from kgalign.seams import Capabilities

DEMO = DEMOS / "fr_en"
VARIANTS = ("", "-JEA", "-EHD", "-EHD-JEA")


def measured(table, plan):
    return list(TABLES[table].measure(plan))


@pytest.fixture
def plan(tmp_path):
    return Plan(DEMO, tmp_path / "results" / "lines.jsonl", models=["names"], seeds=[0])


@pytest.fixture
def in_this_process(monkeypatch):
    """Runs that would have a process of their own share this one, for speed and for models that are registered here alone."""
    monkeypatch.setattr("kgalign.bench.runs.in_own_process", lambda work, *arguments: work(*arguments))


@pytest.mark.slow
def test_a_finished_line_is_not_measured_again(plan):
    first = measured("table2", plan)
    assert [line["system"] for line in first] == [f"names{variant}" for variant in VARIANTS]
    assert measured("table2", replace(plan)) == []
    assert len(measured("table2", replace(plan, again=True))) == 4
    assert len(read_lines(plan.results)) == 4, "the later of two for the same run"
    assert len(measured("table2", replace(plan, seeds=[0, 1]))) == 4
    assert len(measured("table2", replace(plan, label=", k=5", settings={"k": 5}))) == 4


def test_a_dataset_is_read_once_for_all_rows_and_not_for_finished_ones(plan, monkeypatch):
    folders = []

    def counting(folder, **options):
        folders.append(folder)
        return read(folder, **options)

    monkeypatch.setattr("kgalign.bench.plan.read", counting)
    assert len(measured("table2", replace(plan, seeds=[0, 1]))) == 8
    assert folders == [DEMO]
    assert measured("table2", replace(plan, seeds=[0, 1])) == []
    assert folders == [DEMO]


def test_an_interrupted_table_goes_on_where_it_stopped(plan):
    whole = measured("table2", replace(plan, results=None))
    started = TABLES["table2"].measure(plan)
    begun = [next(started), next(started)]
    started.close()
    rest = measured("table2", replace(plan))
    assert [line["system"] for line in begun + rest] == [line["system"] for line in whole]
    assert [line["metrics"]["hits@1"] for line in begun + rest] == [line["metrics"]["hits@1"] for line in whole]


@pytest.mark.slow
def test_an_interruption_says_how_to_go_on(tmp_path):
    seeds = ",".join(map(str, range(50)))
    command = ["bench", "table2", "--data", DEMO, "--models", "names", "--seeds", seeds, "--results", "lines"]
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
        == "kgalign: interrupted; the lines measured so far are in lines; run the same command to go on"
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


@pytest.mark.slow
def test_peers_are_measured_in_both_protocols(plan, in_this_process):
    lines = measured("peers", plan)
    assert [line["protocol"] for line in lines] == ["closed"] * 4 + ["open"] * 4
    assert all(line["experiment"] == "names" for line in lines)
    assert measured("peers", replace(plan)) == []


def test_a_run_in_its_own_process_returns_its_result_or_an_error_if_it_died():
    assert in_own_process(math.sqrt, 4.0) == 2.0
    with pytest.raises(KgalignError, match="a run ended before it was done"):
        in_own_process(os._exit, 1)


@pytest.mark.slow
def test_a_run_in_its_own_process_ends_when_the_one_that_has_started_it_is_killed():
    # The file is closed when the last of the two processes has ended.
    code = "import time; from kgalign.bench.runs import in_own_process as run; print(run(eval, '1')); run(time.sleep, 600)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "1\n"
        time.sleep(3)
        process.kill()
        assert process.communicate(timeout=60)[0] == ""


def test_a_new_model_appears_when_it_is_registered(plan, monkeypatch):
    monkeypatch.setitem(MODELS.built_in, "twice", f"{__name__}:Twice")
    assert "twice" in {system.name for system in find_systems(replace(plan, models=()))}
    assert len(measured("quick", replace(plan, models=["twice"]))) == 4


@dataclass(frozen=True)
class Twice:
    """A model that leaves its work to another."""

    k: int = 5
    capabilities: Capabilities = field(default=Capabilities(), init=False)

    def fit(self, task):
        return make_model("names", k=self.k).fit(task)


SAME_LENGTH = EvidenceKind(
    name="length",
    description="names with the same number of letters",
    weight=1.0,
    compute=lambda view: SameLength(*([len(name) for name in graph.names] for graph in (view.task.source, view.task.target))),
)
NOTHING = EvidenceKind(name="nothing", description="no evidence", weight=1.0, compute=lambda view: None)


@dataclass(frozen=True)
class SameLength:
    source: list[int]
    target: list[int]

    def compare(self, sources, targets):
        return (np.take(self.source, sources) == np.take(self.target, targets)).astype(np.float32)


@dataclass(frozen=True)
class Longer(Fast):
    """`fast` with one more kind of evidence, and with one that no graph has."""

    kinds: tuple[EvidenceKind, ...] = field(default=(*KINDS, SAME_LENGTH, NOTHING), repr=False, metadata={"option": False})


def test_a_new_kind_of_evidence_gets_its_rows_in_the_ablation(plan, monkeypatch):
    monkeypatch.setitem(MODELS.built_in, "longer", f"{__name__}:Longer")
    monkeypatch.setattr("kgalign.bench.runs.in_own_process", lambda work, dataset, row: [("", row_of(row), 0.0, {}, 1)])
    lines = {line["system"]: line["metrics"] for line in measured("ablation", replace(plan, models=["longer"]))}
    assert lines["longer: names only"]["model"] == "names"
    assert lines["longer: + length"]["options"] == {}, "the last part: nothing is left out"
    assert lines["longer: + other values"]["options"] == {"without": "length"}
    assert lines["longer: everything without length"]["options"] == {"without": "length"}
    assert "longer: no names: everything without length" in lines
    assert not any("nothing" in system or "meanings" in system for system in lines), "the demo has no such evidence"


def row_of(row):
    return {"hits@1": 1.0, "model": row.model, "options": dict(row.options)}


@pytest.mark.slow
def test_a_new_kind_of_evidence_is_measured(plan, monkeypatch, in_this_process):
    monkeypatch.setitem(MODELS.built_in, "longer", f"{__name__}:Longer")
    case = next(find_cases(replace(plan, models=["longer"])))
    rows = ablation_rows("longer", Longer().capabilities.parts)
    without, with_it = measure_rows(case, "ablation", {name: rows[name] for name in ("+ other values", "+ length")})
    assert without["metrics"]["hits@1"] > 0.9
    assert with_it["metrics"]["mrr"] != without["metrics"]["mrr"]


def test_seeds_are_drawn_from_all_links_and_names_are_withheld():
    task, gold = demo()
    drawn, rest = random_seeds(replace(task, protocol="closed"), gold, 1, 0.1)
    links = task.seeds + gold
    assert len(drawn.seeds) == round(0.1 * len(links))
    assert len(drawn.seeds) + len(rest) == len(links)
    assert sorted(np.concatenate([drawn.seeds.keys, rest.keys])) == sorted(links.keys)
    assert drawn.queries.tolist() == sorted(rest.sources)
    assert not any(drawn.source.names)
    again, _ = random_seeds(replace(task, protocol="closed"), gold, 2, 0.1)
    assert not np.array_equal(again.seeds.pairs, drawn.seeds.pairs)


def test_hubs_are_the_links_of_highest_degree_and_the_others_are_queries():
    task, gold = demo()
    drawn, rest = hub_seeds(replace(task, protocol="open"), gold, 0, 0.1)
    source, target = (side.degrees for side in Edges.of_task(task))
    degrees = [source[links.sources] + target[links.targets] for links in (drawn.seeds, rest)]
    assert degrees[0].min() >= degrees[1].max()
    assert len(drawn.queries) == len(task.source.entities) - len(drawn.seeds), "the open protocol"


def test_ablation_rows_follow_the_declared_parts():
    rows = ablation_rows(DEFAULT, ("names", "a", "b"))
    assert list(rows) == [
        "names only",
        "+ a",
        "+ b",
        "+ joint",
        "+ easy-to-hard, confident links only",
        "+ soft evidence",
        "+ all entities (everything)",
        "everything without names",
        "everything without a",
        "everything without b",
        "everything without anchors",
        "everything without search among the rest",
        "everything without joint",
        "no names: + joint",
        "no names: + easy-to-hard, confident links only",
        "no names: everything without a",
        "no names: everything without b",
        "no names: everything without anchors",
        "no names: everything without search among the rest",
    ]
    assert rows["+ a"].options == {"without": "b"}
    assert rows["+ b"].options == {}
    assert rows.keys() - ablation_rows(DEFAULT, ("names", "a", "b"), ("b",)).keys() == {"no names: everything without a"}


def test_the_baseline_stands_beside_the_ablation_of_a_model(plan):
    for system, model in (("names only", "names"), ("+ joint", "fast"), ("longer: + joint", "longer")):
        append(make_line("ablation", system, "fr_en", {"hits@1": 1.0}, seconds=1.0, options={"model": model}), plan.results)
    lines = planned_lines("ablation", replace(plan, models=["fast"]))
    assert [line["system"] for line in lines] == ["names only", "+ joint"]


def test_parts_without_evidence_are_left_out():
    task, _ = demo()
    without = {
        "other languages",
        "same IRI",
        "words",
        "meanings",
        "profiles",
        "codes",
        "other codes",
        "nothing",
    }
    assert parts_with_evidence(Longer(), task) == tuple(kind.name for kind in Longer().kinds if kind.name not in without)


def test_systems_take_the_options_of_the_plan_that_they_have(tmp_path):
    (tmp_path / "glove.tiny.txt").write_text("a 1 0\n")
    (tmp_path / "dbp15k").mkdir()
    systems = {system.name: system for system in find_systems(Plan(tmp_path, device="cpu"), seed=4)}
    assert systems["RDGCN"].options["word_vectors"] == str(tmp_path / "glove.tiny.txt")
    assert systems["RDGCN"].options["seed"] == 4
    assert systems["fast"].options == {"seed": 4, "word_vectors": None}
    assert systems["AlignE"].options["bootstrap"] is False
    assert systems["GM"].options.get("simulated") is None
    assert systems["GM"].plain.options["simulated"] == 0


def test_datasets_are_found_in_a_folder(tmp_path):
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


@pytest.mark.slow
def test_trained_models_are_kept_and_used_again(tmp_path):
    pytest.importorskip("torch")
    plan = Plan(DEMO, models=["je"], seeds=[0], settings={"epochs": 2, "size": 8, "batch": 2000}, device="cpu", keep=tmp_path)
    first, second = measured("table2", plan), measured("table2", plan)
    assert len(list(tmp_path.iterdir())) == 1
    assert [line["metrics"]["hits@1"] for line in first] == [line["metrics"]["hits@1"] for line in second]
    assert first[0]["metrics"]["training_seconds"] == second[0]["metrics"]["training_seconds"]


@pytest.mark.slow
def test_quick_runs_models_with_small_settings():
    pytest.importorskip("torch")
    lines = measured("quick", Plan(DEMO, models=["names", "mtranse"], seeds=[0], device="cpu"))
    assert [line["system"] for line in lines] == [f"{name}{variant}" for name in ("names", "MTransE") for variant in VARIANTS]
    assert lines[-1]["options"]["size"] == 32


def test_every_model_accepts_its_own_settings():
    pytest.importorskip("torch")
    check("quick", Plan(DEMO))
    assert {system.model for system in find_systems(Plan(DEMO))} == set(MODELS)


def test_summary_shows_our_figures_beside_the_paper(tmp_path):
    file = tmp_path / "lines.jsonl"
    for seed, hits in enumerate((0.50, 0.52)):
        gain = {"gain": 0.02, "gain_interval": [0.01, 0.03], "gain_p": 0.002}
        about = {"seconds": 2.0, "options": {"model": "gcn_align"}, "seed": seed}
        append(make_line("table2", "GCN-JEA", "zh_en", {"hits@1": hits, **gain}, **about), file)
    header, rows = summarise(read_lines(file))
    assert header == ["", "zh_en", "gain by reasoning", "seconds"]
    assert rows == [["GCN-JEA", "51.00 ± 1.41 (43.43, +7.57)", "+2.00 [+1.00, +3.00], p < 0.01", "2.0"]]


def test_a_damaged_line_is_an_error(tmp_path):
    file = tmp_path / "lines.jsonl"
    file.write_text('{"experiment": "table2", "sys\n')
    with pytest.raises(DataError, match=r"lines.jsonl:1: expected a JSON object with the keys of a result"):
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
        (["peers", "--data", DEMO, "--models", "je"], "the table peers has no rows for the model je"),
        (
            ["ablation", "--data", DEMO, "--models", "names"],
            "the table ablation has no rows for the model names: expected some of fast, gm",
        ),
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


@pytest.mark.slow
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
