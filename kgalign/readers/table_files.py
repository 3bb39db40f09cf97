"""The rows of tables as they are in files: text with separators, Parquet, XLSX and JSON lines, plain or compressed."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from kgalign.characters import whole_characters
from kgalign.errors import DataError
from kgalign.files import COMPRESSIONS, UNREADABLE, bounded, open_bytes, unreadable
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.encodings import decode
from kgalign.readers.parquet import CELL, read_columns
from kgalign.readers.statements import Damage
from kgalign.readers.table_text import read_text

SAMPLE_BYTES, SAMPLE_ROWS = 1 << 18, 1_000  # that show what a table holds
ZIP, PARQUET, GZIP = b"PK\x03\x04", b"PAR1", b"\x1f\x8b"
# What people take for tables, by its first bytes, and what to do about it.
NO_TABLES = (
    (b"\xd0\xcf\x11\xe0", "a file of an old Excel (xls): save it as XLSX or CSV"),
    (b"%PDF", "a PDF: export the table as CSV"),
    (b"{\\rtf", "a text document: export the table as CSV"),
    (b"SQLite format 3", "a SQLite database: export the table as CSV"),
)
MARKUP = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?<(!doctype\s+html|html|head|body|table|\?xml|[a-z]+:?[a-z]*[\s>])", re.I | re.S
)
BEFORE_VALUES = ("[", "{", ",")
PLACE = 16  # bytes of an empty cell, which is in a row and in a column
CONTROL = re.compile("[\x00-\x08\x0e-\x1f]")
EXCEL_NEEDS = "XLSX needs openpyxl: pip install 'kgalign[xlsx]', or save the table as CSV"


@dataclass(frozen=True, eq=False)
class RawTable:
    """The rows of a table, before anything is known of its columns.

    Attributes:
        path: The file.
        form: The format in words, such as `CSV with ;`.
        header: The names of the columns, where the format has them. None: the first row may hold them.
        rows: The cells of each row; rows may differ in length.
        lines: The number of each row in its file.
        encoding: The encoding in words, "" for UTF-8.
        damage: The errors of the file.
    """

    path: Path
    form: str
    header: list[str] | None
    rows: list[list[str]]
    lines: Sequence[int]
    encoding: str = ""
    damage: Damage = field(default_factory=Damage)


def read_raw(path: Path, *, strict: bool = False, sample: bool = False, limits: Limits = DEFAULT) -> RawTable:
    """The rows of a table. The first bytes decide on the format, whatever the name of the file says.

    Args:
        path: The file.
        strict: Refuse what is damaged, instead of counting it.
        sample: Read the first rows alone.
        limits: How much of the file is taken in.
    """
    damage = Damage()
    data = _read_bytes(path, sample, strict, damage, limits)
    if not data.strip():
        raise DataError(f"{path}: the graph is empty; expected a header and at least one row")
    for begin, found in NO_TABLES:
        if data.startswith(begin):
            raise DataError(f"{path}: expected a table, found {found}")
    if data.startswith(PARQUET):
        return _read_parquet(path, data, sample, limits)
    if data.startswith(ZIP):
        return _read_excel(path, data, sample, limits)
    if ending(path) == ".parquet":
        raise DataError(f"{path}: expected a Parquet table, but it does not begin like one: write it again, or name it .csv")
    text, encoding = decode(data, path, strict and not sample)
    _check_text(path, text)
    sign = "" if ending(path) in (".csv", ".tsv") else text.lstrip()[:1]
    is_cut = sample and len(data) >= SAMPLE_BYTES
    if not is_cut and sign != "[":  # an array of JSON may well be one line
        _check_lines(path, data, limits)
    if sign in ("{", "["):
        return _read_json(path, text, encoding, sample, damage, limits)
    form, rows, lines = read_text(path, text, is_tsv=ending(path) == ".tsv", is_cut=is_cut, limits=limits)
    return RawTable(path, form, None, rows, lines, encoding, damage)


def ending(path: Path) -> str:
    """The ending of the name, before that of a compression."""
    return (Path(path.stem).suffix if path.suffix in COMPRESSIONS else path.suffix).lower()


def _read_bytes(path: Path, sample: bool, strict: bool, damage: Damage, limits: Limits) -> bytes:
    """The bytes of a file, decompressed; the first ones, or all of a format that cannot be read in parts."""
    if not path.is_file():
        raise DataError(f"{path}: {'is a folder; expected a table' if path.is_dir() else 'no such file'}")
    blocks: list[bytes] = []
    try:
        with open_bytes(path, limits) as stream:
            first = bytes(stream.read(SAMPLE_BYTES))
            blocks.append(first)
            if first.startswith((ZIP, PARQUET, GZIP)) or not sample or first.lstrip()[:1] == b"[":
                blocks.extend(bounded(stream.read, path, limits))
        if first.startswith(GZIP):  # whatever its name says
            packed = gzip.GzipFile(fileobj=BytesIO(b"".join(blocks)))
            blocks.clear()
            blocks.extend(bounded(packed.read, path, limits))
    except UNREADABLE as error:
        data = b"".join(blocks)
        whole = data[: data.rfind(b"\n") + 1]
        if strict or not whole or data.startswith((ZIP, PARQUET, GZIP)):
            raise unreadable(path, error) from None
        lines = whole.count(b"\n")
        damage.add(f"{unreadable(path, error)}; what came before it is kept: {lines:,} whole lines")
        return whole
    return b"".join(blocks)


def _check_text(path: Path, text: str) -> None:
    """Refuses pages and bytes that are no text."""
    start = text[:4096]
    if found := MARKUP.match(start):
        kind = "a page of HTML" if found[1].lower() in ("!doctype html", "html", "head", "body", "table") else "XML"
        raise DataError(f"{path}:1: expected a table, found {kind}: was the table itself downloaded?")
    if len(CONTROL.findall(start)) > len(start) / 100:
        raise DataError(f"{path}: expected a table (CSV, TSV, Parquet, XLSX, JSON lines), found bytes that are no text")


def _check_lines(path: Path, data: bytes, limits: Limits) -> None:
    """Refuses a line that is too long, which may have millions of cells."""
    begin = 0
    while len(data) - begin > limits.line:
        end = max(data.rfind(sign, begin, begin + limits.line + 1) for sign in (b"\n", b"\r"))
        if end < 0:
            number = data.count(b"\n", 0, begin) + 1
            raise limits.exceeded(f"{path}:{number}", "line", "a line of")
        begin = end + 1


def check_cells(path: Path, rows: int, columns: int, limits: Limits) -> None:
    """Refuses a table whose short rows would have too many empty cells at their ends."""
    if rows * columns * PLACE > limits.memory:
        raise limits.exceeded(path, "memory", f"a table of {columns:,} columns to have")


def _read_parquet(path: Path, data: bytes, sample: bool, limits: Limits) -> RawTable:
    names, columns = read_columns(path, limits, data=data, rows=SAMPLE_ROWS if sample else None)
    rows = [[as_cell(value) for value in cells] for cells in zip(*columns, strict=True)]
    return RawTable(path, "Parquet", names, rows, range(1, len(rows) + 1))


def _read_excel(path: Path, data: bytes, sample: bool, limits: Limits) -> RawTable:
    """The first sheet with cells. Sheets that follow are counted."""
    try:
        parts = ZipFile(BytesIO(data)).infolist()
    except Exception:  # a damaged archive leads to errors of many kinds
        raise DataError(f"{path}: expected an XLSX table, but it is cut off or damaged; save it again") from None
    if sum(part.file_size for part in parts) > limits.memory:
        raise limits.exceeded(path, "memory", "an XLSX table to have")
    if "xl/workbook.xml" not in [part.filename for part in parts]:
        raise DataError(f"{path}: expected a table, found a ZIP archive: unpack it and give the table")
    try:
        import openpyxl
    except ImportError:
        raise DataError(f"{path}: {EXCEL_NEEDS}") from None
    numbered: list[tuple[int, list[str]]] = []
    size = 0
    try:
        book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True)
        for sheet in book.worksheets:
            cells = islice(sheet.iter_rows(values_only=True), SAMPLE_ROWS if sample else None)
            for number, values in enumerate(cells, start=1):
                size += CELL * len(values)
                if size > limits.memory:  # one cell at the far end makes a row of thousands
                    raise limits.exceeded(path, "memory", "an XLSX table to have")
                if any(row := [as_cell(value) for value in values]):
                    numbered.append((number, row))
            if numbered:
                break
    except DataError:
        raise
    except Exception as error:  # the library raises whatever a damaged part of the archive leads to
        raise DataError(f"{path}: expected an XLSX table, but reading it failed ({error}); save it again") from None
    if not numbered:
        raise DataError(f"{path}: the graph is empty; expected a header and at least one row in a sheet")
    others = f", one of {len(book.worksheets)}" if len(book.worksheets) > 1 else ""
    return RawTable(
        path, f"XLSX, sheet {sheet.title}{others}", None, [row for _, row in numbered], [number for number, _ in numbered]
    )


def _read_json(path: Path, text: str, encoding: str, sample: bool, damage: Damage, limits: Limits) -> RawTable:
    """An object on each line, or one array of objects. Objects in objects become columns such as `address.city`."""
    is_array = text.lstrip().startswith("[")
    if len(text) + CELL * sum(map(text.count, BEFORE_VALUES)) > limits.memory:
        raise limits.exceeded(path, "memory", "a table to have")
    columns: dict[str, int] = {}
    rows, lines = [], []
    for number, found in _json_array(path, text) if is_array else _json_lines(path, text, sample):
        if not isinstance(found, dict):
            raise DataError(f"{path}:{number}: expected a JSON object with a field for each column, found {json.dumps(found)[:60]}")
        row = [""] * len(columns)
        for name, value in _fields(found):
            if name not in columns:
                columns[name] = len(columns)
                row.append("")
            row[columns[name]] = as_cell(value)
        rows.append(row)
        check_cells(path, len(rows), len(columns), limits)
        lines.append(number)
    rows = [row + [""] * (len(columns) - len(row)) for row in rows]
    return RawTable(path, "JSON" if is_array else "JSON lines", list(columns), rows, lines, encoding, damage)


def _json_array(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    try:
        return enumerate(json.loads(text), start=1)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}:{getattr(error, 'lineno', 1)}: expected a JSON array of objects, but {error}") from None


def _json_lines(path: Path, text: str, sample: bool) -> Iterator[tuple[int, Any]]:
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1] if sample and len(lines) > 1 else lines, start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                raise DataError(
                    f"{path}:{number}: expected a JSON object on each line, or one array of objects, found {line.strip()[:60]!r}"
                ) from None


def _fields(found: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in found.items():
        if isinstance(value, dict):
            yield from _fields(value, f"{before}{name}.")
        else:
            yield whole_characters(f"{before}{name}"), value


def as_cell(value: Any) -> str:
    """A value of Parquet, XLSX or JSON as the text that a person would write; a list as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if value != value else str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.date().isoformat() if not (value.hour or value.minute or value.second) else value.isoformat(" ")
    if isinstance(value, list | dict):
        return whole_characters(json.dumps(value, ensure_ascii=False, default=str)) if value else ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
