"""Names alone: similar names and nothing else, the row that every table carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from kgalign.data import Alignment, AlignmentTask, Candidates, hold_out, one_link, same_graphs
from kgalign.decoding.cardinality import MOST_SEVERAL
from kgalign.errors import OptionError, check_at_least
from kgalign.features.encoders import encoded_names
from kgalign.features.names import NamePair, NameSimilarity
from kgalign.features.text import ngram_vectors, word_vectors
from kgalign.reasoning.calibration import calibrated
from kgalign.seams import Capabilities
from kgalign.search import Engine, LocalThreads, Vectors, find_candidates, pack, pair_products, unique_pairs

MIN_SEEDS = 20  # fewer do not calibrate


@dataclass(frozen=True)
class Names:
    """Scores a pair by its two most similar names: the cosine of their character n-grams, and of their words if word vectors are given;
    with an encoder, also by the meanings of the names that are shown.

    Known links change nothing: a name is no evidence for another one. Easy-to-Hard around this model only withdraws the targets of
    confident links from the other queries.

    Attributes:
        k: Candidates for each query.
        both_directions: Targets that have the query among their own k best are candidates too.
        longest_ngram: In characters, 3 at most.
        word_vectors: A GloVe or word2vec text file.
        encoder: A folder with a sentence encoder, see `kgalign.features.encoders`.
        word_weight: The weight of words, or meanings, against the n-grams.
        temperature: See `Candidates`; fitted on held-out seeds where there are enough.
        no_match_score: Likewise.
        seed: Draws held-out seeds, and decides exact ties.
        engine: Where searches work on their blocks.
    """

    k: int = 20
    both_directions: bool = True
    longest_ngram: int = 3
    word_vectors: str | None = None
    encoder: str | None = None
    word_weight: float = 0.5
    temperature: float = 0.05
    no_match_score: float = 0.3
    seed: int = 0
    engine: Engine = field(default=LocalThreads(), repr=False, metadata={"option": False})

    def __post_init__(self) -> None:
        check_at_least(k=(self.k, 1), word_weight=(self.word_weight, 0), seed=(self.seed, 0))
        if self.longest_ngram not in (1, 2, 3) or not 0 < self.temperature < np.inf:
            raise OptionError(
                f"longest_ngram={self.longest_ngram}, temperature={self.temperature}: expected 1, 2 or 3 and a number above 0"
            )

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(learns_from_seeds=True, prepares=True, engines=True, systems={"names": {"word_vectors": None}})

    def with_engine(self, engine: Engine) -> Names:
        """The same model with another engine."""
        return replace(self, engine=engine)

    def fit(self, task: AlignmentTask) -> FittedNames:
        fitted = FittedNames(self, self.temperature, self.no_match_score).for_task(task)
        if len(task.seeds) < MIN_SEEDS:
            return fitted
        without, dev = hold_out(task, 0.5, self.seed)  # nothing is learnt from the others, so half can be held out
        candidates = calibrated(fitted.predict(without, without.seeds), dev, task.cardinality)
        return replace(fitted, temperature=candidates.temperature, no_match_score=candidates.no_match_score)


@dataclass(frozen=True, eq=False)
class FittedNames:
    """`names` with calibrated probabilities, and with all names of two graphs."""

    options: Names
    temperature: float
    no_match_score: float
    task: AlignmentTask | None = None  # whose names the vectors are of
    letters: NameSimilarity | None = None
    meanings: tuple[Vectors, Vectors] | None = None

    @property
    def capabilities(self) -> Capabilities:
        return self.options.capabilities

    def for_task(self, task: AlignmentTask) -> FittedNames:
        """The same with the vectors of the names of that task."""
        if self.task is not None and same_graphs(self.task, task):
            return self
        options = self.options
        names = task.source.names, task.target.names
        texts = names[0].text, names[1].text
        vectors = name_vectors(*texts, options.longest_ngram, options.word_vectors, options.word_weight)
        letters = NameSimilarity(NamePair.of(*names), *vectors)
        meanings = None if options.encoder is None else encoded_names(task.source, task.target, options.encoder)
        return replace(self, task=task, letters=letters, meanings=meanings)

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        ready, options = self.for_task(task), self.options
        assert ready.letters is not None
        both, seed = options.both_directions, options.seed
        options.engine.begin("searching by name")
        how: dict[str, Any] = {"both_directions": both, "seed": seed, "engine": options.engine}
        rows, targets = ready.letters.search(task.queries, task.pool, options.k, effort=None, **how)
        if ready.meanings is not None:
            found = find_candidates(*ready.meanings, task.queries, task.pool, options.k, **how)
            at, slots = found.edges()
            pairs = np.concatenate([rows, at]), np.concatenate([targets, found.targets[at, slots]])
            rows, targets = unique_pairs(*pairs, len(task.queries))
        sources = task.queries[rows]
        scores = ready.letters.compare(sources, targets)
        if ready.meanings is not None:
            scores = scores + options.word_weight * pair_products(*ready.meanings, sources, targets)
        most = 4 * options.k if both or ready.meanings is not None else options.k
        packed = pack(rows, targets, scores, len(task.queries), most if one_link(task.cardinality)[0] else MOST_SEVERAL)
        return Candidates(task.queries, packed.targets, packed.scores, self.temperature, self.no_match_score)


def name_vectors(
    source: Sequence[str], target: Sequence[str], longest: int = 3, words: str | None = None, word_weight: float = 0.5
) -> tuple[Vectors, Vectors]:
    """Vectors of all names of two graphs: n-grams, with words beside them if a file of word vectors is given."""
    vectors = ngram_vectors(source, target, longest)
    if words is not None:
        means = word_vectors(source, target, words)
        weight = np.float32(np.sqrt(word_weight))  # once on either side
        vectors = tuple(
            sparse.csr_array(sparse.hstack([letters, sparse.csr_array(weight * mean)]))
            for letters, mean in zip(vectors, means, strict=True)
        )
    return vectors
