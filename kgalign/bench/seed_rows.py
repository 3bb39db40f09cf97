"""How far seeds lead where names are withheld: few seeds, many, seeds that are hubs, and seeds of one kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kgalign.bench.plan import Plan
from kgalign.bench.results import Line
from kgalign.bench.runs import RunRow, measure_rows
from kgalign.bench.systems import find_cases
from kgalign.data import Alignment, AlignmentTask, Ints, without_names
from kgalign.evaluate import CONFIDENT
from kgalign.features.islands import reached_links
from kgalign.features.relations import Edges
from kgalign.models import DEFAULT, make_model
from kgalign.runs import Run

EXPERIMENT = "seeds"
PLAUSIBLE = 0.5
SHARES = (0.01, 0.05, 0.2, 0.3)
UNUSUAL = 0.1


def seed_rows() -> dict[str, RunRow]:
    """The rows by name: shares of all links as seeds, drawn at random, without names; some of them without a step; and unusual seeds."""
    rows = main_rows()
    steps = make_model(DEFAULT).capabilities.steps
    rows |= {f"{_name(SHARES[0])}, without {step}": replace(rows[_name(SHARES[0])], options={"without": step}) for step in steps}
    draws = {f"the {UNUSUAL:.0%} of highest degree": hub_seeds, f"{UNUSUAL:.0%} of one kind": alike_seeds}
    return rows | {
        name: RunRow(redraw=partial(draw, share=UNUSUAL), figures=reach_figures, protocol="open") for name, draw in draws.items()
    }


def main_rows() -> dict[str, RunRow]:
    """The rows with shares of all links as seeds."""
    return {_name(share): RunRow(redraw=partial(random_seeds, share=share), figures=reach_figures) for share in SHARES}


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


def alike_seeds(task: AlignmentTask, gold: Alignment, seed: int, share: float) -> tuple[AlignmentTask, Alignment]:
    """The task with seeds of one kind, drawn at random among the links whose sources have the relation that most of them have."""
    links = task.seeds + gold
    pairs = np.unique(task.source.triples[np.isin(task.source.triples[:, 0], links.sources), :2], axis=0)
    alike = np.flatnonzero(np.isin(links.sources, pairs[pairs[:, 1] == np.bincount(pairs[:, 1]).argmax(), 0]))
    return _divided(task, links, np.random.default_rng(seed).permutation(alike)[: round(share * len(links))])


def reach_figures(run: Run, gold: Alignment) -> dict[str, Any]:
    """How many links above 0.9 are right, and how many there are: those that a chain of plausible links joins to a seed, and others."""
    task, plausible = run.task, run.alignment.where(run.alignment.scores > PLAUSIBLE)
    links = task.seeds + run.reasoning.known + plausible
    reached = reached_links(Edges.of_task(task), links, np.arange(len(links)) < len(task.seeds))
    judged = np.isin(links.sources, gold.sources) | np.isin(links.targets, gold.targets)
    chosen = judged & (links.scores > CONFIDENT)
    right = links.among(gold)
    return {
        name: [int((chosen & which & right).sum()), int((chosen & which).sum())]
        for name, which in (("reached_above_0.9", reached), ("unreached_above_0.9", ~reached))
    }


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
