"""Easy-to-Hard: accept what the model is sure of, feed it back as evidence, decide the rest, round after round."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates
from kgalign.decode import Decoder, joint
from kgalign.errors import OptionError, check_at_least
from kgalign.models import Model


@dataclass(frozen=True, eq=False)
class Round:
    """One look of the model at everything known so far, and what was decided from it."""

    number: int
    candidates: Candidates
    alignment: Alignment  # every decision as it stands after this round
    easy: Alignment  # the decisions that count as known in the next round
    new: int  # easy pairs that were not easy in any round before
    changed: int  # sources whose partner differs from the round before
    seconds: float
    stopped: str | None  # why this round was the last one

    def summary(self) -> dict[str, Any]:
        """What rounds.jsonl says about it."""
        return {
            "round": self.number,
            "easy": len(self.easy),
            "new": self.new,
            "mean_probability": round(float(self.easy.scores.mean()), 4) if len(self.easy) else None,
            "changed": self.changed,
            "matched": len(self.alignment),
            "seconds": round(self.seconds, 3),
            "stopped": self.stopped,
        }


def coordinate(
    model: Model,
    task: AlignmentTask,
    *,
    decode: Decoder = joint,
    alpha: float = 0.5,
    min_new: int = 20,
    max_rounds: int = 10,
    freeze: bool = False,
    everyone: bool = False,
    on_round: Callable[[Round], None] | None = None,
) -> Alignment:
    """The alignment of the queries that a fitted model, Easy-to-Hard and a decoder come to together.

    In each round the model sees the seeds and the easy pairs found so far. Easy is a pair that the decoder chose, with a probability
    above alpha, in which each is the other's best; the rest is decided again without what the easy ones have taken.

    min_new     fewer new easy pairs than this in a round end it (the paper's K)
    max_rounds  how often easy pairs are fed back at most; 0 is plain decoding
    freeze      an easy pair stays one for good, as in the paper. Otherwise each round decides anew, and may take one back
    everyone    looks for easy pairs among all entities without a seed, not only among the queries and the pool: they are evidence too.
                A last look decides for the queries
    """
    check_options(alpha, min_new, max_rounds)
    asked = _asking_everyone(task) if everyone and max_rounds else task
    easy = answer = Alignment.empty()
    ever_easy = np.empty(0, np.int64)
    history: list[dict[str, Any]] = []
    stopped = None
    while stopped is None or asked is not task:
        if stopped is not None:
            asked = task  # all that could be learnt is learnt: now the queries, among the targets on offer
        began = time.perf_counter()
        candidates = model.predict(asked, task.seeds + easy)
        before, answer, found = answer, decode(candidates), Alignment.empty()
        if max_rounds:
            found = easy_pairs(candidates, alpha)
            found = _dated(found.where(np.isin(found.keys, answer.keys)), easy, len(history) + 1)
            if freeze:
                kept = easy.where(np.isin(easy.sources, asked.queries) & np.isin(easy.targets, asked.pool))
                found = kept + found.where(~np.isin(found.sources, kept.sources) & ~np.isin(found.targets, kept.targets))
            rest = decode(_withdraw(candidates, found))
            answer = replace(found + rest, record=rest.record)
        new = int((~np.isin(found.keys, ever_easy)).sum())
        ever_easy = np.union1d(ever_easy, found.keys)
        if stopped is not None:
            stopped = "decided for the queries"
        elif len(history) == max_rounds:
            stopped = "plain decoding" if max_rounds == 0 else f"{max_rounds} rounds done"
        elif new < min_new:
            stopped = f"{new} new easy pairs, fewer than {min_new}"
        easy = found
        changed = _changed(before, answer) if history else 0
        turn = Round(len(history) + 1, candidates, answer, easy, new, changed, time.perf_counter() - began, stopped)
        history.append(turn.summary())
        if on_round:
            on_round(turn)
    order = np.argsort(answer.sources, kind="stable")
    return replace(answer.where(order), record={**answer.record, "rounds": history})


def check_options(alpha: float, min_new: int, max_rounds: int) -> None:
    """Refuses what `coordinate` cannot work with."""
    if not 0 < alpha < 1:
        raise OptionError(f"alpha={alpha}: expected a probability between 0 and 1")
    check_at_least(min_new=(min_new, 1), max_rounds=(max_rounds, 0))


def easy_pairs(candidates: Candidates, alpha: float) -> Alignment:
    """The pairs above alpha in which each is the other's best, and nobody else wants the target as much; one-to-one."""
    rows, slots = candidates.edges()
    probabilities = candidates.probabilities()
    targets, values = candidates.targets[rows, slots], probabilities[rows, slots]
    order = np.lexsort((-values, targets))
    rows, slots, targets, values = rows[order], slots[order], targets[order], values[order]
    first = np.ones(len(targets), bool)
    first[1:] = targets[1:] != targets[:-1]
    contested = np.zeros(len(targets), bool)
    contested[:-1] = ~first[1:] & (values[1:] == values[:-1])
    sure = first & ~contested & (values > alpha) & (values >= probabilities[rows].max(axis=1, initial=0))
    sure &= np.bincount(rows[sure], minlength=len(candidates))[rows] == 1  # with an alpha below 0.5 a row can be torn between two
    rows, targets, values = rows[sure], targets[sure], values[sure]
    return Alignment(np.column_stack([candidates.queries[rows], targets]), np.clip(values, 0, 1))


def _asking_everyone(task: AlignmentTask) -> AlignmentTask:
    """The task itself where everything without a seed is asked and on offer already; else one in which it is."""
    queries = np.setdiff1d(np.arange(len(task.source.entities)), task.seeds.sources)
    pool = np.setdiff1d(np.arange(len(task.target.entities)), task.seeds.targets)
    if len(queries) == len(task.queries) and len(pool) == len(task.pool):
        return task
    return replace(task, queries=queries, pool=pool, protocol="open")


def _withdraw(candidates: Candidates, easy: Alignment) -> Candidates:
    """The candidates of the sources that are not easy, without the targets that the easy ones have taken."""
    rest = ~np.isin(candidates.queries, easy.sources)
    targets, scores = candidates.targets[rest], candidates.scores[rest]
    gone = np.isin(targets, easy.targets) | (targets < 0)
    scores = np.where(gone, -np.inf, scores)
    order = np.argsort(-scores, axis=1, kind="stable")
    targets = np.take_along_axis(np.where(gone, -1, targets), order, axis=1)
    return replace(candidates, queries=candidates.queries[rest], targets=targets, scores=np.take_along_axis(scores, order, axis=1))


def _dated(found: Alignment, easy: Alignment, number: int) -> Alignment:
    """The same pairs, each with the round since which it has been easy without a break."""
    since = dict(zip(easy.keys.tolist(), easy.rounds.tolist(), strict=True))
    rounds = np.array([since.get(key, number) for key in found.keys.tolist()], np.int64)
    return replace(found, rounds=rounds)


def _changed(before: Alignment, after: Alignment) -> int:
    """How many sources have another partner, or have one now and had none, or the other way round."""
    stayed = np.intersect1d(before.keys, after.keys).size
    return int(np.union1d(before.sources, after.sources).size - stayed)
