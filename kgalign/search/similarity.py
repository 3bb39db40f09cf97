"""Similarity of entities as the inner product of vectors."""

from __future__ import annotations

from dataclasses import dataclass

from kgalign.data import Floats, Ints
from kgalign.search.candidates import Vectors, find_candidates, pair_products
from kgalign.search.engine import Engine


@dataclass(frozen=True, eq=False)
class Similarity:
    """Evidence that is the inner product of two vectors, none longer than 1. Sparse vectors have their indices sorted."""

    source: Vectors  # (n, d)
    target: Vectors  # (m, d)

    def compare(self, sources: Ints, targets: Ints) -> Floats:
        """(n,) the similarity of each pair."""
        return pair_products(self.source, self.target, sources, targets)

    def search(
        self, queries: Ints, pool: Ints, k: int, *, both_directions: bool, effort: int, seed: int, engine: Engine | None = None
    ) -> tuple[Ints, Ints]:
        """The positions of queries and the k most similar targets of each; in both directions: also those that have it among theirs."""
        vectors = self.source, self.target
        found = find_candidates(
            *vectors, queries, pool, k, both_directions=both_directions, effort=effort, seed=seed, engine=engine
        )
        rows, slots = found.edges()
        return rows, found.targets[rows, slots]
