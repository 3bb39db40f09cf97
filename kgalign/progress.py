"""The progress of an alignment: what callbacks are told, and a bar on terminals and in notebooks."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

logger = logging.getLogger(__name__)
REDRAWN_EVERY = 0.2  # seconds between two blocks in a notebook
LOG_EVERY = 30.0  # seconds between two lines in a log
Stage = Literal["fit", "rounds", "evaluate", "done"]


@dataclass(frozen=True)
class Progress:
    """Where an alignment stands.

    Attributes:
        stage: `fit`: the model is fitted. `rounds`: the links are found. `evaluate`: gold links measure them. `done`: all is over.
        round: The number of rounds that are over.
        done: The confident links of the last round.
        total: The queries of the last round. There may be more or fewer in the next one.
        seconds: The time since the alignment began.
        step: What is being done, inside a stage or a round; empty between them.
        part: The share of the blocks of the step that is done, from 0 to 1; None: it has no blocks.
        left: About how many seconds the alignment still takes, by the rounds so far or by the sizes of the graphs; None: nothing says so.
    """

    stage: Stage
    round: int
    done: int
    total: int
    seconds: float
    step: str = ""
    part: float | None = None
    left: float | None = None

    @property
    def share(self) -> float | None:
        """How far a bar is, from 0 to 1: by the time that is left or, where nothing says so, by the blocks of the step."""
        if self.stage in ("evaluate", "done"):
            return 1.0
        return self.seconds / (self.seconds + self.left) if self.left else self.part

    def __str__(self) -> str:
        text = self._stage()
        if self.step:
            text += f"; {self.step}" + ("" if self.part is None else f" {self.part:.0%}")
        return text if not self.left else f"{text}; about {duration(self.left)} left"

    def _stage(self) -> str:
        if self.stage == "fit":
            return "fitting the model"
        if not self.round:
            return "first round"
        rounds = f"{self.round} {'round' if self.round == 1 else 'rounds'}"
        return f"{rounds}, {self.done:,} confident links of {self.total:,} queries"


def duration(seconds: float) -> str:
    """A time in words, as exact as an estimate deserves: seconds up to a minute and a half, then minutes, then hours."""
    if seconds < 90:
        return f"{max(5, 5 * round(seconds / 5))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


OnProgress = Callable[[Progress], None]


@contextmanager
def watched(progress: bool | OnProgress) -> Iterator[OnProgress]:
    """The callback that was given, or one that shows a bar where it is True, or one that does nothing."""
    if progress is True:
        with shown_progress() as show:
            yield show
    else:
        yield progress or _ignore


@contextmanager
def shown_progress(console: Any = None) -> Iterator[OnProgress]:
    """A callback that shows a bar: on a terminal by itself, in a notebook below the cell. Elsewhere the log gets a line every half minute.

    Args:
        console: The console of rich to draw on; None: one of its own, on stderr.
    """
    if console is None and _in_notebook():
        yield _notebook_bar()
        return
    from rich.console import Console  # slow to import

    console = console or Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _log_line()
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()
    with Bars(*columns, console=console, transient=True) as bars:
        bar = bars.add_task("aligning", total=None)

        def show(progress: Progress) -> None:
            bars.update(bar, description=str(progress), completed=progress.share, total=None if progress.share is None else 1)

        yield show


def _ignore(progress: Progress) -> None:
    """Shows nothing."""


def _log_line() -> OnProgress:
    """A callback that writes where the alignment stands to the log, now and then."""
    last = time.monotonic()

    def log(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= LOG_EVERY and progress.stage != "done":
            last = time.monotonic()
            logger.info("%s", progress)

    return log


def _in_notebook() -> bool:
    """Whether the code runs in a cell of a notebook, which can show HTML."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell else None
    return running is not None and hasattr(running, "kernel")


def _notebook_bar() -> OnProgress:
    """A callback that draws one bar and changes it, with HTML alone: ipywidgets are not needed."""
    from IPython.display import HTML, display

    handle = display(HTML(""), display_id=True)
    last = float("-inf")

    def show(progress: Progress) -> None:
        nonlocal last
        if progress.part is not None and time.monotonic() - last < REDRAWN_EVERY:
            return  # a notebook keeps every message for a while
        last = time.monotonic()
        value = "" if progress.share is None else f'value="{progress.share:.3f}"'
        text = f"{'done: ' if progress.stage == 'done' else ''}{progress}, {progress.seconds:.1f} s"
        handle.update(HTML(f'<progress style="width:16em;vertical-align:middle" {value}></progress> {escape(text)}'))

    return show
