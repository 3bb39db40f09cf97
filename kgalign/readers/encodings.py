"""Text in any encoding as UTF-8: with a byte order mark, as XML declares it, or in bytes that are no UTF-8."""

from __future__ import annotations

import codecs
import re
from io import BytesIO
from pathlib import Path
from typing import Any

from kgalign.errors import DataError

BLOCK = 1 << 18  # bytes that are decoded at once
MARKS = (  # UTF-32 before UTF-16, since its mark begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
UNMARKED = ((b"<\0?\0", "utf-16-le"), (b"\0<\0?", "utf-16-be"))  # the first bytes of XML without a mark
DECLARED = re.compile(rb"\s*<\?xml[^>]*?\sencoding\s*=\s*[\"']([^\"']*)[\"']")
DECLARATION = re.compile(r"\A(\s*<\?xml[^>]*?)\sencoding\s*=\s*[\"'][^\"']*[\"']")
PLAIN_TEXT = re.compile(r"[A-Za-z0-9._:-]+")
NO_TEXT = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined", "mbcs", "oem"})  # codecs of Python
READ_AS = {"iso8859-1": "cp1252", "ascii": "utf-8"}  # each reads what the declared one cannot
SHOWN = {"cp1252": "windows-1252", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "utf-32-le": "UTF-32", "utf-32-be": "UTF-32"}
FALLBACK = "kgalign.windows-1252"
SHOWS_ZEROS = 1000  # bytes in which UTF-16 without a mark shows its zeros


def find_encoding(first: bytes, is_xml: bool, path: Path) -> tuple[str, int]:
    """The encoding that the first bytes show, and the length of their byte order mark.

    Args:
        first: The first bytes of a file.
        is_xml: An XML declaration counts too.
        path: The file, for the error about an encoding that is not known.
    """
    for mark, encoding in MARKS:
        if first.startswith(mark):
            return encoding, len(mark)
    if not is_xml:
        return _without_mark(first), 0
    for begin, encoding in UNMARKED:
        if first.startswith(begin):
            return encoding, 0
    declared = DECLARED.match(first)
    return (_known(declared[1].decode("latin-1"), path) if declared else "utf-8"), 0


def as_utf8(first: bytes) -> bytes:
    """The first bytes of a file as UTF-8, where a byte order mark shows another encoding."""
    encoding, length = find_encoding(first, False, Path())
    return first[length:] if encoding == "utf-8" else first[length:].decode(encoding, "ignore").encode()


def decode(data: bytes, path: Path, strict: bool = False) -> tuple[str, str]:
    """The text of a whole file, and its encoding in words, "" for UTF-8.

    Args:
        data: The bytes of the file.
        path: The file, for errors.
        strict: Refuse bytes that are not of the encoding that the first bytes show, instead of reading them as windows-1252.
    """
    stream = TextStream(BytesIO(data), path, strict=strict)
    text = b"".join(iter(stream.read, b"")).decode("utf-8")
    mixed = f"UTF-8, and {SHOWN['cp1252']} where it is not"
    if stream.encoding == mixed and text == data.decode("latin-1").translate(LATIN_AS_WINDOWS):
        return text, SHOWN["cp1252"]
    return text, stream.encoding


class TextStream:
    """A stream of UTF-8 out of one in any encoding.

    Attributes:
        lines: The number of lines so far, at least 1.
        size: The bytes of UTF-8 so far.
        error: The error that ended the stream. It is kept, since a parser that reads the stream may hide it.
    """

    def __init__(self, stream: Any, path: Path, is_xml: bool = False, strict: bool = False) -> None:
        """Finds the encoding.

        Args:
            stream: The bytes.
            path: The file, for errors.
            is_xml: An XML declaration names the encoding. It is left out of the UTF-8.
            strict: Refuse bytes that are not of that encoding, instead of reading them as windows-1252.
        """
        self.lines, self.size = 1, 0
        self.error: DataError | None = None
        self._stream, self._path, self._strict = stream, path, strict
        first = bytes(stream.read(BLOCK))
        self._encoding, length = find_encoding(first, is_xml, path)
        self._decoder = codecs.getincrementaldecoder(self._encoding)("strict")
        self._is_mixed, self._is_done, self._begin = False, not first, 0
        self._ready = b""
        if first:
            text = self._decoded(first[length:])
            self._ready = (DECLARATION.sub(r"\1", text, count=1) if is_xml else text).encode("utf-8", "replace")

    @property
    def encoding(self) -> str:
        """The encoding in words, "" for UTF-8."""
        name = SHOWN.get(self._encoding, self._encoding.upper())
        if self._is_mixed:
            return f"{name}, and windows-1252 where it is not"
        return "" if name == "UTF-8" else name

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size` of them; none at the end."""
        while self._begin >= len(self._ready) and not self._is_done:
            block = bytes(self._stream.read(BLOCK))
            self._is_done, self._begin = not block, 0
            self._ready = self._decoded(block).encode("utf-8", "replace")
        end = len(self._ready) if size < 0 else self._begin + size
        taken = self._ready[self._begin : end]
        self._begin = end
        self.lines += taken.count(b"\n")
        self.size += len(taken)
        return taken

    def _decoded(self, block: bytes) -> str:
        try:
            return self._decoder.decode(block, not block)
        except UnicodeDecodeError as error:
            if self._strict:
                number = self.lines + error.object.count(b"\n", 0, error.start)
                name = SHOWN.get(self._encoding, self._encoding.upper())
                self.error = DataError(
                    f"{self._path}:{number}: expected {name}, found the byte 0x{error.object[error.start]:02x}; convert the file, "
                    "for instance with iconv, or leave out `strict` to read on"
                )
                raise self.error from None
            self._is_mixed = True
            self._decoder.errors = (
                "replace" if self._encoding.startswith("utf-16") or self._encoding.startswith("utf-32") else FALLBACK
            )
            return self._decoder.decode(block, not block)


def _without_mark(first: bytes) -> str:
    """UTF-16 where every second byte is 0, as in English text of that encoding, and else UTF-8."""
    start = first[: min(SHOWS_ZEROS, len(first)) // 2 * 2]
    for zeros, encoding in ((start[1::2], "utf-16-le"), (start[::2], "utf-16-be")):
        others = start.count(0) - zeros.count(0)
        if zeros and zeros.count(0) > len(zeros) / 2 and not others:
            return encoding
    return "utf-8"


def _known(name: str, path: Path) -> str:
    """The codec of a declared encoding."""
    try:
        if not PLAIN_TEXT.fullmatch(name):
            raise LookupError
        "a".encode(name)  # refuses codecs that give no text
        found = codecs.lookup(name).name
    except (LookupError, UnicodeError):
        found = "undefined"
    if found in NO_TEXT:
        raise DataError(f"{path}:1: expected the name of an encoding, found {name[:40]!r}; convert the file to UTF-8")
    if found.startswith(("utf-16", "utf-32", "utf-7")):
        return "utf-8"  # in such an encoding, the declaration could not have been read byte by byte
    return READ_AS.get(found, found)


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    """The bytes that cannot be decoded as windows-1252, or as ISO-8859-1 where it leaves a byte undefined."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    found = error.object[error.start : error.end]
    return "".join(_character(byte) for byte in found), error.end


def _character(byte: int) -> str:
    try:
        return bytes((byte,)).decode("cp1252")
    except UnicodeDecodeError:
        return chr(byte)


LATIN_AS_WINDOWS = {byte: _character(byte) for byte in range(0x80, 0xA0)}
codecs.register_error(FALLBACK, _as_windows_1252)
