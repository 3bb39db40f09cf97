"""All decisions of a review by entity, and what stands about each pair, kept up to date as decisions come and go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from kgalign.decisions import MATCH, NO_MATCH, UNSURE, Decision, Entry, Standing, Undo, stand


@dataclass(eq=False)
class Book:
    """The decisions that nobody took back.

    Attributes:
        single: Whether a source, and whether a target, has one match at most.
        standing: What stands.
        valid: The decisions in their order, by their number.
        known: Every decision that was ever made, by its id and by the id of its batch.
        undone: What each undo took back, by the id of the undo.
        by_source: The numbers of the decisions about each source.
        by_target: The same about each target.
        by_author: The numbers of the decisions of each author, also of those that were taken back.
        by_request: The numbers of the decisions that each undo would take back.
        asked: The decisions about what a question had shown, by their number.
        conflicts: Decisions that contradict each other, by the source of the first.
        counts: How many decisions each author has made.
        made: How many decisions there have been.
    """

    single: tuple[bool, bool] = (True, True)
    standing: Standing = field(default_factory=Standing)
    valid: dict[int, Decision] = field(default_factory=dict)
    known: dict[str, list[Decision]] = field(default_factory=dict)
    undone: dict[str, list[Decision]] = field(default_factory=dict)
    by_source: dict[str, list[int]] = field(default_factory=dict)
    by_target: dict[str, list[int]] = field(default_factory=dict)
    by_author: dict[str, list[int]] = field(default_factory=dict)
    by_request: dict[str, list[int]] = field(default_factory=dict)
    asked: dict[int, Decision] = field(default_factory=dict)
    conflicts: dict[str, list[tuple[Decision, ...]]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    made: int = 0

    def apply(self, entries: Iterable[Entry]) -> tuple[set[str], set[str]]:
        """Takes in new lines of the log. Returns the sources and the targets about which something else may stand now."""
        touched: list[Decision] = []
        for entry in entries:
            if isinstance(entry, Undo):
                taken = [self._remove(number) for number in self.by_request.pop(entry.undo, [])]
                self.undone[entry.id] = taken
                touched += taken
            else:
                self._insert(entry)
                touched.append(entry)
        sources, targets = self._around(touched)
        numbers = sorted({number for source in sources for number in self.by_source.get(source, ())})
        valid = [self.valid[number] for number in numbers]
        self._replace(sources, {each.pair for each in (*touched, *valid)}, stand(valid, self.single))
        return sources, targets

    def last_of(self, author: str) -> Decision | None:
        """The last decision of an author that nobody took back."""
        own = self.by_author.get(author, [])
        while own and own[-1] not in self.valid:
            own.pop()
        return self.valid[own[-1]] if own else None

    def newest(self, count: int) -> list[Decision]:
        """The last decisions of all authors, newest first."""
        return [self.valid[number] for number in islice(reversed(self.valid), count)]

    def all_conflicts(self) -> list[tuple[Decision, ...]]:
        """All groups of decisions that contradict each other."""
        return [group for groups in self.conflicts.values() for group in groups]

    def verdict_of(self, source: str, target: str) -> tuple[str, Decision | None]:
        """What stands about a pair, and the decision that says so, perhaps about another pair; empty where nothing does."""
        found, pair = self.standing, (source, target)
        for verdict, place in ((MATCH, found.matches), (NO_MATCH, found.rejected)):
            if pair in place:
                return verdict, place[pair]
        if source in found.alone:
            return NO_MATCH, found.alone[source]
        if self.single[0] and (other := self.match_of(source)):
            return NO_MATCH, other
        if self.single[1] and (other := self.match_of_target(target)):
            return NO_MATCH, other
        return (UNSURE, found.unsure[pair]) if pair in found.unsure else ("", None)

    def match_of(self, source: str) -> Decision | None:
        """The decision by which a source has a match."""
        own = (self.valid[number] for number in self.by_source.get(source, ()))
        return next((each for each in own if self.standing.matches.get(each.pair) is each), None)

    def match_of_target(self, target: str) -> Decision | None:
        """The decision by which a target has a match."""
        own = (self.valid[number] for number in self.by_target.get(target, ()))
        return next((each for each in own if self.standing.matches.get(each.pair) is each), None)

    def of_source(self, source: str) -> list[Decision]:
        """The decisions about a source, oldest first."""
        return [self.valid[number] for number in self.by_source.get(source, ())]

    def stands(self, decision: Decision) -> bool:
        """Whether a decision stands."""
        found = self.standing
        own: dict[tuple[str, str], Decision] = {MATCH: found.matches, NO_MATCH: found.rejected, UNSURE: found.unsure}.get(
            decision.verdict, {}
        )
        return own.get(decision.pair) is decision or (decision.verdict == NO_MATCH and found.alone.get(decision.source) is decision)

    def _insert(self, decision: Decision) -> None:
        number, self.made = self.made, self.made + 1
        self.valid[number] = decision
        self.known.setdefault(decision.id, []).append(decision)
        if decision.batch:
            self.known.setdefault(decision.batch, []).append(decision)
        for place, key in self._places(decision):
            place.setdefault(key, []).append(number)
        if decision.linked is not None:
            self.asked[number] = decision
        self.by_author.setdefault(decision.author, []).append(number)
        self.by_request.setdefault(decision.request, []).append(number)
        self.counts[decision.author] += 1

    def _remove(self, number: int) -> Decision:
        decision = self.valid.pop(number)
        self.asked.pop(number, None)
        for place, key in self._places(decision):
            place[key].remove(number)
        self.counts[decision.author] -= 1
        return decision

    def _places(self, decision: Decision) -> list[tuple[dict[str, list[int]], str]]:
        places = [(self.by_source, decision.source), (self.by_target, decision.target)]
        return places if decision.target else places[:1]

    def _around(self, decisions: Iterable[Decision]) -> tuple[set[str], set[str]]:
        """The sources and targets that these decisions touch, and those that matches join to them."""
        sources, targets = set[str](), set[str]()
        decisions = list(decisions)
        waiting, fresh = {each.source for each in decisions}, {each.target for each in decisions if each.target}
        while waiting or fresh:
            sources |= waiting
            targets |= fresh
            numbers = [number for source in waiting for number in self.by_source.get(source, ())]
            numbers += [number for target in fresh for number in self.by_target.get(target, ())]
            found = [self.valid[number] for number in numbers if self.valid[number].verdict == MATCH]
            waiting = {each.source for each in found} - sources
            fresh = {each.target for each in found} - targets
        return sources, targets

    def _replace(self, sources: set[str], pairs: set[tuple[str, str]], part: Standing) -> None:
        """Puts what stands about some sources in the place of what stood about them."""
        whole = self.standing
        for source in sources:
            whole.alone.pop(source, None)
            self.conflicts.pop(source, None)
        for pair in pairs:
            for place in (whole.matches, whole.rejected, whole.unsure):
                place.pop(pair, None)
        whole.matches.update(part.matches)
        whole.rejected.update(part.rejected)
        whole.alone.update(part.alone)
        whole.unsure.update(part.unsure)
        for group in part.conflicts:
            self.conflicts.setdefault(group[0].source, []).append(group)
