"""Links between two graphs: read from files, checked, and split into seeds and test links."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from kgalign.data import Alignment, Cardinality, Ints, one_link
from kgalign.errors import DataError
from kgalign.iri import normal_iri
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.link_ends import Ends
from kgalign.readers.link_files import read_link_file
from kgalign.readers.link_objects import links_in_memory
from kgalign.seams import GivenLink, LinksInMemory

logger = logging.getLogger(__name__)
Ids = Mapping[str, int]  # the id of each entity by its name in files
Side = tuple[str, Ids, dict[int, int]]
Where = Path | str  # a file; or the name of the option that was given an object in memory
NEARLY_ALL = 0.8  # names of a file that have to fit one way round, while as many do not fit the other way round
FEWEST_NAMED = 3  # links with names: fewer show nothing


def read_links(
    seeds: str | Path | LinksInMemory | None,
    gold: str | Path | LinksInMemory | None,
    source: Ends,
    target: Ends,
    *,
    rejected: str | Path | LinksInMemory | None = None,
    strict: bool = False,
    cardinality: Cardinality = "one-to-one",
    limits: Limits = DEFAULT,
) -> tuple[Alignment | None, Alignment | None, Alignment | None]:
    """Seeds, gold links and rejected pairs from files of any format in `LINK_READERS`, or from objects in memory.

    A link of which an entity has vanished is left out and counted; if all have, the file is refused, as is one without links. No entity that
    has one link at most may be in the seeds and in the gold links. Of a file with pairs that are said to be different, these are the rejected
    ones, and of any other file all are.

    Args:
        seeds: A file of links, or an object, see `links_in_memory`.
        gold: The same.
        source: The entities of the source.
        target: The entities of the target.
        rejected: Pairs that are no links, in a file or an object.
        strict: Refuse links of which an entity has vanished.
        cardinality: How many links an entity may have in the seeds. Gold links may be of any cardinality.
        limits: How much of each file is taken in.
    """
    allowed: tuple[Cardinality, Cardinality] = cardinality, "many-to-many"
    given, tested = (
        None if place is None else _read_holding(place, option, source, target, strict, own, limits)
        for place, option, own in zip((seeds, gold), ("seeds", "gold"), allowed, strict=True)
    )
    if given is not None and tested is not None:
        check_apart(gold if isinstance(gold, str | Path) else "gold", given, tested, cardinality)
    if rejected is None:
        return given, tested, None
    where, rows = _read_rows(rejected, "rejected", strict, limits)
    different = [link for link in rows if not link.holds]
    return given, tested, find_links(where, different or rows, source, target, strict)[0]


def find_links(where: Where, rows: Sequence[GivenLink], source: Ends, target: Ends, strict: bool = False) -> tuple[Alignment, Ints]:
    """The links between entities of two graphs, each once, and (n,) the line of each.

    A row that fits only the other way round is turned, and so are all rows if their names fit only so. A first line of a file that fits
    nowhere, above others that do, is a header. The record says how many rows were turned or left out, and why the first one was.

    Args:
        where: The file or the option, for messages.
        rows: The links of the file.
        source: The entities of the source.
        target: The entities of the target.
        strict: Refuse the first link of which an entity is not found.
    """
    found: dict[tuple[int, int], int] = {}
    problems: list[str] = []
    turned = header = 0
    by_name = _names_are_turned(rows, source, target)
    if by_name:
        rows = [row._replace(source=row.target, target=row.source) for row in rows]
    for row in rows:
        ends = source.find(row.source), target.find(row.target)
        if len(ends[0]) != 1 or len(ends[1]) != 1:
            other = source.find(row.target), target.find(row.source)
            if len(other[0]) == len(other[1]) == 1:
                ends, turned = other, turned + 1
            else:
                side, text = (source, row.source) if len(ends[0]) != 1 else (target, row.target)
                header += row.line == 1 and isinstance(where, Path) and not any(map(len, (*ends, *other)))
                problems.append(f"{where}:{row.line or ''}".rstrip(":") + f": {side.problem(text)}")
                continue
        found.setdefault((ends[0][0], ends[1][0]), row.line)
    if header and found:
        problems = problems[1:]
    _check_found(where, len(rows) - (1 if header and found else 0), len(found), problems, strict)
    turned = len(rows) - turned if by_name else turned
    if turned:
        reason = ", since only so the names beside the ids fit" if by_name else ""
        logger.warning(
            "%s: in %d of %d links the source comes second: they are read the other way round%s", where, turned, len(rows), reason
        )
    record = {"left out": len(problems), "first left out": problems[0]} if problems else {}
    record |= {"turned": turned} if turned else {}
    return Alignment(np.array(list(found), np.int64).reshape(-1, 2), record=record), np.array(list(found.values()), np.int64)


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


def check_apart(where: Where, seeds: Alignment, test: Alignment, cardinality: Cardinality = "one-to-one") -> None:
    """Refuses test links of a file whose entities are in the seeds too, since their matches would be known.

    Entities that may have several links may be in both, if the links differ.
    """
    sides = zip(("source", "target"), seeds.pairs.T, test.pairs.T, one_link(cardinality), strict=True)
    for side, given, tested, single in sides:
        both = np.intersect1d(given, tested).size if single else 0
        if both:
            raise DataError(f"{where}: {both} {side} entities are in the seeds and in the test links; expected each in one of them")
    both = np.intersect1d(seeds.keys, test.keys).size
    if both:
        raise DataError(f"{where}: {both} links are in the seeds and in the test links; expected each in one of them")


def _read_rows(place: str | Path | LinksInMemory, option: str, strict: bool, limits: Limits) -> tuple[Where, list[GivenLink]]:
    """The links of a file or of an object in memory as texts, and where they are. A file without any is refused."""
    if not isinstance(place, str | Path):
        return option, links_in_memory(place, option)
    rows = read_link_file(place, strict, limits)
    if not rows:
        raise DataError(f"{place}: no links in this file; expected at least one row of source and target")
    return Path(place), rows


def _read_holding(
    place: str | Path | LinksInMemory,
    option: str,
    source: Ends,
    target: Ends,
    strict: bool,
    cardinality: Cardinality,
    limits: Limits,
) -> Alignment:
    """The links of a file or an object in which each entity is in one link only, unless it may have several."""
    path, rows = _read_rows(place, option, strict, limits)
    holding = [link for link in rows if link.holds]
    if rows and not holding:
        raise DataError(f"{path}: all {len(rows):,} pairs of this file are said to be different; expected links for `{option}`")
    links, lines = find_links(path, holding, source, target, strict)
    for column, (side, single) in enumerate(zip((source, target), one_link(cardinality), strict=True)):
        order = np.argsort(links.pairs[:, column], kind="stable")
        again = np.flatnonzero(np.diff(links.pairs[order, column]) == 0)
        if single and len(again):
            first, second = order[again[0]], order[again[0] + 1]
            place = f"{path}:{lines[second]}" if lines[second] else f"{path}"
            where = f"on line {lines[first]} already" if lines[first] else "twice"
            raise DataError(
                f"{place}: the {side.side} entity {side.graph.entities[links.pairs[second, column]]!r} is linked {where}; "
                "expected each entity in one link: remove one of the two, or set `cardinality` if it may have several"
            )
    return links


def _names_are_turned(rows: Sequence[GivenLink], source: Ends, target: Ends) -> bool:
    """Whether nearly all names beside the ids are those of the entities if source and target change places, and nearly none as they stand.

    Two tables that number their rows have the same ids, so ids alone do not show which way round a link is.
    """
    named = [row for row in rows if row.source_name and row.target_name and source.find(row.source) and target.find(row.target)]
    if len(named) < max(FEWEST_NAMED, len(rows) / 2):
        return False
    straight, turned = (
        sum(
            (one.is_called(row.source, row.source_name) + other.is_called(row.target, row.target_name)) / (2 * len(named))
            for row in named
        )
        for one, other in ((source, target), (target, source))
    )
    return turned >= NEARLY_ALL and straight <= 1 - NEARLY_ALL


def _check_found(where: Where, rows: int, found: int, problems: Sequence[str], strict: bool) -> None:
    """Says how many links are left out. Refuses them if it should, or if nothing is left."""
    if not problems:
        return
    if strict or not found:
        place = "this file" if isinstance(where, Path) else f"`{where}`"
        none = f"; none of the {rows:,} links of {place} can be used" if not found else "; leave out `strict` to go on without it"
        raise DataError(f"{problems[0]}; expected an IRI or an id of that graph, or a name that is unique in it{none}")
    first = problems[0].removeprefix(f"{where}:")
    logger.warning(
        "%s: %d of %d links %s left out, since an entity is not found; the first: %s",
        *(where, len(problems), rows, "is" if len(problems) == 1 else "are", first.strip()),
    )


def _as_spelt(name: str, ids: Ids) -> str:
    """The name as the graph spells it: files may put an IRI in angle brackets, or encode it with percent signs."""
    return name if name in ids else iri if (iri := normal_iri(name.strip("<>"))) in ids else name
