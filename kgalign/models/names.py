"""Similar names and nothing else: the row that every table must carry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np
from scipy import sparse

from kgalign.calibrate import calibrated
from kgalign.data import Alignment, AlignmentTask, Candidates, KnowledgeGraph, hold_out
from kgalign.encoders import encoded_names
from kgalign.errors import OptionError, check_at_least
from kgalign.models import Systems
from kgalign.search import Vectors, find_candidates, pack, pair_products, unique_pairs
from kgalign.text import ngram_vectors, word_vectors


@dataclass(frozen=True)
class Names:
    """Scores a pair by how much the two names look alike: the cosine of their character n-grams, of their words if vectors are given, and
    of their meanings if an encoder is.

    Known pairs change nothing: a name is no evidence for another one, and a pair is none for itself. Easy-to-Hard around it takes what is
    sure off the market, no more.

    k                   candidates for each query; with both_directions, targets that have it among their k best come on top
    word_vectors        a GloVe or word2vec text file
    encoder             a folder with a sentence encoder, see kgalign.encoders
    word_weight         what words, or meanings, count for against the n-grams
    temperature, nobody what makes probabilities of scores, see Candidates; fitted on links held out of the seeds where there are enough
    """

    k: int = 20
    both_directions: bool = True
    longest_ngram: int = 3
    word_vectors: str | None = None
    encoder: str | None = None
    word_weight: float = 0.5
    temperature: float = 0.05
    nobody: float = 0.3
    seed: int = 0

    systems: ClassVar[Systems] = {"names": {"word_vectors": None}}  # as it is by default

    def __post_init__(self) -> None:
        check_at_least(k=(self.k, 1), word_weight=(self.word_weight, 0), seed=(self.seed, 0))
        if self.longest_ngram not in (1, 2, 3) or not 0 < self.temperature < np.inf:
            raise OptionError(
                f"longest_ngram={self.longest_ngram}, temperature={self.temperature}: expected 1, 2 or 3 and a number above 0"
            )

    def fit(self, task: AlignmentTask) -> Self:
        if len(task.seeds) < 20:
            return self
        asked, dev = hold_out(task, 0.5, self.seed)  # nothing is learnt from the others, so half can be asked
        fitted = calibrated(self.predict(asked, asked.seeds), dev)
        return replace(self, temperature=fitted.temperature, nobody=fitted.nobody)

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        letters = name_vectors(task.source, task.target, self.longest_ngram, self.word_vectors, self.word_weight)
        candidates = self._search(task, letters)
        if self.encoder is not None:
            meanings = encoded_names(task.source, task.target, self.encoder)
            candidates = self._join(task, letters, meanings, candidates, self._search(task, meanings))
        return replace(candidates, temperature=self.temperature, nobody=self.nobody)

    def _search(self, task: AlignmentTask, sides: tuple[Vectors, Vectors]) -> Candidates:
        return find_candidates(*sides, task.queries, task.pool, self.k, both_directions=self.both_directions, seed=self.seed)

    def _join(
        self, task: AlignmentTask, letters: tuple[Vectors, Vectors], meanings: tuple[Vectors, Vectors], *found: Candidates
    ) -> Candidates:
        """All that either search has found, scored by both: dense vectors and sparse ones are not searched together."""
        edges = [each.edges() for each in found]
        targets = np.concatenate([each.targets[edge] for each, edge in zip(found, edges, strict=True)])
        rows, targets = unique_pairs(np.concatenate([rows for rows, _ in edges]), targets, len(task.queries))
        sources = task.queries[rows]
        scores = pair_products(*letters, sources, targets) + self.word_weight * pair_products(*meanings, sources, targets)
        packed = pack(rows, targets, scores, len(task.queries), 4 * self.k)
        return Candidates(task.queries, packed.targets, packed.scores)


@lru_cache(maxsize=4)
def name_vectors(
    source: KnowledgeGraph, target: KnowledgeGraph, longest: int = 3, words: str | None = None, word_weight: float = 0.5
) -> tuple[Vectors, Vectors]:
    """Vectors of all names of both graphs; remembered, since every round asks for them again."""
    vectors = ngram_vectors(source.names, target.names, longest)
    if words is not None:
        means = word_vectors(source.names, target.names, words)
        weight = np.float32(np.sqrt(word_weight))  # once on either side
        vectors = tuple(
            sparse.csr_array(sparse.hstack([letters, sparse.csr_array(weight * mean)]))
            for letters, mean in zip(vectors, means, strict=True)
        )
    return vectors
