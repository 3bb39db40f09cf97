"""What a review needs of a run, ready to be looked up by entity: its links, the candidates of each source, and stored evidence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Floats, Ints, KnowledgeGraph
from kgalign.errors import DataError
from kgalign.readers.parquet import read_own_table
from kgalign.runs import Run, read_links
from kgalign.runs.evidence_table import EvidenceRows, evidence_table
from kgalign.runs.folder import CANDIDATES, EVIDENCE, LINKS
from kgalign.runs.report import expect_file


@dataclass(frozen=True, eq=False)
class CandidateLists:
    """The candidates of all sources, those of a source together, best first.

    Attributes:
        starts: (n + 1,) where those of each source begin.
        targets: (m,) target ids.
        probabilities: (m,)
    """

    starts: Ints
    targets: Ints
    probabilities: Floats

    @classmethod
    def of(cls, sources: Ints, targets: Ints, probabilities: Floats, count: int) -> CandidateLists:
        """The lists of pairs in any order.

        Args:
            sources: (m,) source ids.
            targets: (m,) target ids.
            probabilities: (m,)
            count: The number of sources of the graph.
        """
        order = np.lexsort((-probabilities, sources))
        starts = np.searchsorted(sources[order], np.arange(count + 1))
        return cls(starts, targets[order], np.clip(probabilities[order], 0, 1))

    @property
    def sources(self) -> Ints:
        """(m,) the source of each candidate."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def of_source(self, source: int) -> tuple[Ints, Floats]:
        """The targets and the probabilities of one source."""
        own = slice(self.starts[source], self.starts[source + 1])
        return self.targets[own], self.probabilities[own]


@dataclass(frozen=True, eq=False)
class ReviewedRun:
    """A run as a review sees it.

    Attributes:
        task: The task, with the decisions that the run knew.
        links: Its links.
        candidates: The candidates that they were chosen from.
        evidence: The stored evidence.
    """

    task: AlignmentTask
    links: Alignment
    candidates: CandidateLists
    evidence: EvidenceRows

    @classmethod
    def of(cls, run: Run) -> ReviewedRun:
        """That of a run in memory."""
        rows, slots = run.candidates.edges()
        sources, targets = run.candidates.queries[rows], run.candidates.targets[rows, slots].astype(np.int64)
        probabilities = run.candidates.probabilities()[rows, slots]
        lists = CandidateLists.of(sources, targets, probabilities, len(run.task.source.entities))
        return cls(run.task, run.alignment, lists, EvidenceRows.of(evidence_table(run.evidence(), run.task, run.decoder)))

    @classmethod
    def read(cls, folder: Path, task: AlignmentTask) -> ReviewedRun:
        """That of a run folder; `task` is its task."""
        links = read_links(folder / LINKS, task)
        lists = _read_candidates(expect_file(folder, CANDIDATES), task)
        evidence = EvidenceRows.read(expect_file(folder, EVIDENCE))
        return cls(task, links, lists, evidence)

    def similar_and_shared(self, sources: Ints, targets: Ints) -> tuple[Floats, Floats]:
        """(n,) how similar the names of each pair are, and (n,) the share of their neighbours that is linked; 0 where no evidence is stored."""
        table = self.evidence.table
        pairs = Alignment(np.column_stack([_ids(table["source"], self.task.source), _ids(table["target"], self.task.target)]))
        similar, linked, *degrees = (
            np.asarray(table[name], np.float64) for name in ("name_similarity", "shared", "source_neighbours", "target_neighbours")
        )
        shared = linked / np.sqrt(np.maximum(degrees[0], 1) * np.maximum(degrees[1], 1))
        order = np.argsort(pairs.keys)
        wanted = Alignment(np.column_stack([sources, targets])).keys
        rows = np.minimum(np.searchsorted(pairs.keys, wanted, sorter=order), max(0, len(order) - 1))
        if not len(order):
            return np.zeros(len(wanted)), np.zeros(len(wanted))
        found = pairs.keys[order[rows]] == wanted
        return np.where(found, similar[order[rows]], 0), np.where(found, shared[order[rows]], 0)

    @property
    def expected_precision(self) -> float | None:
        """The mean probability of the plausible links and the seeds: how many of them are right if the probabilities are."""
        plausible = self.links.scores[self.links.scores > 0.5]
        count = len(plausible) + len(self.task.seeds)
        return float((plausible.sum() + len(self.task.seeds)) / count) if count else None


def _read_candidates(path: Path, task: AlignmentTask) -> CandidateLists:
    """The rows of candidates.parquet by the ids of their entities."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        table = read_own_table(path, ["source", "target", "probability"])
        sources, targets = (_ids(table[name], graph) for name, graph in (("source", task.source), ("target", task.target)))
        probabilities = np.asarray(table["probability"], np.float64)
    except (pa.ArrowException, OSError, LookupError, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0][:120]
        raise DataError(f"{path}: expected the candidates of a run, but {reason}; the file is damaged, so align again") from None
    if lost := int(((sources < 0) | (targets < 0)).sum()):
        raise DataError(f"{path}: {lost:,} candidates are of no entity of the graphs of this run; align again")
    return CandidateLists.of(sources, targets, np.nan_to_num(probabilities), len(task.source.entities))


def _ids(column: Any, graph: KnowledgeGraph) -> Ints:
    """(n,) the ids of the entities in a column of IRIs, -1 where the graph does not have one."""
    import pyarrow as pa
    import pyarrow.compute

    if not len(column):
        return np.empty(0, np.int64)
    encoded = column.cast(pa.string()).dictionary_encode().combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    places = pa.compute.index_in(encoded.dictionary, value_set=pa.array(list(graph.entities), pa.string()))
    return np.asarray(places.fill_null(-1), np.int64)[np.asarray(encoded.indices, np.int64)]
