"""The types that every stage takes and returns: graphs with their names, alignments, tasks and candidates.

Each graph numbers its own entities 0..n-1: an entity's id is its position. All objects are frozen and checked once, when they are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import islice
from typing import Any, Literal, NamedTuple, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kgalign.blocks import by_blocks
from kgalign.errors import DataError, OptionError
from kgalign.notebook import html_table

Ints = NDArray[Any]  # integers; the alias documents the kind of number, widths differ with size
Floats = NDArray[Any]
Protocol = Literal["closed", "open"]
Cardinality = Literal["one-to-one", "one-to-many", "many-to-one", "many-to-many"]
CARDINALITIES: tuple[Cardinality, ...] = ("one-to-one", "one-to-many", "many-to-one", "many-to-many")
KINDS = ("individual", "class", "property", "concept")
INDIVIDUAL, CLASS, PROPERTY, CONCEPT = range(len(KINDS))
RANKS = ("preferred", "alternative", "from the IRI")
PREFERRED, ALTERNATIVE, FROM_IRI = range(len(RANKS))
FEW_PAIRS = 1 << 14  # which one core finds as fast
NO_COUNTERPART = 1 << 62  # a bit beside those of the types of an entity
FARTHEST = 500.0  # log-odds beyond are as good as certain


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
        _freeze(self, "facts", np.int64, (-1, 2))
        if not self.kinds:
            object.__setattr__(self, "kinds", [""] * len(self.values))
        if not len(self.facts) == len(self.values) == len(self.kinds):
            raise DataError(
                f"{len(self.facts)} facts, {len(self.values)} values and {len(self.kinds)} kinds: expected as many of each"
            )


class Name(NamedTuple):
    """One name of an entity: its text, its language tag ("" for none) and its position in `RANKS`."""

    text: str
    language: str = ""
    rank: int = PREFERRED


@dataclass(frozen=True, eq=False)
class Names(Sequence[str]):
    """Every name of every entity. As a sequence: the one name that is shown for each entity, empty where it has none.

    Attributes:
        shown: The name that is shown for each entity.
        owner: (n,) the id of the entity that bears each name, ascending.
        text: (n,) the names.
        language: (n,) the language tag of each name, "" for none.
        rank: (n,) the position of each name's rank in `RANKS`.
    """

    shown: Sequence[str]
    owner: Ints
    text: Sequence[str]
    language: Sequence[str]
    rank: Ints

    def __post_init__(self) -> None:
        _freeze(self, "owner", np.int64, (-1,))
        _freeze(self, "rank", np.int8, (-1,))
        if not len(self.owner) == len(self.text) == len(self.language) == len(self.rank):
            raise DataError(
                f"{len(self.owner)} owners, {len(self.text)} texts, {len(self.language)} languages and {len(self.rank)} ranks of names:"
                " expected as many of each"
            )
        _check_ids("a name's owner", self.owner, len(self.shown))
        if (np.diff(self.owner) < 0).any():
            raise DataError("the owners of the names are not in order: expected ascending ids")

    @classmethod
    def of(cls, names: Sequence[str] | Sequence[Sequence[Name]]) -> Self:
        """The names of entities that have one name each, or a list of names each, of which the first is shown."""
        lists = [[Name(each)] if isinstance(each, str) else list(each) for each in names]
        flat = [(owner, name) for owner, own in enumerate(lists) for name in own if name.text]
        return cls(
            [own[0].text if own else "" for own in lists],
            np.array([owner for owner, _ in flat], np.int64),
            [name.text for _, name in flat],
            [name.language for _, name in flat],
            np.array([name.rank for _, name in flat], np.int8),
        )

    @overload
    def __getitem__(self, entity: int) -> str: ...
    @overload
    def __getitem__(self, entity: slice) -> Sequence[str]: ...
    def __getitem__(self, entity: int | slice) -> str | Sequence[str]:
        return self.shown[entity]

    def __len__(self) -> int:
        return len(self.shown)

    def of_entity(self, entity: int) -> list[Name]:
        """All names of an entity."""
        first, last = np.searchsorted(self.owner, [entity, entity + 1])
        return [Name(self.text[at], self.language[at], int(self.rank[at])) for at in range(first, last)]


@dataclass(frozen=True, eq=False)
class KnowledgeGraph:
    """Entities with names, and the triples between them.

    Attributes:
        entities: The IRIs of the entities; an entity's id is its position.
        relations: The IRIs of the relations; a relation's id is its position.
        triples: (n, 3) head id, relation id, tail id.
        names: The names of the entities. A list with one name for each entity, empty where it has none, becomes `Names`.
        attributes: The literals.
        labels: The literals that became names.
        record: How the graph was read, for people and run.json.
        kinds: (n,) the position of each entity's kind in `KINDS`. `()`: all are individuals.
    """

    entities: Sequence[str]
    relations: Sequence[str]
    triples: Ints
    names: Names
    attributes: Attributes = field(default_factory=Attributes)
    labels: Attributes = field(default_factory=Attributes)
    record: Mapping[str, Any] = field(default_factory=dict)
    kinds: Ints = ()  # type: ignore[assignment]

    def __post_init__(self) -> None:
        _freeze(self, "triples", np.int64, (-1, 3))
        if not isinstance(self.names, Names):
            object.__setattr__(self, "names", Names.of(self.names))
        object.__setattr__(self, "kinds", np.zeros(len(self.entities), np.int8) if not len(self.kinds) else self.kinds)
        _freeze(self, "kinds", np.int8, (len(self.entities),))
        if len(self.names) != len(self.entities):
            raise DataError(f"{len(self.names)} names for {len(self.entities)} entities: expected one name for each")
        _check_ids("a triple's entity", self.triples[:, [0, 2]], len(self.entities))
        _check_ids("a triple's relation", self.triples[:, 1], len(self.relations))

    @classmethod
    def from_triples(
        cls,
        triples: Iterable[Sequence[Any]],
        names: Mapping[str, str | Sequence[str | Name]] | None = None,
        attributes: Iterable[Sequence[Any]] = (),
    ) -> KnowledgeGraph:
        """The graph of triples, each a head, a relation and a tail.

        A tail that is a text is an entity, unless it is in double quotes or the relation is a label (`name`, `label`, `rdfs:label`, ...).
        Any other tail, such as a number or a date, is a literal.

        Args:
            triples: The triples.
            names: One name or several for each entity, the one that is shown first. Entities without any keep those of their labels and
                of their IRIs.
            attributes: Literals: entity, property, and a value or a list of values.
        """
        return _in_memory().from_triples(triples, names, attributes)

    @classmethod
    def from_pandas(
        cls, frame: Any, form: Literal["table", "triples"] | None = None, id_column: str | None = None
    ) -> KnowledgeGraph:
        """The graph of a pandas data frame.

        Args:
            frame: The data frame. An index that has a name is a column like the others.
            form: `triples`: the first three columns are head, relation and tail. `table`: a row is an entity, a column a property.
                None: the columns themselves show which.
            id_column: The name of the column with the ids, in a table. None: it is found out; without one the row number is the id.
        """
        return _in_memory().from_frame(frame, form, id_column)

    @classmethod
    def from_polars(
        cls, frame: Any, form: Literal["table", "triples"] | None = None, id_column: str | None = None
    ) -> KnowledgeGraph:
        """The graph of a polars data frame, see `from_pandas`."""
        return _in_memory().from_frame(frame, form, id_column)

    @classmethod
    def from_rdflib(
        cls, graph: Any, labels: Sequence[str] = (), languages: Sequence[str] = (), strict: bool = False
    ) -> KnowledgeGraph:
        """The graph of an rdflib graph or dataset, read as a file of RDF is; see `read_graph` for the options."""
        return _in_memory().from_rdflib(graph, labels, languages, strict)

    @classmethod
    def from_networkx(cls, graph: Any, relation: str | None = None) -> KnowledgeGraph:
        """The graph of a networkx graph. The attributes of its nodes are literals, and those that hold names are found.

        Args:
            graph: A networkx graph of any kind. An edge of an undirected one holds in both directions.
            relation: The attribute of the edges that says what they mean. None: `relation`, `predicate`, `rel`, `type`, `label` or
                `name`, else the key of the edge.
        """
        return _in_memory().from_networkx(graph, relation)

    def __repr__(self) -> str:
        return f"KnowledgeGraph({len(self.entities)} entities, {len(self.relations)} relations, {len(self.triples)} triples)"

    def _repr_html_(self) -> str:
        return html_table("KnowledgeGraph", (), _figures(self).items())


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

    def among(self, others: Alignment) -> NDArray[Any]:
        """(n,) whether each pair is one of the others, too."""
        if len(self) + len(others) < FEW_PAIRS:
            return np.isin(self.keys, others.keys)
        from kgalign.parallel import is_among  # compiled code, slow to import

        return is_among(self.keys, others.keys)

    def where(self, chosen: NDArray[Any]) -> Alignment:
        """The pairs that a mask or an array of positions picks."""
        return replace(self, pairs=self.pairs[chosen], scores=self.scores[chosen], rounds=self.rounds[chosen])

    def turned(self) -> Alignment:
        """The same links with source and target in each other's place."""
        return replace(self, pairs=self.pairs[:, ::-1])

    @classmethod
    def empty(cls) -> Self:
        return cls(np.empty((0, 2), np.int64))


