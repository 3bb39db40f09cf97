"""Which relation of one graph behaves like which of the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy  # which imports its parts when they are first used

from kgalign.data import Alignment, AlignmentTask, Ints, KnowledgeGraph

MIN_MATCH = 0.2  # of two relations or properties that are taken for the same


@dataclass(frozen=True)
class RelationMatch:
    """A relation of the source and one of the target that hold between the same pairs, or between the same pairs turned round."""

    source: str
    target: str
    inverse: bool
    score: float  # 0 to 1


def relation_matches(task: AlignmentTask, alignment: Alignment, least: float = 0.1) -> list[RelationMatch]:
    """The relations that match by the seeds and by what was found probable, best first."""
    matches = scipy.sparse.coo_array(match_relations(task, likely_pairs(task, alignment)))
    names, others = task.source.relations, task.target.relations
    found = [
        RelationMatch(names[row], others[column % len(others)], column >= len(others), round(score, 4))
        for row, column, score in zip(matches.row.tolist(), matches.col.tolist(), matches.data.tolist(), strict=True)
        if row < len(names) and score >= least
    ]
    return sorted(found, key=lambda match: (-match.score, match.source, match.target))


def likely_pairs(task: AlignmentTask, alignment: Alignment) -> Alignment:
    """The seeds, and what was found more probable than not and is claimed by nobody else; one-to-one."""
    _, first, often = np.unique(alignment.targets, return_index=True, return_counts=True)
    single = np.zeros(len(alignment), bool)
    single[first[often == 1]] = True
    return task.seeds + alignment.where(single & (alignment.scores > 0.5))


def best_matches(matches: scipy.sparse.csr_array) -> Ints:
    """(r,) which relation or property of the target each of the source is, -1: none for sure."""
    found = scipy.sparse.coo_array(matches)
    order = np.argsort(found.data, kind="stable")
    order = order[found.data[order] >= MIN_MATCH]
    best = np.full(matches.shape[0], -1)
    best[found.row[order]] = found.col[order]  # of several, the last one stays
    return best


def match_relations(task: AlignmentTask, known: Alignment) -> scipy.sparse.csr_array:
    """(2 r, 2 s) how far each relation of the source holds between the same known pairs as each of the target, 0 to 1.

    Relations r.. and s.. are those read backwards. `known` is one-to-one.
    """
    shapes, keys, relations = [], [], []
    for graph, ids in ((task.source, known.sources), (task.target, known.targets)):
        numbers = np.full(len(graph.entities), -1, np.int64)
        numbers[ids] = np.arange(len(ids))
        edges = both_ways(graph)
        inside = (numbers[edges[:, 0]] >= 0) & (numbers[edges[:, 2]] >= 0)
        keys.append(numbers[edges[inside, 0]] * len(known) + numbers[edges[inside, 2]])
        relations.append(edges[inside, 1])
        shapes.append(2 * len(graph.relations))
    pairs, columns = np.unique(np.concatenate(keys), return_inverse=True)
    left, right = (
        scipy.sparse.csr_array((np.ones(len(relation)), (relation, column)), shape=(shape, len(pairs)))
        for relation, column, shape in zip(relations, np.split(columns, [len(keys[0])]), shapes, strict=True)
    )
    both = scipy.sparse.coo_array(left @ right.T)
    # Two more facts on either side: a relation that was seen once is not yet sure of its match.
    often = np.sqrt((left.sum(axis=1)[both.row] + 2) * (right.sum(axis=1)[both.col] + 2))
    return scipy.sparse.csr_array((both.data / often, (both.row, both.col)), shape=shapes)


@lru_cache(maxsize=4)
def both_ways(graph: KnowledgeGraph) -> Ints:
    """(e, 3) entity, relation, neighbour: each triple from both ends, backwards with a relation of its own; no loops, none twice."""
    head, relation, tail = graph.triples[graph.triples[:, 0] != graph.triples[:, 2]].T
    count, kinds = len(graph.entities), 2 * len(graph.relations)
    forward, backward = (head * kinds + relation) * count + tail, (tail * kinds + relation + kinds // 2) * count + head
    rest, neighbour = np.divmod(np.unique(np.concatenate([forward, backward])), max(count, 1))
    return np.column_stack([*np.divmod(rest, max(kinds, 1)), neighbour])


@lru_cache(maxsize=4)
def adjacency(graph: KnowledgeGraph) -> scipy.sparse.csr_array:
    """(n, n) 1 where two entities are neighbours, whichever way the triples lead."""
    edges, size = both_ways(graph), len(graph.entities)
    matrix = scipy.sparse.csr_array((np.ones(len(edges), np.float32), (edges[:, 0], edges[:, 2])), shape=(size, size))
    matrix.data[:] = 1
    return matrix
