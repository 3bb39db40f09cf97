"""The files that a run was made from: their SHA-256, and whether they are still the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from kgalign.errors import DataError

REPORT = "run.json"


def file_hashes(places: Iterable[str | Path | None]) -> dict[str, str]:
    """Path and SHA-256 of each file, also of those in folders or of a pattern."""
    files = sorted({file for place in places if place is not None for file in files_at(Path(place).resolve())})
    return {str(file): _hash(file) for file in files}


def check_unchanged(folder: Path, arguments: Mapping[str, Any], recorded: Mapping[str, str]) -> None:
    """Refuses files that are not as they were when the run was made: changed, gone, new in a folder of RDF, or not recorded.

    Args:
        folder: The run folder, for messages.
        arguments: How the run has read its graphs, see `kgalign.read`.
        recorded: Path and SHA-256 of each file at that time.
    """
    otherwise = f"the run in {folder}; align again, or set `changed` to use it as it is now"
    for place in input_places(arguments):
        of_place = [name for name in recorded if is_part(Path(name), place)]
        for name in of_place:
            if not Path(name).is_file():
                raise DataError(f"{name}: no such file; expected the one that was read for {otherwise}")
            if (digest := _hash(Path(name))) != recorded[name]:
                was, now = recorded[name][:12], digest[:12]
                raise DataError(
                    f"{name}: has changed (SHA-256 {was}… is {now}… now); expected the file that was read for {otherwise}"
                )
        if place.is_file() and str(place) not in recorded:
            raise DataError(
                f"{folder / REPORT}: expected the SHA-256 of {place}, found none; this is no whole record of {otherwise}"
            )
        is_graph = arguments.get("target") is not None  # a dataset folder has fixed names, so that other files do not matter
        for file in files_at(place) if is_graph else ():
            if str(file) not in recorded:
                raise DataError(f"{file}: is new; expected the files that were read for {otherwise}")


def input_places(arguments: Mapping[str, Any]) -> list[Path]:
    """The files, folders and patterns of files among the arguments of `kgalign.read`."""
    texts = [text for value in arguments.values() for text in (value if isinstance(value, list) else [value])]
    return [Path(text) for text in texts if isinstance(text, str) and Path(text).is_absolute() and "://" not in text]


def files_at(place: Path) -> Iterator[Path]:
    """The files at a place. Runs in a folder are no inputs, and neither are hidden files."""
    if place.is_file():
        yield place
    elif place.is_dir():
        yield from _files_below(place)
    elif place.parent.is_dir():
        yield from (each for each in sorted(place.parent.iterdir()) if fnmatch(each.name, place.name) and each.is_file())


def _files_below(place: Path) -> Iterator[Path]:
    """The files in a folder and in those inside of it, each of which is entered once: links may lead back to where they are."""
    waiting, seen = [place], set[Path]()
    while waiting:
        folder = waiting.pop()
        if folder.resolve() in seen or (folder / REPORT).is_file():
            continue
        seen.add(folder.resolve())
        inside = [each for each in sorted(folder.iterdir()) if not each.name.startswith(".")]
        yield from (each for each in inside if each.is_file())
        waiting += [each for each in reversed(inside) if each.is_dir()]


def is_part(file: Path, place: Path) -> bool:
    """Whether a file is at a place: it is the place, in that folder, or fits that pattern."""
    return file == place or place in file.parents or (file.parent == place.parent and fnmatch(file.name, place.name))


def _hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
