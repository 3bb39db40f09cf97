"""The whole line in one call: fit, coordinate, evaluate."""

from __future__ import annotations

import platform
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from kgalign import __version__
from kgalign.calibrate import calibrated
from kgalign.coordinate import MIN_HELD_OUT, Round, coordinate
from kgalign.data import Alignment, AlignmentTask, Candidates, Ints, hold_out
from kgalign.decode import decoder_options, greedy, make_decoder
from kgalign.errors import OptionError
from kgalign.evaluate import evaluate, reliability
from kgalign.models import make_model, model_class, model_options
from kgalign.relations import RelationMatch, relation_matches


@dataclass(frozen=True, eq=False)
class Run:
    """What came out, and how."""

    task: AlignmentTask
    alignment: Alignment
    candidates: Candidates  # as the model scored them in the last round
    metrics: Mapping[str, Any] | None  # None where there are no test links
    options: Mapping[str, Any]
    seconds: Mapping[str, float]
    inputs: Mapping[str, str] = field(default_factory=dict)  # path and SHA-256 of each file that was read
    relations: Sequence[RelationMatch] = ()
    known: Alignment = field(default_factory=Alignment.empty)  # easy pairs of entities that were not asked: evidence all the same
    gold: Alignment | None = None  # what the metrics are measured by, for the report
    reliability: Sequence[Mapping[str, float]] = ()  # how often links are right by probability: by gold, else by held-out seeds

    def report(self) -> dict[str, Any]:
        """What run.json says."""
        return {
            "kgalign": __version__,
            "options": dict(self.options),
            "protocol": self.task.protocol,
            "queries": len(self.task.queries),
            "pool": len(self.task.pool),
            "seeds": len(self.task.seeds),
            "matched": len(self.alignment),
            "unmatched": dict(zip(("source", "target"), map(len, self.task.unmatched(self.alignment)), strict=True)),
            "metrics": dict(self.metrics) if self.metrics is not None else None,
            "decision": {name: value for name, value in self.alignment.record.items() if name != "rounds"},
            "rounds": self.alignment.record["rounds"],
            "seconds": {stage: round(seconds, 3) for stage, seconds in self.seconds.items()},
            "peak_mb": peak_mb(),
            "inputs": dict(self.inputs),
            "reading": {"source": dict(self.task.source.record), "target": dict(self.task.target.record)},
            "versions": {"python": platform.python_version(), "numpy": np.__version__},
        }


