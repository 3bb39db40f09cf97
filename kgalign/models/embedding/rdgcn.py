"""RDGCN: names that travel over the graph, along relations that attend to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional

from kgalign.data import Alignment, AlignmentTask, Floats, Ints
from kgalign.errors import OptionError, check_at_least
from kgalign.models import Options, Systems
from kgalign.models.embedding.frame import EmbeddingModel, Network, nearest
from kgalign.models.embedding.layers import (
    ConvolutionNetwork,
    SparseMatrix,
    joint_triples,
    margin_loss,
    neighbour_matrix,
    normalised,
    share_rows,
)
from kgalign.models.embedding.translation import unit
from kgalign.features.text import projected_ngrams, word_vectors

SLOPE = 0.2  # of what is below zero where attention is computed
NAME_LENGTH = 5.0  # of the rows of names, about that of means of GloVe vectors; the longer, the slower names are forgotten


@dataclass(frozen=True)
class RDGCN(EmbeddingModel):
    """Starts from vectors of the names and lets each entity take up those of its neighbours: first through the relations between them,
    which learn from a graph of relations how much to pass on, then through two gated layers of graph convolution.

    Wu et al., Relation-Aware Entity Alignment for Heterogeneous Knowledge Graphs (IJCAI 2019). The attention of each entity is over its own
    triples; the released code mixes them up.

    In a known pair the source has the name of its target. Such a pair looks right ever after: an easy one is hardly ever taken back.

    word_vectors    a GloVe or word2vec text file: a name has the mean of its words
    ngrams          width of the n-gram vectors that stand beside the words of a name; 0: words alone, as in the paper
    word_weight     what the words count for against the n-grams
    negatives       of each seed, at either end: the nearest of all entities, looked up every `refresh` epochs
    first, second   how much the first and the second attention over triples adds to the name
    """

    epochs: int = 600
    look_every: int = 10
    word_vectors: str | None = None
    ngrams: int = 512
    word_weight: float = 0.25
    negatives: int = 125
    refresh: int = 10
    margin: float = 1.0
    first: float = 0.1
    second: float = 0.3
    learning_rate: float = 1e-3

    name: ClassVar[str] = "rdgcn"
    systems: ClassVar[Systems] = {"RDGCN": {}}
    quick_options: ClassVar[Options] = {"ngrams": 64, "negatives": 5, "epochs": 10, "look_every": 5}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(**{name: (getattr(self, name), 1) for name in ("negatives", "refresh")})
        check_at_least(**{name: (getattr(self, name), 0) for name in ("ngrams", "word_weight", "margin", "first", "second")})
        if not self.learning_rate > 0:
            raise OptionError(f"learning_rate={self.learning_rate}: expected a rate above 0")
        if not self.ngrams and not (self.word_vectors and self.word_weight):
            raise OptionError("ngrams=0 without word vectors: expected one or the other, since names are all it starts from")

    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        # What was learnt holds the names too: the file of word vectors is not needed again.
        names = self._learnt.tensors["names"] if self._learnt else NAME_LENGTH * torch.as_tensor(name_rows(self, task))
        return RDGCNNetwork(self, task, names, device)


class RDGCNNetwork(ConvolutionNetwork):
    """The table of names, which learns too, and the layers that it goes through."""

    def __init__(self, options: RDGCN, task: AlignmentTask, names: Tensor, device: torch.device) -> None:
        super().__init__(task, device)
        self.options = options
        triples, count = joint_triples(task), self.sources + self.targets
        relations = len(task.source.relations) + len(task.target.relations)
        heads, tails = (incidence(triples, end, relations, count) for end in (0, 2))
        self.heads, self.tails = (SparseMatrix.of(mean_rows(matrix), device) for matrix in (heads, tails))
        self.register_buffer("dual", torch.as_tensor(dual_graph(heads, tails)), persistent=False)
        self.neighbours = SparseMatrix.of(normalised(neighbour_matrix(triples, count), "symmetric"), device)
        self.triples = TripleAttention(triples, count, device)

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(options.seed)
            self.names = nn.Parameter(names.clone())
            size = names.shape[1]
            self.relations = nn.ModuleList([RelationAttention(2 * size, bias=bias) for bias in (False, True)])
            self.scores = nn.ModuleList([nn.Linear(2 * size, 1) for _ in range(2)])
            self.gates = nn.ModuleList([nn.Linear(size, size) for _ in range(2)])
            self.scales = nn.ParameterList([torch.ones(size) for _ in range(2)])
            for layer in self.modules():
                if isinstance(layer, nn.Linear):
                    glorot(layer)
        self.negatives: tuple[Tensor, Tensor] | None = None
        self.begin(device, options.learning_rate)

    def run_epoch(self, epoch: int) -> float:
        if self.negatives is None or epoch % self.options.refresh == 0:
            self.negatives = self._nearest()
        return self.learn(margin_loss(self._encode(Alignment.empty()), self.seeds, *self.negatives, self.options.margin))

    def vectors(self, known: Alignment) -> tuple[Tensor, Tensor]:
        return self.sides(self._encode(known))

    def _encode(self, known: Alignment) -> Tensor:
        """(n + m, d) what the names of both graphs come to."""
        names = share_rows(unit(self.names), known, self.sources)  # (n + m, d)
        dual = self._ends(names)  # (r, 2 d)
        dual = self.relations[0](self.dual, dual, dual)
        states = names + self.options.first * self.triples(names, self.scores[0](dual))
        dual = self.relations[1](self.dual, self._ends(states), dual)
        states = names + self.options.second * self.triples(states, self.scores[1](dual))
        for scale, gate in zip(self.scales, self.gates, strict=True):
            share = torch.sigmoid(gate(states))
            states = share * torch.relu(self.neighbours.times(states * scale)) + (1 - share) * states
        return states

    def _ends(self, states: Tensor) -> Tensor:
        """(r, 2 d) for each relation the mean of its heads and that of its tails."""
        return torch.cat([self.heads.times(states), self.tails.times(states)], dim=1)

    def _nearest(self) -> tuple[Tensor, Tensor]:
        """(s, k) for each seed those nearest to its target, wherever they are, and those nearest to its source."""
        with torch.no_grad():
            states = self._encode(Alignment.empty())
            near = [nearest(states[ends], states, self.options.negatives, self.metric)[0] for ends in self.seeds.T]
        to_source, to_target = (torch.as_tensor(rows, device=states.device) for rows in near)
        return to_target, to_source


class RelationAttention(nn.Module):
    """Each relation takes up those that share heads or tails with it, more of those that share more."""

    def __init__(self, size: int, *, bias: bool) -> None:
        super().__init__()
        self.inner = nn.Linear(size, size, bias=bias)
        self.own = nn.Linear(size, 1)
        self.other = nn.Linear(size, 1)

    def forward(self, dual: Tensor, states: Tensor, values: Tensor) -> Tensor:
        """(r, d) from the graph of relations (r, r), what attention is computed of (r, d) and what is passed on (r, d)."""
        return torch.relu(self.coefficients(dual, states) @ values)

    def coefficients(self, dual: Tensor, states: Tensor) -> Tensor:
        """(r, r) rows that add up to 1."""
        inner = self.inner(states)
        scores = functional.leaky_relu(dual * (self.own(inner) + self.other(inner).T), SLOPE)
        return scores.masked_fill(dual == 0, -torch.inf).softmax(dim=1)


class TripleAttention:
    """Each entity takes up the tails of its triples by how its relations score. It has no weights of its own."""

    def __init__(self, triples: Ints, count: int, device: torch.device) -> None:
        edges, places = np.unique(
            triples[:, 0] * count + triples[:, 2], return_inverse=True
        )  # several triples may join the same two
        ones = np.ones(len(edges), np.float32)
        self.edges = SparseMatrix.of(sparse.csr_array((ones, np.divmod(edges, count)), shape=(count, count)), device)
        self.places = torch.as_tensor(places, device=device)  # (t,)
        self.heads, self.relations = (torch.as_tensor(triples[:, i].copy(), device=device) for i in (0, 1))  # (t,)

    def __call__(self, states: Tensor, scores: Tensor) -> Tensor:
        """(n, d) from the states (n, d) and the scores of relations (r, 1)."""
        weights = self.coefficients(scores)
        return torch.relu(self.edges.times(states, weights.new_zeros(len(self.edges.rows)).index_add(0, self.places, weights)))

    def coefficients(self, scores: Tensor) -> Tensor:
        """(t,) how much each triple's head takes up of its tail; those of one head add up to 1."""
        by_triple = functional.leaky_relu(scores.squeeze(1), SLOPE).index_select(0, self.relations)
        count = self.edges.shape[0]
        highest = by_triple.new_zeros(count).scatter_reduce(0, self.heads, by_triple.detach(), "amax", include_self=False)
        weights = (by_triple - highest[self.heads]).exp()
        return weights / by_triple.new_zeros(count).index_add(0, self.heads, weights).index_select(0, self.heads)


