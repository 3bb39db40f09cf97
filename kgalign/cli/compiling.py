"""What the command line says of code that is compiled on its first use, and kept for later runs."""

from __future__ import annotations

import sys
from pathlib import Path

from kgalign.cli.printing import console

COMPILES = "the first run compiles code, which takes a minute or two"


def tell_of_compiling() -> None:
    """Says that a run takes longer than later ones, where it does."""
    if not is_compiled():
        console.print(COMPILES)


def is_compiled() -> bool:
    """Whether numba has kept code of kgalign that is as new as its source, or compiles nothing."""
    from kgalign.search import kernels

    stats = getattr(kernels.pack_rows, "stats", None)  # of a plain function, as with NUMBA_DISABLE_JIT, there are none
    if stats is None:
        return True
    source = Path(kernels.__file__)
    kept = Path(stats.cache_path).glob(f"{source.stem}.*.py{sys.version_info.major}{sys.version_info.minor}*.nbi")
    return any(each.stat().st_mtime >= source.stat().st_mtime for each in kept)
