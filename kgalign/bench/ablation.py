"""What each part is worth: the parts of `fast`, and the choices that the paper has tried for its own model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kgalign.bench.decisions import ROUNDS, decide, write_down
from kgalign.bench.plan import Plan
from kgalign.bench.results import DEVELOPMENT, Line
from kgalign.bench.runs import RunRow, measure_rows, without_names
from kgalign.bench.systems import Case, Trainings, changed, find_cases
from kgalign.data import hold_out

ONE_LOOK = {"easy_to_hard": False}
GREEDY = {"decoder": "greedy", **ONE_LOOK}
PARTS = {
    "names only": RunRow({"model": "names", **GREEDY}),
    "+ seeds among the neighbours": RunRow(GREEDY, {"without": "relations,two hops,roles,other relations,other values"}),
    "+ two hops": RunRow(GREEDY, {"without": "relations,roles,other relations,other values"}),
    "+ matched relations": RunRow(GREEDY, {"without": "roles,other relations,other values"}),
    "+ roles": RunRow(GREEDY, {"without": "other relations,other values"}),
    "+ what speaks against": RunRow(GREEDY),
    "+ joint": RunRow(ONE_LOOK),
    "+ easy-to-hard, easy pairs only": RunRow({"all_entities": False}, {"soft_evidence": False}),
    "+ doubtful pairs": RunRow({"all_entities": False}),
    "+ all entities (everything)": RunRow(),
    "everything without matched relations": RunRow({}, {"without": "relations"}),
    "everything without neighbours": RunRow({}, {"without": "neighbours"}),
    "everything without two hops": RunRow({}, {"without": "two hops"}),
    "everything without roles": RunRow({}, {"without": "roles"}),
    "everything without what speaks against": RunRow({}, {"without": "other relations,other values"}),
    "everything without joint": RunRow({"decoder": "greedy"}),
}
WITHOUT_NAMES = (
    "+ joint",
    "+ easy-to-hard, easy pairs only",
    "everything without matched relations",
    "everything without two hops",
    "everything without roles",
    "everything without what speaks against",
)
ROWS_OF_FAST = PARTS | {f"no names: {name}": replace(PARTS[name], change=without_names) for name in WITHOUT_NAMES}


def ablation(plan: Plan) -> Iterator[Line]:
    """The lines that are missing, one by one."""
    for case in find_cases(plan, ABLATIONS):
        yield from ABLATIONS[case.system.model](case)


def parts_of_fast(case: Case) -> Iterator[Line]:
    """From names alone to everything, and everything without one part; some of it without names."""
    yield from measure_rows(case, "ablation", ROWS_OF_FAST)


def choices_of_gm(case: Case) -> Iterator[Line]:
    """The paper's two options with up to k simulated easy pairs, and easy pairs among all entities."""
    task, gold = case.dataset.read()
    trainings = Trainings(case, task)
    for k in (0, 1, 2, 4):
        system = case.system.with_options(simulated=k)
        row = case.row("-EHD option 1" if k == 0 else f"-EHD option 2, k={k}")
        if case.missing("gm_options_dev", [row], split=DEVELOPMENT):
            model, training = trainings.get(system)
            decision = decide(model, *hold_out(task, model.dev_fraction, case.seed), "greedy", ROUNDS)
            yield write_down(case, "gm_options_dev", row, model, decision, training, DEVELOPMENT)
        if case.missing("gm_options", [row]):
            model, training = trainings.get(system)
            yield write_down(case, "gm_options", row, model, decide(model, task, gold, "greedy", ROUNDS), training)
    for k in (2, 4):
        for who, everyone in (("test entities", False), ("all entities", True)):
            for suffix, decoder in (("", "greedy"), ("-JEA", "joint")):
                row = case.row(f"-EHD{suffix}, {who}, k={k}")
                if case.missing("gm_all_entities", [row]):
                    model, training = trainings.get(case.system.with_options(simulated=k))
                    fresh = changed(model)  # forgets what it has scored: the time counts
                    decision = decide(fresh, task, gold, decoder, ROUNDS, all_entities=all_entities)
                    yield write_down(case, "gm_all_entities", row, fresh, decision, training)


ABLATIONS = {"fast": parts_of_fast, "gm": choices_of_gm}
