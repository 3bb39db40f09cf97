"""The table of a review: a row for each link of the run and for each pair that was decided, filtered, sorted and searched on arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgalign.data import Floats, Ints
from kgalign.decisions import MATCH, NO_MATCH, UNSURE
from kgalign.errors import OptionError
from kgalign.review.entities import Entities

CODES = ("", MATCH, NO_MATCH, UNSURE)  # the verdict of a row, by its number
UNDECIDED, DECIDED = "undecided", "decided"
CHOICES = ("", UNDECIDED, DECIDED, MATCH, NO_MATCH, UNSURE)
SORTS = ("probability", "source", "target", "round", "class", "verdict")


@dataclass(frozen=True)
class Filters:
    """Which links are wanted; every filter that is set must fit. In JSON, `from` and `to` stand for `least` and `most`.

    Attributes:
        of_class: The name of a class of the source.
        least: The lowest probability.
        most: The highest probability.
        round: The round in which the link became confident, 0: in none.
        text: A part of a name or an IRI of either entity, in upper or lower case.
        verdict: `undecided`, `decided`, `match`, `no match` or `unsure`; empty: all.
    """

    of_class: str = ""
    least: float = 0.0
    most: float = 1.0
    round: int | None = None
    text: str = ""
    verdict: str = ""

    @classmethod
    def of(cls, given: Mapping[str, Any] | Filters | None) -> Filters:
        """The filters of a mapping: class, from, to, round, text and verdict. What is None or empty filters nothing."""
        if isinstance(given, Filters):
            return given
        if given is None:
            return cls()
        names = {"class": "of_class", "from": "least", "to": "most"}
        known: dict[str, Any] = {}
        for key, value in given.items():
            if value is not None and value != "":
                known[names.get(key, key)] = value
        wrong = set(known) - {each.name for each in fields(cls)}
        if wrong:
            raise OptionError(f"filters: unknown filter {min(wrong)!r}; expected class, from, to, round, text and verdict")
        try:
            numbers: dict[str, Any] = {name: float(known[name]) for name in ("least", "most") if name in known}
            if "round" in known:
                numbers["round"] = int(known["round"])
        except (TypeError, ValueError):
            raise OptionError("filters: expected numbers as from, to and round") from None
        texts: dict[str, Any] = {name: str(known[name]) for name in ("of_class", "text", "verdict") if name in known}
        if texts.get("verdict", "") not in CHOICES:
            raise OptionError(f"filters: verdict={texts['verdict']!r}: expected one of {', '.join(CHOICES[1:])}")
        return cls(**numbers, **texts)


@dataclass(frozen=True, eq=False)
class Rows:
    """Pairs of entities as columns. A target of -1: the source has no counterpart.

    Attributes:
        sides: The entities of both graphs.
        sources: (n,)
        targets: (n,)
        probabilities: (n,)
        rounds: (n,)
        verdicts: (n,) positions in CODES. The only column that changes.
    """

    sides: tuple[Entities, Entities]
    sources: Ints
    targets: Ints
    probabilities: Floats
    rounds: Ints
    verdicts: Ints

    def __len__(self) -> int:
        return len(self.sources)

    def chosen(self, filters: Filters) -> Ints:
        """The positions of the rows that fit."""
        mask: NDArray[Any] = np.ones(len(self), bool)
        if filters.least > 0:
            mask &= self.probabilities >= filters.least
        if filters.most < 1:
            mask &= self.probabilities <= filters.most
        if filters.round is not None:
            mask &= self.rounds == filters.round
        if filters.of_class:
            mask &= self.sides[0].of_class(filters.of_class)[self.sources]
        if filters.verdict:
            mask &= self.has_verdict(filters.verdict)
        if wanted := filters.text.strip().casefold():
            ours, theirs = (
                np.isin(ids, side.having(wanted)) for side, ids in zip(self.sides, (self.sources, self.targets), strict=True)
            )
            mask &= ours | theirs
        return np.flatnonzero(mask)

    def has_verdict(self, verdict: str) -> NDArray[Any]:
        """(n,) whether each row has that verdict."""
        decided = self.verdicts > 0
        if verdict in (UNDECIDED, DECIDED):
            return ~decided if verdict == UNDECIDED else decided
        found: NDArray[Any] = self.verdicts == CODES.index(verdict)
        return found

    def ordered(self, rows: Ints, sort: str) -> Ints:
        """The same rows in order. A minus before the column: highest first."""
        column, falling = sort.removeprefix("-"), sort.startswith("-")
        if column not in SORTS:
            raise OptionError(f"sort={sort!r}: expected one of {', '.join(SORTS)}, perhaps with a minus before it")
        if column in ("source", "target"):
            entities, ids = self.sides[column == "target"], (self.sources, self.targets)[column == "target"][rows]
            values = np.where(ids >= 0, np.append(entities.by_name, -1)[ids], -1)
        elif column == "class":
            values = self.sides[0].smallest[self.sources[rows]]
        else:
            values = {"probability": self.probabilities, "round": self.rounds, "verdict": self.verdicts}[column][rows]
        return rows[np.argsort(-values if falling else values, kind="stable")]
