"""What a user wants to be aligned, and nothing else: entities of certain classes with each other, or certain entities."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kgalign.data import Alignment, Ints, KnowledgeGraph
from kgalign.errors import DataError, OptionError
from kgalign.files import open_lines
from kgalign.readers.classes import Classes
from kgalign.readers.link_ends import Ends

Types = str | Mapping[str, str] | Iterable[str | Sequence[str]]  # source class and target class, or a text such as Film=Movie
Only = str | Iterable[str]  # IRIs, classes and files, or a text with commas between them
logger = logging.getLogger(__name__)
SIDES = ("source", "target")
MOST_TYPES = 62  # bits of an int64


@dataclass(frozen=True, eq=False)
class Restrictions:
    """Which entities may be aligned.

    Attributes:
        types: See `AlignmentTask.types`.
        named: For either side (n,) entities that were named one by one, None: no entities were chosen.
        members: For either side (n,) entities of classes that were named.
    """

    types: tuple[Ints, Ints] | None = None
    named: tuple[Ints | None, Ints | None] = (None, None)
    members: tuple[Ints, Ints] = (np.empty(0, np.int64), np.empty(0, np.int64))

    @property
    def exist(self) -> bool:
        """Whether anything is restricted at all."""
        return self.types is not None or any(named is not None for named in self.named)

    def chosen(self, column: int, alignable: Ints, seeds: Ints) -> Ints:
        """(n,) the entities of a side that are aligned, of those that could be. Entities that were named are aligned in any case."""
        entities, named = alignable, self.named[column]
        if named is not None:
            entities = np.union1d(np.intersect1d(alignable, self.members[column]), np.setdiff1d(named, seeds))
        if self.types is not None:
            entities = entities[self.types[column][entities] != 0]
        if not len(entities):
            option = f"`only_{SIDES[column]}`" if named is not None else "`types`"
            raise OptionError(
                f"{option}: no entity of the {SIDES[column]} is left to be aligned; expected classes or IRIs with some"
            )
        return entities

    def within(self, links: Alignment) -> Alignment:
        """The links of which both entities may be aligned, and with each other."""
        kept = np.ones(len(links), bool)
        for column, (named, members) in enumerate(zip(self.named, self.members, strict=True)):
            if named is not None:
                kept &= np.isin(links.pairs[:, column], np.concatenate([named, members]))
        if self.types is not None:
            kept &= (self.types[0][links.sources] & self.types[1][links.targets]) != 0
        return links.where(kept)


def find_restrictions(
    graphs: tuple[KnowledgeGraph, KnowledgeGraph],
    types: Types | None,
    only: tuple[Only, Only],
    strict: bool = False,
) -> Restrictions:
    """The entities of two graphs that the options of `make_task` mean.

    Args:
        graphs: Source and target.
        types: Classes of the source, each with a class of the target.
        only: For either side IRIs, classes, or files with one IRI a line. Empty: all entities.
        strict: Refuse IRIs in files that the graph does not have.
    """
    pairs = pairs_of_types(types)
    chosen = chosen_of("only_source", only[0]), chosen_of("only_target", only[1])
    if not pairs and not any(chosen):
        return Restrictions()
    classes = [Classes.of(graph) for graph in graphs]
    masks = tuple(
        _masks(side, own, [pair[column] for pair in pairs]) for column, (side, own) in enumerate(zip(SIDES, classes, strict=True))
    )
    found = [
        _choose(Ends.of(side, graph), own, wanted, strict) if wanted else (None, np.empty(0, np.int64))
        for side, graph, own, wanted in zip(SIDES, graphs, classes, chosen, strict=True)
    ]
    return Restrictions((masks[0], masks[1]) if pairs else None, (found[0][0], found[1][0]), (found[0][1], found[1][1]))


def pairs_of_types(types: Types | None) -> list[tuple[str, str]]:
    """Pairs of a source class and a target class, out of a mapping, pairs, or texts such as `Film=Movie,Book=Novel`."""
    expected = f"expected up to {MOST_TYPES} pairs of a source class and a target class, such as Film=Movie"
    if isinstance(types, str):
        types = [types]
    if not isinstance(types, Iterable | None):
        raise OptionError(f"`types`: {expected}, found {type(types).__name__}")
    found: list[tuple[str, str]] = []
    for each in types.items() if isinstance(types, Mapping) else types or ():
        for pair in [part.split("=") for part in each.split(",")] if isinstance(each, str) else [each]:
            if not isinstance(pair, Sequence) or len(pair) != 2 or not all(isinstance(name, str) and name.strip() for name in pair):
                if isinstance(each, str):
                    raise OptionError(
                        f"`types` {'='.join(pair)}: expected a class of the source, = and a class of the target, as in Film=Movie"
                    )
                raise OptionError(f"`types`: {expected}, found {pair!r}")
            found.append((pair[0].strip(), pair[1].strip()))
    if len(found) > MOST_TYPES:
        raise OptionError(f"`types`: {expected}, found {len(found)} of them")
    return found


def chosen_of(option: str, only: Only) -> list[str]:
    """IRIs, classes and files, out of a list of them, or out of one text with commas between them."""
    if isinstance(only, str):
        parts = [only] if os.path.isfile(only) else only.split(",")  # noqa: PTH113 (Path raises if the text is too long)
        return [part.strip() for part in parts if part.strip()]
    if not isinstance(only, Iterable) or isinstance(only, bytes):
        raise OptionError(f"`{option}`: expected IRIs, ids, classes or files, found {type(only).__name__}")
    return [str(each) for each in only]


def _masks(side: str, classes: Classes, wanted: Sequence[str]) -> Ints:
    """(n,) which of the wanted classes each entity belongs to, one bit for each."""
    masks = np.zeros(len(classes.graph.entities), np.int64)
    for bit, text in enumerate(wanted):
        found = classes.find(text)
        if not len(found):
            raise OptionError(f"`types`: the {side} graph has no class {text!r}; expected one of its classes: {classes.listed()}")
        masks[classes.members(found)] |= 1 << bit
    return masks


def _choose(ends: Ends, classes: Classes, wanted: Sequence[str], strict: bool) -> tuple[Ints, Ints]:
    """(n,) the entities that are named one by one, and (m,) the members of the classes that are named."""
    named: list[int] = []
    members = [np.empty(0, np.int64)]
    for text in wanted:
        if "://" not in text and os.path.isfile(text):  # noqa: PTH113
            named += _read_list(Path(text), ends, strict)
            continue
        found, entity = classes.find(text), ends.find(text)
        of_class = classes.members(found)
        if len(np.setdiff1d(of_class, found)):
            members.append(of_class)
        elif len(entity) == 1:
            named += entity
        else:
            raise OptionError(
                f"`only_{ends.side}`: {ends.problem(text)}, and no such class or file; expected an IRI, a file with one IRI a line, "
                f"or one of its classes: {classes.listed()}"
            )
    return np.unique(np.array(named, np.int64)), np.unique(np.concatenate(members))


def _read_list(path: Path, ends: Ends, strict: bool) -> list[int]:
    """The entities of a file with one IRI a line. Those that the graph does not have are counted and left out."""
    lines = [(number, line.strip()) for number, line in open_lines(path)]
    found = [(number, text, ends.find(text)) for number, text in lines]
    missing = [(number, text) for number, text, entity in found if len(entity) != 1]
    if missing:
        problem = f"{path}:{missing[0][0]}: {ends.problem(missing[0][1])}"
        if strict or len(missing) == len(found):
            raise DataError(f"{problem}; expected one IRI of that graph a line")
        logger.warning(
            "%s: %d of %d lines are left out; the first: %s", path, len(missing), len(found), problem.removeprefix(f"{path}:")
        )
    return [entity[0] for _, _, entity in found if len(entity) == 1]
