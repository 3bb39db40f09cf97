"""Similar names and nothing else: the row that every table must carry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy import sparse

from kgalign.calibrate import fit_temperature
from kgalign.data import Alignment, AlignmentTask, Candidates, hold_out, share_names
from kgalign.search import Vectors, find_candidates
from kgalign.text import ngram_vectors, word_vectors


@dataclass(frozen=True)
class Names:
    """Scores a pair by how much the two names look alike: the cosine of their character n-grams, and of their words if vectors are given.

    A known pair shares the target's name (the paper's recipe for models that have no other place for it).

    k                   candidates for each query; with both_directions, targets that have it among their k best come on top
    word_vectors        a GloVe or word2vec text file
    word_weight         what the words count for against the n-grams
    temperature         fitted on links held out of the seeds where none is given
    """

    k: int = 20
    both_directions: bool = True
    longest_ngram: int = 3
    word_vectors: str | None = None
    word_weight: float = 0.5
    temperature: float | None = None
    memory_mb: int = 512
    seed: int = 0

    def fit(self, task: AlignmentTask) -> Self:
        if self.temperature is not None or len(task.seeds) < 20:
            return self
        asked, dev = hold_out(task, 0.5, self.seed)  # nothing is learnt from the others, so half can be asked
        return replace(self, temperature=fit_temperature(self.predict(asked, asked.seeds), dev))

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        task = share_names(task, known)
        source, target = self._vectors(task)
        candidates = find_candidates(
            source,
            target,
            task.queries,
            task.pool,
            self.k,
            both_directions=self.both_directions,
            memory_mb=self.memory_mb,
            seed=self.seed,
        )
        return replace(candidates, temperature=self.temperature or 0.05)

    def _vectors(self, task: AlignmentTask) -> tuple[Vectors, Vectors]:
        names = task.source.names, task.target.names
        ngrams = ngram_vectors(*names, self.longest_ngram)
        if self.word_vectors is None:
            return ngrams
        weight = np.sqrt(self.word_weight)  # once on either side
        words = word_vectors(*names, self.word_vectors)
        source, target = (
            sparse.csr_array(sparse.hstack([letters, sparse.csr_array(weight * means)]))
            for letters, means in zip(ngrams, words, strict=True)
        )
        return source, target
