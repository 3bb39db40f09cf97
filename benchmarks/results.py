"""The file of results that is checked in, and where the data are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgalign.bench.results import CANONICAL, DEVELOPMENT, Line, append, make_line, read_lines

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results.jsonl"
DATA = Path(os.environ.get("KGALIGN_DATA", ROOT.parent / "shared" / "data"))
GENERATED = "generated 30 %"
SPLITS = (CANONICAL, DEVELOPMENT, GENERATED)


@dataclass(frozen=True)
class Results:
    """The lines that the page is made from; the last line of each run."""

    lines: tuple[Line, ...]

    @classmethod
    def read(cls, file: Path = RESULTS) -> Results:
        return cls(tuple(read_lines(file)))

    def of(self, experiment: str) -> list[Line]:
        """The lines of an experiment on DBP15K and on generated graphs."""
        return [line for line in self.lines if line["experiment"] == experiment and line["split"] in SPLITS]

    def of_other_datasets(self, experiment: str) -> list[Line]:
        """The lines of an experiment on other datasets, with folds or without."""
        return [line for line in self.lines if line["experiment"] == experiment and line["split"] not in SPLITS]


def add(experiment: str, system: str, pair: str, metrics: dict[str, Any], *, file: Path = RESULTS, **about: Any) -> None:
    """Adds a line to the file and prints it.

    Args:
        experiment: The script that measured.
        system: The name of the row.
        pair: The name of the dataset.
        metrics: The figures; `peak_mb` among them, if another process did the work.
        file: The file of results.
        **about: Further arguments of `make_line`.
    """
    line = make_line(experiment, system, pair, metrics, peak=metrics.get("peak_mb"), **about)
    append(line, file)
    print(experiment, system, pair, line["metrics"], f"{line['seconds']:.2f} s", flush=True)
