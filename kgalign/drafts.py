"""Drafts: what is written beside its place and moved there when it is whole. The next draft cleans up those of processes that were killed."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kgalign.errors import OptionError

NEW, OLD = "new", "old"  # in a draft: what is being written, and what it is about to replace
RANDOM = "[a-z0-9_]{8}"  # the end of the name of a temporary folder
FREE = 1 << 16  # bytes that can be written at a place that is tried


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """A new folder beside a file or folder that is to be written, in the same file system. It is gone after the block.

    It is locked while the block runs, so that other processes see that it is in use; a lock ends with its process, however that ends.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        clean_up(path)
        with _locked_folder(path, path.parent) as folder:
            yield folder
    except OSError as error:
        reason = f"could not be written ({reason_of(error)})"
        raise OptionError(f"{path}: {reason}; expected a place with room that can be written to") from None


def put_in_place(new: Path, path: Path) -> None:
    """Moves a whole draft to its place. A folder that is there goes into the draft, which ends with it.

    Of two processes that write the same folder at a time, the later one has it.
    """
    if not new.is_dir():
        new.replace(path)
        return
    old = new.with_name(OLD)
    try:
        while new.exists():
            shutil.rmtree(old, ignore_errors=True)
            with suppress(FileNotFoundError):
                path.rename(old)
            try:
                new.rename(path)
            except OSError:
                if not path.exists():  # otherwise another process was quicker
                    raise
    finally:
        if new.exists() and not path.exists():  # Ctrl-C between the two moves
            new.rename(path)


def clean_up(path: Path) -> None:
    """Removes the drafts of a file or folder whose processes are gone.

    If the process ended between the two moves of `put_in_place`, the new content is whole and the place is empty: it is put there.
    """
    for folder in _drafts(path):
        try:
            handle = lock(folder)
        except BlockingIOError:
            continue
        if handle is None:
            continue
        if (folder / OLD).exists() and (folder / NEW).exists() and not path.exists():
            (folder / NEW).rename(path)
        shutil.rmtree(folder, ignore_errors=True)
        unlock(handle)


def check_writable(path: str | Path) -> None:
    """Refuses a path at which nothing can be made. Whether it can is tried out, since the rights of a folder do not always say it."""
    path = Path(path).resolve()
    _try_out(path, path.parent)


def check_folder(folder: str | Path) -> None:
    """Refuses a folder in which nothing can be made, in the same way. It need not exist."""
    folder = Path(folder).resolve()
    _try_out(folder, folder)


def check_new(path: Path, force: bool = False) -> None:
    """Refuses a file that exists, unless it may be replaced."""
    if path.is_dir() or (path.exists() and not force):
        wanted = "another path" if path.is_dir() else "another path, or `force` to replace it"
        raise OptionError(f"{path}: exists already; expected {wanted}")


def reason_of(error: OSError) -> str:
    """What the system says of an error, in a few words."""
    return error.strerror or str(error) or type(error).__name__


def _try_out(path: Path, above: Path) -> None:
    """Writes a little into a folder, or into the next one above it that exists."""
    nearest = next(each for each in (above, *above.parents) if each.exists())
    try:
        if nearest == path.parent:
            clean_up(path)
        with _locked_folder(path, nearest) as folder:
            (folder / NEW).write_bytes(bytes(FREE))
    except OSError as error:
        reason = f"nothing can be written there ({reason_of(error)})"
        raise OptionError(f"{path}: {reason}; expected a place with room that can be written to") from None


@contextmanager
def _locked_folder(path: Path, above: Path) -> Iterator[Path]:
    """A new folder for drafts of that path, which is locked until it is removed."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=above))
        handle = lock(folder, wait=True)
        if folder.exists():  # another process may have cleaned it up before it was locked
            break
        unlock(handle)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        unlock(handle)


def _drafts(path: Path) -> list[Path]:
    """The folders beside a path that were made as its drafts, and hold nothing else."""
    name = re.compile(re.escape(f".{path.name}-") + RANDOM)
    found = []
    for folder in path.parent.iterdir():
        with suppress(OSError):  # gone in the meantime, or no folder
            if name.fullmatch(folder.name) and not folder.is_symlink() and {each.name for each in folder.iterdir()} <= {NEW, OLD}:
                found.append(folder)
    return found


def lock(folder: Path, wait: bool = False) -> int | None:
    """A handle that keeps a folder locked; None: the folder is gone, or the system has no such locks.

    Raises:
        BlockingIOError: Another process has locked it, and this one does not wait.
    """
    try:
        import fcntl  # POSIX only; elsewhere drafts of killed processes stay

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    except OSError:
        os.close(handle)
        return None
    return handle


def unlock(handle: int | None) -> None:
    """Ends a lock."""
    if handle is not None:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Makes sure that a new name in a folder survives a loss of power, where the system can do so."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
