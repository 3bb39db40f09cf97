"""The decision log: a file that decisions are added to, one write each, safe however a process ends."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kgalign.decisions import Entry, check_half, entries_of, whole_lines
from kgalign.drafts import reason_of, sync_folder
from kgalign.errors import DataError, OptionError


class LogError(OptionError):
    """The file of decisions cannot be read or written while it is in use, whatever is asked of it."""


@dataclass
class DecisionLog:
    """A file of decisions that is open for adding. Several processes may have it open.

    Attributes:
        path: The file.
        entries: Its decisions and undos, as far as they have been read.
        size: The bytes of these.
        lines: The lines of these.
        returned: How many of them `add` and `refresh` have returned.
    """

    path: Path
    entries: list[Entry] = field(default_factory=list)
    size: int = 0
    lines: int = 0
    returned: int = 0

    @classmethod
    def open(cls, path: str | Path) -> DecisionLog:
        """The log in a file, which is made if there is none. Half a line at its end, of a process that was killed, is cut off."""
        log = cls(Path(path).resolve())
        try:
            log.path.parent.mkdir(parents=True, exist_ok=True)
            is_new = not log.path.exists()
            with log._locked(os.O_CREAT) as handle:
                log._catch_up(handle)
                if is_new:
                    os.fsync(handle)
                    sync_folder(log.path.parent)
        except OSError as error:
            raise OptionError(
                f"{log.path}: decisions cannot be kept there ({reason_of(error)}); expected a file that can be written to"
            ) from None
        log.returned = len(log.entries)
        return log

    def add(self, entries: Sequence[Entry]) -> list[Entry]:
        """Adds lines by one write, which is on the disk when this returns. Returns what is new in the file, also from other processes."""
        if not entries:
            return []
        content = "".join(json.dumps(each.as_line(), ensure_ascii=True) + "\n" for each in entries).encode()
        with self._in_use(), self._locked() as handle:
            self._catch_up(handle)
            _write(handle, content, self.size, self.path)
            self._catch_up(handle)
        return self._new()

    def refresh(self) -> list[Entry]:
        """What other processes have added since the last `add` or `refresh`."""
        with self._in_use():
            if self.path.stat().st_size != self.size:
                with self._locked() as handle:
                    self._catch_up(handle)
        return self._new()

    def _new(self) -> list[Entry]:
        new, self.returned = self.entries[self.returned :], len(self.entries)
        return new

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Every failure of the file has one kind, so that whoever sends a decision keeps it until the file is well again."""
        try:
            yield
        except FileNotFoundError:
            raise LogError(f"{self.path}: is gone while it was in use; put it back, or start again to begin a new one") from None
        except OSError as error:
            raise LogError(
                f"{self.path}: cannot be used any more ({reason_of(error)}); expected a file to read and write"
            ) from None
        except DataError as error:
            raise LogError(str(error)) from None

    @contextmanager
    def _locked(self, flags: int = 0) -> Iterator[int]:
        """The open file, which no other process writes to meanwhile."""
        handle = os.open(self.path, os.O_RDWR | os.O_APPEND | flags, 0o644)
        try:
            try:
                import fcntl  # POSIX only; elsewhere one process at a time may have the file open

                fcntl.flock(handle, fcntl.LOCK_EX)
            except ImportError:
                pass
            yield handle
        finally:
            os.close(handle)

    def _catch_up(self, handle: int) -> None:
        """Reads what is new, and cuts off half a line at the end."""
        length = os.fstat(handle).st_size
        if length < self.size:
            raise LogError(
                f"{self.path}: has become shorter while it was in use; expected a file that is only added to; start again to read it anew"
            )
        content = _read(handle, self.size, length - self.size)
        whole = whole_lines(content)
        fresh = entries_of(whole, self.path, self.lines + 1)  # before anything is cut off: it may be another file
        if half := content[len(whole) :]:
            check_half(half, self.path, self.lines + whole.count(b"\n") + 1)
            os.ftruncate(handle, self.size + len(whole))
        elif len(whole) > len(content):
            os.write(handle, b"\n")
        self.entries += fresh
        self.size += len(whole)
        self.lines += whole.count(b"\n")


def _read(handle: int, start: int, count: int) -> bytes:
    """Some bytes of a file."""
    os.lseek(handle, start, os.SEEK_SET)
    blocks = []
    while count and (block := os.read(handle, count)):
        blocks.append(block)
        count -= len(block)
    return b"".join(blocks)


def _write(handle: int, content: bytes, end: int, path: Path) -> None:
    """Adds bytes at the end of a file, all or none, and waits until the disk has them."""
    try:
        if os.write(handle, content) < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)
    except OSError as error:
        os.ftruncate(handle, end)
        raise LogError(
            f"{path}: the decision could not be kept ({reason_of(error)}); expected room for it: free some and decide again"
        ) from None
