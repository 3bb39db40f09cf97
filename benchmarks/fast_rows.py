"""`fast` in its three regimes, closed; open, with a plain threshold beside it; and what each part of it is worth.

    python -m benchmarks.fast_rows [regimes] [ablation] [--pairs zh_en ...] [--seeds 0 ...]

Each run has a process of its own, so that its memory and its time are its own; what is compiled on first use is compiled before.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.results import DATA, PAIRS, append
from kgalign import Alignment, AlignmentTask, align, demo, evaluate, make_decoder, read

Change = Callable[[AlignmentTask], AlignmentTask]


def regimes(pair: str, seed: int) -> None:
    """The rows that are held against others."""
    in_own_process(measure, "fast", "fast", pair, "closed", seed)
    in_own_process(measure, "fast", "fast, no seeds", pair, "closed", seed, without_seeds)
    in_own_process(measure, "fast", "fast, no names", pair, "closed", seed, without_names)
    in_own_process(measure, "fast", "fast", pair, "open", seed)


def ablation(pair: str, seed: int) -> None:
    """From names alone to everything, and everything without one part."""
    one_look: dict[str, Any] = {"easy_to_hard": False}
    rows: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "names only": ({"model": "names", "decoder": "greedy", **one_look}, {}),
        "+ seeds among the neighbours": ({"decoder": "greedy", **one_look}, {"without": "relations,two hops,roles"}),
        "+ two hops": ({"decoder": "greedy", **one_look}, {"without": "relations,roles"}),
        "+ matched relations": ({"decoder": "greedy", **one_look}, {}),
        "+ joint": (one_look, {}),
        "+ easy-to-hard, easy pairs only": ({"everyone": False}, {"weighs_doubt": False}),
        "+ doubtful pairs": ({"everyone": False}, {}),
        "+ all entities (everything)": ({}, {}),
        "everything without matched relations": ({}, {"without": "relations"}),
        "everything without neighbours": ({}, {"without": "neighbours"}),
        "everything without two hops": ({}, {"without": "two hops"}),
        "everything without roles": ({}, {"without": "roles"}),
        "everything without joint": ({"decoder": "greedy"}, {}),
    }
    for system, (how, options) in rows.items():
        in_own_process(measure, "ablation", system, pair, "closed", seed, None, how, options)
    for system in (
        "+ joint",
        "+ easy-to-hard, easy pairs only",
        "everything without matched relations",
        "everything without two hops",
        "everything without roles",
    ):
        how, options = rows[system]
        in_own_process(measure, "ablation", f"no names: {system}", pair, "closed", seed, without_names, how, options)


def measure(
    experiment: str,
    system: str,
    pair: str,
    protocol: str,
    seed: int,
    change: Change | None = None,
    how: dict[str, Any] | None = None,
    options: dict[str, Any] | None = None,
) -> None:
    began = time.perf_counter()
    task, gold = read(DATA / "dbp15k" / pair, protocol=protocol)
    run = align(change(task) if change else task, gold, seed=seed, options=options, **(how or {}))
    seconds = time.perf_counter() - began  # reading included
    metrics = {**run.metrics, "rounds": len(run.alignment.record["rounds"])}
    append(experiment, system, pair, metrics, seconds=seconds, options=dict(run.options), protocol=protocol, seed=seed)
    if protocol == "open":
        best = make_decoder("greedy")(run.candidates)
        figures = evaluate(best.where(best.scores > 0.5), gold, protocol=protocol, candidates=run.candidates)
        append(experiment, f"{system}, plain threshold", pair, figures, seconds=seconds, options={}, protocol=protocol, seed=seed)


def without_names(task: AlignmentTask) -> AlignmentTask:
    """All names empty: only the graph is left."""
    source, target = (replace(graph, names=[""] * len(graph.names)) for graph in (task.source, task.target))
    return replace(task, source=source, target=target)


def without_seeds(task: AlignmentTask) -> AlignmentTask:
    return replace(task, seeds=Alignment(np.empty((0, 2), np.int64)))


def in_own_process(work: Callable[..., None], *arguments: Any) -> None:
    process = multiprocessing.get_context("spawn").Process(target=work, args=arguments)
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"{arguments}: ended with {process.exitcode}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", nargs="*", default=["regimes", "ablation"], help="regimes, ablation")
    parser.add_argument("--pairs", nargs="+", default=PAIRS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    arguments = parser.parse_args()
    align(*demo())  # compiles what is compiled on first use
    if "regimes" in arguments.experiments:
        for seed in arguments.seeds:
            for pair in arguments.pairs:
                regimes(pair, seed)
    if "ablation" in arguments.experiments:
        for pair in arguments.pairs:
            ablation(pair, arguments.seeds[0])


if __name__ == "__main__":
    main()
