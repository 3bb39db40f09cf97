"""Graphs out of objects in memory: triples, data frames of pandas and polars, graphs of rdflib and networkx."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kgalign.data import KnowledgeGraph, Name, Names
from kgalign.errors import DataError, OptionError
from kgalign.iri import as_name
from kgalign.readers.completing import complete
from kgalign.readers.frames import cell_of, columns_of
from kgalign.readers.networkx_graph import networkx_statements
from kgalign.readers.objects import FRAMES, NETWORKX, RDFLIB, kind_in_memory
from kgalign.readers.python_values import is_missing, literal_of, literals_of, quoted
from kgalign.readers.table_files import SAMPLE_ROWS, RawTable
from kgalign.readers.table_form import holds_triples
from kgalign.readers.triples import graph_of_rows
from kgalign.readers.wide_table import table_statements
from kgalign.seams import InMemory, Statements


def form_in_memory(thing: InMemory) -> str:
    """How an object is read: `table` or `triples` for a data frame, by its columns and first rows, else `memory`."""
    if kind_in_memory(thing) not in FRAMES:
        return "memory"
    return "triples" if holds_triples(_raw_table(thing.head(SAMPLE_ROWS))) else "table"


def read_object(thing: InMemory, form: str, *, strict: bool = False, id_column: str | None = None) -> KnowledgeGraph | Statements:
    """The graph of an object, as readers return those of places.

    Args:
        thing: An object that `kind_in_memory` knows.
        form: How to read a data frame, see `form_in_memory`.
        strict: Refuse what is broken, instead of leaving it out and counting it in the record.
        id_column: The name of the column with the ids, for a data frame with an entity on each row.
    """
    if isinstance(thing, KnowledgeGraph):
        return thing
    kind = kind_in_memory(thing)
    if kind == RDFLIB:
        return _read_rdflib(thing, strict)
    if kind == NETWORKX:
        return networkx_statements(thing)
    if form == "triples":
        return _read_triples(thing)
    return table_statements(_raw_table(thing), strict=strict, id_column=id_column)


def from_triples(
    triples: Iterable[Sequence[Any]],
    names: Mapping[str, str | Sequence[str | Name]] | None = None,
    attributes: Iterable[Sequence[Any]] = (),
) -> KnowledgeGraph:
    """See `KnowledgeGraph.from_triples`."""
    rows = [_fields(f"triples[{number}]: expected head, relation and tail", triple) for number, triple in enumerate(triples)]
    for number, attribute in enumerate(attributes):
        entity, name, value = _three(f"attributes[{number}]: expected entity, property and value", attribute, 2)
        rows += [(str(entity), str(name), quoted(*literal)) for literal in literals_of(value)]
    given = {str(entity): _names(own) for entity, own in (names or {}).items()}
    graph = graph_of_rows("triples", rows, given)
    if not given:
        return graph
    own = [given.get(entity, graph.names.of_entity(number)) for number, entity in enumerate(graph.entities)]
    return replace(graph, names=Names.of(own))


def from_frame(frame: Any, form: str | None = None, id_column: str | None = None) -> KnowledgeGraph:
    """See `KnowledgeGraph.from_pandas` and `KnowledgeGraph.from_polars`."""
    if form not in (None, "triples", "table"):
        raise OptionError(f"form={form!r}: expected table or triples")
    form = form or form_in_memory(_checked(frame, *FRAMES))
    if id_column is not None and form != "table":
        raise OptionError("`id_column` names a column of a data frame with an entity on each row, and this one holds triples")
    return _graph(read_object(frame, form, id_column=id_column))


def from_rdflib(graph: Any, labels: Sequence[str] = (), languages: Sequence[str] = (), strict: bool = False) -> KnowledgeGraph:
    """See `KnowledgeGraph.from_rdflib`."""
    return _graph(_read_rdflib(_checked(graph, RDFLIB), strict), labels, languages)


def from_networkx(graph: Any, relation: str | None = None) -> KnowledgeGraph:
    """See `KnowledgeGraph.from_networkx`."""
    return _graph(networkx_statements(_checked(graph, NETWORKX), relation))


def _graph(found: KnowledgeGraph | Statements, labels: Sequence[str] = (), languages: Sequence[str] = ()) -> KnowledgeGraph:
    """The graph with its names."""
    return complete([found], labels, languages)[0][0]


def _checked(thing: Any, *kinds: str) -> Any:
    """The object, which must be of one of these kinds."""
    if kind_in_memory(thing) not in kinds:
        raise OptionError(f"{type(thing).__name__}: expected {' or '.join(kinds)}")
    return thing


def _fields(expected: str, triple: Sequence[Any]) -> tuple[str, str, str]:
    """Head, relation and tail as tables of triples have them: a text is an entity or a literal in quotes, any other tail is a literal."""
    head, relation, tail = _three(expected, triple, 3)
    return str(head), str(relation), tail if isinstance(tail, str) else quoted(*literal_of(tail))


def _three(expected: str, row: Sequence[Any], needed: int) -> Sequence[Any]:
    """A row of three, of which the first ones must be there."""
    if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 3 or any(map(is_missing, row[:needed])):
        raise DataError(f"{expected}, found {row!r}")
    return row


def _names(names: str | Sequence[str | Name]) -> list[Name]:
    """The names of an entity, the one that is shown first."""
    each = [names] if isinstance(names, str | Name) else list(names)
    return [name if isinstance(name, Name) else Name(as_name(name)) for name in each]


def _read_rdflib(graph: Any, strict: bool) -> Statements:
    from kgalign.readers.rdflib_graph import rdflib_statements  # slow to import, and tables are read without it

    return rdflib_statements(graph, strict)


def _read_triples(frame: Any) -> KnowledgeGraph:
    """The graph of the first three columns of a data frame."""
    names, columns = columns_of(frame)
    if len(names) < 3:
        raise DataError(f"data frame: expected columns of head, relation and tail, found {', '.join(names) or 'no column'}")
    return from_triples(zip(*columns[:3], strict=True))


def _raw_table(frame: Any) -> RawTable:
    """The cells of a data frame as those of a file."""
    names, columns = columns_of(frame)
    rows = [list(map(cell_of, row)) for row in zip(*columns, strict=True)]
    if not rows:
        raise DataError(f"data frame: the graph is empty; expected rows, found none below {', '.join(names)[:60] or 'no column'}")
    return RawTable(Path("data frame"), str(kind_in_memory(frame)).removeprefix("a "), names, rows, range(1, len(rows) + 1))
