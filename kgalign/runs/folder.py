"""The folder of a run: links, candidates, rounds, and how it all came about. Whole or not there at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgalign.errors import OptionError
from kgalign.explain.evidence import gather_evidence
from kgalign.explain.report import write_report
from kgalign.writers import parquet, sameas, sssom, tsv

FILES = {
    "alignment.tsv",
    "alignment.sssom.tsv",
    "unmatched.tsv",
    "sameas.nt",
    "relations.tsv",
    "candidates.parquet",
    "evidence.parquet",
    "rounds.jsonl",
    "run.json",
    "report.html",
}

if TYPE_CHECKING:
    from kgalign.runs.run import Run


def check_free(folder: Path) -> None:
    """Refuses a folder that holds anything but an earlier run, before any work is done."""
    folder = folder.resolve()
    if folder == Path.cwd():
        raise OptionError(f"{folder}: the run needs a folder of its own; give one with -o")
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not _is_run(folder)):
        raise OptionError(f"{folder}: exists and is not a run of kgalign; give another folder with -o")
    above = next(parent for parent in folder.parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise OptionError(f"{folder}: no folder can be made there; give another one with -o")


def write_run(run: Run, folder: str | Path) -> Path:
    """Writes the links, the candidates, the evidence, the rounds and the report, as FILES names them. An earlier run is replaced."""
    folder = Path(folder).resolve()
    check_free(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as draft_name:
        draft = Path(draft_name)
        (draft / "after").mkdir()
        tsv.write(run.alignment, run.task, draft / "after" / "alignment.tsv")
        tsv.write_unmatched(run.alignment, run.task, run.candidates, draft / "after" / "unmatched.tsv")
        sssom.write(run.alignment, run.task, draft / "after" / "alignment.sssom.tsv")
        sameas.write(run.alignment, run.task, draft / "after" / "sameas.nt")
        tsv.write_relations(run.relations, draft / "after" / "relations.tsv")
        parquet.write_candidates(run.candidates, run.task, draft / "after" / "candidates.parquet")
        evidence = gather_evidence(run.task, run.alignment, run.candidates, known=run.reasoning.known)
        decoder = str(run.alignment.record.get("decoder", "decoder"))
        parquet.write_evidence(evidence, run.task, decoder, draft / "after" / "evidence.parquet")
        write_report(run, evidence, draft / "after" / "report.html")
        _write_text(draft / "after" / "rounds.jsonl", "".join(json.dumps(figures.summary()) + "\n" for figures in run.reasoning.rounds))
        _write_text(draft / "after" / "run.json", json.dumps(run.report(), indent=2, ensure_ascii=False, default=_plain) + "\n")
        if folder.exists():
            folder.rename(draft / "before")
        (draft / "after").rename(folder)
    return folder


def _is_run(folder: Path) -> bool:
    """Whether the folder holds an earlier run and nothing else."""
    report = folder / "run.json"
    names = {path.name for path in folder.iterdir()}
    return names <= FILES and report.is_file() and '"kgalign"' in report.read_text("utf-8", errors="replace")


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
