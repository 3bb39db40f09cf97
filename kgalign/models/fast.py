"""The aligner that needs no GPU and no training run: names, and known pairs seen through the relations that lead to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from kgalign.data import Alignment, AlignmentTask, Candidates, Floats, Ints, KnowledgeGraph
from kgalign.decode import balance
from kgalign.errors import check_at_least
from kgalign.models.names import name_vectors
from kgalign.search import Vectors, find_candidates
from kgalign.text import unit_rows, word_vectors

Evidence = dict[str, tuple[Vectors, Vectors]]  # unit vectors of all entities of either side, by kind of evidence

DEFAULT_WEIGHTS = {"names": 16.0, "words": 6.0, "relations": 16.0, "neighbours": 5.0, "two hops": 8.0}
MIN_SEEDS = 100  # fewer do not teach weights
MIN_RELATION_MATCH = 0.05


@dataclass(frozen=True)
class Fast:
    """Scores a pair by the weighted sum of cosines of sparse vectors, one for each kind of evidence.

    names           character n-grams, and means of word vectors where a file is given
    relations       which known pair is reached by which relation, in which direction; relations of the source are read as the
                    relations of the target that they match, and count for as much as they match
    neighbours      which known pairs are neighbours, by whatever relation
    two hops        which known pairs are neighbours of neighbours

    In each a rare feature counts for more than a frequent one. The weights are learnt on the seeds, so that the softmax over a row means
    what it says; without seeds, defaults stand in. Then sources compete for targets (Sinkhorn), and what comes out are the probabilities.

    Known pairs are all the graph evidence there is, and a pair is never evidence for itself. Without seeds the first known pairs are easy
    ones by name; where names tell nothing, their weight goes to nothing.

    k               candidates for each query; targets that have it among their k best come on top
    word_vectors    a GloVe or word2vec text file
    iterations      rounds of the competition
    training_links  seeds that weights are learnt from, at most
    """

    k: int = 20
    word_vectors: str | None = None
    iterations: int = 20
    training_links: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_at_least(k=(self.k, 1), iterations=(self.iterations, 1), training_links=(self.training_links, 1), seed=(self.seed, 0))

    def fit(self, task: AlignmentTask) -> Self:
        return self

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        evidence = self._evidence(task, known)
        weights = self._learn_weights(task, evidence)
        candidates = self._search(evidence, weights, task.queries, task.pool, both_directions=True)
        return _rescored(candidates, balance(candidates, self.iterations))

    def _evidence(self, task: AlignmentTask, known: Alignment) -> Evidence:
        by_name = _name_evidence(task.source, task.target, self.word_vectors)
        return by_name | graph_evidence(task, known) if len(known) else by_name

    def _search(
        self, evidence: Evidence, weights: dict[str, float], queries: Ints, pool: Ints, *, both_directions: bool
    ) -> Candidates:
        source, target = (
            sparse.csr_array(sparse.hstack([np.sqrt(np.float32(weights[kind])) * sides[side] for kind, sides in evidence.items()]))
            for side in (0, 1)
        )
        return find_candidates(source, target, queries, pool, self.k, both_directions=both_directions, seed=self.seed)

    def _learn_weights(self, task: AlignmentTask, evidence: Evidence) -> dict[str, float]:
        """The weights under which the seeds are most probable among their own candidates."""
        weights = {kind: DEFAULT_WEIGHTS[kind] for kind in evidence}
        if len(task.seeds) < MIN_SEEDS:
            return weights
        drawn = np.random.default_rng(self.seed).permutation(len(task.seeds))[: self.training_links]
        links = task.seeds.where(np.sort(drawn))
        pool = np.union1d(task.pool, task.seeds.targets)
        candidates = self._search(evidence, weights, links.sources, pool, both_directions=False)
        order = np.argsort(links.sources)
        targets = np.column_stack([links.targets[order], candidates.targets])  # the right one first
        targets[:, 1:][targets[:, 1:] == targets[:, :1]] = -1
        cosines = np.stack([_pair_cosines(sides, candidates.queries, targets) for sides in evidence.values()], axis=2)
        return dict(zip(evidence, _fit_choice(cosines, targets >= 0, np.array(list(weights.values()))).tolist(), strict=True))


def graph_evidence(task: AlignmentTask, known: Alignment) -> Evidence:
    """Known pairs around each entity: by relation, by neighbourhood, and two steps away."""
    source, target = _edges(task.source), _edges(task.target)
    sizes = len(task.source.entities), len(task.target.entities)
    count = len(known)
    numbers = tuple(_numbers(ids, size) for ids, size in zip((known.sources, known.targets), sizes, strict=True))
    neighbours = tuple(
        _features(edges[:, 0], number[edges[:, 2]], None, (size, count))
        for edges, number, size in zip((source, target), numbers, sizes, strict=True)
    )
    two_hops = tuple(
        _without_own(_mean_of_neighbours(edges, size) @ near, number)
        for edges, near, number, size in zip((source, target), neighbours, numbers, sizes, strict=True)
    )
    matches = match_relations(task, known)
    return {
        "relations": _weighted(*_relation_features(source, target, numbers, sizes, count, matches)),
        "neighbours": _weighted(*neighbours),
        "two hops": _weighted(*two_hops),
    }


def match_relations(task: AlignmentTask, known: Alignment) -> sparse.csr_array:
    """(2 r, 2 s) how far each relation of the source holds between the same known pairs as each of the target, 0 to 1.

    Relations r.. and s.. are those read backwards.
    """
    source, target = _edges(task.source), _edges(task.target)
    partner = _numbers(known.sources, len(task.source.entities))
    number = _numbers(known.targets, len(task.target.entities))
    shapes, keys, relations = [], [], []
    for edges, numbers, graph in ((source, partner, task.source), (target, number, task.target)):
        inside = (numbers[edges[:, 0]] >= 0) & (numbers[edges[:, 2]] >= 0)
        keys.append(numbers[edges[inside, 0]] * len(known) + numbers[edges[inside, 2]])
        relations.append(edges[inside, 1])
        shapes.append(2 * len(graph.relations))
    pairs, columns = np.unique(np.concatenate(keys), return_inverse=True)
    left, right = (
        sparse.csr_array((np.ones(len(relation)), (relation, column)), shape=(shape, len(pairs)))
        for relation, column, shape in zip(relations, np.split(columns, [len(keys[0])]), shapes, strict=True)
    )
    both = sparse.coo_array(left @ right.T)
    # Two more facts on either side: a relation that was seen once is not yet sure of its match.
    often = np.sqrt((left.sum(axis=1)[both.row] + 2) * (right.sum(axis=1)[both.col] + 2))
    return sparse.csr_array((both.data / often, (both.row, both.col)), shape=shapes)


@lru_cache(maxsize=2)
def _name_evidence(source: KnowledgeGraph, target: KnowledgeGraph, vectors: str | None) -> Evidence:
    evidence: Evidence = {"names": name_vectors(source, target)}
    if vectors is not None:
        means = word_vectors(source.names, target.names, vectors)
        evidence["words"] = (sparse.csr_array(means[0]), sparse.csr_array(means[1]))
    return evidence


@lru_cache(maxsize=4)
def _edges(graph: KnowledgeGraph) -> Ints:
    """(e, 3) entity, relation, neighbour: each triple from both ends, backwards with a relation of its own."""
    head, relation, tail = graph.triples.T
    forward, backward = (head, relation, tail), (tail, relation + len(graph.relations), head)
    return np.unique(np.concatenate([np.column_stack(forward), np.column_stack(backward)]), axis=0)


def _relation_features(
    source: Ints, target: Ints, numbers: tuple[Ints, ...], sizes: tuple[int, int], count: int, matches: sparse.csr_array
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Features (relation of the target, known pair); a source edge has one for each relation that its own one matches."""
    source, target = source[numbers[0][source[:, 2]] >= 0], target[numbers[1][target[:, 2]] >= 0]
    matches = sparse.csr_array(matches.multiply(matches > MIN_RELATION_MATCH))
    matches.eliminate_zeros()
    copies = np.diff(matches.indptr)[source[:, 1]]
    edge = np.repeat(np.arange(len(source)), copies)
    at = np.arange(len(edge)) - np.repeat(np.cumsum(copies) - copies, copies) + matches.indptr[source[edge, 1]]
    keys = matches.indices[at].astype(np.int64) * count + numbers[0][source[edge, 2]]
    target_keys = target[:, 1] * count + numbers[1][target[:, 2]]
    features, columns = np.unique(np.concatenate([keys, target_keys]), return_inverse=True)
    return (
        _features(source[edge, 0], columns[: len(keys)], matches.data[at], (sizes[0], len(features))),
        _features(target[:, 0], columns[len(keys) :], None, (sizes[1], len(features))),
    )


