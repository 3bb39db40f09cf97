"""Negative evidence from axioms: a pair cannot match if linked classes above the two are disjoint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kgalign.data import Floats, Ints, KnowledgeGraph
from kgalign.search import pair_products

ABOVE = frozenset(
    {"http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "http://www.w3.org/2000/01/rdf-schema#subClassOf"}
)  # relations that lead from an entity to its classes
DISJOINT = frozenset({"http://www.w3.org/2002/07/owl#disjointWith"})
DEEPEST = 20  # steps upwards


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The classes above each entity of a graph, and those that it is disjoint with.

    Attributes:
        above: (n, n) 1 for an entity itself, its classes and all classes above them.
        disjoint: (n, n) 1 for the classes that one of these is disjoint with.
    """

    above: sparse.csr_array
    disjoint: sparse.csr_array

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> Hierarchy:
        step, disjoint = (_edges(graph, relations) for relations in (ABOVE, DISJOINT))
        above = sparse.eye_array(len(graph.entities), dtype=np.float32, format="csr")
        for _ in range(DEEPEST):
            further = _ones(above + above @ step)
            if further.nnz == above.nnz:
                break
            above = further
        return cls(above, _ones(above @ _ones(disjoint + disjoint.T)))


@dataclass(frozen=True, eq=False)
class Disjointness:
    """How far two entities are disjoint, by the axioms of either graph and the known links between classes.

    Attributes:
        by_source: (n, m) the target classes that each source entity is disjoint with, and (m, m) the classes above each target entity.
        by_target: (n, m) the target classes above each source entity, and (m, m) those that each target entity is disjoint with.
    """

    by_source: tuple[sparse.csr_array, sparse.csr_array]
    by_target: tuple[sparse.csr_array, sparse.csr_array]

    def compare(self, sources: Ints, targets: Ints) -> Floats:
        """(n,) 0 to -1: how probably linked classes make the two entities of each pair disjoint."""
        one, other = (pair_products(*sides, sources, targets) for sides in (self.by_source, self.by_target))
        return -np.minimum(np.maximum(one, other), 1)


def hierarchies(source: KnowledgeGraph, target: KnowledgeGraph) -> tuple[Hierarchy, Hierarchy] | None:
    """The hierarchies of both graphs; None where no class of either is disjoint with another."""
    if not any(DISJOINT.intersection(graph.relations) for graph in (source, target)):
        return None
    return Hierarchy.of(source), Hierarchy.of(target)


def disjointness(sides: tuple[Hierarchy, Hierarchy], shared: sparse.csr_array) -> Disjointness:
    """The disjointness of any pair, where `shared` (n, m) has the probability of each known link."""
    source, target = sides
    found = Disjointness((source.disjoint @ shared, target.above), (source.above @ shared, target.disjoint))
    for matrix in (*found.by_source, *found.by_target):
        matrix.sort_indices()
    return found


def _edges(graph: KnowledgeGraph, relations: frozenset[str]) -> sparse.csr_array:
    """(n, n) 1 where one of the relations leads from one entity to another."""
    wanted = np.fromiter((relation in relations for relation in graph.relations), bool, len(graph.relations))
    heads, _, tails = graph.triples[wanted[graph.triples[:, 1]]].T
    size = len(graph.entities)
    return _ones(sparse.csr_array((np.ones(len(heads), np.float32), (heads, tails)), shape=(size, size)))


def _ones(matrix: sparse.csr_array) -> sparse.csr_array:
    """The same matrix with 1 wherever it has something."""
    matrix = sparse.csr_array(matrix)
    matrix.data = np.ones(len(matrix.data), np.float32)
    return matrix
