"""RDF text for the parser, less what it cannot hold: triple terms (RDF 1.2), lists and blank nodes that lie too deep in each other."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from pyoxigraph import RdfFormat, parse

DEEPEST_TERMS = 500  # triple terms inside each other for which the stack of a thread is large enough on most systems
DEEPEST_NODES = 10_000  # lists and blank nodes inside each other, each of which takes 300 bytes and more of the parser's memory
OPENING = b"<<("
BRACKETS = b"([)]"
OTHERS = bytes(sorted({*range(256)} - {*BRACKETS}))
SENTENCE_ENDS = (b".\n", b".\r\n")
# What opens and closes triple terms, lists and blank nodes, and what may hold the same signs: IRIs, literals, comments and escapes. Lenient
# parsing takes line feeds in any literal.
TOKEN = re.compile(
    rb"""(<<\() | (\)>>) | << | <[^<>]*+> | ([(\[]) | ([)\]])
      | "{3}(?:[^"\\]++|\\.|"(?!""))*+"{3}
      | '{3}(?:[^'\\]++|\\.|'(?!''))*+'{3}
      | "(?:[^"\\]++|\\.)*+"
      | '(?:[^'\\]++|\\.)*+'
      | \#[^\n\r]*+ | \\.""",
    re.DOTALL | re.VERBOSE,
)


def parse_text(text: bytes, kind: RdfFormat, *, lenient: bool = False) -> Any:
    """The parser of some whole lines or sentences. What lies too deep in each other is a `SyntaxError`, like any other.

    Args:
        text: The text.
        kind: N-Triples, N-Quads, Turtle or TriG.
        lenient: Overlook what can be understood, such as a space in an IRI.
    """
    if text.count(OPENING) > DEEPEST_TERMS or _count(text, b"([") > DEEPEST_NODES:
        terms, nodes = _levels(text)
        if terms > DEEPEST_TERMS:
            raise SyntaxError(f"more than {DEEPEST_TERMS} triple terms lie inside each other")
        if nodes > DEEPEST_NODES:
            raise SyntaxError(f"more than {DEEPEST_NODES:,} lists and blank nodes lie inside each other")
    return parse(text, format=kind, lenient=lenient)


class FlatText:
    """A stream of text that ends where something in it may lie too deep in others.

    Attributes:
        may_be_deep: It has ended so, and is to be read in parts.
    """

    def __init__(self, stream: Any) -> None:
        self.may_be_deep = False
        self._stream = stream
        self._last = b""  # which may be the beginning of an opening
        self._terms = 0
        self._level = 0  # of lists and blank nodes, perhaps also of brackets in literals of the sentence

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size` of them; none at the end."""
        block: bytes = b"" if self.may_be_deep else self._stream.read(size)
        text = self._last + block
        self._last = text[1 - len(OPENING) :]
        self._terms += text.count(OPENING)
        self.may_be_deep = self._terms > DEEPEST_TERMS or self._highest_level(block) > DEEPEST_NODES
        return b"" if self.may_be_deep else block

    def _highest_level(self, block: bytes) -> int:
        """The most lists and blank nodes that are open at once in a block."""
        opened = _count(block, b"([")
        if not opened and not self._level:
            return 0
        highest = self._level + opened  # at most
        if highest > DEEPEST_NODES:
            highest = self._level + _rise(block)
        end = max(map(block.rfind, SENTENCE_ENDS))
        level, rest = (self._level, block) if end < 0 else (0, block[end:])
        self._level = max(0, level + _count(rest, b"([") - _count(rest, b")]"))
        return highest


def _count(text: bytes, signs: bytes) -> int:
    return sum(text.count(sign) for sign in signs)


def _rise(text: bytes) -> int:
    """How much brackets raise the level in a text at most."""
    brackets = np.frombuffer(text.translate(None, OTHERS), np.uint8)
    levels = np.cumsum(np.where((brackets == ord("(")) | (brackets == ord("[")), 1, -1))
    return int(levels.max(initial=0))


def _levels(text: bytes) -> tuple[int, int]:
    """How many triple terms lie inside each other at most, and how many lists and blank nodes."""
    terms = most_terms = nodes = most_nodes = 0
    for found in TOKEN.finditer(text):
        if found[1]:
            terms += 1
            most_terms = max(most_terms, terms)
        elif found[2]:
            terms = max(0, terms - 1)
        elif found[3]:
            nodes += 1
            most_nodes = max(most_nodes, nodes)
        elif found[4]:
            nodes = max(0, nodes - 1)
    return most_terms, most_nodes
