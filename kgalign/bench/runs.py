"""A whole run of `align` in a process of its own, so that its memory and its time are its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import cache
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any

from kgalign.align import align
from kgalign.bench.plan import Dataset
from kgalign.bench.results import Line, make_line
from kgalign.bench.systems import Case
from kgalign.data import Alignment, AlignmentTask, Protocol
from kgalign.datasets import demo
from kgalign.decoding.decoders import greedy
from kgalign.errors import KgalignError
from kgalign.evaluate import evaluate
from kgalign.runs import Run, peak_mb

Change = Callable[[AlignmentTask], AlignmentTask]
Figures = Callable[[Run, Alignment], dict[str, Any]]
Redraw = Callable[[AlignmentTask, Alignment, int], tuple[AlignmentTask, Alignment]]


def without_seeds(task: AlignmentTask) -> AlignmentTask:
    return replace(task, seeds=Alignment.empty())


@dataclass(frozen=True)
class RunRow:
    """A row of a table that one call of `align` makes.

    Attributes:
        rules: Fields of `Rules` that differ from the defaults.
        options: Options of the model.
        model: A registered name; None: the model of the case.
        protocol: The protocol that the dataset is read in.
        change: Takes something out of the task.
        redraw: Divides seeds and gold links anew, with a random seed.
        figures: Figures of a run, with the gold links, beside those of `evaluate`.
        threshold: Adds a second row: the links above 0.5 that a greedy decoder makes of the same candidates.
    """

    rules: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    model: str | None = None
    protocol: Protocol = "closed"
    change: Change | None = None
    redraw: Redraw | None = None
    figures: Figures | None = None
    threshold: bool = False


def measure_rows(case: Case, experiment: str, rows: Mapping[str, RunRow]) -> Iterator[Line]:
    """The lines of those rows that have none yet."""
    for name, row in rows.items():
        if not case.missing(experiment, [name + case.plan.label], row.protocol):
            continue
        compile_first()
        model = row.model or case.system.model
        options = {**row.options, **case.plan.settings_of(model)}
        prepared = replace(row, model=model, options=options, rules={**row.rules, "seed": case.seed})
        for suffix, metrics, seconds, used, peak in in_own_process(measure_row, case.dataset, prepared):
            line = make_line(
                experiment,
                name + suffix + case.plan.label,
                case.dataset.pair,
                metrics,
                seconds=seconds,
                options=used,
                protocol=row.protocol,
                split=case.dataset.split,
                seed=case.seed,
                peak=peak,
            )
            yield case.plan.add(line)


def in_own_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a function that is called in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_end_with_parent) as pool:
        try:
            return pool.submit(work, *arguments).result()
        except BrokenProcessPool:
            raise KgalignError(
                "a run ended before it was done, perhaps for lack of memory; the lines measured before are kept"
            ) from None


def _end_with_parent() -> None:
    """Ends this process when the one that has started it is killed."""
    parent = parent_process()
    assert parent is not None

    def end() -> None:
        parent.join()
        os._exit(1)

    Thread(target=end, daemon=True).start()


@cache
def compile_first() -> None:
    """Runs all code that is compiled on first use, so that no measured run contains the compilation."""
    align(*demo())


def measure_row(dataset: Dataset, row: RunRow) -> list[tuple[str, dict[str, Any], float, dict[str, Any], int | None]]:
    """A suffix for the name of the row, figures, seconds with reading, options and peak of memory."""
    began = time.perf_counter()
    task, gold = dataset.read(row.protocol)
    task = row.change(task) if row.change else task
    task, gold = row.redraw(task, gold, row.rules["seed"]) if row.redraw else (task, gold)
    assert row.model is not None
    run = align(task, gold, model=row.model, options=row.options, **row.rules)
    seconds = time.perf_counter() - began
    metrics = {**(run.metrics or {}), "rounds": len(run.reasoning.rounds), **(row.figures(run, gold) if row.figures else {})}
    found = [("", metrics, seconds, dict(run.options), peak_mb())]
    if row.threshold:
        best = greedy(run.candidates)
        figures = evaluate(best.where(best.scores > 0.5), gold, protocol=row.protocol, candidates=run.candidates)
        found.append((", plain threshold", figures, seconds, {}, peak_mb()))
    return found
