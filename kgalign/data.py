"""The four things that everything else passes around: graphs, alignments, tasks and candidates.

Each graph numbers its own entities 0..n-1: an entity's id is its position. All objects are frozen and checked once, when they are made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kgalign.errors import DataError, OptionError

Ints = NDArray[Any]  # the kind of number is told to the reader; widths differ with size
Floats = NDArray[Any]
Protocol = Literal["closed", "open"]


@dataclass(frozen=True, eq=False)
class Attributes:
    """The literals of a graph: `values[i]` is what the entity `facts[i, 0]` has for the property `facts[i, 1]`."""

    properties: Sequence[str] = ()
    facts: Ints = field(default_factory=lambda: np.empty((0, 2), np.int64))  # (n, 2) entity id, property id
    values: Sequence[str] = ()
    kinds: Sequence[str] = ()  # (n,) @en for a language, ^^IRI for a datatype, "" for plain text; () for all plain

    def __post_init__(self) -> None:
        if not self.kinds:
            object.__setattr__(self, "kinds", [""] * len(self.values))
        if not len(self.facts) == len(self.values) == len(self.kinds):
            raise DataError(
                f"{len(self.facts)} facts, {len(self.values)} values and {len(self.kinds)} kinds: expected as many of each"
            )


@dataclass(frozen=True, eq=False)
class KnowledgeGraph:
    """Entities with names, and the triples between them."""

    entities: Sequence[str]
    relations: Sequence[str]
    triples: Ints  # (n, 3) head id, relation id, tail id
    names: Sequence[str]
    attributes: Attributes = field(default_factory=Attributes)
    labels: Attributes = field(default_factory=Attributes)  # the literals that became names
    record: Mapping[str, Any] = field(default_factory=dict)  # how it was read, for people and run.json

    def __post_init__(self) -> None:
        _freeze(self, "triples", np.int64, (-1, 3))
        if len(self.names) != len(self.entities):
            raise DataError(f"{len(self.names)} names for {len(self.entities)} entities: expected one name for each")
        _check_ids("a triple's entity", self.triples[:, [0, 2]], len(self.entities))
        _check_ids("a triple's relation", self.triples[:, 1], len(self.relations))

    def __repr__(self) -> str:
        return f"KnowledgeGraph({len(self.entities)} entities, {len(self.relations)} relations, {len(self.triples)} triples)"


@dataclass(frozen=True, eq=False)
class Alignment:
    """Pairs of entities and how sure each is. Seeds, easy pairs, gold links and results are all alignments."""

    pairs: Ints  # (n, 2) source id, target id
    scores: Floats = None  # type: ignore[assignment]  # (n,) probability in [0, 1]; 1 where none is given
    rounds: Ints = None  # type: ignore[assignment]  # (n,) round of Easy-to-Hard that made the pair easy, 0: none did
    record: Mapping[str, Any] = field(default_factory=dict)  # how it came about, for people and run.json

    def __post_init__(self) -> None:
        _freeze(self, "pairs", np.int64, (-1, 2))
        for name, default, dtype in (("scores", 1.0, np.float64), ("rounds", 0, np.int64)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.full(len(self.pairs), default))
            _freeze(self, name, dtype, (len(self.pairs),))
        if len(self.scores) and not (self.scores.min() >= 0 and self.scores.max() <= 1):
            raise DataError("an alignment's scores are probabilities: expected numbers from 0 to 1")

    def __len__(self) -> int:
        return len(self.pairs)

    def __add__(self, other: Alignment) -> Alignment:
        return Alignment(
            np.concatenate([self.pairs, other.pairs]),
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.rounds, other.rounds]),
        )

    @property
    def sources(self) -> Ints:
        return self.pairs[:, 0]

    @property
    def targets(self) -> Ints:
        return self.pairs[:, 1]

    @property
    def keys(self) -> Ints:
        """(n,) one number for each pair, the same for the same pair."""
        return (self.sources << 32) | self.targets

    def where(self, chosen: NDArray[Any]) -> Alignment:
        """The pairs that a mask or an array of positions picks."""
        return replace(self, pairs=self.pairs[chosen], scores=self.scores[chosen], rounds=self.rounds[chosen])

    @classmethod
    def empty(cls) -> Self:
        return cls(np.empty((0, 2), np.int64))


@dataclass(frozen=True, eq=False)
class AlignmentTask:
    """All that a model may see: two graphs, the seeds, who is asked and who is on offer. The gold of the queries is never inside.

    protocol    closed: the pool holds the counterparts of the queries and nothing else, as most papers measure;
                open: everything without a seed is asked and on offer, and many have no counterpart
    """

    source: KnowledgeGraph
    target: KnowledgeGraph
    seeds: Alignment
    queries: Ints  # (n,) source ids to align, ascending
    pool: Ints  # (m,) target ids on offer, ascending
    protocol: Protocol = "open"

    def __post_init__(self) -> None:
        if self.protocol not in ("closed", "open"):
            raise OptionError(f"protocol={self.protocol!r}: expected closed or open")
        for name in ("queries", "pool"):
            object.__setattr__(self, name, np.unique(getattr(self, name)))
            _freeze(self, name, np.int64, (-1,))
        _check_ids("a query", self.queries, len(self.source.entities))
        _check_ids("a pool entry", self.pool, len(self.target.entities))
        _check_ids("a seed's source", self.seeds.sources, len(self.source.entities))
        _check_ids("a seed's target", self.seeds.targets, len(self.target.entities))
        for side, ids in (("source", self.seeds.sources), ("target", self.seeds.targets)):
            if len(np.unique(ids)) < len(ids):
                raise DataError(f"two seeds share a {side} entity: expected each entity in one seed at most")

    def unmatched(self, alignment: Alignment) -> tuple[Ints, Ints]:
        """(a,) the queries and (b,) the pool entries that no link of the alignment touches."""
        return np.setdiff1d(self.queries, alignment.sources), np.setdiff1d(self.pool, alignment.targets)


@dataclass(frozen=True, eq=False)
class Candidates:
    """For each query its possible targets, best first. Rows that have fewer are filled up with target -1 and score -inf.

    temperature     scores / temperature are log-odds: what makes a row's softmax mean what it says
    nobody          the score of "none of these", which takes its share of each row's softmax; -inf: none, one of them must be right
    """

    queries: Ints  # (n,)
    targets: Ints  # (n, k)
    scores: Floats  # (n, k)
    temperature: float = 1.0
    nobody: float = -np.inf

    def __post_init__(self) -> None:
        _freeze(self, "queries", np.int64, (-1,))
        for name in ("targets", "scores"):
            array = np.asarray(getattr(self, name))
            if array.ndim != 2 or len(array) != len(self.queries):
                raise DataError(f"candidates' {name} have the shape {array.shape}: expected ({len(self.queries)}, k)")
            object.__setattr__(self, name, _read_only(array))
        if self.targets.shape != self.scores.shape:
            raise DataError(f"candidates: {self.targets.shape} targets but {self.scores.shape} scores")
        if not self.temperature > 0:
            raise OptionError(f"temperature={self.temperature}: expected a number above 0")

    def __len__(self) -> int:
        return len(self.queries)

    def probabilities(self) -> Floats:
        """(n, k) each row's softmax of score / temperature; 0 where there is no candidate."""
        logits = self.scores.astype(np.float64) / self.temperature
        nobody = self.nobody / self.temperature
        highest = logits.max(axis=1, keepdims=True, initial=nobody)
        with np.errstate(invalid="ignore"):
            weights = np.exp(logits - highest)
            other = np.exp(nobody - highest) if np.isfinite(nobody) else 0.0
        weights[self.targets < 0] = 0
        return weights / np.maximum(weights.sum(axis=1, keepdims=True) + other, 1e-300)

    def edges(self) -> tuple[Ints, Ints]:
        """(row, column) positions of the candidates that are there, row by row."""
        rows, slots = np.nonzero(self.targets >= 0)
        return rows, slots


