"""The choices that the paper tried for its own model: how it learns from simulated links, and where confident links are found."""

from __future__ import annotations

from collections.abc import Iterator

from kgalign.bench.decisions import ROUNDS, add_line, decide, paper_rules
from kgalign.bench.results import DEVELOPMENT, Line
from kgalign.bench.systems import Case
from kgalign.bench.trainings import Trainings, dev_fraction
from kgalign.data import hold_out

EXPERIMENTS = ("gm_options_dev", "gm_options", "gm_all_entities")


def paper_choices(case: Case) -> Iterator[Line]:
    """The paper's two options with up to k simulated links, and confident links among all entities."""
    trainings = Trainings(case)
    yield from _options(case, trainings)
    yield from _all_entities(case, trainings)


def _options(case: Case, trainings: Trainings) -> Iterator[Line]:
    """Both options, on development links and on test links."""
    for k in (0, 1, 2, 4):
        system = case.system.with_options(simulated=k)
        row = case.row("-EHD option 1" if k == 0 else f"-EHD option 2, k={k}")
        rules = paper_rules("greedy", ROUNDS)
        if case.missing("gm_options_dev", [row], split=DEVELOPMENT):
            training = trainings.get(system)
            held_out = hold_out(case.data.task, dev_fraction(training.model), case.seed)
            measured = decide(training.fitted, *held_out, rules)
            yield add_line(case, "gm_options_dev", row, training.model, measured, training.figures, DEVELOPMENT)
        if case.missing("gm_options", [row]):
            training = trainings.get(system)
            measured = decide(training.fitted, case.data.task, case.data.gold, rules)
            yield add_line(case, "gm_options", row, training.model, measured, training.figures)


def _all_entities(case: Case, trainings: Trainings) -> Iterator[Line]:
    """Confident links among the test entities alone, and among all entities."""
    for k in (2, 4):
        for name, all_entities in (("test entities", False), ("all entities", True)):
            for suffix, decoder in (("", "greedy"), ("-JEA", "joint")):
                row = case.row(f"-EHD{suffix}, {name}, k={k}")
                if case.missing("gm_all_entities", [row]):
                    training = trainings.get(case.system.with_options(simulated=k)).changed()  # no scores remembered: time counts
                    rules = paper_rules(decoder, ROUNDS, all_entities=all_entities)
                    measured = decide(training.fitted, case.data.task, case.data.gold, rules)
                    yield add_line(case, "gm_all_entities", row, training.model, measured, training.figures)
