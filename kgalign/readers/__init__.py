"""Graphs and datasets from files and endpoints. READERS and DATASETS have all formats by name; `kgalign.seams` has their contracts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph, Protocol
from kgalign.errors import DataError, OptionError
from kgalign.readers.graphs import entity_ids, rename
from kgalign.readers.labels import name_graphs
from kgalign.readers.links import read_links, split_links
from kgalign.readers.places import choose_reader, expand, expected, find_reader, place_text
from kgalign.readers.task import make_task
from kgalign.registry import Registry
from kgalign.seams import DatasetReader, GraphPair, Place, Statements

__all__ = ["DATASETS", "READERS", "dataset_format", "is_dataset", "make_task", "read", "read_graph"]

READERS = Registry(
    "reader",
    "kgalign.readers",
    {
        "rdf": "kgalign.readers.rdf:reader",
        "sparql": "kgalign.readers.sparql:reader",
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
    source: Place,
    target: Place | None = None,
    *,
    seeds: str | Path | None = None,
    gold: str | Path | None = None,
    protocol: Protocol | None = None,
    seed_ratio: float = 0.3,
    split_seed: int = 0,
    fold: int = 1,
    labels: Sequence[str] = (),
    languages: Sequence[str] = (),
    strict: bool = False,
    classes: bool = False,
    names_source: str | Path | None = None,
    names_target: str | Path | None = None,
) -> tuple[AlignmentTask, Alignment]:
    """The task and its gold links, from a dataset folder or from two graphs. Without test links the gold links are empty.

    A graph is a table of triples, RDF in one or several files, or the address of an endpoint, such as `sparql+http://host/path`. Installed
    packages may add formats.

    Args:
        source: The source graph, or a dataset folder.
        target: The target graph. None: `source` is a dataset folder.
        seeds: A table of links that are given to the model, for two graphs.
        gold: A table of test links, for two graphs.
        protocol: `closed`: only entities of the test links are queries and candidates. `open`: all entities without a seed are. None: closed
            for a dataset folder with test links, else open.
        seed_ratio: The share of links that become seeds, where a folder has all its links in one file.
        split_seed: The seed of the random numbers that draw them.
        fold: The number of the fold, for an OpenEA folder.
        labels: The properties of RDF that hold names, best first. Without them they are found out.
        languages: The language of the names in RDF, for the source and for the target, or one for both. Without them the languages are
            found out.
        strict: Refuse broken RDF. Otherwise it is left out and counted in the graph's record.
        classes: Align classes and properties too, in the open protocol. They are aligned anyway if a graph is an ontology, or if a seed
            links one.
        names_source: A table of IRI and name for the source, such as translations. These names replace all others.
        names_target: The same for the target.
    """
    if not 0 <= seed_ratio < 1:
        raise OptionError(f"seed_ratio={seed_ratio}: expected a share from 0 to below 1")
    if target is None:
        folder, reader = _find_dataset(source)
        if seeds is not None or gold is not None:
            raise OptionError(f"{folder}: a dataset folder brings its own links; `seeds` and `gold` go with two graphs")
        if labels or languages or strict:
            raise OptionError(f"{folder}: `labels`, `languages` and `strict` are for RDF, and this is a dataset folder")
        pair = reader.read(folder, fold=fold)
    else:
        (first, first_ids), (second, second_ids) = _read_graphs((source, target), labels, languages, strict)
        given, test = read_links(seeds, gold, first_ids, second_ids)
        pair = GraphPair(first, second, given or Alignment.empty(), test)  # no None: seeds are not drawn from a file of gold links
        protocol = protocol or "open"
    given, test = pair.seeds, pair.gold
    if given is None and test is not None:
        given, test = split_links(test, seed_ratio, split_seed)
    graphs = rename(pair.source, names_source), rename(pair.target, names_target)
    return make_task(*graphs, given or Alignment.empty(), test or Alignment.empty(), protocol, classes)


def read_graph(place: Place, *, labels: Sequence[str] = (), languages: Sequence[str] = (), strict: bool = False) -> KnowledgeGraph:
    """One graph by itself.

    Args:
        place: A table of triples, RDF in one or several files, or the address of an endpoint.
        labels: The properties of RDF that hold names, best first. Without them they are found out.
        languages: The language of the names in RDF, as a list of one. Without it the language is found out.
        strict: Refuse broken RDF. Otherwise it is left out and counted in the graph's record.
    """
    return _read_graphs((place,), labels, languages, strict)[0][0]


def dataset_format(folder: str | Path) -> str | None:
    """The name of a dataset folder's format; None: it is no dataset folder."""
    return find_reader(DATASETS, Path(folder)) if Path(folder).is_dir() else None


def is_dataset(place: str | Path) -> bool:
    """Whether a place is a dataset folder. A folder that is no graph counts as one, so that `read` can say what is missing in it."""
    return Path(place).is_dir() and (dataset_format(place) is not None or find_reader(READERS, place) is None)


def _find_dataset(place: Place) -> tuple[Path, DatasetReader]:
    """The folder of a dataset, and its reader."""
    if isinstance(place, str | Path) and (name := dataset_format(place)):
        return Path(place), DATASETS[name]
    if find_reader(READERS, expand(place)):
        raise DataError(f"{place_text(place)}: this is one graph: give the other one too")
    found = "no known dataset in this folder" if Path(place_text(place)).is_dir() else "no such file or folder"
    raise DataError(f"{place_text(place)}: {found}; expected {expected(DATASETS)}; or two graphs: {expected(READERS)}")


def _read_graphs(
    places: Sequence[Place], labels: Sequence[str], languages: Sequence[str], strict: bool
) -> list[tuple[KnowledgeGraph, Mapping[str, int]]]:
    """The graph of each place, with the id of each entity by its names in files. Names are chosen for all graphs together."""
    places = [expand(place) for place in places]
    names = [choose_reader(READERS, place) for place in places]
    found = [READERS[name].read(place, strict=strict) for name, place in zip(names, places, strict=True)]
    unnamed = [number for number, side in enumerate(found) if isinstance(side, Statements)]
    if (labels or languages or strict) and not unnamed:
        where = place_text(places[0])
        raise OptionError(f"{where}: `labels`, `languages` and `strict` are for RDF, and this graph comes with its names")
    if len(languages) == len(places):
        languages = [languages[number] for number in unnamed]
    named = iter(name_graphs([found[number] for number in unnamed], labels, languages) if unnamed else ())
    return [(next(named), side.ids) if isinstance(side, Statements) else (side, entity_ids(side)) for side in found]
