"""Parquet tables: links, candidates and evidence, for programs that read columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates, Ints
from kgalign.explain.evidence import Evidence, evidence_table


def write(alignment: Alignment, task: AlignmentTask, path: Path) -> None:
    """Writes the columns of alignment.tsv."""
    decoder = str(alignment.record.get("decoder", "decoder"))
    columns = {
        "source": strings(task.source.entities, alignment.sources),
        "target": strings(task.target.entities, alignment.targets),
        "source_name": strings(task.source.names, alignment.sources),
        "target_name": strings(task.target.names, alignment.targets),
        "probability": alignment.scores,
        "round": alignment.rounds,
        "decided_by": strings((decoder, "easy-to-hard"), (alignment.rounds > 0).astype(np.int64)),
    }
    _write(columns, path)


def write_candidates(candidates: Candidates, task: AlignmentTask, path: Path) -> None:
    """Writes one row a candidate pair, best first for each source."""
    rows, slots = candidates.edges()
    columns = {
        "source": strings(task.source.entities, candidates.queries[rows]),
        "target": strings(task.target.entities, candidates.targets[rows, slots]),
        "score": candidates.scores[rows, slots].astype(np.float32),
        "probability": candidates.probabilities()[rows, slots].astype(np.float32),
    }
    _write(columns, path)


def write_evidence(evidence: Evidence, task: AlignmentTask, decoder: str, path: Path) -> None:
    """Writes one row for each link and one for each runner-up, with the neighbours that speak for it."""
    import pyarrow as pa
    import pyarrow.parquet

    pa.parquet.write_table(evidence_table(evidence, task, decoder), path, compression="zstd")


def strings(texts: Sequence[str], ids: Ints) -> Any:
    """The texts of those ids, each stored once."""
    import pyarrow as pa

    used, where = np.unique(ids, return_inverse=True)
    return pa.DictionaryArray.from_arrays(pa.array(where, pa.int32()), pa.array([texts[i] for i in used.tolist()], pa.string()))


def _write(columns: Mapping[str, Any], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    pa.parquet.write_table(pa.table(dict(columns)), path, compression="zstd")
