"""The columns of Parquet files, never more of them than the limits allow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kgalign.arrow_files import open_arrow
from kgalign.errors import DataError
from kgalign.limits import Limits

BATCH = 256  # rows that are decoded at once: a short file can hold millions of long ones
CELL = 64  # bytes that a cell takes at least, whatever is in it


def read_columns(
    path: Path, limits: Limits, *, data: bytes | None = None, rows: int | None = None, as_text: bool = False
) -> tuple[list[str], list[list[Any]]]:
    """The names of the columns, and the values of each.

    Args:
        path: The file.
        limits: How much memory the values may take.
        data: The bytes of the file, where it has been unpacked. None: they are read from it.
        rows: The number of rows to read. None: all.
        as_text: Turn values of other types into text.
    """
    import pyarrow as pa  # slow to import, and other tables are read without it
    import pyarrow.parquet

    size = 0
    try:
        with open_arrow(path) if data is None else pa.BufferReader(data) as stream:
            file = pa.parquet.ParquetFile(stream)
            names = list(file.schema_arrow.names)
            columns: list[list[Any]] = [[] for _ in names]
            for batch in file.iter_batches(BATCH):
                for values, column in zip(columns, batch.columns, strict=True):
                    if pa.types.is_dictionary(column.type):  # which has a text once, however many cells hold it
                        column = column.dictionary_decode()
                    size += column.nbytes + CELL * len(column)
                    if size > limits.memory:
                        raise limits.exceeded(path, "memory", "a Parquet table to have")
                    values.extend((column.cast(pa.string()) if as_text else column).to_pylist())
                if rows is not None and batch.num_rows and len(columns[0]) >= rows:
                    break
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        reason = (
            "some of its text is not UTF-8"
            if isinstance(error, UnicodeDecodeError)
            else (str(error).splitlines() or ["it is damaged"])[0]
        )
        raise DataError(f"{path}: expected a Parquet table, but {reason}; write it again") from None
    return names, [values[:rows] for values in columns]
