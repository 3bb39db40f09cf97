"""The columns and cells of data frames of pandas and polars."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from kgalign.readers.objects import POLARS, kind_in_memory
from kgalign.readers.python_values import is_missing
from kgalign.readers.table_files import as_cell

TEXTS = ("object", "str", "string")  # the types of an index of texts


def columns_of(frame: Any) -> tuple[list[str], list[list[Any]]]:
    """The names and the values of the columns of a data frame."""
    if kind_in_memory(frame) == POLARS:
        frame = frame.collect() if hasattr(frame, "collect") else frame
        return list(frame.columns), [column.to_list() for column in frame.get_columns()]
    if any(name is not None for name in frame.index.names) or str(frame.index.dtype) in TEXTS:
        frame = frame.reset_index()  # an index that somebody has chosen is a column like the others, and most often the id
    names = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in frame.columns]
    return names, [frame.iloc[:, number].tolist() for number in range(len(names))]


def cell_of(value: Any) -> str:
    """A value as the text of a cell; a list as JSON."""
    if is_missing(value):
        return ""
    if type(value).__module__ == "numpy":
        value = value.tolist()
    return as_cell(list(value) if isinstance(value, tuple | Set) else value)
