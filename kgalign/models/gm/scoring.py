"""Scores of many pairs under a trained network: encodings are computed once, and only what new evidence touches is scored again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from kgalign.data import AlignmentTask, Floats, Ints
from kgalign.models.gm.network import Encoded, GraphMatchingNetwork
from kgalign.models.gm.topic_graphs import Directions, NameTable, TopicGraphs, name_table, topic_graphs

BUCKETS = (4, 8, 16)  # graphs of up to so many nodes are worked on together; larger ones at full size
DIGITS = 3  # of a score: what lies beyond depends on the order of sums


@dataclass(frozen=True, eq=False)
class Side:
    """The topic graphs of one knowledge graph, on the device."""

    nodes: Tensor  # (n, size) entity ids, 0 where there is none: the mask tells
    mask: Tensor  # (n, size) bool
    edges: Tensor  # (n, size, size) bool
    names: Tensor  # (n,) row of each entity's name

    @classmethod
    def of(cls, graphs: TopicGraphs, names: Ints, device: torch.device) -> Side:
        nodes = torch.as_tensor(graphs.nodes, dtype=torch.long, device=device)
        edges = torch.as_tensor(graphs.edges, device=device)
        return cls(nodes.clamp(min=0), nodes >= 0, edges, torch.as_tensor(names, dtype=torch.long, device=device))


@dataclass(frozen=True, eq=False)
class Scene:
    """Both graphs of a task as the network sees them."""

    source: Side
    target: Side
    words: Tensor  # (u, w) of each distinct name
    ngrams: Tensor  # (u, d)

    @classmethod
    def of(
        cls, task: AlignmentTask, vocabulary: dict[str, int], ngrams: int, nodes: int, directions: Directions, device: torch.device
    ) -> Scene:
        table: NameTable = name_table(task.source.names, task.target.names, vocabulary, ngrams)
        source, target = (
            Side.of(topic_graphs(graph, nodes, directions), names, device)
            for graph, names in ((task.source, table.source), (task.target, table.target))
        )
        words = torch.as_tensor(table.words, dtype=torch.long, device=device)
        return cls(source, target, words, torch.as_tensor(table.ngrams, device=device))

    def source_names(self, graphs: Tensor, partners: Tensor, width: int | None = None) -> Tensor:
        """(G, width) rows of the names of some source graphs' nodes; where a partner (G, width) is known, its name instead."""
        own = self.source.names[self.source.nodes[graphs, :width]]
        return torch.where(partners >= 0, self.target.names[partners.clamp(min=0)], own)

    def target_names(self, graphs: Tensor, width: int | None = None) -> Tensor:
        """(G, width) rows of the names of some target graphs' nodes."""
        return self.target.names[self.target.nodes[graphs, :width]]


def pinned_nodes(partners: Tensor, target: Side, graphs: Tensor, width: int) -> Tensor:
    """(P, N, width) which source node is known to be which node of the target graphs; the topic of the source never is."""
    nodes, mask = target.nodes[graphs, :width], target.mask[graphs, :width]
    pinned = (partners[:, :, None] == nodes[:, None, :]) & mask[:, None, :] & (partners >= 0)[:, :, None]
    pinned[:, 0] = False
    return pinned


