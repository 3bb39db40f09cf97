"""One decision of a fitted model, measured: with or without Easy-to-Hard, greedy or joint."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kgalign.bench.results import Line, hardware, make_line
from kgalign.bench.systems import Case, told_options
from kgalign.reasoning.easy_to_hard import Round, coordinate
from kgalign.data import Alignment, AlignmentTask
from kgalign.decoding.decoders import greedy, make_decoder
from kgalign.evaluate import evaluate, reliability

ALPHA = 0.75  # the paper's
ROUNDS = 20
VARIANTS = {"": ("greedy", 0), "-JEA": ("joint", 0), "-EHD": ("greedy", ROUNDS), "-EHD-JEA": ("joint", ROUNDS)}
FIGURES = ("hits@1", "hits@10", "mrr", "candidate_recall", "many_to_one", "ece", "accuracy_above_0.9", "pairs_above_0.9")


@dataclass(frozen=True, eq=False)
class Decision:
    """What was decided, its figures, and the seconds it took."""

    alignment: Alignment
    metrics: dict[str, Any]
    seconds: float


def decide(
    model: Any, task: AlignmentTask, gold: Alignment, decoder: str, rounds: int, *, alpha: float = ALPHA, all_entities: bool = False
) -> Decision:
    """A decision with its figures, hits@1 of every round, and how far probabilities hold before and after calibration."""
    decode = make_decoder(decoder, **({"fill": True} if decoder == "joint" else {}))
    turns: list[Round] = []
    began = time.perf_counter()
    alignment = coordinate(
        model, task, decode=decode, alpha=alpha, max_rounds=rounds, all_entities=all_entities, on_round=lambda turn: turns.append(turn)
    )
    seconds = time.perf_counter() - began
    last = turns[-1].candidates
    figures = evaluate(alignment, gold, protocol=task.protocol, candidates=last)
    by_round = [evaluate(turn.alignment, gold, protocol=task.protocol)["hits@1"] for turn in turns]
    metrics = {name: figures[name] for name in FIGURES}
    metrics |= {"rounds": len(turns), "round_seconds": [round(turn.seconds, 2) for turn in turns]}
    metrics |= {"round_hits@1": [round(hits, 6) for hits in by_round]}
    metrics |= {"reliability": reliability(greedy(last), gold)}
    metrics |= {"reliability_before": reliability(greedy(replace(last, temperature=1.0, no_match_score=-np.inf)), gold)}
    return Decision(alignment, {**metrics, "alpha": alpha, "easy": len(turns[-1].easy)}, seconds)


def write_down(
    case: Case,
    experiment: str,
    row: str,
    model: Any,
    decision: Decision,
    more: Mapping[str, Any] | None = None,
    split: str | None = None,
) -> Line:
    """The line of a decision, as it stands in the file now."""
    line = make_line(
        experiment,
        row,
        case.dataset.pair,
        {**decision.metrics, **(more or {})},
        seconds=decision.seconds,
        options={"model": case.system.model, "alpha": decision.metrics["alpha"], **told_options(model)},
        split=split or case.dataset.split,
        seed=case.seed,
        machine=hardware(getattr(model, "device", "cpu")),
    )
    return case.plan.note(line)
