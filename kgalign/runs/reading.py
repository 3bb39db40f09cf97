"""Run folders, read back: the links, the task, and explanations."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph, Names
from kgalign.errors import DataError, KgalignError, OptionError
from kgalign.explain.notebook import Explanations
from kgalign.limits import DEFAULT, Limits
from kgalign.readers import read
from kgalign.readers.candidates import read_alignments
from kgalign.readers.link_ends import Ends
from kgalign.readers.link_files import read_link_file
from kgalign.readers.links import read_links as read_given_links
from kgalign.runs.evidence_table import read_evidence
from kgalign.runs.explaining import RunContents, explain_entity
from kgalign.runs.folder import CLASSES, EVIDENCE, LINKS, UNMATCHED, links_file
from kgalign.runs.inputs import REPORT, check_unchanged
from kgalign.runs.report import expect_file, read_report, reading_of
from kgalign.runs.tables import read_decided_rows, read_link_rows, read_rounds, read_unmatched_rows

logger = logging.getLogger(__name__)
QUICK = 10  # seconds in which graphs were read, so that they are read again only to see which entities share a name
PROBABILITY = re.compile(r"0(?:\.\d*)?|1(?:\.0*)?")


def read_links(path: str | Path, task: AlignmentTask) -> Alignment:
    """The links that a run has found, from its folder or its alignment.tsv, between the entities of a task.

    Those that people have decided on are seeds of the task, so they are left out.
    """
    path = links_file(path)
    ids = [{entity: number for number, entity in enumerate(graph.entities)} for graph in (task.source, task.target)]
    pairs, scores = [], []
    for number, row in read_link_rows(path):
        if row.source not in ids[0] or row.target not in ids[1]:
            raise DataError(
                f"{path}:{number}: expected entities of the graphs of this run, found {row.source!r} and {row.target!r}; "
                "the graphs may have changed since, so align again"
            )
        if not PROBABILITY.fullmatch(row.probability):
            raise DataError(
                f"{path}:{number}: expected a probability from 0 to 1 in the column probability, found {row.probability!r}; "
                "correct the line"
            )
        pairs.append((ids[0][row.source], ids[1][row.target]))
        scores.append(float(row.probability))
    return Alignment(np.array(pairs, np.int64).reshape(-1, 2), np.array(scores, np.float64), np.array(read_rounds(path)))


def read_judged(
    folder: str | Path, gold: str | Path, strict: bool = False, changed: bool = False, limits: Limits = DEFAULT
) -> tuple[Alignment, Alignment]:
    """The links of a run folder, and the gold links of a file that were no seeds of the run, with common ids.

    Gold links are found as `read` finds them: those of which an entity is not found are counted and left out. The graphs are read again,
    unless all entities of the gold links are in the run folder.

    Args:
        folder: A run folder. Of candidates that another tool has scored, no graphs are known, so all gold links count.
        gold: A file of links.
        strict: Refuse gold links of which an entity is not found.
        changed: Read graphs, too, that have changed since the run.
        limits: How much of the gold links is taken in.
    """
    report = read_report(folder)
    options = report["options"]
    if "model" not in options:
        return read_alignments(links_file(folder), Path(gold), limits)
    task = _aligned_entities(folder)
    ends = Ends.of("source", task.source), Ends.of("target", task.target)
    without_seeds = report.get("cardinality") == "one-to-one" or not reading_of(folder, report).get("seeds")
    known = all(
        ends[0].has_id(link.source) and ends[1].has_id(link.target) for link in read_link_file(gold, strict, limits) if link.holds
    )
    if not (known and without_seeds):
        task = _with_graphs(folder, task, changed)
        ends = Ends.of("source", task.source), Ends.of("target", task.target)
    found = read_given_links(None, gold, *ends, strict=strict, limits=limits)[1] or Alignment.empty()
    others = found.where(~found.among(task.seeds))
    if not len(others):
        raise DataError(f"{gold}: no links besides the seeds; expected rows of source and target")
    return read_links(folder, task), others


def read_task(folder: str | Path, changed: bool = False) -> tuple[AlignmentTask, Alignment]:
    """The task of a run folder: the same graphs, read in the same way, and no gold links. Queries and pool may differ.

    Args:
        folder: The run folder.
        changed: Read files, too, that have changed since. Otherwise they are refused.
    """
    arguments = check_inputs(folder, changed)
    try:
        return read(**arguments)
    except DataError as error:
        raise error.of_run() from None
    except OptionError as error:
        raise DataError(f"{Path(folder) / REPORT}: its graphs cannot be read again: {error}") from None


def check_inputs(folder: str | Path, changed: bool = False) -> dict[str, Any]:
    """How a run has read its graphs, see `reading_of`; files that have changed since are refused, unless `changed` allows them."""
    report = read_report(folder)
    arguments = reading_of(folder, report)
    if not changed:
        fixed = {name: value for name, value in arguments.items() if name != "decisions"}  # people go on to decide
        check_unchanged(Path(folder), fixed, report.get("inputs", {}))
    return arguments


def read_explanations(folder: str | Path, entity: str, changed: bool = False) -> Explanations:
    """Why an entity of a run has its match, or none, from the run folder; see `Run.explain`.

    The graphs are read again only to find an entity by a name that the folder does not have, and to say why it was not aligned.

    Args:
        folder: The run folder.
        entity: The IRI of an entity of either graph, the last part of it, or any of its names.
        changed: Read graphs, too, that have changed since the run.
    """
    folder = Path(folder)
    evidence, report = expect_file(folder, EVIDENCE), read_report(folder)
    contents = RunContents(
        f"{folder}: ",
        [row for _, row in read_link_rows(expect_file(folder, LINKS))],
        [row for _, row in read_unmatched_rows(expect_file(folder, UNMATCHED))],
        lambda sources: read_evidence(evidence, sources),
        lambda: read_task(folder, changed)[0],
        [row for _, row in read_link_rows(folder / CLASSES)] if (folder / CLASSES).is_file() else (),
        [row for _, row in read_decided_rows(folder / LINKS)],
        reading_of(folder, report).get("decisions", ()) if "read" in report["options"] else (),
        report.get("cardinality", "one-to-one"),
        report.get("seconds", {}).get("read", QUICK) < QUICK,
    )
    return explain_entity(entity, contents)


def _aligned_entities(folder: str | Path) -> AlignmentTask:
    """A task of the entities that a run linked or left unmatched, without triples and seeds."""
    sides: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for _, link in read_link_rows(expect_file(folder, LINKS)):
        sides[0][link.source], sides[1][link.target] = link.source_name, link.target_name
    for _, row in read_unmatched_rows(expect_file(folder, UNMATCHED)) if (Path(folder) / UNMATCHED).is_file() else ():
        sides[row.side == "target"][row.entity] = row.name
    no_triples = np.empty((0, 3), np.int64)
    source, target = (KnowledgeGraph(list(side), [], no_triples, Names.of(list(side.values()))) for side in sides)
    return AlignmentTask(source, target, Alignment.empty(), np.arange(len(source.entities)), np.arange(len(target.entities)))


def _with_graphs(folder: str | Path, aligned: AlignmentTask, changed: bool) -> AlignmentTask:
    """The task of a run folder with its graphs, or the one that is given where they cannot be read again."""
    try:
        return read_task(folder, changed)[0]
    except (KgalignError, OSError) as error:
        logger.warning("%s: only entities that were aligned are known, since the graphs cannot be read again (%s)", folder, error)
        return aligned
