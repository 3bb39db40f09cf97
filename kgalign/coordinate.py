"""Easy-to-Hard: accept what the model is sure of, feed it back as evidence, decide the rest, round after round."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kgalign.calibrate import calibrated
from kgalign.data import Alignment, AlignmentTask, Candidates, Floats, hold_out
from kgalign.decode import Decoder, joint
from kgalign.errors import OptionError, check_at_least
from kgalign.models import Model

LEAST_DOUBTFUL = 0.05  # below, a pair says nothing to a model that weighs doubt
MIN_HELD_OUT = 20  # fewer links tell nothing about the others
MIN_NEW_HELD_OUT = 10


@dataclass(frozen=True, eq=False)
class Round:
    """One look of the model at everything known so far, and what was decided from it."""

    number: int
    asked: int  # sources
    candidates: Candidates
    alignment: Alignment  # every decision as it stands after this round
    easy: Alignment  # the decisions that count as known in the next round
    new: int  # easy pairs that were not easy in any round before
    changed: int  # sources whose partner differs from the round before
    held_out: tuple[int, int]  # easy pairs of held-out seeds: how many are right, and how many there are
    new_held_out: tuple[int, int]  # the same of the new ones
    seconds: float
    stopped: str | None  # why this round was the last one

    def summary(self) -> dict[str, Any]:
        """What rounds.jsonl says about it."""
        return {
            "round": self.number,
            "asked": self.asked,
            "easy": len(self.easy),
            "new": self.new,
            "mean_probability": round(float(self.easy.scores.mean()), 4) if len(self.easy) else None,
            "held_out": {"right": self.held_out[0], "easy": self.held_out[1]},
            "new_held_out": {"right": self.new_held_out[0], "easy": self.new_held_out[1]},
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
    min_new: int | None = None,
    max_rounds: int = 10,
    freeze: bool = False,
    everyone: bool = False,
    held_out: float = 0.0,
    seed: int = 0,
    on_round: Callable[[Round], None] | None = None,
) -> Alignment:
    """The alignment of the queries that a fitted model, Easy-to-Hard and a decoder come to together.

    In each round the model sees the seeds and the easy pairs found so far. Easy is a pair that the decoder chose, with a probability
    above alpha, in which each is the other's best. A model that weighs doubt sees every pair that may be right instead, with the mean of
    the probabilities that it gave them in the last two rounds.

    min_new     fewer new easy pairs than this in a round end it (the paper's K: 20). None: as many as suit those who are asked, from 1 of
                a handful over 20 of a thousand to one in a thousand of a million
    max_rounds  how often easy pairs are fed back at most; 0 is plain decoding
    freeze      an easy pair stays one for good, as in the paper. Otherwise each round decides anew, and may take one back
    everyone    looks for easy pairs among all entities without a seed, not only among the queries and the pool: they are evidence too.
                Then the same begins once more with the queries alone, and with all that was learnt
    held_out    the share of the seeds that is asked instead of told at first: they show how many of the easy pairs are right, a round
                whose new ones are wrong more often than right is the last and is not believed, and they tell what the scores mean as
                probabilities. Then the same begins once more with all seeds told
    seed        draws those that are held out
    """
    check_options(alpha, min_new, max_rounds, held_out)
    wide, check = _asking_more(task, everyone, held_out, seed) if max_rounds else (task, Alignment.empty())
    easy = evidence = answer = Alignment.empty()
    ever_easy = np.empty(0, np.int64)
    meaning: tuple[float, float] | None = None
    history: list[dict[str, Any]] = []
    for asked in (task,) if wide is task else (wide, task):
        rounds, stopped = 0, None
        while stopped is None:
            began = time.perf_counter()
            scored = model.predict(asked, asked.seeds + _apart(evidence, asked.seeds))
            candidates = scored if meaning is None else replace(scored, temperature=meaning[0], nobody=meaning[1])
            before, answer, found = answer, decode(candidates), Alignment.empty()
            if max_rounds:
                found = easy_pairs(candidates, alpha)
                found = _dated(found.where(np.isin(found.keys, answer.keys)), easy, len(history) + 1)
                if freeze:
                    kept = easy.where(np.isin(easy.sources, asked.queries) & np.isin(easy.targets, asked.pool))
                    found = kept + _apart(found, kept)
                answer = _with_easy(found, answer, candidates, decode, freeze)
            fresh = found.where(~np.isin(found.keys, ever_easy))
            checked, fresh_checked = (_right_and_all(pairs, check) for pairs in (found, fresh))
            least = min_new or _enough(len(asked.queries))
            stopped = _why_stop(rounds, max_rounds, len(fresh), least, fresh_checked)
            turn = Round(
                number=len(history) + 1,
                asked=len(asked.queries),
                candidates=candidates,
                alignment=answer,
                easy=found,
                new=len(fresh),
                changed=_changed(before.where(np.isin(before.sources, asked.queries)), answer) if history else 0,
                held_out=checked,
                new_held_out=fresh_checked,
                seconds=time.perf_counter() - began,
                stopped=stopped,
            )
            rounds += 1
            history.append(turn.summary())
            if not _mostly_wrong(fresh_checked):
                easy, ever_easy = found, np.union1d(ever_easy, found.keys)
                elsewhere, here = _split(evidence, asked)
                weighs_doubt = getattr(model, "weighs_doubt", False) and not freeze
                evidence = elsewhere + (_mean(here, _doubtful_pairs(scored)) if weighs_doubt else easy)
            if on_round:
                on_round(turn)
        if len(check) and not np.isfinite(
            scored.nobody
        ):  # else the model itself says who may have nobody: all of these have somebody
            fitted = calibrated(scored, check)
            meaning = fitted.temperature, fitted.nobody
        check = Alignment.empty()
    order = np.argsort(answer.sources, kind="stable")
    return replace(answer.where(order), record={**answer.record, "rounds": history})


def check_options(alpha: float, min_new: int | None, max_rounds: int, held_out: float = 0.0) -> None:
    """Refuses what `coordinate` cannot work with."""
    if not 0 < alpha < 1:
        raise OptionError(f"alpha={alpha}: expected a probability between 0 and 1")
    if not 0 <= held_out < 1:
        raise OptionError(f"held_out={held_out}: expected a share from 0 to below 1")
    check_at_least(min_new=(1 if min_new is None else min_new, 1), max_rounds=(max_rounds, 0))


def easy_pairs(candidates: Candidates, alpha: float) -> Alignment:
    """The pairs above alpha in which each is the other's best, and nobody else wants the target as much; one-to-one."""
    probabilities = candidates.probabilities()
    rows, slots = np.nonzero(probabilities > alpha)
    targets, values = candidates.targets[rows, slots], probabilities[rows, slots]
    order = np.lexsort((-values, targets))
    rows, slots, targets, values = rows[order], slots[order], targets[order], values[order]
    first = np.ones(len(targets), bool)
    first[1:] = targets[1:] != targets[:-1]
    contested = np.zeros(len(targets), bool)
    contested[:-1] = ~first[1:] & (values[1:] == values[:-1])
    sure = first & ~contested & (values >= probabilities.max(axis=1, initial=0)[rows])
    sure &= np.bincount(rows[sure], minlength=len(candidates))[rows] == 1  # with an alpha below 0.5 a row can be torn between two
    rows, targets, values = rows[sure], targets[sure], values[sure]
    return Alignment(np.column_stack([candidates.queries[rows], targets]), np.clip(values, 0, 1))


def _enough(asked: int) -> int:
    """How many new easy pairs make another round worth its time, where so many are asked."""
    return max(1, min(20, asked // 50), asked // 1000)


def _why_stop(rounds: int, max_rounds: int, fresh: int, least: int, fresh_checked: tuple[int, int]) -> str | None:
    """Why this round is the last one, None if it is not."""
    if max_rounds == 0:
        return "plain decoding"
    if rounds == max_rounds:
        return f"{max_rounds} rounds done"
    if fresh < least:
        return f"{fresh} new easy pairs, fewer than {least}"
    if _mostly_wrong(fresh_checked):
        return f"{fresh_checked[0]} of {fresh_checked[1]} new easy pairs of held-out seeds are right"
    return None


def _mostly_wrong(checked: tuple[int, int]) -> bool:
    """Whether enough pairs were checked, and fewer than half of them are right."""
    right, seen = checked
    return seen >= MIN_NEW_HELD_OUT and right < seen / 2


def _asking_more(task: AlignmentTask, everyone: bool, held_out: float, seed: int) -> tuple[AlignmentTask, Alignment]:
    """The task in which all that has no seed is asked and on offer, if wanted, and some of the seeds too; and those seeds."""
    if everyone:
        queries = np.setdiff1d(np.arange(len(task.source.entities)), task.seeds.sources)
        pool = np.setdiff1d(np.arange(len(task.target.entities)), task.seeds.targets)
        if len(queries) > len(task.queries) or len(pool) > len(task.pool):
            task = replace(task, queries=queries, pool=pool, protocol="open")
    if held_out * len(task.seeds) < MIN_HELD_OUT:
        return task, Alignment.empty()
    return hold_out(task, held_out, seed)


def _with_easy(easy: Alignment, answer: Alignment, candidates: Candidates, decode: Decoder, freeze: bool) -> Alignment:
    """The decisions with the easy pairs among them.

    Where those are not the decoder's own, or others took their targets, the rest is decided again without what they have taken.
    """
    taken = np.isin(answer.targets, easy.targets).sum() > len(easy)
    if freeze or taken:
        rest = decode(_withdraw(candidates, easy))
        # What is left of a row is no surer for what was taken out of it.
        rest = replace(rest, scores=np.minimum(rest.scores, _probabilities_of(rest, candidates)))
        return replace(easy + rest, record=rest.record)
    rest = answer.where(~np.isin(answer.sources, easy.sources))
    return replace(easy + rest, record=answer.record)


def _probabilities_of(pairs: Alignment, candidates: Candidates) -> Floats:
    """(n,) what the candidates say of each of these pairs, which are among them."""
    order = np.argsort(candidates.queries)
    rows = order[np.searchsorted(candidates.queries, pairs.sources, sorter=order)]
    return np.where(candidates.targets[rows] == pairs.targets[:, None], candidates.probabilities()[rows], 0).sum(axis=1)


def _doubtful_pairs(candidates: Candidates) -> Alignment:
    """Every pair that may be right, with its probability; what is claimed by several is shared among them."""
    probabilities = candidates.probabilities()
    rows, slots = np.nonzero(probabilities > LEAST_DOUBTFUL)
    targets, values = candidates.targets[rows, slots], probabilities[rows, slots]
    if len(targets):
        values = values / np.maximum(np.bincount(targets, values), 1)[targets]
    return Alignment(np.column_stack([candidates.queries[rows], targets]), np.clip(values, 0, 1))


def _mean(before: Alignment, now: Alignment) -> Alignment:
    """The mean of what two rounds found probable, which keeps them from going round in circles."""
    if not len(before):
        return now
    both = before + now
    keys, first, where = np.unique(both.keys, return_index=True, return_inverse=True)
    scores = np.bincount(where, both.scores / 2, len(keys))
    return Alignment(both.pairs[first], np.minimum(scores, 1)).where(scores > LEAST_DOUBTFUL)


def _split(evidence: Alignment, asked: AlignmentTask) -> tuple[Alignment, Alignment]:
    """The pairs of entities that were not asked and not on offer, which stand as they are, and the others."""
    here = np.isin(evidence.sources, asked.queries) | np.isin(evidence.targets, asked.pool)
    return evidence.where(~here), evidence.where(here)


def _apart(found: Alignment, known: Alignment) -> Alignment:
    """The pairs that touch no entity of those known."""
    return found.where(~np.isin(found.sources, known.sources) & ~np.isin(found.targets, known.targets))


def _right_and_all(found: Alignment, check: Alignment) -> tuple[int, int]:
    """Of the pairs that touch an entity to check, how many are right, and how many there are."""
    checked = found.where(np.isin(found.sources, check.sources) | np.isin(found.targets, check.targets))
    return int(np.isin(checked.keys, check.keys).sum()), len(checked)


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
