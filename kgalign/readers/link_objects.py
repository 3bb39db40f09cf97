"""Links out of objects in memory: pairs of ids, mappings, the links of a run, and data frames of pandas and polars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kgalign.data import Alignment
from kgalign.errors import DataError, OptionError
from kgalign.readers.frames import cell_of, columns_of
from kgalign.readers.link_files.table import Columns, link_of, named_columns
from kgalign.readers.objects import FRAMES, kind_in_memory
from kgalign.seams import GivenLink, LinksInMemory

EXPECTED = "a file, pairs of source id and target id, a mapping of source ids to target ids, `run.links`, or a data frame"


def links_in_memory(thing: LinksInMemory, option: str) -> list[GivenLink]:
    """The links of an object, as texts.

    Args:
        thing: Pairs (source id, target id), of which further elements such as a probability are skipped; a mapping; the links of a run; or a
            data frame. Its columns go by their names, as those of a table in a file do, or else by their order.
        option: The name of the option that it is given for, for errors.
    """
    if kind_in_memory(thing) in FRAMES:
        return _links_of_frame(thing, option)
    if isinstance(thing, Mapping):
        thing = list(thing.items())
    if isinstance(thing, Alignment):
        raise OptionError(f"`{option}`: an Alignment has the positions of entities in its own graphs; expected {EXPECTED}")
    if isinstance(thing, str | bytes) or not isinstance(thing, Iterable):
        raise OptionError(f"`{option}`: expected {EXPECTED}, found {type(thing).__name__}")
    return [link_of(option, number, _two(option, number, pair), Columns()) for number, pair in enumerate(thing, start=1)]


def _links_of_frame(frame: Any, option: str) -> list[GivenLink]:
    """The rows of a data frame."""
    names, columns = columns_of(frame)
    if len(names) < 2:
        raise DataError(f"`{option}`: expected columns of source and target, found {', '.join(names) or 'no column'}")
    rows = enumerate(zip(*columns, strict=True), start=1)
    meaning = named_columns(names) or Columns()
    return [link_of(option, number, list(map(cell_of, row)), meaning) for number, row in rows]


def _two(option: str, number: int, pair: Any) -> Sequence[str]:
    """The two ids of a pair, as texts."""
    if hasattr(pair, "tolist"):  # a row of a numpy array
        pair = pair.tolist()
    if isinstance(pair, str | bytes) or not isinstance(pair, Sequence) or len(pair) < 2:
        raise DataError(f"{option}:{number}: expected a pair of source id and target id, found {pair!r}")
    for end in pair[:2]:
        if isinstance(end, Iterable) and not isinstance(end, str):
            raise DataError(f"{option}:{number}: expected the id of an entity, found {end!r}")
    return [cell_of(end) for end in pair[:2]]
