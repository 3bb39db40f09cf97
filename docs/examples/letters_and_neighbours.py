"""A model that uses known links: similar names, and neighbours that are linked to each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

import kgalign
from kgalign import Alignment, AlignmentTask, Candidates, Capabilities, KnowledgeGraph


@dataclass(frozen=True)
class LettersAndNeighbours:
    """Scores a pair by letter pairs in both names, and by known links between neighbours of both.

    Attributes:
        k: Candidates for each query.
        neighbour_weight: The weight of a known link between neighbours, against the names.
        temperature: Smaller values make probabilities more extreme, see `Candidates`.
        no_match_score: The score of the no-match option.
    """

    k: int = 10
    neighbour_weight: float = 0.5
    temperature: float = 0.1
    no_match_score: float = 0.5

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(prepares=True)

    def fit(self, task: AlignmentTask) -> FittedLettersAndNeighbours:
        return FittedLettersAndNeighbours(self).for_task(task)


@dataclass(frozen=True, eq=False)
class FittedLettersAndNeighbours:
    """The model with everything that stays the same from round to round."""

    options: LettersAndNeighbours
    names: sparse.csr_array | None = None  # (n, m) similarity of the names
    neighbours: tuple[sparse.csr_array, sparse.csr_array] | None = None  # (n, n), (m, m)

    @property
    def capabilities(self) -> Capabilities:
        return self.options.capabilities

    def for_task(self, task: AlignmentTask) -> FittedLettersAndNeighbours:
        """The same model, prepared for a task: `prepares` declares that this method exists."""
        source, target = letter_pairs(task.source.names, task.target.names)
        neighbours = adjacency(task.source), adjacency(task.target)
        names = sparse.csr_array(source @ target.T)
        return FittedLettersAndNeighbours(self.options, names, neighbours)

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        ready = self.for_task(task) if self.names is None else self
        sizes = len(task.source.entities), len(task.target.entities)
        links = sparse.csr_array((known.scores, (known.sources, known.targets)), shape=sizes)
        shared = ready.neighbours[0] @ links @ ready.neighbours[1]  # (n, m) linked neighbours
        scores = ready.names + self.options.neighbour_weight * shared.log1p()
        return self.best(sparse.csr_array(scores)[:, task.pool], task)

    def best(self, scores: sparse.csr_array, task: AlignmentTask) -> Candidates:
        """The k best targets of each query, by the scores of all sources with the pool."""
        options = self.options
        targets = np.full((len(task.queries), options.k), -1)  # (n, k)
        values = np.full(targets.shape, -np.inf)
        for row, query in enumerate(task.queries):
            places = slice(scores.indptr[query], scores.indptr[query + 1])
            order = np.argsort(-scores.data[places], kind="stable")[: options.k]
            targets[row, : len(order)] = task.pool[scores.indices[places][order]]
            values[row, : len(order)] = scores.data[places][order]
        return Candidates(task.queries, targets, values, options.temperature, options.no_match_score)


def letter_pairs(source: list[str], target: list[str]) -> tuple[sparse.csr_array, sparse.csr_array]:
    """(n, d), (m, d) unit vectors that count the letter pairs of each name."""
    columns: dict[str, int] = {}
    sides = []
    for names in (source, target):
        pairs = [[name.casefold()[i : i + 2] for i in range(len(name) - 1)] for name in names]
        rows = np.repeat(np.arange(len(names)), [len(found) for found in pairs])
        places = [columns.setdefault(pair, len(columns)) for found in pairs for pair in found]
        sides.append((rows, places, len(names)))
    return tuple(unit_rows(rows, places, (count, len(columns))) for rows, places, count in sides)


def unit_rows(rows: np.ndarray, columns: list[int], shape: tuple[int, int]) -> sparse.csr_array:
    counts = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    lengths = np.sqrt(counts.multiply(counts).sum(axis=1))
    return sparse.csr_array(sparse.diags_array(1 / np.maximum(lengths, 1e-9)) @ counts)


def adjacency(graph: KnowledgeGraph) -> sparse.csr_array:
    """(n, n) a 1 for each two entities that are neighbours, in either direction."""
    heads, _, tails = graph.triples.T
    size = len(graph.entities)
    once = sparse.csr_array((np.ones(len(heads)), (heads, tails)), shape=(size, size))
    both = sparse.csr_array(once + once.T)
    both.data[:] = 1
    return both


if __name__ == "__main__":
    task, gold = kgalign.demo("fr_en")
    model = LettersAndNeighbours()
    rows = {
        "greedy": {"decoder": "greedy", "max_rounds": 0},
        "joint": {"max_rounds": 0},
        "joint, with rounds": {},
    }
    for row, rules in rows.items():
        run = kgalign.align(task, gold, model=model, **rules)
        print(f"{row:20} hits@1 {run.metrics['hits@1']:.3f}, {len(run.reasoning.rounds)} rounds")
