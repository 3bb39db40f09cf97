"""The statements of RDF files, also of damaged ones.

A broken statement is counted and left out. A statement that breaks the rules but can be understood, such as one whose IRI has a space in it,
is counted and kept, and it is mended when the graph is written again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from pyoxigraph import Quad, RdfFormat, parse

from kgalign.errors import DataError
from kgalign.files import bounded, line_blocks
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.json_levels import Levels
from kgalign.readers.nesting import FlatText, parse_text
from kgalign.readers.prefixes import Prefixes
from kgalign.readers.rdf import FORMATS, format_of
from kgalign.readers.rdf_file import DamagedDocumentError, RdfFile, beginning, reason
from kgalign.readers.rdf_xml import read_mended_xml, read_xml
from kgalign.readers.sentences import END, LONG_LITERALS, find_end, without_graphs
from kgalign.readers.statements import Gatherer
from kgalign.seams import Statements

BLOCK = 1 << 18  # bytes that are read at once
NOT_CLOSED = SyntaxError("a literal is not closed")
LOST = "; lines {} to {} could not be read"
CUT_OFF = "; the file ends in the middle of a statement: is it cut off?"
MOST_SHOWN = 400  # bytes of a broken sentence
MOST_ERRORS = 1000  # errors in a row, after which the rest of the file is given up


def read_statements(paths: Sequence[Path], strict: bool = False, limits: Limits = DEFAULT) -> Statements:
    """The statements of all files as one graph. Blank nodes of two files are never the same.

    Args:
        paths: The files, compressed or not.
        strict: Refuse the first broken statement, instead of leaving it out and counting it in the record.
        limits: How much of each file is taken in.
    """
    gatherer, encodings = Gatherer(), dict[str, str]()
    for number, path in enumerate(paths, start=1):
        if not path.is_file():
            raise DataError(f"{path}: no such file")
        kind = RdfFormat.from_extension(format_of(path) or "")
        if kind is None:
            raise DataError(f"{path}: not recognised as RDF; expected a name that ends in {', '.join(FORMATS)}, compressed or not")
        file = RdfFile(path, kind, strict, gatherer.damage, encodings, limits)
        prefix, mark = f"f{number}." if len(paths) > 1 else "", gatherer.mark()
        try:
            gatherer.add(PARSERS[kind](file), prefix)
        except DamagedDocumentError:
            gatherer.undo(mark)
            gatherer.add(MENDING[kind](file), prefix)
    statements = gatherer.statements()
    if encodings:
        shown = "; ".join(f"{path}: {encoding}" for path, encoding in encodings.items())
        statements = replace(statements, record={**statements.record, "encoding": shown})
    if not statements.entities:
        found = f"; {gatherer.damage.first_broken[0]}" if gatherer.damage.broken else ""
        raise DataError(f"{paths[0]}: the graph is empty; expected at least one statement{found}")
    return statements


@dataclass(frozen=True)
class _Piece:
    """The result of parsing a line or a sentence.

    Attributes:
        quads: Its statements.
        parser: Its parser, which knows the prefixes that hold after it. None: it could not even begin.
        problem: The error in it.
        is_mended: The error could be overlooked, and all statements are there.
    """

    quads: list[Quad]
    parser: Any
    problem: SyntaxError | None = None
    is_mended: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether some of its statements are not there."""
        return self.problem is not None and not self.is_mended


def _read_lines(file: RdfFile) -> Iterator[Quad]:
    """The statements of a file with one statement on each line. A broken line does not harm the others."""
    number = 1
    for block in _blocks(file):
        try:
            yield from list(parse_text(block, file.kind))  # all or nothing, or a broken block would be read twice
        except (SyntaxError, MemoryError):
            for line_number, line in enumerate(block.split(b"\n"), start=number):
                is_cut = line_number == number + block.count(b"\n") and _is_cut(line, len(line))  # only a last line has no end
                yield from _checked(file, _read_piece(file, line, line_number), line, line_number, CUT_OFF if is_cut else "")
        number += block.count(b"\n")


