"""RDF/XML as a stream that is watched for what the parser does not see, and refused where it would fill the memory."""

from __future__ import annotations

import re
from itertools import accumulate

from kgalign.readers.encodings import BLOCK, TextStream
from kgalign.readers.expansion import SMALL
from kgalign.readers.rdf_file import RdfFile

TAIL = 1 << 10  # bytes at the end of a block that may be the beginning of something
NAME_BEGINS = rb"[A-Za-z_:\x80-\xff]"
TAG_SIGN = re.compile(rb"<(?=" + NAME_BEGINS + rb")|</|/>")
BARE = re.compile(rb"<(?![!?/])(?!" + NAME_BEGINS + rb")")  # as in `x < y`, which the parser refuses and the mending understands
SECTION = re.compile(rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>", re.DOTALL)
IDENTIFIER = re.compile(rb"rdf:ID\s*=\s*[\"']([^\"']*)")
LAST_TAG = re.compile(rb"</(?:[^\s<>:]*:)?RDF\s*>\s*(?:<!--[^<]*-->\s*)*\Z")
DECLARATION = b"<!ENTITY"
DECLARED_NAME = re.compile(rb"\s*([A-Za-z_][A-Za-z0-9_.-]*)\s")
PREDEFINED = (b"amp", b"lt", b"gt", b"quot", b"apos")
REFERENCE = re.compile(rb"&([^;&<#]++);")


class WatchedXml:
    """A stream of a document that is refused where its elements or its entities are above a limit.

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
        self._entities = _Entities(file)

    @property
    def is_suspect(self) -> bool:
        return self._has_ids_twice or not LAST_TAG.search(self._last)

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size` of them; none at the end."""
        if self._begin >= len(self._block):
            self._block, self._begin = self._stream.read(BLOCK), 0
            self._watch()
        end = len(self._block) if size < 0 else self._begin + size
        taken = self._block[self._begin : end]
        self._begin = end
        return taken

    def _watch(self) -> None:
        self._entities.count(self._block)
        self._last = (self._last + self._block[-TAIL:])[-TAIL:]
        whole = self._rest + self._block
        end = whole.rfind(b">") + 1 or max(0, len(whole) - TAIL)
        self._rest = whole[end:]
        self._count_levels(whole[:end])
        if b"rdf:ID" in whole:
            found = IDENTIFIER.findall(whole, 0, end)
            before = len(self._ids)
            self._ids.update(found)
            self._has_ids_twice |= len(self._ids) < before + len(found)

    def _count_levels(self, text: bytes) -> None:
        """Refuses elements that lie in too many others, for which the parser takes ever longer."""
        tags = self._without_sections(text)
        starts = tags.count(b"<") - len(BARE.findall(tags)) - (ends := tags.count(b"</"))
        change = starts - ends - tags.count(b"<!") - tags.count(b"<?") - tags.count(b"/>")
        highest, most = self._level + starts, self._file.limits.xml_levels
        if highest > most:  # perhaps, since some elements end before others begin
            steps = ((1 if sign == b"<" else -1) for sign in TAG_SIGN.findall(tags))
            highest = max(accumulate(steps, initial=self._level))
        if highest > most:
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


class _Entities:
    """Counts how much entities add to a document: each may hold many others, or be used many times.

    A declaration counts however it is spelt, and a reference to a name that is not plain counts as the largest entity, so that no spelling
    which the parser understands escapes.
    """

    def __init__(self, file: RdfFile) -> None:
        self._file = file
        self._rest = b""  # a declaration or a reference whose end is in the next block
        self._sizes = dict.fromkeys(PREDEFINED, 1)  # of the entities with all that they hold
        self._largest = self._length = self._grown = 0

    def count(self, block: bytes) -> None:
        """Refuses a document with this block if its entities are above the limit."""
        self._length += len(block)
        text = self._rest + block
        end = self._end_of_whole(text)
        self._rest = text[end:] if block else b""
        before, *declared = text[:end].split(DECLARATION)
        self._grow(self._added(before))
        for part in declared:
            value, _, after = part.partition(b"<")  # which ends a declaration in any case
            size = len(value) + self._added(value)
            self._largest = max(self._largest, size)
            if name := DECLARED_NAME.match(value):
                self._sizes[name[1]] = max(size, self._sizes.get(name[1], 0))
            self._grow(size + self._added(after))

    def _end_of_whole(self, text: bytes) -> int:
        declared = text.rfind(DECLARATION)
        if declared >= 0 and b"<" not in text[declared + 1 :]:
            if len(text) - declared > SMALL:
                raise self._too_large()
            return declared
        begun = max(text.rfind(b"&", -TAIL), text.rfind(b"<", -TAIL))
        return begun if begun > 0 and b";" not in text[begun:] else len(text)

    def _added(self, text: bytes) -> int:
        if not self._largest or b"&" not in text:
            return 0
        return sum(self._sizes.get(name, self._largest) for name in REFERENCE.findall(text))

    def _grow(self, size: int) -> None:
        self._grown += size
        if self._grown > max(SMALL, self._file.limits.expansion * self._length):
            raise self._too_large()

    def _too_large(self) -> Exception:
        return self._file.limits.exceeded(self._file.path, "expansion", "XML entities that make a document larger by")
