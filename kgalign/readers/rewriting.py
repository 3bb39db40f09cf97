"""Statements with some of them taken out and others put in; entities keep their ids until `compact` numbers them anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgalign.data import Ints
from kgalign.seams import Statements


@dataclass(frozen=True, eq=False)
class Additions:
    """New statements.

    Attributes:
        triples: Head id, IRI of the relation, tail id.
        literals: Entity id, IRI of the property, and the position of the literal that has the value.
    """

    triples: Sequence[tuple[int, str, int]] = ()
    literals: Sequence[tuple[int, str, int]] = ()


def rewrite(side: Statements, kept: NDArray[Any] | None = None, new: Additions | None = None) -> Statements:
    """The statements with fewer triples, and with more triples and literals. Each triple stays in once.

    Args:
        side: The statements.
        kept: (n,) which triples stay. None: all.
        new: Statements that are added.
    """
    new = new or Additions()
    triples = side.triples if kept is None else side.triples[kept]
    relations = {iri: number for number, iri in enumerate(side.relations)}
    added = [(head, relations.setdefault(iri, len(relations)), tail) for head, iri, tail in new.triples]
    if added:
        known = set(map(tuple, triples[np.isin(triples[:, 0], [head for head, _, _ in added])].tolist()))
        fresh = [triple for triple in dict.fromkeys(added) if triple not in known]
        triples = np.concatenate([triples, np.array(fresh, np.int64).reshape(-1, 3)])
    if not new.literals:
        return replace(side, relations=list(relations), triples=triples)
    properties = {iri: number for number, iri in enumerate(side.properties)}
    unique = list(dict.fromkeys(new.literals))
    facts = [(entity, properties.setdefault(iri, len(properties))) for entity, iri, _ in unique]
    rows = np.array([row for _, _, row in unique], np.int64)
    return replace(
        side,
        relations=list(relations),
        triples=triples,
        properties=list(properties),
        facts=np.concatenate([side.facts, np.array(facts, np.int64)]),
        values=[*side.values, *(side.values[row] for row in rows.tolist())],
        language_of=np.concatenate([side.language_of, side.language_of[rows]]),
        datatype_of=np.concatenate([side.datatype_of, side.datatype_of[rows]]),
    )


def add_texts(side: Statements, texts: Sequence[tuple[int, str, str]], of_type: str = "") -> Statements:
    """The statements with literals of a datatype added: entity id, IRI of the property and text."""
    if not texts:
        return side
    properties, languages, datatypes = (
        {name: number for number, name in enumerate(names)} for names in (side.properties, side.languages, side.datatypes)
    )
    facts = [(entity, properties.setdefault(iri, len(properties))) for entity, iri, _ in texts]
    language, datatype = languages.setdefault("", len(languages)), datatypes.setdefault(of_type, len(datatypes))
    return replace(
        side,
        properties=list(properties),
        facts=np.concatenate([side.facts, np.array(facts, np.int64)]),
        values=[*side.values, *(text for _, _, text in texts)],
        languages=list(languages),
        language_of=np.append(side.language_of, np.full(len(texts), language, np.int32)),
        datatypes=list(datatypes),
        datatype_of=np.append(side.datatype_of, np.full(len(texts), datatype, np.int32)),
    )


def compact(side: Statements, gone: NDArray[Any]) -> Statements:
    """The statements without some entities and all that is said of them; entities, relations and properties are numbered anew.

    Args:
        side: The statements, with the kinds of all entities.
        gone: (n,) which entities vanish.
    """
    stays = ~gone
    number = np.where(stays, np.cumsum(stays) - 1, -1)
    triples = side.triples[stays[side.triples[:, 0]] & stays[side.triples[:, 2]]]
    rows = np.flatnonzero(stays[side.facts[:, 0]])
    relations, relation_of = _used(triples[:, 1], side.relations)
    properties, property_of = _used(side.facts[rows, 1], side.properties)
    new_ids = number.tolist()
    all_rows = len(rows) == len(side.values)
    return replace(
        side,
        entities=[entity for entity, stay in zip(side.entities, stays.tolist(), strict=True) if stay],
        ids={name: new_ids[old] for name, old in side.ids.items() if new_ids[old] >= 0},
        relations=relations,
        triples=np.column_stack([number[triples[:, 0]], relation_of, number[triples[:, 2]]]),
        properties=properties,
        facts=np.column_stack([number[side.facts[rows, 0]], property_of]),
        values=side.values if all_rows else [side.values[row] for row in rows.tolist()],
        language_of=side.language_of[rows],
        datatype_of=side.datatype_of[rows],
        kinds=side.kinds[stays],
    )


def _used(ids: Ints, names: Sequence[str]) -> tuple[list[str], Ints]:
    """The names that are in use, and the ids as their positions among these."""
    used = np.zeros(len(names), bool)
    used[ids] = True
    return [name for name, use in zip(names, used.tolist(), strict=True) if use], (np.cumsum(used) - 1)[ids]
