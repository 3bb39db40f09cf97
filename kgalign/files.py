"""Text files: plain, gzip, bz2 or zstd, in UTF-8, with one record on each line and tabs between its fields; cells of tables."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kgalign.characters import escaped, unescaped
from kgalign.errors import DataError
from kgalign.limits import DEFAULT, Limits
from kgalign.unpacking import DAMAGED, Unpacked

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
# The beginning of what a spreadsheet takes for a formula, also in the full width of Chinese and Japanese; apostrophes before it or not.
FORMULA = re.compile(r"'*\ufeff*[=+@\-\uff1d\uff0b\uff20\uff0d]")
SIGNED_NUMBER = re.compile(r"[+-][\d., ]*\d%?")
UNREADABLE = DAMAGED  # errors of a file that is cut off or damaged
BLOCK = 1 << 20  # bytes that are read at once


def find_file(folder: Path, name: str) -> Path | None:
    """The file of that name in the folder, compressed or not."""
    found = (folder / f"{name}{ending}" for ending in ("", *COMPRESSIONS))
    return next((path for path in found if path.is_file()), None)


def open_lines(path: str | Path, limits: Limits = DEFAULT) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, which start at 1, and without line ends. Blank lines are left out."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    number = 0
    try:
        with open_bytes(path, limits) as stream:
            for block in line_blocks(stream.read, path, limits):
                for text in _decoded(path, block, number + 1):
                    number += 1
                    if text and not text.isspace():
                        yield number, text
    except UNREADABLE as error:
        raise unreadable(path, error, f"; it has {number:,} whole lines before that") from None


def open_bytes(path: Path, limits: Limits = DEFAULT) -> Any:
    """A stream of the bytes of a file, decompressed. Where the file is damaged, all bytes before come first, and then the error."""
    return Unpacked(path, limits) if path.suffix in COMPRESSIONS else path.open("rb")


def read_bytes(path: Path, limits: Limits = DEFAULT) -> bytes:
    """All bytes of a file that has to be in memory as a whole, decompressed."""
    try:
        with open_bytes(path, limits) as stream:
            return b"".join(bounded(stream.read, path, limits))
    except UNREADABLE as error:
        raise unreadable(path, error) from None


def bounded(read: Callable[[int], bytes], path: Path, limits: Limits) -> Iterator[bytes]:
    """The blocks of a stream, as many as may be in memory."""
    total = 0
    while block := read(BLOCK):
        total += len(block)
        if total > limits.memory:
            raise limits.exceeded(path, "memory", "a file of this format to have")
        yield block


def line_blocks(read: Callable[[int], bytes], path: Path, limits: Limits, size: int = BLOCK) -> Iterator[bytes]:
    """The bytes of a stream in blocks of whole lines. If the stream fails, a last line that is not whole is left out.

    Args:
        read: Reads the next bytes, at most as many as it is told.
        path: The file, for errors.
        limits: The longest line.
        size: Bytes that are read at once.
    """
    begun: list[bytes] = []  # the parts of a line that goes on
    length, number = 0, 1
    has_old_ends: bool | None = None
    while block := read(size):
        if has_old_ends is None:
            has_old_ends = b"\r" in block and b"\n" not in block  # as on a Macintosh of the last century
        if has_old_ends:
            block = block.replace(b"\r", b"\n")
        end = block.rfind(b"\n") + 1
        if length + len(block) > limits.line:
            lengths = [len(line) for line in block.split(b"\n")]
            lengths[0] += length
            for line, found in enumerate(lengths, start=number):
                if found > limits.line:
                    raise limits.exceeded(f"{path}:{line}", "line", "a line of")
        if end:
            whole = b"".join([*begun, block[:end]])
            yield whole
            number += whole.count(b"\n")
            begun, length = [], 0
        begun.append(block[end:])
        length += len(block) - end
    if length:
        yield b"".join(begun)


def unreadable(path: Path, error: BaseException, whole: str = "") -> DataError:
    """The error about a file that is cut off or damaged."""
    kind = COMPRESSIONS.get(path.suffix, "readable")
    return DataError(f"{path}: expected a whole {kind} file, but reading it failed ({error}){whole}; fetch it again")


def read_rows(path: str | Path, columns: int, limits: Limits = DEFAULT) -> Iterator[tuple[int, list[str]]]:
    """The rows of a tab-separated file with their numbers. Quotes mean nothing; the last field keeps any further tabs.

    Args:
        path: The file.
        columns: The number of fields that a row must have.
        limits: How much of the file is taken in.
    """
    for number, line in open_lines(path, limits):
        fields = line.split("\t", columns - 1)
        if len(fields) < columns:
            raise DataError(f"{path}:{number}: expected {columns} fields between tabs, found {len(fields)}: {line[:60]!r}")
        yield number, fields


def as_cell(text: str) -> str:
    """The text as a cell of a table that spreadsheets may open: control characters are escaped, and nothing is a formula."""
    return with_apostrophe(escaped(text))


def of_cell(text: str) -> str:
    """The text that `as_cell` was given."""
    return unescaped(without_apostrophe(text))


def with_apostrophe(text: str) -> str:
    """The text with an apostrophe before what a spreadsheet would take for a formula. Signed numbers stay as they are.

    >>> with_apostrophe("=1+1"), with_apostrophe("-1.5"), with_apostrophe("Rome")
    ("'=1+1", '-1.5', 'Rome')
    """
    return f"'{text}" if FORMULA.match(text) and not SIGNED_NUMBER.fullmatch(text) else text


def without_apostrophe(text: str) -> str:
    """The text that `with_apostrophe` was given."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


def _decoded(path: Path, block: bytes, first: int) -> Iterator[str]:
    """The text of each line of a block without its end. Only a line feed ends a line, since names may hold any other separator."""
    if first == 1:
        block = block.removeprefix(BOM_UTF8)
    end = wrong = len(block)
    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        wrong, end = error.start, block.rfind(b"\n", 0, error.start) + 1
        text = block[:end].decode()
    for line in text.removesuffix("\n").split("\n"):
        yield line.rstrip("\r")
    if wrong < len(block):
        problem = f"{path}:{first + text.count(chr(10))}: expected UTF-8, found the byte 0x{block[wrong]:02x}"
        raise DataError(f"{problem}; convert the file, for instance with iconv")