def _features(rows: Ints, columns: Ints, values: Floats | None, shape: tuple[int, int]) -> sparse.csr_array:
    """A sparse matrix of features, each once at its largest; columns below 0 are left out."""
    there = columns >= 0
    matrix = sparse.csr_array((np.ones(there.sum(), np.float32), (rows[there], columns[there])), shape=shape)
    if values is None:
        matrix.data[:] = 1
        return matrix
    sums = sparse.csr_array((values[there].astype(np.float32), (rows[there], columns[there])), shape=shape)
    sums.data /= matrix.data
    return sums


def _mean_of_neighbours(edges: Ints, size: int) -> sparse.csr_array:
    matrix = sparse.csr_array((np.ones(len(edges), np.float32), (edges[:, 0], edges[:, 2])), shape=(size, size))
    matrix.data[:] = 1
    degrees = np.diff(matrix.indptr)
    matrix.data /= np.repeat(np.maximum(degrees, 1), degrees)
    return matrix


def _without_own(features: sparse.csr_array, numbers: Ints) -> sparse.csr_array:
    """The same features without each entity's own pair: two steps lead back to where one started."""
    rows = np.repeat(np.arange(features.shape[0]), np.diff(features.indptr))
    features.data[features.indices == numbers[rows]] = 0
    features.eliminate_zeros()
    return features


