"""RDF text for the parser, less what it cannot hold: it calls itself for each triple term (RDF 1.2) that lies in another, and would crash."""

from __future__ import annotations

import re
from typing import Any

from pyoxigraph import RdfFormat, parse

DEEPEST = 500  # triple terms inside each other for which the stack of a thread is large enough on most systems
OPENING = b"<<("
# What opens and closes a triple term, and what may hold the same signs: IRIs, literals, comments and escapes. Lenient parsing takes line
# feeds in any literal.
TOKEN = re.compile(
    rb"""(<<\() | (\)>>) | << | <[^>]*+>
      | "{3}(?:[^"\\]++|\\.|"(?!""))*+"{3}
      | '{3}(?:[^'\\]++|\\.|'(?!''))*+'{3}
      | "(?:[^"\\]++|\\.)*+"
      | '(?:[^'\\]++|\\.)*+'
      | \#[^\n\r]*+ | \\.""",
    re.DOTALL | re.VERBOSE,
)


def parse_text(text: bytes, kind: RdfFormat, *, lenient: bool = False) -> Any:
    """The parser of some whole lines or sentences. Triple terms that lie too deep in each other are a `SyntaxError`, like any other.

    Args:
        text: The text.
        kind: N-Triples, N-Quads, Turtle or TriG.
        lenient: Overlook what can be understood, such as a space in an IRI.
    """
    if text.count(OPENING) > DEEPEST and _levels(text) > DEEPEST:
        raise SyntaxError(f"more than {DEEPEST} triple terms lie inside each other")
    return parse(text, format=kind, lenient=lenient)


class FlatText:
    """A stream of text that ends where its triple terms may lie too deep in each other.

    Attributes:
        may_be_deep: It has ended so, and is to be read in parts.
    """

    def __init__(self, stream: Any) -> None:
        self.may_be_deep = False
        self._stream = stream
        self._last = b""  # which may be the beginning of an opening
        self._count = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size` of them; none at the end."""
        block: bytes = b"" if self.may_be_deep else self._stream.read(size)
        text = self._last + block
        self._last = text[1 - len(OPENING) :]
        self._count += text.count(OPENING)
        self.may_be_deep = self._count > DEEPEST
        return b"" if self.may_be_deep else block


def _levels(text: bytes) -> int:
    """How many triple terms lie inside each other at most."""
    level = deepest = 0
    for found in TOKEN.finditer(text):
        if found[1]:
            level += 1
            deepest = max(deepest, level)
        elif found[2]:
            level = max(0, level - 1)
    return deepest
