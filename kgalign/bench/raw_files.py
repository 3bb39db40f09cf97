"""Graphs and tables as they are written, for judging links and for the baseline of equal names.

They are not read by the readers of kgalign: what a reader leaves out, folds or renames must change neither the judging nor the baseline.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgalign.bench.real_sets import TableFacts
from kgalign.errors import DataError
from kgalign.files import UNREADABLE, open_bytes

if TYPE_CHECKING:
    from pyoxigraph import Quad

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
TYPE = f"{RDF}type"
GENERAL_TYPES = frozenset({f"{OWL}NamedIndividual", f"{OWL}Thing", f"{RDFS}Resource"})  # they say nothing of an entity
GROUPS = {f"{OWL}Class": "class", f"{RDFS}Class": "class", f"{OWL}Ontology": "ontology"}
NAME_PROPERTY = re.compile(r"(?:label|name|title|titre|term|synonym|notation)s?$", re.IGNORECASE)
TEXT_PROPERTY = re.compile(r"comment|definition|description|note|abstract", re.IGNORECASE)
NAME_NODE_PROPERTY = re.compile(r"synonym|label|title|name|appellation", re.IGNORECASE)
NAME_NODE = re.compile(r"genid|#_|synonym", re.IGNORECASE)
LONGEST_NAME = 200
MOST_ERRORS = 1000  # after which the rest of a file is given up

XML_ENCODING = re.compile(rb"""\s*<\?xml[^>]*?encoding=["']([\w-]+)["']""")
XML_ID = re.compile(rb'rdf:ID="([^"]*)"')
XML_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w.\x80-\xff-]*")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BASE = "http://base/"
SEPARATORS = ",;|\t"


@dataclass(frozen=True, eq=False)
class RawGraph:
    """The names and types of the entities that have an IRI.

    Attributes:
        names: The folded names of each entity: all label-like literals, its own and those of its name nodes, or else the end of its IRI.
        groups: class, property or ontology; entities of other types are not in it.
        types: The types of each entity.
    """

    names: Mapping[str, set[str]]
    groups: Mapping[str, str]
    types: Mapping[str, set[str]]

    def scope(self, gold: set[str]) -> set[str]:
        """The gold entities, and all entities that have a type of one of them."""
        wanted = {kind for entity in gold for kind in self.types.get(entity, ())} - GENERAL_TYPES
        return gold | {entity for entity, kinds in self.types.items() if not wanted.isdisjoint(kinds)}


@dataclass(frozen=True, eq=False)
class RawTable:
    """The words of each row, all cells but the id together, by the id of the row."""

    rows: Mapping[str, Counter[str]]

    def scope(self, gold: set[str]) -> set[str]:
        """All rows."""
        return gold | self.rows.keys()


def read_raw_graph(path: Path) -> RawGraph:
    """The names and types in an RDF file. Statements that cannot be understood are left out."""
    literals: dict[str, set[str]] = defaultdict(set)
    types: dict[str, set[str]] = defaultdict(set)
    nodes: dict[str, list[str]] = defaultdict(list)  # the nodes that may hold names of an entity
    groups: dict[str, str] = {}
    entities: dict[str, None] = {}
    for subject, is_iri, relation, value, is_literal in _statements(path):
        ending = iri_end(relation)
        if is_iri:
            entities[subject] = None
        if is_literal:
            if NAME_PROPERTY.search(ending) and not TEXT_PROPERTY.search(ending) and len(value) <= LONGEST_NAME:
                literals[subject].add(fold(value))
        elif NAME_NODE_PROPERTY.search(ending):
            nodes[subject].append(value)
        if is_iri and relation == TYPE and not is_literal:
            types[subject].add(value)
            if group := _group(value):
                groups[subject] = group
    reached = {node for values in nodes.values() for node in values}
    names = {}
    for entity in entities:
        from_nodes = {name for node in nodes.get(entity, ()) for name in literals.get(node, ())}
        if entity in reached and not from_nodes and entity not in groups and NAME_NODE.search(entity):
            continue  # it only holds a name of another entity
        names[entity] = {name for name in from_nodes | literals.get(entity, set()) if name} or {fold(iri_end(entity))}
    return RawGraph(names, groups, types)


