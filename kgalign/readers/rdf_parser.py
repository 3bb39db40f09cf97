"""The statements of RDF files, also of damaged ones.

A broken statement is counted and left out. A statement that breaks the rules but can be understood, such as one whose IRI has a space in it,
is counted and kept, and it is mended when the graph is written again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from pyoxigraph import Quad, RdfFormat, parse

from kgalign.errors import DataError
from kgalign.readers.rdf import FORMATS, format_of
from kgalign.readers.rdf_file import RdfFile, beginning, reason
from kgalign.readers.rdf_xml import DamagedXmlError, read_mended_xml, read_xml
from kgalign.readers.statements import Gatherer
from kgalign.seams import Statements

BLOCK = 1 << 18  # bytes that are read at once
SENTENCE_END = re.compile(rb"\.[ \t\r]*\n")
MOST_JOINED = 100  # pieces that are joined at most to get a whole sentence: a literal may have lines that end in dots
MOST_BLOCKS = 4  # blocks that are joined at most before their sentences are parsed one by one
CUT_SHORT = "Unexpected end of file"  # in the parser's message, where more text may complete the sentence
MOST_ERRORS = 1000  # errors in a row, after which the rest of the file is given up


def read_statements(paths: Sequence[Path], strict: bool = False) -> Statements:
    """The statements of all files as one graph. Blank nodes of two files are never the same.

    Args:
        paths: The files, compressed or not.
        strict: Refuse the first broken statement, instead of leaving it out and counting it in the record.
    """
    gatherer, encodings = Gatherer(), dict[str, str]()
    for number, path in enumerate(paths, start=1):
        if not path.is_file():
            raise DataError(f"{path}: no such file")
        kind = RdfFormat.from_extension(format_of(path) or "")
        if kind is None:
            raise DataError(f"{path}: not recognised as RDF; expected a name that ends in {', '.join(FORMATS)}, compressed or not")
        file = RdfFile(path, kind, strict, gatherer.damage, encodings)
        prefix, mark = f"f{number}." if len(paths) > 1 else "", gatherer.mark()
        try:
            gatherer.add(PARSERS.get(kind, _read_document)(file), prefix)
        except DamagedXmlError:
            gatherer.undo(mark)
            gatherer.add(read_mended_xml(file), prefix)
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
        prefixes: The prefixes that hold after it.
        parts: The number of parts that make up the sentence.
        problem: The error in it.
        is_mended: The error could be overlooked, and all statements are there.
    """

    quads: list[Quad]
    prefixes: bytes
    parts: int = 1
    problem: SyntaxError | None = None
    is_mended: bool = False

    @property
    def may_go_on(self) -> bool:
        """Whether more text may complete it."""
        return self.problem is not None and not self.is_mended and CUT_SHORT in str(self.problem.msg)


def _read_lines(file: RdfFile) -> Iterator[Quad]:
    """The statements of a file with one statement on each line. A broken line does not harm the others."""
    number = 1
    for block in _blocks(file):
        try:
            yield from list(parse(block, format=file.kind))  # all or nothing, or a broken block would be read twice
        except SyntaxError:
            for line_number, line in enumerate(block.split(b"\n"), start=number):
                yield from _checked(file, _read_piece(file, [line]), line, line_number)
        number += block.count(b"\n")


def _read_sentences(file: RdfFile) -> Iterator[Quad]:
    """The statements of Turtle. A broken sentence does not harm the others.

    A sentence ends with a line that ends in a dot. A literal may hold such lines too; then the parts are joined again. As long as there are
    no errors, many sentences are parsed at once.
    """
    prefixes = b""  # those declared so far
    rest, number, blocks = b"", 1, 0  # the text that is not parsed yet, the number of its first line, and how many blocks it has
    for block in chain(_blocks(file), (None,)):
        rest, blocks = rest + (block or b""), blocks + 1
        ends = [0, *(found.end() for found in SENTENCE_END.finditer(rest))]
        if block is None:
            ends.append(len(rest))
        parser = parse(prefixes + rest[: ends[-1]], format=file.kind)
        try:
            yield from list(parser)
        except SyntaxError as error:
            if CUT_SHORT in str(error.msg) and blocks < MOST_BLOCKS and block is not None:
                continue
            sentences, done, line_number = [rest[begin:end] for begin, end in pairwise(ends)], 0, number
            while done < len(sentences):
                piece = _read_piece(file, sentences[done : done + MOST_JOINED], prefixes)
                if piece.may_go_on and len(sentences) < done + MOST_JOINED and block is not None:
                    break
                yield from _checked(file, piece, sentences[done], line_number)
                line_number += rest.count(b"\n", ends[done], ends[done + piece.parts])
                prefixes, done = piece.prefixes, done + piece.parts
        else:
            prefixes, done = _prefixes(parser), len(ends) - 1
        number += rest.count(b"\n", 0, ends[done])
        rest, blocks = rest[ends[done] :], 0


def _read_piece(file: RdfFile, parts: Sequence[bytes], prefixes: bytes = b"") -> _Piece:
    """The first sentence: as many parts as it takes to complete it, or else the first part, as far as it can be understood."""
    problem = SyntaxError()
    text = prefixes
    for count, part in enumerate(parts, start=1):
        text += part
        parser = parse(text, format=file.kind)
        try:
            return _Piece(list(parser), _prefixes(parser), count)
        except SyntaxError as error:
            problem = problem if problem.msg else error
            if CUT_SHORT not in str(error.msg):
                break
    parser, quads = parse(prefixes + parts[0], format=file.kind, lenient=True), []
    try:
        for quad in parser:
            quads.append(quad)
    except SyntaxError:
        return _Piece(quads, prefixes, problem=problem)
    return _Piece(quads, _prefixes(parser), problem=problem, is_mended=True)


def _checked(file: RdfFile, piece: _Piece, text: bytes, number: int) -> list[Quad]:
    """The statements of a piece that begins on that line; its error is counted, or refused."""
    if piece.problem is not None:
        number += (piece.problem.lineno or 1) - 1
        if piece.is_mended:
            file.mend(number, beginning(text.decode()), reason(piece.problem))
        else:
            file.report(number, piece.problem, text.decode())
    return piece.quads


def _prefixes(parser: Any) -> bytes:
    """The prefixes and the base that hold after the parsed text, all on one line."""
    base = f"@base <{parser.base_iri}> . " if parser.base_iri else ""
    return (base + "".join(f"@prefix {name}: <{iri}> . " for name, iri in parser.prefixes.items())).encode()


def _blocks(file: RdfFile) -> Iterator[bytes]:
    """The text of the file in blocks of whole lines."""
    rest = b""
    with file.open() as stream:
        while block := stream.read(BLOCK):
            whole, end, begun = (rest + block).rpartition(b"\n")
            rest = begun
            if end:
                yield whole + end
    if rest:
        yield rest


def _read_document(file: RdfFile) -> Iterator[Quad]:
    """The statements of a file that can only be read as a whole. After an error the parser skips ahead to text that it understands."""
    first, errors = None, 0  # the first error since the last statement, and how many there were
    with file.open() as stream:
        source: Any = stream
        # With JSON-LD, a parser that is not lenient silently leaves out statements with a bad IRI.
        quads = parse(source, format=file.kind, lenient=not file.strict or file.kind == RdfFormat.JSON_LD)
        while errors < MOST_ERRORS:
            try:
                quad = next(quads, None)
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
    RdfFormat.TURTLE: _read_sentences,
    RdfFormat.RDF_XML: read_xml,
}
