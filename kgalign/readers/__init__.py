"""Files to tasks. `read` finds out the format by the files it sees; one module a format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Ints, KnowledgeGraph, Protocol
from kgalign.errors import DataError, OptionError
from kgalign.files import read_rows
from kgalign.readers import dbp15k, openea, triples
from kgalign.readers.labels import name_graphs
from kgalign.readers.links import Links, split_links
from kgalign.iri import is_blank, normal_iri
from kgalign.readers.places import FORMATS as RDF_FORMATS
from kgalign.readers.places import SCHEMES, find_files, format_of
from kgalign.readers.schema import is_ontology, schema_of, terms_of
from kgalign.readers.statements import Statements

# A file, a folder of files, a pattern such as dump/*.nt.gz, an endpoint; or several files.
Place = str | Path | Sequence[str | Path]
Graph = tuple[KnowledgeGraph, dict[str, int]]  # with the id of each entity

FORMATS = {"DBP15K": dbp15k, "OpenEA": openea, "tables": triples}


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
    """The task and its gold links, from a dataset folder or from two graphs. Without test links the gold is empty.

    A graph is a table of triples, RDF in one or several files, or an endpoint: sparql+http://host/path.

    seeds, gold     files of links, for two graphs
    protocol        closed: only entities of the test links are asked and on offer; open: everything without a seed.
                    Closed for a dataset folder with test links and open for all else, unless said otherwise
    seed_ratio      the share of links that become seeds, where a folder has all its links in one file; drawn with split_seed
    fold            which of the folds of an OpenEA folder
    labels          properties of RDF that hold names, best first; found out where none is told
    languages       of the names in RDF, for the source and for the target, or one for both; found out likewise
    strict          broken RDF is refused; else what is broken is counted in the graph's record, and left out
    classes         in the open protocol, classes and properties are asked and on offer too, see schema_of. They are so anyway where a graph
                    is about little else, an ontology, or where seeds link some
    names_source, names_target      tables of IRI and name that come before all other names, translations for instance
    """
    if not 0 <= seed_ratio < 1:
        raise OptionError(f"seed_ratio={seed_ratio}: expected a share from 0 to below 1")
    if target is not None:
        sides = _read_graphs((source, target), labels, languages, strict)
        told, asked = (None if path is None else Path(path) for path in (seeds, gold))
        links = triples.read_links(told, asked, sides[0][1], sides[1][1])
        links = (links[0] or Alignment.empty(), links[1])  # gold given apart is never made into seeds
        protocol = protocol or "open"
        graphs = (sides[0][0], sides[1][0])
    else:
        folder = _dataset_folder(source)
        if seeds is not None or gold is not None:
            raise OptionError(f"{folder}: a dataset folder brings its own links; --seeds and --gold go with two graphs")
        if labels or languages or strict:
            raise OptionError(f"{folder}: --label, --lang and --strict are for RDF, and this is a dataset folder")
        graphs, links = _read_folder(folder, fold)
    given, test = links
    if given is None and test is not None:
        given, test = split_links(test, seed_ratio, split_seed)
    graphs = (_renamed(graphs[0], names_source), _renamed(graphs[1], names_target))
    return make_task(*graphs, given or Alignment.empty(), test or Alignment.empty(), protocol, classes)


def read_graph(place: Place, *, labels: Sequence[str] = (), languages: Sequence[str] = (), strict: bool = False) -> KnowledgeGraph:
    """One graph by itself, see read."""
    return _read_graphs((place,), labels, languages, strict)[0][0]


def read_again(run: str | Path) -> tuple[AlignmentTask, Alignment]:
    """The task of a run's folder: the same graphs, read in the same way. What is asked may differ, the gold links are not known."""
    path = Path(run) / "run.json"
    if not path.is_file():
        raise DataError(f"{path}: no such file; expected the folder of a run, as kgalign align writes it")
    try:
        arguments = json.loads(path.read_text("utf-8"))["options"]["read"]
    except (ValueError, KeyError):
        raise DataError(f"{path}: does not say where its graphs are; expected a run of kgalign align") from None
    return read(**arguments)


def is_dataset(place: str | Path) -> bool:
    """Whether this is a folder with two graphs in it, and not a graph."""
    path = Path(place)
    return path.is_dir() and (any(not module.missing(path) for module in FORMATS.values()) or not find_files(path))


def make_task(
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    seeds: Alignment,
    gold: Alignment,
    protocol: Protocol | None = None,
    classes: bool = False,
) -> tuple[AlignmentTask, Alignment]:
    """The task with its queries and its pool as the protocol says, and the gold links."""
    for side, graph in (("source", source), ("target", target)):
        if not graph.entities:
            raise DataError(f"the {side} graph is empty: expected at least one triple")
    protocol = protocol or ("closed" if len(gold) else "open")
    if protocol == "closed" and not len(gold):
        raise OptionError("the closed protocol asks the test links' entities, but there are no test links; use --protocol open")
    queries, pool = gold.sources, gold.targets
    if protocol == "open":
        schemas = [schema_of(graph) for graph in (source, target)]
        linked = np.isin(seeds.sources, schemas[0]).any() or np.isin(seeds.targets, schemas[1]).any()
        if classes or linked or is_ontology(source, schemas[0]) or is_ontology(target, schemas[1]):
            schemas = [terms_of(graph) for graph in (source, target)]
        else:
            source, target = (_recorded(graph, len(schema)) for graph, schema in zip((source, target), schemas, strict=True))
        queries = np.setdiff1d(_askable(source, schemas[0]), seeds.sources)
        pool = np.setdiff1d(_askable(target, schemas[1]), seeds.targets)
    return AlignmentTask(source, target, seeds, queries, pool, protocol), gold


