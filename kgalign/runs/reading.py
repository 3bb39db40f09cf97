"""Run folders, read back: the content of run.json, the links, the task, and explanations."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask
from kgalign.errors import DataError
from kgalign.explain.notebook import Explanations
from kgalign.readers import read
from kgalign.runs.explaining import RunContents, explain_entity
from kgalign.runs.folder import CLASSES, EVIDENCE, LINKS, REPORT, UNMATCHED, links_file
from kgalign.runs.tables import read_link_rows, read_unmatched_rows

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


def read_names(folder: str | Path) -> tuple[dict[str, str], dict[str, str]]:
    """The entity of each name that no other entity has as its name or id, for either graph: of those that the run linked or left unmatched."""
    sides: tuple[dict[str, set[str]], dict[str, set[str]]] = ({}, {})
    for _, link in read_link_rows(_expect_file(folder, LINKS)):
        sides[0].setdefault(link.source_name, set()).add(link.source)
        sides[1].setdefault(link.target_name, set()).add(link.target)
    for _, row in read_unmatched_rows(_expect_file(folder, UNMATCHED)) if (Path(folder) / UNMATCHED).is_file() else ():
        sides[row.side == "target"].setdefault(row.name, set()).add(row.entity)
    entities = [{entity for ids in side.values() for entity in ids} for side in sides]
    source, target = (
        {name: next(iter(ids)) for name, ids in side.items() if name and len(ids) == 1 and name not in own}
        for side, own in zip(sides, entities, strict=True)
    )
    return source, target


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
    )
    return explain_entity(entity, contents)


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
