"""Links between two graphs: read from tables, checked, and split into seeds and test links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from kgalign.data import Alignment
from kgalign.errors import DataError
from kgalign.iri import normal_iri
from kgalign.readers.tables import read_table

Ids = Mapping[str, int]  # the id of each entity by its name in files
Side = tuple[str, Ids, dict[int, int]]


def read_links(
    seeds: str | Path | None, gold: str | Path | None, source_ids: Ids, target_ids: Ids
) -> tuple[Alignment | None, Alignment | None]:
    """Seeds and gold links from two tables. No entity may be in both tables.

    Args:
        seeds: A table of source and target.
        gold: A table of source and target.
        source_ids: The id of each source entity.
        target_ids: The id of each target entity.
    """
    paths = [None if path is None else Path(path) for path in (seeds, gold)]
    given, tested = (None if path is None else make_links(path, read_table(path, 2), source_ids, target_ids) for path in paths)
    if given is not None and tested is not None and paths[1] is not None:
        check_apart(paths[1], given, tested)
    return given, tested


def make_links(path: Path, rows: Iterable[tuple[int, list[str]]], source_ids: Ids, target_ids: Ids) -> Alignment:
    """The links that a file lists. Each entity must exist, and be in one link only.

    Args:
        path: The file, for errors.
        rows: Its rows with their numbers; source and target come first in a row.
        source_ids: The id of each source entity.
        target_ids: The id of each target entity.
    """
    pairs: list[tuple[int, int]] = []
    sides: tuple[Side, Side] = (("source", source_ids, {}), ("target", target_ids, {}))  # with the line that links each entity
    for number, fields in rows:
        names = [_as_spelt(name, ids) for name, (_, ids, _) in zip(link_names(fields), sides, strict=True)]
        for (side, ids, line_of), name in zip(sides, names, strict=True):
            if name not in ids:
                other = target_ids if ids is source_ids else source_ids
                hint = "; the other graph has it: are the two the right way round?" if name in other else ""
                raise DataError(f"{path}:{number}: the {side} graph has no entity {name!r}; expected one that its files name{hint}")
            if ids[name] in line_of:
                raise DataError(
                    f"{path}:{number}: the {side} entity {name!r} is linked on line {line_of[ids[name]]} already; "
                    "expected each entity in one link: remove one of the two lines"
                )
            line_of[ids[name]] = number
        pairs.append((source_ids[names[0]], target_ids[names[1]]))
    return Alignment(np.array(pairs, np.int64).reshape(-1, 2))


def link_names(fields: list[str]) -> tuple[str, str]:
    """The source and the target of a row, without further columns such as a score."""
    return fields[0], fields[1].split("\t", 1)[0]


def split_links(links: Alignment, seed_ratio: float, split_seed: int) -> tuple[Alignment, Alignment]:
    """Seeds and test links, drawn at random from all links.

    Args:
        links: All links.
        seed_ratio: The share of the links that become seeds.
        split_seed: The seed of the random numbers.
    """
    order = np.random.default_rng(split_seed).permutation(len(links))
    cut = round(seed_ratio * len(links))
    return links.where(np.sort(order[:cut])), links.where(np.sort(order[cut:]))


def check_apart(path: Path, seeds: Alignment, test: Alignment) -> None:
    """Refuses test links of a file whose entities are in the seeds too, since their matches would be known."""
    for side, given, tested in (("source", seeds.sources, test.sources), ("target", seeds.targets, test.targets)):
        both = np.intersect1d(given, tested).size
        if both:
            raise DataError(f"{path}: {both} {side} entities are in the seeds and in the test links; expected each in one of them")


def _as_spelt(name: str, ids: Ids) -> str:
    """The name as the graph spells it: files may put an IRI in angle brackets, or encode it with percent signs."""
    return name if name in ids else iri if (iri := normal_iri(name.strip("<>"))) in ids else name
