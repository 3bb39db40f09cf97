"""One decision of a fitted model, measured: with or without Easy-to-Hard, greedy or joint."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kgalign.bench.results import Line, hardware, make_line
from kgalign.bench.systems import Case
from kgalign.bench.trainings import device_of, named_options
from kgalign.data import Alignment, AlignmentTask
from kgalign.decoding.decoders import greedy
from kgalign.evaluate import evaluate, reliability
from kgalign.reasoning import Rules, coordinate
from kgalign.seams import FittedModel, Model

ALPHA = 0.75  # the paper's
ROUNDS = 20
VARIANTS = {"": ("greedy", 0), "-JEA": ("joint", 0), "-EHD": ("greedy", ROUNDS), "-EHD-JEA": ("joint", ROUNDS)}
FIGURES = ("hits@1", "hits@10", "mrr", "candidate_recall", "many_to_one", "ece", "accuracy_above_0.9", "pairs_above_0.9")


@dataclass(frozen=True, eq=False)
class Measured:
    """The links of a decision, their figures, and the seconds that it took."""

    alignment: Alignment
    metrics: dict[str, Any]
    seconds: float


def paper_rules(decoder: str, rounds: int, *, alpha: float = ALPHA, all_entities: bool = False) -> Rules:
    """The rules of the paper's tables: confident links among the test entities, and no seed held out."""
    return Rules(decoder=decoder, alpha=alpha, max_rounds=rounds, all_entities=all_entities, held_out=0.0)


def decide(fitted: FittedModel, task: AlignmentTask, gold: Alignment, rules: Rules) -> Measured:
    """A decision with its figures, hits@1 of every round, and the reliability of probabilities before and after calibration."""
    after_rounds: list[Alignment] = []
    began = time.perf_counter()
    reasoning = coordinate(fitted, task, rules, lambda _, decision: after_rounds.append(decision.alignment))
    seconds = time.perf_counter() - began
    rounds, last = reasoning.rounds, reasoning.candidates
    figures = evaluate(reasoning.alignment, gold, protocol=task.protocol, candidates=last)
    by_round = [evaluate(alignment, gold, protocol=task.protocol)["hits@1"] for alignment in after_rounds]
    metrics = {name: figures[name] for name in FIGURES}
    metrics |= {"rounds": len(rounds), "round_seconds": [round(figures.seconds, 2) for figures in rounds]}
    metrics |= {"round_hits@1": [round(hits, 6) for hits in by_round]}
    metrics |= {"reliability": reliability(greedy(last), gold)}
    metrics |= {"reliability_before": reliability(greedy(replace(last, temperature=1.0, no_match_score=-np.inf)), gold)}
    metrics |= {"alpha": rules.alpha, "confident": rounds[-1].confident}
    return Measured(reasoning.alignment, metrics, seconds)


def add_line(
    case: Case,
    experiment: str,
    row: str,
    model: Model,
    measured: Measured,
    more: Mapping[str, Any] | None = None,
    split: str | None = None,
) -> Line:
    """The line of a decision, which is in the file now.

    Args:
        case: The case that the decision is a variant of.
        experiment: The experiment.
        row: The name of the row.
        model: The options of the model.
        measured: The decision.
        more: Figures to add, such as those of the training.
        split: Where the links are not those of the dataset's split: the name of their split.
    """
    line = make_line(
        experiment,
        row,
        case.dataset.pair,
        {**measured.metrics, **(more or {})},
        seconds=measured.seconds,
        options={"model": case.system.model, "alpha": measured.metrics["alpha"], **named_options(model)},
        split=split or case.dataset.split,
        seed=case.seed,
        machine=hardware(device_of(model)),
    )
    return case.plan.add(line)
