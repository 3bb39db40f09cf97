"""The contracts behind which everything else can change: models, decoders, readers and writers.

Whatever keeps one of these contracts is one file and one registered name, see `kgalign.registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from kgalign.data import Alignment, AlignmentTask, Candidates, Floats, Ints, KnowledgeGraph

Options = Mapping[str, Any]
Decoder = Callable[[Candidates], Alignment]  # may leave a query unmatched; the score of a link is its probability


@dataclass(frozen=True)
class Capabilities:
    """What a model can do, and how benchmarks run it. Every model declares this as the field `capabilities`.

    Attributes:
        soft_evidence: `predict` takes uncertain links too, with their probabilities as scores. Other models get confident links only.
        learns_from_seeds: `fit` learns from the seeds, so seeds that are held out afterwards would not measure anything.
        prepares: The fitted model has `for_task(task)`, which computes once what every round on that task needs.
        explains: The fitted model has `contributions(task, known, pairs)`.
        stores: The fitted model has `save(folder)`, and the model has `load(folder, **options)`.
        parts: Kinds of evidence that the option `without` can leave out, in the order in which an ablation adds them.
        systems: The names of the rows in tables, each with its options. Empty: one row with the registered name.
        plain_options: Options for rows in which no link is fed back.
        quick_options: Options for a run that takes seconds on a small graph.
    """

    soft_evidence: bool = False
    learns_from_seeds: bool = False
    prepares: bool = False
    explains: bool = False
    stores: bool = False
    parts: tuple[str, ...] = ()
    systems: Mapping[str, Options] = field(default_factory=dict)
    plain_options: Options = field(default_factory=dict)
    quick_options: Options = field(default_factory=dict)


class FittedModel(Protocol):
    """Scores candidates.

    `known` holds the links that count as true by now: seeds with a score of 1, and confident links of earlier rounds. A model with the
    capability `soft_evidence` gets every plausible link with its probability as the score.
    """

    @property
    def capabilities(self) -> Capabilities: ...

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates: ...


class Model(Protocol):
    """The options of a model. `fit` learns what the seeds can teach and returns a fitted model."""

    @property
    def capabilities(self) -> Capabilities: ...

    def fit(self, task: AlignmentTask) -> Any: ...


@dataclass(frozen=True, eq=False)
class Contributions:
    """How much each kind of evidence adds to the score of some pairs.

    Attributes:
        kinds: The names of the kinds of evidence.
        descriptions: What each kind says of a pair, in words.
        amounts: (pairs, kinds) weight times similarity; below 0: evidence against the pair.
    """

    kinds: tuple[str, ...]
    descriptions: tuple[str, ...]
    amounts: Floats


class Explaining(Protocol):
    """A fitted model that can say what its scores are made of: the capability `explains`."""

    def contributions(self, task: AlignmentTask, known: Alignment, pairs: Ints) -> Contributions: ...


class GraphReader(Protocol):
    """Reads one graph from a place: a file, several files, a folder or an address."""

    expects: str  # what it reads, for help and errors

    def accepts(self, place: str | Path | Sequence[str | Path]) -> bool: ...

    def read(self, place: str | Path | Sequence[str | Path], *, strict: bool = False) -> KnowledgeGraph: ...


class DatasetReader(Protocol):
    """Reads a folder that holds two graphs and their links."""

    NEEDS: str  # the files that the folder must have, for errors

    def missing(self, folder: Path) -> list[str]: ...

    def read_folder(self, folder: Path, fold: int = 1) -> Any: ...


LinkWriter = Callable[[Alignment, AlignmentTask, Path], None]
