"""RDF files: N-Triples, N-Quads, Turtle, TriG, RDF/XML and JSON-LD, plain or compressed.

What is broken is counted and left out. What breaks the rules but can be understood, an IRI with a blank in it for instance, is counted and
kept; where it is written again, it is mended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode, Quad, RdfFormat, parse

from kgalign.errors import DataError
from kgalign.files import COMPRESSIONS, UNREADABLE, open_bytes
from kgalign.readers.places import BYTE_ORDER_MARK, FORMATS, format_of, opening
from kgalign.readers.statements import Damage, Gatherer, Statements

BLOCK = 1 << 18
SENTENCE_END = re.compile(rb"\.[ \t\r]*\n")
MOST_JOINED = 100  # sentences that may be one after all: a text in it may have lines that end in dots
MOST_BLOCKS = 4  # that are put together before they are taken apart
CUT_SHORT = "Unexpected end of file"  # the parser's word for what may go on
MEND = "mend it, or leave out --strict to read on"
MOST_ERRORS = 1000  # in a row; a parser that finds nothing but errors has lost its way
PROPER_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[^\x00-\x20<>\"{}|^`\\%]|%[0-9A-Fa-f]{2})*")


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
        file = _File(path, kind, strict, gatherer.damage)
        gatherer.add(READERS.get(kind, _read_document)(file), f"f{number}." if len(paths) > 1 else "")
    statements = gatherer.statements()
    if not statements.entities:
        found = f"; {gatherer.damage.first[0]}" if gatherer.damage.count else ""
        raise DataError(f"{paths[0]}: the graph is empty; expected at least one statement{found}")
    return statements


@dataclass(frozen=True)
class _File:
    """A file that is being read, and what is to be done where it is damaged."""

    path: Path
    kind: RdfFormat
    strict: bool
    damage: Damage

    def report(self, number: int | None, error: SyntaxError, text: bytes | None = None, lost: str = "") -> None:
        """Counts what is broken, or refuses it."""
        found = f"but {_reason(error)}" if text is None else f"found {_beginning(text)!r} ({_reason(error)})"
        problem = f"{self._place(number)}: expected {self.kind.name}, {found}"
        if self.strict:
            raise DataError(f"{problem}; {MEND}") from None
        self.damage.add(f"{problem}{lost}")

    def report_cut(self, error: BaseException) -> None:
        problem = (
            f"{self.path}: expected a whole {COMPRESSIONS.get(self.path.suffix, 'readable')} file, but reading it failed ({error})"
        )
        if self.strict:
            raise DataError(f"{problem}; fetch it again, or leave out --strict to keep what came before") from None
        self.damage.add(f"{problem}; what came before it is kept")

    def mend(self, number: int | None, text: str, reason: str) -> None:
        """Counts what is understood though it is not right, or refuses it."""
        if self.strict:
            raise DataError(f"{self._place(number)}: expected {self.kind.name}, found {text!r} ({reason}); {MEND}") from None
        self.damage.mend(f"{self._place(number)}: read {text!r} though it is not {self.kind.name} ({reason})")

    def _place(self, number: int | None) -> str:
        return f"{self.path}:{number}" if number else str(self.path)


@dataclass(frozen=True)
class _Piece:
    """What came of a line or of a sentence."""

    quads: list[Quad]
    known: bytes  # the prefixes after it
    parts: int = 1  # that it is made up of
    problem: SyntaxError | None = None
    is_mended: bool = False

    @property
    def may_go_on(self) -> bool:
        return self.problem is not None and not self.is_mended and CUT_SHORT in str(self.problem.msg)


def _read_lines(file: _File) -> Iterator[Quad]:
    """The statements of a file in which each has a line of its own: a broken line costs no other one."""
    number = 1
    for block in _blocks(file):
        try:
            yield from list(parse(block, format=file.kind))  # all or nothing: a block that is taken apart must not come twice
        except SyntaxError:
            for line_number, line in enumerate(block.split(b"\n"), start=number):
                yield from _told(file, _read_piece(file, [line]), line, line_number)
        number += block.count(b"\n")


def _read_sentences(file: _File) -> Iterator[Quad]:
    """The statements of Turtle: a broken sentence costs no other one. A sentence ends with a line that ends in a dot.

    Many of them are read at once as long as they are whole. A text may hold such lines too: then the parts are put together again.
    """
    known, rest, number, blocks = b"", b"", 1, 0  # prefixes so far; what is not read yet, the line it begins with, and its blocks
    for block in chain(_blocks(file), (None,)):
        rest, blocks = rest + (block or b""), blocks + 1
        ends = [0, *(found.end() for found in SENTENCE_END.finditer(rest))]
        if block is None:
            ends.append(len(rest))
        parser = parse(known + rest[: ends[-1]], format=file.kind)
        try:
            yield from list(parser)
        except SyntaxError as error:
            if CUT_SHORT in str(error.msg) and blocks < MOST_BLOCKS and block is not None:
                continue
            sentences, done, line_number = [rest[begin:end] for begin, end in pairwise(ends)], 0, number
            while done < len(sentences):
                piece = _read_piece(file, sentences[done : done + MOST_JOINED], known)
                if piece.may_go_on and len(sentences) < done + MOST_JOINED and block is not None:
                    break
                yield from _told(file, piece, sentences[done], line_number)
                line_number += rest.count(b"\n", ends[done], ends[done + piece.parts])
                known, done = piece.known, done + piece.parts
        else:
            known, done = _prefixes(parser), len(ends) - 1
        number += rest.count(b"\n", 0, ends[done])
        rest, blocks = rest[ends[done] :], 0


def _read_piece(file: _File, parts: Sequence[bytes], known: bytes = b"") -> _Piece:
    """What the first part says, or as many parts as it takes until it has an end; else the first as far as it can be understood."""
    problem = SyntaxError()
    text = known
    for count, part in enumerate(parts, start=1):
        text += part
        parser = parse(text, format=file.kind)
        try:
            return _Piece(list(parser), _prefixes(parser), count)
        except SyntaxError as error:
            problem = problem if problem.msg else error
            if CUT_SHORT not in str(error.msg):
                break
    parser, quads = parse(known + parts[0], format=file.kind, lenient=True), []
    try:
        for quad in parser:
            quads.append(quad)
    except SyntaxError:
        return _Piece(quads, known, problem=problem)
    return _Piece(quads, _prefixes(parser), problem=problem, is_mended=True)


def _told(file: _File, piece: _Piece, text: bytes, number: int) -> list[Quad]:
    """The statements of a piece that begins with that line; what is wrong with it has been counted, or is refused."""
    if piece.problem is not None:
        number += (piece.problem.lineno or 1) - 1
        if piece.is_mended:
            file.mend(number, _beginning(text), _reason(piece.problem))
        else:
            file.report(number, piece.problem, text)
    return piece.quads


def _prefixes(parser: Any) -> bytes:
    """The prefixes and the base that hold where the parser is, all on one line."""
    base = f"@base <{parser.base_iri}> . " if parser.base_iri else ""
    return (base + "".join(f"@prefix {name}: <{iri}> . " for name, iri in parser.prefixes.items())).encode()


def _blocks(file: _File) -> Iterator[bytes]:
    """The file in pieces of whole lines."""
    rest = b""
    try:
        with open_bytes(file.path) as stream:
            if (first := stream.read(len(BYTE_ORDER_MARK))) != BYTE_ORDER_MARK:
                rest = first
            while block := stream.read(BLOCK):
                whole, end, begun = (rest + block).rpartition(b"\n")
                rest = begun
                if end:
                    yield whole + end
    except UNREADABLE as error:
        file.report_cut(error)
    if rest:
        yield rest


def _read_document(file: _File) -> Iterator[Quad]:
    """The statements of a file that must be read as a whole. After an error the parser goes on where it finds its way again."""
    first, errors = None, 0  # since the last statement
    try:
        with open_bytes(file.path) as stream:
            counted: Any = _Stream(stream)
            # Of JSON-LD, a parser that is not lenient leaves out without a word what has a bad IRI.
            quads = parse(counted, format=file.kind, lenient=not file.strict or file.kind == RdfFormat.JSON_LD)
            while errors < MOST_ERRORS:
                try:
                    quad = next(quads, None)
                except SyntaxError as error:
                    first, errors = first or error, errors + 1
                    if file.strict:
                        file.report(error.lineno, error)
                    continue
                if first is not None:
                    end = f"lines {first.lineno} to {counted.lines}" if first.lineno else "what comes after it"
                    file.report(first.lineno, first, lost="" if quad else f"; {end} could not be read")
                    first, errors = None, 0
                if quad is None:
                    return
                _check_iris(file, quad)
                yield quad
            if first is not None:
                file.report(first.lineno, first, lost="; nothing after it could be read")
    except UNREADABLE as error:
        file.report_cut(error)


def _check_iris(file: _File, quad: Quad) -> None:
    """Counts a statement with an IRI that is none."""
    for node in (quad.subject, quad.predicate, quad.object):
        if isinstance(node, NamedNode) and not PROPER_IRI.fullmatch(node.value):
            return file.mend(None, node.value[:80], "not an IRI")


def _reason(error: SyntaxError) -> str:
    reason = re.sub(r"^Parser error .*?: ", "", " ".join(str(error.msg).split()))
    if "LoadDocumentCallback" in reason:
        return "its @context lies elsewhere and nothing is fetched: write it into the file"
    return reason


def _beginning(text: bytes) -> str:
    return text.decode(errors="replace").strip()[:80]


def _check_encoding(path: Path) -> None:
    if opening(path)[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError(f"{path}:1: expected UTF-8, found UTF-16; convert the file, for instance with iconv")


class _Stream:
    """A stream without the mark at its beginning, which counts its lines."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._first = bytes(stream.read(len(BYTE_ORDER_MARK))).removeprefix(BYTE_ORDER_MARK)
        self.lines = 1

    def read(self, size: int = -1) -> bytes:
        taken, self._first = self._first or self._stream.read(size), b""
        self.lines += taken.count(b"\n")
        return taken


READERS = {RdfFormat.N_TRIPLES: _read_lines, RdfFormat.N_QUADS: _read_lines, RdfFormat.TURTLE: _read_sentences}
