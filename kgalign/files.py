"""Text files: plain, gzip, bz2 or zstd, in UTF-8, with one record on each line and tabs between its fields; cells of tables."""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgalign.errors import DataError

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
FORMULA = re.compile(r"'*[=+@-]")  # the beginning of what a spreadsheet takes for a formula, apostrophes before it or not
SIGNED_NUMBER = re.compile(r"[+-][\d., ]*\d%?")
UNREADABLE = (OSError, EOFError, zlib.error)  # errors of a file that is cut off or damaged


def find_file(folder: Path, name: str) -> Path | None:
    """The file of that name in the folder, compressed or not."""
    found = (folder / f"{name}{ending}" for ending in ("", *COMPRESSIONS))
    return next((path for path in found if path.is_file()), None)


def open_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, which start at 1, and without line ends. Blank lines are left out."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        with open_bytes(path) as stream:
            yield from _decoded(path, stream)
    except UNREADABLE as error:
        kind = COMPRESSIONS.get(path.suffix, "readable")
        raise DataError(f"{path}: expected a whole {kind} file, but reading it failed ({error})") from None


def open_bytes(path: Path) -> Any:
    """A stream of the bytes of a file, decompressed."""
    if path.suffix == ".gz":
        return gzip.open(path)
    if path.suffix == ".bz2":
        return bz2.open(path)
    if path.suffix == ".zst":
        import pyarrow as pa  # slow to import, and other files are read without it

        return pa.input_stream(str(path), compression="zstd")
    return path.open("rb")


def read_rows(path: str | Path, columns: int) -> Iterator[tuple[int, list[str]]]:
    """The rows of a tab-separated file with their numbers. Quotes mean nothing; the last field keeps any further tabs.

    Args:
        path: The file.
        columns: The number of fields that a row must have.
    """
    for number, line in open_lines(path):
        fields = line.split("\t", columns - 1)
        if len(fields) < columns:
            raise DataError(f"{path}:{number}: expected {columns} fields between tabs, found {len(fields)}: {line[:60]!r}")
        yield number, fields


def with_apostrophe(text: str) -> str:
    """The text as a cell of a table for spreadsheets: an apostrophe before what would be a formula. Signed numbers stay as they are.

    >>> with_apostrophe("=1+1"), with_apostrophe("-1.5"), with_apostrophe("Rome")
    ("'=1+1", '-1.5', 'Rome')
    """
    return f"'{text}" if FORMULA.match(text) and not SIGNED_NUMBER.fullmatch(text) else text


def without_apostrophe(text: str) -> str:
    """The text of a cell that `with_apostrophe` has made."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


def _decoded(path: Path, stream: Any, block: int = 1 << 24) -> Iterator[tuple[int, str]]:
    """Lines out of blocks of bytes. Only a line feed ends a line, since names may hold any other separator."""
    number, rest = 0, b""
    while True:
        read = stream.read(block)
        *lines, rest = (rest + read).split(b"\n")
        if not read:
            lines, rest = ([rest] if rest else []), b""
        for line in lines:
            number += 1
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r")
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{path}:{number}: expected UTF-8, found the byte 0x{line[error.start]:02x}; convert the file, "
                    "for instance with iconv"
                ) from None
            if text.strip():
                yield number, text
        if not read:
            return