def hold_out(task: AlignmentTask, fraction: float = 0.1, seed: int = 0) -> tuple[AlignmentTask, Alignment]:
    """The same task with some of its seeds asked instead of told, and those seeds: development links.

    They are asked in the company of the other queries, so that they meet the competition of the real run.
    """
    if not 0 < fraction < 1:
        raise OptionError(f"fraction={fraction}: expected a number between 0 and 1")
    held = np.zeros(len(task.seeds), bool)
    order = np.random.default_rng(seed).permutation(len(task.seeds))
    held[order[: round(fraction * len(task.seeds))]] = True
    dev = task.seeds.where(held)
    asked = replace(
        task,
        seeds=task.seeds.where(~held),
        queries=np.union1d(task.queries, dev.sources),
        pool=np.union1d(task.pool, dev.targets),
    )
    return asked, dev


def share_names(task: AlignmentTask, known: Alignment) -> AlignmentTask:
    """The same task in which the source of each known pair bears the name of its target.

    The paper's way to tell a model of easy pairs when the model has no place for them.
    """
    names = list(task.source.names)
    for source, target in known.pairs.tolist():
        names[source] = task.target.names[target]
    return replace(task, source=replace(task.source, names=names))


def _freeze(owner: object, name: str, dtype: type, shape: tuple[int, ...]) -> None:
    """Stores the field as a read-only array of that type and shape."""
    array: NDArray[Any] = np.asarray(getattr(owner, name), dtype=dtype)
    wrong = array.ndim != len(shape) or any(want not in (-1, got) for want, got in zip(shape, array.shape, strict=True))
    if wrong:
        raise DataError(f"{type(owner).__name__}.{name} has the shape {array.shape}: expected {shape}".replace("-1", "n"))
    object.__setattr__(owner, name, _read_only(array))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def _check_ids(what: str, ids: ArrayLike, count: int) -> None:
    array = np.asarray(ids)
    if array.size and (array.min() < 0 or array.max() >= count):
        raise DataError(f"{what} has the id {array.min() if array.min() < 0 else array.max()}: expected 0 to {count - 1}")
