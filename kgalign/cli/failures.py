"""What the command line says of an error that no user can put right: out of memory, and mistakes in kgalign itself."""

from __future__ import annotations

import errno
import platform
import shlex
import sys
import tempfile
import traceback

from kgalign.cli.printing import fail
from kgalign.version import __version__

FAILED = 3  # the exit code
NO_MEMORY = ("can't allocate memory", "out of memory", "can't start new thread")  # as PyTorch and Python say it in other errors


def fail_inside(error: Exception) -> int:
    """Says in one line what went wrong inside, and where the traceback is; returns the exit code."""
    if is_out_of_memory(error):
        told = f" ({error})" if str(error) else ""
        return fail(f"out of memory{told}; expected more memory, smaller graphs, or fewer candidates (--set k=10)", FAILED)
    what = f"{type(error).__name__}: {error}"[:200]
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="kgalign-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(_description(error))
        where = f"the file {file.name}, which has the traceback and the command"
    except OSError:
        print(_description(error), file=sys.stderr)
        where = "the traceback above"
    return fail(f"something went wrong inside kgalign {__version__} ({what}); please report it as a bug with {where}", FAILED)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error, or the one that it comes from, is a lack of memory."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    if isinstance(error, RuntimeError) and any(words in str(error).lower() for words in NO_MEMORY):
        return True
    return error.__cause__ is not None and is_out_of_memory(error.__cause__)


def _description(error: Exception) -> str:
    """All that a report of a bug needs."""
    versions = f"kgalign {__version__}, Python {platform.python_version()}, {platform.platform()}"
    return f"{versions}\n{shlex.join(sys.argv)}\n\n{''.join(traceback.format_exception(error))}"