@dataclass(eq=False)
class Scorer:
    """Remembers names, target graphs and scores between calls. What it answers does not depend on what it remembers."""

    network: GraphMatchingNetwork
    scene: Scene
    batch: int  # pairs at a time; always exactly so many, since sums in another order differ in the last digits
    names: Tensor = field(init=False)  # (u, d) every name, encoded
    row: Ints = field(init=False)  # (m,) which of the encoded target graphs an entity has, -1: none
    targets: Encodings | None = None
    keys: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # of the pairs scored last, ascending
    scores: Floats = field(default_factory=lambda: np.empty(0, np.float32))
    seen: Ints = field(default_factory=lambda: np.empty(0, np.uint64))  # what was known around each source then
    scored: int = 0  # pairs that the network has looked at so far

    def __post_init__(self) -> None:
        self.network.eval()
        self.row = np.full(len(self.scene.target.nodes), -1, np.int64)
        with torch.inference_mode():
            blocks = range(0, len(self.scene.words), 4096)
            parts = [self.network.encode_names(self.scene.words[i : i + 4096], self.scene.ngrams[i : i + 4096]) for i in blocks]
        self.names = torch.cat(parts)

    def score(self, sources: Ints, targets: Ints, partner: Ints) -> Floats:
        """(P,) scores of pairs, each pair once; partner (n,) is the known target of each source entity, -1 where none is known."""
        device = self.names.device
        partners = torch.as_tensor(partner, device=device)[self.scene.source.nodes]
        partners[~self.scene.source.mask] = -1
        partners[:, 0] = -1  # an answer is no evidence for itself
        seen = _fingerprints(partners)
        keys = (sources << 32) | targets
        scores = np.zeros(len(keys), np.float32)
        at = np.minimum(np.searchsorted(self.keys, keys), max(0, len(self.keys) - 1))
        old = np.zeros(len(keys), bool)
        if len(self.keys):
            old = (self.keys[at] == keys) & (self.seen[sources] == seen[sources])
            scores[old] = self.scores[at[old]]
        scores[~old] = self._score_anew(sources[~old], targets[~old], partners)
        kept = np.zeros(0, bool) if not len(self.keys) else self.seen[self.keys >> 32] == seen[self.keys >> 32]
        kept &= ~np.isin(self.keys, keys)
        merged = np.concatenate([self.keys[kept], keys])
        order = np.argsort(merged)
        self.keys, self.scores, self.seen = merged[order], np.concatenate([self.scores[kept], scores])[order], seen
        return scores

    @torch.inference_mode()
    def _score_anew(self, sources: Ints, targets: Ints, partners: Tensor) -> Floats:
        self.scored += len(sources)
        if not len(sources):
            return np.empty(0, np.float32)
        asked, left = np.unique(sources, return_inverse=True)
        graphs = torch.as_tensor(asked, device=self.names.device)
        names = self.scene.source_names(graphs, partners[graphs])
        lefts = encode_graphs(self.network, self.scene.source, graphs, names, self.names, BUCKETS, self.batch)
        rights = self._encode_targets(np.unique(targets))
        scores = score_pairs(
            self.network, self.scene, lefts, rights, left, self.row[targets], partners[graphs], BUCKETS, self.batch
        )
        return np.round(scores.cpu().numpy(), DIGITS)

    def _encode_targets(self, wanted: Ints) -> Encodings:
        """Encodings of at least these target graphs; nothing that becomes known ever changes them."""
        if self.targets is None or (self.row[wanted] < 0).any():
            wanted = np.union1d(wanted, np.flatnonzero(self.row >= 0))
            graphs = torch.as_tensor(wanted, device=self.names.device)
            names = self.scene.target_names(graphs)
            self.targets = encode_graphs(self.network, self.scene.target, graphs, names, self.names, BUCKETS, self.batch)
            self.row[wanted] = np.arange(len(wanted))
        return self.targets


@dataclass(frozen=True, eq=False)
class Encodings:
    """Encoded topic graphs without padding: the states of all their nodes one below the other."""

    graphs: Tensor  # (G,) whose topic graphs they are
    states: Tensor  # (nodes + 1, D), the last row 0
    index: Tensor  # (G, size) row of each node's state
    mask: Tensor  # (G, size)
    edges: Tensor  # (G, size, size)
    topics: Tensor  # (G, 1, ngrams)
    counts: Ints  # (G,)

    def pick(self, rows: Tensor, size: int) -> Encoded:
        """Padded graphs of at most that many nodes."""
        states = functional.embedding(self.index[rows, :size], self.states)
        return Encoded(states, self.mask[rows, :size], self.edges[rows, :size, :size], self.topics[rows])