def _read_turtle(file: RdfFile) -> Iterator[Quad]:
    """The statements of Turtle."""
    return _read_sentences(file, _blocks(file))


def _read_trig(file: RdfFile) -> Iterator[Quad]:
    """The statements of TriG as it is. Its first error ends them with `DamagedDocumentError`, and so do many triple terms."""
    with file.open() as stream:
        source: Any = FlatText(stream)
        try:
            for quad in parse(source, format=file.kind, lenient=not file.strict):
                file.check_iris(quad)
                yield quad
        except MemoryError:
            raise file.report_too_long(stream.lines) from None
        except SyntaxError as error:
            if file.strict and not source.may_be_deep:
                file.report(error.lineno, error)
            raise DamagedDocumentError from error
        if source.may_be_deep:
            raise DamagedDocumentError


def _read_mended_trig(file: RdfFile) -> Iterator[Quad]:
    """The statements of TriG that breaks the rules, or has many triple terms."""
    blocks: list[bytes] = []
    with file.open() as stream:
        blocks.extend(bounded(stream.read, file.path, file.limits))
    return _read_sentences(file, [without_graphs(b"".join(blocks))])


def _read_sentences(file: RdfFile, blocks: Iterable[bytes]) -> Iterator[Quad]:
    """The statements of some text of Turtle or TriG. A broken sentence does not harm the others.

    As long as there are no errors, many sentences are parsed at once. What is left of a block waits for the next ones, and a long sentence
    for as much text as there is of it already, so that the time grows with the file and not faster.
    """
    rest, prefixes = _Rest(b"", 1), Prefixes()
    waiting: list[bytes] = []
    for block in chain(blocks, (None,)):
        waiting.append(block or b"")
        if block is not None and sum(map(len, waiting)) < len(rest.text):
            continue
        rest = replace(rest, text=b"".join((rest.text, *waiting)))
        if len(rest.text) > file.limits.memory:
            raise file.limits.exceeded(f"{file.path}:{rest.line}", "memory", "a sentence to have")
        waiting.clear()
        try:
            text, end = _whole_sentences(rest.text, block is None)
            text = prefixes.of(text) + text
            parser = parse_text(text, file.kind)
            yield from list(file.expansion.counted(parser, text))
        except (SyntaxError, MemoryError):
            rest = yield from _read_one_by_one(file, rest, prefixes, block is None)
        else:
            rest = rest.after(end)
            prefixes.add(parser)


@dataclass(frozen=True)
class _Rest:
    """The text that is not parsed yet, and the number of its first line."""

    text: bytes
    line: int

    def after(self, end: int) -> _Rest:
        """What is left when the text up to there is parsed."""
        return _Rest(self.text[end:], self.line + self.text.count(b"\n", 0, end)) if end else self


def _whole_sentences(text: bytes, is_last: bool) -> tuple[bytes, int]:
    """All whole sentences of a text, and where they end."""
    end = 0
    if is_last:
        end = len(text)
    elif any(quotes in text for quotes in LONG_LITERALS):
        while (following := find_end(text, end)[0]) > 0:
            end = following
    else:  # then only a comment may have a line that ends in a dot and is not the end of a sentence
        end = max((found.end() for found in END.finditer(text)), default=0)
    return text[:end], end


def _read_one_by_one(file: RdfFile, rest: _Rest, prefixes: Prefixes, is_last: bool) -> Generator[Quad, None, _Rest]:
    """The statements of each whole sentence; returns what is left."""
    begin = 0
    text, number = rest.text, rest.line
    while begin < len(text):
        end, opened = find_end(text, begin)
        if end < 0 and opened < 0 and is_last:
            end = len(text)
        piece = _read_piece(file, text[begin:end], number, prefixes.of(text[begin:end])) if end >= 0 else None
        if piece is None or piece.is_lost:
            sound, opened = find_end(text, begin, is_broken=True)
            if opened >= 0 and len(text) - opened > file.limits.line:
                number += text.count(b"\n", begin, opened)
                raise file.limits.exceeded(f"{file.path}:{number}", "line", "a literal of")
            if sound < 0 and (opened >= 0 or piece is None) and not is_last:
                break
            if piece is None or (sound != end and max(sound, opened) >= 0):
                end = sound if sound >= 0 else len(text)
                last = number + text.count(b"\n", begin, end - 1)
                lost = LOST.format(number, last) + (CUT_OFF if is_last and _is_cut(text, end) else "")
                file.report(number, NOT_CLOSED, text[begin : begin + MOST_SHOWN].decode(errors="ignore"), lost)
                piece = None
        if piece is not None:
            yield from _checked(file, piece, text[begin:end], number, CUT_OFF if is_last and _is_cut(text, end) else "")
            if piece.parser is not None:
                prefixes.add(piece.parser)
        number += text.count(b"\n", begin, end)
        begin = end
    return _Rest(text[begin:], number)


