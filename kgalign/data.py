"""The types that every stage takes and returns: graphs, alignments, tasks and candidates.

Each graph numbers its own entities 0..n-1: an entity's id is its position. All objects are frozen and checked once, when they are made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kgalign.errors import DataError, OptionError

Ints = NDArray[Any]  # integers; the alias documents the kind of number, widths differ with size
Floats = NDArray[Any]
Protocol = Literal["closed", "open"]


@dataclass(frozen=True, eq=False)
class Attributes:
    """The literals of a graph: the entity `facts[i, 0]` has `values[i]` for the property `facts[i, 1]`.

    Attributes:
        properties: The IRIs of the properties; a property's id is its position.
        facts: (n, 2) entity id, property id.
        values: (n,) the text of each literal.
        kinds: (n,) `@en` for a language, `^^IRI` for a datatype, empty for plain text. `()`: all are plain text.
    """

    properties: Sequence[str] = ()
    facts: Ints = field(default_factory=lambda: np.empty((0, 2), np.int64))
    values: Sequence[str] = ()
    kinds: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.kinds:
            object.__setattr__(self, "kinds", [""] * len(self.values))
        if not len(self.facts) == len(self.values) == len(self.kinds):
            raise DataError(
                f"{len(self.facts)} facts, {len(self.values)} values and {len(self.kinds)} kinds: expected as many of each"
            )


@dataclass(frozen=True, eq=False)
class KnowledgeGraph:
    """Entities with names, and the triples between them.

    Attributes:
        entities: The IRIs of the entities; an entity's id is its position.
        relations: The IRIs of the relations; a relation's id is its position.
        triples: (n, 3) head id, relation id, tail id.
        names: One name for each entity; empty where it has none.
        attributes: The literals.
        labels: The literals that became names.
        record: How the graph was read, for people and run.json.
    """

    entities: Sequence[str]
    relations: Sequence[str]
    triples: Ints
    names: Sequence[str]
    attributes: Attributes = field(default_factory=Attributes)
    labels: Attributes = field(default_factory=Attributes)
    record: Mapping[str, Any] = field(default_factory=dict)

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
    """Links between two graphs with their probabilities. Seeds, confident links, gold links and results are all alignments.

    Attributes:
        pairs: (n, 2) source id, target id.
        scores: (n,) the probability of each link, 0 to 1; 1 where none is given.
        rounds: (n,) the round of Easy-to-Hard in which the link became confident, 0: in none.
        record: How the links came about, for people and run.json.
    """

    pairs: Ints
    scores: Floats = None  # type: ignore[assignment]
    rounds: Ints = None  # type: ignore[assignment]
    record: Mapping[str, Any] = field(default_factory=dict)

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
    """Everything a model may see: two graphs, the seeds, the query entities and the candidate pool. The gold links are never inside.

    Attributes:
        source: The graph whose entities are aligned.
        target: The graph in which they find their match.
        seeds: Links that are known to be right.
        queries: (n,) source ids to align, ascending.
        pool: (m,) target ids that may be matched, ascending.
        protocol: `closed`: the pool holds exactly the counterparts of the queries, as most papers measure. `open`: every entity without
            a seed is a query or in the pool, and many have no counterpart.
    """

    source: KnowledgeGraph
    target: KnowledgeGraph
    seeds: Alignment
    queries: Ints
    pool: Ints
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
        """(a,) the queries and (b,) the pool entities that no link of the alignment touches."""
        return np.setdiff1d(self.queries, alignment.sources), np.setdiff1d(self.pool, alignment.targets)


@dataclass(frozen=True, eq=False)
class Candidates:
    """For each query its candidate targets, best first. Short rows are filled up with target -1 and score -inf.

    Attributes:
        queries: (n,) source ids.
        targets: (n, k) target ids.
        scores: (n, k) the higher the better.
        temperature: Scores divided by the temperature are log-odds, so that the softmax over a row gives probabilities.
        no_match_score: The score of the no-match option, which takes its share of every row's softmax. -inf: there is no such option,
            one of the candidates must be right.
    """

    queries: Ints
    targets: Ints
    scores: Floats
    temperature: float = 1.0
    no_match_score: float = -np.inf

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
        """(n, k) the softmax of score / temperature over each row, the no-match option included; 0 where there is no candidate."""
        logits = self.scores.astype(np.float64) / self.temperature
        no_match = self.no_match_score / self.temperature
        highest = logits.max(axis=1, keepdims=True, initial=no_match)
        with np.errstate(invalid="ignore"):
            weights = np.exp(logits - highest)
            other = np.exp(no_match - highest) if np.isfinite(no_match) else 0.0
        weights[self.targets < 0] = 0
        return weights / np.maximum(weights.sum(axis=1, keepdims=True) + other, 1e-300)

    def edges(self) -> tuple[Ints, Ints]:
        """Rows and columns of the candidates that exist, row by row."""
        rows, slots = np.nonzero(self.targets >= 0)
        return rows, slots

    def where(self, chosen: NDArray[Any]) -> Candidates:
        """The candidates of the queries that a mask or an array of positions picks."""
        return replace(self, queries=self.queries[chosen], targets=self.targets[chosen], scores=self.scores[chosen])


def hold_out(task: AlignmentTask, fraction: float = 0.1, seed: int = 0) -> tuple[AlignmentTask, Alignment]:
    """The same task with a fraction of its seeds turned into queries, and those held-out seeds: development links.

    Held-out seeds are queries beside the real ones, so that they meet the same competition.
    """
    if not 0 < fraction < 1:
        raise OptionError(f"fraction={fraction}: expected a number between 0 and 1")
    held = np.zeros(len(task.seeds), bool)
    order = np.random.default_rng(seed).permutation(len(task.seeds))
    held[order[: round(fraction * len(task.seeds))]] = True
    dev = task.seeds.where(held)
    without = replace(
        task,
        seeds=task.seeds.where(~held),
        queries=np.union1d(task.queries, dev.sources),
        pool=np.union1d(task.pool, dev.targets),
    )
    return without, dev


def share_names(task: AlignmentTask, known: Alignment) -> AlignmentTask:
    """The same task in which the source of each known link bears the name of its target.

    The paper feeds confident links back in this way to a model that has no other input for them.
    """
    names = list(task.source.names)
    for source, target in known.pairs.tolist():
        names[source] = task.target.names[target]
    return replace(task, source=replace(task.source, names=names))


def same_graphs(one: AlignmentTask, other: AlignmentTask) -> bool:
    """Whether two tasks are about the same two graphs, whatever their seeds, queries and pool."""
    return all(_same_graph(*sides) for sides in ((one.source, other.source), (one.target, other.target)))


def _same_graph(one: KnowledgeGraph, other: KnowledgeGraph) -> bool:
    return one is other or (
        list(one.names) == list(other.names)
        and list(one.entities) == list(other.entities)
        and np.array_equal(one.triples, other.triples)
        and np.array_equal(one.attributes.facts, other.attributes.facts)
        and list(one.attributes.values) == list(other.attributes.values)
    )


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