@dataclass(frozen=True, eq=False, repr=False)
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
        rejected: Pairs that are known to be wrong. They never become links, and never count as evidence.
        types: (n,) for the source and (m,) for the target: which types each entity has, one bit for each type. Entities match only if
            they have a type in common, or neither has one, and never if one has the bit `NO_COUNTERPART`. None: types do not matter.
        cardinality: `one-to-many`: a source may have several targets, and a target has one source at most. `many-to-one`: the reverse.
            `many-to-many`: both may have several. Seeds keep to it, too.
        decided: Those of the seeds that people have decided on in a review. They are known like all seeds, but somebody chose them, mostly
            since they were doubtful: what is learnt from them would not hold for other links.
    """

    source: KnowledgeGraph
    target: KnowledgeGraph
    seeds: Alignment
    queries: Ints
    pool: Ints
    protocol: Protocol = "open"
    rejected: Alignment = field(default_factory=lambda: Alignment.empty())
    types: tuple[Ints, Ints] | None = None
    cardinality: Cardinality = "one-to-one"
    decided: Alignment = field(default_factory=lambda: Alignment.empty())

    def __post_init__(self) -> None:
        if self.protocol not in ("closed", "open"):
            raise OptionError(f"protocol={self.protocol!r}: expected closed or open")
        check_cardinality(self.cardinality)
        for name in ("queries", "pool"):
            object.__setattr__(self, name, np.unique(getattr(self, name)))
            _freeze(self, name, np.int64, (-1,))
        _check_ids("a query", self.queries, len(self.source.entities))
        _check_ids("a pool entry", self.pool, len(self.target.entities))
        _check_ids("a seed's source", self.seeds.sources, len(self.source.entities))
        _check_ids("a seed's target", self.seeds.targets, len(self.target.entities))
        for side, ids, single in zip(("source", "target"), self.seeds.pairs.T, one_link(self.cardinality), strict=True):
            if single and len(np.unique(ids)) < len(ids):
                raise DataError(
                    f"two seeds share a {side} entity: expected each entity in one seed at most, since `cardinality` is {self.cardinality}"
                )

        self._check_constraints()

    def _check_constraints(self) -> None:
        _check_ids("a rejected pair's source", self.rejected.sources, len(self.source.entities))
        _check_ids("a rejected pair's target", self.rejected.targets, len(self.target.entities))
        both = np.flatnonzero(self.seeds.among(self.rejected))
        if len(both):
            source, target = self.seeds.pairs[both[0]].tolist()
            raise DataError(
                f"{len(both)} pairs are seeds and rejected at the same time, such as {self.source.entities[source]!r} and "
                f"{self.target.entities[target]!r}; expected each pair in `seeds` or in `rejected`"
            )
        if self.types is not None:
            types = tuple(_read_only(np.asarray(side, np.int64)) for side in self.types)
            sizes = tuple(len(graph.entities) for graph in (self.source, self.target))
            if tuple(map(len, types)) != sizes:
                raise DataError(
                    f"the types of {' and '.join(str(len(side)) for side in types)} entities: expected those of {sizes}"
                )
            object.__setattr__(self, "types", types)

    @property
    def lessons(self) -> Alignment:
        """The seeds that something can be learnt from."""
        return self.seeds.where(~self.seeds.among(self.decided)) if len(self.decided) else self.seeds

    def and_decided(self, alignment: Alignment) -> Alignment:
        """The links of the alignment, and behind them those that people have decided on: results, although they were given."""
        more = self.decided.where(~self.decided.among(alignment))
        return replace(alignment + more, record=alignment.record) if len(more) else alignment

    def unmatched(self, alignment: Alignment) -> tuple[Ints, Ints]:
        """(a,) the queries and (b,) the pool entities that no link of the alignment touches."""
        return np.setdiff1d(self.queries, alignment.sources), np.setdiff1d(self.pool, alignment.targets)

    def __repr__(self) -> str:
        sizes = f"{len(self.seeds)} seeds, {len(self.queries)} queries, {len(self.pool)} in the pool"
        return f"AlignmentTask({self.source}, {self.target}, {sizes}, {self.protocol})"

    def _repr_html_(self) -> str:
        source, target = (
            {**_figures(graph), "to be matched": len(ids)} for graph, ids in ((self.source, self.queries), (self.target, self.pool))
        )
        rows = [(name, source.get(name, ""), target.get(name, "")) for name in source | target]
        return html_table("AlignmentTask", ("", "source", "target"), rows, f"{len(self.seeds):,} seeds, {self.protocol} protocol")


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
        cardinality: How many links an entity may have. Where a source may have several, its candidates do not compete: the probability
            of each is its own odds against no match.
    """

    queries: Ints
    targets: Ints
    scores: Floats
    temperature: float = 1.0
    no_match_score: float = -np.inf
    cardinality: Cardinality = "one-to-one"

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
        check_cardinality(self.cardinality)

    def __len__(self) -> int:
        return len(self.queries)

    def probabilities(self) -> Floats:
        """(n, k) the softmax of score / temperature over each row, the no-match option included; 0 where there is no candidate.

        Where a source may have several links, the softmax is that of each candidate and the no-match option alone.
        """
        found: Floats = by_blocks(self._probabilities, self.targets, self.scores)
        return found

    def _probabilities(self, targets: Ints, scores: Floats) -> Floats:
        logits = scores.astype(np.float64) / self.temperature
        no_match = self.no_match_score / self.temperature
        if not one_link(self.cardinality)[0]:
            odds = np.exp(np.clip(logits - no_match, -FARTHEST, FARTHEST))
            return np.where(targets >= 0, odds / (1 + odds), 0)
        highest = logits.max(axis=1, keepdims=True, initial=no_match)
        with np.errstate(invalid="ignore"):
            weights = np.exp(logits - highest)
            other = np.exp(no_match - highest) if np.isfinite(no_match) else 0.0
        weights[targets < 0] = 0
        return weights / np.maximum(weights.sum(axis=1, keepdims=True) + other, 1e-300)

    def edges(self) -> tuple[Ints, Ints]:
        """Rows and columns of the candidates that exist, row by row."""
        from kgalign.parallel import places  # compiled code, slow to import

        return places(self.targets)

    def where(self, chosen: NDArray[Any]) -> Candidates:
        """The candidates of the queries that a mask or an array of positions picks."""
        return replace(self, queries=self.queries[chosen], targets=self.targets[chosen], scores=self.scores[chosen])


