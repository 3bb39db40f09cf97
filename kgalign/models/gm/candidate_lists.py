"""The candidates that GM scores: targets with a similar name, and targets with the same known links around them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kgalign.data import Alignment, AlignmentTask, Candidates, Ints
from kgalign.features.relations import Edges
from kgalign.matrices import unit_rows
from kgalign.models.gm.options import GraphMatchingOptions
from kgalign.models.names import name_vectors
from kgalign.search import Vectors, find_candidates, pack


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """Where candidates are searched: the names and the neighbours of all entities.

    Attributes:
        names: (n, d) and (m, d) vectors of all names.
        neighbours: (n, n) and (m, m) 1 where two entities are neighbours.
    """

    names: tuple[Vectors, Vectors]
    neighbours: tuple[sparse.csr_array, sparse.csr_array]

    @classmethod
    def of(cls, task: AlignmentTask, word_vectors: str | None) -> SearchSpace:
        source, target = Edges.of_task(task)
        names = name_vectors(list(task.source.names), list(task.target.names), 3, word_vectors)
        return cls(names, (source.adjacency, target.adjacency))

    @property
    def swapped(self) -> SearchSpace:
        """The same with source and target exchanged."""
        return SearchSpace((self.names[1], self.names[0]), (self.neighbours[1], self.neighbours[0]))


def lists_by_name(
    space: SearchSpace, options: GraphMatchingOptions, queries: Ints, pool: Ints, *, both_directions: bool | None = None
) -> Candidates:
    """The k targets of the pool whose names are most similar to that of each query, by n-grams and words.

    Args:
        space: Where to search.
        options: `k`, `both_directions` and `seed` count.
        queries: (q,) source ids.
        pool: (p,) target ids.
        both_directions: Instead of what the options say.
    """
    both = options.both_directions if both_directions is None else both_directions
    return find_candidates(*space.names, queries, pool, options.k, both_directions=both, seed=options.seed)


def with_lists_by_graph(
    by_name: Candidates,
    space: SearchSpace,
    options: GraphMatchingOptions,
    known: Alignment,
    pool: Ints,
    *,
    both_directions: bool | None = None,
) -> Candidates:
    """The candidates by name, and the graph_k targets that have most known links in common with each query.

    Args:
        by_name: The candidates by name, see `lists_by_name`.
        space: Where to search.
        options: `graph_k`, `both_directions` and `seed` count.
        known: Links; one that occurs twice counts once.
        pool: (p,) target ids.
        both_directions: Instead of what the options say.
    """
    if not options.graph_k or not len(known):
        return by_name
    both = options.both_directions if both_directions is None else both_directions
    _, once = np.unique(known.keys, return_index=True)
    near = _known_neighbours(space, known.where(np.sort(once)))
    by_graph = find_candidates(*near, by_name.queries, pool, options.graph_k, both_directions=both, seed=options.seed)
    places = [lists.edges() for lists in (by_name, by_graph)]
    rows = np.concatenate([rows for rows, _ in places])
    targets, scores = (
        np.concatenate([lists[place] for lists, place in zip(arrays, places, strict=True)])
        for arrays in ((by_name.targets, by_graph.targets), (by_name.scores, by_graph.scores))
    )
    joined = pack(rows, targets, scores, len(by_name), by_name.targets.shape[1] + by_graph.targets.shape[1])
    return Candidates(by_name.queries, joined.targets, joined.scores)


def _known_neighbours(space: SearchSpace, known: Alignment) -> tuple[Vectors, Vectors]:
    """(n, known), (m, known) unit vectors of the known links next to each entity; rare ones count for more."""
    sides = [near[:, ids] for near, ids in zip(space.neighbours, (known.sources, known.targets), strict=True)]
    seen = sides[0].sum(axis=0) + sides[1].sum(axis=0)
    count = sum(near.shape[0] for near in space.neighbours)
    rarity = np.log((count + 1) / (seen + 1)).astype(np.float32)
    left, right = (unit_rows(sparse.csr_array(side * rarity[None, :])) for side in sides)
    return left, right
