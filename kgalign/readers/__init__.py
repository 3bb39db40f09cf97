"""Graphs, datasets and links from files, endpoints and memory; READERS, DATASETS and LINK_READERS have all formats by name."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Cardinality, KnowledgeGraph, Protocol, check_cardinality, without_names
from kgalign.errors import DataError, OptionError
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.completing import complete
from kgalign.readers.decided import with_decisions
from kgalign.readers.decisions import read_decided
from kgalign.readers.graphs import rename
from kgalign.readers.link_ends import Ends
from kgalign.readers.link_files import LINK_READERS
from kgalign.readers.links import read_links, split_links
from kgalign.readers.memory import form_in_memory, read_object
from kgalign.readers.objects import kind_in_memory
from kgalign.readers.places import choose_reader, expand, expected, find_reader, nothing_there, place_text
from kgalign.readers.restrictions import Only, Types
from kgalign.readers.task import make_task
from kgalign.registry import Registry
from kgalign.seams import GraphPair, InMemory, LinksInMemory, Place, Statements

__all__ = [
    "DATASETS",
    "LINK_READERS",
    "READERS",
    "TableForm",
    "dataset_format",
    "is_dataset",
    "make_task",
    "read",
    "read_graph",
    "read_whole",
]

logger = logging.getLogger(__name__)
TableForm = Literal["table", "triples"]
TABLE_READERS, SPARQL = ("table", "triples"), "sparql"
READERS = Registry(
    "reader",
    "kgalign.readers",
    {
        "rdf": "kgalign.readers.rdf:reader",
        "sparql": "kgalign.readers.sparql:reader",
        "table": "kgalign.readers.wide_table:reader",
        "triples": "kgalign.readers.triples:reader",  # the last one, since it accepts any file
    },
)
DATASETS = Registry(
    "dataset",
    "kgalign.datasets",
    {
        "dbp15k": "kgalign.readers.dbp15k:reader",
        "openea": "kgalign.readers.openea:reader",
        "tables": "kgalign.readers.triples:dataset",
    },
)


def read(
    source: Place | InMemory,
    target: Place | InMemory | None = None,
    *,
    seeds: str | Path | LinksInMemory | None = None,
    gold: str | Path | LinksInMemory | None = None,
    rejected: str | Path | LinksInMemory | None = None,
    decisions: str | Path | Sequence[str | Path] = (),
    protocol: Protocol | None = None,
    seed_ratio: float = 0.3,
    split_seed: int = 0,
    fold: int = 1,
    labels: Sequence[str] = (),
    languages: Sequence[str] = (),
    strict: bool = False,
    classes: bool = False,
    cardinality: Cardinality = "one-to-one",
    names: bool = True,
    names_source: str | Path | None = None,
    names_target: str | Path | None = None,
    types: Types | None = None,
    only_source: Only = (),
    only_target: Only = (),
    form: TableForm | None = None,
    id_source: str | None = None,
    id_target: str | None = None,
    query: str | Path | None = None,
    limits: Limits | Mapping[str, float] = DEFAULT,
) -> tuple[AlignmentTask, Alignment]:
    """The task and its gold links, from a dataset folder or from two graphs. Without test links the gold links are empty.

    A graph is a table of entities or of triples, RDF in one or several files, or the address of an endpoint, such as
    `sparql+http://host/path`. Installed packages may add formats. A graph can also be in memory: a `KnowledgeGraph`, a data frame of
    pandas or polars, or a graph of rdflib or networkx; see `KnowledgeGraph.from_pandas` and the others.

    Args:
        source: The source graph, or a dataset folder.
        target: The target graph. None: `source` is a dataset folder.
        seeds: A file of links that are given to the model, for two graphs, in any format that `kgalign.write` writes. An end of a link is an
            IRI, an id, or a name that no other entity has. Links of which an entity is not found are left out and counted. Links can also be
            in memory: pairs such as `[("A0", "501")]`, a mapping, `run.links` of another run, or a data frame of pandas or polars with the
            columns source and target, or with these two first.
        gold: Test links, for two graphs, in a file or in memory.
        rejected: Pairs that are known to be wrong and never become links, in a file or in memory.
        decisions: Files of decisions, as `kgalign review` keeps them or as SSSOM. Matches become seeds, pairs that are no match are
            rejected, and sources without a counterpart stay unmatched. They count for more than `seeds` and `rejected`, and the last file
            for most. Test links of entities with such a match are not measured.
        protocol: `closed`: only entities of the test links are queries and candidates. `open`: all entities without a seed are. None: closed
            for a dataset folder with test links, else open.
        seed_ratio: The share of links that become seeds, where a folder has all its links in one file.
        split_seed: The seed of the random numbers that draw them.
        fold: The number of the fold, for an OpenEA folder.
        labels: The properties of RDF, or the columns of tables, that hold names, best first. Without them they are found out, for each class of
            subjects by itself.
        languages: The language of the names in RDF: `["fr"]` for both graphs, or `["fr", "en"]` for the source and for the target. `none`
            or `und` stands for names without a language. An entity with a name in its language has no others; one without takes names
            without a language, and else all its names. Without `languages` all names count.
        strict: Refuse broken RDF, broken rows of tables, and links of which an entity is not found. Otherwise they are left out and counted.
        classes: Align classes and properties too, in the open protocol. They are aligned anyway if a graph is an ontology, if both
            graphs describe theirs, or if a seed links one.
        cardinality: `one-to-one`; `one-to-many`: a source may have several targets, and a target has one source at most; `many-to-one`: the
            reverse; `many-to-many`: both may have several. Seeds keep to it. Test links may be of any cardinality.
        names: False: withhold all names, so that only relations, values and seeds are evidence.
        names_source: A table of IRI and name for the source, such as translations. A name in it replaces all names of its entity.
        names_target: The same for the target.
        types: Classes of the source, each with a class of the target, by IRI, label or short name, such as `{"Film": "Movie"}` or
            `"Film=Movie"`. Only entities of these classes and of their subclasses are aligned, and only with each other. All others stay
            evidence.
        only_source: IRIs or classes of the source, or files with one IRI a line: only these entities are queries. One text may hold several,
            with commas between them.
        only_target: The same for the target: only these entities are candidates.
        form: How to read tables: `table` has an entity on each row, `triples` has head, relation and tail. None: their content decides.
        id_source: The name of the column with the ids, where the source is a table of entities. None: it is found out.
        id_target: The same for the target.
        query: A file with a CONSTRUCT query, for endpoints: its statements are the graph. None: all statements of the endpoint.
        limits: How much of each file and of an endpoint is taken in, before it is refused: a `Limits`, or some of its fields by name.
    """
    check_cardinality(cardinality)
    limits = Limits.of(limits)
    labels, languages = _listed(labels), _listed(languages, ",")
    if not 0 <= seed_ratio < 1:
        raise OptionError(f"seed_ratio={seed_ratio}: expected a share from 0 to below 1")
    if not names and (labels or languages or names_source or names_target):
        raise OptionError(
            "all names are withheld (`names`), so `labels`, `languages`, `names_source` and `names_target` say nothing: leave them out"
        )
    if target is None:
        folder, name = _find_dataset(source)
        reader, own = DATASETS[name], {"limits": limits} if name in DATASETS.built_in else {}
        if seeds is not None or gold is not None:
            raise OptionError(f"{folder}: a dataset folder brings its own links; `seeds` and `gold` go with two graphs")
        if labels or languages or (strict and not (rejected or decisions)):
            raise OptionError(f"{folder}: `labels`, `languages` and `strict` are for RDF, and this is a dataset folder")
        if query is not None:
            raise OptionError(f"{folder}: `query` is for endpoints, and this is a dataset folder")
        if form or id_source or id_target:
            raise OptionError(f"{folder}: `form`, `id_source` and `id_target` are for tables, and this is a dataset folder")
        pair = reader.read(folder, fold=fold, **own)
        ends = Ends.of("source", pair.source), Ends.of("target", pair.target)
        wrong = read_links(None, None, *ends, rejected=rejected, strict=strict, limits=limits)[2]
    else:
        has_links = any(path is not None for path in (seeds, gold, rejected)) or bool(only_source or only_target or decisions)
        (first, first_ids), (second, second_ids) = _read_graphs(
            (source, target),
            labels,
            languages,
            strict,
            has_links=has_links,
            form=form,
            id_columns={"id_source": id_source, "id_target": id_target},
            query=query,
            limits=limits,
        )
        ends = Ends("source", first, first_ids), Ends("target", second, second_ids)
        given, test, wrong = read_links(
            seeds, gold, *ends, rejected=rejected, strict=strict, cardinality=cardinality, limits=limits
        )
        pair = GraphPair(first, second, given or Alignment.empty(), test)  # no None: seeds are not drawn from a file of gold links
        protocol = protocol or "open"
    given, test = pair.seeds, pair.gold
    if given is None and test is not None:
        given, test = split_links(test, seed_ratio, split_seed)
    graphs = rename(pair.source, names_source), rename(pair.target, names_target)
    task, test = make_task(
        *graphs,
        given or Alignment.empty(),
        test or Alignment.empty(),
        protocol,
        classes,
        cardinality=cardinality,
        rejected=wrong,
        types=types,
        only_source=only_source,
        only_target=only_target,
        strict=strict,
    )
    if decided := read_decided(decisions, ends, cardinality, strict, limits):
        task = with_decisions(task, decided)
        test = test.where(~(np.isin(test.sources, decided.matches.sources) | np.isin(test.targets, decided.matches.targets)))
    return task if names else _withhold_names(task), test


def read_graph(
    place: Place | InMemory,
    *,
    labels: Sequence[str] = (),
    languages: Sequence[str] = (),
    strict: bool = False,
    fold: bool = True,
    form: TableForm | None = None,
    id_column: str | None = None,
    query: str | Path | None = None,
    limits: Limits | Mapping[str, float] = DEFAULT,
) -> KnowledgeGraph:
    """One graph by itself.

    Args:
        place: A table of entities or of triples, RDF in one or several files, the address of an endpoint, or an object in memory as for
            `read`.
        labels: The properties of RDF, or the columns of tables, that hold names, best first. Without them they are found out, for each class of
            subjects by itself.
        languages: The language of the names in RDF, as a list of one; `none` or `und` stands for names without a language. Without it all
            names count.
        strict: Refuse broken RDF and broken rows of tables. Otherwise they are left out and counted in the graph's record.
        fold: Fold nodes of RDF that only carry a value into what they describe, see `kgalign.readers.folding`. For tables, add an
            entity for each value that recurs, see `kgalign.readers.value_entities`.
        form: How to read a table: `table` has an entity on each row, `triples` has head, relation and tail. None: its content decides.
        id_column: The name of the column with the ids, in a table of entities. None: it is found out.
        query: A file with a CONSTRUCT query, for an endpoint: its statements are the graph. None: all statements of the endpoint.
        limits: How much of a file or of an endpoint is taken in, before it is refused: a `Limits`, or some of its fields by name.
    """
    return _read_graphs(
        (place,),
        _listed(labels),
        _listed(languages, ","),
        strict,
        fold,
        form=form,
        id_columns={"id_column": id_column},
        query=query,
        limits=Limits.of(limits),
    )[0][0]


def read_whole(
    source: Place,
    target: Place,
    *,
    form: TableForm | None = None,
    id_source: str | None = None,
    id_target: str | None = None,
    query: str | Path | None = None,
    limits: Limits | Mapping[str, float] = DEFAULT,
) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    """The two graphs of `read` as their files have them: with every node of RDF, and with the rows of tables alone."""
    id_columns = {"id_source": id_source, "id_target": id_target}
    found = _read_graphs(
        (source, target), (), (), False, False, form=form, id_columns=id_columns, query=query, limits=Limits.of(limits)
    )
    return found[0][0], found[1][0]


def dataset_format(folder: str | Path) -> str | None:
    """The name of a dataset folder's format; None: it is no dataset folder."""
    return find_reader(DATASETS, Path(folder)) if Path(folder).is_dir() else None


