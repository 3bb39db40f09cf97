"""The edges of a graph, and which relation of one graph behaves like which of the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy  # which imports its parts when they are first used

from kgalign.blocks import by_blocks
from kgalign.data import Alignment, AlignmentTask, Floats, Ints, KnowledgeGraph, one_link

MIN_MATCH = 0.2  # of two relations or properties that are taken for the same


@dataclass(frozen=True, eq=False)
class Edges:
    """The triples of a graph seen from both ends.

    Attributes:
        triples: (e, 3) entity, relation, neighbour: each triple from both ends, backwards with a relation of its own (the number of
            relations is added to its id); no loops, none twice; ascending.
        by_neighbour: (e, 3) the same triples; those of an entity by neighbour.
        starts: (n + 1,) the triples of entity i are starts[i]:starts[i + 1].
        adjacency: (n, n) 1 where two entities are neighbours, whichever way the triples point.
        relations: The number of relations of the graph.
    """

    triples: Ints
    by_neighbour: Ints
    starts: Ints
    adjacency: scipy.sparse.csr_array
    relations: int

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> Edges:
        from kgalign.blocks import starts_of
        from kgalign.matrices import from_entries  # compiled code, slow to import
        from kgalign.parallel import by_row, counts, taken

        head, relation, tail = graph.triples[graph.triples[:, 0] != graph.triples[:, 2]].T.astype(np.int32)
        count, relations = len(graph.entities), len(graph.relations)
        columns = np.concatenate([head, tail]), np.concatenate([relation, relation + relations]), np.concatenate([tail, head])
        sizes = count, 2 * relations, count
        order = np.arange(len(columns[0]))
        for column, size in zip(reversed(columns), reversed(sizes), strict=True):  # one at a time: no key of all three overflows
            order = taken(order, by_row(taken(column, order), size)[0])
        columns = tuple(taken(column, order) for column in columns)
        is_first = np.ones(len(order), bool)
        is_first[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
        head, relation, tail = (column[is_first] for column in columns)
        adjacency = from_entries(np.ones(len(head), np.float32), head, tail, (count, count))
        adjacency.data[:] = 1
        order = by_row(tail, count)[0]
        order = taken(order, by_row(taken(head, order), count)[0])
        triples = np.column_stack([head, relation, tail])
        by_neighbour = np.column_stack([taken(column, order) for column in (head, relation, tail)])
        return cls(triples, by_neighbour, starts_of(counts(head, count)), adjacency, relations)

    @classmethod
    def of_task(cls, task: AlignmentTask) -> tuple[Edges, Edges]:
        """The edges of both graphs."""
        return cls.of(task.source), cls.of(task.target)

    @property
    def degrees(self) -> Ints:
        """(n,) how many neighbours each entity has."""
        return np.diff(self.adjacency.indptr).astype(np.int64)

    @cached_property
    def inverse_functionality(self) -> Floats:
        """(2 r,) how well the end of each relation determines its beginning: the number of ends for each edge."""
        from kgalign.parallel import counts, unique  # compiled code, slow to import

        count, kinds = self.adjacency.shape[0], 2 * self.relations
        of_ends = counts(unique(self.triples[:, 1].astype(np.int64) * count + self.triples[:, 2])[0] // max(count, 1), kinds)
        found: Floats = of_ends / np.maximum(counts(self.triples[:, 1], kinds), 1)
        return found

    @cached_property
    def profiles(self) -> scipy.sparse.csr_array:
        """(n, 2 r) how often each entity has each relation, forwards and backwards; rare relations count for more; rows of unit length."""
        count, kinds = self.adjacency.shape[0], 2 * self.relations
        entries = np.ones(len(self.triples), np.float32), (self.triples[:, 0], self.triples[:, 1])
        profile = scipy.sparse.csr_array(entries, shape=(count, kinds))
        profile.sum_duplicates()
        rarity = np.log(count / (1 + np.bincount(profile.indices, minlength=kinds))).clip(0).astype(np.float32)
        profile.data = np.log1p(profile.data) * rarity[profile.indices]
        lengths = np.sqrt(profile.multiply(profile).sum(axis=1))
        profile.data /= np.repeat(np.maximum(lengths, 1e-9), np.diff(profile.indptr)).astype(np.float32)
        return profile

    @cached_property
    def two_hops(self) -> scipy.sparse.csr_array:
        """(n, n) for each entity the mean over its neighbours of what is next to them, without the entity itself."""
        from kgalign.features.hops import two_hops  # compiled code, slow to import

        itself = scipy.sparse.eye_array(len(self.starts) - 1, dtype=np.float32, format="csr")
        return two_hops(self.adjacency, self.adjacency, itself)


@dataclass(frozen=True)
class RelationMatch:
    """A relation of the source and one of the target that hold between the same links, perhaps one of them reversed."""

    source: str
    target: str
    inverse: bool
    score: float  # 0 to 1


def relation_matches(task: AlignmentTask, alignment: Alignment, least: float = 0.1) -> list[RelationMatch]:
    """The relations that match according to the seeds and the plausible links, best first."""
    matches = scipy.sparse.coo_array(match_relations(Edges.of_task(task), plausible_links(task, alignment)))
    names, others = task.source.relations, task.target.relations
    found = [
        RelationMatch(names[row], others[column % len(others)], column >= len(others), round(score, 4))
        for row, column, score in zip(matches.row.tolist(), matches.col.tolist(), matches.data.tolist(), strict=True)
        if row < len(names) and score >= least
    ]
    return sorted(found, key=lambda match: (-match.score, match.source, match.target))


def plausible_links(task: AlignmentTask, alignment: Alignment) -> Alignment:
    """The seeds, and the links with a probability above 0.5; where a target has one link at most, those whose target no other query has."""
    if not one_link(task.cardinality)[1]:
        return task.seeds + alignment.where(alignment.scores > 0.5)
    _, first, often = np.unique(alignment.targets, return_index=True, return_counts=True)
    single = np.zeros(len(alignment), bool)
    single[first[often == 1]] = True
    return task.seeds + alignment.where(single & (alignment.scores > 0.5))


def group_links(links: Alignment) -> Ints:
    """(n,) the number of each link's group: links that share an entity, or whose entities other links join, are in one group."""
    if not len(links) or all(np.bincount(ids).max() == 1 for ids in links.pairs.T):
        return np.arange(len(links))
    sources, left = np.unique(links.sources, return_inverse=True)
    targets, right = np.unique(links.targets, return_inverse=True)
    size = len(sources) + len(targets)
    graph = scipy.sparse.coo_array((np.ones(len(links), np.int8), (left, len(sources) + right)), shape=(size, size))
    _, labels = scipy.sparse.csgraph.connected_components(graph, directed=False)
    groups: Ints = labels.astype(np.int64)[left]
    return groups


