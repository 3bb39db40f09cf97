"""Compressed files as streams. Of a damaged file, everything that comes before the damage can be read."""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable, Generator, Iterator
from itertools import chain, islice, repeat
from pathlib import Path
from types import TracebackType

from kgalign.arrow_files import open_arrow
from kgalign.limits import Limits

CHUNK = 1 << 14  # compressed bytes that are unpacked at once
PIECE = 1 << 16  # bytes that come out at once at most, so that a small file never fills the memory
GZIP, GZIP_BEGINS = 31, b"\x1f"  # of zlib: a window of 32 KiB, with the header of gzip; the first byte of that
DAMAGED = (OSError, EOFError, zlib.error)
TOO_SHORT = "it ends before its end marker"
Pieces = Generator[bytes, None, None]
Unpacker = Callable[[Path, Iterator[int]], Pieces]  # the sizes say how many bytes each piece may have


class Unpacked:
    """A stream of the bytes of a compressed file. Where the file is damaged, all bytes before come first, and then the error."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path, self._limits = path, limits
        self._pieces = _salvaged(UNPACKERS[path.suffix], path)
        self._ready: list[bytes] = []
        self._length = self._total = 0
        self._error: BaseException | None = None
        self._is_done = False

    def __enter__(self) -> Unpacked:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._pieces.close()

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size` of them; none at the end. Without a size, all bytes, or the error."""
        while not self._is_done and (size < 0 or self._length < size):
            self._fill()
        if self._error is not None and (size < 0 or not self._length):
            raise self._error
        found = b"".join(self._ready)
        taken = found if size < 0 else found[:size]
        self._ready = [found[len(taken) :]] if len(taken) < len(found) else []
        self._length -= len(taken)
        return taken

    def _fill(self) -> None:
        try:
            piece = next(self._pieces)
        except StopIteration:
            self._is_done = True
            return
        except DAMAGED as error:
            self._error, self._is_done = error, True
            return
        self._ready.append(piece)
        self._length += len(piece)
        self._total += len(piece)
        if self._total > self._limits.unpacked:
            raise self._limits.exceeded(self._path, "unpacked", "a file that unpacks to")


def _gunzip(path: Path, sizes: Iterator[int]) -> Pieces:
    """The pieces of all members of a gzip file. Zeros after them are padding, and anything else is damage."""
    with path.open("rb") as file:
        data = file.read(CHUNK)
        while data:
            member = zlib.decompressobj(GZIP)
            while not member.eof:
                piece = member.decompress(data, next(sizes))
                yield piece
                data = member.unconsumed_tail
                if not data and not piece and not member.eof and not (data := file.read(CHUNK)):
                    raise EOFError(TOO_SHORT)
            data = member.unused_data
            while not (data := data.lstrip(b"\0")) and (more := file.read(CHUNK)):
                data = more
            if data and not data.startswith(GZIP_BEGINS):
                raise OSError("other bytes follow its end")


def _bunzip(path: Path, sizes: Iterator[int]) -> Pieces:
    """The pieces of all streams of a bzip2 file."""
    with path.open("rb") as file:
        data = file.read(CHUNK)
        while data:
            stream = bz2.BZ2Decompressor()
            while not stream.eof:
                if stream.needs_input and not data and not (data := file.read(CHUNK)):
                    raise EOFError(TOO_SHORT)
                yield stream.decompress(data, next(sizes))
                data = b""
            data = stream.unused_data or file.read(CHUNK)


def _unzstd(path: Path, sizes: Iterator[int]) -> Pieces:
    """The pieces of all frames of a Zstandard file."""
    import pyarrow as pa  # slow to import, and other files are read without it

    with open_arrow(path) as file, pa.input_stream(file, compression="zstd") as stream:
        while piece := stream.read(next(sizes)):
            yield bytes(piece)


def _salvaged(unpack: Unpacker, path: Path) -> Pieces:
    """The pieces. What a piece holds before the damage comes out of a second pass, byte by byte, and then the error."""
    count = 0
    try:
        for piece in unpack(path, repeat(PIECE)):
            count += 1
            yield piece
    except EOFError:  # every byte has come out already
        raise
    except DAMAGED:
        yield from islice(unpack(path, chain(repeat(PIECE, count), repeat(1))), count, None)


UNPACKERS: dict[str, Unpacker] = {".gz": _gunzip, ".bz2": _bunzip, ".zst": _unzstd}
