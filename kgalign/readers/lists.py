"""Lists and containers of RDF: what points to one points to each member instead."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgalign.readers.rewriting import Additions, rewrite
from kgalign.readers.vocabulary import RDF, TYPES, is_anonymous, mask_of
from kgalign.seams import Statements

FIRST, REST = f"{RDF}first", f"{RDF}rest"
NUMBERED = re.compile(re.escape(RDF) + r"_\d+")
CONTAINERS = (f"{RDF}Seq", f"{RDF}Bag", f"{RDF}Alt")


def unroll_lists(side: Statements) -> tuple[Statements, NDArray[Any]]:
    """The statements with each list replaced by its members, and (n,) which entities were nodes of lists or containers.

    A list that is a member of another list gives its own members. A list that contains itself ends where it would begin again.
    """
    is_first, is_rest = mask_of(side.relations, (FIRST,)), mask_of(side.relations, (REST,))
    first_literals = mask_of(side.properties, (FIRST,))
    numbered, numbered_literals = (
        np.fromiter((NUMBERED.fullmatch(name) is not None for name in names), bool, len(names))
        for names in (side.relations, side.properties)
    )
    is_node = np.zeros(len(side.entities), bool)
    if not (is_first.any() or is_rest.any() or first_literals.any() or numbered.any() or numbered_literals.any()):
        return side, is_node
    head, relation, tail = side.triples.T
    is_node[head[(is_first | is_rest)[relation]]] = True
    is_node[side.facts[first_literals[side.facts[:, 1]], 0]] = True
    is_node |= _containers(side, numbered, numbered_literals)
    members = _Members(side, is_node, is_first | numbered, is_rest, first_literals | numbered_literals)
    points = np.flatnonzero(is_node[tail] & ~is_node[head] & ~np.isin(relation, np.flatnonzero(mask_of(side.relations, TYPES))))
    new_triples, new_literals = [], []
    for row in points.tolist():
        owner, name = int(head[row]), side.relations[relation[row]]
        entities, rows = members.of(int(tail[row]))
        new_triples += [(owner, name, member) for member in entities]
        new_literals += [(owner, name, member) for member in rows]
    return rewrite(side, ~(is_node[head] | is_node[tail]), Additions(new_triples, new_literals)), is_node


def _containers(side: Statements, numbered: NDArray[Any], numbered_literals: NDArray[Any]) -> NDArray[Any]:
    """(n,) which entities are an rdf:Seq, rdf:Bag or rdf:Alt, or are blank nodes with numbered members."""
    found = np.zeros(len(side.entities), bool)
    found[side.triples[numbered[side.triples[:, 1]], 0]] = True
    found[side.facts[numbered_literals[side.facts[:, 1]], 0]] = True
    types = {side.ids[iri] for iri in CONTAINERS if iri in side.ids}
    is_type = mask_of(side.relations, TYPES)[side.triples[:, 1]] & np.isin(side.triples[:, 2], list(types))
    declared = np.zeros(len(found), bool)
    declared[side.triples[is_type, 0]] = True
    for entity in np.flatnonzero(found & ~declared).tolist():
        found[entity] = is_anonymous(side.entities[entity])
    return found


class _Members:
    """The members of the lists of some statements."""

    def __init__(
        self, side: Statements, is_node: NDArray[Any], is_member: NDArray[Any], is_rest: NDArray[Any], is_literal: NDArray[Any]
    ) -> None:
        self._is_node = is_node
        self._members, self._rests, self._literals = (
            defaultdict[int, list[int]](list),
            dict[int, int](),
            defaultdict[int, list[int]](list),
        )
        nil = side.ids.get(f"{RDF}nil", -1)
        for node, relation, end in side.triples[is_node[side.triples[:, 0]]].tolist():
            if is_member[relation]:
                self._members[node].append(end)
            elif is_rest[relation] and end != nil:
                self._rests[node] = end
        for row in np.flatnonzero(is_node[side.facts[:, 0]] & is_literal[side.facts[:, 1]]).tolist():
            self._literals[int(side.facts[row, 0])].append(row)

    def of(self, node: int) -> tuple[list[int], list[int]]:
        """The ids of the entities in a list, and the positions of the literals in it."""
        entities, rows, seen, waiting = list[int](), list[int](), set[int](), [node]
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            rows += self._literals.get(node, ())
            if node in self._rests:
                waiting.append(self._rests[node])
            for member in self._members.get(node, ()):
                if self._is_node[member]:
                    waiting.append(member)
                else:
                    entities.append(member)
        return entities, rows
