"""Pieces of a page: tables, headings, and figures as text."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from kgalign.bench.paper import PAIRS
from kgalign.bench.results import Line
from kgalign.bench.summary import mean_and_spread


def name_of(pair: str) -> str:
    return pair.replace("_", "-").upper()


NAMES_OF_PAIRS = tuple(map(name_of, PAIRS))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows))


def section(title: str, text: str, *parts: str) -> str:
    """A heading, a text, and tables or pictures; empty ones are left out."""
    return "\n\n".join([title, text, *filter(None, parts)]) + "\n"


def cells_by_pair(lines: Sequence[Line]) -> list[str]:
    """Mean and spread of hits@1 for each pair; empty if it was not measured."""
    return [mean_and_spread(hits) if hits else "" for hits in (hits_of(lines, pair) for pair in PAIRS)]


def hits_of(lines: Sequence[Line], pair: str) -> list[float]:
    return [line["metrics"]["hits@1"] for line in lines if line["pair"] == pair]


def by_system(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """The lines of each system, in the order of the first line of each."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line["system"], []).append(line)
    return found


def seeds_text(lines: Sequence[Line]) -> str:
    """A sentence with the seeds of the lines."""
    seeds = sorted({line["seed"] for line in lines})
    return f"Seed {seeds[0]}." if len(seeds) == 1 else f"Mean and spread over the seeds {', '.join(map(str, seeds))}."


def percent(value: float) -> str:
    return f"{100 * value:.2f}"


def mean(values: Iterable[float]) -> float:
    return statistics.fmean(values)
