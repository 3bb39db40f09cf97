"""candidates.parquet, read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import Candidates, Cardinality, Ints, one_link
from kgalign.decoding.cardinality import with_odds, with_own_odds
from kgalign.errors import DataError, one_line
from kgalign.readers.parquet import read_own_table
from kgalign.runs.hashes import GraphHashes, text_hashes


def read_candidates_table(
    path: Path, sides: tuple[GraphHashes, GraphHashes], queries: Ints, cardinality: Cardinality, scale: tuple[float, float] | None
) -> Candidates:
    """The candidates of a run.

    Args:
        path: Its candidates.parquet.
        sides: The hashes of its graphs.
        queries: (n,) its queries, ascending.
        cardinality: How many links an entity may have.
        scale: The temperature and the no-match score of the candidates. None: nobody knows, so the probabilities make the scores.
    """
    import pyarrow as pa

    try:
        table = read_own_table(path, ["source", "target", "score", "probability"])
        sources, targets = (_ids(table[name], side) for name, side in zip(("source", "target"), sides, strict=True))
        scores, probabilities = (np.asarray(table[name].to_numpy(), np.float64) for name in ("score", "probability"))
        if not (np.isfinite(scores).all() and np.isfinite(probabilities).all()):
            raise ValueError("a score is no finite number")
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, LookupError, TypeError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({one_line(str(error), 120)}); the file is damaged, so align again") from None
    rows = np.minimum(np.searchsorted(queries, sources), max(0, len(queries) - 1))
    if (targets < 0).any() or (len(sources) and not (len(queries) and (queries[rows] == sources).all())):
        raise DataError(f"{path}: names entities that the graphs of the run do not have; the file is damaged, so align again")
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    slots = np.arange(len(rows)) - np.searchsorted(rows, rows)
    shape = len(queries), int(slots.max(initial=0)) + 1
    packed, values = np.full(shape, -1, np.int32), np.full(shape, -np.inf, np.float32)
    packed[rows, slots] = targets[order]
    values[rows, slots] = scores[order]
    found = Candidates(queries, packed, values, cardinality=cardinality)
    if scale is not None:
        return Candidates(queries, packed, values, *scale, cardinality=cardinality)
    shares = np.zeros(shape)
    shares[rows, slots] = np.clip(probabilities[order], 0, 1)
    if not one_link(cardinality)[0]:
        return with_own_odds(found, shares, cardinality)
    found = with_odds(found, shares / np.maximum(shares.sum(axis=1, keepdims=True), 1))
    return Candidates(found.queries, found.targets, found.scores, no_match_score=0.0, cardinality=cardinality)


def _ids(column: Any, side: GraphHashes) -> Ints:
    """(n,) the ids of the entities of a column of IRIs, -1: the graph does not have it."""
    import pyarrow as pa

    whole = column.unify_dictionaries().combine_chunks() if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    whole = whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
    if isinstance(whole, pa.ChunkedArray) or whole.null_count:
        raise ValueError("an entity is missing")
    ids = side.places_of(text_hashes(whole.dictionary.to_pylist()))
    found: Ints = np.append(ids, -1)[whole.indices.to_numpy()]
    return found
