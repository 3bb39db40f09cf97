"""The table of a review, kept up to date as decisions come and go: in pages, above a line, and by a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kgalign.data import Ints
from kgalign.decisions import MATCH, Decision
from kgalign.errors import OptionError
from kgalign.review.book import Book
from kgalign.review.entities import Entities
from kgalign.review.reviewed_run import ReviewedRun
from kgalign.review.rows import CODES, UNDECIDED, Filters, Rows

NO_ENTITY = {"iri": "", "name": "", "latin": ""}
SIDES = "source", "target"


@dataclass(eq=False)
class Table:
    """The links of a run, and further pairs that were decided.

    Attributes:
        run: The run.
        sides: The entities of both graphs.
        book: The decisions.
        links: The rows of the links.
        by_end: (n,) the rows of the links by source, and by target.
        keys: The pairs that are links.
        taken: The source that each target is linked to.
        others: The further pairs of each source that was decided on: target, probability, and the number of the verdict.
        whole: All rows; None: they have changed.
    """

    run: ReviewedRun
    sides: tuple[Entities, Entities]
    book: Book
    links: Rows
    by_end: tuple[Ints, Ints]
    keys: set[int]
    taken: dict[int, int]
    others: dict[int, list[tuple[int, float, int]]] = field(default_factory=dict)
    whole: Rows | None = None

    @classmethod
    def of(cls, run: ReviewedRun, sides: tuple[Entities, Entities], book: Book) -> Table:
        """The table of a run in which nothing is decided yet."""
        own = run.links
        links = Rows(sides, own.sources, own.targets, own.scores, own.rounds, np.zeros(len(own), np.int8))
        by_end = np.argsort(own.sources, kind="stable"), np.argsort(own.targets, kind="stable")
        taken = dict(zip(own.targets.tolist(), own.sources.tolist(), strict=True))
        return cls(run, sides, book, links, by_end, set(own.keys.tolist()), taken)

    @property
    def count(self) -> int:
        """The number of links, with matches that are no links of the run."""
        return len(self.links) + int((self.rows().verdicts[len(self.links) :] == CODES.index(MATCH)).sum())

    def mark(self, sources: Ints, targets: Ints) -> None:
        """Brings what was decided about some entities up to date."""
        self.whole = None
        for column, ids in enumerate((sources, targets)):
            for entity in ids.tolist():
                for row in self.links_of(entity, column).tolist():
                    verdict, _ = self.verdict(int(self.links.sources[row]), int(self.links.targets[row]))
                    self.links.verdicts[row] = CODES.index(verdict)
        for source in sources.tolist():
            self.others.pop(source, None)
            if found := self._others_of(source):
                self.others[source] = found

    def rows(self) -> Rows:
        """All rows: first the links, then the other pairs."""
        if self.whole is None:
            own = self.links
            more = np.array([(source, *each) for source, pairs in self.others.items() for each in pairs], np.float64)
            sources, targets, probabilities, verdicts = more.reshape(-1, 4).T
            self.whole = Rows(
                self.sides,
                np.concatenate([own.sources, sources.astype(np.int64)]),
                np.concatenate([own.targets, targets.astype(np.int64)]),
                np.concatenate([own.probabilities, probabilities]),
                np.concatenate([own.rounds, np.zeros(len(more), np.int64)]),
                np.concatenate([own.verdicts, verdicts.astype(np.int8)]),
            )
        return self.whole

    def page(self, filters: Filters, offset: int, limit: int, sort: str) -> dict[str, Any]:
        """Some of the rows that fit, and how many fit."""
        rows = self.rows()
        chosen = rows.ordered(rows.chosen(filters), sort)
        shown = chosen[max(0, offset) :][: max(0, limit)]
        pairs = zip(rows.sources[shown].tolist(), rows.targets[shown].tolist(), strict=True)
        numbers = zip(rows.probabilities[shown].tolist(), rows.rounds[shown].tolist(), strict=True)
        in_conflict = self._in_conflict()
        found = [
            self._row(*pair, round(probability, 4), number, in_conflict)
            for pair, (probability, number) in zip(pairs, numbers, strict=True)
        ]
        return {"rows": found, "total": len(chosen)}

    def search(self, text: str, limit: int) -> list[dict[str, Any]]:
        """Entities of both graphs with a text in a name or in their IRI, as rows with their match; whole names and beginnings come first."""
        found = []
        for column, entities in enumerate(self.sides):
            for number in entities.having(text).tolist():
                own = f"\n{entities.texts[number]}\n"
                found.append((0 if f"\n{text}\n" in own else 1 if f"\n{text}" in own else 2, column, number))
        found.sort()
        in_conflict, rows = self._in_conflict(), []
        for _, column, number in found[: max(0, limit)]:
            source, target = self._match_of(number, column)
            probability = self.probability(source, target) if min(source, target) >= 0 else None
            rows.append({**self._row(source, target, probability, 0, in_conflict), "side": SIDES[column]})
        return rows

    def above(self, line: float, filters: Filters) -> Ints:
        """The undecided links of at least that probability."""
        if not isinstance(line, int | float) or not 0 <= line <= 1:
            raise OptionError(f"line={line!r}: expected a probability from 0 to 1")
        return self.links.chosen(replace(filters, least=max(float(line), filters.least), verdict=UNDECIDED))

    def links_of(self, entity: int, column: int = 0) -> Ints:
        """The rows of the links of a source, or of a target (column 1), most probable first."""
        ids, order = (self.links.sources, self.links.targets)[column], self.by_end[column]
        begin, end = (np.searchsorted(ids, entity, side, sorter=order) for side in ("left", "right"))
        rows = order[begin:end]
        return rows[np.argsort(-self.links.probabilities[rows], kind="stable")]

    def link(self, source: int, target: int | None) -> int | None:
        """The row of a link; None: the pair is none."""
        return next((row for row in self.links_of(source).tolist() if self.links.targets[row] == target), None)

    def probability(self, source: int, target: int) -> float | None:
        """The probability of a link or of a candidate; None: it is neither."""
        if (row := self.link(source, target)) is not None:
            return round(float(self.links.probabilities[row]), 4)
        targets, probabilities = self.run.candidates.of_source(source)
        place = np.flatnonzero(targets == target)
        return round(float(probabilities[place[0]]), 4) if len(place) else None

    def verdict(self, source: int, target: int) -> tuple[str, Decision | None]:
        """What stands about a pair, and the decision that says so, see `Book.verdict_of`. The target -1: no counterpart."""
        return self.book.verdict_of(self._named(0, source)["iri"], self._named(1, target)["iri"])

    def taken_by(self, source: int, target: int) -> tuple[str, str]:
        """IRI and name of another source that is linked to a target; empty texts: none is."""
        decided = self.book.match_of_target(self.sides[1].graph.entities[target])
        other = self.sides[0].ids.get(decided.source) if decided else self.taken.get(target)
        if other is None or other == source:
            return "", ""
        return self.sides[0].graph.entities[other], self.sides[0].name(other)

    def _others_of(self, source: int) -> list[tuple[int, float, int]]:
        """The pairs of a source that were decided on and are no links."""
        found = []
        for each in self.book.of_source(self.sides[0].graph.entities[source]):
            target = self.sides[1].ids.get(each.target, -1)
            is_known = (target >= 0 and ((source << 32) | target) not in self.keys) or not each.target
            if is_known and self.book.stands(each):
                found.append((target, self.probability(source, target) or float(each.verdict == MATCH), CODES.index(each.verdict)))
        return found

    def _match_of(self, entity: int, column: int) -> tuple[int, int]:
        """An entity with its match, -1: it has none."""
        iri = self.sides[column].graph.entities[entity]
        decided = self.book.match_of_target(iri) if column else self.book.match_of(iri)
        if decided is not None:
            return self.sides[0].ids.get(decided.source, -1), self.sides[1].ids.get(decided.target, -1)
        if column:
            return self.taken.get(entity, -1), entity
        own = self.links_of(entity)
        return entity, int(self.links.targets[own[0]]) if len(own) else -1

    def _row(self, source: int, target: int, probability: float | None, number: int, in_conflict: set[str]) -> dict[str, Any]:
        """A row as a page reads it."""
        ours, theirs = self._named(0, source), self._named(1, target)
        verdict, decision = self.book.verdict_of(ours["iri"], theirs["iri"])
        return {
            **_columns("source", ours),
            **_columns("target", theirs),
            "probability": probability,
            "round": number,
            "class": self.sides[0].class_of(source) if source >= 0 else "",
            "verdict": verdict,
            "author": decision.author if decision else "",
            "conflict": ours["iri"] in in_conflict,
        }

    def _named(self, column: int, entity: int) -> Mapping[str, str]:
        return self.sides[column].named(entity) if entity >= 0 else NO_ENTITY

    def _in_conflict(self) -> set[str]:
        """The sources about which decisions contradict each other."""
        return {each.source for group in self.book.all_conflicts() for each in group}


def _columns(side: str, entity: Mapping[str, str]) -> dict[str, str]:
    return {side: entity["iri"], f"{side}_name": entity["name"], f"{side}_latin": entity["latin"]}
