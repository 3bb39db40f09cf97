"""Blocks of a search as files in a folder that several processes or machines share: for Slurm and other schedulers, without Ray.

The process that aligns, the *join*, writes what the blocks of a search share as plain arrays. *Parts* are processes that wait for such
arrays, map them into memory and write the results of blocks. A block belongs to whoever makes its claim first. The join works on blocks, too,
and takes over those that a part has claimed but does not deliver, so it never depends on a part, and the bytes are always the same.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Any

import numba
import numpy as np
from scipy import sparse

from kgalign.characters import first_line
from kgalign.drafts import reason_of
from kgalign.errors import KgalignError, OptionError
from kgalign.search.candidates import sparse_block
from kgalign.search.engine import LocalThreads
from kgalign.version import __version__

FUNCTIONS: dict[str, Callable[..., Any]] = {"sparse_block": sparse_block}  # which a part may call: files are no code
LEAST_BYTES = 1 << 23  # of what blocks share: less is quicker done here than written
BEAT = 10.0  # seconds between two signs of life of the join
SILENT = 600.0  # seconds without one after which a part ends
PATIENCE = (
    10.0,
    3.0,
)  # seconds, and times the longest block of the join, without a new result after which it takes over blocks of parts
WAIT, LONGEST_WAIT = 0.05, 1.0  # seconds between two looks at the folder: of a part that has nothing to do, more and more
ALIVE, TASK = "alive", "task.json"


@dataclass(frozen=True)
class FolderTasks:
    """Works on blocks together with the parts that look at a folder. See `joined`.

    Attributes:
        folder: A folder of this join alone.
        least_bytes: Searches that share less than this are done by the join alone.
        number: Numbers the searches.
    """

    folder: Path
    least_bytes: int = LEAST_BYTES
    number: Iterator[int] = field(default_factory=count)

    def map(
        self, function: Callable[..., Any], blocks: Sequence[slice], shared: Sequence[Any], *, at_once: int | None = None
    ) -> Iterator[Any]:
        name = next((name for name, known in FUNCTIONS.items() if known is function), None)
        is_over = not self.folder.is_dir()  # such as for explanations afterwards
        if is_over or at_once is not None or name is None or _size(shared) < self.least_bytes:
            yield from LocalThreads().map(function, blocks, shared, at_once=at_once)
            return
        place = self.folder / f"search-{next(self.number):05}"
        try:
            _write_task(place, name, blocks, shared)
        except OSError as error:
            raise OptionError(f"{place}: could not be written ({reason_of(error)}); expected a folder with room") from None
        yield from _Search(place, function, blocks, shared).results()
        shutil.rmtree(place, ignore_errors=True)

    def begin(self, step: str) -> None:
        """Tells nobody."""


@dataclass
class _Search:
    """A search as the join sees it.

    Attributes:
        place: Its folder.
        function: What finds the result of a block.
        blocks: Rows that cover all rows.
        shared: What all blocks need.
        others: The blocks that parts have claimed.
        again: Those of them that are done here after all.
        longest: The seconds of the longest block that was done here.
        delivered: Results of parts at the last check.
        heard: Time of the last new result.
    """

    place: Path
    function: Callable[..., Any]
    blocks: Sequence[slice]
    shared: Sequence[Any]
    others: list[int] = field(default_factory=list)
    again: dict[int, Future[Any]] = field(default_factory=dict)
    longest: float = 0.0
    delivered: int = 0
    heard: float = field(default_factory=time.monotonic)

    def results(self) -> Iterator[Any]:
        """The result of each block, in their order."""
        pool = ThreadPoolExecutor(numba.get_num_threads())
        try:
            for number, result in enumerate(pool.map(self._do_if_free, range(len(self.blocks)))):
                yield self._of_part(number, pool) if result is None else result
        finally:
            pool.shutdown(cancel_futures=True)

    def _do_if_free(self, number: int) -> Any:
        """The result of a block; None: a part has claimed it."""
        if not _claim(self.place, number):
            self.others.append(number)
            return None
        result = self._do(number)
        self.heard = time.monotonic()
        return result

    def _do(self, number: int) -> Any:
        began = time.monotonic()
        result = self.function(self.blocks[number], *self.shared)
        self.longest = max(self.longest, time.monotonic() - began)
        return result

    def _do_again(self, number: int) -> Any:
        found = _result(self.place, number)
        return self._do(number) if found is None else found

    def _of_part(self, number: int, pool: ThreadPoolExecutor) -> Any:
        """The result of a block that a part has claimed: from the part, or from here if parts are silent for too long."""
        while True:
            again = self.again.get(number)
            result = again.result() if again is not None and again.done() else _result(self.place, number)
            if result is not None:
                return result
            self._take_over(number, pool)
            time.sleep(WAIT)

    def _take_over(self, first: int, pool: ThreadPoolExecutor) -> None:
        """Gives each free thread a block, from the first one that is waited for, if parts are silent for too long."""
        now = len(list(self.place.glob("*.npz")))
        if now > self.delivered:
            self.delivered, self.heard = now, time.monotonic()
        if time.monotonic() - self.heard <= max(PATIENCE[0], PATIENCE[1] * self.longest):
            return
        free = numba.get_num_threads() - sum(not each.done() for each in self.again.values())
        left = (at for at in sorted(self.others) if at >= first and at not in self.again)
        self.again |= {at: pool.submit(self._do_again, at) for at in islice(left, free)}


@contextmanager
def joined(folder: Path, least_bytes: int = LEAST_BYTES) -> Iterator[FolderTasks]:
    """The engine of the join while the block runs. The folder is gone afterwards, which ends its parts."""
    shutil.rmtree(folder, ignore_errors=True)  # of a join that was killed
    session, over = f"join-{os.getpid()}-{time.time_ns()}", threading.Event()
    try:
        (folder / session).mkdir(parents=True)
    except OSError as error:
        raise OptionError(f"{folder}: could not be made ({reason_of(error)}); expected a folder that all parts see") from None

    def beat() -> None:
        while True:
            with suppress(OSError):
                _put(folder / ALIVE, json.dumps({"kgalign": __version__, "join": session}).encode())
            if over.wait(BEAT):
                return

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield FolderTasks(folder / session, least_bytes)
    finally:
        over.set()
        thread.join()
        shutil.rmtree(folder, ignore_errors=True)


def work_on_part(folder: Path, part: int, parts: int, tell: Callable[[str], None], silent: float = SILENT) -> int:
    """The number of blocks that this part has done when its join is over.

    Args:
        folder: The folder of the join.
        part: The number of this part, from 1: each part begins at another block.
        parts: How many there are.
        tell: Is told when the join is found, and when it is over.
        silent: Seconds without a sign of life of the join after which the part ends.

    Raises:
        KgalignError: There is no join, or it has died.
    """
    done, sign, heard, wait = 0, None, time.monotonic(), WAIT
    searched: set[Path] = set()  # all of whose blocks are claimed: a claim is never given back
    while True:
        now = _sign(folder)
        if now is None and sign is not None:
            tell(f"part {part}/{parts}: the join is over; {done} blocks were done here")
            return done
        if now != sign:
            if sign is None:
                tell(f"part {part}/{parts}: works for the join in {folder}")
            sign, heard = now, time.monotonic()
        elif time.monotonic() - heard > silent:
            reason = f"no sign of life of a join for {silent:.0f} seconds"
            raise KgalignError(f"{folder}: {reason}; expected `kgalign align ... --join` with the same output")
        for place in sorted(set((folder / sign[0]).glob("search-*")) - searched) if sign is not None else ():
            fresh = _work_on(place, part, parts)
            if fresh is not None:
                searched.add(place)
                done, wait = done + fresh, WAIT
        time.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT)


def _work_on(place: Path, part: int, parts: int) -> int | None:
    """How many blocks of a search this part has done: those that nobody else had claimed. None: the search has not begun, or is over."""
    try:
        task = json.loads((place / TASK).read_text("utf-8"))
        shared = [_from_json(each, place) for each in task["shared"]]
        function, blocks = FUNCTIONS.get(task["function"]), [slice(*each) for each in task["blocks"]]
    except (OSError, ValueError):
        return None
    except (TypeError, LookupError, AttributeError) as error:
        raise OptionError(f"{place / TASK}: expected a search of the join, but {first_line(error)}; align again") from None
    if function is None:
        raise OptionError(f"{place / TASK}: function {task['function']}; expected one of {', '.join(FUNCTIONS)}")
    first = (part - 1) * len(blocks) // parts

    def work(number: int) -> int:
        if not _claim(place, number):
            return 0
        result = function(blocks[number], *shared)
        with suppress(OSError):  # the search is over
            new = place / f"{number}.new"
            with new.open("wb") as file:
                np.savez(file, *result)
            new.replace(place / f"{number}.npz")
        return 1

    with ThreadPoolExecutor(numba.get_num_threads()) as pool:
        return sum(pool.map(work, [*range(first, len(blocks)), *range(first)]))


def _write_task(place: Path, function: str, blocks: Sequence[slice], shared: Sequence[Any]) -> None:
    """Writes what blocks share, and last the file that lets parts begin."""
    place.mkdir()
    names = map(str, count())
    task = {
        "function": function,
        "blocks": [(block.start, block.stop) for block in blocks],
        "shared": [_to_json(each, place, names) for each in shared],
    }
    _put(place / TASK, json.dumps(task).encode())


def _to_json(value: Any, place: Path, names: Iterator[str]) -> Any:
    """A number as it is; arrays as the names of their files."""
    if sparse.issparse(value):
        arrays = [_to_json(each, place, names) for each in (value.data, value.indices, value.indptr)]
        return {"sparse": arrays, "shape": [int(size) for size in value.shape]}
    if isinstance(value, np.ndarray):
        name = f"array-{next(names)}.npy"
        np.save(place / name, value)
        return {"array": name}
    return int(value)


def _from_json(value: Any, place: Path) -> Any:
    """The same value, with its arrays mapped into memory."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.asarray(np.load(place / value["array"], mmap_mode="r"))
    return sparse.csr_array(tuple(_from_json(each, place) for each in value["sparse"]), shape=tuple(value["shape"]))


