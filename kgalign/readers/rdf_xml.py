"""The statements of RDF/XML.

A document is read as a stream. If anything in it is wrong, all of it is read again, mended, one group of elements after the other: then an
error that is left costs no more than the element in which it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyoxigraph import Quad, RdfFormat, parse

from kgalign.files import bounded
from kgalign.readers.rdf_file import DamagedDocumentError, RdfFile
from kgalign.readers.xml_mending import mend_xml
from kgalign.readers.xml_parts import Element, Mended
from kgalign.readers.xml_watch import WatchedXml

GROUP = 1 << 16  # characters of elements that are parsed at once
MOST_NESTED = 50  # how many properties a property may lie in, before the whole node is given up


def read_xml(file: RdfFile) -> Iterator[Quad]:
    """The statements of a document as it is. Its first error ends them with `DamagedDocumentError`."""
    with file.open() as stream:
        watched: Any = WatchedXml(stream, file)
        quads = parse(watched, format=RdfFormat.RDF_XML, lenient=not file.strict)
        try:
            for quad in quads:
                file.check_iris(quad)
                yield quad
        except SyntaxError as error:
            raise DamagedDocumentError from error
        if watched.is_suspect:
            raise DamagedDocumentError


def read_mended_xml(file: RdfFile) -> Iterator[Quad]:
    """The statements of a document that breaks the rules. Everything that is wrong in it is counted, or refused."""
    parts: list[bytes] = []
    with file.open() as stream:
        parts.extend(bounded(WatchedXml(stream, file).read, file.path, file.limits))
    mended = mend_xml(b"".join(parts).decode())
    for note in mended.notes:
        if note.is_lost:
            file.report(note.line, SyntaxError(note.reason), note.text)
        else:
            file.mend(note.line, note.text, note.reason)
    for group in _groups(mended.elements):
        text = "".join(piece for element in group for piece in element.pieces)
        try:
            quads = _parsed(file, mended, text, file.strict)
        except SyntaxError:
            quads = [quad for element in group for quad in _sound_part(file, mended, element)]
        for quad in quads:
            file.check_iris(quad)
            yield quad


def _groups(elements: Iterable[Element]) -> Iterator[list[Element]]:
    """The elements in groups of about equal length."""
    group: list[Element] = []
    size = 0
    for element in elements:
        group.append(element)
        size += sum(map(len, element.pieces))
        if size > GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def _parsed(file: RdfFile, mended: Mended, text: str, strict: bool = False) -> list[Quad]:
    quads = []
    for quad in parse(f"{mended.opening}{text}{mended.closing}", format=RdfFormat.RDF_XML, lenient=not strict):
        file.expansion.count(quad)
        quads.append(quad)
    return quads


def _sound_part(file: RdfFile, mended: Mended, element: Element) -> list[Quad]:
    """The statements of a node element without those of its properties that cannot be parsed. They are counted, or refused."""
    pieces = list(element.pieces)
    try:
        return _parsed(file, mended, "".join(pieces), file.strict)
    except SyntaxError as error:
        problem = error
    if file.strict:
        file.report(element.line, problem, "".join(pieces))
    if sum(end - begin for begin, end, _ in element.properties) <= MOST_NESTED * len(pieces):
        node = mended.closing.removeprefix("</").removesuffix("RDF>") + "Description"
        for begin, end, line in element.properties:
            text = "".join(pieces[begin:end])
            try:
                _parsed(file, mended, f"<{node}>{text}</{node}>")
            except SyntaxError as error:
                file.report(line, error, text)
                pieces[begin:end] = [""] * (end - begin)
    try:
        return _parsed(file, mended, "".join(pieces))
    except SyntaxError as error:
        file.report(element.line, error, "".join(pieces))
        return []
