"""Links between two graphs: read by name, checked, split."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from kgalign.data import Alignment
from kgalign.errors import DataError
from kgalign.iri import normal_iri

Side = tuple[str, Mapping[str, int], dict[int, int]]
Links = tuple[Alignment | None, Alignment | None]  # seeds and test links; no seeds: all links are in the second


def make_links(
    path: Path, rows: Iterable[tuple[int, list[str]]], source_ids: Mapping[str, int], target_ids: Mapping[str, int]
) -> Alignment:
    """The alignment that numbered rows of two names tell; each entity must exist and stand in one link only."""
    pairs: list[tuple[int, int]] = []
    sides: tuple[Side, Side] = (
        ("source", source_ids, {}),
        ("target", target_ids, {}),
    )  # what it is called, its ids, the line that has it
    for number, fields in rows:
        names = [_as_spelt(name, ids) for name, (_, ids, _) in zip(link_names(fields), sides, strict=True)]
        for (side, ids, line_of), name in zip(sides, names, strict=False):
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


def _as_spelt(name: str, ids: Mapping[str, int]) -> str:
    """The name as the graph has it: an IRI may come in angle brackets, or percent-encoded."""
    return name if name in ids else iri if (iri := normal_iri(name.strip("<>"))) in ids else name


def link_names(fields: list[str]) -> tuple[str, str]:
    """Source and target of a row; what stands behind them, a score perhaps, is left out."""
    return fields[0], fields[1].split("\t", 1)[0]


def split_links(links: Alignment, seed_ratio: float, split_seed: int) -> tuple[Alignment, Alignment]:
    """Seeds and test links, drawn at random from all links."""
    order = np.random.default_rng(split_seed).permutation(len(links))
    cut = round(seed_ratio * len(links))
    return links.where(np.sort(order[:cut])), links.where(np.sort(order[cut:]))


def check_apart(path: Path, seeds: Alignment, test: Alignment) -> None:
    """Refuses test links whose entities are in the seeds too: the answer would be known."""
    for side, told, asked in (("source", seeds.sources, test.sources), ("target", seeds.targets, test.targets)):
        both = np.intersect1d(told, asked).size
        if both:
            raise DataError(f"{path}: {both} {side} entities are in the seeds and in the test links; expected each in one of them")
