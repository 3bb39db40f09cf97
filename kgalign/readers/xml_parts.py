"""The parts of a mended RDF/XML document."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """Something that was wrong: the number of its line, its text, the reason, and whether a statement is lost by it."""

    line: int
    text: str
    reason: str
    is_lost: bool = False


@dataclass(frozen=True)
class Element:
    """A node element with all that is in it.

    Attributes:
        line: The number of its first line.
        pieces: Its text.
        properties: The first and last piece and the line of each property element, inner ones before the outer ones that hold them.
    """

    line: int
    pieces: list[str]
    properties: list[tuple[int, int, int]]


@dataclass(frozen=True)
class Mended:
    """A mended document: the node elements, what comes before and after them, and what was wrong."""

    opening: str
    elements: list[Element]
    closing: str
    notes: list[Note]
