"""The statements of RDF/XML.

A document is read as a stream. If anything in it is wrong, all of it is read again, mended, one group of elements after the other: then an
error that is left costs no more than the element in which it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from pyoxigraph import Quad, RdfFormat, parse

from kgalign.errors import DataError
from kgalign.readers.encodings import BLOCK, TextStream
from kgalign.readers.rdf_file import RdfFile
from kgalign.readers.xml_mending import ENTITY, mend_xml
from kgalign.readers.xml_parts import Element, Mended

GROUP = 1 << 16  # characters of elements that are parsed at once
REFERENCE = re.compile(r"&([\w.\-]+);")
LONGEST_ENTITY = 4096  # characters of its value: entities stand for namespaces, and each may be used many times
IDENTIFIER = re.compile(rb"rdf:ID\s*=\s*[\"']([^\"']*)")
LAST_TAG = re.compile(rb"</(?:[^\s<>:]*:)?RDF\s*>\s*(?:<!--[^<]*-->\s*)*\Z")
MOST_NESTED = 50  # how many properties a property may lie in, before the whole node is given up


class DamagedXmlError(Exception):
    """The document breaks the rules: `read_mended_xml` reads it, and what was read before is to be forgotten."""


def read_xml(file: RdfFile) -> Iterator[Quad]:
    """The statements of a document as it is. Its first error ends them with `DamagedXmlError`."""
    with file.open() as stream:
        watched: Any = _Watched(stream, file)
        quads = parse(watched, format=RdfFormat.RDF_XML, lenient=not file.strict)
        try:
            for quad in quads:
                file.check_iris(quad)
                yield quad
        except SyntaxError as error:
            raise DamagedXmlError from error
        if watched.is_suspect:
            raise DamagedXmlError


def read_mended_xml(file: RdfFile) -> Iterator[Quad]:
    """The statements of a document that breaks the rules. Everything that is wrong in it is counted, or refused."""
    parts = []
    with file.open() as stream:
        while block := stream.read(GROUP):
            parts.append(block)
    mended = mend_xml(b"".join(parts).decode())
    for note in mended.notes:
        if note.is_lost:
            file.report(note.line, SyntaxError(note.reason), note.text)
        else:
            file.mend(note.line, note.text, note.reason)
    for group in _groups(mended.elements):
        text = "".join(piece for element in group for piece in element.pieces)
        try:
            quads = _parsed(mended, text, file.strict)
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


def _parsed(mended: Mended, text: str, strict: bool = False) -> list[Quad]:
    return list(parse(f"{mended.opening}{text}{mended.closing}", format=RdfFormat.RDF_XML, lenient=not strict))


def _sound_part(file: RdfFile, mended: Mended, element: Element) -> list[Quad]:
    """The statements of a node element without those of its properties that cannot be parsed. They are counted, or refused."""
    pieces = list(element.pieces)
    try:
        return _parsed(mended, "".join(pieces), file.strict)
    except SyntaxError as error:
        problem = error
    if file.strict:
        file.report(element.line, problem, "".join(pieces))
    if sum(end - begin for begin, end, _ in element.properties) <= MOST_NESTED * len(pieces):
        node = mended.closing.removeprefix("</").removesuffix("RDF>") + "Description"
        for begin, end, line in element.properties:
            text = "".join(pieces[begin:end])
            try:
                _parsed(mended, f"<{node}>{text}</{node}>")
            except SyntaxError as error:
                file.report(line, error, text)
                pieces[begin:end] = [""] * (end - begin)
    try:
        return _parsed(mended, "".join(pieces))
    except SyntaxError as error:
        file.report(element.line, error, "".join(pieces))
        return []


class _Watched:
    """A stream that is watched for what the parser does not see.

    Attributes:
        is_suspect: An rdf:ID may be there twice, or the end of the document is missing.
    """

    def __init__(self, stream: TextStream, file: RdfFile) -> None:
        self._stream, self._file = stream, file
        self._block, self._begin = b"", 0
        self._rest = b""  # what follows the last tag of the block
        self._last = b""
        self._ids: set[bytes] = set()
        self._has_ids_twice = False
        self._sizes: dict[str, int] = {}  # of the entities, in characters

    @property
    def is_suspect(self) -> bool:
        return self._has_ids_twice or not LAST_TAG.search(self._last)

    def read(self, size: int = -1) -> bytes:
        if self._begin >= len(self._block):
            self._block, self._begin = self._stream.read(BLOCK), 0
            self._watch()
        end = len(self._block) if size < 0 else self._begin + size
        taken = self._block[self._begin : end]
        self._begin = end
        return taken

    def _watch(self) -> None:
        self._last = (self._last + self._block[-1024:])[-1024:]
        whole = self._rest + self._block
        end = whole.rfind(b">") + 1
        self._rest = whole[end:] if end else whole[-1024:]
        if b"<!ENTITY" in whole:
            self._check_entities(whole[:end].decode(errors="replace"))
        if b"rdf:ID" in whole:
            found = IDENTIFIER.findall(whole, 0, end)
            before = len(self._ids)
            self._ids.update(found)
            self._has_ids_twice |= len(self._ids) < before + len(found)

    def _check_entities(self, text: str) -> None:
        """Refuses entities that would fill the memory, since each holds many others."""
        for name, double, single in ENTITY.findall(text):
            value = double or single
            size = len(value) + sum(self._sizes.get(inner, 0) for inner in REFERENCE.findall(value))
            self._sizes[name] = max(size, self._sizes.get(name, 0))
            if size > LONGEST_ENTITY:
                raise DataError(
                    f"{self._file.path}: expected entities of at most {LONGEST_ENTITY} characters, found &{name}; with {size}; "
                    "write its text where it is used"
                )
