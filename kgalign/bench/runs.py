"""A whole run of `align` in a process of its own, so that its memory and its time are its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import cache
from multiprocessing import get_context
from typing import Any

from kgalign.align import align, peak_mb
from kgalign.bench.plan import Dataset
from kgalign.bench.results import Line, make_line
from kgalign.bench.systems import Case
from kgalign.data import Alignment, AlignmentTask, Protocol
from kgalign.datasets import demo
from kgalign.decoding.decoders import greedy
from kgalign.errors import KgalignError
from kgalign.evaluate import evaluate
from kgalign.models import model_options

Change = Callable[[AlignmentTask], AlignmentTask]


def without_names(task: AlignmentTask) -> AlignmentTask:
    """All names empty: only the graph is left."""
    source, target = (replace(graph, names=[""] * len(graph.names)) for graph in (task.source, task.target))
    return replace(task, source=source, target=target)


def without_seeds(task: AlignmentTask) -> AlignmentTask:
    return replace(task, seeds=Alignment.empty())


@dataclass(frozen=True)
class RunRow:
    """A row of a table that one call of `align` makes.

    how         arguments of align
    options     of model and decoder
    change      what is withheld from the task
    threshold   adds a row of what a plain threshold makes of the same candidates
    """

    how: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    protocol: Protocol = "closed"
    change: Change | None = None
    threshold: bool = False


def measure_rows(case: Case, experiment: str, rows: Mapping[str, RunRow]) -> Iterator[Line]:
    """The lines of those rows that have none yet."""
    for name, row in rows.items():
        if not case.missing(experiment, [name + case.plan.label], row.protocol):
            continue
        compile_first()
        how = {"model": case.system.model, **row.how, "seed": case.seed}
        given = {option: value for option, value in case.plan.settings.items() if option in model_options(how["model"])}
        how["options"] = {**row.options, **given}
        for suffix, metrics, seconds, options, peak in in_own_process(_measure, case.dataset, replace(row, how=how)):
            line = make_line(
                experiment,
                name + suffix + case.plan.label,
                case.dataset.pair,
                metrics,
                seconds=seconds,
                options=options,
                protocol=row.protocol,
                split=case.dataset.split,
                seed=case.seed,
                peak=peak,
            )
            yield case.plan.note(line)


def in_own_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns that is called in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(work, *arguments).result()
        except BrokenProcessPool:
            raise KgalignError(
                "a run ended before it was done, perhaps for want of memory; what was measured before is kept"
            ) from None


@cache
def compile_first() -> None:
    """Runs what is compiled on first use, so that no run is charged for it."""
    align(*demo())


def _measure(dataset: Dataset, row: RunRow) -> list[tuple[str, dict[str, Any], float, dict[str, Any], int]]:
    """Suffix of the row's name, figures, seconds with reading, options and peak of memory."""
    began = time.perf_counter()
    task, gold = dataset.read(row.protocol)
    run = align(row.change(task) if row.change else task, gold, **row.how)
    seconds = time.perf_counter() - began
    metrics = {**(run.metrics or {}), "rounds": len(run.alignment.record["rounds"])}
    found = [("", metrics, seconds, dict(run.options), peak_mb())]
    if row.threshold:
        best = greedy(run.candidates)
        figures = evaluate(best.where(best.scores > 0.5), gold, protocol=row.protocol, candidates=run.candidates)
        found.append((", plain threshold", figures, seconds, {}, peak_mb()))
    return found
