"""How fast gm is: pairs scored a second, seconds of training, and how much cheaper a later round is than the first.

python -m benchmarks.gm_speed [pair ...] [--device cuda]
"""

from __future__ import annotations

import argparse
import time

from benchmarks.results import DATA, add
from kgalign import coordinate, demo, evaluate, make_decoder, make_model, read
from kgalign.bench.decisions import ALPHA, ROUNDS
from kgalign.bench.plan import Plan
from kgalign.bench.results import hardware
from kgalign.bench.systems import told_options
from kgalign.reasoning.easy_to_hard import Round


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", default=["zh_en"])
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    for pair in given.pairs:
        measure(pair, given.device)


def measure(pair: str, device: str) -> None:
    is_demo = pair.startswith("demo_")
    task, gold = demo(pair.removeprefix("demo_")) if is_demo else read(DATA / "dbp15k" / pair)
    fitted = make_model("gm", device=device, word_vectors=None if is_demo else Plan(DATA).word_vectors).fit(task)
    fitted.predict(task, task.seeds)  # warms up
    model = fitted.changed()
    scorer = model._scorer(task)
    turns: list[tuple[float, int]] = []

    def note(turn: Round) -> None:
        turns.append((turn.seconds, scorer.scored))

    began = time.perf_counter()
    alignment = coordinate(model, task, decode=make_decoder("greedy"), alpha=ALPHA, max_rounds=ROUNDS, on_round=note)
    seconds = time.perf_counter() - began
    scored = [now - before for (_, now), (_, before) in zip(turns, [(0.0, 0), *turns[:-1]], strict=True)]
    metrics = {
        "training_seconds": sum(turn["seconds"] for turn in model.history),
        "epochs": len(model.history),
        "pairs_per_second": scored[0] / turns[0][0],
        "round_seconds": [round(took, 3) for took, _ in turns],
        "round_pairs": scored,
        "hits@1": evaluate(alignment, gold, protocol=task.protocol)["hits@1"],
    }
    options = {"model": "gm", **told_options(model)}
    add("gm_speed", "GM-EHD", pair, metrics, seconds=seconds, options=options, machine=hardware(device))


if __name__ == "__main__":
    main()
