"""Links as a Parquet table with the columns of the TSV format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import KINDS, Alignment, AlignmentTask, Ints
from kgalign.writers.tsv import PERSON


def write(alignment: Alignment, task: AlignmentTask, path: Path) -> None:
    """Writes the links with the same columns as `kgalign.writers.tsv`."""
    write_columns(link_columns(alignment, task), path)


def link_columns(alignment: Alignment, task: AlignmentTask) -> dict[str, Any]:
    """The columns of the table of links, by name."""
    decoder = str(alignment.record.get("decoder", "decoder"))
    deciders = np.where(alignment.among(task.decided), 2, alignment.rounds > 0)
    return {
        "source": strings(task.source.entities, alignment.sources),
        "target": strings(task.target.entities, alignment.targets),
        "source_name": strings(task.source.names, alignment.sources),
        "target_name": strings(task.target.names, alignment.targets),
        "probability": alignment.scores,
        "round": alignment.rounds,
        "decided_by": strings((decoder, "easy-to-hard", PERSON), deciders.astype(np.int64)),
        "kind": strings(KINDS, task.source.kinds[alignment.sources]),
    }


def strings(texts: Sequence[str], ids: Ints) -> Any:
    """A column of the texts of those ids, each text stored once."""
    import pyarrow as pa

    used, where = np.unique(ids, return_inverse=True)
    return pa.DictionaryArray.from_arrays(pa.array(where, pa.int32()), pa.array([texts[i] for i in used.tolist()], pa.string()))


def write_columns(columns: Mapping[str, Any], path: Path) -> None:
    """Writes columns by name as one table."""
    import pyarrow as pa
    import pyarrow.parquet

    with path.open("wb") as file:  # Arrow takes no path that is not UTF-8
        pa.parquet.write_table(pa.table(dict(columns)), file, compression="zstd")
