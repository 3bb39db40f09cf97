"""What to measure and on which datasets. Lines that the file of results already has are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from kgalign.bench import paper
from kgalign.bench.results import CANONICAL, Key, Line, append, key, read_lines
from kgalign.data import Alignment, AlignmentTask, Protocol
from kgalign.errors import DataError, OptionError
from kgalign.models import MODELS, model_options
from kgalign.readers import DATASETS, dataset_format, read
from kgalign.readers.openea import FOLDS
from kgalign.readers.places import expected

VECTOR_FILES = ("glove*.txt", "glove*.txt.gz")


@dataclass(frozen=True)
class Plan:
    """What a table is made of.

    Attributes:
        data: A dataset folder, or a folder of them.
        results: The file of lines. None: nothing is written, and nothing counts as measured.
        models: The models to measure; empty: those that the table has.
        pairs: The datasets to take; empty: all in `data`.
        sets: Parts of the names of the sets to take, for the table of real graphs; empty: all in `data`.
        swap: Align the target with the source, for the table of real graphs.
        folds: The folds to take; empty: all that a dataset has.
        seeds: The random seeds; one line for each.
        device: The device for models that train: auto, cpu or cuda.
        again: Measure lines that the file already has, too.
        refit: Add rows in which confident links become seeds of a new training.
        development: Measure on links held out of the seeds instead of the test links.
        settings: Options of models; each model takes those that it has.
        label: A suffix for the names of systems, for rows with other settings.
        keep: A folder for trained models. Those that it already has are used.
    """

    data: Path
    results: Path | None = None
    models: Sequence[str] = ()
    pairs: Sequence[str] = ()
    sets: Sequence[str] = ()
    swap: bool = False
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
            MODELS.check(model)
        if not self.seeds or min(self.seeds) < 0:
            raise OptionError("`seeds`: expected one or more whole numbers, 0 or above")

    @cached_property
    def datasets(self) -> list[Dataset]:
        """The planned datasets of the folder, each with each of its folds."""
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
        """Whether the file had the line when it was first looked at."""
        return (experiment, system, pair, seed, protocol, split) in self._finished

    def settings_of(self, model: str) -> dict[str, Any]:
        """The settings that are options of a model."""
        return {option: value for option, value in self.settings.items() if option in model_options(model)}

    def add(self, line: Line) -> Line:
        """Adds the line to the file, if there is one, and returns it."""
        if self.results is not None:
            append(line, self.results)
        return line


@dataclass(frozen=True)
class Dataset:
    """A folder of two graphs with their links.

    Attributes:
        folder: The folder; its name is the name of the pair.
        split: The name that lines give to its division into seeds and test links.
        fold: The number of the fold, for formats that have several.
    """

    folder: Path
    split: str
    fold: int = 1

    @property
    def pair(self) -> str:
        return self.folder.resolve().name

    def read(self, protocol: Protocol = "closed") -> tuple[AlignmentTask, Alignment]:
        return read(self.folder, protocol=protocol, fold=self.fold)


@dataclass(frozen=True, eq=False)
class LazyTask:
    """The task and the gold links of a dataset in the closed protocol. They are read when first needed, and once for all rows."""

    dataset: Dataset

    @property
    def task(self) -> AlignmentTask:
        return self._read[0]

    @property
    def gold(self) -> Alignment:
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[AlignmentTask, Alignment]:
        return self.dataset.read()


def find_datasets(data: Path, pairs: Sequence[str] = (), folds: Sequence[int] = ()) -> list[Dataset]:
    """The datasets at a path: the folder itself, those in it, or those in its folder dbp15k.

    Args:
        data: The path.
        pairs: Names of folders to take; empty: all.
        folds: Folds to take, for formats that have several; empty: all.
    """
    if not data.is_dir():
        raise DataError(f"{data}: no such folder; expected datasets, for instance DBP15K (kgalign download dbp15k)")
    inside = data / "dbp15k" if (data / "dbp15k").is_dir() else data
    folders = [data] if dataset_format(data) else [folder for folder in sorted(inside.iterdir()) if dataset_format(folder)]
    if not folders:
        raise DataError(f"{data}: no dataset in this folder; expected {expected(DATASETS)}; or folders of them")
    found = {folder.resolve().name: folder for folder in folders}
    for pair in pairs:
        if pair not in found:
            raise OptionError(f"unknown pair {pair!r}: {inside} has {', '.join(found)}")
    names = pairs or [*(pair for pair in paper.PAIRS if pair in found), *(pair for pair in found if pair not in paper.PAIRS)]
    return [dataset for name in names for dataset in _with_folds(found[name], folds)]


def _with_folds(folder: Path, folds: Sequence[int]) -> list[Dataset]:
    """The folder once, or once for each of its folds."""
    place = folder / FOLDS
    if dataset_format(folder) != "openea" or not place.is_dir():
        return [Dataset(folder, CANONICAL if dataset_format(folder) == "dbp15k" else "as given")]
    numbers = sorted(int(path.name) for path in place.iterdir() if path.name.isdecimal())
    for fold in folds:
        if fold not in numbers:
            raise OptionError(f"unknown fold {fold}: {place} has {', '.join(map(str, numbers))}")
    return [Dataset(folder, f"fold {fold}", fold) for fold in folds or numbers]
