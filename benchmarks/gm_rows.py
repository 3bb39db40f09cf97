"""GM and its enhanced form: the paper's Table 2 and Table 4, its two options, its last experiment, and how fast it all is.

    python -m benchmarks.gm_rows --pairs zh_en --seeds 0 --experiments table2 table4 --device cuda --out zh_en.jsonl
    python -m benchmarks.gm_rows --pairs demo_fr_en --seeds 0 --experiments speed --device cpu

Two networks are trained for each pair and seed: one without simulated easy pairs (the baseline, and option 1) and one with them (option 2).
Variants are compared with `--experiments choice --set NAME=VALUE`, on development links alone: test links play no part in it.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.results import DATA, PAIRS, append, hardware
from kgalign import Alignment, AlignmentTask, coordinate, demo, evaluate, hold_out, make_decoder, make_model, read
from kgalign.coordinate import Round
from kgalign.errors import OptionError

ALPHA = 0.75  # the paper's
VECTORS = DATA / "glove.6B.100d.dbp15k.txt.gz"
FIGURES = ("hits@1", "hits@10", "mrr", "candidate_recall", "many_to_one", "ece", "accuracy_above_0.9", "pairs_above_0.9")
Report = Callable[..., None]


def main() -> None:
    arguments = parse()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    for pair in arguments.pairs:
        for seed in arguments.seeds:
            task, gold = demo(pair.removeprefix("demo_")) if pair.startswith("demo_") else read(DATA / "dbp15k" / pair)
            trainer = Trainer(task, {**arguments.set, "device": arguments.device, "seed": seed}, arguments.models, pair)
            report = partial(write, arguments.out, arguments.label, pair, seed)
            for name in arguments.experiments:
                EXPERIMENTS[name](task, gold, trainer, report)


def table2(task: AlignmentTask, gold: Alignment, trainer: Trainer, report: Report) -> None:
    """The four systems of the paper's Table 2; test links, closed."""
    baseline, enhanced = trainer.get(simulated=0).changed(seeds_as_evidence=False), trainer.get()
    for system, model, decoder, rounds in (
        ("GM", baseline, "greedy", 0),
        ("GM-JEA", baseline, "joint", 0),
        ("GM-EHD", enhanced, "greedy", 20),
        ("GM-EHD-JEA", enhanced, "joint", 20),
    ):
        report("table2", system, model, *decide(model, task, gold, decoder, rounds))


def table4(task: AlignmentTask, gold: Alignment, trainer: Trainer, report: Report) -> None:
    """What alpha does: rounds and hits@1 on development links."""
    model = trainer.get()
    asked, dev = hold_out(task, model.dev_fraction, model.seed)
    plain = trainer.get(simulated=0).changed(seeds_as_evidence=False)
    report("table4", "GM", plain, *decide(plain, asked, dev, "greedy", 0), split="development")
    for alpha in (0.95, 0.85, 0.75, 0.65):
        decided = decide(model, asked, dev, "greedy", 20, alpha=alpha)
        report("table4", f"GM-EHD alpha={alpha}", model, *decided, split="development")


def choice(task: AlignmentTask, gold: Alignment, trainer: Trainer, report: Report) -> None:
    """All four systems on development links, to choose between variants."""
    baseline, enhanced = trainer.get(simulated=0).changed(seeds_as_evidence=False), trainer.get()
    asked, dev = hold_out(task, enhanced.dev_fraction, enhanced.seed)
    for system, model, decoder, rounds in (
        ("GM", baseline, "greedy", 0),
        ("GM-JEA", baseline, "joint", 0),
        ("GM-EHD", enhanced, "greedy", 20),
        ("GM-EHD-JEA", enhanced, "joint", 20),
    ):
        report("gm_choice", system, model, *decide(model, asked, dev, decoder, rounds), split="development")


def options(task: AlignmentTask, gold: Alignment, trainer: Trainer, report: Report) -> None:
    """Option 1 (k = 0) against option 2, with up to k simulated easy pairs; test links, and development links."""
    for k in (0, 1, 2, 4):
        model = trainer.get(simulated=k)
        asked, dev = hold_out(task, model.dev_fraction, model.seed)
        system = "GM-EHD option 1" if k == 0 else f"GM-EHD option 2, k={k}"
        report("gm_options_dev", system, model, *decide(model, asked, dev, "greedy", 20), split="development")
        report("gm_options", system, model, *decide(model, task, gold, "greedy", 20))


def everyone(task: AlignmentTask, gold: Alignment, trainer: Trainer, report: Report) -> None:
    """Easy pairs among the test entities alone, and among all entities without a seed; with 2 and with 4 simulated pairs."""
    for k in (2, 4):
        for label, all_of_them in (("test entities", False), ("all entities", True)):
            for suffix, decoder in (("", "greedy"), ("-JEA", "joint")):
                model = trainer.get(simulated=k).changed()  # forgets what it has scored: the time counts
                decided = decide(model, task, gold, decoder, 20, everyone=all_of_them)
                report("gm_all_entities", f"GM-EHD{suffix}, {label}, k={k}", model, *decided)


