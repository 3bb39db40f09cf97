"""The file of results that is checked in, and where the data are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from kgalign.bench.results import Line, append, make_line, read_lines

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results.jsonl"
DATA = Path(os.environ.get("KGALIGN_DATA", ROOT.parent / "shared" / "data"))


def add(experiment: str, system: str, pair: str, metrics: dict[str, Any], **about: Any) -> None:
    """Adds a line to the file, and shows it."""
    line = make_line(experiment, system, pair, metrics, **about)
    append(line, RESULTS)
    print(experiment, system, pair, line["metrics"], f"{line['seconds']:.2f} s", flush=True)


def lines(experiment: str) -> list[Line]:
    """The lines of an experiment; of two for the same run, the later one."""
    return read_lines(RESULTS, experiment)
