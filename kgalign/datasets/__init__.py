"""Example data: the demo that comes with kgalign, and benchmarks to download."""

from __future__ import annotations

from pathlib import Path

from kgalign.data import Alignment, AlignmentTask, Protocol
from kgalign.errors import OptionError
from kgalign.readers import read

DEMOS = Path(__file__).parent / "demo"
PAIRS = ("fr_en", "zh_en")


def demo(pair: str = "fr_en", protocol: Protocol = "closed") -> tuple[AlignmentTask, Alignment]:
    """The demo task and its gold links: facts about the world from Unicode CLDR, as two graphs in two languages.

    Args:
        pair: `fr_en` or `zh_en`.
        protocol: `closed`: only entities of the test links are queries and candidates. `open`: all entities without a seed are.
    """
    if pair not in PAIRS:
        raise OptionError(f"unknown demo pair {pair!r}: expected one of {', '.join(PAIRS)}")
    return read(DEMOS / pair, protocol=protocol)
