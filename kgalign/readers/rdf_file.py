"""An RDF file that is being read, and the count of its errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from pyoxigraph import NamedNode, Quad, RdfFormat

from kgalign.errors import DataError
from kgalign.files import COMPRESSIONS, UNREADABLE, open_bytes
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.encodings import TextStream
from kgalign.readers.expansion import Expansion
from kgalign.readers.statements import Damage

MEND = "mend it, or leave out `strict` to read on"
PROPER_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[^\x00-\x20<>\"{}|^`\\%]++|%[0-9A-Fa-f]{2})*+")


class DamagedDocumentError(Exception):
    """A document that is read as a stream breaks the rules: it is to be read again, mended, and what was read of it to be forgotten."""


@dataclass(frozen=True)
class RdfFile:
    """A file that is being read, and the count of its errors.

    Attributes:
        path: The file.
        kind: Its format.
        strict: Refuse the first thing that is wrong.
        damage: The errors so far, of all files.
        encodings: Encodings other than UTF-8 by path, of all files.
        limits: How much of the file is taken in.
        expansion: How much its prefixes and bases add to it.
    """

    path: Path
    kind: RdfFormat
    strict: bool
    damage: Damage
    encodings: dict[str, str] = field(default_factory=dict)
    limits: Limits = DEFAULT
    expansion: Expansion = field(default_factory=Expansion)

    @contextmanager
    def open(self) -> Iterator[TextStream]:
        """The text of the file in UTF-8. A file that ends too early is counted, or refused."""
        with ExitStack() as stack:
            is_xml = self.kind == RdfFormat.RDF_XML
            try:
                text = TextStream(stack.enter_context(open_bytes(self.path, self.limits)), self.path, is_xml, self.strict)
            except UNREADABLE as error:
                self.report_cut(error, 0)
                text = TextStream(BytesIO(), self.path)
            self.expansion.begin(self.path, self.limits, lambda: text.size)
            try:
                yield text
            except UNREADABLE as error:
                self.report_cut(error, text.lines - 1)
            finally:
                if text.error is not None:
                    raise text.error
                if text.encoding:
                    self.encodings[str(self.path)] = text.encoding

    def report(self, number: int | None, error: SyntaxError, text: str | None = None, lost: str = "") -> None:
        """Counts a broken statement, or refuses it."""
        found = f"but {reason(error)}" if text is None else f"found {beginning(text)!r} ({reason(error)})"
        problem = f"{self._place(number)}: expected {self.kind.name}, {found}"
        if self.strict:
            raise DataError(f"{problem}; {MEND}") from None
        self.damage.add(f"{problem}{lost}")

    def report_too_long(self, number: int | None) -> DataError:
        """The error about a literal that the parser cannot hold, whatever the limits are."""
        most = 8 if self.kind == RdfFormat.JSON_LD else 16
        return DataError(f"{self._place(number)}: expected literals of less than {most} MiB, found a longer one; shorten it")

    def report_cut(self, error: BaseException, lines: int) -> None:
        """Counts a file that ends too early, after that many whole lines, or refuses it."""
        problem = (
            f"{self.path}: expected a whole {COMPRESSIONS.get(self.path.suffix, 'readable')} file, but reading it failed ({error})"
        )
        if self.strict:
            raise DataError(f"{problem}; fetch it again, or leave out `strict` to keep what came before") from None
        self.damage.add(f"{problem}; what came before it is kept: {lines:,} whole lines")

    def mend(self, number: int | None, text: str, reason: str) -> None:
        """Counts a statement that breaks the rules but can be understood, or refuses it."""
        if self.strict:
            raise DataError(f"{self._place(number)}: expected {self.kind.name}, found {text!r} ({reason}); {MEND}") from None
        self.damage.mend(f"{self._place(number)}: read {text!r} though it is not {self.kind.name} ({reason})")

    def check_iris(self, quad: Quad) -> None:
        """Counts a statement with a bad IRI, or refuses it, and refuses a document whose IRIs have too much of prefixes and bases."""
        self.expansion.count(quad)
        for node in (quad.subject, quad.predicate, quad.object):
            if isinstance(node, NamedNode) and not PROPER_IRI.fullmatch(node.value):
                return self.mend(None, node.value[:80], "not an IRI")

    def _place(self, number: int | None) -> str:
        return f"{self.path}:{number}" if number else str(self.path)


def reason(error: SyntaxError) -> str:
    """The message of the parser in one line, without the place."""
    found = re.sub(r"^Parser error .*?: ", "", " ".join(str(error.msg).split()))
    if "LoadDocumentCallback" in found:
        return "its @context lies elsewhere and nothing is fetched: write it into the file"
    return found


def beginning(text: str) -> str:
    """The first characters, to show in a message."""
    return text.strip()[:80]
