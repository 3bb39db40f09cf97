"""Links and candidates that another tool, or an earlier run, has written. Entities go by name, with or without a score."""

from __future__ import annotations

from collections.abc import Sequence, Set
from pathlib import Path
from typing import Literal

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates, Cardinality, Floats, Ints, KnowledgeGraph, Names
from kgalign.decoding.cardinality import with_cardinality, with_own_odds
from kgalign.errors import DataError
from kgalign.files import of_cell
from kgalign.iri import same_spelling
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.arrays import read_arrays
from kgalign.readers.link_files import read_link_file
from kgalign.readers.tables import read_table
from kgalign.seams import GivenLink

Scale = Literal["similarity", "probability", "distance"]
Scored = tuple[Ints, Ints, Floats, tuple[list[str], list[str]]]  # (n,) source ids, target ids, scores; names of sources and targets
Pair = tuple[str, str]
LARGEST = float(np.finfo(np.float32).max)  # that a score can be


def read_candidates(
    path: Path,
    scale: Scale = "similarity",
    temperature: float = 1.0,
    cardinality: Cardinality = "one-to-one",
    limits: Limits = DEFAULT,
) -> tuple[Candidates, AlignmentTask]:
    """Candidates from a file, and a task with the names of their entities.

    Args:
        path: A table of source, target and score (tsv, csv, parquet), or arrays (npz).
        scale: The meaning of the scores. `similarity`: larger is better. `distance`: smaller is better. `probability`: from 0 to 1, and
            normalised over the candidates of each source. Where a source may have several targets, over those of each target; where both may
            have several, each stands as it is.
        temperature: Scores divided by the temperature are log-odds.
        cardinality: How many links an entity may have.
        limits: How much of the file is taken in.
    """
    if path.suffix == ".npz":
        sources, targets, scores, names = _read_arrays(path, limits)
    else:
        sources, targets, scores, names = _read_scored(path, limits)
    if not len(scores):
        raise DataError(f"{path}: no candidates; expected rows of source, target and score")
    if not np.isfinite(scores).all():
        raise DataError(f"{path}: {int((~np.isfinite(scores)).sum())} scores are not finite numbers")
    if (largest := np.abs(scores).max()) > LARGEST * min(1.0, temperature):
        allowed = f"scores up to {LARGEST:.2g}, also after they are divided by the temperature {temperature:g}"
        raise DataError(f"{path}: expected {allowed}, found {largest:g}")
    if scale == "distance":
        scores = -scores
    elif scale == "probability":
        if scores.min() < 0 or scores.max() > 1:
            raise DataError(f"{path}: scores from {scores.min():g} to {scores.max():g}; probabilities lie between 0 and 1")
        scores = np.log(np.maximum(scores, 1e-30))
    from kgalign.search import pack  # compiled code, slow to import

    source, target = (KnowledgeGraph(side, [], np.empty((0, 3), np.int64), Names.of(side)) for side in names)
    packed = pack(sources, targets, scores.astype(np.float32), len(names[0]), len(names[1]))
    candidates = Candidates(packed.queries, packed.targets, packed.scores, temperature)
    if cardinality == "many-to-many" and scale == "probability":
        candidates = with_own_odds(candidates, np.exp(packed.scores.astype(np.float64)), cardinality)
    queries, pool = np.arange(len(names[0])), np.arange(len(names[1]))
    task = AlignmentTask(source, target, Alignment.empty(), queries, pool, cardinality=cardinality)
    return with_cardinality(candidates, cardinality), task


def read_alignments(path: Path, gold_path: Path, limits: Limits = DEFAULT) -> tuple[Alignment, Alignment]:
    """The links of a file and the gold links of another, with common ids. An IRI may be spelt differently in the two.

    The graphs are not known, so each gold link counts. A file that has no source or no target of the gold links is refused.

    Args:
        path: A file of links, perhaps with probabilities.
        gold_path: A file of links.
        limits: How much of each file is taken in.
    """
    links = read_link_file(path, limits=limits)
    scores = [1.0 if link.score is None else _probability(path, link.line, link.score) for link in links]
    ends = [_spelt(link) for link in links]
    known = {source for source, _ in ends}, {target for _, target in ends}
    gold = _facing(_read_pairs(gold_path, limits), known)
    for file, found in ((path, ends), (gold_path, gold)):
        if not found:
            raise DataError(f"{file}: no links; expected rows of source and target")
    for side, of_links, of_gold in zip(("source", "target"), known, map(set, zip(*gold, strict=True)), strict=True):
        if not of_links & of_gold:
            raise DataError(
                f"{path}: no link has a {side} of the gold links; expected links between the entities of {gold_path}, such as "
                f"{min(of_gold)!r}, found {getattr(links[0], side)[:60]!r}"
            )
    ids: tuple[dict[str, int], dict[str, int]] = ({}, {})
    return Alignment(_numbered(ends, ids), np.array(scores)), Alignment(_numbered(gold, ids))


