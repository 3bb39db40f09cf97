"""Files of decisions, as `kgalign review` keeps or exports them, as matches, rejected pairs and sources without a counterpart."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kgalign.data import Alignment, Cardinality, one_link
from kgalign.decisions import MATCH, NO_MATCH, Decision, not_undone, read_decisions, stand
from kgalign.errors import DataError
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.decided import Decided
from kgalign.readers.link_ends import Ends
from kgalign.readers.link_files import read_link_file
from kgalign.readers.link_files.sssom import reader as sssom

logger = logging.getLogger(__name__)
NOTHING = Decided(Alignment.empty(), Alignment.empty(), np.empty(0, np.int64))


def read_decided(
    places: str | Path | Sequence[str | Path],
    ends: tuple[Ends, Ends],
    cardinality: Cardinality,
    strict: bool = False,
    limits: Limits = DEFAULT,
) -> Decided:
    """What stands of the decisions in files, by the ids of entities. Of several files, a later one counts for more.

    Decisions about entities that the graphs do not have are counted and left out.

    Args:
        places: Logs of decisions (.jsonl), or links in any format: those that hold are matches, the others are rejected.
        ends: The entities of both graphs.
        cardinality: How many matches an entity may have.
        strict: Refuse decisions about entities that the graphs do not have.
        limits: How much of each file is taken in.
    """
    paths = [places] if isinstance(places, str | Path) else list(places)
    if not paths:
        return NOTHING
    decisions = [each for path in paths for each in _with_ids(Path(path), ends, strict, limits)]
    return Decided.of(stand(decisions, one_link(cardinality)), int, int)


def last_lines(places: Sequence[str | Path], limits: Limits = DEFAULT) -> dict[str, str]:
    """The id of the last line of each log among files of decisions, by path: whoever reads these files now knows the lines up to there."""
    logs = {str(place): read_decisions(place, limits) for place in places if is_log(Path(place))}
    return {place: lines[-1].id for place, lines in logs.items() if lines}


def is_log(path: Path) -> bool:
    """Whether a file is a log of decisions and no other file of links."""
    if path.suffix == ".jsonl" or not path.is_file():
        return path.suffix == ".jsonl"
    with path.open("rb") as file:
        return file.read(1) == b"{"


def _with_ids(path: Path, ends: tuple[Ends, Ends], strict: bool, limits: Limits) -> list[Decision]:
    """The decisions of a file, whose sources and targets are ids."""
    given = not_undone(read_decisions(path, limits)) if is_log(path) else _as_decisions(path, strict, limits)
    found, problems = [], []
    for number, each in enumerate(given, start=1):
        wanted = [(side, text) for side, text in zip(ends, each.pair, strict=True) if text]
        ids = [(side, text, side.find(text)) for side, text in wanted]
        if lost := next(((side, text) for side, text, own in ids if len(own) != 1), None):
            problems.append(f"{path}: decision {number}: {lost[0].problem(lost[1])}")
            continue
        source, target = str(ids[0][2][0]), str(ids[1][2][0]) if each.target else ""
        found.append(Decision(f"{path} {number}", each.verdict, source, target, each.author))
    if problems and strict:
        raise DataError(f"{problems[0]}; expected an IRI of that graph; leave out `strict` to go on without it")
    if problems:
        logger.warning(
            "%s: %d of %d decisions are left out, since an entity is not found; the first: %s",
            *(path, len(problems), len(given), problems[0].removeprefix(f"{path}: ")),
        )
    return found


def _as_decisions(path: Path, strict: bool, limits: Limits) -> list[Decision]:
    """The rows of a file of links as decisions of one author. Only SSSOM says of which sources people found no counterpart."""
    links = read_link_file(path, strict, limits)
    found = [
        Decision(str(number), MATCH if link.holds else NO_MATCH, link.source, link.target) for number, link in enumerate(links)
    ]
    alone = sssom.unmatched(path, limits=limits) if sssom.accepts(path) else ()
    return found + [Decision(f"alone {number}", NO_MATCH, source, "") for number, source in enumerate(alone)]