def one_link(cardinality: Cardinality) -> tuple[bool, bool]:
    """Whether a source has one link at most, and whether a target has."""
    return cardinality in ("one-to-one", "many-to-one"), cardinality in ("one-to-one", "one-to-many")


def turned_cardinality(cardinality: Cardinality) -> Cardinality:
    """The same cardinality with source and target in each other's place."""
    turned: dict[Cardinality, Cardinality] = {"one-to-many": "many-to-one", "many-to-one": "one-to-many"}
    return turned.get(cardinality, cardinality)


def check_cardinality(cardinality: str) -> None:
    """Refuses what is no cardinality."""
    if cardinality not in CARDINALITIES:
        raise OptionError(f"cardinality={cardinality!r}: expected {', '.join(CARDINALITIES[:-1])} or {CARDINALITIES[-1]}")


def hold_out(task: AlignmentTask, fraction: float = 0.1, seed: int = 0) -> tuple[AlignmentTask, Alignment]:
    """The same task with a fraction of its seeds turned into queries, and those held-out seeds: development links.

    Held-out seeds are queries beside the real ones, so that they meet the same competition. Seeds that people have decided on in a review
    are never held out.
    """
    if not 0 < fraction < 1:
        raise OptionError(f"fraction={fraction}: expected a number between 0 and 1")
    held = np.zeros(len(task.seeds), bool)
    lessons = np.flatnonzero(task.seeds.among(task.lessons))
    order = lessons[np.random.default_rng(seed).permutation(len(lessons))]
    held[order[: round(fraction * len(lessons))]] = True
    dev = task.seeds.where(held)
    without = replace(
        task,
        seeds=task.seeds.where(~held),
        queries=np.union1d(task.queries, dev.sources),
        pool=np.union1d(task.pool, dev.targets),
    )
    return without, dev


