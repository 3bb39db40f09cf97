"""Files that Arrow reads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def open_arrow(path: Path) -> Any:
    """A file for Arrow, whose name need not be UTF-8.

    It is no file of Python: threads of Arrow may still read ahead when Python ends, and calling Python then aborts the process.
    """
    import pyarrow as pa  # slow to import, and other files are read without it

    return pa.OSFile(os.fsencode(path))
