"""The rows of tables: TSV, CSV and Parquet; the first two may be compressed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgalign.errors import DataError
from kgalign.files import COMPRESSIONS, find_file, read_bytes, read_rows
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.parquet import read_columns

ENDINGS = (".tsv", ".csv", ".parquet")
HEADERS = {"head", "subject", "source", "relation", "predicate", "target", "tail", "object", "entity1", "entity2", "s", "p", "o"}


def read_table(path: Path, columns: int, limits: Limits = DEFAULT) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with their numbers, without a header.

    Args:
        path: The file.
        columns: The number of columns to read. In a TSV file, the last one keeps any further tabs.
        limits: How much of the file is taken in.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    ending = Path(path.stem).suffix if path.suffix in COMPRESSIONS else path.suffix
    rows = read_rows(path, columns, limits) if ending not in (".csv", ".parquet") else _read_columns(path, ending, columns, limits)
    for number, fields in rows:
        if number > 1 or not {field.split("\t")[0].strip().lower() for field in fields[:2]} <= HEADERS:
            yield number, fields


def find_table(folder: Path, name: str) -> Path | None:
    """The table of that name in the folder, whatever its ending."""
    return next((path for ending in ENDINGS if (path := find_file(folder, name + ending))), None)


def _read_columns(path: Path, ending: str, columns: int, limits: Limits) -> Iterator[tuple[int, list[str]]]:
    """The first columns of a CSV or Parquet file, row by row. Parquet rows are numbered from 2, since the header is not among them."""
    found = read_columns(path, limits, as_text=True)[1] if ending == ".parquet" else _csv_columns(path, columns, limits)
    if len(found) < columns:
        raise DataError(f"{path}: expected {columns} columns, found {len(found)}")
    names = found[:columns]
    for number, fields in enumerate(zip(*names, strict=True), start=2 if ending == ".parquet" else 1):
        if None in fields:
            raise DataError(f"{path}:{number}: expected {columns} values, one is missing")
        yield number, list(fields)


def _csv_columns(path: Path, columns: int, limits: Limits) -> list[list[Any]]:
    """The columns of a CSV file; the first ones are text."""
    import pyarrow as pa  # slow to import, and TSV files are read without it
    import pyarrow.csv

    try:
        table = pa.csv.read_csv(
            pa.BufferReader(read_bytes(path, limits)),
            pa.csv.ReadOptions(autogenerate_column_names=True),
            pa.csv.ParseOptions(newlines_in_values=True),
            pa.csv.ConvertOptions(column_types={f"f{i}": pa.string() for i in range(columns)}, strings_can_be_null=False),
        )
    except pa.ArrowException as error:
        raise DataError(f"{path}: expected a csv table of {columns} columns, but {str(error).splitlines()[0]}") from None
    return [column.to_pylist() for column in table.columns[:columns]]
