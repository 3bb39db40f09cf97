"""update.npz: what a run keeps of itself, so that the next run can start from it when the graphs have changed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Ints, one_link
from kgalign.errors import DataError, one_line
from kgalign.reasoning import Reasoning
from kgalign.reasoning.calibration import Rescaling, Sharpening
from kgalign.runs.hashes import GraphHashes, graph_hashes, text_hashes
from kgalign.runs.stored_values import restore, store

REMEMBERED = "update.npz"


@dataclass(frozen=True, eq=False)
class Links:
    """The ends of some links, by the ids of their entities, and their scores."""

    pairs: Ints = field(default_factory=lambda: np.empty((0, 2), np.int64))
    scores: Ints = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, alignment: Alignment) -> Links:
        return cls(alignment.pairs, alignment.scores)

    def alignment(self) -> Alignment:
        return Alignment(self.pairs, self.scores)


@dataclass(frozen=True, eq=False)
class Remembered:
    """What the next run needs to know of a run beside its links and candidates. Ids are those of its graphs.

    Attributes:
        source: The hashes of the source graph.
        target: Those of the target graph.
        queries: (n,) the query entities.
        pool: (m,) the candidate pool.
        seeds: The seeds.
        rejected: The rejected pairs.
        elsewhere: The links of other entities than queries and pool that were evidence, with their probabilities.
        known: The confident ones among them.
        temperature: Of the candidates.
        no_match_score: Of the candidates.
        calibrate: What held-out seeds have taught about probabilities, None where there was nothing to learn.
        decided: Those of the seeds that people have decided on.
    """

    source: GraphHashes
    target: GraphHashes
    queries: Ints
    pool: Ints
    seeds: Links
    rejected: Links
    elsewhere: Links
    known: Links
    temperature: float
    no_match_score: float
    calibrate: Rescaling | Sharpening | None
    decided: Links = field(default_factory=Links)

    @classmethod
    def of(cls, task: AlignmentTask, reasoning: Reasoning) -> Remembered:
        given = reasoning.evidence
        inside = np.isin(given.sources, task.queries) | np.isin(given.targets, task.pool) | given.among(task.seeds)
        return cls(
            *graph_hashes(task),
            task.queries,
            task.pool,
            Links.of(task.seeds),
            Links.of(task.rejected),
            Links.of(given.where(~inside)),
            Links.of(reasoning.known),
            reasoning.candidates.temperature,
            reasoning.candidates.no_match_score,
            reasoning.calibrate,
            Links.of(task.decided),
        )

    def closed(self, task: AlignmentTask) -> AlignmentTask:
        """The task with the queries and the pool of this run, as far as they still exist: the closed protocol takes no others.

        Entities of a decided match leave the queries and the pool, and return when the decision is undone.
        """
        inside = []
        for graph, before, ids in (
            (task.source, self.source, np.union1d(self.queries, self.decided.pairs[:, 0])),
            (task.target, self.target, np.union1d(self.pool, self.decided.pairs[:, 1])),
        ):
            inside.append(np.flatnonzero(np.isin(text_hashes(graph.entities), before.entities[ids])))
        touches = np.isin(task.seeds.sources, inside[0]) | np.isin(task.seeds.targets, inside[1])
        seeds = task.seeds.where(~touches | task.seeds.among(task.decided))
        queries, pool = (
            np.setdiff1d(ids, given) if single else ids
            for ids, given, single in zip(inside, seeds.pairs.T, one_link(task.cardinality), strict=True)
        )
        return replace(task, seeds=seeds, queries=queries, pool=pool, protocol="closed")


def write_remembered(task: AlignmentTask, reasoning: Reasoning, path: Path) -> None:
    """Writes update.npz."""
    with path.open("wb") as file:
        store(Remembered.of(task, reasoning), file)


def read_remembered(path: Path) -> Remembered:
    """The content of an update.npz."""
    try:
        with path.open("rb") as file:
            found = restore(file, (Remembered, GraphHashes, Links, Rescaling, Sharpening))
        if not isinstance(found, Remembered):
            raise ValueError("it holds something else")
        _check(found)
    except (ValueError, OSError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: cannot be read ({one_line(str(error), 120)}); the file is damaged, so align again") from None
    return found


def _check(found: Remembered) -> None:
    """Refuses what no run has written: a damaged file may still be readable."""
    sizes = [len(side.entities) for side in (found.source, found.target)]
    for side in (found.source, found.target):
        if side.entities.dtype != np.uint64 or side.statements.dtype != np.uint64 or side.entities.shape != side.statements.shape:
            raise ValueError("its hashes are no hashes")
    links_of = (found.seeds, found.rejected, found.elsewhere, found.known, found.decided)
    if any(ids.dtype != np.int64 for ids in (found.queries, found.pool, *(links.pairs for links in links_of))):
        raise ValueError("its ids are no whole numbers")
    for ids, size in ((found.queries, sizes[0]), (found.pool, sizes[1])):
        if ids.ndim != 1 or (len(ids) and (ids.min() < 0 or ids.max() >= size)):
            raise ValueError("it names entities that the graphs do not have")
    for links in links_of:
        pairs = links.alignment().pairs
        if len(pairs) and (pairs.min() < 0 or (pairs.max(axis=0) >= sizes).any()):
            raise ValueError("it names entities that the graphs do not have")
