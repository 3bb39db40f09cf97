"""The paper's Table 2 over all models: each alone, with joint decisions, with Easy-to-Hard, and with both."""

from __future__ import annotations

from collections.abc import Iterator

from kgalign.bench.decisions import VARIANTS, add_line, decide, paper_rules
from kgalign.bench.plan import Plan
from kgalign.bench.results import DEVELOPMENT, Line
from kgalign.bench.runs import compile_first
from kgalign.bench.systems import Case, find_cases
from kgalign.bench.trainings import Trainings, dev_fraction
from kgalign.data import hold_out
from kgalign.evaluate import compare

# The decoder, and how many new trainings have confident links among their seeds.
REFITTED = {"-EHD, refitted": ("greedy", 2), "-EHD-JEA, refitted": ("joint", 2)}


def table2(plan: Plan) -> Iterator[Line]:
    """The missing lines, one by one."""
    for case in find_cases(plan):
        yield from measure_case(case, "table2")


def measure_case(case: Case, experiment: str) -> Iterator[Line]:
    """The missing lines of a system."""
    split = DEVELOPMENT if case.plan.development else None
    variants = VARIANTS | (REFITTED if case.plan.refit and case.system.has("refit") else {})
    rows = {case.row(suffix): suffix for suffix in variants}
    missing = {row: rows[row] for row in case.missing(experiment, rows, split=split)}
    if missing:
        yield from _measure_rows(case, experiment, missing, variants, split)


def _measure_rows(
    case: Case, experiment: str, missing: dict[str, str], variants: dict[str, tuple[str, int]], split: str | None
) -> Iterator[Line]:
    """The rows of a system, from one training, or from two if it has other options for rows in which no link is fed back."""
    compile_first()
    # A model that goes on to learn from its development links cannot be measured on them.
    system = case.system.with_options(all_seeds=False) if split else case.system
    trainings = Trainings(case)
    training = trainings.get(system.plain)
    task, gold = case.data.task, case.data.gold
    if split:
        task, gold = hold_out(task, dev_fraction(training.model), case.seed)
    plain = decide(training.fitted, task, gold, paper_rules(*variants[""]))
    for row, suffix in missing.items():
        decoder, rounds = variants[suffix]
        training = trainings.get(system if rounds else system.plain)
        if suffix in REFITTED:
            training = training.changed(refit=True)
        measured = decide(training.fitted, task, gold, paper_rules(decoder, rounds)) if suffix else plain
        gain = compare(plain.alignment, measured.alignment, gold) if suffix else {}
        yield add_line(case, experiment, row, training.model, measured, {**training.figures, **gain}, split)