def _recorded(graph: KnowledgeGraph, classes: int) -> KnowledgeGraph:
    return replace(graph, record={**graph.record, "classes not asked": classes}) if classes else graph


def _askable(graph: KnowledgeGraph, schema: Ints) -> Ints:
    """All entities but those of the schema, and blank nodes without a name, which a link could not tell from one another."""
    names = zip(graph.entities, graph.names, strict=True)
    named = np.flatnonzero([name != "" or not is_blank(entity) for entity, name in names])
    found = (each for each in (np.setdiff1d(named, schema), named) if len(each))
    return next(found, np.arange(len(graph.entities)))


def _read_graphs(places: Sequence[Place], labels: Sequence[str], languages: Sequence[str], strict: bool) -> list[Graph]:
    """The graphs of one or two places. Names of RDF graphs are chosen when all have been read."""
    read_sides = [_read_place(place, strict) for place in places]
    of_rdf = [number for number, side in enumerate(read_sides) if isinstance(side, Statements)]
    if (labels or languages or strict) and not of_rdf:
        raise OptionError(f"{_text(places[0])}: --label, --lang and --strict are for RDF, and this is a table")
    if len(languages) == len(places):
        languages = [languages[number] for number in of_rdf]
    named = iter(name_graphs([side for side in read_sides if isinstance(side, Statements)], labels, languages) if of_rdf else ())
    return [next(named) if isinstance(side, Statements) else side for side in read_sides]


def _read_place(place: Place, strict: bool) -> Statements | Graph:
    if isinstance(place, str) and place.startswith(SCHEMES):
        from kgalign.readers import sparql  # here and below, since what RDF takes is slow to import and not always installed

        return sparql.read_statements(place.removeprefix("sparql+"))
    paths = _files(place)
    if len(paths) == 1 and format_of(paths[0]) is None:
        return triples.read_graph(paths[0])
    from kgalign.readers import rdf

    return rdf.read_statements(paths, strict)


def _files(place: Place) -> list[Path]:
    """The files that make up one graph."""
    if not isinstance(place, str | Path):
        if not place:
            raise DataError("no files given for a graph: expected at least one")
        return [Path(path) for path in place]
    path = Path(place)
    if path.is_dir():
        found = find_files(path)
        if not found:
            raise DataError(f"{path}: no RDF file in this folder; expected names that end in {', '.join(RDF_FORMATS)}")
        return found
    if not path.exists() and any(sign in path.name for sign in "*?["):
        found = sorted(path.parent.glob(path.name))
        if not found:
            raise DataError(f"{path}: no file has such a name")
        return found
    return [path]


def _dataset_folder(source: Place) -> Path:
    """The folder of a dataset; a single graph is refused with a hint."""
    if isinstance(source, str | Path) and Path(source).is_dir():
        return Path(source)
    is_graph = _text(source).startswith(SCHEMES) or all(path.is_file() for path in _files(source))
    hint = "this is one graph: give the other one too" if is_graph else "no such file or folder"
    raise DataError(f"{_text(source)}: {hint}")


def _text(place: Place) -> str:
    return str(place) if isinstance(place, str | Path) else ", ".join(map(str, place))


def _renamed(graph: KnowledgeGraph, path: str | Path | None) -> KnowledgeGraph:
    """The graph with the names that a table gives; of entities that it does not have, nothing is said."""
    if path is None:
        return graph
    ids = {normal_iri(entity.strip("<>")): number for number, entity in enumerate(graph.entities)}
    given = {ids[key]: name.strip() for _, (iri, name) in read_rows(path, 2) if (key := normal_iri(iri.strip("<>"))) in ids}
    if not given:
        raise DataError(f"{path}: no entity of the graph is in this table; expected rows of IRI and name, tab between them")
    names = [given.get(number) or name for number, name in enumerate(graph.names)]
    return replace(graph, names=names, record={**graph.record, "names from a table": len(given)})


def _read_folder(folder: Path, fold: int) -> tuple[tuple[KnowledgeGraph, KnowledgeGraph], Links]:
    for module in FORMATS.values():
        if not module.missing(folder):
            return module.read_folder(folder, fold) if module is openea else module.read_folder(folder)
    if find_files(folder):
        raise DataError(f"{folder}: a folder of RDF files is one graph: give the other one too")
    needs = "; ".join(f"{name} needs {module.NEEDS}" for name, module in FORMATS.items())
    raise DataError(f"{folder}: no known dataset in this folder. {needs}")
