"""A graph as N-Triples or Turtle, plain or gzip."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from kgalign.data import KnowledgeGraph
from kgalign.errors import OptionError
from kgalign.writers.sameas import iri

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
ENDINGS = (".nt", ".ttl", ".nt.gz", ".ttl.gz")
NOT_IN_A_LITERAL = re.compile(r'[\x00-\x1f\x7f"\\]')
# The characters of labels of blank nodes, as N-Triples has them. Any other entity is written as an IRI.
LETTERS = (
    "A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
MORE = rf"{LETTERS}0-9\u00b7\u0300-\u036f\u203f\u2040\-"
BLANK = re.compile(rf"_:[{LETTERS}0-9](?:[{MORE}.]*[{MORE}])?")
SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
Statement = tuple[str, str, str]


def write_graph(graph: KnowledgeGraph, path: str | Path, language: str | None = None) -> None:
    """Writes the triples, names (as rdfs:label) and literals of a graph.

    Triples come first, in their order, then names, so that entities get the same ids when the graph is read again.

    Args:
        graph: The graph.
        path: A file that ends in .nt or .ttl, or in .nt.gz or .ttl.gz; the ending says the format.
        language: The language of the names, such as `fr`.
    """
    path = Path(path)
    if not path.name.endswith(ENDINGS):
        raise OptionError(f"{path}: no format has this ending; expected one of {', '.join(ENDINGS)}")
    if language is not None and not re.fullmatch(r"[A-Za-z]+(-[A-Za-z0-9]+)*", language):
        raise OptionError(f"language={language}: expected a language tag such as en or zh-Hant")
    is_turtle = ".ttl" in path.suffixes[-2:]
    lines = _turtle(_statements(graph, language)) if is_turtle else (f"{' '.join(row)} .\n" for row in _statements(graph, language))
    with (
        gzip.open(path, "wt", encoding="utf-8") if path.suffix == ".gz" else path.open("w", encoding="utf-8", newline="\n") as file
    ):
        file.writelines(lines)


def _statements(graph: KnowledgeGraph, language: str | None) -> Iterator[Statement]:
    entities = [entity if BLANK.fullmatch(entity) else iri(entity, "entity") for entity in graph.entities]
    relations = [iri(relation, "relation") for relation in graph.relations]
    properties = [iri(name, "property") for name in graph.attributes.properties]
    for head, relation, tail in graph.triples.tolist():
        yield entities[head], relations[relation], entities[tail]
    for entity, name in zip(entities, graph.names, strict=True):
        if name:
            yield entity, LABEL, literal(name, f"@{language}" if language else "")
    literals = graph.attributes
    for (entity_id, property_id), value, kind in zip(literals.facts.tolist(), literals.values, literals.kinds, strict=True):
        if properties[property_id] != LABEL or value != graph.names[entity_id]:
            yield entities[entity_id], properties[property_id], literal(value, kind)


def literal(text: str, kind: str = "") -> str:
    """The text in quotes, with its language or its datatype, see `Attributes.kinds`."""
    escaped = NOT_IN_A_LITERAL.sub(lambda found: SHORT_ESCAPES.get(found.group(), f"\\u{ord(found.group()):04X}"), text)
    return f'"{escaped}"' + (f"^^{iri(kind[2:], 'datatype')}" if kind.startswith("^^") else kind)


def _turtle(statements: Iterable[Statement]) -> Iterator[str]:
    """Neighbouring statements about one subject share it."""
    for subject, rows in groupby(statements, key=lambda row: row[0]):
        statements_of = " ;\n    ".join(f"{relation} {value}" for _, relation, value in rows)
        yield f"{subject} {statements_of} .\n"