def _weighted(source: sparse.csr_array, target: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Unit rows in which a feature counts by its rarity on both sides."""
    total = source.shape[0] + target.shape[0]
    often = sum(np.bincount(side.indices, minlength=side.shape[1]) for side in (source, target))
    rarity = np.log(total / (1 + often)).astype(np.float32).clip(0)
    weighted = []
    for side in (source, target):
        matrix = sparse.csr_array((side.data * rarity[side.indices], side.indices, side.indptr), shape=side.shape)
        weighted.append(unit_rows(matrix))
    return weighted[0], weighted[1]


def _numbers(ids: Ints, size: int) -> Ints:
    """(size,) the position of each entity in `ids`, -1 where it is not among them."""
    numbers = np.full(size, -1, np.int64)
    numbers[ids] = np.arange(len(ids))
    return numbers


def _pair_cosines(sides: tuple[Vectors, Vectors], queries: Ints, targets: Ints) -> Floats:
    """(n, k) cosines of each query with its candidates, 0 where there is none."""
    rows, slots = np.nonzero(targets >= 0)
    cosines = np.zeros(targets.shape)
    cosines[rows, slots] = sides[0][queries[rows]].multiply(sides[1][targets[rows, slots]]).sum(axis=1)
    return cosines


def _rescored(candidates: Candidates, probabilities: Floats) -> Candidates:
    """The same candidates with the logarithms of those probabilities as scores."""
    scores = np.where(candidates.targets >= 0, np.log(np.maximum(probabilities, 1e-30)), -np.inf).astype(np.float32)
    order = np.argsort(-scores, axis=1, kind="stable")
    targets, scores = (np.take_along_axis(array, order, axis=1) for array in (candidates.targets, scores))
    return Candidates(candidates.queries, targets, scores)


def _fit_choice(cosines: Floats, there: Floats, start: Floats) -> Floats:
    """Weights, none below 0, that make the first candidate of each row the most probable: a conditional logit.

    cosines     (n, k, kinds)
    """

    def loss(weights: Floats) -> tuple[float, Floats]:
        logits = np.where(there, cosines @ weights, -np.inf)
        logits -= logits.max(axis=1, keepdims=True)
        shares = np.exp(logits)
        shares /= shares.sum(axis=1, keepdims=True)
        surprise = -np.log(np.maximum(shares[:, 0], 1e-12)).mean()
        expected = np.einsum("nk,nkb->nb", shares, cosines)
        gradient = (expected - cosines[:, 0]).mean(axis=0)
        pull = 1e-4 * (weights - start)
        return surprise + 0.5 * float((pull * (weights - start)).sum()), gradient + pull

    return minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.01, 200)] * len(start)).x
