"""Data to try things on: the bundled demo, and benchmarks to download."""

from __future__ import annotations

from pathlib import Path

from kgalign.data import Alignment, AlignmentTask, Protocol
from kgalign.errors import OptionError
from kgalign.readers import read

DEMOS = Path(__file__).parent / "demo"
PAIRS = ("fr_en", "zh_en")


def demo(pair: str = "fr_en", protocol: Protocol = "closed") -> tuple[AlignmentTask, Alignment]:
    """World facts of Unicode CLDR as two graphs in two languages, and the gold links between them."""
    if pair not in PAIRS:
        raise OptionError(f"unknown demo pair {pair!r}: expected one of {', '.join(PAIRS)}")
    return read(DEMOS / pair, protocol=protocol)
