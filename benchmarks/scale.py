"""`fast` on generated graphs of growing size, each in a process of its own: seconds, memory and quality.

Easy pairs are fed back once, so that every size looks as often at its graphs as the others.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from benchmarks.generated import generate
from benchmarks.results import add
from kgalign import demo
from kgalign.align import align, peak_mb

SIZES = (10_000, 100_000, 1_000_000)
METRICS = ("hits@1", "f1", "candidate_recall")
SURE = 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES, help="entities a side")
    parser.add_argument("--limit", type=float, default=3600, help="seconds that a size may take")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for size in given.sizes:
        answer = measured(size, given.seed, given.limit)
        add(
            "scale",
            "fast",
            f"generated {label(size)}",
            answer["metrics"],
            seconds=answer["seconds"],
            options=answer["options"] | {"limit": given.limit},
            protocol="open",
            split="generated 30 %",
            seed=given.seed,
        )


def measured(size: int, seed: int, limit: float) -> dict[str, Any]:
    """What a run in a process of its own came to; without figures where it took too long or died, of memory for instance."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(size, seed, sender))
    began = time.perf_counter()
    process.start()
    sender.close()  # so that a child that dies is noticed at once, and not taken for one that is slow
    try:
        answer = receiver.recv() if receiver.poll(limit) else None
    except EOFError:
        answer = None
    process.kill()
    process.join()
    return answer or {"metrics": {"finished": False}, "seconds": time.perf_counter() - began, "options": {}}


def label(size: int) -> str:
    return f"{size // 1_000_000}M" if size % 1_000_000 == 0 else f"{size // 1000}k"


def _work(size: int, seed: int, sender: Connection) -> None:
    began = time.perf_counter()
    task, gold = generate(size, seed)
    stages = {"generate": time.perf_counter() - began}
    align(*demo(), max_rounds=0)  # compiles what is compiled on first use
    began = time.perf_counter()
    run = align(task, gold, seed=seed, max_rounds=1, on_round=lambda turn: print(f"{label(size)}: {turn.summary()}", flush=True))
    seconds = time.perf_counter() - began
    found = run.metrics or {}
    right, scores = np.isin(run.alignment.keys, gold.keys), run.alignment.scores
    stages |= run.seconds
    rounds = [summary["seconds"] for summary in run.alignment.record["rounds"]]
    facts = {"entities": [len(graph.entities) for graph in (task.source, task.target)]}
    facts |= {"triples": [len(graph.triples) for graph in (task.source, task.target)]}
    metrics = {
        "finished": True,
        "gold": len(gold),
        **{name: found[name] for name in METRICS},
        # Here it is known of everybody whether there is a counterpart: a link that touches no gold link is wrong.
        "links": len(scores),
        "links_right": float(right.mean()),
        "links_probability": float(scores.mean()),
        "sure_links": int((scores > SURE).sum()),
        "sure_links_right": float(right[scores > SURE].mean()),
        **{f"seconds_{stage}": round(value, 3) for stage, value in stages.items()},
        "seconds_rounds": rounds,
        "peak_mb": peak_mb(),
        **facts,
    }
    sender.send({"metrics": metrics, "seconds": seconds, "options": dict(run.options)})


if __name__ == "__main__":
    main()