def best_matches(matches: scipy.sparse.csr_array) -> Ints:
    """(r,) the relation or property of the target that best matches each of the source, -1: none matches well enough."""
    found = scipy.sparse.coo_array(matches)
    order = np.argsort(found.data, kind="stable")
    order = order[found.data[order] >= MIN_MATCH]
    best = np.full(matches.shape[0], -1)
    best[found.row[order]] = found.col[order]  # of several, the last one stays
    return best


def match_relations(edges: tuple[Edges, Edges], known: Alignment) -> scipy.sparse.csr_array:
    """(2 r, 2 s) how far each relation of the source holds between the same known links as each of the target, 0 to 1.

    Relations r.. and s.. are the reversed ones. Entities of one group of links count as one.
    """
    from kgalign.matrices import product, transposed  # compiled code, slow to import

    groups = group_links(known)
    numbers = [np.full(side.adjacency.shape[0], -1, np.int64) for side in edges]
    for number, ids in zip(numbers, (known.sources, known.targets), strict=True):
        number[ids] = groups
    (left, _), (right, _) = facts_between_links(edges, (numbers[0], numbers[1]), len(known))
    for matrix in (left, right):
        matrix.data[:] = 1  # one fact, however many of a group state it
    both = scipy.sparse.coo_array(product(transposed(left), right))
    # Two more facts on either side: one common fact is not yet a match.
    often = np.sqrt((left.sum(axis=0)[both.row] + 2) * (right.sum(axis=0)[both.col] + 2))
    return scipy.sparse.csr_array((both.data / often, (both.row, both.col)), shape=both.shape)


def facts_between_links(
    edges: tuple[Edges, Edges], numbers: tuple[Ints, Ints], width: int, shares: tuple[Floats, Floats] | None = None
) -> list[tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]]:
    """For each graph (f, 2 r) how often its relations join two known links; each pair of links has a row. Also by their probabilities.

    Args:
        edges: Those of both graphs.
        numbers: (n,) and (m,) the number of each entity's link, -1: it has none.
        width: More than the largest number.
        shares: (n,) and (m,) the probabilities of those links; a fact counts by the product of both.
    """
    from kgalign.matrices import from_entries  # compiled code, slow to import
    from kgalign.parallel import taken, unique

    inside = [
        np.flatnonzero(by_blocks(lambda ends, own=own: (own[ends] >= 0).all(axis=1), side.triples[:, ::2]))
        for side, own in zip(edges, numbers, strict=True)
    ]
    ends = [[taken(side.triples[:, at], chosen) for at in range(3)] for side, chosen in zip(edges, inside, strict=True)]
    keys = [taken(own, entities) * width + taken(own, others) for own, (entities, _, others) in zip(numbers, ends, strict=True)]
    different, places = unique(np.concatenate(keys))
    found = []
    for position, (own, (entities, relations, others)) in enumerate(zip(np.split(places, [len(keys[0])]), ends, strict=True)):
        shape = len(different), 2 * edges[position].relations
        plain = from_entries(np.ones(len(own)), own, relations, shape)
        if shares is not None:
            share = taken(shares[position], entities) * taken(shares[position], others)
        found.append((plain, plain if shares is None else from_entries(share, own, relations, shape)))
    return found
