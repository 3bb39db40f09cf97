"""Scores of many pairs: each entity is encoded once, and only pairs that new evidence touches are scored again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from kgalign.data import Floats, Ints
from kgalign.models.gm.network import Encoded, GraphMatchingNetwork
from kgalign.models.gm.scene import Scene, Side, pinned_nodes

BUCKETS = (4, 8, 16)  # graphs of up to this many nodes are padded to it and computed together; larger ones at full size
DIGITS = 3  # of a score: further digits depend on the order of sums


def pairs_at_once(device: torch.device) -> int:
    """How many pairs are scored in one step."""
    return 128 if device.type == "cpu" else 2048


@dataclass(eq=False)
class Scorer:
    """Scores pairs, and remembers names, target graphs and scores between calls. Its scores do not depend on what it remembers.

    Attributes:
        batch: Pairs in a step: always exactly as many, since sums in another order differ in the last digits.
        names: (u, d) every name, encoded.
        row: (m,) the row of each entity in the encoded target graphs, -1: it is not encoded yet.
        targets: The encoded target graphs.
        keys: One number for each pair that was scored last, ascending.
        scores: The scores of those pairs.
        seen: A number for the known links around each source at that time.
        scored: How many pairs the network has scored so far.
    """

    network: GraphMatchingNetwork
    scene: Scene
    batch: int
    names: Tensor = field(init=False)
    row: Ints = field(init=False)
    targets: Encodings | None = None
    keys: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    scores: Floats = field(default_factory=lambda: np.empty(0, np.float32))
    seen: Ints = field(default_factory=lambda: np.empty(0, np.uint64))
    scored: int = 0

    def __post_init__(self) -> None:
        self.network.eval()
        self.row = np.full(len(self.scene.target.nodes), -1, np.int64)
        with torch.inference_mode():
            blocks = range(0, len(self.scene.words), 4096)
            parts = [self.network.encode_names(self.scene.words[i : i + 4096], self.scene.ngrams[i : i + 4096]) for i in blocks]
        self.names = torch.cat(parts)

    def score(self, sources: Ints, targets: Ints, match: Ints) -> Floats:
        """(P,) scores of pairs, each pair once; match (n,) is the known target of each source entity, -1: none is known."""
        device = self.names.device
        matches = torch.as_tensor(match, device=device)[self.scene.source.nodes]
        matches[~self.scene.source.mask] = -1
        matches[:, 0] = -1  # a link is no evidence for itself
        seen = _fingerprints(matches)
        keys = (sources << 32) | targets
        scores = np.zeros(len(keys), np.float32)
        at = np.minimum(np.searchsorted(self.keys, keys), max(0, len(self.keys) - 1))
        old = np.zeros(len(keys), bool)
        if len(self.keys):
            old = (self.keys[at] == keys) & (self.seen[sources] == seen[sources])
            scores[old] = self.scores[at[old]]
        scores[~old] = self._score_anew(sources[~old], targets[~old], matches)
        kept = np.zeros(0, bool) if not len(self.keys) else self.seen[self.keys >> 32] == seen[self.keys >> 32]
        kept &= ~np.isin(self.keys, keys)
        merged = np.concatenate([self.keys[kept], keys])
        order = np.argsort(merged)
        self.keys, self.scores, self.seen = merged[order], np.concatenate([self.scores[kept], scores])[order], seen
        return scores

    @torch.inference_mode()
    def _score_anew(self, sources: Ints, targets: Ints, matches: Tensor) -> Floats:
        self.scored += len(sources)
        if not len(sources):
            return np.empty(0, np.float32)
        distinct, left = np.unique(sources, return_inverse=True)
        graphs = torch.as_tensor(distinct, device=self.names.device)
        names = self.scene.source_names(graphs, matches[graphs])
        lefts = encode_graphs(self.network, self.scene.source, graphs, names, self.names, BUCKETS, self.batch)
        rights = self._encode_targets(np.unique(targets))
        scores = score_pairs(self.network, self.scene, lefts, rights, left, self.row[targets], matches[graphs], BUCKETS, self.batch)
        return np.round(scores.cpu().numpy(), DIGITS)

    def _encode_targets(self, wanted: Ints) -> Encodings:
        """Encodings of at least these target graphs. Known links never change them."""
        if self.targets is None or (self.row[wanted] < 0).any():
            wanted = np.union1d(wanted, np.flatnonzero(self.row >= 0))
            graphs = torch.as_tensor(wanted, device=self.names.device)
            names = self.scene.target_names(graphs)
            self.targets = encode_graphs(self.network, self.scene.target, graphs, names, self.names, BUCKETS, self.batch)
            self.row[wanted] = np.arange(len(wanted))
        return self.targets


@dataclass(frozen=True, eq=False)
class Encodings:
    """Encoded topic graphs without padding: the states of all their nodes one below the other.

    Attributes:
        graphs: (G,) the ids of the topics.
        states: (nodes + 1, D), the last row 0.
        index: (G, size) the row of each node's state.
        mask: (G, size) bool, false for padding.
        edges: (G, size, size) bool.
        topics: (G, 1, ngrams) the n-grams of the topics.
        counts: (G,) the number of nodes.
    """

    graphs: Tensor
    states: Tensor
    index: Tensor
    mask: Tensor
    edges: Tensor
    topics: Tensor
    counts: Ints

    def pick(self, rows: Tensor, size: int) -> Encoded:
        """Padded graphs of at most that many nodes."""
        states = functional.embedding(self.index[rows, :size], self.states)
        return Encoded(states, self.mask[rows, :size], self.edges[rows, :size, :size], self.topics[rows])


def encode_graphs(
    network: GraphMatchingNetwork,
    side: Side,
    graphs: Tensor,
    names: Tensor,
    vectors: Tensor,
    buckets: tuple[int, ...],
    batch: int | None = None,
) -> Encodings:
    """Encodings of topic graphs, those of similar size together.

    Args:
        network: The network.
        side: The topic graphs of the knowledge graph.
        graphs: (G,) the topics to encode.
        names: (G, size) the rows of the names of their nodes.
        vectors: (u, d) the encoded names.
        buckets: The sizes to pad to.
        batch: Graphs in a step, always exactly as many; None: all of one size at once.
    """
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
    left: Ints,
    right: Ints,
    matches: Tensor,
    buckets: tuple[int, ...],
    batch: int | None = None,
) -> Tensor:
    """(P,) scores of pairs of encoded graphs, those of similar size together.

    Args:
        network: The network.
        scene: Both graphs.
        lefts: The encoded source graphs.
        rights: The encoded target graphs.
        left: (P,) the row of each pair's source graph.
        right: (P,) the row of each pair's target graph.
        matches: (G, size) the known matches of the source graphs' nodes, -1: none is known.
        buckets: The sizes to pad to.
        batch: Pairs in a step, always exactly as many; None: all of one size at once.
    """
    device = lefts.states.device
    parts, order = [], []
    sizes = np.stack([_bucket(lefts.counts[left], buckets), _bucket(rights.counts[right], buckets)])
    for size, group in _groups(sizes):
        for rows, filled in _batches(group, batch, torch.device("cpu")):
            one, two = (torch.as_tensor(side[filled.numpy()], device=device) for side in (left, right))
            pins = pinned_nodes(matches[one, : size[0]], scene.target, rights.graphs[two], size[1])
            parts.append(network(lefts.pick(one, size[0]), rights.pick(two, size[1]), pins)[: len(rows)])
            order.append(rows)
    return torch.cat(parts)[torch.argsort(torch.cat(order)).to(device)]


def _groups(sizes: Ints) -> Iterator[tuple[list[int], Ints]]:
    """Each distinct column of sizes (s, n), and its positions."""
    for size in np.unique(sizes, axis=1).T:
        yield size.tolist(), np.flatnonzero((sizes == size[:, None]).all(axis=0))


def _batches(group: Ints, batch: int | None, device: torch.device) -> Iterator[tuple[Tensor, Tensor]]:
    """The parts of a group, and each part repeated up to the length of a full one."""
    for start in range(0, len(group), batch or len(group)):
        rows = group[start : start + (batch or len(group))]
        yield torch.as_tensor(rows, device=device), torch.as_tensor(np.resize(rows, batch or len(rows)), device=device)


def _bucket(counts: Ints, buckets: tuple[int, ...]) -> Ints:
    """(n,) the number of nodes that graphs of these sizes are padded to."""
    whole = np.iinfo(np.int32).max
    return np.select([counts <= size for size in buckets], buckets, whole) if buckets else np.full(len(counts), whole)


def _fingerprints(matches: Tensor) -> Ints:
    """(n,) a number of 64 bits for the known links around each source: in practice, equal only for equal links."""
    columns = matches.cpu().numpy().astype(np.int64).astype(np.uint64)
    numbers = np.zeros(len(columns), np.uint64)
    for column in columns.T:
        mixed = (numbers ^ column) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(0x9E3779B97F4A7C15)
        numbers = mixed ^ (mixed >> np.uint64(29))
    return numbers
