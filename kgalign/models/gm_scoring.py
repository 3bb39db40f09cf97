"""Scores of many pairs under a trained network: encodings are computed once, and only what new evidence touches is scored again."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from kgalign.data import AlignmentTask, Floats, Ints
from kgalign.models.gm_network import Encoded, GraphMatchingNetwork
from kgalign.models.topic_graphs import Directions, NameTable, TopicGraphs, name_table, topic_graphs

BUCKETS = (8, 16)  # graphs of up to so many nodes are worked on together; larger ones at full size
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
    targets: Encodings | None = None
    keys: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # of the pairs scored last, ascending
    scores: Floats = field(default_factory=lambda: np.empty(0, np.float32))
    seen: Ints = field(default_factory=lambda: np.empty(0, np.uint64))  # what was known around each source then
    scored: int = 0  # pairs that the network has looked at so far

    def __post_init__(self) -> None:
        self.network.eval()
        with torch.inference_mode():
            blocks = range(0, len(self.scene.words), 4096)
            parts = [
                self.network.encode_names(self.scene.words[i : i + 4096], self.scene.ngrams[i : i + 4096]) for i in blocks
            ]
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
        lefts = self._encode(self.scene.source, graphs, self.scene.source_names(graphs, partners[graphs]))
        rights = self._encode_targets(np.unique(targets))
        right = rights.row[targets]
        widths = _bucket(lefts.counts[left]), _bucket(rights.counts[right])
        scores = np.empty(len(sources), np.float32)
        for width in np.unique(np.stack(widths), axis=1).T.tolist():
            group = np.flatnonzero((widths[0] == width[0]) & (widths[1] == width[1]))
            for start in range(0, len(group), self.batch):
                rows = group[start : start + self.batch]
                filled = np.resize(rows, self.batch)
                picks = (torch.as_tensor(side[filled], device=self.names.device) for side in (left, right))
                one, two = (side.pick(pick, size) for side, pick, size in zip((lefts, rights), picks, width, strict=True))
                target_ids = torch.as_tensor(targets[filled], device=self.names.device)
                source_ids = torch.as_tensor(sources[filled], device=self.names.device)
                pins = pinned_nodes(partners[source_ids, : one.mask.shape[1]], self.scene.target, target_ids, two.mask.shape[1])
                scores[rows] = self.network(one, two, pins)[: len(rows)].cpu().numpy()
        return np.round(scores, DIGITS)

    def _encode_targets(self, wanted: Ints) -> Encodings:
        """Encodings of at least these target graphs; nothing that becomes known ever changes them."""
        if self.targets is not None and (self.targets.row[wanted] >= 0).all():
            return self.targets
        if self.targets is not None:
            wanted = np.union1d(wanted, np.flatnonzero(self.targets.row >= 0))
        graphs = torch.as_tensor(wanted, device=self.names.device)
        self.targets = self._encode(self.scene.target, graphs, self.scene.target_names(graphs))
        return self.targets

    def _encode(self, side: Side, graphs: Tensor, names: Tensor, batch: int = 256) -> Encodings:
        """Encodings of the graphs, those of like size together."""
        mask, edges = side.mask[graphs], side.edges[graphs]
        counts = mask.sum(dim=1).cpu().numpy()
        states = torch.zeros(int(counts.sum()) + 1, 4 * self.network.shape.size, device=names.device)
        index = torch.zeros(mask.shape, dtype=torch.long, device=names.device)  # the last row of states stays 0
        index[mask] = torch.arange(len(states) - 1, device=names.device)
        index[~mask] = len(states) - 1
        buckets = _bucket(counts)
        for size in np.unique(buckets).tolist():
            group = np.flatnonzero(buckets == size)
            for start in range(0, len(group), batch):
                rows = torch.as_tensor(group[start : start + batch], device=names.device)
                filled = torch.as_tensor(np.resize(group[start : start + batch], batch), device=names.device)
                there = mask[filled, :size]
                found = self.network.encode(self.names[names[filled, :size]], there, edges[filled, :size, :size]).states
                states[index[rows, :size][there[: len(rows)]]] = found[: len(rows)][there[: len(rows)]]
        row = np.full(len(side.nodes), -1, np.int64)
        row[graphs.cpu().numpy()] = np.arange(len(graphs))
        topics = self.names[names[:, :1]][..., self.network.shape.size :]
        return Encodings(states, index, mask, edges, topics, counts, row)


@dataclass(frozen=True, eq=False)
class Encodings:
    """Encoded topic graphs without padding: the states of all their nodes one below the other."""

    states: Tensor  # (nodes + 1, D), the last row 0
    index: Tensor  # (G, size) row of each node's state
    mask: Tensor  # (G, size)
    edges: Tensor  # (G, size, size)
    topics: Tensor  # (G, 1, ngrams)
    counts: Ints  # (G,)
    row: Ints  # (n,) which of the G graphs an entity has, -1: none

    def pick(self, graphs: Tensor, size: int) -> Encoded:
        """Padded graphs of at most that many nodes."""
        index = self.index[graphs, :size]
        return Encoded(self.states[index], self.mask[graphs, :size], self.edges[graphs, :size, :size], self.topics[graphs])


def _bucket(counts: Ints) -> Ints:
    """The number of nodes that graphs of this size are padded to."""
    return np.select([counts <= size for size in BUCKETS], BUCKETS, np.iinfo(np.int32).max)


def _fingerprints(partners: Tensor) -> Ints:
    """(n,) a number for what is known around each source, the same only for the same (as sure as 64 bits can be)."""
    columns = partners.cpu().numpy().astype(np.int64).astype(np.uint64)
    numbers = np.zeros(len(columns), np.uint64)
    for column in columns.T:
        mixed = (numbers ^ column) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(0x9E3779B97F4A7C15)
        numbers = mixed ^ (mixed >> np.uint64(29))
    return numbers