def _is_cut(text: bytes, end: int) -> bool:
    """Whether what ends there is the last of the text, and no statement ends there."""
    return end == len(text) and not text[-MOST_SHOWN:].rstrip().endswith(b".")


def _read_piece(file: RdfFile, text: bytes, number: int, declared: bytes = b"") -> _Piece:
    """The statements of a line or a sentence, as far as it can be understood."""
    whole = declared + text
    try:
        parser = parse_text(whole, file.kind)
        return _Piece(list(file.expansion.counted(parser, whole)), parser)
    except SyntaxError as error:
        problem = error
    except MemoryError:
        raise file.report_too_long(number) from None
    parser, quads = None, []
    try:
        parser = parse_text(whole, file.kind, lenient=True)
        for quad in file.expansion.counted(parser, whole):
            quads.append(quad)
    except SyntaxError:
        return _Piece(quads, parser, problem)
    return _Piece(quads, parser, problem, is_mended=True)


def _checked(file: RdfFile, piece: _Piece, text: bytes, number: int, lost: str = "") -> list[Quad]:
    """The statements of a piece that begins on that line; its error is counted, with what is lost by it, or refused."""
    if piece.problem is not None:
        number += (piece.problem.lineno or 1) - 1
        if piece.is_mended:
            file.mend(number, beginning(text.decode()), reason(piece.problem))
        else:
            file.report(number, piece.problem, text.decode(), lost)
    return piece.quads


def _blocks(file: RdfFile) -> Iterator[bytes]:
    """The text of the file in blocks of whole lines. Of a damaged file, a last line that is not whole is left out."""
    with file.open() as stream:
        yield from line_blocks(stream.read, file.path, file.limits, BLOCK)


def _read_json(file: RdfFile) -> Iterator[Quad]:
    """The statements of JSON-LD. After an error the parser skips ahead to text that it understands."""
    first, errors = None, 0  # the first error since the last statement, and how many there were
    with file.open() as stream:
        source: Any = Levels(stream, file.path, file.limits)
        quads = parse(source, format=file.kind, lenient=True)  # otherwise it silently leaves out statements with a bad IRI
        while errors < MOST_ERRORS:
            try:
                quad = next(quads, None)
            except MemoryError:
                raise file.report_too_long(stream.lines) from None
            except SyntaxError as error:
                first, errors = first or error, errors + 1
                if file.strict:
                    file.report(error.lineno, error)
                continue
            if first is not None:
                end = f"lines {first.lineno} to {stream.lines}" if first.lineno else "what comes after it"
                file.report(first.lineno, first, lost="" if quad else f"; {end} could not be read")
                first, errors = None, 0
            if quad is None:
                return
            file.check_iris(quad)
            yield quad
        if first is not None:
            file.report(first.lineno, first, lost="; nothing after it could be read")


PARSERS = {
    RdfFormat.N_TRIPLES: _read_lines,
    RdfFormat.N_QUADS: _read_lines,
    RdfFormat.TURTLE: _read_turtle,
    RdfFormat.TRIG: _read_trig,
    RdfFormat.RDF_XML: read_xml,
    RdfFormat.JSON_LD: _read_json,
}
MENDING = {RdfFormat.TRIG: _read_mended_trig, RdfFormat.RDF_XML: read_mended_xml}
