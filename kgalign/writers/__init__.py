"""Links and graphs to files. `write` chooses the format by the ending of the file name."""

from __future__ import annotations

from pathlib import Path

from kgalign.data import Alignment, AlignmentTask
from kgalign.errors import OptionError
from kgalign.registry import Registry
from kgalign.seams import LinkWriter
from kgalign.writers.rdf import write_graph

WRITERS = Registry(
    "writer",
    "kgalign.writers",
    {
        "sssom.tsv": "kgalign.writers.sssom:write",
        "tsv": "kgalign.writers.tsv:write",
        "nt": "kgalign.writers.sameas:write",
        "rdf": "kgalign.writers.oaei:write",
        "parquet": "kgalign.writers.parquet:write",
    },
)

__all__ = ["WRITERS", "write", "write_graph"]


def write(alignment: Alignment, task: AlignmentTask, path: str | Path) -> None:
    """Writes links to a file. The ending of its name says the format; of several that fit, the longest counts.

    Built in are .tsv, .sssom.tsv, .nt (owl:sameAs, or owl:equivalentClass, owl:equivalentProperty and skos:exactMatch by the kind of the
    entities), .rdf (the alignment format of the OAEI) and .parquet. Installed packages add others by entry points of the group
    `kgalign.writers`: the name is the ending without its dot, the value a `kgalign.seams.LinkWriter`.
    """
    path = Path(path)
    endings = [ending for ending in WRITERS if path.name.endswith(f".{ending}")]
    if not endings:
        raise OptionError(f"{path}: no format has this ending; expected one of {', '.join(f'.{ending}' for ending in WRITERS)}")
    writer: LinkWriter = WRITERS[max(endings, key=len)]
    writer(alignment, task, path)
