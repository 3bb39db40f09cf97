"""Tables with a name for each column, and with a cell for each column in every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kgalign.errors import DataError
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.label_properties import full_iri
from kgalign.readers.table_files import SAMPLE_ROWS, RawTable, check_cells
from kgalign.readers.table_form import has_header

NO_VALUE = frozenset({"null", "NULL", "Null", "nan", "NaN", "N/A", "n/a", "#N/A", "None", "\\N", "-", "--", "?"})
MOST_BROKEN = 0.5  # share of rows that may have more or fewer cells than there are columns


@dataclass(frozen=True, eq=False)
class Table:
    """A table with the names of its columns, and with as many cells in each row.

    Attributes:
        names: The name of each column, all different.
        columns: The cells of each column, "" where a cell is empty.
        lines: The number of each row in its file.
        remarks: What was mended in it, in words.
    """

    names: list[str]
    columns: list[list[str]]
    lines: Sequence[int]
    remarks: list[str] = field(default_factory=list)


def as_table(raw: RawTable, strict: bool, limits: Limits = DEFAULT) -> Table:
    """The table with the names of its columns, and with as many cells in each row.

    Titles above the header, repeated headers and columns without a name and a cell are left out.

    Args:
        raw: The rows as they are in the file. Rows with too many or too few cells are counted in its damage.
        strict: Refuse such rows.
        limits: How much memory the cells may take.
    """
    rows, lines, remarks = raw.rows, list(raw.lines), list[str]()
    if not rows and raw.header is None:
        raise DataError(f"{raw.path}: the graph is empty; expected a header and rows, found blank cells")
    header = raw.header
    if header is None:
        above = _above_header(rows)
        if above:
            remarks.append(f"{above} line{'' if above == 1 else 's'} above the header left out")
            rows, lines = rows[above:], lines[above:]
        if has_header(rows[0], rows[1 : SAMPLE_ROWS + 1]):
            header = rows[0]
            kept = [number for number, row in enumerate(rows) if row != header]  # files that were put together repeat it
            rows, lines = [rows[number] for number in kept], [lines[number] for number in kept]
        else:
            remarks.append("no header: the columns are numbered")
            header = [""] * max(map(len, rows[:100]))
    if len(header) < 2 and raw.header is None:
        raise DataError(
            f"{raw.path}:{raw.lines[0]}: expected several columns with , ; | or a tab between them, found one: {(header or [''])[0][:60]!r}"
        )
    if not rows:
        raise DataError(f"{raw.path}: the graph is empty; expected rows below the header {', '.join(header)[:60]}")
    rows, lines = _whole_rows(raw, rows, lines, len(header), strict, limits)
    columns = [[_value(cell) for cell in column] for column in zip(*rows, strict=True)]
    kept = [number for number, column in enumerate(columns) if header[number].strip() or any(column)]
    names = _column_names([header[number] for number in kept], kept, remarks)
    return Table(names, [columns[number] for number in kept], lines, remarks)


def _above_header(rows: Sequence[Sequence[str]]) -> int:
    """How many rows come before the header: titles with one cell above a table with several columns."""
    filled = [sum(1 for cell in row if cell.strip()) for row in rows[:10]]
    if max(filled) < 3:
        return 0
    return next(number for number, count in enumerate(filled) if count > 1)


def _whole_rows(
    raw: RawTable, rows: list[list[str]], lines: list[int], width: int, strict: bool, limits: Limits
) -> tuple[list[list[str]], list[int]]:
    """The rows with as many cells as there are columns: missing cells are empty, further ones are left out.

    Many programs do not write the empty cells at the end of a row. Where most rows have one cell, or too many, the separator is another one.
    """
    broken = [number for number, row in enumerate(rows) if len(row) != width and any(map(str.strip, row[width:]))]
    short = [number for number, row in enumerate(rows) if len(row) < width]
    single = [number for number in short if len(rows[number]) == 1]
    for number in sorted(broken + (short if len(short) <= MOST_BROKEN * len(rows) else single)):
        problem = f"{raw.path}:{lines[number]}: expected {width} cells, found {len(rows[number])}"
        if strict:
            raise DataError(f"{problem}; mend it, or leave out `strict` to read on")
        raw.damage.mend(problem)
    if raw.damage.mended > MOST_BROKEN * len(rows):
        raise DataError(
            f"{raw.damage.first_mended[0]}, as in {raw.damage.mended:,} of {len(rows):,} rows: which cells are in which column?"
        )
    if not broken and not short:
        return (rows, lines) if all(len(row) == width for row in rows) else ([row[:width] for row in rows], lines)
    check_cells(raw.path, len(rows), width, limits)
    return [[*row[:width], *[""] * (width - len(row))] for row in rows], lines


def _value(cell: str) -> str:
    """The cell without blanks around it; empty where it says that there is no value."""
    cell = cell.strip()
    return "" if cell in NO_VALUE else cell


def _column_names(header: Sequence[str], numbers: Sequence[int], remarks: list[str]) -> list[str]:
    """A name for each column: that of the header, numbered where it is blank or used before."""
    names: dict[str, int] = {}  # each with the last number that was put behind it
    blank, repeated = 0, 0
    for cell, number in zip(header, numbers, strict=True):
        name = full_iri(" ".join(cell.split()).strip('"'))
        if not name:
            name, blank = f"column {number + 1}", blank + 1
        if name in names:
            repeated, first = repeated + 1, name
            while name in names:
                names[first] += 1
                name = f"{first} {names[first]}"
        names[name] = 1
    if blank and blank < len(header):
        remarks.append(f"{blank} column{'' if blank == 1 else 's'} without a name")
    if repeated:
        remarks.append(f"{repeated} column{'' if repeated == 1 else 's'} with the name of another")
    return list(names)
