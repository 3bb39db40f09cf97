"""A simulated reviewer who answers by the gold: F1 after so many decisions, for each order in which a review can ask."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from kgalign.align import align
from kgalign.bench.judging import Link, judge
from kgalign.bench.plan import Plan
from kgalign.bench.real_sets import Gold, RealSet, find_sets
from kgalign.bench.results import Line, make_line
from kgalign.bench.runs import compile_first
from kgalign.data import Alignment, AlignmentTask
from kgalign.datasets import demo
from kgalign.decisions import MATCH, NO_MATCH, SKIP
from kgalign.errors import KgalignError
from kgalign.models import DEFAULT
from kgalign.readers import read
from kgalign.review import ReviewSession
from kgalign.review.item import Item
from kgalign.review.queue import DOUBTFUL, ORDERS, RANDOM, VALUE
from kgalign.runs import Run

REVIEW = "review"
DEMO = "demo"
NO_SEEDS = "no seeds"
POINTS = (0, 20, 50, 100, 200)  # decisions after which the run has gone on
SYSTEMS = {VALUE: "our queue", DOUBTFUL: "least confident first", RANDOM: "at random"}
ANY = "T"  # how links are judged if they touch a gold link
REVIEWER = "bench"


@dataclass(frozen=True, eq=False)
class Reviewed:
    """Two graphs to review, and what is true of them.

    Attributes:
        name: The name of the set.
        task: The task, without seeds.
        gold: The gold links, by the IRIs of their entities.
        judged: The links that the gold can judge, see `judge`.
    """

    name: str
    task: AlignmentTask
    gold: Gold
    judged: str

    @cached_property
    def matches(self) -> tuple[Mapping[str, set[str]], Mapping[str, set[str]]]:
        """The targets of each source, and the sources of each target."""
        both: tuple[dict[str, set[str]], dict[str, set[str]]] = ({}, {})
        for source, target in self.gold:
            both[0].setdefault(source, set()).add(target)
            both[1].setdefault(target, set()).add(source)
        return both

    def answer(self, item: Item) -> tuple[str, str]:
        """What the reviewer says: a verdict, and the target that it is about.

        A pair is skipped if the gold does not know either of its entities and is not whole. If the target is wrong, the right one is chosen
        where it is among the candidates.
        """
        source, target = item.pair
        right = self.matches[0].get(source, set())
        if target in right:
            return MATCH, target
        if not right and self.judged == ANY:
            return (NO_MATCH, target) if target in self.matches[1] else (SKIP, target)
        chosen = next((each.target["iri"] for each in item.candidates if each.target["iri"] in right), "")
        return (MATCH, chosen) if chosen else (NO_MATCH, target if right else "")

    def f1(self, run: Run) -> float:
        """F1 over all gold links. Seeds of the run, which were decided, count as its links."""
        return float(judge(_named(run), self.gold, self.judged).metrics["f1"])


def review(plan: Plan) -> Iterator[Line]:
    """The missing lines: for each set, each order and each random seed, F1 after each of POINTS."""
    compile_first()
    for name, read_set in _sets(plan).items():
        missing = [(order, seed) for order in ORDERS for seed in plan.seeds if not _is_finished(plan, order, name, seed)]
        if not missing:
            continue
        reviewed = read_set()
        first = align(reviewed.task, model=(plan.models or (DEFAULT,))[0], options=plan.settings_of((plan.models or (DEFAULT,))[0]))
        for order, seed in missing:
            yield plan.add(_measure(reviewed, first, order, seed, plan.label))


def review_sets(plan: Plan) -> set[str]:
    """The names of the planned sets."""
    return set(_sets(plan))


def summarise_reviews(lines: Sequence[Line]) -> tuple[list[str], list[list[str]]]:
    """The header, and one row for each set and order: the mean F1 after each of POINTS, in percent."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        groups.setdefault((line["pair"], line["system"]), []).append(line)
    rows = []
    for (pair, system), own in sorted(groups.items()):
        means = [fmean(line["metrics"]["f1_after"][str(point)] for line in own) for point in POINTS]
        rows.append([pair, system, str(len(own)), *(f"{100 * mean:.2f}" for mean in means)])
    return ["set", "order", "draws", *(f"after {point}" for point in POINTS)], rows


def _sets(plan: Plan) -> dict[str, Any]:
    """What reads each planned set: the demo, and the sets of real graphs in the folder that have one pair."""
    found: dict[str, Any] = {}
    wanted = [part for part in plan.sets if part != DEMO]
    if not plan.sets or DEMO in plan.sets:
        found[DEMO] = _demo
    if wanted or not plan.sets:
        for each in find_sets(plan.data, wanted):
            if len(each.pairs) == 1:
                found[each.name] = lambda each=each: _of_set(each)
    return found


def _demo() -> Reviewed:
    """The demo, as if nobody had given a seed."""
    task, gold = demo(protocol="open")
    links, source, target = task.seeds + gold, task.source.entities, task.target.entities
    queries, pool = np.union1d(task.queries, task.seeds.sources), np.union1d(task.pool, task.seeds.targets)
    task = replace(task, seeds=Alignment.empty(), queries=queries, pool=pool)
    return Reviewed(DEMO, task, tuple((source[one], target[other]) for one, other in links.pairs.tolist()), ANY)


def _of_set(each: RealSet) -> Reviewed:
    pair = each.pairs[0]
    task, _ = read(pair.source, pair.target, cardinality=each.cardinality)
    return Reviewed(each.name, task, pair.gold, each.judged)


def _measure(reviewed: Reviewed, first: Run, order: str, seed: int, label: str) -> Line:
    began = time.perf_counter()
    figures: dict[str, float] = {str(POINTS[0]): reviewed.f1(first)}
    estimates: dict[str, Any] = {}
    decided, right = 0, 0
    with (
        tempfile.TemporaryDirectory() as folder,
        ReviewSession.open(first, Path(folder) / "decisions.jsonl", order=order, seed=seed) as session,
    ):
        run, number = first, 0
        for point in POINTS[1:]:
            while decided < point and (item := session.next(REVIEWER)) is not None:
                verdict, target = reviewed.answer(item)
                number += 1
                session.decide(REVIEWER, item.source["iri"], target, verdict, f"{number}", item.drawn, item.probability)
                decided += verdict != SKIP
                right += verdict == MATCH and target == item.pair[1]
            session.go_on()
            if error := session.wait().error:
                raise KgalignError(f"{reviewed.name}: {error}")
            run = session.made or run
            figures[str(point)] = round(reviewed.f1(run), 6)
            estimates[str(point)] = session.summary().estimate.as_json()
    return make_line(
        REVIEW,
        SYSTEMS[order] + label,
        reviewed.name,
        {"f1_after": figures, "f1": figures["100"], "estimate_after": estimates, "decided": decided, "asked_right": right},
        seconds=time.perf_counter() - began,
        options={**first.options, "order": order},
        protocol=reviewed.task.protocol,
        split=NO_SEEDS,
        seed=seed,
    )


def _named(run: Run) -> list[Link]:
    """The links of a run and its seeds by the IRIs of their entities."""
    links, source, target = run.alignment + run.task.seeds, run.task.source.entities, run.task.target.entities
    ends = zip(links.pairs.tolist(), links.scores.tolist(), strict=True)
    return [(source[one], target[other], probability) for (one, other), probability in ends]


def _is_finished(plan: Plan, order: str, name: str, seed: int) -> bool:
    return plan.is_finished(REVIEW, SYSTEMS[order] + plan.label, name, seed, "open", NO_SEEDS)
