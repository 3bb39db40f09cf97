"""Every model on the bundled demo with small settings, to see that all of them work: minutes on a CPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kgalign.bench.plan import Plan
from kgalign.bench.results import Line
from kgalign.bench.systems import find_cases
from kgalign.bench.table2 import measure_case


def quick(plan: Plan) -> Iterator[Line]:
    """The rows of Table 2 for each system, with the options that its model declares for a quick run."""
    for case in find_cases(plan):
        own = case.system.capabilities.quick_options
        small = case.system.with_options(all_seeds=False, **own)  # one training is enough to see that it works
        yield from measure_case(replace(case, system=small.with_options(**plan.settings)), "quick")
