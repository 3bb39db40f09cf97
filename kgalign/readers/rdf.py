"""RDF files: N-Triples, N-Quads, Turtle, TriG, RDF/XML and JSON-LD, plain or compressed; what is broken is counted and left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyoxigraph import Quad, RdfFormat, parse

from kgalign.errors import DataError
from kgalign.files import COMPRESSIONS, UNREADABLE, open_bytes
from kgalign.readers.places import BYTE_ORDER_MARK, FORMATS, format_of, opening
from kgalign.readers.statements import Damage, Gatherer, Statements

BY_LINE = (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS)
BLOCK = 1 << 18
MOST_ERRORS = 1000  # in a row; a parser that finds nothing but errors has lost its way


def read_statements(paths: Sequence[Path], strict: bool = False) -> Statements:
    """All that the files say, as one graph; blank nodes of two files are never the same.

    strict      the first broken line is refused instead of being left out
    """
    gatherer = Gatherer()
    for number, path in enumerate(paths, start=1):
        if not path.is_file():
            raise DataError(f"{path}: no such file")
        kind = RdfFormat.from_extension(format_of(path) or "")
        if kind is None:
            raise DataError(f"{path}: not known to be RDF; expected a name that ends in {', '.join(FORMATS)}, compressed or not")
        _check_encoding(path)
        read = _read_lines if kind in BY_LINE else _read_document
        gatherer.add(read(path, kind, strict, gatherer.damage), f"f{number}." if len(paths) > 1 else "")
    statements = gatherer.statements()
    if not statements.entities:
        found = f"; {gatherer.damage.first[0]}" if gatherer.damage.count else ""
        raise DataError(f"{paths[0]}: the graph is empty; expected at least one statement{found}")
    return statements


def _read_lines(path: Path, kind: RdfFormat, strict: bool, damage: Damage) -> Iterator[Quad]:
    """The statements of a file in which each has a line of its own: a broken line costs no other one."""
    number = 0
    for block in _blocks(path, strict, damage):
        try:
            yield from list(parse(block, format=kind))  # all or nothing: a block that is taken apart must not come twice
        except SyntaxError:
            for offset, line in enumerate(block.split(b"\n"), start=1):
                try:
                    yield from list(parse(line, format=kind, lenient=not strict))
                except SyntaxError as error:
                    _report(path, number + offset, kind, error, strict, damage, line)
        number += block.count(b"\n")


def _blocks(path: Path, strict: bool, damage: Damage) -> Iterator[bytes]:
    """The file in pieces of whole lines."""
    rest = b""
    try:
        with open_bytes(path) as stream:
            if (first := stream.read(len(BYTE_ORDER_MARK))) != BYTE_ORDER_MARK:
                rest = first
            while block := stream.read(BLOCK):
                whole, end, begun = (rest + block).rpartition(b"\n")
                rest = begun
                if end:
                    yield whole + end
    except UNREADABLE as error:
        _report_cut(path, error, strict, damage)
    if rest:
        yield rest


def _read_document(path: Path, kind: RdfFormat, strict: bool, damage: Damage) -> Iterator[Quad]:
    """The statements of a file that must be read as a whole. After an error the parser goes on where it finds its way again."""
    errors = 0
    try:
        with open_bytes(path) as stream:
            quads = parse(_without_mark(stream), format=kind, lenient=not strict)
            while errors < MOST_ERRORS:
                try:
                    quad = next(quads)
                except StopIteration:
                    return
                except SyntaxError as error:
                    errors += 1
                    _report(path, error.lineno, kind, error, strict, damage)
                else:
                    errors = 0
                    yield quad
    except UNREADABLE as error:
        _report_cut(path, error, strict, damage)


def _report(
    path: Path, number: int | None, kind: RdfFormat, error: SyntaxError, strict: bool, damage: Damage, line: bytes | None = None
) -> None:
    """Counts what is broken, or refuses it."""
    reason = re.sub(r"^Parser error .*?: ", "", " ".join(str(error.msg).split()))
    if "LoadDocumentCallback" in reason:
        reason = "its @context lies elsewhere and nothing is fetched: write it into the file"
    found = f"but {reason}" if line is None else f"found {line.decode(errors='replace').strip()[:80]!r} ({reason})"
    problem = f"{path}{f':{number}' if number else ''}: expected {kind.name}, {found}"
    if strict:
        raise DataError(f"{problem}; mend it, or leave out --strict to read on without it") from None
    damage.add(problem)


def _report_cut(path: Path, error: BaseException, strict: bool, damage: Damage) -> None:
    problem = f"{path}: expected a whole {COMPRESSIONS.get(path.suffix, 'readable')} file, but reading it failed ({error})"
    if strict:
        raise DataError(f"{problem}; fetch it again, or leave out --strict to keep what came before") from None
    damage.add(f"{problem}; what came before it is kept")


def _check_encoding(path: Path) -> None:
    if opening(path)[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError(f"{path}:1: expected UTF-8, found UTF-16; convert the file, for instance with iconv")


class _Remainder:
    """A stream whose first bytes have been looked at already."""

    def __init__(self, looked_at: bytes, stream: Any) -> None:
        self._looked_at, self._stream = looked_at, stream

    def read(self, size: int = -1) -> bytes:
        if self._looked_at:
            taken, self._looked_at = self._looked_at, b""
            return taken
        return self._stream.read(size)


def _without_mark(stream: Any) -> Any:
    return _Remainder(bytes(stream.read(len(BYTE_ORDER_MARK))).removeprefix(BYTE_ORDER_MARK), stream)
