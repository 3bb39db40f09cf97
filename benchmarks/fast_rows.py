"""`fast` in its three regimes: seeds and names, names without seeds, seeds without names; closed, and the first one also open."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from benchmarks.results import DATA, PAIRS, append
from kgalign import Alignment, AlignmentTask, align, demo, read

SEEDS = (0, 1, 2)


def main() -> None:
    align(*demo())  # compiles what is compiled on first use
    for seed in SEEDS:
        for pair in PAIRS:
            measure("fast", pair, "closed", seed, lambda task: task)
            if seed == 0:
                measure("fast, no seeds", pair, "closed", seed, lambda task: replace(task, seeds=Alignment.empty()))
                measure("fast, no names", pair, "closed", seed, without_names)
                measure("fast", pair, "open", seed, lambda task: task)


def measure(system: str, pair: str, protocol: str, seed: int, change: Callable[[AlignmentTask], AlignmentTask]) -> None:
    began = time.perf_counter()
    task, gold = read(DATA / "dbp15k" / pair, protocol=protocol)
    run = align(change(task), gold, seed=seed)
    seconds = time.perf_counter() - began  # reading included
    metrics = {**run.metrics, "rounds": len(run.alignment.record["rounds"])}
    append("fast", system, pair, metrics, seconds=seconds, options=dict(run.options), protocol=protocol, seed=seed)


def without_names(task: AlignmentTask) -> AlignmentTask:
    """All names empty: only the graph is left."""
    source, target = (replace(graph, names=[""] * len(graph.names)) for graph in (task.source, task.target))
    return replace(task, source=source, target=target)


if __name__ == "__main__":
    main()
