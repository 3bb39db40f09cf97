"""Class expressions of OWL: restrictions, unions, intersections and complements, turned into triples between named entities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgalign.readers.rewriting import Additions, rewrite
from kgalign.readers.vocabulary import (
    COMPLEMENT,
    DISJOINT,
    DISJOINT_UNION,
    EQUIVALENT,
    INTERSECTION,
    ONE_OF,
    OWL,
    RDF,
    SUBCLASS,
    TYPES,
    UNION,
    is_anonymous,
    is_term,
    mask_of,
)
from kgalign.seams import Statements

TYPE = f"{RDF}type"
ON_PROPERTY, INVERSE, HAS_VALUE = f"{OWL}onProperty", f"{OWL}inverseOf", f"{OWL}hasValue"
FILLERS = tuple(f"{OWL}{name}" for name in ("someValuesFrom", "allValuesFrom", "onClass", "hasValue"))
COMBINING = (UNION, INTERSECTION, ONE_OF, COMPLEMENT, DISJOINT_UNION)
GATHERING = (UNION, INTERSECTION, DISJOINT_UNION, ONE_OF)
OTHER_PARTS = tuple(
    f"{OWL}{name}" for name in ("onProperties", "onDataRange", "onDatatype", "withRestrictions", "datatypeComplementOf", "hasSelf")
)
PARTS = (ON_PROPERTY, *FILLERS, *COMBINING, *OTHER_PARTS)
ABOVE = (SUBCLASS, EQUIVALENT, *TYPES)
MOST_DISJOINT = 50  # members of a disjointness that are written out in pairs: n members make n * n / 2 triples


@dataclass(frozen=True, eq=False)
class Expressions:
    """The class expressions of some statements.

    Attributes:
        names: The IRI of each entity.
        parts: The ends of each part of an entity: `parts[entity][IRI of the relation]`.
        values: The positions of the literals that an entity has for owl:hasValue.
        unnamed: The entities that are nothing but expressions.
    """

    names: list[str]
    parts: dict[int, dict[str, list[int]]]
    values: dict[int, list[int]]
    unnamed: set[int]

    def members(self, node: int) -> list[int]:
        """The named entities in the union or intersection that a node is; a named entity itself."""
        if node not in self.unnamed:
            return [] if is_term(self.names[node]) else [node]
        found, waiting = dict[int, bool](), [node]  # whether each node is a named entity
        while waiting:
            node = waiting.pop()
            if node not in found:
                found[node] = node not in self.unnamed
                own = {} if found[node] else self.parts[node]
                waiting += [member for relation in GATHERING for member in own.get(relation, ())]
        return [each for each, named in found.items() if named and not is_term(self.names[each])]


def fold_expressions(side: Statements) -> tuple[Statements, NDArray[Any], int]:
    """The statements without class expressions, (n,) which entities were expressions, and how many of them were restrictions.

    A class gets a triple for each restriction that it is a subclass of, or equivalent to. It becomes a subclass of each named member of an
    intersection, and a superclass of the members of a union that it is equivalent to. Any other statement about a union or an intersection
    holds for each named member.
    """
    is_part = mask_of(side.relations, PARTS)
    is_gone = np.zeros(len(side.entities), bool)
    if not is_part.any():
        return side, is_gone, 0
    found = _find_expressions(side, is_part)
    is_gone[list(found.unnamed)] = True
    head, relation, tail = side.triples.T
    folded = is_gone[head] | is_gone[tail] | mask_of(side.relations, COMBINING)[relation]
    triples, literals = list[tuple[int, str, int]](), list[tuple[int, str, int]]()
    says_something = folded & ~(is_gone[head] & ~mask_of(side.relations, (SUBCLASS, EQUIVALENT, DISJOINT))[relation])
    for row in np.flatnonzero(says_something).tolist():
        subject, name, end = int(head[row]), side.relations[relation[row]], int(tail[row])
        for statement in _statements(found, subject, name, end):
            (literals if isinstance(statement, _Literal) else triples).append((statement.head, statement.name, statement.end))
    for node in (node for node in found.parts if node not in found.unnamed):
        triples += _disjoint_pairs(found, found.parts[node].get(DISJOINT_UNION, []))
    count = sum(ON_PROPERTY in found.parts[node] for node in found.unnamed)
    return rewrite(side, ~folded, Additions(triples, literals)), is_gone, count


def disjoint_triples(side: Statements, nodes: list[int]) -> list[tuple[int, str, int]]:
    """Pairwise owl:disjointWith triples between the owl:members of each node; none where there are too many members."""
    is_member = mask_of(side.relations, (f"{OWL}members",))[side.triples[:, 1]]
    found: dict[int, list[int]] = defaultdict(list)
    for node, _, member in side.triples[is_member & np.isin(side.triples[:, 0], nodes)].tolist():
        found[node].append(member)
    pairs = (combinations(members, 2) for members in found.values() if len(members) <= MOST_DISJOINT)
    return [(one, DISJOINT, other) for each in pairs for one, other in each]


@dataclass(frozen=True)
class _Triple:
    head: int
    name: str
    end: int


class _Literal(_Triple):
    """A literal: its end is the position of the literal that has the value."""


def _find_expressions(side: Statements, is_part: NDArray[Any]) -> Expressions:
    parts: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    is_inverse = mask_of(side.relations, (INVERSE,))
    for head, relation, tail in side.triples[(is_part | is_inverse)[side.triples[:, 1]]].tolist():
        parts[head][side.relations[relation]].append(tail)
    values: dict[int, list[int]] = defaultdict(list)
    for row in np.flatnonzero(mask_of(side.properties, (HAS_VALUE, *COMBINING, *OTHER_PARTS))[side.facts[:, 1]]).tolist():
        entity = int(side.facts[row, 0])
        if side.properties[side.facts[row, 1]] == HAS_VALUE:
            values[entity].append(row)
        parts[entity]  # an enumeration of literals is an expression too
    unnamed = {node for node, own in parts.items() if ON_PROPERTY in own or is_anonymous(side.entities[node])}
    return Expressions(side.entities, parts, values, unnamed)


def _statements(found: Expressions, head: int, name: str, end: int) -> Iterator[_Triple]:
    """What a triple from or to an expression says of named entities."""
    if head in found.unnamed:
        if head != end:
            yield from _about_union(found, head, name, end)
    elif name in ABOVE:
        yield from _below(found, head, SUBCLASS if name == EQUIVALENT else name, end)
        if name == EQUIVALENT:
            yield from _members_below(found, head, end)
    elif name == INTERSECTION:
        yield from _below(found, head, SUBCLASS, end)
    elif name in (UNION, DISJOINT_UNION):
        yield from (_Triple(member, SUBCLASS, head) for member in found.members(end))
    elif name == ONE_OF:
        yield from (_Triple(member, TYPE, head) for member in found.members(end))
    elif name == COMPLEMENT:
        yield from (_Triple(head, DISJOINT, member) for member in found.members(end))
    else:
        yield from (_Triple(head, name, member) for member in found.members(end))


def _below(found: Expressions, head: int, name: str, node: int) -> Iterator[_Triple]:
    """What follows for an entity that is below an expression, as its subclass or its instance."""
    seen, waiting = set[int](), [node]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in found.unnamed:
            waiting += found.parts[node].get(INTERSECTION, ())
            yield from _restricted(found, head, node)
            if name == SUBCLASS:
                excluded = (each for part in found.parts[node].get(COMPLEMENT, ()) for each in found.members(part))
                yield from (_Triple(head, DISJOINT, each) for each in excluded)
        elif node != head and not is_term(found.names[node]):
            yield _Triple(head, name, node)


def _restricted(found: Expressions, head: int, node: int) -> Iterator[_Triple]:
    """What a restriction says of an entity below it; of other expressions nothing. Restrictions on an inverse property are reversed."""
    own = found.parts[node]
    fillers = [each for kind in FILLERS for part in own.get(kind, ()) for each in found.members(part)]
    for relation in own.get(ON_PROPERTY, ()):
        if relation not in found.unnamed:
            label = found.names[relation]
            yield from (_Triple(head, label, filler) for filler in fillers)
            yield from (_Literal(head, label, row) for row in found.values.get(node, ()))
        else:
            inverses = (each for each in found.parts[relation].get(INVERSE, ()) if each not in found.unnamed)
            yield from (_Triple(filler, found.names[inverse], head) for inverse in inverses for filler in fillers)


def _members_below(found: Expressions, head: int, node: int) -> Iterator[_Triple]:
    """What an equivalent class that is a union or an enumeration says of its members."""
    own = found.parts[node] if node in found.unnamed else {}
    for relation, name in ((UNION, SUBCLASS), (DISJOINT_UNION, SUBCLASS), (ONE_OF, TYPE)):
        yield from (_Triple(each, name, head) for part in own.get(relation, ()) for each in found.members(part))


def _about_union(found: Expressions, node: int, name: str, end: int) -> Iterator[_Triple]:
    """What a statement about a class expression says of named classes: of each member of a union; of other expressions nothing."""
    if end not in found.unnamed:
        if name == EQUIVALENT:
            yield from _statements(found, end, EQUIVALENT, node)
        else:
            union = (each for part in found.parts[node].get(UNION, ()) for each in found.members(part))
            yield from (_Triple(each, name, end) for each in union)


def _disjoint_pairs(found: Expressions, nodes: list[int]) -> list[tuple[int, str, int]]:
    members = [member for node in nodes for member in found.members(node)]
    return [(one, DISJOINT, other) for one, other in combinations(members, 2)] if len(members) <= MOST_DISJOINT else []
