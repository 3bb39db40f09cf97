"""The reader for a place: the first one that accepts it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kgalign.errors import DataError, OptionError
from kgalign.readers.objects import EXPECTED, kind_in_memory
from kgalign.registry import Registry
from kgalign.seams import InMemory, Place

logger = logging.getLogger(__name__)


def find_reader(readers: Registry, place: Place) -> str | None:
    """The name of the reader that reads the place; None: no reader accepts it.

    Readers of installed packages come first, so that they may take over a format. The built-in ones follow in their own order.
    """
    return next((name for name, reader in _in_order(readers) if reader.accepts(place)), None)


def choose_reader(readers: Registry, place: Place) -> str:
    """The name of the reader that reads the place. A place that no reader accepts is refused with the places that they expect."""
    name = find_reader(readers, place)
    if name is None:
        found = "these files do not make up a graph"
        if isinstance(place, str | Path):
            found = "no graph in this folder" if Path(place).is_dir() else nothing_there(place)
        raise DataError(f"{place_text(place)}: {found}; expected {expected(readers)}")
    return name


def nothing_there(place: str | Path) -> str:
    """Why there is nothing at a place that is no file and no folder."""
    if str(place).startswith(("http:", "https:", "ftp:")):  # a Path has one slash behind the colon
        return "nothing is fetched from the web: download the file first, or put sparql+ before the address of an endpoint"
    return "no such file or folder"


def expected(readers: Registry) -> str:
    """The places that the readers expect, as one phrase for help and errors."""
    *others, last = (reader.expects for _, reader in _loadable(readers, readers))
    return f"{', '.join(others)}, or {last}"


def expand(place: Place | InMemory) -> Place | InMemory:
    """The place as readers see it: a pattern is replaced by its files, and a list of one file by that file."""
    if kind_in_memory(place):
        return place
    if isinstance(place, str | Path):
        paths = _matching_files(Path(place)) if "://" not in str(place) else []
        return place if not paths else paths[0] if len(paths) == 1 else paths
    if not isinstance(place, Sequence) or not all(isinstance(each, str | Path) for each in place):
        raise OptionError(f"{type(place).__name__}: expected {EXPECTED}; KnowledgeGraph.from_triples takes triples")
    if not place:
        raise DataError("no files given for a graph: expected at least one")
    return place[0] if len(place) == 1 else list(place)


def place_text(place: Place | InMemory) -> str:
    """The place on one line, for messages."""
    if kind := kind_in_memory(place):
        return kind
    return str(place) if isinstance(place, str | Path) else ", ".join(map(str, place))


def _in_order(readers: Registry) -> Iterator[tuple[str, Any]]:
    """The readers, those of installed packages first; a broken one is passed over, and the log says so."""
    return _loadable(readers, (*(name for name in readers if name not in readers.built_in), *readers.built_in), logging.WARNING)


def _loadable(readers: Registry, names: Iterable[str], level: int = logging.DEBUG) -> Iterator[tuple[str, Any]]:
    for name in names:
        try:
            yield name, readers[name]
        except OptionError as error:
            logger.log(level, "%s", error)


def _matching_files(path: Path) -> list[Path]:
    """The files that a pattern stands for; none where the path is not a pattern."""
    if path.exists() or not any(sign in path.name for sign in "*?["):
        return []
    found = sorted(path.parent.glob(path.name))
    if not found:
        raise DataError(f"{path}: no file has such a name")
    return found
