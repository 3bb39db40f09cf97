"""The questions that are still open: who has which, what comes next, and what random checks among the answers tell."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kgalign.data import Floats, Ints
from kgalign.decisions import CHECK, MATCH, NO_MATCH, QUEUE, SEARCH, SKIP, UNSURE, Decision, Entry, Undo
from kgalign.features.relations import Edges
from kgalign.review.book import Book
from kgalign.review.doubt import Answer, plain_features
from kgalign.review.entities import Entities
from kgalign.review.estimate import Estimate, Stratum, estimate
from kgalign.review.queue import VALUE, Questions, order_of
from kgalign.review.reviewed_run import ReviewedRun
from kgalign.review.rows import Filters

CHECK_EVERY = 20  # questions, of which the last one is drawn at random
LINKS_TO_CHECK = 2, 3  # of that many checks, so many are links; the others are sources without a link
DOUBTFUL_FROM = 0.05  # distance of a probability from 0 and 1
GONE = 1800.0  # seconds after which a question goes to others, since its author seems to be away


@dataclass(frozen=True)
class Handed:
    """A question that an author has.

    Attributes:
        place: Its position among the questions.
        drawn: Why it was drawn.
        at: When it was handed out, on the clock of this process.
        filters: The filters that it was drawn with.
    """

    place: int
    drawn: str
    at: float
    filters: Filters


@dataclass(frozen=True)
class ShownQuestion:
    """What an author saw of a question.

    Attributes:
        target: The id of the target.
        probability: Its probability.
        drawn: Why it was drawn.
        linked: Whether it was a link of the run.
    """

    target: int
    probability: float
    drawn: str
    linked: bool


@dataclass(eq=False)
class Pending:
    """The open questions of a run.

    Attributes:
        questions: All questions.
        sides: The entities of both graphs.
        is_open: (n,) whether nobody has decided on each.
        checks: The order in which links, and sources without a link, are drawn at random.
        order: The order of the queue, see `order_of`.
        seed: Draws checks, and the random order.
        handed: The question that each author has.
        passed: The pairs that each author has left to others: skipped, or could not tell.
        answered: How many questions were answered.
        answers: What each answer teaches, by the id of its decision; also of earlier runs.
        left: (n,) the share of its worth that each question has left.
        ranks: (n,) highest for the questions that come first; None: to be computed.
    """

    questions: Questions
    sides: tuple[Entities, Entities]
    is_open: NDArray[np.bool_]
    checks: tuple[Ints, Ints]
    by_source: Ints
    order: str
    seed: int
    left: Floats
    handed: dict[str, Handed] = field(default_factory=dict)
    passed: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    answered: int = 0
    answers: dict[str, Answer] = field(default_factory=dict)
    ranks: Floats | None = None

    @classmethod
    def of(
        cls,
        run: ReviewedRun,
        sides: tuple[Entities, Entities],
        edges: tuple[Edges, Edges],
        order: str = VALUE,
        seed: int = 0,
        before: Pending | None = None,
    ) -> Pending:
        """The questions of a run, all open.

        Args:
            run: The run.
            sides: The entities of both graphs.
            edges: Those of both graphs.
            order: The order of the queue.
            seed: Draws checks, and the random order.
            before: The questions of the run before: authors keep what they have, and answers go on to teach.
        """
        questions = Questions.of(run, edges)
        drawn = np.random.default_rng([seed, len(run.task.seeds)]).permutation(len(questions))
        checks = drawn[questions.is_link[drawn]], drawn[~questions.is_link[drawn]]
        is_open, left = np.ones(len(questions), bool), np.ones(len(questions))
        found = cls(questions, sides, is_open, checks, np.argsort(questions.sources, kind="stable"), order, seed, left)
        if before is not None:
            found.answers = before.answers
            for author, handed in before.handed.items():
                place = found.place_of(int(before.questions.sources[handed.place]), int(before.questions.targets[handed.place]))
                if place is not None:
                    found.handed[author] = replace(handed, place=place)
        return found

    def next(self, author: str, filters: Filters, fits: Ints | None) -> Handed | None:
        """The question of an author: the one that they have, or a new one; None: none is left.

        Args:
            author: Who asks.
            filters: The filters that `fits` came from.
            fits: The positions of the questions that fit, None: all.
        """
        now = time.monotonic()
        mine = self.handed.get(author)
        if mine is not None and self.is_open[mine.place] and mine.filters == filters:
            self.handed[author] = replace(mine, at=now)
            return mine
        free = self.is_open.copy() if fits is None else np.zeros(len(self.questions), bool)
        if fits is not None:
            free[fits] = self.is_open[fits]
        free[self._with_others(author, now)] = False
        for source, target in self.passed.get(author, ()):
            if source in self.sides[0].ids and target in self.sides[1].ids:
                own = self.of_source(self.sides[0].ids[source])
                free[own[self.questions.targets[own] == self.sides[1].ids[target]]] = False
        if not free.any():
            self.handed.pop(author, None)
            return None
        place = self._check(free) if self._is_time_to_check() else None
        drawn = QUEUE if place is None else CHECK
        if place is None:
            place = int(np.where(free, self._ranks() * self.left, -np.inf).argmax())
        self.handed[author] = Handed(place, drawn, now, filters)
        return self.handed[author]

    def shown_to(self, author: str, source: int, target: int, drawn: str) -> ShownQuestion | None:
        """The question that an author answers by a decision about a pair; None: it answers none.

        After a restart nothing says which question an author had; the question about the pair, or else about its source, is taken.
        """
        own, handed = self.questions, self.handed.get(author)
        if handed is not None and own.sources[handed.place] == source:
            at, drawn = handed.place, handed.drawn
        else:
            places = self.of_source(source)
            if drawn == SEARCH or not len(places):
                return None
            at = next((place for place in places.tolist() if own.targets[place] == target), int(places[0]))
        return ShownQuestion(int(own.targets[at]), round(float(own.probabilities[at]), 4), drawn, bool(own.is_link[at]))

    def hand_back(self, author: str, source: int, drawn: str) -> None:
        """Gives an author the question of a source again, unless somebody else has it now."""
        own, now = self.of_source(source), time.monotonic()
        if len(own) and self.is_open[own[0]] and int(own[0]) not in self._with_others(author, now):
            self.handed[author] = Handed(int(own[0]), drawn if drawn != SEARCH else QUEUE, now, Filters())

    def why(self, place: int, drawn: str) -> str:
        """Why a question is asked, in words."""
        if drawn == CHECK:
            return "a random check of the probabilities"
        probability, others = float(self.questions.probabilities[place]), self.questions.decides(place)
        reasons = ["doubtful"] if min(probability, 1 - probability) >= DOUBTFUL_FROM else []
        reasons += [] if self.questions.is_link[place] else ["without a link so far"]
        reasons += [f"helps to decide {others:,} other{'' if others == 1 else 's'}"] if others else []
        return ", ".join(reasons) or "nothing more doubtful is left"

    def of_source(self, source: int) -> Ints:
        """The questions about a source."""
        ascending = self.questions.sources
        begin, end = (np.searchsorted(ascending, source, side, sorter=self.by_source) for side in ("left", "right"))
        return self.by_source[begin:end]

    def place_of(self, source: int, target: int) -> int | None:
        """The position of a question; None: nobody can be asked this."""
        own = self.of_source(source)
        own = own[self.questions.targets[own] == target]
        return int(own[0]) if len(own) else None

    def absorb(self, entries: Iterable[Entry], book: Book) -> None:
        """Takes in new lines of the log."""
        for entry in entries:
            if isinstance(entry, Undo):
                for each in book.undone.get(entry.id, ()):
                    self.passed.get(each.author, set()).discard(each.pair)
                    self.answered -= each.drawn != SEARCH and each.verdict != SKIP
                    self.answers.pop(each.id, None)
                    self.ranks = None
                continue
            self.answered += entry.drawn != SEARCH and entry.verdict != SKIP
            if entry.verdict in (SKIP, UNSURE):
                self.passed.setdefault(entry.author, set()).add(entry.pair)
            elif entry.linked is not None:
                self._learn(entry)
            handed = self.handed.get(entry.author)
            if handed is not None and self.sides[0].graph.entities[self.questions.sources[handed.place]] == entry.source:
                del self.handed[entry.author]

    def mark(self, sources: Ints, targets: Ints, is_closed: Callable[[int, int], bool]) -> None:
        """Opens or closes the questions about some entities."""
        places = [self.of_source(source) for source in sources.tolist()]
        if len(targets):
            places.append(np.flatnonzero(np.isin(self.questions.targets, targets) & self.questions.is_link))
        for place in np.concatenate(places).tolist() if places else ():
            self.is_open[place] = not is_closed(int(self.questions.sources[place]), int(self.questions.targets[place]))

    def estimate(self, book: Book) -> Estimate:
        """Precision and recall by the random checks among the decisions that nobody took back."""
        checks = [each for each in book.asked.values() if each.drawn == CHECK and each.verdict in (MATCH, NO_MATCH)]
        own = self.questions
        strata = []
        for linked in (True, False):
            of_kind = [each for each in checks if each.linked is linked]
            right = [each.verdict == MATCH and (not linked or not each.shown) for each in of_kind]
            seen = np.array([each.probability or 0.0 for each in of_kind])
            strata.append(Stratum(own.probabilities[self.is_open & (own.is_link == linked)], seen, np.array(right, bool)))
        wrong = Counter(each.verdict for each in book.asked.values() if each.linked and (each.shown or each.verdict == NO_MATCH))
        has_other = (wrong[MATCH] + 0.5) / (wrong[MATCH] + wrong[NO_MATCH] + 1)
        return estimate(strata[0], strata[1], len(book.standing.matches), has_other)

    def _learn(self, decision: Decision) -> None:
        """Takes in what an answer teaches, once."""
        ends = [
            entities.ids.get(iri)
            for entities, iri in zip(self.sides, (decision.source, decision.shown or decision.target), strict=True)
        ]
        place = None if ends[0] is None or ends[1] is None else self.place_of(ends[0], ends[1])
        if place is None and ends[0] is not None and not decision.target:
            place = next(iter(self.of_source(ends[0]).tolist()), None)
        if place is not None:
            moved, left = self.questions.left_of(place)
            self.left[moved] *= left
        if decision.id in self.answers:
            return
        features = plain_features(decision.probability or 0.0, bool(decision.linked))
        if place is not None:
            features = tuple(self.questions.features[place].tolist())
        is_match = decision.verdict == MATCH
        self.answers[decision.id] = Answer(features, is_match and not decision.shown, is_match and bool(decision.shown))
        self.ranks = None

    def _ranks(self) -> Floats:
        if self.ranks is None:
            random = np.random.default_rng([self.seed, len(self.questions)])
            self.ranks = order_of(self.order, self.questions, list(self.answers.values()), random)
        return self.ranks

    def _with_others(self, author: str, now: float) -> list[int]:
        """The questions that others have."""
        return [each.place for other, each in self.handed.items() if other != author and now - each.at < GONE]

    def _is_time_to_check(self) -> bool:
        return self.order == VALUE and self.answered % CHECK_EVERY == CHECK_EVERY - 1

    def _check(self, free: NDArray[np.bool_]) -> int | None:
        """A free question that is drawn at random; most are links."""
        some, of = LINKS_TO_CHECK
        first = (self.answered // CHECK_EVERY) % of >= some
        for order in (self.checks[first], self.checks[not first]):
            found = order[free[order]]
            if len(found):
                return int(found[0])
        return None
