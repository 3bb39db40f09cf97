"""The contracts behind which everything else can change: models, decoders, readers and writers.

Whatever keeps one of these contracts is one file and one registered name, see `kgalign.registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from kgalign.data import Alignment, AlignmentTask, Candidates, Floats, Ints, KnowledgeGraph
from kgalign.errors import OptionError

Options = Mapping[str, Any]
Decoder = Callable[[Candidates], Alignment]  # may leave a query unmatched; the score of a link is its probability


@dataclass(frozen=True)
class Capabilities:
    """What a model can do, and how benchmarks run it. Every model declares this as the field `capabilities`.

    Attributes:
        soft_evidence: `predict` takes uncertain links too, with their probabilities as scores. Other models get confident links only.
        learns_from_seeds: `fit` learns from the seeds, so seeds that are held out afterwards would not measure anything.
        prepares: The fitted model has `for_task(task)`, which computes once what every round on that task needs.
        grows: The fitted model has `first_links(task, always=False)`: links that are evidence in the first round, beside the seeds. It
            may return none where it expects that the rounds do as well without; `always`: they did not.
        explains: The fitted model has `contributions(task, known, pairs)`.
        engines: The model has `with_engine(engine)`: the same model, whose searches work on their blocks with that engine, and which tells
            it what step begins, see `kgalign.search.Engine`.
        looks: The fitted model has `with_known(task, known)`: the same model, which has computed once what these known links say. Its
            predictions for other queries and pools of the same graphs, with the same seeds and known links, are cheap.
        stores: The fitted model has `save(folder)` and `options`, which is its model. The class of the model has the class method
            `load(folder, **options)`, which returns the fitted model.
        parts: Kinds of evidence that the option `without` can leave out, in the order in which an ablation adds them.
        steps: Steps of its method that the option `without` can leave out, too.
        systems: The names of the rows in tables, each with its options. Empty: one row with the registered name.
        plain_options: Options for rows in which no link is fed back.
        quick_options: Options for a run that takes seconds on a small graph.
    """

    soft_evidence: bool = False
    learns_from_seeds: bool = False
    prepares: bool = False
    grows: bool = False
    explains: bool = False
    engines: bool = False
    looks: bool = False
    stores: bool = False
    parts: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
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


def check_contract(model: Any, *methods: str) -> None:
    """Refuses an object that does not keep the contract of a model: declared capabilities, and some methods."""
    kind = type(model).__name__
    if not isinstance(getattr(model, "capabilities", None), Capabilities):
        raise OptionError(
            f"the model {kind} declares no capabilities: expected the field `capabilities` with a kgalign.Capabilities()"
        )
    for method in methods:
        if not callable(getattr(model, method, None)):
            raise OptionError(
                f"the model {kind} has no method `{method}`: expected fit(task) of a model, predict(task, known) of a fitted one"
            )


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


Place = str | Path | Sequence[str | Path]  # a file, several files, a folder, or an address such as sparql+http://host/path
LinksInMemory = Any  # pairs of ids, a mapping of ids, `run.links`, or a data frame of pandas or polars
InMemory = Any  # a KnowledgeGraph, a data frame of pandas or polars, or a graph of rdflib or networkx: these need not be installed


@dataclass(frozen=True, eq=False)
class Statements:
    """A graph whose names are not chosen yet: its literals may name entities in several properties and languages.

    Attributes:
        entities: The IRI of each entity as it was first spelt; blank nodes as `_:label`.
        ids: The id of each entity, by every spelling of its IRI and by the normal one, see `kgalign.iri.normal_iri`.
        relations: The IRI of each relation.
        triples: (n, 3) head id, relation id, tail id, each triple once.
        properties: The IRI of each property that has literals.
        facts: (m, 2) entity id and property id of each literal.
        values: (m,) the text of each literal.
        languages: Language tags, "" for none.
        language_of: (m,) the position of each literal's language in `languages`.
        datatypes: IRIs of datatypes, "" for none.
        datatype_of: (m,) the position of each literal's datatype in `datatypes`.
        record: Remarks of the reader, added to the record of the graph.
        kinds: (n,) the position of each entity's kind in `kgalign.data.KINDS`. `()`: all are individuals.
    """

    entities: list[str]
    ids: dict[str, int]
    relations: list[str]
    triples: Ints
    properties: list[str]
    facts: Ints
    values: list[str]
    languages: list[str]
    language_of: Ints
    datatypes: list[str]
    datatype_of: Ints
    record: Mapping[str, Any] = field(default_factory=dict)
    kinds: Ints = ()  # type: ignore[assignment]


class GraphReader(Protocol):
    """Reads one graph from a place. A reader is one object, registered under `kgalign.readers`.

    The first reader that accepts a place reads it. Readers of installed packages come before the built-in ones, and the one for triples,
    which accepts any file, comes last. A pattern such as `dump/*.nt` has become the list of its files before a reader sees it.

    Attributes:
        expects: The places that it reads, in a few words such as `an edge list (*.edges)`. Help and errors show them.
    """

    expects: str

    def accepts(self, place: Place) -> bool:
        """Whether the name or the first bytes of the place look like this format; no error for any place."""
        ...

    def read(self, place: Place, *, strict: bool = False) -> KnowledgeGraph | Statements:
        """The graph: with names, where the format says what the name of an entity is, and else as statements.

        The names of statements are chosen when both graphs have been read, since they compare best in a common language.

        Args:
            place: A place that it accepts.
            strict: Refuse broken input with a `DataError`, instead of leaving it out and counting it in the record.
        """
        ...


@dataclass(frozen=True, eq=False)
class GraphPair:
    """Two graphs and the links between them.

    Attributes:
        source: The graph whose entities are queries.
        target: The graph with the candidates.
        seeds: The links that are given to the model. None: nothing says which ones are, so they are drawn from `gold`.
        gold: The test links, or all links where `seeds` is None. None: there are none.
    """

    source: KnowledgeGraph
    target: KnowledgeGraph
    seeds: Alignment | None = None
    gold: Alignment | None = None


class DatasetReader(Protocol):
    """Reads a folder that holds two graphs and their links. A reader is one object, registered under `kgalign.datasets`.

    Attributes:
        expects: The folder that it reads and the files in it, in a few words. Errors show them.
    """

    expects: str

    def accepts(self, folder: Path) -> bool:
        """Whether the folder has the files that this format needs."""
        ...

    def read(self, folder: Path, *, fold: int = 1) -> GraphPair:
        """The graphs and their links.

        Args:
            folder: A folder that it accepts.
            fold: The number of the split to take, for formats that have several.
        """
        ...


class GivenLink(NamedTuple):
    """A link as a file has it.

    Attributes:
        line: The line that it stands on; 0 where the format has none.
        source: One end: an IRI, an id or a name.
        target: The other end.
        score: Its probability, not a number where the file has something else there; None where the file does not say.
        holds: False: the file says that the two are not the same thing.
        source_name: The name that the file gives the entity at the end `source`, empty where it gives none.
        target_name: The same for the other end.
    """

    line: int
    source: str
    target: str
    score: float | None = None
    holds: bool = True
    source_name: str = ""
    target_name: str = ""


class LinkReader(Protocol):
    """Reads links from a file. A reader is one object, registered under `kgalign.link_readers`.

    The first reader that accepts a file reads it. Readers of installed packages come before the built-in ones, and the table reader, which
    accepts any file, comes last. The ends of links become entities later, when the graphs are known.

    Attributes:
        expects: The files that it reads, in a few words. Help and errors show them.
    """

    expects: str

    def accepts(self, path: Path) -> bool:
        """Whether the name or the first bytes of the file look like this format; no error for any file."""
        ...

    def read(self, path: Path, *, strict: bool = False) -> Iterable[GivenLink]:
        """The links in their order. Rows that are no links, such as those of unmatched entities, are left out.

        Args:
            path: A file that it accepts.
            strict: Refuse broken input with a `DataError`, where it could be left out.
        """
        ...


class LinkWriter(Protocol):
    """Writes links to a file. Registered by the ending of the file name, such as `sssom.tsv`, see `kgalign.writers`."""

    def __call__(self, alignment: Alignment, task: AlignmentTask, path: Path, /) -> None: ...
