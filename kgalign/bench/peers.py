"""Our own rows that others are held against: names alone, and `fast` in its regimes; closed and open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kgalign.bench.plan import Plan
from kgalign.bench.results import Line
from kgalign.bench.runs import RunRow, measure_rows, without_names, without_seeds
from kgalign.bench.systems import find_cases

NAMES = {
    "names": RunRow({"decoder": "greedy", "easy_to_hard": False, "all_entities": False}),
    "names-EHD": RunRow({"decoder": "greedy", "all_entities": False}),
    "names-JEA": RunRow({"easy_to_hard": False, "all_entities": False}),
    "names-EHD-JEA": RunRow({"all_entities": False}),
}
PEERS: dict[str, tuple[dict[str, RunRow], ...]] = {  # by model; the experiment is called like it
    "names": (NAMES, {name: replace(row, protocol="open") for name, row in NAMES.items()}),
    "fast": (
        {"fast": RunRow(), "fast, no seeds": RunRow(change=without_seeds), "fast, no names": RunRow(change=without_names)},
        {"fast": RunRow(protocol="open", threshold=True)},
    ),
}


def peers(plan: Plan) -> Iterator[Line]:
    """The lines that are missing, one by one."""
    for case in find_cases(plan, PEERS):
        for rows in PEERS[case.system.model]:
            yield from measure_rows(case, case.system.model, rows)
