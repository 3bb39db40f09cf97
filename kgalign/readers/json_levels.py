"""JSON-LD as a stream that is refused where it is nested too deeply, since its parser calls itself for each level, or would grow too large."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.errors import DataError
from kgalign.limits import Limits
from kgalign.readers.encodings import BLOCK
from kgalign.readers.json_bases import Bases

STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+("|\\?\Z)', re.DOTALL)
REST_OF_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+("|\\?\Z)', re.DOTALL)
OTHERS = bytes(sorted(set(range(256)) - set(b"[]{}")))


class Levels:
    """A stream of JSON-LD that counts the levels of objects and lists, and what bases and prefixes may add to it."""

    def __init__(self, stream: Any, path: Path, limits: Limits) -> None:
        self._stream, self._path, self._limits = stream, path, limits
        self._bases = Bases(limits)
        self._level = 0
        self._in_string = False
        self._rest = b""  # a backslash, whose character comes in the next block

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size` of them; none at the end."""
        block: bytes = self._stream.read(size if size >= 0 else BLOCK)
        text, self._rest = self._rest + block, b""
        if self._bases.count(text, self._in_string):
            raise self._exceeded("expansion", "bases and prefixes that make a document larger by")
        if self._in_string and (found := REST_OF_STRING.match(text)):
            text = text[found.end() :]
            self._end_string(found[1])
        # The parts outside of strings, and between them how each string ends.
        parts = STRING.split(text)
        if len(parts) > 1:
            self._end_string(parts[-2])
        brackets = np.frombuffer(b"".join(parts[::2]).translate(None, OTHERS), np.uint8)
        if len(brackets):
            levels = self._level + np.cumsum(np.where((brackets == ord("[")) | (brackets == ord("{")), 1, -1))
            self._level = int(levels[-1])
            if levels.max() > self._limits.json_levels:
                raise self._exceeded("json_levels", "objects and lists inside each other,")
        return block

    def _exceeded(self, name: str, what: str) -> DataError:
        """The error about a limit, which the stream keeps, since the parser may hide it."""
        error = self._stream.error = self._limits.exceeded(f"{self._path}:{self._stream.lines}", name, what)
        return error

    def _end_string(self, end: bytes) -> None:
        self._in_string = end != b'"'
        self._rest = end if self._in_string else b""
