"""RDF statements gathered into numbered entities, relations and literals."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kgalign.data import Ints
from kgalign.errors import one_line
from kgalign.iri import normal_iri
from kgalign.seams import Statements

if TYPE_CHECKING:
    from pyoxigraph import BlankNode, NamedNode, Quad

TABLE = "table"  # in the record of statements that come from a table with an entity on each row: its format, rows and remarks
SHOWN = 5  # broken and mended statements whose messages are kept; the others are only counted
ANONYMOUS = re.compile(r"[0-9a-f]{20,32}")  # the label that the parser makes up for a blank node without one


@dataclass
class Damage:
    """The errors of the input so far: how many there are, and the first few, each as `path:line: reason`.

    Attributes:
        broken: Statements that could not be read.
        first_broken: Messages about the first of them.
        mended: Statements that break the rules but could be read.
        first_mended: Messages about the first of them.
    """

    broken: int = 0
    first_broken: list[str] = field(default_factory=list)
    mended: int = 0
    first_mended: list[str] = field(default_factory=list)

    def add(self, problem: str) -> None:
        """Counts a broken statement."""
        self.broken += 1
        if len(self.first_broken) < SHOWN:
            self.first_broken.append(one_line(problem))

    def mend(self, problem: str) -> None:
        """Counts a mended statement."""
        self.mended += 1
        if len(self.first_mended) < SHOWN:
            self.first_mended.append(one_line(problem))

    def copy(self) -> Damage:
        """The errors so far, on their own."""
        return replace(self, first_broken=list(self.first_broken), first_mended=list(self.first_mended))

    def become(self, other: Damage) -> None:
        """Takes over the counts and messages of the other."""
        self.broken, self.first_broken = other.broken, list(other.first_broken)
        self.mended, self.first_mended = other.mended, list(other.first_mended)

    def record(self) -> dict[str, Any]:
        """The counts and messages for the record of a graph."""
        return {
            "broken": self.broken,
            "first broken": list(self.first_broken),
            "mended": self.mended,
            "first mended": list(self.first_mended),
        }


Mark = tuple[tuple[int, ...], int, Damage]  # the sizes, the statements left out, and the errors


class Gatherer:
    """Gathers statements. Entities, relations and properties are numbered in the order of their first mention.

    Attributes:
        damage: The errors of the input; the parser adds to them.
    """

    def __init__(self) -> None:
        self.damage = Damage()
        self._entities: list[str] = []
        self._ids: dict[str, int] = {}
        self._relations: dict[str, int] = {}
        self._triples = array("q")
        self._properties: dict[str, int] = {}
        self._facts = array("q")
        self._values: list[str] = []
        self._languages: dict[str, int] = {}
        self._language_of = array("i")
        self._datatypes: dict[str, int] = {}
        self._datatype_of = array("i")
        self._left_out = 0

    def add(self, quads: Iterable[Quad], blank_prefix: str = "") -> None:
        """Adds statements of any named graph. Equal labels mean the same blank node only within one call.

        Args:
            quads: The statements.
            blank_prefix: Put before the labels of blank nodes, to tell those of several files apart.
        """
        from pyoxigraph import BlankNode, Literal, Triple

        ids, blanks = self._ids, dict[str, int]()
        for subject, predicate, value, _ in quads:
            if isinstance(subject, Triple) or isinstance(value, Triple):
                self._left_out += 1
                continue
            head = self._blank(subject, blanks, blank_prefix) if isinstance(subject, BlankNode) else ids.get(subject.value)
            if head is None:
                head = self._entity(subject)
            name = predicate.value
            if isinstance(value, Literal):
                self._facts.extend((head, self._properties.setdefault(name, len(self._properties))))
                self._values.append(value.value)
                language = value.language or ""
                self._language_of.append(self._languages.setdefault(language, len(self._languages)))
                datatype = "" if language else value.datatype.value
                self._datatype_of.append(self._datatypes.setdefault(datatype, len(self._datatypes)))
                continue
            tail = self._blank(value, blanks, blank_prefix) if isinstance(value, BlankNode) else ids.get(value.value)
            if tail is None:
                tail = self._entity(value)
            self._triples.extend((head, self._relations.setdefault(name, len(self._relations)), tail))

    def mark(self) -> Mark:
        """The state of now, to which `undo` goes back."""
        sizes = tuple(len(kept) for kept in self._kept())
        return sizes, self._left_out, self.damage.copy()

    def undo(self, mark: Mark) -> None:
        """Forgets everything since the mark, the errors too."""
        sizes, self._left_out, damage = mark
        for kept, size in zip(self._kept(), sizes, strict=True):
            if isinstance(kept, dict):
                while len(kept) > size:
                    kept.popitem()  # the last one that was added
            else:
                del kept[size:]
        self.damage.become(damage)

    def statements(self) -> Statements:
        """All statements that were added."""
        triples = np.frombuffer(self._triples, np.int64).reshape(-1, 3) if self._triples else np.empty((0, 3), np.int64)
        facts = np.frombuffer(self._facts, np.int64).reshape(-1, 2) if self._facts else np.empty((0, 2), np.int64)
        return Statements(
            self._entities,
            self._ids,
            list(self._relations),
            _each_once(triples),
            list(self._properties),
            facts,
            self._values,
            list(self._languages),
            np.array(self._language_of, np.int32),
            list(self._datatypes),
            np.array(self._datatype_of, np.int32),
            self.damage.record() | ({"statements about statements, left out": self._left_out} if self._left_out else {}),
        )

    def _kept(self) -> tuple[Any, ...]:
        """All that grows with the statements, and only at its end."""
        numbered = (self._entities, self._ids, self._relations, self._properties, self._languages, self._datatypes)
        return *numbered, self._triples, self._facts, self._values, self._language_of, self._datatype_of

    def _entity(self, node: NamedNode) -> int:
        """The id of an IRI in a new spelling."""
        spelling = node.value
        key = normal_iri(spelling)
        number = self._ids.get(key)
        if number is None:
            number = self._ids[key] = len(self._entities)
            self._entities.append(spelling)
        self._ids[spelling] = number
        return number

    def _blank(self, node: BlankNode, blanks: dict[str, int], prefix: str) -> int:
        label = node.value
        number = blanks.get(label)
        if number is None:
            number = blanks[label] = len(self._entities)
            shown = f"anon{len(blanks)}" if ANONYMOUS.fullmatch(label) else label
            self._entities.append(f"_:{prefix}{shown}")
            self._ids[self._entities[-1]] = number
        return number


def _each_once(triples: Ints) -> Ints:
    """The triples without repetitions, in the order of their first mention."""
    if not len(triples):
        return triples
    order = np.lexsort(triples.T)  # stable, so that the first of equals comes first
    ranked = triples[order]
    new = np.ones(len(order), bool)
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    return triples[np.sort(order[new])]
