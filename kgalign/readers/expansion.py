"""How much prefixes and bases add to a document: one that is written once can be part of every IRI."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from pyoxigraph import Literal, NamedNode, Quad

from kgalign.limits import DEFAULT, Limits

SMALL = 8 << 20  # bytes by which any document may become larger
LONG = 1000  # characters; shorter prefixes and bases do not fill the memory
LONG_IRI = re.compile(rb"<[^<>\"]{%d}" % LONG)


class Expansion:
    """Counts the characters of the IRIs of a document, and refuses it where they are above the limit."""

    def __init__(self) -> None:
        self.begin("", DEFAULT, lambda: 0)

    def begin(self, place: object, limits: Limits, size: Callable[[], int]) -> None:
        """Begins with a document, whose size is that of its text so far."""
        self._place, self._limits, self._size = place, limits, size
        self._count = 0

    def counted(self, quads: Iterable[Quad], text: bytes) -> Iterable[Quad]:
        """The statements of a text of Turtle or TriG, which are counted if it has an IRI that may be a long prefix."""
        may_be_long = max(map(len, text.split(b">"))) > LONG  # mostly not, and quickly found out
        return self._each(quads) if may_be_long and LONG_IRI.search(text) else quads

    def count(self, quad: Quad) -> None:
        """Counts a statement."""
        subject, predicate, value, graph = quad
        if isinstance(value, Literal):
            value = value.datatype
        for node in (subject, predicate, value, graph):
            if isinstance(node, NamedNode):
                self._count += len(node.value)
        if self._count > SMALL and self._count > self._limits.expansion * self._size():
            raise self._limits.exceeded(self._place, "expansion", "prefixes and bases that make a document larger by")

    def _each(self, quads: Iterable[Quad]) -> Iterator[Quad]:
        for quad in quads:
            self.count(quad)
            yield quad