def is_dataset(place: str | Path) -> bool:
    """Whether a place is a dataset folder. A folder that is no graph counts as one, so that `read` can say what is missing in it."""
    return Path(place).is_dir() and (dataset_format(place) is not None or find_reader(READERS, place) is None)


def _listed(texts: str | Sequence[str], separator: str | None = None) -> Sequence[str]:
    """A list of texts, also out of one text, which may hold several."""
    if not isinstance(texts, str):
        return texts
    return [part.strip() for part in texts.split(separator)] if separator else [texts]


def _withhold_names(task: AlignmentTask) -> AlignmentTask:
    """The same task without any name, and with a record of that."""
    task = without_names(task)
    source, target = (
        replace(graph, record={**graph.record, "names from": "nothing, since they are withheld"})
        for graph in (task.source, task.target)
    )
    return replace(task, source=source, target=target)


def _find_dataset(place: Place | InMemory) -> tuple[Path, str]:
    """The folder of a dataset, and the name of its reader."""
    if kind_in_memory(place):
        raise DataError(f"{place_text(place)}: this is one graph: give the other one too")
    if isinstance(place, str | Path) and (name := dataset_format(place)):
        return Path(place), name
    if find_reader(READERS, expand(place)):
        raise DataError(f"{place_text(place)}: this is one graph: give the other one too")
    found = "no known dataset in this folder" if Path(place_text(place)).is_dir() else nothing_there(place_text(place))
    raise DataError(f"{place_text(place)}: {found}; expected {expected(DATASETS)}; or two graphs: {expected(READERS)}")