def turned_task(task: AlignmentTask) -> AlignmentTask:
    """The same task with source and target in each other's place."""
    return replace(
        task,
        source=task.target,
        target=task.source,
        seeds=task.seeds.turned(),
        queries=task.pool,
        pool=task.queries,
        rejected=task.rejected.turned(),
        types=None if task.types is None else task.types[::-1],
        decided=task.decided.turned(),
        cardinality=turned_cardinality(task.cardinality),
    )


def share_names(task: AlignmentTask, known: Alignment) -> AlignmentTask:
    """The same task in which the source of each known link bears the name of its target.

    The paper feeds confident links back in this way to a model that has no other input for them.
    """
    names = [task.source.names.of_entity(entity) for entity in range(len(task.source.entities))]
    for source, target in known.pairs.tolist():
        names[source] = task.target.names.of_entity(target)
    return replace(task, source=replace(task.source, names=Names.of(names)))


def without_names(task: AlignmentTask) -> AlignmentTask:
    """The same task without any name: only the graphs are left."""
    source, target = (replace(graph, names=Names.of([""] * len(graph.entities))) for graph in (task.source, task.target))
    return replace(task, source=source, target=target)


def same_graphs(one: AlignmentTask, other: AlignmentTask) -> bool:
    """Whether two tasks are about the same two graphs, whatever their seeds, queries and pool."""
    return all(_same_graph(*sides) for sides in ((one.source, other.source), (one.target, other.target)))


