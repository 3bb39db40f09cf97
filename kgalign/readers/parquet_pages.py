"""How much the pages of a Parquet file hold, by their own headers.

Arrow believes the footer: one that promises less than the pages hold lets it fill the memory, and asking Arrow for the part of the footer
about a damaged column aborts the process. So the footer and the headers are read here, which are structures of Thrift's compact protocol.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from typing import Any

VALUE = 8  # bytes of a number, also of one in a list
HEADER = 1 << 13  # bytes that nearly all headers of pages fit in; those with long statistics take more
LONGEST_HEADER = 1 << 24
TAIL = 8  # bytes at the end of a file: the length of the footer, and a mark
DEEPEST = 20  # structures of Thrift inside each other
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
INTEGERS = (4, 5, 6)
# Fields by their numbers in parquet.thrift.
ROW_GROUPS, CHUNKS, CHUNK = 4, 1, 3
NAMES, VALUES, SIZE, PACKED_SIZE, DATA_BEGINS, DICTIONARY_BEGINS = 3, 5, 6, 7, 9, 11
PAGE_SIZE, PACKED_PAGE_SIZE, PAGE_VALUES = 2, 3, 1
PAGE_KINDS = (5, 7, 8)  # of data, of a dictionary, and of data in the second version


class DamagedError(ValueError):
    """The footer cannot be read."""


def size_of(stream: Any, columns: Collection[str] | None, groups: int | None = None) -> int:
    """The bytes of the columns of a Parquet file when they are unpacked: what the footer says of each, or what its pages say, if it is more.

    Args:
        stream: The file.
        columns: The columns that are read. None: all.
        groups: How many groups of rows are read. None: all.
    """
    try:
        return sum(
            max(chunk.get(SIZE, 0), VALUE * chunk.get(VALUES, 0), _size_of_pages(stream, chunk))
            for group in _footer(stream)[ROW_GROUPS][:groups]
            for chunk in (each[CHUNK] for each in group[CHUNKS])
            if columns is None or chunk[NAMES][0].decode() in columns
        )
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, struct.error) as error:
        raise DamagedError("its footer is damaged") from error


def _footer(stream: Any) -> dict[int, Any]:
    """The metadata at the end of a file."""
    end = stream.size() - TAIL
    stream.seek(end)
    (length,) = struct.unpack("<I", stream.read(4))
    stream.seek(max(0, end - length))
    return _Thrift(stream.read(length)).struct()


def _size_of_pages(stream: Any, chunk: dict[int, Any]) -> int:
    """The bytes of the pages of a column when they are unpacked, by their headers, up to one that cannot be read."""
    begin, first = chunk[DATA_BEGINS], chunk.get(DICTIONARY_BEGINS, 0)
    begin = first if 0 < first < begin else begin
    pages = list(_pages(stream, begin, min(stream.size(), begin + chunk[PACKED_SIZE])))
    values = sum(page[kind].get(PAGE_VALUES, 0) for page in pages for kind in PAGE_KINDS if kind in page)
    return max(sum(page[PAGE_SIZE] for page in pages), VALUE * values)


def _pages(stream: Any, begin: int, end: int) -> Iterator[dict[int, Any]]:
    """The headers of pages."""
    while 0 <= begin < end:
        size = HEADER
        while True:
            stream.seek(begin)
            thrift = _Thrift(stream.read(min(size, end - begin)))
            try:
                page = thrift.struct()
                packed = page[PACKED_PAGE_SIZE]
                break
            except DamagedError:
                return
            except (LookupError, struct.error):
                size *= 8
                if size > min(LONGEST_HEADER, 8 * (end - begin)):
                    return
        if packed < 0 or page[PAGE_SIZE] < 0:
            return
        yield page
        begin += thrift.at + packed


class _Thrift:
    """Reads structures out of bytes. What ends too early is a `LookupError` or a `struct.error`."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self._level = 0

    def struct(self) -> dict[int, Any]:
        """The fields of a structure by their numbers."""
        self._level += 1
        if self._level > DEEPEST:
            raise DamagedError("its structures lie too deep in each other")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            fields[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind)
        self._level -= 1
        return fields

    def _value(self, kind: int) -> Any:
        if kind in INTEGERS:
            return self._integer()
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        if kind == BINARY:
            return self._bytes(self._natural())
        if kind == DOUBLE:
            return self._bytes(8)
        if kind in (LIST, SET):
            head = self._byte()
            return [self._value(head & 15) for _ in range(head >> 4 if head < 0xF0 else self._natural())]
        if kind == STRUCT:
            return self.struct()
        raise DamagedError(f"it has a structure of the unknown kind {kind}")

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _bytes(self, size: int) -> bytes:
        self.at += size
        if self.at > len(self.data):
            raise IndexError
        return self.data[self.at - size : self.at]

    def _natural(self) -> int:
        found = shift = 0
        while (byte := self._byte()) & 128:
            found |= (byte & 127) << shift
            shift += 7
        return found | byte << shift

    def _integer(self) -> int:
        found = self._natural()
        return (found >> 1) ^ -(found & 1)
