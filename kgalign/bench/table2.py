"""The paper's Table 2 over all models: each alone, with joint decisions, easy-to-hard, and both."""

from __future__ import annotations

from collections.abc import Iterator

from kgalign.bench.decisions import VARIANTS, decide, write_down
from kgalign.bench.plan import Plan
from kgalign.bench.results import DEVELOPMENT, Line
from kgalign.bench.runs import compile_first
from kgalign.bench.systems import Case, Trainings, changed, find_cases
from kgalign.data import hold_out
from kgalign.evaluate import compare

REFITTED = {
    "-EHD, refitted": ("greedy", 2),
    "-EHD-JEA, refitted": ("joint", 2),
}  # so many trainings with easy pairs among the seeds


def table2(plan: Plan) -> Iterator[Line]:
    """The lines that are missing, one by one."""
    for case in find_cases(plan):
        yield from measure_case(case, "table2")


def measure_case(case: Case, experiment: str) -> Iterator[Line]:
    """The lines of a system that are missing."""
    split = DEVELOPMENT if case.plan.development else None
    variants = VARIANTS | (REFITTED if case.plan.refit and case.system.has("refit") else {})
    rows = {case.row(suffix): suffix for suffix in variants}
    missing = {row: rows[row] for row in case.missing(experiment, rows, split=split)}
    if missing:
        yield from _rows(case, experiment, missing, variants, split)


def _rows(
    case: Case, experiment: str, missing: dict[str, str], variants: dict[str, tuple[str, int]], split: str | None
) -> Iterator[Line]:
    """The rows of a system, from one training, or from two where it is trained another way if nothing is fed back."""
    compile_first()
    task, gold = case.dataset.read()
    # A model that goes on to learn from its development links cannot be asked for them.
    system = case.system.with_options(all_seeds=False) if split else case.system
    trainings = Trainings(case, task)
    model, training = trainings.get(system.plain)
    asked, links = hold_out(task, getattr(model, "dev_fraction", 0.1), case.seed) if split else (task, gold)
    plain = decide(model, asked, links, *variants[""])
    for row, suffix in missing.items():
        decoder, rounds = variants[suffix]
        model, training = trainings.get(system if rounds else system.plain)
        if suffix in REFITTED:
            model = changed(model, refit=True)
        decision = decide(model, asked, links, decoder, rounds) if suffix else plain
        gain = compare(plain.alignment, decision.alignment, links) if suffix else {}
        yield write_down(case, experiment, row, model, decision, {**training, **gain}, split)
