"""Plain tables of triples and of links: TSV, CSV and Parquet; the first two may be compressed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from kgalign.data import KnowledgeGraph
from kgalign.errors import DataError
from kgalign.files import COMPRESSIONS, find_file, read_rows
from kgalign.readers.graphs import build_graph
from kgalign.readers.links import Links, check_apart, make_links
from kgalign.iri import LABEL_PROPERTIES

NEEDS = "triples_1 and triples_2 ending in .tsv, .csv or .parquet (and seeds and links, likewise)"
ENDINGS = (".tsv", ".csv", ".parquet")
LIKE_VALUES = "entities that look like numbers or dates"
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"[^\t]*')
VALUE = re.compile(r"[-+]?\d+(?:[.,:/-]\d+)*")
HEADERS = {"head", "subject", "source", "relation", "predicate", "target", "tail", "object", "entity1", "entity2", "s", "p", "o"}


def missing(folder: Path) -> list[str]:
    """The files that a folder of tables must have and this one has not."""
    return [name for name in ("triples_1", "triples_2") if not _find_table(folder, name)]


def read_folder(folder: Path) -> tuple[tuple[KnowledgeGraph, KnowledgeGraph], Links]:
    """Both graphs of a folder, and the links of its tables `seeds` (told) and `links` (asked)."""
    (source, source_ids), (target, target_ids) = (
        read_graph(_find_table(folder, name) or folder) for name in ("triples_1", "triples_2")
    )
    return (source, target), read_links(_find_table(folder, "seeds"), _find_table(folder, "links"), source_ids, target_ids)


def read_graph(path: Path) -> tuple[KnowledgeGraph, dict[str, int]]:
    """The graph of a table, and the id of each entity.

    A tail in double quotes is a literal, as in N-Triples, and so is the tail of a label; all others are entities.
    """
    rows = [[*fields[:2], _first_column(fields[2])] for _, fields in read_table(path, 3)]
    literal = [fields[2].startswith('"') or fields[1].strip("<>") in LABEL_PROPERTIES for fields in rows]
    facts = (fields for fields, is_literal in zip(rows, literal, strict=True) if not is_literal)
    literals = (fields for fields, is_literal in zip(rows, literal, strict=True) if is_literal)
    graph, ids = build_graph(path, facts, literals)
    bare = _bare_values(graph)
    return replace(graph, record={**graph.record, LIKE_VALUES: bare}) if bare else graph, ids


def _first_column(rest: str) -> str:
    """What a row has in its last column, without any further ones; a tab in quotes is part of the value."""
    quoted = QUOTED.match(rest)
    return quoted[0] if quoted else rest.split("\t", 1)[0]


def _bare_values(graph: KnowledgeGraph) -> int:
    """How many entities look like numbers or dates that should have been in quotes; none where ids are numbers."""
    heads = np.unique(graph.triples[:, 0]).tolist()
    if any(VALUE.fullmatch(graph.entities[head]) for head in heads):
        return 0
    return sum(VALUE.fullmatch(entity) is not None for entity in graph.entities)


def read_links(seeds: Path | None, links: Path | None, source_ids: Mapping[str, int], target_ids: Mapping[str, int]) -> Links:
    """The links of two tables, of which no entity may be in both."""
    told, asked = (
        None if path is None else make_links(path, read_table(path, 2), source_ids, target_ids) for path in (seeds, links)
    )
    if links is not None and told is not None and asked is not None:
        check_apart(links, told, asked)
    return told, asked


def read_table(path: Path, columns: int) -> Iterator[tuple[int, list[str]]]:
    """The numbered rows of a table, without its header if it has one."""
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    ending = Path(path.stem).suffix if path.suffix in COMPRESSIONS else path.suffix
    rows = read_rows(path, columns) if ending not in (".csv", ".parquet") else _read_columns(path, ending, columns)
    for number, fields in rows:
        if number > 1 or not {field.split("\t")[0].strip().lower() for field in fields[:2]} <= HEADERS:
            yield number, fields


def _read_columns(path: Path, ending: str, columns: int) -> Iterator[tuple[int, list[str]]]:
    """The first columns of a CSV or Parquet file, row by row. The rows of a Parquet file are numbered from 2: it has its header apart."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    try:
        if ending == ".parquet":
            table = pa.parquet.read_table(path)
        else:
            table = pa.csv.read_csv(
                path,
                pa.csv.ReadOptions(autogenerate_column_names=True),
                pa.csv.ParseOptions(newlines_in_values=True),
                pa.csv.ConvertOptions(column_types={f"f{i}": pa.string() for i in range(columns)}, strings_can_be_null=False),
            )
        names = [column.cast(pa.string()).to_pylist() for column in table.columns[:columns]]
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: expected a {ending[1:]} table of {columns} columns, but {str(error).splitlines()[0]}") from None
    if table.num_columns < columns:
        raise DataError(f"{path}: expected {columns} columns, found {table.num_columns}")
    for number, fields in enumerate(zip(*names, strict=True), start=2 if ending == ".parquet" else 1):
        if None in fields:
            raise DataError(f"{path}:{number}: expected {columns} values, one is missing")
        yield number, list(fields)


def _find_table(folder: Path, name: str) -> Path | None:
    return next((path for ending in ENDINGS if (path := find_file(folder, name + ending))), None)
