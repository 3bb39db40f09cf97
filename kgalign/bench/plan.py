"""What is to be measured, and on which data; what has its line already is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from kgalign.bench import paper
from kgalign.bench.results import CANONICAL, Key, Line, append, key, read_lines
from kgalign.data import Alignment, AlignmentTask, Protocol
from kgalign.errors import DataError, OptionError
from kgalign.models import MODELS
from kgalign.readers import FORMATS, read

VECTOR_FILES = ("glove*.txt", "glove*.txt.gz")


@dataclass(frozen=True)
class Plan:
    """What a table is to be made of. Empty lists of models, pairs and folds: those that the table and the data have.

    results     the file of lines; None: nothing is written, and nothing counts as measured before
    again       measures what has its line too
    refit       adds rows in which easy pairs become seeds of a new training
    development asks links held out of the seeds in place of the test links
    settings    options of models, for those that have them
    label       is added to the names of systems, for rows with other settings
    keep        a folder for trained models; those that are there are taken
    """

    data: Path
    results: Path | None = None
    models: Sequence[str] = ()
    pairs: Sequence[str] = ()
    folds: Sequence[int] = ()
    seeds: Sequence[int] = (0, 1, 2)
    device: str = "auto"
    again: bool = False
    refit: bool = False
    development: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    keep: Path | None = None

    def __post_init__(self) -> None:
        for model in self.models:
            if model not in MODELS:
                raise OptionError(f"unknown model {model!r}: expected some of {', '.join(MODELS)}")
        if not self.seeds or min(self.seeds) < 0:
            raise OptionError("--seeds: expected one or more whole numbers, 0 or above")

    @cached_property
    def datasets(self) -> list[Dataset]:
        """The datasets of the folder that are wanted, each with each of its folds."""
        return find_datasets(self.data, self.pairs, self.folds)

    @cached_property
    def word_vectors(self) -> str | None:
        """A file of word vectors beside the data or up to two folders above."""
        folders = [self.data.resolve(), *self.data.resolve().parents][:3]
        found = [path for folder in folders for pattern in VECTOR_FILES for path in sorted(folder.glob(pattern))]
        return str(found[0]) if found else None

    @cached_property
    def _finished(self) -> set[Key]:
        return set() if self.again or self.results is None else {key(line) for line in read_lines(self.results)}

    def is_finished(self, experiment: str, system: str, pair: str, seed: int, protocol: str, split: str) -> bool:
        """Whether the file has had the line since before."""
        return (experiment, system, pair, seed, protocol, split) in self._finished

    def note(self, line: Line) -> Line:
        """Adds the line to the file, where there is one."""
        if self.results is not None:
            append(line, self.results)
        return line


@dataclass(frozen=True)
class Dataset:
    """A folder of two graphs with their links, and the fold."""

    folder: Path
    split: str
    fold: int = 1

    @property
    def pair(self) -> str:
        return self.folder.resolve().name

    def read(self, protocol: Protocol = "closed") -> tuple[AlignmentTask, Alignment]:
        return _read(self.folder, protocol, self.fold)


@lru_cache(maxsize=1)
def _read(folder: Path, protocol: Protocol, fold: int) -> tuple[AlignmentTask, Alignment]:
    """Remembered, since one system after the other asks for the same."""
    return read(folder, protocol=protocol, fold=fold)


def find_datasets(data: Path, pairs: Sequence[str] = (), folds: Sequence[int] = ()) -> list[Dataset]:
    """The datasets at a path: the folder itself, those in it, or those in its folder dbp15k."""
    if not data.is_dir():
        raise DataError(f"{data}: no such folder; expected datasets, for instance DBP15K (kgalign download dbp15k)")
    inside = data / "dbp15k" if (data / "dbp15k").is_dir() else data
    folders = [data] if _format(data) else [folder for folder in sorted(inside.iterdir()) if folder.is_dir() and _format(folder)]
    if not folders:
        raise DataError(f"{data}: no dataset in this folder; expected one of {', '.join(FORMATS)}, or folders of them")
    found = {folder.resolve().name: folder for folder in folders}
    for pair in pairs:
        if pair not in found:
            raise OptionError(f"unknown pair {pair!r}: {inside} has {', '.join(found)}")
    names = pairs or [*(pair for pair in paper.PAIRS if pair in found), *(pair for pair in found if pair not in paper.PAIRS)]
    return [dataset for name in names for dataset in _with_folds(found[name], folds)]


def _with_folds(folder: Path, folds: Sequence[int]) -> list[Dataset]:
    """The folder once, or once for each of its folds."""
    there = folder / "721_5fold"
    if _format(folder) != "OpenEA" or not there.is_dir():
        return [Dataset(folder, CANONICAL if _format(folder) == "DBP15K" else "as given")]
    numbers = sorted(int(path.name) for path in there.iterdir() if path.name.isdecimal())
    for fold in folds:
        if fold not in numbers:
            raise OptionError(f"unknown fold {fold}: {there} has {', '.join(map(str, numbers))}")
    return [Dataset(folder, f"fold {fold}", fold) for fold in folds or numbers]


def _format(folder: Path) -> str | None:
    return next((name for name, module in FORMATS.items() if not module.missing(folder)), None)