def read_gold(path: Path, task: AlignmentTask, limits: Limits = DEFAULT) -> Alignment:
    """The links of a file between the entities of a task, and between others, which get ids that no entity has."""
    ids = tuple({same_spelling(name): number for number, name in enumerate(graph.entities)} for graph in (task.source, task.target))
    known = set(ids[0]), set(ids[1])
    return Alignment(_numbered(_facing(_read_pairs(path, limits), known), (ids[0], ids[1])))


def _read_pairs(path: Path, limits: Limits) -> list[Pair]:
    """The ends of the links of a file, each link once."""
    return list(dict.fromkeys(_spelt(link) for link in read_link_file(path, limits=limits) if link.holds))


def _spelt(link: GivenLink) -> Pair:
    """The ends of a link in their one spelling."""
    source, target = (same_spelling(of_cell(end)) for end in (link.source, link.target))
    return source, target


def _facing(pairs: Sequence[Pair], known: tuple[Set[str], Set[str]]) -> Sequence[Pair]:
    """The pairs, all turned round if only so some of their entities are known."""
    fits = any(source in known[0] or target in known[1] for source, target in pairs)
    turned = [(target, source) for source, target in pairs]
    return pairs if fits or not any(source in known[0] or target in known[1] for source, target in turned) else turned


def _numbered(pairs: Sequence[Pair], ids: tuple[dict[str, int], dict[str, int]]) -> Ints:
    """(n, 2) the ids of pairs; entities without an id get the next one."""
    found = [[side.setdefault(end, len(side)) for side, end in zip(ids, pair, strict=True)] for pair in pairs]
    return np.array(found, np.int64).reshape(-1, 2)


def _probability(path: Path, line: int, value: float) -> float:
    if not 0 <= value <= 1:
        place = f"{path}:{line}" if line else str(path)
        raise DataError(f"{place}: expected a probability from 0 to 1, found {'no number' if value != value else value}")
    return value


def _read_scored(path: Path, limits: Limits) -> Scored:
    """Sources, targets, scores and names out of a table."""
    ids: tuple[dict[str, int], dict[str, int]] = ({}, {})
    sources, targets, scores = [], [], []
    for number, (source, target, score) in read_table(path, 3, limits):
        sources.append(ids[0].setdefault(source, len(ids[0])))
        targets.append(ids[1].setdefault(target, len(ids[1])))
        try:
            scores.append(float(score.split("\t")[0]))
        except ValueError:
            raise DataError(f"{path}:{number}: expected a number as score, found {score!r}") from None
    names = (list(ids[0]), list(ids[1]))
    return np.array(sources, np.int64), np.array(targets, np.int64), np.array(scores, np.float64), names


def _read_arrays(path: Path, limits: Limits) -> Scored:
    """Sources, targets, scores and names out of arrays. Entities are named by their numbers.

    `scores` alone is a full matrix; with `targets` (n, k) it holds the scores of those targets. A query that occurs twice is one source.
    """
    arrays = read_arrays(path, ("scores", "targets", "queries"), limits)
    scores = arrays["scores"].astype(np.float64)
    if scores.ndim != 2:
        raise DataError(f"{path}: expected scores (n, k), found {scores.shape}")
    targets = arrays.get("targets", np.broadcast_to(np.arange(scores.shape[1]), scores.shape))
    queries = arrays.get("queries", np.arange(len(scores)))
    if targets.dtype.kind not in "iu" or queries.dtype.kind not in "iu":
        raise DataError(f"{path}: expected whole numbers as targets and queries, found {targets.dtype} and {queries.dtype}")
    if targets.shape != scores.shape or queries.shape != scores.shape[:1]:
        raise DataError(
            f"{path}: expected scores and targets (n, k) and queries (n,), found {scores.shape}, {targets.shape} and {queries.shape}"
        )
    exists = targets >= 0
    pool, columns = np.unique(targets[exists], return_inverse=True)
    ids: dict[int, int] = {}
    sources = np.array([ids.setdefault(query, len(ids)) for query in queries.tolist()], np.int64)
    names = ([str(query) for query in ids], [str(target) for target in pool.tolist()])
    return sources[np.nonzero(exists)[0]], columns, scores[exists].astype(np.float64), names
