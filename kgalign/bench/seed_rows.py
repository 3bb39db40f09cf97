"""How far seeds lead where names are withheld: few seeds, many, and seeds that are hubs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from kgalign.bench.plan import Plan
from kgalign.bench.results import Line
from kgalign.bench.runs import RunRow, measure_rows
from kgalign.bench.systems import find_cases
from kgalign.data import Alignment, AlignmentTask, Ints, without_names
from kgalign.features.relations import Edges
from kgalign.models import DEFAULT, make_model

EXPERIMENT = "seeds"
SHARES = (0.01, 0.05, 0.2, 0.3)
HUBS = 0.1


def seed_rows() -> dict[str, RunRow]:
    """The rows by name: shares of all links as seeds, drawn at random, without names; some of them without a step; and hubs."""
    rows = {_name(share): RunRow(redraw=partial(random_seeds, share=share)) for share in SHARES}
    steps = make_model(DEFAULT).capabilities.steps
    rows |= {f"{_name(SHARES[0])}, without {step}": replace(rows[_name(SHARES[0])], options={"without": step}) for step in steps}
    hubs = RunRow(redraw=partial(hub_seeds, share=HUBS), protocol="open")
    return rows | {f"the {HUBS:.0%} of highest degree": hubs}


def measure_seeds(plan: Plan) -> Iterator[Line]:
    """The missing lines, one by one."""
    for case in find_cases(plan, (DEFAULT,)):
        yield from measure_rows(case, EXPERIMENT, seed_rows())


def random_seeds(task: AlignmentTask, gold: Alignment, seed: int, share: float) -> tuple[AlignmentTask, Alignment]:
    """The task with a share of all its links as seeds, drawn at random, and the others as gold links; without names."""
    links = task.seeds + gold
    order = np.random.default_rng(seed).permutation(len(links))
    return _divided(task, links, order[: round(share * len(links))])


def hub_seeds(task: AlignmentTask, gold: Alignment, seed: int, share: float) -> tuple[AlignmentTask, Alignment]:
    """The task with those links as seeds whose entities have the most neighbours, and the others as gold links; without names."""
    links = task.seeds + gold
    source, target = (side.degrees for side in Edges.of_task(task))
    order = np.argsort(-(source[links.sources] + target[links.targets]), kind="stable")
    return _divided(task, links, order[: round(share * len(links))])


def _divided(task: AlignmentTask, links: Alignment, chosen: Ints) -> tuple[AlignmentTask, Alignment]:
    """The task with the chosen links as seeds, and the other links."""
    is_seed = np.zeros(len(links), bool)
    is_seed[chosen] = True
    seeds, gold = links.where(is_seed), links.where(~is_seed)
    queries, pool = gold.sources, gold.targets
    if task.protocol == "open":
        queries, pool = (
            np.setdiff1d(np.arange(len(graph.entities)), ids)
            for graph, ids in zip((task.source, task.target), seeds.pairs.T, strict=True)
        )
    return without_names(replace(task, seeds=seeds, queries=queries, pool=pool)), gold


def _name(share: float) -> str:
    return f"{share:.0%} seeds"
