"""The layers of the graph matching network. It sees tensors, never entities or links.

Every layer masks the padding and computes each graph by itself, so the score of a pair is the same in every batch and for every order of
the nodes after the topic. Letters in shapes: G graphs, P pairs, N and M nodes, D features of a node, L perspectives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

Matching = Literal["attentive", "pooled"]
Readout = Literal["pooled", "topic"]
TINY = 1e-6


@dataclass(frozen=True)
class Shape:
    """The sizes that the weights depend on.

    Attributes:
        words: The rows of the table of words, the empty and the unknown word included.
        word_size: The width of the vectors of words.
        ngrams: The width of the n-gram vectors of names; 0: none.
        size: The width of the states.
        input_hops: The hops of the convolution before the matching.
        matching_hops: The hops of the convolution after it.
        perspectives: The number L of weighted cosines.
        matching: `attentive`: L weighted cosines with the mean of the other side, weighted by similarity (the paper); `pooled`: the
            largest and the mean similarity, and L weighted cosines with the most similar node (the released code).
        readout: `pooled`: the maximum and the mean over all nodes (the paper); `topic`: beside them the states of the topics and their
            similarity (our own variant).
        dropout: The share of inputs that are dropped in training.
    """

    words: int
    word_size: int
    ngrams: int
    size: int
    input_hops: int
    matching_hops: int
    perspectives: int
    matching: Matching
    readout: Readout
    dropout: float = 0.0


@dataclass(frozen=True, eq=False)
class Encoded:
    """Topic graphs after the first convolution.

    Attributes:
        states: (G, N, D) at least 0, and 0 for padding.
        mask: (G, N) bool, false for padding.
        edges: (G, N, N) bool.
        names: (G, 1, ngrams) the n-grams of the topics.
    """

    states: Tensor
    mask: Tensor
    edges: Tensor
    names: Tensor

    def pick(self, graphs: Tensor) -> Encoded:
        """Some of the graphs, in that order; a graph may occur more than once."""
        return Encoded(self.states[graphs], self.mask[graphs], self.edges[graphs], self.names[graphs])


class GraphMatchingNetwork(nn.Module):
    """Names to states of nodes (`encode_names`, `encode`), and pairs of encoded graphs to scores (`forward`)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(shape.words, shape.word_size, padding_idx=0)
        self.lstm = nn.LSTM(shape.word_size, shape.size, batch_first=True)
        with torch.no_grad():
            cast(Tensor, self.lstm.bias_ih_l0)[shape.size : 2 * shape.size] = 1  # forget little at first
        self.ngram_scale = nn.Parameter(torch.ones(1))
        self.dropout = nn.Dropout(shape.dropout)
        self.first = Convolution(shape.size + shape.ngrams, shape.size, shape.input_hops)
        node = 4 * shape.size
        self.perspectives = nn.Parameter(torch.rand(shape.perspectives, node))
        self.pooled_perspectives = nn.Parameter(torch.rand(shape.perspectives, node))
        features = {"attentive": shape.perspectives, "pooled": 3 + 3 * shape.perspectives}[shape.matching]
        self.second = Convolution(features, shape.size, shape.matching_hops)
        self.before_pooling = nn.Linear(node, node)
        vectors = 4 if shape.readout == "pooled" else 6
        extra = 0 if shape.readout == "pooled" else 2 + shape.perspectives
        self.hidden = nn.Linear(vectors * node + extra, 2 * node)
        self.output = nn.Linear(2 * node, 1)

    def encode_names(self, words: Tensor, ngrams: Tensor) -> Tensor:
        """(U, size + ngrams) names from their words (U, W), 0 after the last word, and their n-grams (U, ngrams)."""
        outputs, _ = self.lstm(self.words(words))  # (U, W, size); nothing after the last word reaches back to it
        lengths = (words > 0).sum(dim=1)
        last = outputs[torch.arange(len(words), device=words.device), (lengths - 1).clamp(min=0)]
        last = last * (lengths > 0)[:, None]
        return self.dropout(torch.cat([last, self.ngram_scale * ngrams], dim=1))

    def encode(self, names: Tensor, mask: Tensor, edges: Tensor) -> Encoded:
        """Topic graphs from the encoded names of their nodes (G, N, size + ngrams)."""
        states = self.first(names * mask[..., None], mask, edges)
        return Encoded(states, mask, edges, names[:, :1, self.shape.size :])

    def forward(self, left: Encoded, right: Encoded, pinned: Tensor) -> Tensor:
        """(P,) the log-odds that the topics of two graphs are the same. `pinned` (P, N, M): the nodes of known links."""
        halves, extra = self.compare(left, right, pinned)
        hidden = torch.tanh(self.hidden(torch.cat([*halves, *extra], dim=1)))
        return self.output(self.dropout(hidden))[:, 0].float()

    def compare(self, left: Encoded, right: Encoded, pinned: Tensor) -> tuple[tuple[Tensor, Tensor], list[Tensor]]:
        """The readout of either side after the matching, and features of the two topics. Swapped graphs give swapped sides."""
        cosines = cosine_matrix(left.states, right.states)  # (P, N, M)
        views = cosines[:, None]  # (P, L, N, M)
        if self.shape.matching == "pooled":
            views = weighted_cosine_matrices(left.states, right.states, self.perspectives)
        sides = []
        for near, far, matrix, view, pins in (
            (left, right, cosines, views, pinned),
            (right, left, cosines.mT, views.mT, pinned.mT),
        ):
            features = self.match(near, far, pin(matrix, pins), view)  # (P, N, features)
            states = self.second(features, near.mask, near.edges)
            states = torch.relu(self.before_pooling(states)) * near.mask[..., None]
            pooled = [states.amax(dim=1), states.sum(dim=1) / near.mask.sum(dim=1, keepdim=True)]
            if self.shape.readout == "topic":
                pooled.append(states[:, 0])
            sides.append(torch.cat(pooled, dim=1))
        extra = []
        if self.shape.readout == "topic":
            topics = left.states[:, 0], right.states[:, 0]
            extra.append(weighted_cosines(*topics, with_plain(self.perspectives)))
            extra.append((left.names[:, 0] * right.names[:, 0]).sum(dim=1, keepdim=True))
        return (sides[0], sides[1]), extra

    def match(self, near: Encoded, far: Encoded, cosines: Tensor, views: Tensor) -> Tensor:
        """(P, N, features) how well each node of one side matches the other side; 0 for padding."""
        if self.shape.matching == "attentive":
            shares = cosines / cosines.sum(dim=2, keepdim=True).clamp(min=TINY)
            features = weighted_cosines(near.states, shares @ far.states, self.perspectives)
        else:
            count = far.mask.sum(dim=1)[:, None, None]  # (P, 1, 1)
            best, where = cosines.max(dim=2, keepdim=True)
            found = far.states.gather(1, where.expand(-1, -1, far.states.shape[2]))  # (P, N, D)
            features = torch.cat(
                [
                    best,
                    cosines.sum(dim=2, keepdim=True) / count,
                    views.amax(dim=3).mT,
                    views.sum(dim=3).mT / count,
                    weighted_cosines(near.states, found, with_plain(self.pooled_perspectives)),
                ],
                dim=2,
            )
        return features * near.mask[..., None]


