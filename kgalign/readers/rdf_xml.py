"""The statements of RDF/XML.

A document is read as a stream. If anything in it is wrong, all of it is read again, mended, one group of elements after the other: then an
error that is left costs no more than the element in which it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

from pyoxigraph import Quad, RdfFormat, parse

from kgalign.files import bounded
from kgalign.readers.encodings import BLOCK, TextStream
from kgalign.readers.rdf_file import DamagedDocumentError, RdfFile
from kgalign.readers.xml_mending import mend_xml
from kgalign.readers.xml_parts import Element, Mended

GROUP = 1 << 16  # characters of elements that are parsed at once
DECLARED_ENTITY = re.compile(rb"<!ENTITY\s*([^\s\"'%]+)\s*(?:\"([^\"]*)\"|'([^']*)')")
REFERENCE = re.compile(rb"&([^\s;&<>#]+);")
SMALL = 8 << 20  # bytes by which entities may make any document larger
TAG_SIGN = re.compile(rb"<(?![!?/])|</|/>")
SECTION = re.compile(rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>", re.DOTALL)
IDENTIFIER = re.compile(rb"rdf:ID\s*=\s*[\"']([^\"']*)")
LAST_TAG = re.compile(rb"</(?:[^\s<>:]*:)?RDF\s*>\s*(?:<!--[^<]*-->\s*)*\Z")
MOST_NESTED = 50  # how many properties a property may lie in, before the whole node is given up


def read_xml(file: RdfFile) -> Iterator[Quad]:
    """The statements of a document as it is. Its first error ends them with `DamagedDocumentError`."""
    with file.open() as stream:
        watched: Any = _Watched(stream, file)
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
        parts.extend(bounded(_Watched(stream, file).read, file.path, file.limits))
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
        self._level = 0  # of the elements that are open
        self._section = b""  # the end of the comment or of the CDATA that is open
        self._sizes: dict[bytes, int] = {}  # of the entities with all that they hold
        self._length = self._grown = 0  # bytes of the document, and of its entities wherever they are used

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
        self._length += len(self._block)
        self._last = (self._last + self._block[-1024:])[-1024:]
        whole = self._rest + self._block
        end = whole.rfind(b">") + 1
        self._rest = whole[end:] if end else whole[-1024:]
        self._count_levels(whole[:end])
        self._count_entities(whole[:end])
        if b"rdf:ID" in whole:
            found = IDENTIFIER.findall(whole, 0, end)
            before = len(self._ids)
            self._ids.update(found)
            self._has_ids_twice |= len(self._ids) < before + len(found)

    def _count_levels(self, text: bytes) -> None:
        """Refuses elements that lie in too many others, for which the parser takes ever longer."""
        tags = self._without_sections(text)
        starts = tags.count(b"<") - (ends := tags.count(b"</"))
        change = starts - ends - tags.count(b"<!") - tags.count(b"<?") - tags.count(b"/>")
        highest = self._level + starts
        if highest > self._file.limits.xml_levels:  # perhaps, since some elements end before others begin
            steps = ((1 if sign == b"<" else -1) for sign in TAG_SIGN.findall(tags))
            highest = max(accumulate(steps, initial=self._level))
        if highest > self._file.limits.xml_levels:
            raise self._file.limits.exceeded(f"{self._file.path}:{self._stream.lines}", "xml_levels", "elements inside each other,")
        self._level = max(0, self._level + change)

    def _without_sections(self, text: bytes) -> bytes:
        """The text without comments and CDATA, which may begin or end in another block."""
        if self._section:
            _, end, text = text.partition(self._section)
            self._section = b"" if end else self._section
        if b"<!" not in text:
            return text
        text = SECTION.sub(b"", text)
        for begin, end in ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>")):
            text, found, _ = text.partition(begin)
            self._section = end if found else self._section
        return text

    def _count_entities(self, text: bytes) -> None:
        """Refuses entities that would fill the memory, since each holds many others or is used many times."""
        grown = 0
        for name, double, single in DECLARED_ENTITY.findall(text):
            value = double or single
            self._sizes[name] = len(value) + sum(self._sizes.get(inner, 0) for inner in REFERENCE.findall(value))
            grown += self._sizes[name]
        if self._sizes:
            grown += sum(self._sizes.get(name, 0) for name in REFERENCE.findall(text))
        self._grown += grown
        if self._grown > max(SMALL, self._file.limits.expansion * self._length):
            raise self._file.limits.exceeded(self._file.path, "expansion", "XML entities that make a document larger by")
