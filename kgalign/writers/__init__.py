"""Results to files. `write` picks the format by the ending of the file."""

from __future__ import annotations

from pathlib import Path

from kgalign.data import Alignment, AlignmentTask
from kgalign.errors import OptionError
from kgalign.writers import oaei, parquet, sameas, sssom, tsv
from kgalign.writers.rdf import write_graph

WRITERS = {  # the longer ending first
    ".sssom.tsv": sssom.write,
    ".tsv": tsv.write,
    ".nt": sameas.write,
    ".rdf": oaei.write,
    ".parquet": parquet.write,
}

__all__ = ["WRITERS", "write", "write_graph"]


def write(alignment: Alignment, task: AlignmentTask, path: str | Path) -> None:
    """Writes the links to a file: .tsv, .sssom.tsv, .nt (owl:sameAs), .rdf (the format of the OAEI) or .parquet."""
    path = Path(path)
    for ending, write_links in WRITERS.items():
        if path.name.endswith(ending):
            return write_links(alignment, task, path)
    raise OptionError(f"{path}: no format for this ending; expected one of {', '.join(WRITERS)}")
