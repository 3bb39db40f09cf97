"""How much bases, vocabularies and prefixes may add to JSON-LD, whose parser keeps the statements of a whole node before it gives any."""

from __future__ import annotations

import re

from kgalign.limits import Limits
from kgalign.readers.expansion import SMALL

LONG = 4096  # bytes of a string; shorter ones do not fill the memory
STRING = re.compile(rb'"((?:[^"\\]++|\\.)*+)("|\\?\Z)', re.DOTALL)
REST_OF_STRING = re.compile(rb'((?:[^"\\]++|\\.)*+)("|\\?\Z)', re.DOTALL)
MAY_BE_LONG = re.compile(rb'"[^"]{1000}|\\"')  # most blocks have nothing of this kind
NAMED = re.compile(
    rb'(?:"@(?:base|vocab)|\\[^"]*)"\s*:\s*\Z'
)  # before a base or a vocabulary; a name with an escape may be that of one
BEFORE = 64  # bytes that have the name
PREFIX_ENDS = (b":", b"/", b"?", b"#", b"[", b"]", b"@")


class Bases:
    """Counts the strings of a document, and how long they may become: as long as its longest base, vocabulary or prefix."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._size = self._strings = self._longest = 0
        self._before = b""
        self._open = 0  # bytes so far of a string that goes on in the next block
        self._is_named = False

    def count(self, text: bytes, in_string: bool) -> bool:
        """Whether the document may become too large with a block, which may begin inside of a string."""
        self._size += len(text)
        self._strings += text.count(b'"') // 2
        at = 0
        if in_string and (found := REST_OF_STRING.match(text)):
            self._end(found[1], found[2])
            at = found.end()
        if MAY_BE_LONG.search(text, at):
            for found in STRING.finditer(text, at):
                if found[2] != b'"' or len(found[1]) >= LONG:
                    self._begin(text, found.start())
                    self._end(found[1], found[2])
        elif (begun := text.rfind(b'"', at)) >= 0:  # the last string may go on in the next block
            self._begin(text, begun)
            self._open = len(text) - begun - 1
        self._before = text[-BEFORE:]
        return self._longest * self._strings > max(SMALL, self._limits.expansion * self._size)

    def _begin(self, text: bytes, at: int) -> None:
        """Begins with a string at that place."""
        self._open, self._is_named = 0, NAMED.search(self._before[at:] + text[max(0, at - BEFORE) : at]) is not None

    def _end(self, part: bytes, end: bytes) -> None:
        """Takes in a part of a string, and how it ends."""
        self._open += len(part)
        if end == b'"' and self._open >= LONG and (self._is_named or part.endswith(PREFIX_ENDS)):
            self._longest = max(self._longest, self._open)
