"""The rounds of a run that is not over yet: kept beside its folder, so that a process that is killed loses one round at most."""

from __future__ import annotations

import logging
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock, Timer

from kgalign.data import Alignment, Candidates
from kgalign.drafts import lock, reason_of, sync_folder, unlock
from kgalign.errors import KgalignError, OptionError, one_line
from kgalign.reasoning import HeldOut, Round, State
from kgalign.reasoning.calibration import Rescaling, Sharpening
from kgalign.runs.stored_values import restore, store
from kgalign.version import __version__

logger = logging.getLogger(__name__)
ROUND, NEW = "round.npz", "round.new"
LONG = 60.0  # seconds: the rounds of runs that take longer are kept without being asked for
LIBRARIES = ("numpy", "scipy", "numba", "torch")  # whose versions may change the last digits of a probability
STORED = (Alignment, Candidates, HeldOut, Round, State, Rescaling, Sharpening)


@dataclass(frozen=True)
class KeptRounds:
    """Where and when the rounds of a run are kept.

    Attributes:
        folder: The folder that the run will be written to. The rounds are in a hidden folder beside it until then.
        after: Seconds from which on rounds are kept.
        must_fit: Refuses rounds that another run has left there. Otherwise they are replaced.
    """

    folder: Path
    after: float = 0.0
    must_fit: bool = True

    @property
    def place(self) -> Path:
        """The hidden folder with the rounds."""
        return place_of_rounds(self.folder)

    @contextmanager
    def open(self, key: Callable[[], Mapping[str, str]]) -> Iterator[Keeper]:
        """What keeps the rounds while the block runs.

        Args:
            key: What the run is known by, see `run_key`. It is computed when it is needed.
        """
        keeper = Keeper(self, key)
        try:
            if self.must_fit:
                keeper.know()
            keeper.found = keeper.read()
            yield keeper
        except KeyboardInterrupt:
            keeper.say_what_is_kept()
            raise
        finally:
            keeper.close()


@dataclass
class Keeper:
    """Keeps the state after each round, and has that of an earlier process."""

    options: KeptRounds
    key: Callable[[], Mapping[str, str]]
    began: float = field(default_factory=time.monotonic)
    known_by: Mapping[str, str] | None = None
    handle: int | None = None
    found: State | None = None
    failed: bool = False
    rounds: int = 0
    last: State | None = None  # which is not written yet
    timer: Timer | None = None
    mutex: Lock = field(default_factory=Lock)

    def know(self) -> None:
        """Refuses at once a run that another process could not know again."""
        try:
            self._known_by()
        except OptionError as error:
            raise OptionError(f"`resume`: rounds of this run cannot be kept: {error}") from None

    def load(self) -> State | None:
        """The state after the last round that an earlier process has kept, if it is of this run."""
        return self.found

    def read(self) -> State | None:
        """The same, from its file."""
        path = self.options.place / ROUND
        if not path.is_file():
            return None
        try:
            self.handle = lock(self.options.place)
        except BlockingIOError:
            self.failed = True
            self._refuse("another process keeps its rounds there")
            return None
        try:
            with path.open("rb") as file:
                known_by, state = restore(file, STORED)
            if not isinstance(known_by, dict) or not isinstance(state, State):
                raise ValueError("it holds something else")
        except (ValueError, OSError) as error:
            self._refuse(f"the round kept there cannot be read ({one_line(str(error), 120)})")
            return None
        try:
            own = dict(self._known_by())
        except KgalignError as error:
            self._give_up(str(error))
            return None
        if other := [name for name in own | known_by if own.get(name) != known_by.get(name)]:
            self._refuse(f"the round kept there is of another run, which differs in: {', '.join(other)}")
            return None
        self.rounds = len(state.rounds)
        logger.info("going on after round %d, which an earlier process has kept", self.rounds)
        return state

    def keep(self, state: State) -> None:
        """Keeps a state in place of the one before: at once, or as soon as the run has taken so long that rounds are kept."""
        with self.mutex:
            self.last = state
        after = self.options.after if self.found is None else 0.0  # a run that goes on has taken long already
        wait = after - (time.monotonic() - self.began)
        if wait <= 0:
            self._write()
        elif self.timer is None:
            self.timer = Timer(wait, self._write)
            self.timer.daemon = True
            self.timer.start()

    def close(self) -> None:
        """Keeps no more."""
        if self.timer is not None:
            self.timer.cancel()
        with self.mutex:  # the timer may be writing
            self.last = None
        unlock(self.handle)

    def _write(self) -> None:
        """Writes the last state, whole or not at all."""
        place = self.options.place
        with self.mutex:
            if self.failed or self.last is None:
                return
            try:
                known_by = dict(self._known_by())
                place.mkdir(parents=True, exist_ok=True)
                if self.handle is None:
                    self.handle = lock(place)
                with (place / NEW).open("wb") as file:
                    store((known_by, self.last), file)
                    file.flush()
                    os.fsync(file.fileno())
                (place / NEW).replace(place / ROUND)
                sync_folder(place)
                self.rounds = len(self.last.rounds)
            except (OSError, KgalignError) as error:
                self._give_up(reason_of(error) if isinstance(error, OSError) else str(error))
            self.last = None

    def say_what_is_kept(self) -> None:
        """Says after an interruption where the run would go on."""
        if self.rounds:
            logger.warning("round %d is kept in %s: the same command goes on from there", self.rounds, self.options.place)

    def _known_by(self) -> Mapping[str, str]:
        if self.known_by is None:
            self.known_by = self.key()
        return self.known_by

    def _give_up(self, reason: str) -> None:
        self.failed = True
        logger.warning("%s: rounds cannot be kept (%s); the run goes on without", self.options.place, reason)

    def _refuse(self, reason: str) -> None:
        place = self.options.place
        if self.options.must_fit:
            raise OptionError(
                f"{place}: {reason}; expected the same graphs, options and versions. Without `resume` the run begins anew"
            )
        logger.info("%s: %s; the run begins anew", place, reason)


def run_key(parts: Mapping[str, str]) -> dict[str, str]:
    """What a run is known by: its parts, such as hashes of its task and its options, and the versions of what computes it."""
    versions = {name: found for name in LIBRARIES if (found := _version(name))}
    return {**parts, "kgalign": __version__, "python": platform.python_version(), **versions}


def place_of_rounds(folder: str | Path) -> Path:
    """The hidden folder with the rounds of a run that will be written to a folder."""
    folder = Path(folder).resolve()
    return folder.with_name(f".{folder.name}.rounds")


def forget_rounds(folder: str | Path) -> None:
    """Removes the rounds that are kept for a run folder."""
    shutil.rmtree(place_of_rounds(folder), ignore_errors=True)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
