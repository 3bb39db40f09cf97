"""Tables in text: the separator is found out, and cells may be in quotes."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from pathlib import Path

from kgalign.errors import DataError
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.parquet import CELL

SEPARATORS = (",", ";", "\t", "|")
SHOWN = {"\t": "tabs"}
SNIFFED = 200  # rows that show the separator
LONGEST_CELL = 2**26  # characters; the polygon of a country has a million
SWALLOWED = 3  # lines in one cell from which on they may be rows after a quote that is never closed
EXCEL_HINT = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # the first line of some tables for Excel
CLOSE = "close it, or double a quote that is part of a cell"


def read_text(
    path: Path, text: str, is_tsv: bool = False, is_cut: bool = False, limits: Limits = DEFAULT
) -> tuple[str, list[list[str]], list[int]]:
    """The format in words, the cells of each row, and the line on which each row begins. Blank rows are left out.

    Args:
        path: The file, for errors.
        text: All its text.
        is_tsv: Its name says that tabs are between the cells.
        is_cut: The text is the beginning of a file, and its last row may not be whole.
        limits: How much memory the cells may take.
    """
    text = text.removeprefix("\ufeff")
    if hint := EXCEL_HINT.match(text):
        text, separator, skipped = text[hint.end() :], hint[1], 1
    else:
        separator, skipped = _find_separator(path, text, "\t" if is_tsv else ",", limits), 0
    rows, lines, problem = _parse(path, text, separator, limits)
    if problem and separator == "\t":  # TSV often has no quoting
        rows, lines, problem = _parse(path, text, separator, limits, csv.QUOTE_NONE)
    if is_cut:
        rows, lines = rows[:-1], lines[:-1]
    elif problem:
        raise DataError(f"{path}:{problem[0] + skipped}: {problem[1]}")
    name = "TSV" if separator == "\t" else "CSV" if separator == "," else f"CSV with {SHOWN.get(separator, separator)}"
    return name, rows, [line + skipped for line in lines]


def _find_separator(path: Path, text: str, usual: str, limits: Limits) -> str:
    """The separator that gives the most rows as many cells as the first row has; of several, the usual one, or the one with more cells."""
    end = -1
    for _ in range(SNIFFED):
        end = text.find("\n", end + 1)
        if end < 0:
            break
    sample = text if end < 0 else text[:end]
    best, chosen = (False, 0.0, False, 0), usual
    for separator in SEPARATORS:
        widths = [len(row) for row in _parse(path, sample, separator, limits)[0]]
        if not widths:
            continue
        width, count = Counter(widths).most_common(1)[0]
        found = (widths[0] == width, round(count / len(widths), 1), separator == usual, width)
        if width > 1 and found > best:
            best, chosen = found, separator
    return chosen


def _parse(
    path: Path, text: str, separator: str, limits: Limits, quoting: int = csv.QUOTE_MINIMAL
) -> tuple[list[list[str]], list[int], tuple[int, str] | None]:
    """The rows with the lines on which they begin, and the line and nature of a quote that is never closed."""
    rows, lines = list[list[str]](), list[int]()
    problem = None
    most = limits.memory - len(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quoting=quoting)  # type: ignore[arg-type]
    before, limit = 0, csv.field_size_limit(LONGEST_CELL)
    try:
        for row in reader:
            if (
                reader.line_num - before > SWALLOWED
                and problem is None
                and _swallows_rows(row, separator, len(rows[0]) if rows else 0)
            ):
                problem = before + 1, f"a quote that begins in this row is not closed before the next rows; {CLOSE}"
            most -= CELL * (len(row) + 1)
            if most < 0:
                raise limits.exceeded(path, "memory", "a table to have")
            if any(row):
                rows.append(row)
                lines.append(before + 1)
            before = reader.line_num
    except csv.Error as error:
        reason = "a cell is very long: is a quote never closed?" if "field limit" in str(error) else str(error)
        return rows, lines, (before + 1, f"{reason}; {CLOSE}")
    finally:
        csv.field_size_limit(limit)
    if problem is None and lines and quoting != csv.QUOTE_NONE and _ends_open(text, lines[-1], separator):
        problem = lines[-1], f"a quote that begins in this row is never closed; {CLOSE}"
    return rows, lines, problem


def _swallows_rows(row: list[str], separator: str, width: int) -> bool:
    """Whether most lines inside a cell look like rows of the table."""
    longest = max(row, key=len)
    lines = longest.split("\n")[1:-1]
    return width > 1 and len(lines) >= SWALLOWED and sum(line.count(separator) >= width - 1 for line in lines) > len(lines) / 2


def _ends_open(text: str, line: int, separator: str) -> bool:
    """Whether the text ends within quotes; its last row begins on that line."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    last = text[start:]
    if '"' not in last:
        return False
    try:
        list(csv.reader(io.StringIO(last, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        return "end of data" in str(error)
    return False
