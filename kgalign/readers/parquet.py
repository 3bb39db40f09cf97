"""The columns of Parquet files, never more of them than the limits allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from kgalign.arrow_files import open_arrow
from kgalign.errors import DataError
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.parquet_pages import VALUE, size_of

BATCH = 1 << 14  # rows that are decoded at once; fewer would take longer, since each batch has the dictionaries anew
SAMPLE_BATCH = 64  # rows of a sample that are decoded at once
CELL = 64  # bytes that a cell takes at least, whatever is in it
EXPANSION = 100  # how many times its own size a table of a run may take
TEXT = ("STRING", "JSON", "ENUM", "NONE")  # logical types that a dictionary may hold


class TooLargeError(ValueError):
    """A table takes more memory than it may."""

    def __init__(self, most: int) -> None:
        super().__init__(f"it takes more than {most:,} bytes")


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

    try:
        with open_arrow(path) if data is None else pa.BufferReader(data) as stream:
            names = list(pa.parquet.read_schema(stream).names)
            columns: list[list[Any]] = [[] for _ in names]
            for batch in _read_batches(stream, limits.memory, CELL, is_sample=rows is not None):
                for values, column in zip(columns, batch.columns, strict=True):
                    values.extend(_values(column, as_text))
                if rows is not None and batch.num_rows and len(columns[0]) >= rows:
                    break
    except TooLargeError:
        raise limits.exceeded(path, "memory", "a Parquet table to have") from None
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        reason = (
            "some of its text is not UTF-8"
            if isinstance(error, UnicodeDecodeError)
            else (str(error).splitlines() or ["it is damaged"])[0]
        )
        raise DataError(f"{path}: expected a Parquet table, but {reason}; write it again") from None
    return names, [values[:rows] for values in columns]


def read_own_table(path: Path, columns: Sequence[str] | None = None, keep: Callable[[Any], Any] | None = None) -> Any:
    """An Arrow table that an earlier run has written. A `TooLargeError` says that it takes many times the size of its file.

    Args:
        path: The file.
        columns: The columns to read. None: all.
        keep: The rows of a batch that are kept. None: all.
    """
    import pyarrow as pa
    import pyarrow.parquet

    most = max(DEFAULT.memory, EXPANSION * path.stat().st_size)
    with open_arrow(path) as stream:
        batches = [keep(batch) if keep else batch for batch in _read_batches(stream, most, VALUE, columns)]
        return pa.Table.from_batches(batches) if batches else pa.parquet.read_table(stream, columns=columns)


def _read_batches(
    stream: Any, most: int, cell: int, columns: Sequence[str] | None = None, is_sample: bool = False
) -> Iterator[Any]:
    """The rows in batches, whose texts are dictionaries: however many cells hold a text, it is there once.

    Args:
        stream: The file.
        most: Bytes that the cells may take in all, when each has its text.
        cell: Bytes that a cell takes beside its text.
        columns: The columns to read. None: all.
        is_sample: No more than the first rows are needed.
    """
    import pyarrow.parquet

    plain = pyarrow.parquet.ParquetFile(stream)
    leaves = [plain.schema.column(number) for number in range(len(plain.schema))]
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY" and leaf.logical_type.type in TEXT]
    if plain.num_row_groups and size_of(stream, columns, 1 if is_sample else None) > most:
        raise TooLargeError(most)
    file = pyarrow.parquet.ParquetFile(stream, read_dictionary=texts)
    size, rows = 0, SAMPLE_BATCH if is_sample else BATCH
    groups = (
        file.iter_batches(rows, [number], columns) for number in range(file.num_row_groups)
    )  # Arrow cannot read a list column with dictionaries across two row groups
    for batch in chain.from_iterable(groups):
        size += cell * batch.num_rows * batch.num_columns + sum(map(_size, batch.columns))
        if size > most:
            raise TooLargeError(most)
        yield batch


def _values(column: Any, as_text: bool) -> list[Any]:
    """The values of a column; cells with the same text share it."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        texts = [*_values(column.dictionary, as_text), None]
        return [texts[-1 if number is None else number] for number in column.indices.to_pylist()]
    found: list[Any] = (column.cast(pa.string()) if as_text else column).to_pylist()
    return found


def _size(array: Any) -> int:
    """The bytes of an array when each of its cells has its text."""
    import pyarrow as pa
    import pyarrow.compute

    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return _size(array.storage)
    if pa.types.is_dictionary(kind) and (pa.types.is_string(kind.value_type) or pa.types.is_binary(kind.value_type)):
        return pa.compute.sum(pa.compute.binary_length(array.dictionary).take(array.indices)).as_py() or 0
    if pa.types.is_struct(kind):
        return sum(map(_size, array.flatten()))
    if pa.types.is_map(kind):
        return VALUE * len(array) + _size(array.keys) + _size(array.items)
    if pa.types.is_nested(kind):  # lists of all kinds
        return VALUE * len(array) + _size(array.flatten())
    return int(array.nbytes)
