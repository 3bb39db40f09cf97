"""Links and candidates that another tool, or an earlier run, has written. Entities go by name, with or without a score."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from zipfile import BadZipFile

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates, Floats, Ints, KnowledgeGraph
from kgalign.errors import DataError
from kgalign.files import open_lines
from kgalign.readers.links import link_names
from kgalign.readers.tables import read_table

Scale = Literal["similarity", "probability", "distance"]
Scored = tuple[Ints, Ints, Floats, tuple[list[str], list[str]]]  # (n,) source ids, target ids, scores; names of sources and targets
SCORE_COLUMNS = ("probability", "score", "scores", "similarity", "confidence")


def read_candidates(path: Path, scale: Scale = "similarity", temperature: float = 1.0) -> tuple[Candidates, AlignmentTask]:
    """Candidates from a file, and a task with the names of their entities.

    Args:
        path: A table of source, target and score (tsv, csv, parquet), or arrays (npz).
        scale: The meaning of the scores. `similarity`: larger is better. `distance`: smaller is better. `probability`: from 0 to 1, and
            normalised over the candidates of each source.
        temperature: Scores divided by the temperature are log-odds.
    """
    if path.suffix == ".npz":
        sources, targets, scores, names = _read_arrays(path)
    else:
        sources, targets, scores, names = _read_scored(path)
    if not len(scores):
        raise DataError(f"{path}: no candidates; expected rows of source, target and score")
    if not np.isfinite(scores).all():
        raise DataError(f"{path}: {int((~np.isfinite(scores)).sum())} scores are not finite numbers")
    if scale == "distance":
        scores = -scores
    elif scale == "probability":
        if scores.min() < 0 or scores.max() > 1:
            raise DataError(f"{path}: scores from {scores.min():g} to {scores.max():g}; probabilities lie between 0 and 1")
        scores = np.log(np.maximum(scores, 1e-30))
    from kgalign.search import pack  # compiled code, slow to import

    source, target = (KnowledgeGraph(side, [], np.empty((0, 3), np.int64), side) for side in names)
    packed = pack(sources, targets, scores.astype(np.float32), len(names[0]), len(names[1]))
    candidates = Candidates(packed.queries, packed.targets, packed.scores, temperature)
    task = AlignmentTask(source, target, Alignment.empty(), np.arange(len(names[0])), np.arange(len(names[1])))
    return candidates, task


def read_alignments(path: Path, gold_path: Path, seeds_path: Path | None = None) -> tuple[Alignment, Alignment]:
    """The links of a file and the gold links of another, with common ids.

    Args:
        path: A table of source and target, perhaps with a probability.
        gold_path: A table of source and target.
        seeds_path: A table of source and target. These links are left out of the gold links.
    """
    seeds = {link_names(fields) for _, fields in read_table(seeds_path, 2)} if seeds_path else set()
    ids: tuple[dict[str, int], dict[str, int]] = ({}, {})
    links = []
    for file in (path, gold_path):
        score_at = _score_column(file)
        pairs, scores = [], []
        for number, fields in read_table(file, 2 if score_at is None else max(2, score_at + 1)):
            names = link_names(fields)
            if file == gold_path and names in seeds:
                continue
            pairs.append([side.setdefault(name, len(side)) for side, name in zip(ids, names, strict=True)])
            scores.append(1.0 if score_at is None else _probability(file, number, fields[score_at].split("\t")[0]))
        if not pairs:
            rest = " besides the seeds" if file == gold_path and seeds else ""
            raise DataError(f"{file}: no links{rest}; expected rows of source and target")
        links.append(Alignment(np.array(pairs, np.int64), np.array(scores)))
    return links[0], links[1]


def _score_column(path: Path) -> int | None:
    """The position of the score in a table with a header; None: it has no score."""
    if path.suffix == ".parquet" and path.is_file():
        import pyarrow as pa
        import pyarrow.parquet

        try:
            header = pa.parquet.read_schema(path).names
        except pa.ArrowException as error:
            raise DataError(f"{path}: expected a Parquet table, but {str(error).splitlines()[0]}") from None
    else:
        header = next((line for _, line in open_lines(path)), "").replace(",", "\t").split("\t")
    return next((header.index(name) for name in SCORE_COLUMNS if name in header), None)


def _probability(path: Path, number: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise DataError(f"{path}:{number}: expected a probability from 0 to 1, found {text!r}")
    return value


def _read_scored(path: Path) -> Scored:
    """Sources, targets, scores and names out of a table."""
    ids: tuple[dict[str, int], dict[str, int]] = ({}, {})
    sources, targets, scores = [], [], []
    for number, (source, target, score) in read_table(path, 3):
        sources.append(ids[0].setdefault(source, len(ids[0])))
        targets.append(ids[1].setdefault(target, len(ids[1])))
        try:
            scores.append(float(score.split("\t")[0]))
        except ValueError:
            raise DataError(f"{path}:{number}: expected a number as score, found {score!r}") from None
    names = (list(ids[0]), list(ids[1]))
    return np.array(sources, np.int64), np.array(targets, np.int64), np.array(scores, np.float64), names


def _read_arrays(path: Path) -> Scored:
    """Sources, targets, scores and names out of arrays. Entities are named by their numbers.

    `scores` alone is a full matrix; with `targets` (n, k) it holds the scores of those targets.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            scores = arrays["scores"].astype(np.float64)
            targets = arrays["targets"] if "targets" in arrays else np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
            queries = arrays["queries"] if "queries" in arrays else np.arange(len(scores))
    except (KeyError, ValueError, OSError, IndexError, TypeError, EOFError, BadZipFile) as error:
        raise DataError(f"{path}: expected the array `scores` and perhaps `targets` and `queries`, but {error}") from None
    if scores.ndim != 2 or targets.shape != scores.shape or queries.shape != scores.shape[:1]:
        raise DataError(
            f"{path}: expected scores and targets (n, k) and queries (n,), found {scores.shape}, {targets.shape} and {queries.shape}"
        )
    exists = targets >= 0
    pool, columns = np.unique(targets[exists], return_inverse=True)
    names = ([str(query) for query in queries.tolist()], [str(target) for target in pool.tolist()])
    return np.nonzero(exists)[0], columns, scores[exists], names