class Convolution(nn.Module):
    """Some hops over a directed graph: ReLU([W x ; mean of V x over neighbours] + b), once along the edges and once against them.

    The two chains have their own weights and are joined at the end: (G, N, inputs) becomes (G, N, 4 size).
    """

    def __init__(self, inputs: int, size: int, hops: int) -> None:
        super().__init__()
        widths = [inputs, *[2 * size] * (hops - 1)]
        self.along, self.against = (nn.ModuleList(nn.Linear(width, 2 * size, bias=False) for width in widths) for _ in range(2))
        self.biases = nn.Parameter(torch.zeros(2, hops, 2 * size))
        for weights in (*self.along, *self.against):
            nn.init.xavier_uniform_(weights.weight)

    def forward(self, states: Tensor, mask: Tensor, edges: Tensor) -> Tensor:
        chains = []
        for layers, biases, there in ((self.along, self.biases[0], edges), (self.against, self.biases[1], edges.mT)):
            chain = states
            means = there / there.sum(dim=2, keepdim=True).clamp(min=1)  # (G, N, N)
            for layer, bias in zip(layers, biases, strict=True):
                own, others = layer(chain).chunk(2, dim=2)  # (G, N, size) each
                chain = torch.relu(torch.cat([own, means.to(others.dtype) @ others], dim=2) + bias) * mask[..., None]
            chains.append(chain)
        return torch.cat(chains, dim=2)


def pin(cosines: Tensor, pinned: Tensor) -> Tensor:
    """The similarities (P, N, M) in which a node of a known link has 1 with its match, and 0 with all other nodes."""
    return torch.where(pinned.any(dim=2, keepdim=True), pinned.to(cosines.dtype), cosines)


def cosine_matrix(left: Tensor, right: Tensor) -> Tensor:
    """(P, N, M) cosines of all states (P, N, D) and (P, M, D)."""
    with torch.autocast(left.device.type, enabled=False):  # half precision cannot tell equal names from similar ones
        return functional.normalize(left.float(), dim=2, eps=TINY) @ functional.normalize(right.float(), dim=2, eps=TINY).mT


def weighted_cosines(left: Tensor, right: Tensor, weights: Tensor) -> Tensor:
    """(..., L) cosines of (..., D) and (..., D), both multiplied by each row of the weights (L, D)."""
    with torch.autocast(left.device.type, enabled=False):
        left, right, squares = left.float(), right.float(), weights.square().T  # (D, L)
        lengths = ((left.square() @ squares).clamp(min=TINY) * (right.square() @ squares).clamp(min=TINY)).sqrt()
        return ((left * right) @ squares) / lengths


def with_plain(weights: Tensor) -> Tensor:
    """The weights (L, D) below a row of ones, which gives the plain cosine."""
    return torch.cat([torch.ones_like(weights[:1]), weights])


def weighted_cosine_matrices(left: Tensor, right: Tensor, weights: Tensor) -> Tensor:
    """(P, L, N, M) the weighted cosines of all states (P, N, D) with all states (P, M, D)."""
    with torch.autocast(left.device.type, enabled=False):
        left, right, squares = left.float(), right.float(), weights.square()  # (L, D)
        lengths = [(side.square() @ squares.T).clamp(min=TINY).sqrt().mT for side in (left, right)]  # (P, L, N)
        weighted = (left[:, None] * squares[:, None]).flatten(1, 2)  # (P, L N, D)
        products = (weighted @ right.mT).unflatten(1, (len(weights), -1))  # (P, L, N, M)
        return products / (lengths[0][..., None] * lengths[1][:, :, None, :])