def _read_graphs(
    places: Sequence[Place | InMemory],
    labels: Sequence[str],
    languages: Sequence[str],
    strict: bool,
    fold: bool = True,
    has_links: bool = False,
    form: TableForm | None = None,
    id_columns: Mapping[str, str | None] | None = None,
    query: str | Path | None = None,
    limits: Limits = DEFAULT,
) -> list[tuple[KnowledgeGraph, Mapping[str, int]]]:
    """The graph of each place, with the id of each entity by its names in files. Names are chosen for all graphs together."""
    places = [expand(place) for place in places]
    readers = _choose_readers(places, form, id_columns or {}, query, limits)
    found = [_read_place(place, name, strict, options) for place, (name, options) in zip(places, readers, strict=True)]
    unnamed = [number for number, side in enumerate(found) if isinstance(side, Statements)]
    if (labels or languages or (strict and not has_links)) and not unnamed:
        where = place_text(places[0])
        raise OptionError(f"{where}: `labels`, `languages` and `strict` are for RDF, and this graph comes with its names")
    if len(languages) == len(places):
        languages = [languages[number] for number in unnamed]
    graphs = complete(found, labels, languages, fold)
    for place, (graph, _) in zip(places, graphs, strict=True):
        sizes = f"{len(graph.entities):,} entities, {len(graph.triples):,} triples, {len(graph.attributes.values):,} literals"
        logger.info("%s: %s; names from %s", place_text(place), sizes, graph.record.get("names from", "labels and IRIs"))
    return graphs