def align(
    task: AlignmentTask,
    gold: Alignment | None = None,
    *,
    model: str = "fast",
    decoder: str = "joint",
    easy_to_hard: bool = True,
    alpha: float = 0.5,
    min_new: int | None = None,
    max_rounds: int = 10,
    everyone: bool = True,
    held_out: float = 0.1,
    options: Mapping[str, Any] | None = None,
    load: str | Path | None = None,
    save: str | Path | None = None,
    seed: int = 0,
    bootstrap: int = 0,
    on_round: Callable[[Round], None] | None = None,
) -> Run:
    """Fits a model, decides easy-to-hard and jointly, and measures the result where gold links are given.

    everyone    easy pairs are looked for among all entities, also those that are not asked, see coordinate
    held_out    share of the seeds that shows how many easy pairs are right, see coordinate; not of a model that has learnt from them
    options     of the model and of the decoder, by name
    load, save  a folder with a trained model to use again, and one to keep the trained model in; for models that train
    """
    given = {"seed": seed, **(options or {})}
    # Closed: everybody has a counterpart, so nobody is left alone. Open: what is hardly probable is no link.
    if "unmatched" in decoder_options(decoder):
        given = {**({"fill": True} if task.protocol == "closed" else {"unmatched": 0.1}), **given}
    model_given, decoder_given = sort_options(model, decoder, given)
    unfitted, decode = make_model(model, **model_given), make_decoder(decoder, **decoder_given)
    last: list[Round] = []
    wide: list[tuple[Alignment, Candidates]] = []  # of the last round that asked more: easy pairs, and candidates of held-out seeds

    def remember(turn: Round) -> None:
        last[:] = [turn]
        if turn.asked > len(task.queries):
            wide[:] = [(turn.easy, _rows_of(turn.candidates, check.sources))]
        if on_round:
            on_round(turn)

    check_storable(model, load, save)
    started = time.perf_counter()
    fitted = model_class(model).load(load, **model_given) if load is not None else unfitted.fit(task)
    if save is not None:
        fitted.save(save)
    fit_done = time.perf_counter()
    rounds = max_rounds if easy_to_hard else 0
    held_out = held_out if fitted is unfitted and rounds else 0.0
    check = hold_out(task, held_out, seed)[1] if held_out * len(task.seeds) >= MIN_HELD_OUT else Alignment.empty()
    alignment = coordinate(
        fitted,
        task,
        decode=decode,
        alpha=alpha,
        min_new=min_new,
        max_rounds=rounds,
        everyone=everyone,
        held_out=held_out,
        seed=seed,
        on_round=remember,
    )
    seconds = {"fit": fit_done - started, "coordinate": time.perf_counter() - fit_done}
    alignment = replace(alignment, record={**alignment.record, "decoder": decoder})
    candidates = last[0].candidates
    metrics = None
    if gold is not None and len(gold):
        metrics = evaluate(alignment, gold, protocol=task.protocol, candidates=candidates, bootstrap=bootstrap, seed=seed)
    used = {
        "model": model,
        "model_options": {name: getattr(fitted, name) for name in model_options(model)},
        **({"load": str(load)} if load is not None else {}),
        "temperature": candidates.temperature,
        "decoder": decoder,
        "decoder_options": {**decoder_options(decoder), **decoder_given},
        "easy_to_hard": easy_to_hard,
        "alpha": alpha,
        "min_new": min_new,
        "max_rounds": rounds,
        "everyone": everyone,
        "held_out": held_out,
        "seed": seed,
    }
    return Run(
        task,
        alignment,
        candidates,
        metrics,
        used,
        seconds,
        relations=relation_matches(task, alignment),
        known=_not_asked(wide[0][0], task) if wide else Alignment.empty(),
        gold=gold if gold is not None and len(gold) else None,
        reliability=_reliability(alignment, gold, wide[0][1] if wide else None, check),
    )


def _rows_of(candidates: Candidates, queries: Ints) -> Candidates:
    """The candidates of some of the queries."""
    rows = np.isin(candidates.queries, queries)
    return replace(candidates, queries=candidates.queries[rows], targets=candidates.targets[rows], scores=candidates.scores[rows])


def _reliability(
    alignment: Alignment, gold: Alignment | None, held_out: Candidates | None, check: Alignment
) -> list[dict[str, float]]:
    """How often links are right by probability: those of gold links, else the best candidates of held-out seeds."""
    if gold is not None and len(gold):
        return reliability(alignment, gold)
    if held_out is None or not len(check):
        return []
    told = np.isfinite(held_out.nobody)  # by the model itself who may have nobody
    return reliability(greedy(held_out if told else calibrated(held_out, check)), check)


def _not_asked(easy: Alignment, task: AlignmentTask) -> Alignment:
    """The pairs of which neither was asked, on offer or told."""
    touched = np.isin(easy.sources, task.queries) | np.isin(easy.targets, task.pool)
    told = np.isin(easy.sources, task.seeds.sources) | np.isin(easy.targets, task.seeds.targets)
    return easy.where(~touched & ~told)


def check_storable(model: str, load: str | Path | None, save: str | Path | None) -> None:
    """Refuses to load or save a model that does not train, and to save one where there is a file."""
    if save is not None and Path(save).is_file():
        raise OptionError(f"{save}: is a file; expected a folder to keep the trained model in")
    if (load is not None or save is not None) and not hasattr(model_class(model), "load"):
        raise OptionError(
            f"the model {model} does not train, so there is nothing to load or save: expected one that does, such as gm"
        )


def peak_mb() -> int:
    """The most memory that this process has held so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / 2**20 if sys.platform == "darwin" else peak / 2**10)


def sort_options(model: str, decoder: str, options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options that the model knows and those that the decoder knows; one that neither knows is refused."""
    for_model, for_decoder = model_options(model), decoder_options(decoder)
    for name in options:
        if name not in for_model and name not in for_decoder:
            raise OptionError(
                f"unknown option {name!r}: the model {model} has {', '.join(for_model)}; "
                f"the decoder {decoder} has {', '.join(for_decoder)}"
            )
    return (
        {name: value for name, value in options.items() if name in for_model},
        {name: value for name, value in options.items() if name in for_decoder},
    )
