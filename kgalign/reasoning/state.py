"""What the rounds of Easy-to-Hard hand on: the figures of a round, its state, and the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates, Ints
from kgalign.errors import DataError
from kgalign.reasoning.calibration import Rescaling, Sharpening

Phase = Literal["first", "grown", "last"]
NO_CANDIDATES = Candidates(np.empty(0, np.int64), np.empty((0, 1), np.int64), np.empty((0, 1)))


@dataclass(frozen=True)
class Round:
    """The figures of one round: the model predicted from everything known so far, and the decoder decided."""

    number: int
    queries: int
    confident: int  # links that count as known in the next round
    new: int  # of them, those that were not confident in any round before
    mean_probability: float | None  # of the confident links
    held_out: tuple[int, int]  # confident links of held-out seeds: how many are right, and how many there are
    new_held_out: tuple[int, int]  # the same for the new ones
    changed: int  # queries whose match differs from the round before
    matched: int
    seconds: float
    stopped: str | None  # why this round was the last one of its phase
    is_wide: bool = False  # whether it belongs to the first of two phases, which matches more entities than the task has

    def __str__(self) -> str:
        right, checked = self.held_out
        held_out = f", {right:,} of {checked:,} held-out seeds right" if checked else ""
        return (
            f"round {self.number}, {self.queries:,} queries: {self.confident:,} confident links ({self.new:,} new{held_out}), "
            f"{self.changed:,} changed, {self.seconds:.1f} s" + (f"; stopped: {self.stopped}" if self.stopped else "")
        )

    def summary(self) -> dict[str, Any]:
        """The line of this round in rounds.jsonl."""
        return {
            "round": self.number,
            "queries": self.queries,
            "confident": self.confident,
            "new": self.new,
            "mean_probability": self.mean_probability,
            "held_out": {"right": self.held_out[0], "confident": self.held_out[1]},
            "new_held_out": {"right": self.new_held_out[0], "confident": self.new_held_out[1]},
            "changed": self.changed,
            "matched": self.matched,
            "seconds": round(self.seconds, 3),
            "stopped": self.stopped,
        }


@dataclass(frozen=True, eq=False)
class Decision:
    """What one round decided."""

    candidates: Candidates
    alignment: Alignment
    confident: Alignment


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out seeds and their candidates, calibrated, from the last round in which they were queries."""

    links: Alignment
    candidates: Candidates


@dataclass(frozen=True, eq=False)
class Reasoning:
    """What `coordinate` returns.

    Attributes:
        alignment: The links of the queries.
        candidates: The candidates of the queries in the last round.
        evidence: The links that the last prediction was given as known, seeds included.
        known: Confident links of entities that are neither queries, nor in the pool, nor seeds.
        rounds: The figures of each round.
        held_out: The held-out seeds, None where none were held out.
        calibrate: What they have taught about probabilities, None where there was nothing to learn.
    """

    alignment: Alignment
    candidates: Candidates
    evidence: Alignment = field(default_factory=Alignment.empty)
    known: Alignment = field(default_factory=Alignment.empty)
    rounds: tuple[Round, ...] = ()
    held_out: HeldOut | None = None
    calibrate: Rescaling | Sharpening | None = None


@dataclass(frozen=True, eq=False)
class State:
    """What one round hands to the next, and one phase to the next. Nothing else is handed on, so a kept state is enough to go on from.

    Attributes:
        phase: `first`: all entities and held-out seeds are queries. `grown`: the same again, from links that have grown from the seeds.
            `last`: only the queries of the task.
        fed_back: The rounds of the phase that are over.
        started: The links that the first phase began with.
        scored: The candidates of the last round, as the model scored them.
        candidates: The same, calibrated.
        alignment: The links of the last round.
        confident: Its confident links.
        evidence: The links that its prediction was given as known.
        found: The links that the next prediction gets as known, beside the seeds.
        ever_confident: (n,) the keys of the links that have been confident in some round.
        rounds: The figures of each round.
        known: Since the last phase began: confident links of entities that are neither queries, nor in the pool, nor seeds.
        check: Since then: the held-out seeds.
        calibrate: Since then: what they have taught about probabilities.
    """

    phase: Phase = "last"
    fed_back: int = 0
    started: int = 0
    scored: Candidates = NO_CANDIDATES
    candidates: Candidates = NO_CANDIDATES
    alignment: Alignment = field(default_factory=Alignment.empty)
    confident: Alignment = field(default_factory=Alignment.empty)
    evidence: Alignment = field(default_factory=Alignment.empty)
    found: Alignment = field(default_factory=Alignment.empty)
    ever_confident: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    rounds: tuple[Round, ...] = ()
    known: Alignment = field(default_factory=Alignment.empty)
    check: HeldOut | None = None
    calibrate: Rescaling | Sharpening | None = None


def check_state(state: State, task: AlignmentTask) -> None:
    """Refuses a state of an earlier process with links of entities that the graphs do not have."""
    links = [state.alignment, state.confident, state.evidence, state.found, state.known]
    pairs = [each.pairs for each in links]
    if state.check is not None:
        rows, slots = state.check.candidates.edges()
        own = state.check.candidates
        pairs += [state.check.links.pairs, np.column_stack([own.queries[rows], own.targets[rows, slots]])]
    sizes = len(task.source.entities), len(task.target.entities)
    if any(len(each) and ((each < 0) | (each >= sizes)).any() for each in pairs):
        raise DataError(
            "the rounds that were kept have links of entities that the graphs do not have; remove them, and align again"
        )


class KeepsRounds(Protocol):
    """Keeps the state after each round, so that a process that is killed loses one round at most."""

    def load(self) -> State | None:
        """The last state that was kept, None where there is none."""
        ...

    def keep(self, state: State) -> None:
        """Keeps a state in place of the one before. It has no candidates: the next round finds them anew."""
        ...
