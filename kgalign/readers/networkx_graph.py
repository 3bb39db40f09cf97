"""The statements of a graph of networkx: nodes with attributes, and edges between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kgalign.data import Ints
from kgalign.errors import DataError, OptionError
from kgalign.iri import normal_iri
from kgalign.readers.python_values import literals_of
from kgalign.seams import Statements

RELATIONS = ("relation", "predicate", "rel", "type", "label", "name")  # attributes of edges that say what the edge means
EDGE = "edge"  # the relation of an edge that does not say so


def networkx_statements(graph: Any, relation: str | None = None) -> Statements:
    """The statements of a networkx graph. An edge of an undirected graph holds in both directions.

    Args:
        graph: A graph of networkx, of any of its four kinds.
        relation: The attribute of the edges that says what they mean. None: the first one of `RELATIONS` that an edge has, or else
            the key of an edge where keys are texts.
    """
    if not len(graph):
        raise DataError("networkx graph: the graph is empty; expected at least one node")
    if relation is not None and not any(relation in attributes for _, _, attributes in graph.edges(data=True)):
        raise OptionError(
            f"relation={relation!r}: no edge has this attribute; there are {', '.join(_edge_attributes(graph)) or 'none'}"
        )
    entities = list(dict.fromkeys(map(str, graph)))
    spellings = dict(zip(entities, range(len(entities)), strict=True))
    relations, triples = _edges(graph, spellings, relation)
    properties: dict[str, int] = {}
    datatypes: dict[str, int] = {}
    literals = [
        (
            spellings[str(node)],
            properties.setdefault(str(name), len(properties)),
            text,
            datatypes.setdefault(datatype, len(datatypes)),
        )
        for node, attributes in graph.nodes(data=True)
        for name, value in attributes.items()
        for text, datatype in literals_of(value)
    ]
    return Statements(
        entities,
        {normal_iri(entity): number for entity, number in spellings.items()} | spellings,
        relations,
        triples,
        list(properties),
        np.array([literal[:2] for literal in literals], np.int64).reshape(-1, 2),
        [text for _, _, text, _ in literals],
        [""],
        np.zeros(len(literals), np.int32),
        list(datatypes),
        np.array([datatype for *_, datatype in literals], np.int32),
    )


def _edges(graph: Any, ids: Mapping[str, int], wanted: str | None) -> tuple[list[str], Ints]:
    """The relations, and (n, 3) the triples, each once."""
    relations: dict[str, int] = {}
    triples: dict[tuple[int, int, int], None] = {}
    keys = {"keys": True} if graph.is_multigraph() else {}
    for first, second, *key, attributes in graph.edges(data=True, **keys):
        relation = relations.setdefault(_relation(attributes, key, wanted), len(relations))
        head, tail = ids[str(first)], ids[str(second)]
        triples[head, relation, tail] = None
        if not graph.is_directed():
            triples[tail, relation, head] = None
    return list(relations), np.array(list(triples), np.int64).reshape(-1, 3)


def _relation(attributes: Mapping[str, Any], key: Sequence[Any], wanted: str | None) -> str:
    """What an edge means: the text of its attribute, or else its key."""
    texts = [*map(attributes.get, (wanted,) if wanted is not None else RELATIONS), *key]
    return next((text for text in texts if isinstance(text, str) and text), EDGE)


def _edge_attributes(graph: Any) -> list[str]:
    return sorted({str(name) for _, _, attributes in graph.edges(data=True) for name in attributes})
