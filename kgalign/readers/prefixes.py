"""The prefixes and the base of Turtle, whose sentences are parsed one by one: a short one gets no more of them than it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

WORD = re.compile(rb"""[^\s<>"'(){}\[\],;:|^@~]++:?+|:""")
SHORT = 100  # bytes of a prefix that may follow a dot without a blank, as in `1.x:a`


class Prefixes:
    """The prefixes and the base that hold after all text that was parsed so far."""

    def __init__(self) -> None:
        self._base = b""
        self._declared: dict[bytes, bytes] = {}  # by name
        self._size = 0

    def of(self, text: bytes) -> bytes:
        """The declarations that a text needs, on one line. A text longer than all declarations gets all of them."""
        if self._size <= len(text):
            return self._base + b"".join(self._declared.values())
        return self._base + b"".join(self._declared[name] for name in dict.fromkeys(_names(text)) if name in self._declared)

    def add(self, parser: Any) -> None:
        """Takes over what holds after a text, from its parser."""
        self._base = f"@base <{parser.base_iri}> . ".encode() if parser.base_iri else b""
        for name, iri in parser.prefixes.items():
            declaration = f"@prefix {name}: <{iri}> . ".encode()
            self._size += len(declaration) - len(self._declared.get(name.encode(), b""))
            self._declared[name.encode()] = declaration


def _names(text: bytes) -> Iterator[bytes]:
    """What may be the names of prefixes in a text: all that stands before a colon, and the parts of it that follow a dot."""
    for word in WORD.findall(text):
        if word.endswith(b":"):
            name = word[:-1]
            yield name
            name = name[-SHORT:]
            while b"." in name:
                name = name.partition(b".")[2]
                yield name
