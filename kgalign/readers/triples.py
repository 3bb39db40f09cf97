"""Tables of triples: one is a graph, and a folder with two of them is a dataset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from kgalign.data import KnowledgeGraph
from kgalign.errors import DataError
from kgalign.iri import LABEL_PROPERTIES
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.graphs import build_graph
from kgalign.readers.link_ends import Ends
from kgalign.readers.links import read_links
from kgalign.readers.table_files import ending, read_raw
from kgalign.readers.tables import HEADERS, find_table, read_table
from kgalign.seams import GraphPair, Place

NEEDED = ("triples_1", "triples_2")
OTHER_FORMATS = (".xlsx", ".jsonl", ".ndjson", ".json")
LIKE_VALUES = "entities that look like numbers or dates"
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"[^\t]*')
VALUE = re.compile(r"[-+]?\d+(?:[.,:/-]\d+)*")


class TriplesReader:
    """Reads a table of head, relation and tail."""

    expects = "a table of triples (tsv, csv, parquet)"

    def accepts(self, place: Place) -> bool:
        """Whether the place is a single file. Any file may be a table, so this reader comes after all others."""
        return isinstance(place, str | Path) and Path(place).is_file()

    def read(self, place: Place, *, strict: bool = False, limits: Limits = DEFAULT) -> KnowledgeGraph:
        """The graph of the table.

        A tail in double quotes is a literal, as in N-Triples, and so is the tail of a label. All other tails are entities.

        Args:
            place: The file.
            strict: Not used: a broken table is always refused.
            limits: How much of the file is taken in.
        """
        if not isinstance(place, str | Path):
            raise DataError(f"{', '.join(map(str, place))}: expected one table of triples, found {len(place)} files")
        return _read_graph(Path(place), limits)


class TablesReader:
    """Reads a folder with two tables of triples, and with tables of links."""

    expects = f"a folder of tables ({' and '.join(NEEDED)}, perhaps seeds and links; each .tsv, .csv or .parquet)"

    def accepts(self, folder: Path) -> bool:
        """Whether the folder has both tables of triples."""
        return all(find_table(folder, name) for name in NEEDED)

    def read(self, folder: Path, *, fold: int = 1, limits: Limits = DEFAULT) -> GraphPair:
        """The graphs and their links: the table `seeds` as seeds, the table `links` as test links.

        Args:
            folder: The folder.
            fold: Not used: such a folder has one split.
            limits: How much of each file is taken in.
        """
        source, target = (_read_graph(find_table(folder, name) or folder, limits) for name in NEEDED)
        ends = Ends.of("source", source), Ends.of("target", target)
        seeds, gold, _ = read_links(find_table(folder, "seeds"), find_table(folder, "links"), *ends, limits=limits)
        return GraphPair(source, target, seeds, gold)


reader = TriplesReader()
dataset = TablesReader()


def graph_of_rows(where: Path | str, rows: Sequence[Sequence[str]], others: Iterable[str] = ()) -> KnowledgeGraph:
    """The graph of rows of head, relation and tail; literals in double quotes, as in N-Triples.

    Args:
        where: The file or the object that they come from, for errors.
        rows: The rows.
        others: Entities that may be in no row.
    """
    literal = [fields[2].startswith('"') or fields[1].strip("<>") in LABEL_PROPERTIES for fields in rows]
    facts = (fields for fields, is_literal in zip(rows, literal, strict=True) if not is_literal)
    literals = (fields for fields, is_literal in zip(rows, literal, strict=True) if is_literal)
    graph = build_graph(where, facts, literals, others)
    bare = _bare_values(graph)
    return replace(graph, record={**graph.record, LIKE_VALUES: bare}) if bare else graph


def _read_graph(path: Path, limits: Limits) -> KnowledgeGraph:
    return graph_of_rows(path, [[*fields[:2], _first_column(fields[2])] for _, fields in _read_rows(path, limits)])


def _read_rows(path: Path, limits: Limits) -> Iterator[tuple[int, list[str]]]:
    """Head, relation and tail of each row, with its number; also of formats and separators that tables of links do not have."""
    if ending(path) not in (".csv", *OTHER_FORMATS) or read_raw(path, sample=True, limits=limits).form in ("CSV", "TSV"):
        yield from read_table(path, 3, limits)
        return
    raw = read_raw(path, limits=limits)
    for number, row in zip(raw.lines, raw.rows, strict=True):
        if len(row) < 3:
            raise DataError(f"{path}:{number}: expected 3 cells, found {len(row)}")
        if raw.header is not None or number > raw.lines[0] or not {cell.strip().lower() for cell in row[:2]} <= HEADERS:
            yield number, [cell.strip() for cell in row[:3]]


def _first_column(rest: str) -> str:
    """The first column of the rest of a row; a tab in quotes is part of the value."""
    quoted = QUOTED.match(rest)
    return quoted[0] if quoted else rest.split("\t", 1)[0]


def _bare_values(graph: KnowledgeGraph) -> int:
    """The number of entities that look like literals without their quotes: numbers and dates. 0 where ids are numbers."""
    heads = np.unique(graph.triples[:, 0]).tolist()
    if any(VALUE.fullmatch(graph.entities[head]) for head in heads):
        return 0
    return sum(VALUE.fullmatch(entity) is not None for entity in graph.entities)
