"""How fast GM is: pairs scored in a second, seconds of training, and how much faster a later round is than the first.

python -m benchmarks.measure.gm_speed [pair ...] [--device cuda]
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise

from benchmarks.results import DATA, add
from kgalign import coordinate, read
from kgalign.bench.decisions import ROUNDS, paper_rules
from kgalign.bench.plan import Plan
from kgalign.bench.results import hardware
from kgalign.bench.trainings import named_options
from kgalign.datasets import demo
from kgalign.evaluate import evaluate
from kgalign.models.gm import GraphMatching


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", default=["zh_en"])
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    for pair in given.pairs:
        measure(pair, given.device)


def measure(pair: str, device: str) -> None:
    """Adds a line for a pair of DBP15K, or for one of the demos, such as demo_fr_en."""
    is_demo = pair.startswith("demo_")
    task, gold = demo(pair.removeprefix("demo_")) if is_demo else read(DATA / "dbp15k" / pair)
    fitted = GraphMatching(device=device, word_vectors=None if is_demo else Plan(DATA).word_vectors).fit(task)
    fitted.predict(task, task.seeds)  # warms up
    fresh = fitted.changed().for_task(task)  # remembers no scores yet
    assert fresh.prepared is not None
    scorer = fresh.prepared.scorer
    totals = [0]
    began = time.perf_counter()
    reasoning = coordinate(fresh, task, paper_rules("greedy", ROUNDS), lambda *_: totals.append(scorer.scored))
    seconds = time.perf_counter() - began
    scored = [after - before for before, after in pairwise(totals)]
    metrics = {
        "training_seconds": sum(epoch["seconds"] for epoch in fitted.history),
        "epochs": len(fitted.history),
        "pairs_per_second": scored[0] / reasoning.rounds[0].seconds,
        "round_seconds": [round(figures.seconds, 3) for figures in reasoning.rounds],
        "round_pairs": scored,
        "hits@1": evaluate(reasoning.alignment, gold, protocol=task.protocol)["hits@1"],
    }
    options = {"model": "gm", **named_options(fitted.options)}
    add("gm_speed", "GM-EHD", pair, metrics, seconds=seconds, options=options, machine=hardware(device))


if __name__ == "__main__":
    main()
