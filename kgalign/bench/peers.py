"""The rows that other systems are compared with: the baseline, and the default model with and without seeds or names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kgalign.bench.plan import Plan
from kgalign.bench.results import Line
from kgalign.bench.runs import RunRow, measure_rows, without_seeds
from kgalign.bench.systems import find_cases
from kgalign.data import without_names
from kgalign.models import BASELINE, DEFAULT

BASELINE_ROWS = {
    BASELINE: RunRow({"decoder": "greedy", "max_rounds": 0, "all_entities": False}),
    f"{BASELINE}-EHD": RunRow({"decoder": "greedy", "all_entities": False}),
    f"{BASELINE}-JEA": RunRow({"max_rounds": 0, "all_entities": False}),
    f"{BASELINE}-EHD-JEA": RunRow({"all_entities": False}),
}
DEFAULT_ROWS = {
    DEFAULT: RunRow(),
    f"{DEFAULT}, no seeds": RunRow(change=without_seeds),
    f"{DEFAULT}, no names": RunRow(change=without_names),
}
PEERS: dict[str, tuple[dict[str, RunRow], ...]] = {  # by model, which is also the name of the experiment: closed, then open
    BASELINE: (BASELINE_ROWS, {name: replace(row, protocol="open") for name, row in BASELINE_ROWS.items()}),
    DEFAULT: (DEFAULT_ROWS, {DEFAULT: RunRow(protocol="open", threshold=True)}),
}


def peers(plan: Plan) -> Iterator[Line]:
    """The missing lines, one by one."""
    for case in find_cases(plan, PEERS):
        for rows in PEERS[case.system.model]:
            yield from measure_rows(case, case.system.model, rows)
