"""Both graphs of a task as the network sees them: topic graphs and names, as tensors on a device."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from kgalign.data import AlignmentTask, Ints
from kgalign.models.gm.topic_graphs import Directions, NameTable, TopicGraphs, name_table, topic_graphs


@dataclass(frozen=True, eq=False)
class Side:
    """The topic graphs of one knowledge graph, on the device.

    Attributes:
        nodes: (n, size) entity ids, 0 for padding.
        mask: (n, size) bool, false for padding.
        edges: (n, size, size) bool.
        names: (n,) the row of each entity's name.
    """

    nodes: Tensor
    mask: Tensor
    edges: Tensor
    names: Tensor

    @classmethod
    def of(cls, graphs: TopicGraphs, names: Ints, device: torch.device) -> Side:
        nodes = torch.as_tensor(graphs.nodes, dtype=torch.long, device=device)
        edges = torch.as_tensor(graphs.edges, device=device)
        return cls(nodes.clamp(min=0), nodes >= 0, edges, torch.as_tensor(names, dtype=torch.long, device=device))


@dataclass(frozen=True, eq=False)
class Scene:
    """Both graphs of a task as the network sees them.

    Attributes:
        words: (u, w) the words of each distinct name.
        ngrams: (u, d) the n-grams of each distinct name.
    """

    source: Side
    target: Side
    words: Tensor
    ngrams: Tensor

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

    def source_names(self, graphs: Tensor, matches: Tensor, width: int | None = None) -> Tensor:
        """(G, width) rows of the names of some source graphs' nodes. A node with a known match (G, width) has the name of the match."""
        own = self.source.names[self.source.nodes[graphs, :width]]
        return torch.where(matches >= 0, self.target.names[matches.clamp(min=0)], own)

    def target_names(self, graphs: Tensor, width: int | None = None) -> Tensor:
        """(G, width) rows of the names of some target graphs' nodes."""
        return self.target.names[self.target.nodes[graphs, :width]]


def pinned_nodes(matches: Tensor, target: Side, graphs: Tensor, width: int) -> Tensor:
    """(P, N, width) whether a known link joins a source node to a node of the target graph; for the topic of the source never."""
    nodes, mask = target.nodes[graphs, :width], target.mask[graphs, :width]
    pinned = (matches[:, :, None] == nodes[:, None, :]) & mask[:, None, :] & (matches >= 0)[:, :, None]
    pinned[:, 0] = False
    return pinned
