"""The run folder: the names of its files, and how it is written, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.characters import json_text
from kgalign.drafts import NEW, check_writable, draft_of, put_in_place
from kgalign.errors import OptionError
from kgalign.explain.report import render
from kgalign.runs.changes import write_changes
from kgalign.runs.evidence_table import evidence_table
from kgalign.runs.inputs import REPORT
from kgalign.runs.kept import forget_rounds
from kgalign.runs.remembered import REMEMBERED, write_remembered
from kgalign.runs.run import Run
from kgalign.runs.tables import write_candidates, write_classes, write_relations, write_unmatched
from kgalign.writers import sameas, sssom, tsv

LINKS = "alignment.tsv"
SSSOM = "alignment.sssom.tsv"
SAME_AS = "sameas.nt"
UNMATCHED = "unmatched.tsv"
RELATIONS = "relations.tsv"
CLASSES = "classes.tsv"
CANDIDATES = "candidates.parquet"
EVIDENCE = "evidence.parquet"
ROUNDS = "rounds.jsonl"
PAGE = "report.html"
CHANGES = "changes.tsv"
FILES = {LINKS, SSSOM, SAME_AS, UNMATCHED, RELATIONS, CLASSES, CHANGES, CANDIDATES, EVIDENCE, REMEMBERED, ROUNDS, REPORT, PAGE}
SOMETIMES = {CLASSES, CHANGES, REMEMBERED}  # of them, those that only some runs have


def links_file(path: str | Path) -> Path:
    """The table of links: of a run folder its own, a file as it is."""
    path = Path(path)
    return path / LINKS if path.is_dir() else path


def check_free(folder: str | Path) -> None:
    """Refuses a folder in which no run can be written. An earlier run may be replaced, anything else may not.

    Raises:
        OptionError: The folder is the working folder, holds other files, or cannot be made.
    """
    folder = Path(folder).resolve()
    if folder == Path.cwd():
        raise OptionError(f"{folder}: this is the working folder; expected a folder of its own for the run")
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not _is_run(folder)):
        raise OptionError(f"{folder}: exists and is not a run of kgalign; expected a new folder or an earlier run")
    check_writable(folder)


def write_run(run: Run, folder: str | Path) -> Path:
    """Writes the FILES of a run and returns the folder. An earlier run there is replaced when the new one is complete.

    A run that links no classes has no classes.tsv, one that starts from no other has no changes.tsv, and one of another tool's candidates has
    no update.npz. Rounds that were kept for the folder are gone then.
    """
    folder = Path(folder).resolve()
    check_free(folder)
    with draft_of(folder) as draft:
        new = draft / NEW
        new.mkdir()
        _write_files(run, new)
        put_in_place(new, folder)
    forget_rounds(folder)
    return folder


def _write_files(run: Run, folder: Path) -> None:
    import pyarrow.parquet

    links = run.links.alignment
    tsv.write(links, run.task, folder / LINKS)
    sssom.write(links, run.task, folder / SSSOM)
    sameas.write(links, run.task, folder / SAME_AS)
    write_unmatched(links, run.task, run.candidates, folder / UNMATCHED)
    write_relations(run.relations, run.properties, run.task, folder / RELATIONS)
    if len(run.classes):
        write_classes(run.classes, run.task, folder / CLASSES)
    if run.changes is not None:
        write_changes(run.changes, folder / CHANGES)
    write_candidates(run.candidates, run.task, folder / CANDIDATES)
    if run.model is not None:
        write_remembered(run.task, run.reasoning, folder / REMEMBERED)
    evidence = run.evidence()
    with (folder / EVIDENCE).open("wb") as file:
        pyarrow.parquet.write_table(evidence_table(evidence, run.task, run.decoder), file, compression="zstd")
    page = render(
        run.task,
        run.reasoning,
        evidence,
        metrics=run.metrics,
        gold=run.gold,
        options=run.options,
        seconds=run.seconds,
        inputs=run.inputs,
        relations=run.relations,
        reliability=run.reliability,
    )
    _write_text(folder / PAGE, page)
    _write_text(folder / ROUNDS, "".join(json.dumps(figures.summary()) + "\n" for figures in run.reasoning.rounds))
    _write_text(folder / REPORT, json_text(run.report(), indent=2, default=_plain) + "\n")


def _is_run(folder: Path) -> bool:
    """Whether the folder holds an earlier run and nothing else."""
    report = folder / REPORT
    names = {path.name for path in folder.iterdir()}
    return names <= FILES and report.is_file() and '"kgalign"' in report.read_text("utf-8", errors="replace")


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")  # file names may be no UTF-8


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
