"""A graph out of facts that name their entities."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from kgalign.data import Attributes, KnowledgeGraph
from kgalign.errors import DataError
from kgalign.iri import LABEL_PROPERTIES, literal_parts, names_of


def build_graph(
    path: Path,
    facts: Iterable[list[str]],
    literals: Iterable[list[str]] = (),
    others: Iterable[str] = (),
) -> tuple[KnowledgeGraph, dict[str, int]]:
    """The graph of head-relation-tail facts and of entity-property-value literals, and the id of each entity.

    A label among the literals becomes the entity's name. `others` are entities that may occur nowhere else.
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
    graph = KnowledgeGraph(
        list(ids),
        list(relations),
        np.array(triples, np.int64).reshape(-1, 3),
        names_of(list(ids), labels),
        Attributes(list(properties), np.array(rows, np.int64).reshape(-1, 2), values, kinds),
    )
    return graph, ids
