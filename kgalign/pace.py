"""What a callback for progress is told: each step, how far it is, and how long the rounds will still take."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

from kgalign.progress import OnProgress, Progress, Stage
from kgalign.reasoning import Decision, Round
from kgalign.reasoning.easy_to_hard import PREDICTING, OnRound, enough_new

TYPICAL_ROUNDS = 3  # of a phase, before its own rounds say more


class Pace:
    """The time that each step of a round has taken, and the last progress that was told.

    Args:
        tell: Is told of every change.
        queries: Of the task.
        expected: How many seconds the whole alignment may take, by the sizes of the graphs; None: nothing says so.
    """

    def __init__(self, tell: OnProgress, queries: int, expected: float | None = None) -> None:
        self._tell, self._expected, self._began = tell, expected, time.perf_counter()
        self._last = Progress("fit", 0, 0, queries, 0.0, left=expected)
        self._rounds: list[Round] = []
        self._before: dict[str, float] = {}  # seconds of each step of the round before
        self._steps: dict[str, float] = {}  # of this round, those of the step that is going on not included
        self._step_began = self._began

    @property
    def seconds(self) -> float:
        """The time since the alignment began."""
        return time.perf_counter() - self._began

    def stage(self, stage: Stage) -> None:
        """Tells that a stage begins."""
        self._end_step()
        self._say(replace(self._last, stage=stage, step="", part=None, left=0.0 if stage == "done" else self._left()))

    def step(self, name: str) -> None:
        """Tells that a step begins."""
        self._end_step()
        if name == PREDICTING:
            self._steps = {}
        self._say(replace(self._last, step=name, part=None, left=self._left(name)))

    def block(self, done: int, blocks: int) -> None:
        """Tells how many blocks of the step are done."""
        self._say(replace(self._last, part=done / blocks, left=self._left(self._last.step)))

    def after_round(self, on_round: OnRound | None) -> OnRound:
        """The callback for rounds, which tells of each and calls the user's own."""

        def call(figures: Round, decision: Decision) -> None:
            self._end_step()
            self._before, self._steps = self._steps, {}
            self._rounds.append(figures)
            self._last = replace(self._last, step="", part=None)
            told = replace(self._last, stage="rounds", round=figures.number, done=figures.confident, total=figures.queries)
            self._say(replace(told, left=self._left()))
            if on_round:
                on_round(figures, decision)

        return call

    def _say(self, progress: Progress) -> None:
        if self._last.stage != "done":  # what a model does for explanations later is no progress
            self._last = replace(progress, seconds=self.seconds)
            self._tell(self._last)

    def _end_step(self) -> None:
        now = time.perf_counter()
        if self._last.step and self._last.stage == "rounds":
            self._steps[self._last.step] = self._steps.get(self._last.step, 0.0) + now - self._step_began
        self._step_began = now

    def _left(self, step: str = "") -> float | None:
        """The seconds of the rest of this round, if it takes as long as the one before, and of the rounds that may follow."""
        if not self._rounds:
            return None if self._expected is None else max(0.0, self._expected - self.seconds)
        ahead = sum(seconds for name, seconds in self._before.items() if name not in self._steps and name != step)
        now = max(0.0, self._before.get(step, 0.0) - (time.perf_counter() - self._step_began)) if step else 0.0
        last = self._rounds[-1]
        is_over = last.stopped is not None and not last.is_wide
        return 0.0 if is_over else ahead + now + further_rounds(self._rounds) * sum(self._before.values())


def further_rounds(rounds: Sequence[Round]) -> int:
    """How many rounds may follow the one that is going on, if new confident links go on to become fewer at the same rate."""
    last = rounds[-1]
    if last.stopped:
        return TYPICAL_ROUNDS - 1 if last.is_wide else 0
    phase = [figures for figures in rounds if figures.is_wide == last.is_wide]
    phases_left = TYPICAL_ROUNDS if last.is_wide else 0
    new = [figures.new for figures in phase]
    if len(new) < 2 or not 0 < new[-1] < new[-2]:
        return max(0, TYPICAL_ROUNDS - len(new) - 1) + phases_left
    least = enough_new(last.queries)
    more = math.log(least / new[-1]) / math.log(new[-1] / new[-2])
    return min(max(0, math.floor(more)), 10) + phases_left
