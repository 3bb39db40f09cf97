"""The entity that an end of a link means: by its IRI in any spelling, by its id, or by a name that no other entity has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kgalign.data import KnowledgeGraph
from kgalign.files import of_cell
from kgalign.iri import as_name, is_iri, same_spelling
from kgalign.readers.graphs import entity_ids

MOST_LISTED = 3  # entities of one name in a message


@dataclass(frozen=True)
class Ends:
    """The entities of one graph, as files of links call them.

    Attributes:
        side: `source` or `target`.
        graph: The graph.
        ids: The id of each entity by its spellings in the files of the graph.
    """

    side: str
    graph: KnowledgeGraph
    ids: Mapping[str, int]

    @classmethod
    def of(cls, side: str, graph: KnowledgeGraph) -> Ends:
        """The entities of a graph by the spellings that it has itself."""
        return cls(side, graph, entity_ids(graph))

    def find(self, text: str) -> Sequence[int]:
        """The entities that a text may mean: one where it is clear, none where the graph has no such entity."""
        number = self._id(text)
        if number is not None:
            return [number]
        if is_iri(text.strip("<>")):
            return []
        for name in (as_name(text), as_name(of_cell(text))):
            if found := self._names.get(name) or self._folded_names.get(name.casefold()):
                return found
        return []

    def has_id(self, text: str) -> bool:
        """Whether a text is the IRI or the id of an entity."""
        return self._id(text) is not None

    def is_called(self, text: str, name: str) -> bool:
        """Whether the one entity that a text means has a name; upper and lower case do not count."""
        found = self.find(text)
        return len(found) == 1 and found[0] in self._folded_names.get(as_name(name).casefold(), ())

    def problem(self, text: str) -> str:
        """Why a text does not mean one entity."""
        found = self.find(text)
        if not found:
            return f"the {self.side} graph has no entity {text!r}"
        listed = ", ".join(f"<{self.graph.entities[entity]}>" for entity in found[:MOST_LISTED])
        more = f" and {len(found) - MOST_LISTED:,} more" if len(found) > MOST_LISTED else ""
        return f"{len(found):,} entities of the {self.side} graph are called {text!r}: {listed}{more}"

    def _id(self, text: str) -> int | None:
        """The entity that a text is the IRI or the id of."""
        for spelling in (text, of_cell(text), text.strip('"')):
            if spelling in self.ids:
                return self.ids[spelling]
            if (same := same_spelling(spelling)) in self.ids:
                return self.ids[same]
            if same in self._spellings:
                return self._spellings[same]
        return None

    @cached_property
    def _spellings(self) -> dict[str, int]:
        """The id of each entity by the one spelling that all files share. Most links do without it, since they spell as the graph does."""
        return {same_spelling(entity): number for number, entity in enumerate(self.graph.entities)}

    @cached_property
    def _names(self) -> dict[str, list[int]]:
        """The entities that bear each name."""
        return _owners(self.graph.names.owner.tolist(), map(as_name, self.graph.names.text))

    @cached_property
    def _folded_names(self) -> dict[str, list[int]]:
        """The same by names in small letters."""
        return _owners(self.graph.names.owner.tolist(), (as_name(text).casefold() for text in self.graph.names.text))


def _owners(owners: Iterable[int], names: Iterable[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for owner, name in zip(owners, names, strict=True):
        own = found.setdefault(name, [])
        if owner not in own[-1:]:  # owners ascend, and one may have a name twice, in two languages
            own.append(owner)
    return found
