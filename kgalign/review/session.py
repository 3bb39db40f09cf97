"""A review: hands out links to decide on, keeps decisions, and lets the run go on from them. It may be called from several threads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import AlignmentTask, Ints, one_link
from kgalign.decisions import DRAWN, MATCH, NO_MATCH, QUEUE, SEARCH, UNSURE, VERDICTS, Decision, Entry, Undo, decisions_beside
from kgalign.errors import DataError, KgalignError, OptionError, one_line
from kgalign.features.relations import Edges
from kgalign.readers.decided import Decided, with_decisions
from kgalign.review.book import Book
from kgalign.review.changes import Changes, changes_between
from kgalign.review.entities import Entities
from kgalign.review.evidence import PairEvidence
from kgalign.review.export import as_sssom, write_decisions
from kgalign.review.going_on import RunAgain
from kgalign.review.item import Candidate, Item, ShownDecision
from kgalign.review.log import DecisionLog
from kgalign.review.pending import Pending
from kgalign.review.queue import VALUE, check_order
from kgalign.review.reviewed_run import ReviewedRun
from kgalign.review.rows import Filters, Rows
from kgalign.review.summary import AT_ALL, Summary
from kgalign.review.table import Table
from kgalign.runs import Run

logger = logging.getLogger(__name__)
MOST_CANDIDATES = 9  # that keys can choose
MOST_LAST = 20  # decisions that a summary lists
LONGEST_ID = 200  # characters of a request or an author


class ReviewSession:
    """A review of a run. Decisions are in their file before a call returns.

    session = ReviewSession.open("run")
    item = session.next("ann")
    session.decide("ann", *item.pair, "match", request="1")
    session.go_on()
    """

    def __init__(
        self, again: RunAgain, run: ReviewedRun, log: DecisionLog, every: int = 0, order: str = VALUE, seed: int = 0
    ) -> None:
        """See `open`."""
        self._lock = threading.RLock()
        self._again, self._log, self._every = again, log, every
        self._single = one_link(again.task.cardinality)
        self._sides = Entities.of(again.task.source), Entities.of(again.task.target)
        self._edges = Edges.of_task(again.task)
        self._book = Book(self._single)
        self._order, self._seed = order, seed
        self._since: dict[str, Decision] = {}  # decisions that came or went since the run, by their id
        self._changes = Changes()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._made: Run | None = None
        self._use(run)
        self._take_in(log.entries)
        self._count(log.entries[again.known_entries(log.path, log.entries) :])

    @classmethod
    def open(
        cls,
        run: str | Path | Run,
        decisions: str | Path | None = None,
        *,
        every: int = 0,
        changed: bool = False,
        order: str = VALUE,
        seed: int = 0,
    ) -> ReviewSession:
        """A review of a run folder, or of a run in memory.

        Args:
            run: The run. A folder is replaced when the run goes on.
            decisions: The file that keeps decisions; those in it already count. None: beside the folder, such as `run.decisions.jsonl` for
                `run`; for a run in memory `decisions.jsonl` in the working folder.
            every: After so many decisions the run goes on by itself, 0: only when `go_on` is called.
            changed: Read graphs, too, that have changed since the run.
            order: What `next` asks first. `value`: what is worth most, with a few random checks between; `doubtful`: what is nearest to a
                probability of 0.5; `random`: any link.
            seed: Draws the random checks, and the random order.
        """
        check_order(order)
        if isinstance(run, Run):
            log = DecisionLog.open(decisions or "decisions.jsonl")
            return cls(RunAgain.of(run, log.entries), ReviewedRun.of(run), log, every, order, seed)
        folder = Path(run)
        place = Path(decisions) if decisions else decisions_beside(folder)
        again = RunAgain.read(folder, place, changed)
        log = DecisionLog.open(place)
        return cls(again, ReviewedRun.read(folder.resolve(), again.known_task(log.path, log.entries)), log, every, order, seed)

    @property
    def path(self) -> Path:
        """The file of decisions."""
        return self._log.path

    @property
    def made(self) -> Run | None:
        """The last run that went on, None: none has."""
        return self._made

    def next(self, author: str, filters: Mapping[str, Any] | Filters | None = None) -> Item | None:
        """What to decide on next; None: nothing is left. Before that author has decided, the same item comes again.

        No item is handed to two authors at a time, unless one has not been heard of for a while.

        Args:
            author: Who asks.
            filters: Which links may come, see `Filters`. Random checks keep to them, too.
        """
        with self._fresh():
            wanted = Filters.of(filters)
            found = self._pending.next(_checked_id("author", author), wanted, self._rows_fit(wanted))
            if found is None:
                return None
            questions = self._pending.questions
            item = self._item(int(questions.sources[found.place]), int(questions.targets[found.place]), found.drawn)
            return replace(item, why=self._pending.why(found.place, found.drawn))

    def item(self, source: str, target: str = "") -> Item:
        """Any pair of entities, such as a link that a search has found, or one that is to be decided anew.

        Args:
            source: The IRI of the source entity.
            target: The IRI of the target entity. Empty: the match of the source, or its best candidate.
        """
        with self._fresh():
            return self._item(self._id(0, source), self._id(1, target) if target else None, SEARCH)

    def decide(
        self,
        author: str,
        source: str,
        target: str,
        verdict: str,
        request: str,
        drawn: str = QUEUE,
        probability: float | None = None,
    ) -> Decision:
        """Keeps a decision and returns it. A request that was kept already is not kept again.

        Args:
            author: Who decides.
            source: The IRI of the source entity.
            target: The IRI of the target entity; empty: the source has no counterpart.
            verdict: `match`, `no match`, `unsure` or `skip`.
            request: An id that the caller makes, other for each decision.
            drawn: Why the pair was shown.
            probability: The probability that was shown. None: that of the run.
        """
        _checked_id("author", author)
        _checked_id("request", request)
        if verdict not in VERDICTS:
            raise OptionError(f"verdict={verdict!r}: expected one of {', '.join(VERDICTS)}")
        if drawn not in DRAWN:
            raise OptionError(f"drawn={drawn!r}: expected one of {', '.join(DRAWN)}")
        if not target and verdict == MATCH:
            raise OptionError(
                "a match needs a target: expected its IRI, or the verdict `no match` for a source without a counterpart"
            )
        with self._fresh():
            if request in self._book.known:
                return self._book.known[request][0]
            ends = self._id(0, source), self._id(1, target) if target else -1
            shown = self._pending.shown_to(author, *ends, drawn)
            decision = Decision(
                request,
                verdict,
                source,
                target,
                author,
                _now(),
                probability if probability is not None else shown.probability if shown else self._table.probability(*ends),
                shown.drawn if shown and drawn == QUEUE else drawn,
                shown=self._sides[1].graph.entities[shown.target] if shown and shown.target != ends[1] else "",
                linked=shown.linked if shown else None,
            )
            self._add([decision])
            return self._book.known[request][0]

    def undo(self, author: str, request: str) -> Decision | None:
        """Takes back the last decision of an author and returns it; None: there is none left. A retried request takes back one.

        Of links that were accepted together, all are taken back, and the first is returned.
        """
        _checked_id("author", author)
        _checked_id("request", request)
        with self._fresh():
            if request in self._book.undone:
                return next(iter(self._book.undone[request]), None)
            last = self._book.last_of(author)
            if last is None:
                return None
            self._add([Undo(request, last.request, author, _now())])
            taken = self._book.undone[request]
            if not taken:  # another process has taken it back meanwhile
                return None
            if taken[0].source in self._sides[0].ids:
                self._pending.hand_back(author, self._sides[0].ids[taken[0].source], taken[0].drawn)
            return taken[0]

    def links(
        self, filters: Mapping[str, Any] | Filters | None = None, offset: int = 0, limit: int = 50, sort: str = "probability"
    ) -> dict[str, Any]:
        """Links of the run and pairs that were decided: `rows`, and `total`, the number of all that fit.

        Args:
            filters: Which are wanted, see `Filters`.
            offset: How many to leave out at first.
            limit: How many to return at most.
            sort: `probability`, `source`, `target`, `round`, `class` or `verdict`; a minus before it turns the order round.
        """
        with self._fresh():
            return self._table.page(Filters.of(filters), int(offset), int(limit), sort)

    def search(self, text: str, limit: int = 20) -> list[dict[str, Any]]:
        """Entities of both graphs with that text in a name or in their IRI, as rows of `links`; whole names and beginnings come first."""
        wanted = text.strip().casefold()
        if not wanted:
            return []
        with self._fresh():
            return self._table.search(wanted, int(limit))

    def above(self, line: float, filters: Mapping[str, Any] | Filters | None = None) -> dict[str, Any]:
        """How many undecided `links` have at least that probability, and how many of them are `probably_wrong`."""
        with self._fresh():
            chosen = self._table.above(line, Filters.of(filters))
            wrong = float((1 - self._run.links.scores[chosen]).sum())
            return {"links": len(chosen), "probably_wrong": round(wrong, 1)}

    def accept_above(
        self,
        author: str,
        line: float,
        filters: Mapping[str, Any] | Filters | None = None,
        request: str = "",
        links: int | None = None,
    ) -> int:
        """Decides that all undecided links of at least that probability are matches, and returns how many: what `above` has said.

        One undo takes all of them back.

        Args:
            author: Who decides.
            line: The lowest probability.
            filters: Which links are meant, see `Filters`.
            request: An id that the caller makes.
            links: How many the author has been told of. Where they are others by now, nothing is accepted.
        """
        _checked_id("author", author)
        _checked_id("request", request)
        with self._fresh():
            earlier = self._book.known.get(request, [])
            if earlier and len(earlier) >= earlier[0].batch_size:
                return len(earlier)
            chosen = self._table.above(line, Filters.of(filters))
            if links is not None and not earlier and links != len(chosen):
                raise OptionError(
                    f"links={links}: meanwhile {len(chosen)} links are at or above the line; nothing was accepted: look at them again"
                )
            size = earlier[0].batch_size if earlier else len(chosen)
            source, target = self._sides[0].graph.entities, self._sides[1].graph.entities
            accepted = self._run.links.where(chosen)
            pairs = zip(accepted.sources.tolist(), accepted.targets.tolist(), accepted.scores.tolist(), strict=True)
            at, first = _now(), len(earlier)
            decisions = [
                Decision(
                    f"{request}.{first + number}", MATCH, source[one], target[other], author, at, round(p, 4), SEARCH, request, size
                )
                for number, (one, other, p) in enumerate(pairs)
            ]
            self._add(decisions)
            return first + len(decisions)

    def summary(self) -> Summary:
        """Where the review stands."""
        with self._fresh():
            book = self._book
            counts = {
                MATCH: len(book.standing.matches),
                NO_MATCH: len(book.standing.rejected),
                AT_ALL: len(book.standing.alone),
                UNSURE: len(book.standing.unsure),
            }
            return Summary(
                links=self._table.count,
                decided=sum(counts.values()),
                verdicts=counts,
                authors={author: number for author, number in book.counts.items() if number},
                conflicts=[[self._shown(each) for each in group] for group in book.all_conflicts()],
                estimate=self._pending.estimate(book),
                since_run=len(self._since),
                changes=self.changes(),
                classes=self._sides[0].classes[:200],
                rounds=int(self._run.links.rounds.max(initial=0)),
                last=[self._shown(each) for each in book.newest(MOST_LAST)],
            )

    def export(self, path: str | Path, force: bool = False) -> int:
        """Writes the decisions that stand as SSSOM, with their authors and days, and returns how many; a file that is there needs `force`."""
        with self._fresh():
            return write_decisions(self._book.standing, self._sides, Path(path), force)

    def sssom(self) -> str:
        """The decisions that stand as SSSOM: the content of the file that `export` writes."""
        with self._fresh():
            return as_sssom(self._book.standing, self._sides)[0]

    def go_on(self) -> bool:
        """Lets the run go on in the background, from all decisions so far; False: it does already, or nothing is new.

        The run folder is replaced when the new run is complete. Decisions that are made meanwhile are kept, and count for the next time.
        """
        with self._fresh():
            if self._changes.running or self._closed or not self._since:
                return False
            known, new = len(self._log.entries), len(self._since)
            decided = {self._sides[0].ids[each.source] for each in self._since.values() if each.source in self._sides[0].ids}
            task = with_decisions(self._again.task, Decided.of(self._book.standing, self._sides[0].ids.get, self._sides[1].ids.get))
            self._changes = replace(self._changes, running=True, error="")
            self._thread = threading.Thread(
                target=self._go_on, args=(task, known, new, decided), name="kgalign review", daemon=True
            )
            self._thread.start()
            return True

    def changes(self) -> Changes:
        """What the last run that went on has changed, and whether one goes on now."""
        return self._changes

    def wait(self, seconds: float | None = None) -> Changes:
        """Waits until no run goes on any more, or so many seconds, and returns the changes."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return self.changes()

    def close(self) -> None:
        """Ends the review. A run that goes on is finished first, so that its folder is whole."""
        self._closed = True
        self.wait()

    def __enter__(self) -> ReviewSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _fresh(self) -> Iterator[None]:
        """Nobody else changes anything meanwhile, and what other processes have decided is known."""
        with self._lock:
            if new := self._log.refresh():
                self._absorb(new)
            yield

    def _add(self, entries: Sequence[Entry]) -> None:
        self._absorb(self._log.add(entries))
        if self._every and len(self._since) >= self._every:
            self.go_on()

    def _absorb(self, entries: Sequence[Entry]) -> None:
        """Takes in lines of the log that are new."""
        self._take_in(entries)
        self._count(entries)

    def _take_in(self, entries: Sequence[Entry]) -> None:
        sources, targets = self._book.apply(entries)
        self._pending.absorb(entries, self._book)
        self._mark_of(sources, targets)

    def _use(self, run: ReviewedRun, before: Pending | None = None) -> None:
        """Goes over to another run of the same graphs."""
        self._run = run
        self._evidence = PairEvidence.of(run, self._sides, self._edges)
        self._table = Table.of(run, self._sides, self._book)
        self._pending = Pending.of(run, self._sides, self._edges, self._order, self._seed, before)

    def _mark_of(self, *iris: Iterable[str]) -> None:
        """Brings the verdicts of the rows and the open questions of some sources and targets up to date."""
        sources, targets = (
            np.array([entities.ids[each] for each in own if each in entities.ids], np.int64)
            for own, entities in zip(iris, self._sides, strict=True)
        )
        self._table.mark(sources, targets)
        self._pending.mark(sources, targets, lambda source, target: self._table.verdict(source, target)[0] in (MATCH, NO_MATCH))

    def _rows_fit(self, filters: Filters) -> Ints | None:
        """Which questions fit filters, None: all."""
        if filters == Filters():
            return None
        questions = self._pending.questions
        verdicts = np.zeros(len(questions), np.int8)
        rows = Rows(self._sides, questions.sources, questions.targets, questions.probabilities, questions.rounds, verdicts)
        return rows.chosen(replace(filters, verdict=""))

    def _id(self, column: int, iri: str) -> int:
        if not isinstance(iri, str) or iri not in self._sides[column].ids:
            side = ("source", "target")[column]
            raise DataError(f"the {side} graph has no entity {str(iri)[:200]!r}; expected the IRI of one")
        return self._sides[column].ids[iri]

    def _item(self, source: int, target: int | None, drawn: str) -> Item:
        ours, theirs = self._sides
        own, links = self._table.links_of(source), self._run.links
        targets, probabilities = self._run.candidates.of_source(source)
        decided = self._book.match_of(ours.graph.entities[source])
        if target is None and decided is not None and decided.target in theirs.ids:
            target = theirs.ids[decided.target]
        if target is None:
            target = int(links.targets[own[0]]) if len(own) else int(targets[0]) if len(targets) else None
        row = self._table.link(source, target)
        candidates = [
            Candidate(number, theirs.named(each), round(float(probability), 4), self._table.taken_by(source, each))
            for number, (each, probability) in enumerate(
                zip(targets[:MOST_CANDIDATES].tolist(), probabilities.tolist(), strict=False), 1
            )
        ]
        return Item(
            source=ours.as_json(source),
            target=None if target is None else theirs.as_json(target),
            probability=None if target is None else self._table.probability(source, target),
            round=0 if row is None else int(links.rounds[row]),
            of_class=ours.class_of(source),
            drawn=drawn,
            evidence=None if target is None else self._evidence.of_pair(source, target),
            neighbour_counts=self._evidence.neighbour_counts(source, target),
            candidates=candidates,
            decisions=[self._shown(each) for each in self._book.of_source(ours.graph.entities[source])],
        )

    def _shown(self, decision: Decision) -> ShownDecision:
        source, target = (
            entities.name(entities.ids[iri]) if iri in entities.ids else iri
            for entities, iri in zip(self._sides, decision.pair, strict=True)
        )
        return ShownDecision(decision, source, target, self._book.stands(decision))

    def _count(self, entries: Iterable[Entry]) -> None:
        """Counts lines of the log that the run does not know: decisions that came, and others that went."""
        for entry in entries:
            if not isinstance(entry, Undo):
                self._since[entry.id] = entry
                continue
            for each in self._book.undone.get(entry.id, ()):
                if self._since.pop(each.id, None) is None:
                    self._since[each.id] = each

    def _go_on(self, task: AlignmentTask, known: int, new: int, decided: set[int]) -> None:
        """Aligns again and goes over to the new run; in a thread of its own."""
        before = self._run
        try:
            run, made = self._again.run(task, self._log.path, self._log.entries[known - 1].id)
            near = {int(each) for source in decided for each in _neighbours(self._edges[0], source)}
            with self._lock:
                changes = changes_between(before, run, self._sides, new, decided, near)
                self._use(run, self._pending)
                self._pending.absorb(self._log.entries, self._book)
                self._mark_of(self._book.by_source, self._book.by_target)
                self._since.clear()
                self._count(self._log.entries[known:])
                self._changes, self._made = changes, made
        except Exception as error:  # whatever happens, the review goes on with the run that it has
            if not isinstance(error, KgalignError):
                logger.exception("the run did not go on")
            text = str(error) if isinstance(error, KgalignError) else f"{type(error).__name__}: {error}"
            self._changes = replace(self._changes, running=False, error=one_line(text, 300))


def _neighbours(side: Edges, entity: int) -> Ints:
    return side.adjacency.indices[side.adjacency.indptr[entity] : side.adjacency.indptr[entity + 1]]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _checked_id(name: str, value: str) -> str:
    """An author or a request, which must be a short text."""
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_ID:
        raise OptionError(f"{name}={str(value)[:40]!r}: expected a text of 1 to {LONGEST_ID} characters")
    return value
