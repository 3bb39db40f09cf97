"""Run folders, read back: the content of run.json, the links, the task, and explanations."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph, Names
from kgalign.errors import DataError, KgalignError
from kgalign.explain.notebook import Explanations
from kgalign.readers import read
from kgalign.readers.candidates import read_alignments
from kgalign.readers.link_ends import Ends
from kgalign.readers.link_files import read_link_file
from kgalign.readers.links import read_links as read_given_links
from kgalign.runs.explaining import RunContents, explain_entity
from kgalign.runs.folder import CLASSES, EVIDENCE, LINKS, REPORT, UNMATCHED, links_file
from kgalign.runs.tables import read_link_rows, read_unmatched_rows

logger = logging.getLogger(__name__)
QUICK = 10  # seconds in which graphs were read, so that they are read again only to see which entities share a name
PROBABILITY = re.compile(r"0(?:\.\d*)?|1(?:\.0*)?")


def read_report(folder: str | Path) -> dict[str, Any]:
    """The content of run.json: options, figures and rounds of a run."""
    path = _expect_file(folder, REPORT)
    try:
        report = json.loads(path.read_text("utf-8"))
    except ValueError:
        report = None
    if not isinstance(report, dict):
        raise DataError(f"{path}: expected the JSON object that a run writes; the file may be cut off, so align again")
    return report


def read_links(path: str | Path, task: AlignmentTask) -> Alignment:
    """The links of a run folder, or of its alignment.tsv, between the entities of a task."""
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
    return Alignment(np.array(pairs, np.int64).reshape(-1, 2), np.array(scores, np.float64))


def read_judged(folder: str | Path, gold: str | Path, strict: bool = False) -> tuple[Alignment, Alignment]:
    """The links of a run folder, and the gold links of a file that were no seeds of the run, with common ids.

    Gold links are found as `read` finds them: those of which an entity is not found are counted and left out. The graphs are read again,
    unless all entities of the gold links are in the run folder.

    Args:
        folder: A run folder. Of candidates that another tool has scored, no graphs are known, so all gold links count.
        gold: A file of links.
        strict: Refuse gold links of which an entity is not found.
    """
    report = read_report(folder)
    options = report.get("options", {})
    if "model" not in options:
        return read_alignments(links_file(folder), Path(gold))
    task = _aligned_entities(folder)
    ends = Ends.of("source", task.source), Ends.of("target", task.target)
    without_seeds = report.get("cardinality") == "one-to-one" or not options.get("read", {}).get("seeds")
    known = all(ends[0].has_id(link.source) and ends[1].has_id(link.target) for link in read_link_file(gold, strict) if link.holds)
    if not (known and without_seeds):
        task = _with_graphs(folder, task)
        ends = Ends.of("source", task.source), Ends.of("target", task.target)
    found = read_given_links(None, gold, *ends, strict=strict)[1] or Alignment.empty()
    others = found.where(~np.isin(found.keys, task.seeds.keys))
    if not len(others):
        raise DataError(f"{gold}: no links besides the seeds; expected rows of source and target")
    return read_links(folder, task), others


def read_task(folder: str | Path) -> tuple[AlignmentTask, Alignment]:
    """The task of a run folder: the same graphs, read in the same way, and no gold links. Queries and pool may differ."""
    path = Path(folder) / REPORT
    arguments = read_report(folder).get("options", {}).get("read")
    if not isinstance(arguments, Mapping):
        raise DataError(f"{path}: does not say where its graphs are; expected a run of the command kgalign align")
    return read(**arguments)


def read_explanations(folder: str | Path, entity: str) -> Explanations:
    """Why an entity of a run has its match, or none, from the run folder alone; see `Run.explain`."""
    folder = Path(folder)
    evidence = _expect_file(folder, EVIDENCE)
    contents = RunContents(
        f"{folder}: ",
        [row for _, row in read_link_rows(_expect_file(folder, LINKS))],
        [row for _, row in read_unmatched_rows(_expect_file(folder, UNMATCHED))],
        lambda sources: _read_evidence(evidence, sources),
        lambda: read_task(folder)[0],
        [row for _, row in read_link_rows(folder / CLASSES)] if (folder / CLASSES).is_file() else (),
        read_report(folder).get("seconds", {}).get("read", QUICK) < QUICK,
    )
    return explain_entity(entity, contents)


def _aligned_entities(folder: str | Path) -> AlignmentTask:
    """A task of the entities that a run linked or left unmatched, without triples and seeds."""
    sides: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for _, link in read_link_rows(_expect_file(folder, LINKS)):
        sides[0][link.source], sides[1][link.target] = link.source_name, link.target_name
    for _, row in read_unmatched_rows(_expect_file(folder, UNMATCHED)) if (Path(folder) / UNMATCHED).is_file() else ():
        sides[row.side == "target"][row.entity] = row.name
    no_triples = np.empty((0, 3), np.int64)
    source, target = (KnowledgeGraph(list(side), [], no_triples, Names.of(list(side.values()))) for side in sides)
    return AlignmentTask(source, target, Alignment.empty(), np.arange(len(source.entities)), np.arange(len(target.entities)))


def _with_graphs(folder: str | Path, aligned: AlignmentTask) -> AlignmentTask:
    """The task of a run folder with its graphs, or the one that is given where they cannot be read again."""
    try:
        return read_task(folder)[0]
    except (KgalignError, OSError) as error:
        logger.warning("%s: only entities that were aligned are known, since the graphs cannot be read again (%s)", folder, error)
        return aligned


def _expect_file(folder: str | Path, name: str) -> Path:
    path = Path(folder) / name
    if not path.is_file():
        raise DataError(f"{path}: no such file; expected a run folder, as kgalign align writes it")
    return path


def _read_evidence(path: Path, sources: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of the evidence of some sources."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        rows: list[dict[str, Any]] = pa.parquet.read_table(path, filters=[("source", "in", sources)]).to_pylist()
    except pa.ArrowException as error:
        raise DataError(f"{path}: expected the evidence of a run, but {str(error).splitlines()[0]}; align again") from None
    return rows