def incidence(triples: Ints, end: int, relations: int, entities: int) -> sparse.csr_array:
    """(r, n) 1 where a relation has a triple with that entity at that end (0: head, 2: tail)."""
    pairs = np.unique(triples[:, [1, end]], axis=0)
    return sparse.csr_array((np.ones(len(pairs), np.float32), tuple(pairs.T)), shape=(relations, entities))


def mean_rows(matrix: sparse.csr_array) -> sparse.csr_array:
    """The same matrix with rows that add up to 1; empty rows stay empty."""
    return sparse.csr_array(sparse.diags_array(1 / np.maximum(matrix.sum(axis=1), 1)) @ matrix)


def dual_graph(heads: sparse.csr_array, tails: sparse.csr_array) -> Floats:
    """(r, r) the share of heads that two relations have in common, plus that of tails; 2 on the diagonal."""
    graph = np.zeros((heads.shape[0], heads.shape[0]), np.float32)
    for ends in (heads, tails):
        common = sparse.coo_array(ends @ ends.T)
        often = ends.sum(axis=1)
        graph[common.row, common.col] += common.data / (often[common.row] + often[common.col] - common.data)
    np.fill_diagonal(graph, 2)  # also that of relations without triples, whose rows would be empty
    return graph


def name_rows(options: RDGCN, task: AlignmentTask) -> Floats:
    """(n + m, d) unit vectors of all names; one of which nothing is known has a random one, like no other."""
    source, target = task.source.names, task.target.names
    parts = []
    if options.ngrams:
        parts.append(projected_ngrams([*source, *target], options.ngrams))
    if options.word_vectors and options.word_weight:
        weight = np.float32(np.sqrt(options.word_weight))
        parts.append(weight * np.concatenate(word_vectors(source, target, options.word_vectors)))
    rows = np.concatenate(parts, axis=1).astype(np.float32)
    unknown = ~rows.any(axis=1)
    rows[unknown] = np.random.default_rng(options.seed).normal(size=(unknown.sum(), rows.shape[1]))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def glorot(layer: nn.Linear) -> None:
    """Starts the layer as the original does."""
    nn.init.xavier_uniform_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
