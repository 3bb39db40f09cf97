"""RDF statements gathered into numbered entities, relations and literals."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kgalign.data import Ints
from kgalign.iri import normal_iri

if TYPE_CHECKING:
    from pyoxigraph import BlankNode, NamedNode, Quad

SHOWN = 5  # broken lines that are shown, and mended ones; the others are counted
ANONYMOUS = re.compile(r"[0-9a-f]{20,32}")  # how the parser calls a blank node that the file gives no label


@dataclass
class Damage:
    """What could not be read, and what is not right but could: how many times, and the first few, each as path:line: reason."""

    count: int = 0
    first: list[str] = field(default_factory=list)
    mended: int = 0
    first_mended: list[str] = field(default_factory=list)

    def add(self, problem: str) -> None:
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(" ".join(problem.split()))

    def mend(self, problem: str) -> None:
        self.mended += 1
        if len(self.first_mended) < SHOWN:
            self.first_mended.append(" ".join(problem.split()))


@dataclass(frozen=True, eq=False)
class Statements:
    """All that a graph says, by number; which of the literals are names is not decided yet."""

    entities: list[str]  # as first spelt
    ids: dict[str, int]  # each spelling that was met, and its normal form; blank nodes as _:label
    relations: list[str]
    triples: Ints  # (n, 3) head id, relation id, tail id, each once
    properties: list[str]
    facts: Ints  # (m, 2) entity id, property id
    values: list[str]  # (m,)
    languages: list[str]  # "" where there is none
    language_of: Ints  # (m,) position in languages
    datatypes: list[str]
    datatype_of: Ints  # (m,) position in datatypes
    damage: Damage
    left_out: int  # statements that no graph of entities can hold: those about statements


class Gatherer:
    """Takes in statements one after the other and gives everything its number in the order of its first mention."""

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
        """Adds statements; named graphs are read as one. Blank nodes are the same only within one call."""
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

    def statements(self) -> Statements:
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
            self.damage,
            self._left_out,
        )

    def _entity(self, node: NamedNode) -> int:
        """The id of an IRI in a spelling that was not met before."""
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
