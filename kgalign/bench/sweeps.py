"""The paper's Table 3 (tau) and Table 4 (alpha): one option of the reasoning at several values."""

from __future__ import annotations

import time
from collections.abc import Iterator

from kgalign.bench.decisions import ALPHA, ROUNDS, decide, write_down
from kgalign.bench.plan import Plan
from kgalign.bench.results import DEVELOPMENT, Line, make_line
from kgalign.bench.systems import Trainings, find_cases
from kgalign.data import hold_out
from kgalign.decoding.decoders import joint
from kgalign.evaluate import evaluate

TAUS = (0.20, 0.15, 0.10, 0.05, 0.0)
ALPHAS = (0.95, 0.85, 0.75, 0.65)
TABLE3_MODELS, TABLE4_MODELS = ("names",), ("gm",)  # the paper has GM for both; names take seconds


def table3(plan: Plan) -> Iterator[Line]:
    """What tau does to the largest sub-space, the time and the result of joint entity alignment; tau goes down to 0."""
    for case in find_cases(plan, TABLE3_MODELS):
        rows = {f"{case.row('-JEA')} tau={tau:.2f}": tau for tau in TAUS}
        missing = case.missing("table3", rows)
        if not missing:
            continue
        task, gold = case.dataset.read()
        model, _ = Trainings(case, task).get(case.system.plain)
        candidates = model.predict(task, task.seeds)
        joint(candidates)  # compiles
        told = {"fill": True, "unmatched": 0.01, "model": case.system.model, "temperature": candidates.temperature}
        for row in missing:
            began = time.perf_counter()
            alignment = joint(candidates, tau=rows[row], fill=True)
            seconds = time.perf_counter() - began
            metrics = {"hits@1": evaluate(alignment, gold, protocol=task.protocol)["hits@1"]}
            metrics |= {name: alignment.record[name] for name in ("sub_spaces", "largest_sub_space")}
            line = make_line(
                "table3",
                row,
                case.dataset.pair,
                metrics,
                seconds=seconds,
                options={"tau": rows[row], **told},
                split=case.dataset.split,
                seed=case.seed,
            )
            yield plan.note(line)


def table4(plan: Plan) -> Iterator[Line]:
    """What alpha does: rounds and hits@1 on development links, which have also picked the epoch."""
    for case in find_cases(plan, TABLE4_MODELS):
        rows = {case.row(""): (0, ALPHA)} | {f"{case.row('-EHD')} alpha={alpha}": (ROUNDS, alpha) for alpha in ALPHAS}
        missing = case.missing("table4", rows, split=DEVELOPMENT)
        if not missing:
            continue
        task, _ = case.dataset.read()
        trainings, system = Trainings(case, task), case.system.with_options(all_seeds=False)
        for row in missing:
            rounds, alpha = rows[row]
            model, training = trainings.get(system if rounds else system.plain)
            asked, dev = hold_out(task, getattr(model, "dev_fraction", 0.1), case.seed)
            decision = decide(model, asked, dev, "greedy", rounds, alpha=alpha)
            yield write_down(case, "table4", row, model, decision, training, DEVELOPMENT)
