"""RDGCN: vectors of names pass along the edges of the graphs, weighted by an attention over relations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional

from kgalign.data import Alignment, AlignmentTask, Floats, Ints
from kgalign.errors import OptionError, check_at_least
from kgalign.features.text import projected_ngrams, word_vectors
from kgalign.models.embedding.frame import EmbeddingModel
from kgalign.models.embedding.layers import (
    ConvolutionNetwork,
    SparseMatrix,
    joint_triples,
    margin_loss,
    neighbour_matrix,
    normalised,
    share_rows,
    sorted_rows,
)
from kgalign.models.embedding.network import Network
from kgalign.models.embedding.translation import unit
from kgalign.seams import Capabilities
from kgalign.search import top_k

SLOPE = 0.2  # of the leaky ReLU below zero, in the attention
NAME_LENGTH = 5.0  # of the rows of names, about that of means of GloVe vectors; longer rows change more slowly


@dataclass(frozen=True)
class RDGCN(EmbeddingModel):
    """Starts from vectors of the names, and adds to each entity the vectors of its neighbours: first by an attention over the relations
    between them, then by two gated layers of graph convolution. The attention comes from a graph of relations, joined by shared heads and
    tails.

    Wu et al., Relation-Aware Entity Alignment for Heterogeneous Knowledge Graphs (IJCAI 2019). The attention of each entity is over its own
    triples; the released code mixes up the triples of different entities.

    The source of a known link has the name of its target. Such a link looks right in all later rounds, so a confident link is hardly ever
    given up.

    Attributes:
        word_vectors: A GloVe or word2vec text file; a name has the mean of its words.
        ngrams: The width of the n-gram vectors that stand beside the words of a name; 0: words alone, as in the paper.
        word_weight: The weight of words against n-grams.
        negatives: Wrong entities for each seed, at either end: the nearest of all entities.
        refresh: Epochs between two searches for the nearest.
        margin: By how much wrong pairs should be farther apart.
        first: How much the first attention over triples adds to the name.
        second: How much the second attention adds.
        learning_rate: Of the optimiser.
    """

    epochs: int = 600
    evaluate_every: int = 10
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

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(**{name: (getattr(self, name), 1) for name in ("negatives", "refresh")})
        check_at_least(**{name: (getattr(self, name), 0) for name in ("ngrams", "word_weight", "margin", "first", "second")})
        if not self.learning_rate > 0:
            raise OptionError(f"learning_rate={self.learning_rate}: expected a rate above 0")
        if not self.ngrams and not (self.word_vectors and self.word_weight):
            raise OptionError("ngrams=0 without word vectors: expected one or the other, since the model starts from names")

    @property
    def capabilities(self) -> Capabilities:
        quick = {"ngrams": 64, "negatives": 5, "epochs": 10, "evaluate_every": 5}
        return replace(super().capabilities, systems={"RDGCN": {}}, quick_options=quick)

    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        return RDGCNNetwork(self, task, NAME_LENGTH * torch.as_tensor(name_rows(self, task)), device)

    def rebuild(self, task: AlignmentTask, device: torch.device, learnt: Mapping[str, Tensor]) -> Network:
        return RDGCNNetwork(self, task, learnt["names"], device)  # so the file of word vectors is not needed again


class RDGCNNetwork(ConvolutionNetwork):
    """The table of names, which is trained too, and the layers above it."""

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
        """(n + m, d) the states of all entities after the last layer."""
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
        """(s, k) for each seed the entities of both graphs that are nearest to its target, and those nearest to its source."""
        with torch.no_grad():
            states = self._encode(Alignment.empty())
            near = [top_k(states[ends], states, self.options.negatives, metric=self.metric)[0] for ends in self.seeds.T]
        to_source, to_target = (torch.as_tensor(rows, device=states.device) for rows in near)
        return to_target, to_source


class RelationAttention(nn.Module):
    """An attention of each relation over the relations that share heads or tails with it."""

    def __init__(self, size: int, *, bias: bool) -> None:
        super().__init__()
        self.inner = nn.Linear(size, size, bias=bias)
        self.own = nn.Linear(size, 1)
        self.other = nn.Linear(size, 1)

    def forward(self, dual: Tensor, states: Tensor, values: Tensor) -> Tensor:
        """(r, d) the attended values, from the graph of relations (r, r), the states (r, d) that give the attention, and the values (r, d)."""
        return torch.relu(self.coefficients(dual, states) @ values)

    def coefficients(self, dual: Tensor, states: Tensor) -> Tensor:
        """(r, r) rows that add up to 1."""
        inner = self.inner(states)
        scores = functional.leaky_relu(dual * (self.own(inner) + self.other(inner).T), SLOPE)
        return scores.masked_fill(dual == 0, -torch.inf).softmax(dim=1)


class TripleAttention:
    """An attention of each entity over the tails of its triples, by the scores of their relations. It has no weights of its own."""

    def __init__(self, triples: Ints, count: int, device: torch.device) -> None:
        # Several triples may join the same two entities.
        edges, places = np.unique(triples[:, 0] * count + triples[:, 2], return_inverse=True)
        ones = np.ones(len(edges), np.float32)
        self.edges = SparseMatrix.of(sparse.csr_array((ones, np.divmod(edges, count)), shape=(count, count)), device)
        self.places = torch.as_tensor(places, device=device)  # (t,)
        self.heads, self.relations = (torch.as_tensor(triples[:, i].copy(), device=device) for i in (0, 1))  # (t,)

    def __call__(self, states: Tensor, scores: Tensor) -> Tensor:
        """(n, d) from the states (n, d) and the scores of relations (r, 1)."""
        weights = self.coefficients(scores)
        return torch.relu(self.edges.times(states, weights.new_zeros(len(self.edges.rows)).index_add(0, self.places, weights)))

    def coefficients(self, scores: Tensor) -> Tensor:
        """(t,) the attention of each triple's head to its tail; those of one head add up to 1."""
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
    return sorted_rows(sparse.diags_array(1 / np.maximum(matrix.sum(axis=1), 1)) @ matrix)


def dual_graph(heads: sparse.csr_array, tails: sparse.csr_array) -> Floats:
    """(r, r) the share of heads that two relations have in common plus the share of tails; 2 on the diagonal."""
    graph = np.zeros((heads.shape[0], heads.shape[0]), np.float32)
    for ends in (heads, tails):
        common = sparse.coo_array(ends @ ends.T)
        often = ends.sum(axis=1)
        graph[common.row, common.col] += common.data / (often[common.row] + often[common.col] - common.data)
    np.fill_diagonal(graph, 2)  # for relations without triples too, whose rows would be empty
    return graph


def name_rows(options: RDGCN, task: AlignmentTask) -> Floats:
    """(n + m, d) unit vectors of all names; a name without n-grams or known words has a random vector."""
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
    """Gives the layer the starting weights of the original."""
    nn.init.xavier_uniform_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