def speed(task: AlignmentTask, gold: Alignment, trainer: Trainer, report: Report) -> None:
    """Pairs scored a second, seconds of training, and how much cheaper a later round is than the first."""
    model = trainer.get().changed()
    model.predict(task, task.seeds)  # warms up
    model = model.changed()
    scorer = model._scorer(task)
    turns: list[tuple[float, int]] = []

    def note(turn: Round) -> None:
        turns.append((turn.seconds, scorer.scored))

    began = time.perf_counter()
    alignment = coordinate(model, task, decode=make_decoder("greedy"), alpha=ALPHA, max_rounds=20, on_round=note)
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
    report("gm_speed", "GM-EHD", model, metrics, seconds)


EXPERIMENTS = {
    "table2": table2,
    "table4": table4,
    "choice": choice,
    "options": options,
    "everyone": everyone,
    "speed": speed,
}


class Trainer:
    """Trained models by their options; each is trained once, or read from a folder where an earlier run has kept it."""

    def __init__(self, task: AlignmentTask, given: dict[str, Any], folder: Path | None, pair: str) -> None:
        words = {} if pair.startswith("demo_") else {"word_vectors": str(VECTORS)}
        self.task, self.given, self.folder, self.pair = task, {**words, **given}, folder, pair
        self.models: dict[int, Any] = {}

    def get(self, simulated: int | None = None) -> Any:
        unfitted = make_model("gm", **self.given if simulated is None else {**self.given, "simulated": simulated})
        if unfitted.simulated not in self.models:
            self.models[unfitted.simulated] = self._train(unfitted)
        return self.models[unfitted.simulated]

    def _train(self, unfitted: Any) -> Any:
        if self.folder is None:
            return unfitted.fit(self.task)
        folder = self.folder / f"{self.pair}-{unfitted.simulated}-{unfitted.seed}"
        if (folder / "gm.json").is_file():
            from kgalign.models.gm_files import training_options

            fitted = type(unfitted).load(folder, device=unfitted.device)
            if training_options(fitted) != training_options(unfitted):
                raise OptionError(f"{folder}: was trained with other options; give another folder for models")
            return fitted
        fitted = replace(unfitted, checkpoint=str(folder)).fit(self.task)
        fitted.save(folder)
        return fitted


def decide(
    model: Any, task: AlignmentTask, gold: Alignment, decoder: str, rounds: int, *, alpha: float = ALPHA, everyone: bool = False
) -> tuple[dict[str, Any], float]:
    """The figures of a decision, and the seconds it took."""
    decode = make_decoder(decoder, **({"fill": True} if decoder == "joint" else {}))
    last: list[Round] = []
    began = time.perf_counter()
    alignment = coordinate(
        model, task, decode=decode, alpha=alpha, max_rounds=rounds, everyone=everyone, on_round=lambda turn: last.append(turn)
    )
    seconds = time.perf_counter() - began
    figures = evaluate(alignment, gold, protocol=task.protocol, candidates=last[-1].candidates)
    metrics = {name: figures[name] for name in FIGURES}
    metrics |= {"rounds": len(last), "round_seconds": [round(turn.seconds, 2) for turn in last]}
    metrics |= {"alpha": alpha, "easy": len(last[-1].easy), "dev_hits@1": max(turn["dev_hits@1"] for turn in model.history)}
    return metrics, seconds


def write(
    out: Path | None,
    label: str,
    pair: str,
    seed: int,
    experiment: str,
    system: str,
    model: Any,
    metrics: dict[str, Any],
    seconds: float,
    split: str = "canonical 30 %",
) -> None:
    """Adds a line; where a label is given, the system is called by it."""
    options = {name: value for name, value in model.options().items() if name not in ("checkpoint", "word_vectors")}
    machine = hardware()
    if next(model._trained.network.parameters()).is_cuda:
        import torch

        machine = f"{torch.cuda.get_device_name()}, {machine}"
    append(
        experiment,
        system + label,
        pair,
        metrics,
        seconds=seconds,
        options={"model": "gm", **options},
        split=split,
        seed=seed,
        machine=machine,
        file=out,
    )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", nargs="+", default=PAIRS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--experiments", nargs="+", choices=EXPERIMENTS, default=list(EXPERIMENTS))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--models", type=Path, help="keeps trained models there, and takes those that are there already")
    parser.add_argument("--out", type=Path, help="a file for the lines, instead of results.jsonl")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="options of the model")
    parser.add_argument("--label", default="", help="is added to the names of systems")
    arguments = parser.parse_args()
    arguments.set = {name: parse_value(value) for name, _, value in (setting.partition("=") for setting in arguments.set)}
    return arguments


def parse_value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


if __name__ == "__main__":
    main()
