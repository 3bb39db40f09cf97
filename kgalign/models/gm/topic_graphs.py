"""The input of a graph matching network: the topic graph of each entity, and its name as words and n-grams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kgalign.data import Floats, Ints, KnowledgeGraph
from kgalign.features.text import projected_ngrams
from kgalign.features.words import fold

Directions = Literal["both", "out"]
NO_WORD, UNKNOWN_WORD = 0, 1  # the first rows of every table of words
LONGEST_NAME = 8  # words; one name in a hundred has more


@dataclass(frozen=True, eq=False)
class TopicGraphs:
    """For each entity of a graph the entity itself (node 0), its neighbours, and the edges among them all.

    Attributes:
        nodes: (n, size) entity ids, -1 where there is no node.
        edges: (n, size, size) bool; [g, i, j]: some triple leads from node i to node j of the graph g.
    """

    nodes: Ints
    edges: Ints

    @property
    def counts(self) -> Ints:
        """(n,) how many nodes each topic graph has."""
        return (self.nodes >= 0).sum(axis=1)


@dataclass(frozen=True, eq=False)
class NameTable:
    """The distinct names of both graphs, as words and as n-grams. Entities of the same name share a row.

    Attributes:
        source: (n,) the row of each source entity.
        target: (m,) the row of each target entity.
        words: (u, LONGEST_NAME) the numbers of the words, NO_WORD after the last one.
        ngrams: (u, d) random projections of TF-IDF vectors: their inner products are about those of the n-grams.
    """

    source: Ints
    target: Ints
    words: Ints
    ngrams: Floats


def topic_graphs(graph: KnowledgeGraph, size: int, directions: Directions = "both") -> TopicGraphs:
    """The topic graphs of all entities, of `size` nodes at most.

    The nodes with the fewest neighbours of their own stay, and names decide ties. Such nodes say most about the topic, and their
    counterparts stay in the other graph more often than those of well connected nodes.

    Args:
        graph: The graph.
        size: Nodes of each topic graph at most, the topic included.
        directions: `both`: neighbours that point to the topic are nodes too; `out`: those that the topic points to alone.
    """
    count = len(graph.entities)
    head, tail = graph.triples[graph.triples[:, 0] != graph.triples[:, 2]][:, [0, 2]].T
    forward = np.unique(head * count + tail)
    near = np.union1d(forward, tail * count + head)
    degree = np.bincount(near // count, minlength=count)
    entity, neighbour = np.divmod(near if directions == "both" else forward, count)
    by_name = np.unique([fold(name) for name in graph.names], return_inverse=True)[1]
    order = np.lexsort((by_name[neighbour], degree[neighbour], entity))
    entity, neighbour = entity[order], neighbour[order]
    place = np.arange(len(entity)) - np.searchsorted(entity, entity) + 1
    kept = place < size
    nodes = np.full((count, int(place[kept].max(initial=0)) + 1), -1, np.int32)
    nodes[:, 0] = np.arange(count)
    nodes[entity[kept], place[kept]] = neighbour[kept]
    return TopicGraphs(nodes, _edges_within(nodes, forward))


def _edges_within(nodes: Ints, forward: Ints, block: int = 4096) -> Ints:
    """(n, size, size) whether an edge leads from one node of each graph to another; `forward` holds head * n + tail, ascending."""
    count, size = nodes.shape
    edges = np.zeros((count, size, size), bool)
    for start in range(0, count, block):
        part = nodes[start : start + block].astype(np.int64)
        there = part >= 0
        graph, left, right = np.nonzero(there[:, :, None] & there[:, None, :])
        keys = part[graph, left] * count + part[graph, right]
        at = np.minimum(np.searchsorted(forward, keys), max(0, len(forward) - 1))
        edges[start + graph, left, right] = forward[at] == keys if len(forward) else False
    return edges


def vocabulary_of(*sides: Sequence[str]) -> list[str]:
    """All words of the names, in alphabetical order."""
    return sorted({word for names in sides for name in names for word in fold(name).split()})


def name_table(source: Sequence[str], target: Sequence[str], vocabulary: Mapping[str, int], ngram_size: int) -> NameTable:
    """The names of both graphs; a word that is not in the vocabulary is UNKNOWN_WORD."""
    distinct, rows = np.unique([fold(name) for name in (*source, *target)], return_inverse=True)
    words = np.full((len(distinct), LONGEST_NAME), NO_WORD, np.int32)
    for row, name in enumerate(distinct.tolist()):
        numbers = [vocabulary.get(word, UNKNOWN_WORD) for word in name.split()[:LONGEST_NAME]]
        words[row, : len(numbers)] = numbers
    ngrams = np.zeros((len(distinct), 0), np.float32)
    if ngram_size:
        ngrams = projected_ngrams(distinct.tolist(), ngram_size)
    return NameTable(rows[: len(source)], rows[len(source) :], words, ngrams)