def read_raw_table(path: Path, facts: TableFacts, side: int) -> RawTable:
    """The rows of a table.

    Args:
        path: A table with a header.
        facts: How it is written.
        side: 0 for the source, 1 for the target.
    """
    text = _decoded(_bytes_of(path), facts.encoding)
    header = text.partition("\n")[0]
    separator = facts.separator or max(SEPARATORS, key=header.count)
    columns, *rows = csv.reader(io.StringIO(text), delimiter=separator)
    columns = [column.strip() for column in columns]
    wanted = facts.ids[side] or ("id" if "id" in columns else columns[0])
    if wanted not in columns:
        raise DataError(f"{path}:1: expected a column {wanted}, found {', '.join(columns)}")
    place = columns.index(wanted)
    cells = {row[place].strip(): [*row[:place], *row[place + 1 : len(columns)]] for row in rows if len(row) > place}
    return RawTable({number: Counter(re.findall(r"\w+", " ".join(texts).lower())) for number, texts in cells.items()})


def iri_end(iri: str) -> str:
    """The part of an IRI after its last slash or hash sign."""
    return re.split("[#/]", iri.rstrip("/#"))[-1]


def fold(text: str) -> str:
    """The letters and digits of a text, in lower case and without accents."""
    letters = unicodedata.normalize("NFKD", text).lower()
    return re.sub(r"[\W_]+", "", "".join(letter for letter in letters if not unicodedata.combining(letter)))


def _group(kind: str) -> str | None:
    is_property = kind.startswith((OWL, RDF)) and "Property" in kind
    return GROUPS.get(kind) or ("property" if is_property else None)


def _statements(path: Path) -> Iterator[tuple[str, bool, str, str, bool]]:
    """Subject, whether it is an IRI, relation, value, and whether that is a literal. Statements about statements are left out."""
    from pyoxigraph import Literal, NamedNode, Triple  # slow to import, and tables are measured without it

    for quad in _quads(path):
        subject, value = quad.subject, quad.object
        if not isinstance(subject, Triple) and not isinstance(value, Triple):
            yield subject.value, isinstance(subject, NamedNode), quad.predicate.value, value.value, isinstance(value, Literal)


def _quads(path: Path) -> Iterator[Quad]:
    from pyoxigraph import RdfFormat, parse

    data = _bytes_of(path).removeprefix(BYTE_ORDER_MARK)
    kind = RdfFormat.from_extension(next((ending[1:] for ending in path.suffixes if ending in (".nt", ".nq", ".jsonld")), "ttl"))
    if data[:4000].lstrip().startswith(b"<?xml") or b"<rdf:RDF" in data[:4000]:
        data, kind = _with_mended_ids(_in_utf8(data)), RdfFormat.RDF_XML
    quads: Any = parse(data, format=kind, base_iri=BASE, lenient=True)
    for _ in range(MOST_ERRORS):
        try:
            yield from quads
            return
        except SyntaxError:
            continue  # the parser goes on behind the error


def _in_utf8(data: bytes) -> bytes:
    """XML in UTF-8, whatever encoding it declares."""
    declared = XML_ENCODING.match(data)
    if declared is None or declared[1].lower() == b"utf-8":
        return data
    encoding = declared[1].decode()
    return _decoded(data, encoding).replace(encoding, "UTF-8", 1).encode()


def _with_mended_ids(data: bytes) -> bytes:
    """XML in which an rdf:ID that is no XML name, such as an address, is the rdf:about that it stands for."""
    return XML_ID.sub(lambda found: found[0] if XML_NAME.fullmatch(found[1]) else b'rdf:about="#%s"' % found[1], data)


def _decoded(data: bytes, encoding: str | None) -> str:
    """The text, with signs for bytes that cannot be decoded. Without an encoding: UTF-8, or else that of Windows."""
    try:
        return data.decode(encoding or "utf-8-sig").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return data.decode(encoding or "cp1252", "replace")
    except LookupError:
        return data.decode("utf-8", "replace")


def _bytes_of(path: Path) -> bytes:
    try:
        with open_bytes(path) as stream:
            return bytes(stream.read())
    except UNREADABLE as error:
        raise DataError(f"{path}: expected a whole file, but reading it failed ({error})") from None
