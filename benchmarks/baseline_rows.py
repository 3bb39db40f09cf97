"""The other systems of the paper's Table 2, each alone, with joint decisions, easy-to-hard, and both.

    python -m benchmarks.baseline_rows --systems RDGCN --pairs zh_en --seeds 0 --device cuda --out zh_en.jsonl

`--experiments develop` trains and shows hits@1 on development links alone, with `--set NAME=VALUE` for variants: test links play no part.
`refit` feeds easy pairs back as seeds of a new training, instead of sharing what the network knows of them.
"""

from __future__ import annotations

import argparse
import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.gm_rows import ALPHA, VECTORS, decide, parse_value
from benchmarks.results import DATA, PAIRS, append, hardware
from kgalign import Alignment, AlignmentTask, make_model, read
from kgalign.align import peak_mb

SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {  # as the paper calls them
    "JE": ("je", {}),
    "MTransE": ("mtranse", {}),
    "JAPE": ("jape", {}),
    "IPTransE": ("iptranse", {}),
    "GCN": ("gcn_align", {}),
    "AlignE": ("bootea", {"bootstrap": False}),
    "BootEA": ("bootea", {}),
    "RDGCN": ("rdgcn", {"word_vectors": str(VECTORS)}),
}
VARIANTS = {"": ("greedy", 0), "-JEA": ("joint", 0), "-EHD": ("greedy", 20), "-EHD-JEA": ("joint", 20)}
REFITS = 2  # trainings with easy pairs among the seeds


def main() -> None:
    arguments = parse()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    for pair in arguments.pairs:
        task, gold = read(DATA / "dbp15k" / pair)
        for seed in arguments.seeds:
            for system in arguments.systems:
                name, options = SYSTEMS[system]
                model = make_model(name, **{**options, **arguments.set, "device": arguments.device, "seed": seed})
                began = time.perf_counter()
                fitted = model.fit(task)
                training = {
                    **training_figures(time.perf_counter() - began),
                    "dev_hits@1": max(look["dev_hits@1"] for look in fitted.history),
                }
                training["epochs"] = max(fitted.history, key=lambda look: look["dev_hits@1"])["epoch"]
                for name in arguments.experiments:
                    EXPERIMENTS[name](system + arguments.label, fitted, task, gold, pair, training, arguments.out)


def table2(
    system: str, fitted: Any, task: AlignmentTask, gold: Alignment, pair: str, training: dict[str, Any], out: Path | None
) -> None:
    """The system by itself, with joint decisions, easy-to-hard, and both; test links, closed."""
    for suffix, (decoder, rounds) in VARIANTS.items():
        metrics, seconds = decide(fitted, task, gold, decoder, rounds)
        report("table2", system + suffix, fitted, pair, {**metrics, **training}, seconds, out)


def refit(
    system: str, fitted: Any, task: AlignmentTask, gold: Alignment, pair: str, training: dict[str, Any], out: Path | None
) -> None:
    """Easy pairs become seeds of a new training."""
    learnt = replace(fitted, refit=True)._with(fitted._learnt)
    for suffix, decoder in (("-EHD, refitted", "greedy"), ("-EHD-JEA, refitted", "joint")):
        metrics, seconds = decide(learnt, task, gold, decoder, REFITS)
        report("table2", system + suffix, fitted, pair, {**metrics, **training}, seconds, out)


def develop(
    system: str, fitted: Any, task: AlignmentTask, gold: Alignment, pair: str, training: dict[str, Any], out: Path | None
) -> None:
    """How development links came on, to choose between variants."""
    looks = fitted.history[:: max(1, len(fitted.history) // 20)]
    training["looks"] = [[int(look["epoch"]), round(look["dev_hits@1"], 3)] for look in looks]
    report("baseline_choice", system, fitted, pair, training, training["training_seconds"], out, split="development")


EXPERIMENTS = {"table2": table2, "refit": refit, "develop": develop}


def training_figures(seconds: float) -> dict[str, Any]:
    """What the training took; memory of the GPU where there is one, else of the process."""
    on_gpu = torch.cuda.is_available() and torch.cuda.max_memory_allocated() > 0
    peak = torch.cuda.max_memory_allocated() / 2**20 if on_gpu else peak_mb()
    return {"training_seconds": round(seconds, 1), "training_peak_mb": round(peak)}


def report(
    experiment: str,
    system: str,
    fitted: Any,
    pair: str,
    metrics: dict[str, Any],
    seconds: float,
    out: Path | None,
    split: str = "canonical 30 %",
) -> None:
    options = {name: value for name, value in fitted.options().items() if name != "word_vectors"}
    machine = (
        f"{torch.cuda.get_device_name()}, {hardware()}" if torch.cuda.is_available() and fitted.device != "cpu" else hardware()
    )
    append(
        experiment,
        system,
        pair,
        metrics,
        seconds=seconds,
        options={"model": fitted.name, "alpha": ALPHA, **options},
        split=split,
        seed=fitted.seed,
        machine=machine,
        file=out,
    )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--pairs", nargs="+", default=PAIRS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--experiments", nargs="+", choices=EXPERIMENTS, default=["table2"])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, help="a file for the lines, instead of results.jsonl")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="options of the model")
    parser.add_argument("--label", default="", help="is added to the names of systems")
    arguments = parser.parse_args()
    arguments.set = {name: parse_value(value) for name, _, value in (setting.partition("=") for setting in arguments.set)}
    return arguments


if __name__ == "__main__":
    main()
