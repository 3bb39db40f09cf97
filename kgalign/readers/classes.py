"""The classes of a graph: found by IRI, label or short name, with the entities that belong to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgalign.data import CLASS, Ints, KnowledgeGraph
from kgalign.iri import local_name, same_spelling
from kgalign.readers.vocabulary import SUBCLASS, TYPES, is_term, mask_of

WIKIDATA = "http://www.wikidata.org/prop/direct/"
TYPE_RELATIONS = (*TYPES, "rdf:type", "a", f"{WIKIDATA}P31")
SUBCLASS_RELATIONS = (SUBCLASS, "rdfs:subClassOf", f"{WIKIDATA}P279")
# Relations of tables that give a class, where nothing else does; categories only where no relation is called type.
CALLED_TYPE, CALLED_CATEGORY = ("type", "class", "instance of", "is a"), ("category", "kind")
MOST_LISTED = 12  # classes in an error


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a graph.

    Attributes:
        graph: The graph.
        types: (n, 2) an entity and its class.
        subclasses: (m, 2) a class and one that it is a subclass of.
        ids: (c,) the ids of all classes.
    """

    graph: KnowledgeGraph
    types: Ints
    subclasses: Ints
    ids: Ints

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> Classes:
        """The classes that types, subclass relations and kinds tell."""
        relation = graph.triples[:, 1]
        names = [name.strip("<>") for name in graph.relations]
        is_type = mask_of(names, TYPE_RELATIONS)
        for called in (CALLED_TYPE, CALLED_CATEGORY):
            if not is_type.any():
                is_type = mask_of([local_name(name).casefold() for name in names], called)
        types, subclasses = (graph.triples[rows[relation]][:, [0, 2]] for rows in (is_type, mask_of(names, SUBCLASS_RELATIONS)))
        ids = np.unique(np.concatenate([types[:, 1], subclasses.ravel(), np.flatnonzero(graph.kinds == CLASS)]))
        terms = [is_term(graph.entities[each].strip("<>")) for each in ids.tolist()]
        return cls(graph, types, subclasses, ids[~np.array(terms, bool)])

    def find(self, text: str) -> Ints:
        """(n,) the classes with that IRI; else with that label, with that last part of the IRI, or with a prefix before it."""
        wanted = text.strip()
        short = wanted.rpartition(":")[2] if "://" not in wanted else wanted
        names = {entity: [name.text for name in self.graph.names.of_entity(entity)] for entity in self.ids.tolist()}
        spelt = {entity: self.graph.entities[entity] for entity in names}
        ways: tuple[list[int], ...] = (
            [each for each, iri in spelt.items() if same_spelling(iri) == same_spelling(wanted)],
            [each for each, own in names.items() if wanted in own],
            [each for each, iri in spelt.items() if local_name(iri) == local_name(short)],
            [each for each, own in names.items() if wanted.casefold() in map(str.casefold, own)],
            [each for each, iri in spelt.items() if local_name(iri).casefold() == local_name(short).casefold()],
        )
        return np.array(next((found for found in ways if found), []), np.int64)

    def members(self, classes: Ints) -> Ints:
        """(n,) the entities of some classes and of their subclasses, ascending; with these classes, where the graph says that they are some.

        The values of a column `type` in a table are no entities of that type.
        """
        below = np.unique(classes)
        while True:
            wider = np.union1d(below, self.subclasses[np.isin(self.subclasses[:, 1], below), 0])
            if len(wider) == len(below):
                own = below[self.graph.kinds[below] == CLASS]
                return np.union1d(own, self.types[np.isin(self.types[:, 1], below), 0])
            below = wider

    def listed(self) -> str:
        """The classes with the most entities, for errors."""
        if not len(self.ids):
            return "none: no entity of this graph has a class"
        often = np.bincount(self.types[:, 1], minlength=len(self.graph.entities))[self.ids]
        order = np.argsort(-often, kind="stable")
        shown = [
            f"{local_name(self.graph.entities[each])} ({count:,})" for each, count in zip(*self._pairs(order, often), strict=True)
        ]
        more = f" and {len(order) - MOST_LISTED:,} more" if len(order) > MOST_LISTED else ""
        return ", ".join(shown) + more

    def _pairs(self, order: Ints, often: Ints) -> tuple[Sequence[int], Sequence[int]]:
        first = order[:MOST_LISTED]
        return self.ids[first].tolist(), often[first].tolist()