def encode_graphs(
    network: GraphMatchingNetwork,
    side: Side,
    graphs: Tensor,  # (G,)
    names: Tensor,  # (G, size) of their nodes
    vectors: Tensor,  # (u, d) of names
    buckets: tuple[int, ...],
    batch: int | None = None,
) -> Encodings:
    """Encodings of topic graphs, those of like size together; in batches of exactly that many graphs, or each size at once."""
    mask, edges = side.mask[graphs], side.edges[graphs]
    counts = mask.sum(dim=1).cpu().numpy()
    parts, places = [], torch.zeros(mask.shape, dtype=torch.long, device=mask.device)
    done = 0
    for size, group in _groups(np.stack([_bucket(counts, buckets)])):
        for rows, filled in _batches(group, batch, mask.device):
            there = mask[filled, : size[0]]
            nodes = functional.embedding(names[filled, : size[0]], vectors)
            states = network.encode(nodes, there, edges[filled, : size[0], : size[0]]).states[: len(rows)]
            parts.append(states[there[: len(rows)]])
            index = torch.zeros_like(places[rows, : size[0]])
            index[there[: len(rows)]] = torch.arange(done, done + len(parts[-1]), device=mask.device)
            places[rows, : size[0]] = index
            done += len(parts[-1])
    parts.append(torch.zeros_like(parts[0][:1]))
    places[~mask] = done
    topics = functional.embedding(names[:, :1], vectors)[..., network.shape.size :]
    return Encodings(graphs, torch.cat(parts), places, mask, edges, topics, counts)


def score_pairs(
    network: GraphMatchingNetwork,
    scene: Scene,
    lefts: Encodings,
    rights: Encodings,
    left: Ints,  # (P,) which of the source graphs
    right: Ints,  # (P,) which of the target graphs
    partners: Tensor,  # (G, size) known partners of the source graphs' nodes
    buckets: tuple[int, ...],
    batch: int | None = None,
) -> Tensor:
    """(P,) scores of pairs of encoded graphs, those of like size together."""
    device = lefts.states.device
    parts, order = [], []
    sizes = np.stack([_bucket(lefts.counts[left], buckets), _bucket(rights.counts[right], buckets)])
    for size, group in _groups(sizes):
        for rows, filled in _batches(group, batch, torch.device("cpu")):
            one, two = (torch.as_tensor(side[filled.numpy()], device=device) for side in (left, right))
            pins = pinned_nodes(partners[one, : size[0]], scene.target, rights.graphs[two], size[1])
            parts.append(network(lefts.pick(one, size[0]), rights.pick(two, size[1]), pins)[: len(rows)])
            order.append(rows)
    return torch.cat(parts)[torch.argsort(torch.cat(order)).to(device)]


def _groups(sizes: Ints) -> Iterator[tuple[list[int], Ints]]:
    """Each distinct column of sizes (s, n), and where it stands."""
    for size in np.unique(sizes, axis=1).T:
        yield size.tolist(), np.flatnonzero((sizes == size[:, None]).all(axis=0))


def _batches(group: Ints, batch: int | None, device: torch.device) -> Iterator[tuple[Tensor, Tensor]]:
    """The group in parts, and each part filled up to the same length by going round."""
    for start in range(0, len(group), batch or len(group)):
        rows = group[start : start + (batch or len(group))]
        yield torch.as_tensor(rows, device=device), torch.as_tensor(np.resize(rows, batch or len(rows)), device=device)


def _bucket(counts: Ints, buckets: tuple[int, ...]) -> Ints:
    """The number of nodes that graphs of this size are padded to."""
    whole = np.iinfo(np.int32).max
    return np.select([counts <= size for size in buckets], buckets, whole) if buckets else np.full(len(counts), whole)


def _fingerprints(partners: Tensor) -> Ints:
    """(n,) a number for what is known around each source, the same only for the same (as sure as 64 bits can be)."""
    columns = partners.cpu().numpy().astype(np.int64).astype(np.uint64)
    numbers = np.zeros(len(columns), np.uint64)
    for column in columns.T:
        mixed = (numbers ^ column) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(0x9E3779B97F4A7C15)
        numbers = mixed ^ (mixed >> np.uint64(29))
    return numbers
