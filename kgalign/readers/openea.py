"""OpenEA folders: triples, attributes and links by IRI, with folds."""

from __future__ import annotations

from pathlib import Path

from kgalign.data import KnowledgeGraph
from kgalign.errors import DataError
from kgalign.files import find_file, read_rows
from kgalign.readers.graphs import build_graph
from kgalign.readers.links import Links, check_apart, link_names, make_links

NEEDS = "rel_triples_1 and rel_triples_2 (and ent_links or 721_5fold/N/train_links and test_links)"


def missing(folder: Path) -> list[str]:
    """The files that an OpenEA folder must have and this one has not."""
    return [name for name in ("rel_triples_1", "rel_triples_2") if not find_file(folder, name)]


def read_folder(folder: Path, fold: int = 1) -> tuple[tuple[KnowledgeGraph, KnowledgeGraph], Links]:
    """Both graphs and the links of a fold: seeds from train_links, test links from test_links.

    The valid_links are left alone: published figures do not count them as seeds, and development links come out of the seeds here.
    Without folds, ent_links holds all links.
    """
    paths = [find_file(folder, "ent_links")]
    folds = folder / "721_5fold"
    if folds.is_dir():
        paths = [find_file(folds / str(fold), name) for name in ("train_links", "test_links")]
        if None in paths:
            there = ", ".join(sorted(path.name for path in folds.iterdir() if path.is_dir()))
            raise DataError(f"{folds / str(fold)}: expected train_links and test_links there; the folds of this folder are {there}")
    linked = [find_file(folder, "ent_links"), *paths]
    source, source_ids = _read_graph(folder, 1, linked)
    target, target_ids = _read_graph(folder, 2, linked)
    links = [make_links(path, read_rows(path, 2), source_ids, target_ids) for path in paths if path is not None]
    if len(links) == 2 and paths[1] is not None:
        check_apart(paths[1], *links)
        return (source, target), (links[0], links[1])
    return (source, target), (None, links[0] if links else None)


def _read_graph(folder: Path, side: int, links: list[Path | None]) -> tuple[KnowledgeGraph, dict[str, int]]:
    """The graph of one side; entities that occur only in attributes or links are kept."""
    triples = find_file(folder, f"rel_triples_{side}")
    attributes = find_file(folder, f"attr_triples_{side}")
    facts = (fields for path in (triples,) if path for _, fields in read_rows(path, 3))
    literals = (fields for path in (attributes,) if path for _, fields in read_rows(path, 3))
    linked = (link_names(fields)[side - 1] for path in links if path for _, fields in read_rows(path, 2))
    return build_graph(triples or folder, facts, literals, linked)
