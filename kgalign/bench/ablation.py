"""How much each part of a model brings: its kinds of evidence, joint decisions, Easy-to-Hard, and confident links among all entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgalign.bench import paper_choices
from kgalign.bench.paper import PAPER_MODEL
from kgalign.bench.plan import Plan
from kgalign.bench.results import Line
from kgalign.bench.runs import RunRow, measure_rows
from kgalign.bench.systems import Case, find_cases
from kgalign.data import AlignmentTask, without_names
from kgalign.models import BASELINE, DEFAULT, make_model, model_options
from kgalign.seams import Model

ABLATION_MODELS = (DEFAULT, PAPER_MODEL)
EXPERIMENTS = ("ablation", *paper_choices.EXPERIMENTS)
PLAIN = {"max_rounds": 0}
GREEDY = {"decoder": "greedy", **PLAIN}
BASELINE_ONLY = f"{BASELINE} only"
FEW_SEEDS_ONLY = ("growth",)  # steps that change nothing with the seeds of the canonical split: the table of seeds has their rows
WITHOUT = "everything without "
CONFIDENT_ONLY = "+ easy-to-hard, confident links only"


def ablation(plan: Plan) -> Iterator[Line]:
    """The missing lines, one by one."""
    for case in find_cases(plan, ABLATION_MODELS):
        yield from paper_choices.paper_choices(case) if case.system.model == PAPER_MODEL else _measure_parts(case)


def has_ablation(model: str) -> bool:
    """Whether the table has rows for a model: it declares kinds of evidence, or the paper tried choices for it."""
    return model == PAPER_MODEL or bool(make_model(model).capabilities.parts)


def ablation_rows(model: str, parts: Sequence[str], nameless: Sequence[str] | None = None) -> dict[str, RunRow]:
    """The rows of a model by name: from names alone to everything, then everything without one part; some of it without names.

    Args:
        model: A registered name.
        parts: The kinds of evidence, in the order in which rows add them.
        nameless: Those that there are without names; None: all.
    """
    added = [part for part in parts if part != BASELINE]  # the row of the baseline stands for that part
    rows = {BASELINE_ONLY: RunRow(GREEDY, model=BASELINE)}
    rows |= {f"+ {part}": RunRow(GREEDY, _leave_out(added[number:])) for number, part in enumerate(added, 1)}
    rows |= {"+ joint": RunRow(PLAIN)}
    if "soft_evidence" in model_options(model):
        rows |= {CONFIDENT_ONLY: RunRow({"all_entities": False}, {"soft_evidence": False})}
        rows |= {"+ soft evidence": RunRow({"all_entities": False})}
    else:
        rows |= {CONFIDENT_ONLY: RunRow({"all_entities": False})}
    rows |= {"+ all entities (everything)": RunRow()}
    steps = [step for step in make_model(model).capabilities.steps if step not in FEW_SEEDS_ONLY]
    left_out = {f"{WITHOUT}{part}": RunRow(options=_leave_out([part])) for part in (*parts, *steps)}
    rows |= {**left_out, f"{WITHOUT}joint": RunRow({"decoder": "greedy"})}
    without_evidence = {BASELINE, *(() if nameless is None else set(parts) - set(nameless))}
    kept = ["+ joint", CONFIDENT_ONLY, *(name for name in left_out if name.removeprefix(WITHOUT) not in without_evidence)]
    return rows | {f"no names: {name}": replace(rows[name], change=without_names) for name in kept}


def parts_with_evidence(model: Model, task: AlignmentTask) -> tuple[str, ...]:
    """The parts of a model that a task has evidence for; all of them if the model cannot explain, or if there is no seed."""
    parts = model.capabilities.parts
    if not (model.capabilities.explains and len(task.seeds)):
        return parts
    kinds = model.fit(task).contributions(task, task.seeds, task.seeds.pairs[:1]).kinds
    return tuple(part for part in parts if part in kinds)


def _measure_parts(case: Case) -> Iterator[Line]:
    """The missing lines of a model that declares kinds of evidence."""
    name = case.system.model
    model = make_model(name, **case.plan.settings_of(name))
    prefix = "" if name == DEFAULT else f"{name}: "
    names = [f"{prefix}{row}{case.plan.label}" for row in ablation_rows(name, model.capabilities.parts)]
    if case.missing("ablation", names):
        task = case.data.task
        parts, nameless = (parts_with_evidence(model, each) for each in (task, without_names(task)))
        yield from measure_rows(
            case, "ablation", {f"{prefix}{row}": how for row, how in ablation_rows(name, parts, nameless).items()}
        )


def _leave_out(parts: Sequence[str]) -> dict[str, str]:
    return {"without": ",".join(parts)} if parts else {}
