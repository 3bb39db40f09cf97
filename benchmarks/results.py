"""The file of results that is checked in, and where the data are."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from kgalign.bench.results import CANONICAL, DEVELOPMENT, Line, append, make_line, read_lines

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results.jsonl"
DATA = Path(os.environ.get("KGALIGN_DATA", ROOT.parent / "shared" / "data"))
SPLITS = (CANONICAL, DEVELOPMENT, "generated 30 %")


def add(experiment: str, system: str, pair: str, metrics: dict[str, Any], **about: Any) -> None:
    """Adds a line to the file, and shows it."""
    line = make_line(experiment, system, pair, metrics, peak=metrics.get("peak_mb"), **about)  # where another process did the work
    append(line, RESULTS)
    print(experiment, system, pair, line["metrics"], f"{line['seconds']:.2f} s", flush=True)


def lines(experiment: str) -> list[Line]:
    """The lines of an experiment on DBP15K and generated graphs; of two for the same run, the later one."""
    return [line for line in _read(RESULTS, RESULTS.stat().st_mtime_ns, experiment) if line["split"] in SPLITS]


def lines_by_folder(experiment: str) -> list[Line]:
    """The lines of an experiment on other datasets, with folds or without."""
    return [line for line in _read(RESULTS, RESULTS.stat().st_mtime_ns, experiment) if line["split"] not in SPLITS]


@lru_cache(maxsize=64)
def _read(file: Path, written: int, experiment: str) -> list[Line]:
    """The sections of the page ask for the same lines again and again; remembered until the file is written anew."""
    return read_lines(file, experiment)
