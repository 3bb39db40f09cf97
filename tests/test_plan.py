"""What a run will take, before it is run."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import kgalign
from kgalign.cli import run as command
from kgalign.plan import free_memory_mb, plan_run, sizes_of


@pytest.fixture
def graphs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("left.tsv", "right.tsv"):
        (tmp_path / name).write_text("".join(f"city {i}\tin\tland {i % 7}\n" for i in range(60)), "utf-8")
    return "left.tsv", "right.tsv"


def test_info_says_what_a_run_takes_on_this_machine(graphs, capsys):
    assert command(["info", *graphs, "--plan"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = dict(line.strip().split(": ", 1) for line in lines[lines.index("a run with the default options:") + 1 :])
    assert list(found) == ["reading", "time after reading", "memory", "engine", "speed of this machine"]
    time = found["time after reading"].split("; ")[0]
    assert " s to " in time or time.startswith("about "), "one number where both ends are the same"
    assert found["engine"].startswith("local: ")
    assert command(["info", *graphs, "--plan", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    assert plan["sizes"] == {"entities": 134, "triples": 120, "literals": 0}
    assert 0 < plan["seconds"][0] <= plan["seconds"][1]


def test_a_plan_says_how_far_apart_the_ends_of_the_estimate_are(graphs, capsys, monkeypatch):
    monkeypatch.setattr("kgalign.plan.probe_seconds", lambda: 1e3)
    assert command(["info", *graphs, "--plan"]) == 0
    assert re.search(r"time after reading: [\d.]+ (s|min|h) to [\d.]+ (s|min|h)", capsys.readouterr().out)


def test_a_plan_is_for_two_graphs(graphs, capsys):
    assert command(["info", graphs[0], "--plan"]) == 2
    assert "--plan goes with two graphs" in capsys.readouterr().err


def test_larger_graphs_take_more_and_what_does_not_fit_is_said(monkeypatch):
    monkeypatch.setattr("kgalign.plan.probe_seconds", lambda: 0.1)
    task, _ = kgalign.demo()
    small = plan_run(task)
    triples = np.tile(task.source.triples, (1000, 1))
    large = plan_run(replace(task, source=replace(task.source, triples=triples)))
    assert large.seconds[1] >= small.seconds[1]
    assert large.memory_mb > small.memory_mb
    assert small.fits
    assert not small.advice
    monkeypatch.setattr("kgalign.plan.free_memory_mb", lambda: 100.0)
    tight = plan_run(task)
    assert not tight.fits
    assert "take a machine with more memory" in tight.advice
    assert "other machines take no memory off the process that aligns" in tight.advice
    assert tight.engine == "local"


def test_a_run_that_takes_hours_may_use_other_machines_for_its_searches(graphs, capsys, monkeypatch):
    for probe, engine, advised in ((0.1, "local", False), (1e5, "ray", True)):  # on a machine that is a million times slower
        monkeypatch.setattr("kgalign.plan.probe_seconds", lambda probe=probe: probe)
        assert command(["info", *graphs, "--plan", "--json"]) == 0
        plan = json.loads(capsys.readouterr().out)["plan"]
        assert plan["engine"] == engine
        assert ("other machines share the searches, and nothing else, with --engine ray" in plan["advice"]) == advised


def test_the_estimate_of_the_demo_is_no_fantasy():
    """Within a factor of ten either way: tests run beside each other, and the first run compiles."""
    task, _ = kgalign.demo()
    kgalign.align(task)
    run = kgalign.align(task)
    low, high = plan_run(task).seconds
    assert low / 10 < sum(run.seconds.values()) < 10 * high
    assert sizes_of(task)["entities"] == 3248
    assert free_memory_mb() > 0