def _read_place(place: Place | InMemory, name: str, strict: bool, options: Mapping[str, Any]) -> KnowledgeGraph | Statements:
    """What the reader of that name finds at a place."""
    if kind_in_memory(place):
        return read_object(place, name, strict=strict, **options)
    found: KnowledgeGraph | Statements = READERS[name].read(place, strict=strict, **options)
    return found


def _choose_readers(
    places: Sequence[Place | InMemory],
    form: TableForm | None,
    id_columns: Mapping[str, str | None],
    query: str | Path | None,
    limits: Limits,
) -> list[tuple[str, dict[str, Any]]]:
    """The name of the reader of each place, with its options. Options for tables and endpoints are refused where there are none."""
    if form not in (None, "table", "triples"):
        raise OptionError(f"form={form!r}: expected table or triples")
    names = [form_in_memory(place) if kind_in_memory(place) else choose_reader(READERS, place) for place in places]
    if form is not None and not any(name in TABLE_READERS for name in names):
        raise OptionError(f"{place_text(places[0])}: `form` says how to read a table, and this is none")
    names = [form if form is not None and name in TABLE_READERS else name for name in names]
    if query is not None and SPARQL not in names:
        raise OptionError(f"{place_text(places[0])}: `query` is for a SPARQL endpoint (sparql+http://host/path), and this is none")
    options: list[dict[str, Any]] = [
        {"limits": limits} if name in READERS.built_in and not kind_in_memory(place) else {}
        for name, place in zip(names, places, strict=True)
    ]
    for name, own in zip(names, options, strict=True):
        if name == SPARQL and query is not None:
            own["query"] = query
    for (option, column), name, place, own in zip(id_columns.items(), names, places, options, strict=False):
        if column is not None and name != "table":
            raise OptionError(
                f"{place_text(place)}: `{option}` names a column of a table with an entity on each row, and this is none"
            )
        if column is not None:
            own["id_column"] = column
    return list(zip(names, options, strict=True))
