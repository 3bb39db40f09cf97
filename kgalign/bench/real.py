"""The default model on sets of real graphs and tables, beside the baseline of equal names. The gold links are for measuring only."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

from kgalign.align import align
from kgalign.bench.equal_names import EQUAL_NAMES, match_equal_names, read_raw
from kgalign.bench.judging import Counts, Link, judge
from kgalign.bench.plan import Plan
from kgalign.bench.real_sets import RealSet, find_sets
from kgalign.bench.results import Line, make_line
from kgalign.bench.runs import compile_first, in_own_process
from kgalign.data import Cardinality, turned_cardinality
from kgalign.errors import KgalignError
from kgalign.models import DEFAULT
from kgalign.readers import read
from kgalign.runs import Run, peak_mb

REAL = "real"
NO_SEEDS = "no seeds"
OPEN = "open"
SWAPPED = "swapped"  # open, with the target first
LONGEST_ERROR = 300

Result = TypeVar("Result")
Scopes = tuple[set[str], set[str]]


def real(plan: Plan) -> Iterator[Line]:
    """The missing lines, set by set: equal names, then each model. Both have processes of their own, so that memory is their own."""
    for each in find_sets(plan.data, plan.sets):
        files = _Files(each)
        if not _is_finished(plan, EQUAL_NAMES, each, plan.seeds[0], OPEN):
            yield plan.add(_make_line(EQUAL_NAMES, files, files.equal_names, plan.seeds[0], OPEN))
        for model, seed in product(plan.models or (DEFAULT,), plan.seeds):
            protocol = SWAPPED if plan.swap else OPEN
            if not _is_finished(plan, model + plan.label, each, seed, protocol):
                found = _align_elsewhere(plan, each, model, seed)
                yield plan.add(_make_line(model + plan.label, files, found, seed, protocol))


def real_pairs(plan: Plan) -> set[str]:
    """The names of the planned sets."""
    return {each.name for each in find_sets(plan.data, plan.sets)}


def summarise_sets(lines: Sequence[Line], swap: bool = False) -> tuple[list[str], list[list[str]]]:
    """The header, and one row for each set and system: its figures beside the F1 of equal names and of the best peer; then the means.

    Args:
        lines: Lines of this table.
        swap: Take the lines in which the target came first.
    """
    baseline = {line["pair"]: line["metrics"]["f1"] for line in lines if line["system"] == EQUAL_NAMES}
    chosen = [line for line in lines if line["system"] != EQUAL_NAMES and (line["protocol"] == SWAPPED) == swap]
    several = len({(line["system"], line["seed"]) for line in chosen}) > 1
    rows = []
    for line in chosen:
        metrics, about = line["metrics"], line["options"]["set"]
        cells = [
            f"{line['pair']}, {line['system']}, seed {line['seed']}" if several else line["pair"],
            about["judged"],
            *map(_three_digits, (baseline.get(line["pair"]), about["peer"])),
            *(_three_digits(metrics[name]) for name in ("precision", "recall", "f1")),
            f"{metrics['right_above_0.9']:,} of {metrics['links_above_0.9']:,}",
            f"{metrics['expected_right']:,.0f}",
            f"{metrics['right']:,}",
            f"{line['seconds']:.1f}",
            f"{line['peak_mb'] or 0:,}",
        ]
        rows.append(cells)
    if chosen:
        names = [baseline[line["pair"]] for line in chosen if line["pair"] in baseline]
        means = [
            _three_digits(fmean(figures) if figures else None) for figures in (names, [line["metrics"]["f1"] for line in chosen])
        ]
        rows.append(["mean", "", means[0], "", "", "", means[1], *[""] * 5])
    return ["set", "judged", EQUAL_NAMES, "best peer", "P", "R", "F1", "right > 0.9", "expected", "right", "s", "MiB"], rows


@dataclass(frozen=True)
class _Found:
    """The links of each pair of a set, how they were found, and what went wrong."""

    links: list[list[Link]]
    errors: list[str]
    seconds: float
    options: Mapping[str, Any]
    peak: int | None


@dataclass(frozen=True, eq=False)
class _Files:
    """What the files of a set say by themselves. They are read when that is first needed, in a process of their own."""

    of: RealSet

    @property
    def equal_names(self) -> _Found:
        return self._read[0]

    @property
    def scopes(self) -> list[Scopes | None]:
        """For each pair the sources and targets that its gold is about; None where they do not matter or cannot be read."""
        return self._read[1] if self.of.judged == "K" else [None] * len(self.of.pairs)

    @cached_property
    def _read(self) -> tuple[_Found, list[Scopes | None]]:
        try:
            found: tuple[_Found, list[Scopes | None]] = in_own_process(_match_and_scope, self.of)
        except KgalignError as error:
            return _nothing(self.of, EQUAL_NAMES, error), [None] * len(self.of.pairs)
        return found


def _make_line(system: str, files: _Files, found: _Found, seed: int, protocol: str) -> Line:
    """The line of a set: the counts of its pairs are summed."""
    judged = zip(found.links, files.of.pairs, files.scopes, strict=True)
    counts = sum((judge(links, pair.gold, files.of.judged, scopes) for links, pair, scopes in judged), Counts())
    error = {"error": "; ".join(found.errors)[:LONGEST_ERROR]} if found.errors else {}
    return make_line(
        REAL,
        system,
        files.of.name,
        {**counts.metrics, **error},
        seconds=found.seconds,
        options={**found.options, "set": files.of.facts},
        protocol=protocol,
        split=NO_SEEDS,
        seed=seed,
        peak=found.peak,
    )


def _match_and_scope(each: RealSet) -> tuple[_Found, list[Scopes | None]]:
    """The links of equal names, and the sources and targets that the gold of each pair is about."""
    began = time.perf_counter()
    read_pairs = [_attempt(pair.source.parent, partial(read_raw, pair, each.table)) for pair in each.pairs]
    links = [[] if raw is None else match_equal_names(raw) for raw, _ in read_pairs]
    errors = [error for _, error in read_pairs if error]
    found = _Found(links, errors, time.perf_counter() - began, {"model": EQUAL_NAMES}, peak_mb())
    scopes = []
    for (raw, _), pair in zip(read_pairs, each.pairs, strict=True):
        ends = [set(side) for side in zip(*pair.gold, strict=True)]
        scopes.append(raw and (raw[0].scope(ends[0]), raw[1].scope(ends[1])))
    return found, scopes


def _align_elsewhere(plan: Plan, each: RealSet, model: str, seed: int) -> _Found:
    """The links of a model, which never sees a gold link."""
    _compile_elsewhere()
    places = [(pair.source, pair.target) for pair in each.pairs]
    try:
        found: _Found = in_own_process(_align_pairs, places, plan.swap, each.cardinality, model, plan.settings_of(model), seed)
    except KgalignError as error:
        return _nothing(each, model, error)
    return found


@cache
def _compile_elsewhere() -> None:
    """Compiles all code once. A process does not begin with less memory than the one that starts it, so this one must stay small."""
    in_own_process(compile_first)


def _nothing(each: RealSet, model: str, error: KgalignError) -> _Found:
    """No links, since the process died."""
    return _Found([[] for _ in each.pairs], [str(error)], 0.0, {"model": model}, None)


def _align_pairs(
    places: Sequence[tuple[Path, Path]],
    swap: bool,
    cardinality: Cardinality,
    model: str,
    options: Mapping[str, Any],
    seed: int,
) -> _Found:
    """The links of each pair with the default options, and the cardinality of the set. It never sees a gold link."""
    began = time.perf_counter()
    links: list[list[Link]] = []
    errors: list[str] = []
    used: Mapping[str, Any] = {"model": model}
    cardinality = turned_cardinality(cardinality) if swap else cardinality
    for source, target in places:
        work = partial(_align, (target, source) if swap else (source, target), cardinality, model, options, seed)
        run, error = _attempt(source.parent, work)
        errors += [error] if error else []
        links.append([] if run is None else _links_of(run, swap))
        used = used if run is None else {**run.options, "cardinality": cardinality}
    return _Found(links, errors, time.perf_counter() - began, used, peak_mb())


def _align(sides: tuple[Path, Path], cardinality: Cardinality, model: str, options: Mapping[str, Any], seed: int) -> Run:
    return align(read(*sides, cardinality=cardinality)[0], model=model, options=options, seed=seed)


def _links_of(run: Run, swap: bool) -> list[Link]:
    """The links of a run by the ids that entities have in the files; turned round if the target came first."""
    source, target = run.task.source.entities, run.task.target.entities
    links = zip(run.alignment.pairs.tolist(), run.alignment.scores.tolist(), strict=True)
    named = [(source[one], target[other], probability) for (one, other), probability in links]
    return [(other, one, probability) for one, other, probability in named] if swap else named


def _attempt(folder: Path, work: Callable[[], Result]) -> tuple[Result | None, str]:
    """The result, or None and the error on one line, with paths from the folder on, so that lines of two machines are the same."""
    try:
        return work(), ""
    except Exception as error:  # real files break a program in ways nobody has foreseen: that is a figure, not the end of the table
        what = "" if isinstance(error, KgalignError) else f"{type(error).__name__}: "
        text = what + " ".join(str(error).split())
        text = text.replace(f"{folder}{os.sep}", f"{folder.name}/")
        return None, text if text.startswith(f"{folder.name}/") else f"{folder.name}: {text}"


def _is_finished(plan: Plan, system: str, each: RealSet, seed: int, protocol: str) -> bool:
    return plan.is_finished(REAL, system, each.name, seed, protocol, NO_SEEDS)


def _three_digits(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
