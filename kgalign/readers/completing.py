"""Whole graphs out of what readers return: nodes that only carry a value are folded, names are chosen, recurring values are entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgalign.data import KnowledgeGraph
from kgalign.readers.folding import fold_nodes
from kgalign.readers.graphs import entity_ids
from kgalign.readers.labels import name_graphs
from kgalign.readers.value_entities import add_value_entities, drop_common_literals, is_table
from kgalign.seams import Statements


def complete(
    found: Sequence[KnowledgeGraph | Statements], labels: Sequence[str] = (), languages: Sequence[str] = (), fold: bool = True
) -> list[tuple[KnowledgeGraph, Mapping[str, int]]]:
    """Each graph with the id of each entity by its names in files. Graphs that come with their names stay as they are.

    Args:
        found: What the readers found. Names are chosen for all graphs together.
        labels: The properties that hold names, best first. Without them they are found out.
        languages: One language for all statements, or one for each.
        fold: Fold nodes of RDF that only carry a value, and add an entity for each value of a table that recurs.
    """
    statements = [side for side in found if isinstance(side, Statements)]
    folded = [fold_nodes(side) if fold and not is_table(side) else side for side in statements]
    named = iter(zip(name_graphs(folded, labels, languages), folded, strict=True) if folded else ())
    graphs = [_completed(*next(named), fold) if isinstance(side, Statements) else (side, entity_ids(side)) for side in found]
    if not fold or len(graphs) < 2 or not all(is_table(graph) for graph, _ in graphs):
        return graphs
    rows = drop_common_literals([graph for graph, _ in graphs])
    return [(graph, ids) for graph, (_, ids) in zip(rows, graphs, strict=True)]


def _completed(graph: KnowledgeGraph, statements: Statements, fold: bool) -> tuple[KnowledgeGraph, Mapping[str, int]]:
    return add_value_entities(graph, statements.ids) if fold and is_table(graph) else (graph, statements.ids)
