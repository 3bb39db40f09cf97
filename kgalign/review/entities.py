"""The entities of a graph as a reviewer sees and searches them: names, values and classes, looked up without a search."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kgalign.data import KINDS, RANKS, Ints, KnowledgeGraph
from kgalign.iri import local_name
from kgalign.readers.classes import Classes

MOST_NAMES, MOST_VALUES, LONGEST_VALUE = 40, 60, 600  # of an entity; characters
MOST_CLASSES = 200  # that are offered as a filter


@dataclass(frozen=True, eq=False)
class Entities:
    """The entities of one graph.

    Attributes:
        graph: The graph.
        ids: The id of each entity by its IRI.
        facts: (n,) the positions of the literals, those of an entity together.
        starts: (m + 1,) where those of each entity begin.
        classes: The names of the classes, most frequent first.
        members: (k, 2) an entity and the position of a class of it, ascending.
        smallest: (m,) the position of the smallest class of each entity, -1: it has none.
        texts: (m,) all names and the IRI of each entity in small letters, for searches.
    """

    graph: KnowledgeGraph
    ids: dict[str, int]
    facts: Ints
    starts: Ints
    classes: list[str]
    members: Ints
    smallest: Ints
    texts: list[str]

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> Entities:
        count, owners = len(graph.entities), graph.attributes.facts[:, 0]
        facts = np.argsort(owners, kind="stable")
        starts = np.searchsorted(owners[facts], np.arange(count + 1))
        ids = {entity: number for number, entity in enumerate(graph.entities)}
        return cls(graph, ids, facts, starts, *_classes(graph), _texts(graph))

    def name(self, entity: int) -> str:
        """The name that is shown."""
        return self.graph.names[entity] or local_name(self.graph.entities[entity])

    def named(self, entity: int) -> dict[str, str]:
        """IRI, name, and the name in Latin letters."""
        name = self.name(entity)
        return {"iri": self.graph.entities[entity], "name": name, "latin": latin(name)}

    def class_of(self, entity: int) -> str:
        """The name of its smallest class, empty where it has none."""
        place = int(self.smallest[entity])
        return self.classes[place] if place >= 0 else ""

    def of_class(self, name: str) -> Ints:
        """(m,) whether each entity is of the class with that name."""
        found = np.zeros(len(self.graph.entities), bool)
        if name in self.classes:
            found[self.members[self.members[:, 1] == self.classes.index(name), 0]] = True
        return found

    def having(self, text: str) -> Ints:
        """The entities with a text in a name or in their IRI, ascending; `text` is in small letters."""
        whole, begins = self._joined
        found, place = [], whole.find(text)
        while place >= 0:
            entity = bisect_right(begins, place) - 1
            found.append(entity)
            place = whole.find(text, begins[entity + 1]) if entity + 1 < len(begins) else -1
        return np.array(found, np.int64)

    @cached_property
    def by_name(self) -> Ints:
        """(m,) the place of each entity in the order of names."""
        places = np.empty(len(self.texts), np.int64)
        places[np.array(sorted(range(len(self.texts)), key=self.texts.__getitem__), np.int64)] = np.arange(len(self.texts))
        return places

    @cached_property
    def _joined(self) -> tuple[str, list[int]]:
        """All texts as one, which is searched at once, and where each begins. No name holds what stands between them."""
        lengths = np.array([len(text) + 1 for text in self.texts], np.int64)
        return "\0".join(self.texts), [0, *np.cumsum(lengths)[:-1].tolist()] if len(lengths) else []

    def as_json(self, entity: int) -> dict[str, Any]:
        """All that a page shows of an entity by itself."""
        names = self.graph.names.of_entity(entity)[:MOST_NAMES]
        literals = self.graph.attributes
        rows = self.facts[self.starts[entity] : self.starts[entity + 1]][:MOST_VALUES].tolist()
        return {
            **self.named(entity),
            "kind": KINDS[self.graph.kinds[entity]],
            "names": [
                {"text": name.text, "language": name.language, "rank": RANKS[name.rank], "latin": latin(name.text)}
                for name in names
            ],
            "values": [
                {"property": local_name(literals.properties[literals.facts[row, 1]]), "value": literals.values[row][:LONGEST_VALUE]}
                for row in rows
            ],
        }


def latin(text: str) -> str:
    """The text in Latin letters; empty where it is written in them already."""
    if text.isascii():
        return ""
    from anyascii import anyascii

    found = anyascii(text)
    return found if found != text else ""


def _classes(graph: KnowledgeGraph) -> tuple[list[str], Ints, Ints]:
    """The names of the classes, their members, and the smallest class of each entity."""
    found = Classes.of(graph)
    types = found.types[np.isin(found.types[:, 1], found.ids)]
    ids, numbers = np.unique(types[:, 1], return_inverse=True)
    names = [graph.names[each] or local_name(graph.entities[each]) for each in ids.tolist()]
    often = Counter(names[number] for number in numbers.tolist())
    ordered = [name for name, _ in often.most_common()]
    places = {name: place for place, name in enumerate(ordered)}
    place_of = np.array([places[name] for name in names], np.int64)
    members = np.unique(np.column_stack([types[:, 0], place_of[numbers] if len(ids) else numbers]), axis=0)
    smallest = np.full(len(graph.entities), -1)
    smallest[members[:, 0]] = members[:, 1]  # ascending, so that the least frequent one stays
    return ordered, members, smallest


def _texts(graph: KnowledgeGraph) -> list[str]:
    found = [[entity] for entity in graph.entities]
    for owner, text in zip(graph.names.owner.tolist(), graph.names.text, strict=True):
        found[owner].append(text)
    for own in found:
        own.extend(filter(None, [latin(text) for text in own[1:2]]))
    return ["\n".join(own[1:] + own[:1]).casefold() for own in found]
