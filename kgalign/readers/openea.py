"""Folders as OpenEA has them: triples, attributes and links by IRI, with folds."""

from __future__ import annotations

from pathlib import Path

from kgalign.data import KnowledgeGraph
from kgalign.errors import DataError
from kgalign.files import find_file, read_rows
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.graphs import build_graph, entity_ids
from kgalign.readers.links import check_apart, link_names, make_links
from kgalign.seams import GraphPair

NEEDED = ("rel_triples_1", "rel_triples_2")
FOLDS = "721_5fold"  # the folder of the folds: 70 % test links, 20 % seeds, 10 % validation links, five times


class OpenEAReader:
    """Reads a folder as OpenEA has it."""

    expects = f"an OpenEA folder ({' and '.join(NEEDED)}; ent_links, or {FOLDS}/N/train_links and test_links)"

    def accepts(self, folder: Path) -> bool:
        """Whether the folder has triples of two graphs."""
        return all(find_file(folder, name) for name in NEEDED)

    def read(self, folder: Path, *, fold: int = 1, limits: Limits = DEFAULT) -> GraphPair:
        """The graphs and the links of a fold: `train_links` as seeds, `test_links` as test links.

        The `valid_links` are not used: published figures do not count them as seeds, and kgalign takes development links from the seeds.
        Without folds, `ent_links` holds all links.

        Args:
            folder: The folder.
            fold: The number of the fold.
            limits: How much of each file is taken in.
        """
        paths = _fold_paths(folder / FOLDS, fold) if (folder / FOLDS).is_dir() else [find_file(folder, "ent_links")]
        linked = [find_file(folder, "ent_links"), *paths]
        source, target = (_read_graph(folder, side, linked, limits) for side in (1, 2))
        ids = entity_ids(source), entity_ids(target)
        links = [make_links(path, read_rows(path, 2, limits), *ids) for path in paths if path is not None]
        if len(links) == 2 and paths[1] is not None:
            check_apart(paths[1], links[0], links[1])
            return GraphPair(source, target, *links)
        return GraphPair(source, target, None, links[0] if links else None)


reader = OpenEAReader()


def _fold_paths(folds: Path, fold: int) -> list[Path | None]:
    """The files of a fold: seeds and test links."""
    paths = [find_file(folds / str(fold), name) for name in ("train_links", "test_links")]
    if None in paths:
        there = ", ".join(sorted(path.name for path in folds.iterdir() if path.is_dir()))
        raise DataError(f"{folds / str(fold)}: expected train_links and test_links there; the folds of this folder are {there}")
    return paths


def _read_graph(folder: Path, side: int, links: list[Path | None], limits: Limits) -> KnowledgeGraph:
    """The graph of one side, also with the entities that have only attributes or links."""
    triples = find_file(folder, f"rel_triples_{side}")
    attributes = find_file(folder, f"attr_triples_{side}")
    facts = (fields for path in (triples,) if path for _, fields in read_rows(path, 3, limits))
    literals = (fields for path in (attributes,) if path for _, fields in read_rows(path, 3, limits))
    linked = (link_names(fields)[side - 1] for path in links if path for _, fields in read_rows(path, 2, limits))
    return build_graph(triples or folder, facts, literals, linked)