def _same_graph(one: KnowledgeGraph, other: KnowledgeGraph) -> bool:
    return one is other or (
        list(one.names) == list(other.names)
        and list(one.names.text) == list(other.names.text)
        and list(one.names.language) == list(other.names.language)
        and np.array_equal(one.names.owner, other.names.owner)
        and np.array_equal(one.names.rank, other.names.rank)
        and np.array_equal(one.kinds, other.kinds)
        and list(one.entities) == list(other.entities)
        and np.array_equal(one.triples, other.triples)
        and np.array_equal(one.attributes.facts, other.attributes.facts)
        and list(one.attributes.values) == list(other.attributes.values)
    )


def _figures(graph: KnowledgeGraph) -> dict[str, int | str]:
    """What a notebook shows of a graph."""
    kinds = np.bincount(graph.kinds, minlength=len(KINDS)).tolist()
    often = ", ".join(f"{count:,} {kind}" for kind, count in zip(KINDS, kinds, strict=True) if count)
    return {
        "entities": len(graph.entities),
        **({"kinds": often} if len(graph.entities) > kinds[INDIVIDUAL] else {}),
        "relations": len(graph.relations),
        "triples": len(graph.triples),
        "literals": len(graph.attributes.values),
        "names": len(graph.names.text),
        "names from": str(graph.record.get("names from", "labels and IRIs")),
        "for instance": "; ".join(islice(filter(None, graph.names), 3)),
    }


def _in_memory() -> Any:
    """The readers of objects in memory. They build on this module, so they are looked up when they are called."""
    return import_module("kgalign.readers.memory")


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
