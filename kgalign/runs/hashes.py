"""Hashes of what a graph says of each entity, and what is new, gone or changed between two graphs by these hashes alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kgalign.data import AlignmentTask, Ints, KnowledgeGraph

TEXTS = 1 << 16  # that are hashed at once
FORWARDS, BACKWARDS, LITERAL, LABEL, NAME, KIND, TYPE = (np.uint64(0x9E3779B97F4A7C15 * odd % 2**64) for odd in range(1, 15, 2))


@dataclass(frozen=True, eq=False)
class GraphHashes:
    """The 64-bit hashes of the entities of a graph; the order of statements in a file makes no difference.

    Attributes:
        entities: (n,) of the IRI of each entity.
        statements: (n,) of everything that is said of it: its triples from both ends, its literals, names and kind.
    """

    entities: Ints
    statements: Ints

    @classmethod
    def of(cls, graph: KnowledgeGraph, types: Ints | None = None) -> GraphHashes:
        """The hashes of a graph; the types (n,) by which a task restricts what an entity may be linked to count too."""
        entities, relations = text_hashes(graph.entities), text_hashes(graph.relations)
        heads, kinds, tails = graph.triples.T
        said = _mixed(KIND, graph.kinds.astype(np.uint64))
        if types is not None and types.any():
            said = np.where(types != 0, _mixed(TYPE, said, types.astype(np.uint64)), said)
        _add(said, heads, _mixed(FORWARDS, relations[kinds], entities[tails]))
        _add(said, tails, _mixed(BACKWARDS, relations[kinds], entities[heads]))
        for mark, literals in ((LITERAL, graph.attributes), (LABEL, graph.labels)):
            owners, properties = literals.facts.T
            own = text_hashes(literals.properties)[properties]
            _add(said, owners, _mixed(mark, own, text_hashes(literals.values), text_hashes(literals.kinds)))
        names = graph.names
        ranks = names.rank.astype(np.uint64)
        _add(said, names.owner, _mixed(NAME, text_hashes(names.text), text_hashes(names.language), ranks))
        return cls(entities, said)

    def places_of(self, hashes: Ints) -> Ints:
        """(n,) the entity with each of these hashes of IRIs, -1: there is none."""
        order = np.argsort(self.entities, kind="stable")
        if not len(order):
            return np.full(len(hashes), -1)
        places = order[np.minimum(np.searchsorted(self.entities, hashes, sorter=order), len(order) - 1)]
        return np.where(self.entities[places] == hashes, places, -1)


@dataclass(frozen=True, eq=False)
class GraphChange:
    """How a graph differs from an earlier one.

    Attributes:
        now: (m,) the id that each entity of the earlier graph has now, -1: it is gone.
        is_new: (n,) whether each entity was not there before.
        is_changed: (n,) whether something else is said of it than before.
    """

    now: Ints
    is_new: Ints
    is_changed: Ints

    @classmethod
    def between(cls, before: GraphHashes, after: GraphHashes) -> GraphChange:
        earlier = before.places_of(after.entities)
        there = earlier >= 0
        now = np.full(len(before.entities), -1)
        now[earlier[there]] = np.flatnonzero(there)
        is_changed = np.zeros(len(there), bool)
        is_changed[there] = before.statements[earlier[there]] != after.statements[there]
        return cls(now, ~there, is_changed)

    @property
    def is_touched(self) -> Ints:
        """(n,) whether each entity is new or changed."""
        return self.is_new | self.is_changed

    def counts(self) -> dict[str, int]:
        """How many entities are new, gone and changed."""
        return {"new": int(self.is_new.sum()), "gone": int((self.now < 0).sum()), "changed": int(self.is_changed.sum())}


def text_hashes(texts: Sequence[str]) -> Ints:
    """(n,) a 64-bit hash of each text, the same in every process and on every machine."""
    parts = list(_text_hashes(texts))
    return np.concatenate(parts) if parts else np.empty(0, np.uint64)


def _text_hashes(texts: Sequence[str]) -> Iterator[Ints]:
    for start in range(0, len(texts), TEXTS):
        some = texts[start : start + TEXTS]
        lengths = np.fromiter(map(len, some), np.int64, len(some))
        ends = np.cumsum(lengths)
        codes = np.frombuffer("".join(some).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
        places = (np.arange(len(codes)) - np.repeat(ends - lengths, lengths)).astype(np.uint64)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_scrambled(codes | (places << np.uint64(21))), dtype=np.uint64)])
        yield _scrambled(sums[ends] - sums[ends - lengths])


def _mixed(mark: np.uint64, *columns: Ints) -> Ints:
    """(n,) one hash for each row of some hashes; the order of the columns counts."""
    found = np.full(len(columns[0]), mark, np.uint64)
    for column in columns:
        found = _scrambled(found ^ column)
    return found


def _scrambled(state: Ints) -> Ints:
    """The finaliser of splitmix64: every bit of the result depends on every bit."""
    state = (state + np.uint64(0x9E3779B97F4A7C15)) & np.uint64(2**64 - 1)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Ints = state ^ (state >> np.uint64(31))
    return found


def _add(sums: Ints, owners: Ints, hashes: Ints) -> None:
    """Adds each hash to that of its owner: a sum is the same in any order, and counts what is said twice."""
    np.add.at(sums, owners, hashes)


def graph_hashes(task: AlignmentTask) -> tuple[GraphHashes, GraphHashes]:
    """The hashes of both graphs of a task."""
    types = (None, None) if task.types is None else task.types
    return GraphHashes.of(task.source, types[0]), GraphHashes.of(task.target, types[1])
