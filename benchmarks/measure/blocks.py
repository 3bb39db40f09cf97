"""What the blocks of searches cost on generated graphs of growing size: seconds and bytes. `docs/toward-the-web.md` is derived from it.

An engine that records works on the blocks with one thread. CPU seconds count, so that other processes matter little.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

import kgalign
from benchmarks.measure.generated import generate
from benchmarks.measure.scale import label
from benchmarks.results import GENERATED, add
from kgalign.bench.runs import in_own_process
from kgalign.models import DEFAULT
from kgalign.runs import peak_mb

SIZES = (10_000, 30_000, 100_000)


@dataclass
class Recording:
    """Works on blocks one after the other, and writes down what each search has cost."""

    searches: list[dict[str, Any]] = field(default_factory=list)
    step: str = ""

    def map(
        self, function: Callable[..., Any], blocks: Sequence[slice], shared: Sequence[Any], *, at_once: int | None = None
    ) -> Iterator[Any]:
        row = {
            "step": self.step,
            "blocks": 0,
            "rows": 0,
            "seconds": 0.0,
            "shared_bytes": sum(map(size_of, shared)),
            "result_bytes": 0,
        }
        self.searches.append(row)
        for block in blocks:
            began = time.thread_time()
            result = function(block, *shared)
            row["seconds"] += time.thread_time() - began
            row["blocks"] += 1
            row["rows"] += block.stop - block.start
            row["result_bytes"] += sum(map(size_of, result))
            yield result

    def begin(self, step: str) -> None:
        self.step = step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES, help="entities in each graph")
    os.environ |= {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # of the processes that are started here
    for size in parser.parse_args().sizes:
        seconds, metrics, options = in_own_process(measure, size)
        about: dict[str, Any] = {"seconds": seconds, "options": options, "protocol": "open", "split": GENERATED}
        add("blocks", DEFAULT, f"generated {label(size)}", metrics, **about)


def measure(size: int) -> tuple[float, dict[str, Any], dict[str, Any]]:
    """Seconds, figures and options of a run with that many entities a side."""
    task, _ = generate(size)
    kgalign.align(*kgalign.demo())  # compiles
    engine, before, began, cpu = Recording(), peak_mb(), time.perf_counter(), time.process_time()
    run = kgalign.align(task, engine=engine)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    candidates, rows = run.candidates, [{**row, "seconds": round(row["seconds"], 3)} for row in engine.searches]
    metrics = {
        "entities": [len(graph.entities) for graph in (task.source, task.target)],
        "triples": [len(graph.triples) for graph in (task.source, task.target)],
        "rounds": len(run.reasoning.rounds),
        "cpu_seconds": cpu,
        "searching_seconds": sum(row["seconds"] for row in rows),
        "candidates_a_query": float((candidates.targets >= 0).sum(axis=1).mean()),
        "peak_mb": peak_mb(),
        "peak_mb_before": before,
        "searches": rows,
    }
    return seconds, metrics, dict(run.options)


def size_of(value: Any) -> int:
    """The bytes of the arrays of a value."""
    if sparse.issparse(value):
        return sum(each.nbytes for each in (value.data, value.indices, value.indptr))
    return value.nbytes if isinstance(value, np.ndarray) else 0


if __name__ == "__main__":
    main()
