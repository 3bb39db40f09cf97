"""Links in tables: TSV, CSV and Parquet, with or without a header; the first two may be compressed."""

from __future__ import annotations

import csv
import logging
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kgalign.characters import first_line
from kgalign.errors import DataError
from kgalign.files import COMPRESSIONS, of_cell, read_bytes
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.encodings import decode
from kgalign.readers.parquet import read_columns
from kgalign.seams import GivenLink

logger = logging.getLogger(__name__)
SOURCES = ("source", "source_id", "source_iri", "subject", "subject_id", "s", "head", "entity1", "left", "id1", "ltable_id")
TARGETS = ("target", "target_id", "target_iri", "object", "object_id", "o", "tail", "entity2", "right", "id2", "rtable_id")
SCORES = ("probability", "score", "scores", "similarity", "confidence", "measure")
NAMES = (("source_name", "source_label", "subject_label"), ("target_name", "target_label", "object_label"))
SEPARATORS = "\t,;|"


class Columns(NamedTuple):
    """The positions of the columns of a table of links; None: there is no such column."""

    source: int = 0
    target: int = 1
    score: int | None = None
    source_name: int | None = None
    target_name: int | None = None


class TableReader:
    """Reads a table in which one column has the source of each link, and another one the target."""

    expects = "a table of source and target (tsv, csv, parquet)"

    def accepts(self, path: Path) -> bool:
        """Whether it is a file. Any file may be a table, so this reader comes after all others."""
        return path.is_file()

    def read(self, path: Path, *, strict: bool = False, limits: Limits = DEFAULT) -> Iterator[GivenLink]:
        """The rows. Columns go by their names, where the first row has names that say source and target, and else by their order.

        Args:
            path: The file.
            strict: Refuse bytes that are no UTF-8. A broken table is always refused.
            limits: How much of the file is taken in.
        """
        ending = (Path(path.stem).suffix if path.suffix in COMPRESSIONS else path.suffix).lower()
        if ending == ".parquet":
            rows = read_parquet(path, limits)
        else:
            rows = read_rows(path, "," if ending == ".csv" else "\t", strict=strict, limits=limits)
        first = next(rows, None)
        if first is None:
            return
        columns = named_columns(first[1])
        if columns is None:
            yield link_of(path, *first, Columns())
        for number, fields in rows:
            yield link_of(path, number, fields, columns or Columns())


def named_columns(header: Sequence[str]) -> Columns | None:
    """The columns that a header names; None where a row is no header."""
    names = [name.strip().strip('"').lower() for name in header]
    source, target, *others = (
        next((names.index(name) for name in wanted if name in names), None) for wanted in (SOURCES, TARGETS, SCORES, *NAMES)
    )
    return None if source is None or target is None else Columns(source, target, *others)


def read_rows(
    path: Path, usual: str, quoted: bool = False, comment: str = "", strict: bool = False, limits: Limits = DEFAULT
) -> Iterator[tuple[int, list[str]]]:
    """The numbered rows of a text file.

    Args:
        path: The file.
        usual: The separator that its name stands for. If the first row has another one, and not this, that one counts.
        quoted: Whether quotes mean something beside tabs too; beside other separators they always do.
        comment: Lines that begin with this are skipped.
        strict: Refuse bytes that are no UTF-8.
        limits: How much of the file is taken in.
    """
    separator = ""
    text, encoding = read_text(path, strict, limits)
    if encoding:
        logger.info("%s: encoding %s", path, encoding)
    for number, line in lines_of(text):
        if comment and line.startswith(comment):
            continue
        separator = separator or (usual if usual in line else next((sign for sign in SEPARATORS if sign in line), usual))
        if '"' in line and (quoted or separator != "\t"):
            try:
                yield number, next(csv.reader([line], delimiter=separator))
            except csv.Error as error:
                raise DataError(f"{path}:{number}: expected a row of a table, but {first_line(error)}") from None
        else:
            yield number, line.split(separator)


def read_text(path: Path, strict: bool = False, limits: Limits = DEFAULT) -> tuple[str, str]:
    """The text of a file in any encoding, and that encoding in words, "" for UTF-8.

    Args:
        path: The file.
        strict: Refuse bytes that are no UTF-8, instead of reading them as windows-1252.
        limits: How much of the file is taken in.
    """
    return decode(read_bytes(path, limits), path, strict)


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text with their numbers, which start at 1, and without line ends. Blank lines are left out."""
    if "\n" not in text:
        text = text.replace("\r", "\n")  # as on a Macintosh of the last century
    for number, line in enumerate(text.split("\n"), start=1):  # names may hold any other separator
        if line.strip():
            yield number, line.rstrip("\r")


def read_parquet(path: Path, limits: Limits) -> Iterator[tuple[int, list[str]]]:
    """The names of the columns as the first row, then the rows, numbered from 2."""
    names, columns = read_columns(path, limits, as_text=True)
    if named_columns(names):
        yield 1, names
    for number, fields in enumerate(zip(*columns, strict=True), start=2):
        yield number, ["" if field is None else field for field in fields]


def as_score(text: str) -> float:
    """The number that a text stands for; not a number where it stands for none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def link_of(place: Path | str, number: int, fields: Sequence[str], columns: Columns) -> GivenLink:
    """The link of a row.

    Args:
        place: Where the row is, for errors.
        number: Its number.
        fields: Its cells.
        columns: What they mean.
    """
    source, target, *others = columns
    if len(fields) <= max(source, target):
        raise DataError(
            f"{place}:{number}: expected {max(source, target) + 1} fields, found {len(fields)}: "
            f"{' '.join(fields)[:60]!r}; a link has a source and a target"
        )
    left, right = fields[source].strip(), fields[target].strip()
    if not left or not right:
        raise DataError(f"{place}:{number}: expected a source and a target, one is empty")
    score, *names = (fields[column].strip() if column is not None and column < len(fields) else None for column in others)
    return GivenLink(
        number,
        left,
        right,
        None if score is None else as_score(score),
        source_name=of_cell(names[0] or ""),
        target_name=of_cell(names[1] or ""),
    )


reader = TableReader()
