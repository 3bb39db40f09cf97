"""Graphs out of facts that name their entities, and graphs with other names."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from kgalign.data import Attributes, KnowledgeGraph, Name, Names
from kgalign.errors import DataError
from kgalign.files import read_rows
from kgalign.iri import LABEL_PROPERTIES, as_name, literal_parts, names_of, normal_iri


def build_graph(
    path: Path | str,
    facts: Iterable[Sequence[str]],
    literals: Iterable[Sequence[str]] = (),
    others: Iterable[str] = (),
) -> KnowledgeGraph:
    """The graph of facts and literals. An entity with a label is named by it, any other by the last part of its IRI.

    Args:
        path: The file or the object that they come from, for errors.
        facts: Head, relation and tail of each triple.
        literals: Entity, property and value of each literal.
        others: Entities that may have neither.
    """
    ids: dict[str, int] = {}
    relations: dict[str, int] = {}
    triples = [
        (ids.setdefault(head, len(ids)), relations.setdefault(relation, len(relations)), ids.setdefault(tail, len(ids)))
        for head, relation, tail in facts
    ]
    properties: dict[str, int] = {}
    rows: list[tuple[int, int]] = []
    values: list[str] = []
    kinds: list[str] = []
    labels: dict[str, str] = {}
    for entity, attribute, value in literals:
        rows.append((ids.setdefault(entity, len(ids)), properties.setdefault(attribute, len(properties))))
        text, kind = literal_parts(value)
        values.append(text)
        kinds.append(sys.intern(kind))
        if attribute.strip("<>") in LABEL_PROPERTIES:
            labels.setdefault(entity, text)
    if not ids:
        raise DataError(f"{path}: the graph is empty; expected at least one triple")
    for entity in others:
        ids.setdefault(entity, len(ids))
    return KnowledgeGraph(
        list(ids),
        list(relations),
        np.array(triples, np.int64).reshape(-1, 3),
        Names.of(names_of(list(ids), labels)),
        Attributes(list(properties), np.array(rows, np.int64).reshape(-1, 2), values, kinds),
    )


def entity_ids(graph: KnowledgeGraph) -> dict[str, int]:
    """The id of each entity of a graph."""
    return {entity: number for number, entity in enumerate(graph.entities)}


def rename(graph: KnowledgeGraph, path: str | Path | None) -> KnowledgeGraph:
    """The graph with the names of a table of IRI and name; without a table, the same graph.

    A name of the table replaces all names of its entity. Entities that are not in the table keep theirs, and rows about others are skipped.
    """
    if path is None:
        return graph
    ids = {normal_iri(entity.strip("<>")): number for number, entity in enumerate(graph.entities)}
    rows = ((normal_iri(iri.strip("<>")), as_name(name)) for _, (iri, name) in read_rows(path, 2))
    given = {ids[iri]: name for iri, name in rows if iri in ids and name}
    if not given:
        raise DataError(f"{path}: no entity of the graph is in this table; expected rows of IRI and name, with a tab between them")
    names = [[Name(given[number])] if number in given else graph.names.of_entity(number) for number in range(len(graph.entities))]
    return replace(graph, names=Names.of(names), record={**graph.record, "names from a table": len(given)})
