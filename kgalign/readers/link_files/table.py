"""Links in tables: TSV, CSV and Parquet, with or without a header; the first two may be compressed."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from kgalign.errors import DataError
from kgalign.files import COMPRESSIONS, open_lines
from kgalign.seams import GivenLink

SOURCES = ("source", "source_id", "source_iri", "subject", "subject_id", "s", "head", "entity1", "left", "id1", "ltable_id")
TARGETS = ("target", "target_id", "target_iri", "object", "object_id", "o", "tail", "entity2", "right", "id2", "rtable_id")
SCORES = ("probability", "score", "scores", "similarity", "confidence", "measure")
SEPARATORS = "\t,;|"
Columns = tuple[int, int, int | None]  # of the source, the target and the score


class TableReader:
    """Reads a table in which one column has the source of each link, and another one the target."""

    expects = "a table of source and target (tsv, csv, parquet)"

    def accepts(self, path: Path) -> bool:
        """Whether it is a file. Any file may be a table, so this reader comes after all others."""
        return path.is_file()

    def read(self, path: Path, *, strict: bool = False) -> Iterator[GivenLink]:
        """The rows. Columns go by their names, where the first row has names that say source and target, and else by their order.

        Args:
            path: The file.
            strict: Not used: a broken table is always refused.
        """
        ending = Path(path.stem).suffix if path.suffix in COMPRESSIONS else path.suffix
        rows = read_parquet(path) if ending.lower() == ".parquet" else read_rows(path, "," if ending.lower() == ".csv" else "\t")
        first = next(rows, None)
        if first is None:
            return
        columns = named_columns(first[1])
        source, target, score = columns or (0, 1, None)
        if columns is None:
            yield _link(path, *first, (source, target, score))
        for number, fields in rows:
            yield _link(path, number, fields, (source, target, score))


def named_columns(header: Sequence[str]) -> Columns | None:
    """The columns that a header names; None where a row is no header."""
    names = [name.strip().strip('"').lower() for name in header]
    source, target, score = (
        next((names.index(name) for name in wanted if name in names), None) for wanted in (SOURCES, TARGETS, SCORES)
    )
    return None if source is None or target is None else (source, target, score)


def read_rows(path: Path, usual: str, quoted: bool = False, comment: str = "") -> Iterator[tuple[int, list[str]]]:
    """The numbered rows of a text file.

    Args:
        path: The file.
        usual: The separator that its name stands for. If the first row has another one, and not this, that one counts.
        quoted: Whether quotes mean something beside tabs too; beside other separators they always do.
        comment: Lines that begin with this are skipped.
    """
    separator = ""
    for number, line in open_lines(path):
        if comment and line.startswith(comment):
            continue
        separator = separator or (usual if usual in line else next((sign for sign in SEPARATORS if sign in line), usual))
        if '"' in line and (quoted or separator != "\t"):
            yield number, next(csv.reader([line], delimiter=separator))
        else:
            yield number, line.split(separator)


def read_parquet(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The names of the columns as the first row, then the rows, numbered from 2."""
    import pyarrow as pa  # slow to import, and text is read without it
    import pyarrow.parquet

    try:
        table = pa.parquet.read_table(path)
        columns = [column.cast(pa.string()).to_pylist() for column in table.columns]
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: expected a Parquet table of links, but {str(error).splitlines()[0]}") from None
    if named_columns(table.column_names):
        yield 1, table.column_names
    for number, fields in enumerate(zip(*columns, strict=True), start=2):
        yield number, ["" if field is None else field for field in fields]


def as_score(text: str) -> float:
    """The number that a text stands for; not a number where it stands for none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _link(path: Path, number: int, fields: Sequence[str], columns: Columns) -> GivenLink:
    source, target, score = columns
    if len(fields) <= max(source, target):
        raise DataError(
            f"{path}:{number}: expected {max(source, target) + 1} fields between tabs, found {len(fields)}: "
            f"{' '.join(fields)[:60]!r}; a link has a source and a target"
        )
    left, right = fields[source].strip(), fields[target].strip()
    if not left or not right:
        raise DataError(f"{path}:{number}: expected a source and a target, one is empty")
    return GivenLink(number, left, right, as_score(fields[score]) if score is not None and score < len(fields) else None)


reader = TableReader()
