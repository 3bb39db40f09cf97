"""Runs that start from an earlier one: what is near a change is decided again, and everything else stays."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.align import align, choose_model
from kgalign.data import NO_COUNTERPART, Alignment, AlignmentTask
from kgalign.decisions import MATCH, NO_MATCH, Decision, Standing, decisions_beside, ever_made, read_decisions
from kgalign.errors import DataError, OptionError
from kgalign.features.relations import relation_matches
from kgalign.limits import Limits
from kgalign.models import DEFAULT, MODELS
from kgalign.readers import read
from kgalign.readers.decided import decided_of, unmatched_sources, with_decisions, without_decisions
from kgalign.readers.decisions import is_log, last_lines, read_decided
from kgalign.readers.link_ends import Ends
from kgalign.reasoning import Reasoning, Rules
from kgalign.runs import Run, file_hashes, input_places, read_report
from kgalign.runs.inputs import REPORT, is_part
from kgalign.runs.report import DECIDED, reading_of
from kgalign.seams import InMemory, Place
from kgalign.update.carried import Carried
from kgalign.update.deciding import decide_again
from kgalign.update.earlier import Earlier
from kgalign.update.reasons import changed_counts, decided_in_words, in_earlier_order, link_changes

__all__ = ["is_unchanged", "update"]

logger = logging.getLogger(__name__)


def update(
    run: str | Path | Run,
    *,
    source: Place | InMemory | None = None,
    target: Place | InMemory | None = None,
    decisions: str | Path | Sequence[str | Path] = (),
    task: AlignmentTask | None = None,
) -> Run:
    """The next run, which starts from an earlier one: only what is near a change is decided again.

    The graphs are compared with those of the earlier run, entity by entity. Entities of which something else is said, those that are new,
    and those whose match is gone are decided again; so are entities around them, as far as links move. All other links stay as they are,
    with their probabilities and in their order. `Run.changes` lists every link that is new, gone or changed, with its reason.

    Args:
        run: A run, or a run folder.
        source: The source graph as it is now, where `kgalign.read` can read it. None: where the run has read it.
        target: The same for the target.
        decisions: Files of decisions, as `kgalign.read` takes them, besides those that the run knows: matches are seeds, and rejected pairs
            never come back. Without any, the file beside a run folder counts in which `kgalign review` keeps them.
        task: The graphs as they are now, in place of `source`, `target` and `decisions`.
    """
    began = time.perf_counter()
    logs = [str(Path(each).resolve()) for each in ([decisions] if isinstance(decisions, str | Path) else decisions)]
    if task is not None and (source is not None or target is not None or logs):
        raise OptionError("`task` has graphs and decisions in it: expected `source`, `target` and `decisions`, or `task`")
    inputs: Mapping[str, str] = {}
    if isinstance(run, Run):
        earlier, options = Earlier.of_run(run), dict(run.options)
        decided = {**options.get(DECIDED, {}), **last_lines(logs)}
        task = task or _task_after(run.task, source, target, logs)
    else:
        report = read_report(run)
        options = report["options"]
        if "model" not in options:
            raise DataError(f"{Path(run) / REPORT}: this run decoded candidates of another tool; expected a run of kgalign align")
        earlier, decided = Earlier.read(Path(run)), {}
        if task is None:
            arguments = reading_after(run, report, source, target, logs)
            decided = last_lines(arguments.get("decisions", ()))
            task, inputs = _read(report, arguments, earlier)
            in_files = all(isinstance(arguments.get(side), str | None) for side in ("source", "target"))
            options = {name: value for name, value in options.items() if name != "read"} | ({"read": arguments} if in_files else {})
    seconds = {"read": time.perf_counter() - began}
    words = decided_in_words([*dict.fromkeys([*options.get("read", {}).get("decisions", ()), *logs])], task)
    return _updated(earlier, task, {**options, DECIDED: decided}, inputs, seconds, words)


def reading_after(
    folder: str | Path,
    report: Mapping[str, Any],
    source: Place | InMemory | None = None,
    target: Place | InMemory | None = None,
    decisions: Sequence[str] = (),
) -> dict[str, Any]:
    """How the graphs are read: as the run has read them, some of them from new places, and with more decisions."""
    arguments = dict(reading_of(folder, report))
    beside = decisions_beside(folder)
    if not decisions and beside.is_file():
        decisions = [str(beside)]
    if decisions:
        arguments["decisions"] = [*dict.fromkeys((*arguments.get("decisions", ()), *decisions))]
    for name, place in (("source", source), ("target", target)):
        if place is None:
            continue
        if name == "target" and arguments.get("target") is None:
            raise OptionError(
                f"{folder}: the run has read a dataset folder, which `source` replaces as a whole; leave `target` out"
            )
        is_path = isinstance(place, str | Path) and "://" not in str(place)
        arguments[name] = str(Path(place).resolve()) if is_path else place  # type: ignore[arg-type]
    return arguments


def is_unchanged(folder: str | Path, source: str | None = None, target: str | None = None, decisions: Sequence[str] = ()) -> bool:
    """Whether all files that a run was made from, or those that take their places, have the same content as then."""
    report = read_report(folder)
    before, recorded = reading_of(folder, report), report.get("inputs", {})
    now = reading_after(folder, report, source, target, decisions)
    moved = [side for side, place in (("source", source), ("target", target)) if place is not None]
    given = [*now.get("decisions", ()), *(now[side] for side in moved)]
    if any("://" in str(now.get(side)) for side in ("source", "target")) or not all(Path(place).exists() for place in given):
        return False
    for side in moved:
        was = [digest for name, digest in recorded.items() if is_part(Path(name), Path(before[side]))]
        if sorted(file_hashes([now[side]]).values()) != sorted(was):
            return False
    others = {name: value for name, value in now.items() if name not in moved}
    return file_hashes(input_places(others)).items() <= recorded.items()


def _read(report: Mapping[str, Any], arguments: Mapping[str, Any], earlier: Earlier) -> tuple[AlignmentTask, dict[str, str]]:
    """The task of a run with its graphs as they are now, and the hashes of the files."""
    inputs = file_hashes(input_places(arguments))
    try:
        task = read(**arguments)[0]
    except DataError as error:
        raise error.of_run() from None
    if report["protocol"] == "closed":
        task = earlier.remembered.closed(task)
    return task, inputs


def _task_after(
    task: AlignmentTask, source: Place | InMemory | None, target: Place | InMemory | None, decisions: Sequence[str]
) -> AlignmentTask:
    """The task of a run in memory with other graphs and more decisions. Its own decisions stand unless these files take them back."""
    if source is not None or target is not None:
        task = _with_graphs(task, source, target)
    entries = [each for path in decisions if is_log(Path(path)) for each in read_decisions(path)]
    ends = Ends.of("source", task.source), Ends.of("target", task.target)
    task = without_decisions(task, decided_of(task, ever_made(entries)))
    return with_decisions(task, read_decided(decisions, ends, task.cardinality, False, Limits()))


def _with_graphs(task: AlignmentTask, source: Place | InMemory | None, target: Place | InMemory | None) -> AlignmentTask:
    """The task with other graphs, and the same seeds, rejected pairs and decisions."""
    if task.protocol == "closed":
        raise OptionError("the run follows the closed protocol, whose queries come from test links: expected the new `task`")
    same = _read_with_decisions(task, task.source, task.target)
    if _has_types(task) or not (np.array_equal(same.queries, task.queries) and np.array_equal(same.pool, task.pool)):
        raise OptionError(
            "the run aligns only some entities, such as those of certain `types`, and does not know which ones of another graph: "
            "expected the new `task`"
        )
    return _read_with_decisions(task, task.source if source is None else source, task.target if target is None else target)


def _has_types(task: AlignmentTask) -> bool:
    """Whether entities match only if they have a type in common."""
    return task.types is not None and any((side & ~NO_COUNTERPART).any() for side in task.types)


def _read_with_decisions(task: AlignmentTask, source: Place | InMemory, target: Place | InMemory) -> AlignmentTask:
    """A task of two graphs with the seeds, rejected pairs and decisions of another task."""
    given = {name: _by_iri(links, task) for name, links in (("seeds", task.lessons), ("rejected", task.rejected)) if len(links)}
    new = read(source, target, **given, cardinality=task.cardinality, protocol="open")[0]  # type: ignore[arg-type]
    matches = {pair: Decision("", MATCH, *pair) for pair in _by_iri(task.decided, task)}
    alone = [task.source.entities[each] for each in unmatched_sources(task).tolist()]
    standing = Standing(matches, alone={each: Decision("", NO_MATCH, each, "") for each in alone})
    return with_decisions(new, decided_of(new, standing))


def _by_iri(links: Alignment, task: AlignmentTask) -> list[tuple[str, str]]:
    return [(task.source.entities[left], task.target.entities[right]) for left, right in links.pairs.tolist()]


def _updated(
    earlier: Earlier,
    task: AlignmentTask,
    options: dict[str, Any],
    inputs: Mapping[str, str],
    seconds: Mapping[str, float],
    words: Mapping[tuple[int, int], str],
) -> Run:
    """The next run."""
    began = time.perf_counter()
    model, rules = _model_of(options), _rules_of(options)
    carried = Carried.of(earlier, task)
    compared = time.perf_counter() - began
    logger.info("source: %s; target: %s", changed_counts(carried.source), changed_counts(carried.target))
    if model.capabilities.stores:
        logger.info(
            "%s has learnt from the earlier graphs, so it is trained again and everything is decided again", options["model"]
        )
        run = align(task, model=model, rules=rules)
        reasoning, fitted, again, waves = run.reasoning, run.model, len(task.queries), 0
    else:
        fitted = model.fit(task)
        decided = decide_again(fitted, task, carried, rules, earlier.remembered.calibrate)
        fitted, again, waves = decided.model, int(decided.again.sum()), decided.waves
        reasoning = Reasoning(decided.alignment, decided.candidates, decided.evidence, carried.known)
        reasoning = replace(reasoning, calibrate=earlier.remembered.calibrate)
    alignment = in_earlier_order(reasoning.alignment, carried)
    alignment = replace(alignment, record={**alignment.record, "decoder": rules.decoder_name})
    changes = link_changes(earlier, carried, alignment, task, words)
    figures = {
        "source": carried.source.counts(),
        "target": carried.target.counts(),
        "decided_again": again,
        "waves": waves,
        "links": {name: sum(each.change == name for each in changes) for name in ("new", "changed", "gone", "given")},
    }
    return Run(
        task,
        replace(reasoning, alignment=alignment),
        options={**options, "update": figures},
        seconds={**seconds, "compare": compared, "decide": time.perf_counter() - began - compared},
        inputs=inputs,
        relations=relation_matches(task, alignment),
        model=fitted,
        changes=changes,
    )


def _model_of(options: Mapping[str, Any]) -> Any:
    """The model of a run, with its options."""
    name, given = options.get("model", DEFAULT), options.get("model_options", {})
    if name not in MODELS:
        raise OptionError(f"the run used the model {name!r}, which has no registered name; expected one of {', '.join(MODELS)}")
    return choose_model(name, {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()})


def _rules_of(options: Mapping[str, Any]) -> Rules:
    """The rules of a run."""
    return Rules(**{rule.name: options[rule.name] for rule in fields(Rules) if rule.name in options})