def _claim(place: Path, number: int) -> bool:
    """Whether a block was nobody's, and is now of this process."""
    try:
        os.close(os.open(place / f"{number}.claim", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    except OSError as error:
        if not place.is_dir():  # the search is over
            return False
        raise OptionError(
            f"{place}: a block could not be claimed ({reason_of(error)}); expected a folder with room that all parts see"
        ) from None
    return True


def _result(place: Path, number: int) -> tuple[Any, ...] | None:
    """What a part has found for a block, None: nothing yet."""
    try:
        with np.load(place / f"{number}.npz", allow_pickle=False) as found:
            return tuple(found[f"arr_{at}"] for at in range(len(found.files)))
    except FileNotFoundError:
        return None
    except Exception:  # of numpy or zipfile: a file system that shows a file before all of it is there
        return None


def _sign(folder: Path) -> tuple[str, int] | None:
    """The folder of the join that is going on, and when it gave its last sign of life."""
    try:
        sign = json.loads((folder / ALIVE).read_text("utf-8"))
        if sign["kgalign"] != __version__:
            raise OptionError(f"{folder}: the join is kgalign {sign['kgalign']}; expected the version of this part, {__version__}")
        return sign["join"], (folder / ALIVE).stat().st_mtime_ns
    except (OSError, ValueError, TypeError, KeyError) as error:
        if isinstance(error, OptionError):
            raise
        return None


def _put(path: Path, content: bytes) -> None:
    """Writes a small file so that others see it whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(content)
    new.replace(path)


def _size(shared: Sequence[Any]) -> int:
    """The bytes of the arrays that blocks share."""
    arrays = [
        each for value in shared for each in ((value.data, value.indices, value.indptr) if sparse.issparse(value) else (value,))
    ]
    return sum(each.nbytes for each in arrays if isinstance(each, np.ndarray))
