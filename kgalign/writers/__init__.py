"""Results to files. `write` picks the format by the file's ending; `write_run` writes the whole folder of a run."""

from __future__ import annotations

from pathlib import Path

from kgalign.data import Alignment, AlignmentTask
from kgalign.errors import OptionError
from kgalign.writers import sameas, tsv
from kgalign.writers.rdf import write_graph
from kgalign.writers.run import write_run

WRITERS = {".tsv": tsv.write, ".nt": sameas.write}

__all__ = ["WRITERS", "write", "write_graph", "write_run"]


def write(alignment: Alignment, task: AlignmentTask, path: str | Path) -> None:
    """Writes the links to a file: .tsv (names and probabilities) or .nt (owl:sameAs)."""
    path = Path(path)
    if path.suffix not in WRITERS:
        raise OptionError(f"{path}: no format for this ending; expected one of {', '.join(WRITERS)}")
    WRITERS[path.suffix](alignment, task, path)
