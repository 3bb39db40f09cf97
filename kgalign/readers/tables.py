"""The rows of tables: TSV, CSV and Parquet; the first two may be compressed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kgalign.errors import DataError
from kgalign.files import COMPRESSIONS, find_file, read_rows

ENDINGS = (".tsv", ".csv", ".parquet")
HEADERS = {"head", "subject", "source", "relation", "predicate", "target", "tail", "object", "entity1", "entity2", "s", "p", "o"}


def read_table(path: Path, columns: int) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with their numbers, without a header.

    Args:
        path: The file.
        columns: The number of columns to read. In a TSV file, the last one keeps any further tabs.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    ending = Path(path.stem).suffix if path.suffix in COMPRESSIONS else path.suffix
    rows = read_rows(path, columns) if ending not in (".csv", ".parquet") else _read_columns(path, ending, columns)
    for number, fields in rows:
        if number > 1 or not {field.split("\t")[0].strip().lower() for field in fields[:2]} <= HEADERS:
            yield number, fields


def find_table(folder: Path, name: str) -> Path | None:
    """The table of that name in the folder, whatever its ending."""
    return next((path for ending in ENDINGS if (path := find_file(folder, name + ending))), None)


def _read_columns(path: Path, ending: str, columns: int) -> Iterator[tuple[int, list[str]]]:
    """The first columns of a CSV or Parquet file, row by row. Parquet rows are numbered from 2, since the header is not among them."""
    import pyarrow as pa  # slow to import, and TSV files are read without it
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
