"""The default model on generated graphs of growing size, each in a process of its own: seconds, memory and quality.

Confident links are fed back once, so that every size has the same number of rounds.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from benchmarks.measure.generated import generate
from benchmarks.results import GENERATED, add
from kgalign.align import align
from kgalign.models import DEFAULT
from kgalign.runs import peak_mb

SIZES = (10_000, 100_000, 1_000_000)
METRICS = ("hits@1", "f1", "candidate_recall")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES, help="entities in each graph")
    parser.add_argument("--limit", type=float, default=3600, help="seconds that a size may take")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for size in given.sizes:
        answer = measured(size, given.seed, given.limit)
        add(
            "scale",
            DEFAULT,
            f"generated {label(size)}",
            answer["metrics"],
            seconds=answer["seconds"],
            options=answer["options"] | {"limit": given.limit},
            protocol="open",
            split=GENERATED,
            seed=given.seed,
        )


def measured(size: int, seed: int, limit: float) -> dict[str, Any]:
    """The answer of a run in a process of its own; without figures if it took too long or died, of memory for instance."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(size, seed, sender))
    began = time.perf_counter()
    process.start()
    sender.close()  # so that the death of a child is noticed at once
    try:
        answer = receiver.recv() if receiver.poll(limit) else None
    except EOFError:
        answer = None
    process.kill()
    process.join()
    return answer or {"metrics": {"finished": False}, "seconds": time.perf_counter() - began, "options": {}}


def label(size: int) -> str:
    return f"{size // 1_000_000}M" if size % 1_000_000 == 0 else f"{size // 1000}k"


def compile_first(size: int) -> None:
    """Runs what is compiled on first use, some of it only for graphs above a few thousand entities."""
    align(generate(min(size, 20_000), 0)[0], max_rounds=1)


def _work(size: int, seed: int, sender: Connection) -> None:
    began = time.perf_counter()
    task, gold = generate(size, seed)
    stages = {"generate": time.perf_counter() - began}
    compile_first(size)
    began = time.perf_counter()
    run = align(task, gold, seed=seed, max_rounds=1, on_round=lambda figures, _: print(label(size), figures.summary(), flush=True))
    seconds = time.perf_counter() - began
    found = run.metrics or {}
    right, scores = np.isin(run.alignment.keys, gold.keys), run.alignment.scores
    graphs = task.source, task.target
    metrics = {
        "finished": True,
        "gold": len(gold),
        **{name: found[name] for name in METRICS},
        # The gold links of generated graphs are complete: a link that touches no gold link is wrong.
        "links": len(scores),
        "links_right": float(right.mean()),
        "links_probability": float(scores.mean()),
        "links_above_0.9": int((scores > 0.9).sum()),
        "links_above_0.9_right": float(right[scores > 0.9].mean()),
        **{f"seconds_{stage}": round(value, 3) for stage, value in (stages | dict(run.seconds)).items()},
        "seconds_rounds": [round(figures.seconds, 3) for figures in run.reasoning.rounds],
        "peak_mb": peak_mb(),
        "entities": [len(graph.entities) for graph in graphs],
        "triples": [len(graph.triples) for graph in graphs],
    }
    sender.send({"metrics": metrics, "seconds": seconds, "options": dict(run.options)})


if __name__ == "__main__":
    main()
