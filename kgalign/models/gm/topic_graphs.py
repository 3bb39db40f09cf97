"""What a graph matching network reads: the topic graph of each entity, words and n-grams of names, and candidate lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy import sparse

from kgalign.data import Alignment, Candidates, Floats, Ints, KnowledgeGraph
from kgalign.models.names import name_vectors
from kgalign.features.relations import adjacency
from kgalign.search import Vectors, find_candidates, pack
from kgalign.features.text import fold, projected_ngrams, unit_rows

Directions = Literal["both", "out"]
NO_WORD, UNKNOWN_WORD = 0, 1  # the first rows of every table of words
LONGEST_NAME = 8  # words; one name in a hundred has more


@dataclass(frozen=True, eq=False)
class TopicGraphs:
    """For each entity of a graph the entity itself (node 0), its neighbours, and the edges among them all."""

    nodes: Ints  # (n, size) entity ids, -1 where there is none
    edges: Ints  # (n, size, size) bool; [g, i, j]: some triple leads from node i to node j

    @property
    def counts(self) -> Ints:
        """(n,) how many nodes each topic graph has."""
        return (self.nodes >= 0).sum(axis=1)


@dataclass(frozen=True, eq=False)
class NameTable:
    """The distinct names of both graphs, as words and as n-grams. Entities of the same name share a row."""

    source: Ints  # (n,) row of each source entity
    target: Ints  # (m,) row of each target entity
    words: Ints  # (u, LONGEST_NAME) numbers of words, NO_WORD where a name is over
    ngrams: Floats  # (u, d) random projections of TF-IDF vectors: their inner products are about those of the n-grams


def topic_graphs(graph: KnowledgeGraph, size: int, directions: Directions = "both") -> TopicGraphs:
    """The topic graphs of all entities, of `size` nodes at most: those with the fewest neighbours of their own stay, ties go by name.

    They say most about the topic, and more counterparts of theirs stay on the other side than with the order reversed.
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
    """(n, size, size) which nodes of each graph an edge leads between; `forward` holds head * n + tail of all edges, ascending."""
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
    """All words of the names, in order of the alphabet."""
    return sorted({word for names in sides for name in names for word in fold(name).split()})


def name_table(source: Sequence[str], target: Sequence[str], vocabulary: Mapping[str, int], ngram_size: int) -> NameTable:
    """The names of both graphs; a word that the vocabulary does not have is UNKNOWN_WORD."""
    distinct, rows = np.unique([fold(name) for name in (*source, *target)], return_inverse=True)
    words = np.full((len(distinct), LONGEST_NAME), NO_WORD, np.int32)
    for row, name in enumerate(distinct.tolist()):
        numbers = [vocabulary.get(word, UNKNOWN_WORD) for word in name.split()[:LONGEST_NAME]]
        words[row, : len(numbers)] = numbers
    ngrams = np.zeros((len(distinct), 0), np.float32)
    if ngram_size:
        ngrams = projected_ngrams(distinct.tolist(), ngram_size)
    return NameTable(rows[: len(source)], rows[len(source) :], words, ngrams)


def find_lists(
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    known: Alignment,
    queries: Ints,
    pool: Ints,
    *,
    k: int,
    graph_k: int,
    both_directions: bool,
    word_vectors: str | None,
    seed: int,
) -> Candidates:
    """Who is compared with whom: the k targets most like each query by name, n-grams and words together, and the graph_k most like it
    by the known pairs around it."""
    by_name = _name_lists(source, target, queries.tobytes(), pool.tobytes(), k, both_directions, word_vectors, seed)
    if not graph_k or not len(known):
        return by_name
    near = _known_neighbours(source, target, known)
    by_graph = find_candidates(*near, queries, pool, graph_k, both_directions=both_directions, seed=seed)
    places = [lists.edges() for lists in (by_name, by_graph)]
    rows = np.concatenate([rows for rows, _ in places])
    targets, scores = (
        np.concatenate([lists[place] for lists, place in zip(arrays, places, strict=True)])
        for arrays in ((by_name.targets, by_graph.targets), (by_name.scores, by_graph.scores))
    )
    both = pack(rows, targets, scores, len(by_name), by_name.targets.shape[1] + by_graph.targets.shape[1])
    return Candidates(by_name.queries, both.targets, both.scores)


@lru_cache(maxsize=4)
def _name_lists(
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    queries: bytes,
    pool: bytes,
    k: int,
    both_directions: bool,
    word_vectors: str | None,
    seed: int,
) -> Candidates:
    """Lists by name; remembered, since every round asks for them again."""
    vectors = name_vectors(source, target, 3, word_vectors)
    asked, offered = (np.frombuffer(ids, np.int64) for ids in (queries, pool))
    return find_candidates(*vectors, asked, offered, k, both_directions=both_directions, seed=seed)


def _known_neighbours(source: KnowledgeGraph, target: KnowledgeGraph, known: Alignment) -> tuple[Vectors, Vectors]:
    """Unit vectors of the known pairs next to each entity, rare ones counting for more; (n, known) and (m, known)."""
    sides = [adjacency(graph)[:, ids] for graph, ids in ((source, known.sources), (target, known.targets))]
    seen = sides[0].sum(axis=0) + sides[1].sum(axis=0)
    rarity = np.log((len(source.entities) + len(target.entities) + 1) / (seen + 1)).astype(np.float32)
    left, right = (unit_rows(sparse.csr_array(side * rarity[None, :])) for side in sides)
    return left, right
