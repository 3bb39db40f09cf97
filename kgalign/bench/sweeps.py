"""The paper's Table 3 (tau) and Table 4 (alpha): one option of the reasoning at several values."""

from __future__ import annotations

import time
from collections.abc import Iterator

from kgalign.bench.decisions import ALPHA, ROUNDS, add_line, decide, paper_rules
from kgalign.bench.paper import PAPER_MODEL
from kgalign.bench.plan import Plan
from kgalign.bench.results import DEVELOPMENT, Line, make_line
from kgalign.bench.systems import find_cases
from kgalign.bench.trainings import Trainings, dev_fraction
from kgalign.data import hold_out
from kgalign.decoding.decoders import joint
from kgalign.evaluate import evaluate
from kgalign.models import BASELINE

TAUS = (0.20, 0.15, 0.10, 0.05, 0.0)
ALPHAS = (0.95, 0.85, 0.75, 0.65)
TABLE3_MODELS, TABLE4_MODELS = (BASELINE,), (PAPER_MODEL,)  # the paper has its own model in both; the baseline takes seconds


def table3(plan: Plan) -> Iterator[Line]:
    """How tau changes the largest sub-space, the time and the result of joint entity alignment; tau goes down to 0."""
    for case in find_cases(plan, TABLE3_MODELS):
        rows = {f"{case.row('-JEA')} tau={tau:.2f}": tau for tau in TAUS}
        missing = case.missing("table3", rows)
        if not missing:
            continue
        task, gold = case.data.task, case.data.gold
        candidates = Trainings(case).get(case.system.plain).fitted.predict(task, task.seeds)
        joint(candidates)  # compiles
        options = {"fill": True, "unmatched": 0.01, "model": case.system.model, "temperature": candidates.temperature}
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
                options={"tau": rows[row], **options},
                split=case.dataset.split,
                seed=case.seed,
            )
            yield plan.add(line)


def table4(plan: Plan) -> Iterator[Line]:
    """How alpha changes the rounds and hits@1 on development links, which have also picked the epoch."""
    for case in find_cases(plan, TABLE4_MODELS):
        rows = {case.row(""): (0, ALPHA)} | {f"{case.row('-EHD')} alpha={alpha}": (ROUNDS, alpha) for alpha in ALPHAS}
        missing = case.missing("table4", rows, split=DEVELOPMENT)
        if not missing:
            continue
        trainings, system = Trainings(case), case.system.with_options(all_seeds=False)
        for row in missing:
            rounds, alpha = rows[row]
            training = trainings.get(system if rounds else system.plain)
            task, dev = hold_out(case.data.task, dev_fraction(training.model), case.seed)
            measured = decide(training.fitted, task, dev, paper_rules("greedy", rounds, alpha=alpha))
            yield add_line(case, "table4", row, training.model, measured, training.figures, DEVELOPMENT)
