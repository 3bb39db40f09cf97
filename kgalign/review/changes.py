"""What a run that went on has changed, beside the run before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kgalign.data import Alignment
from kgalign.review.entities import Entities
from kgalign.review.reviewed_run import ReviewedRun

MOST_LISTED = 200
DECIDED, NEAR, OTHER = "decided", "a neighbour was decided", "follows from other changes"


class ChangedLink(NamedTuple):
    """A source that has another match, or has gained or lost one; empty texts and None: no match."""

    source: str
    source_name: str
    before: str
    before_name: str
    after: str
    after_name: str
    before_probability: float | None
    after_probability: float | None
    reason: str


@dataclass(frozen=True)
class Changes:
    """What the last run that went on has changed. `str()` says it in a sentence.

    Attributes:
        running: A run goes on right now.
        decisions: How many decisions were new to it.
        before: The expected precision of the run before it.
        after: The expected precision.
        links: The links that changed, at most MOST_LISTED.
        total: How many links changed.
        error: Why the last run failed, on one line; empty if it did not.
    """

    running: bool = False
    decisions: int = 0
    before: float | None = None
    after: float | None = None
    links: Sequence[ChangedLink] = field(default=(), repr=False)
    total: int = 0
    error: str = ""

    def __str__(self) -> str:
        if self.error:
            return f"the run did not go on: {self.error}"
        if self.after is None:
            return "the run goes on" if self.running else "the run has not gone on yet"
        text = f"{_count(self.decisions, 'decision')}, {_count(self.total, 'link')} changed"
        if self.before is not None:
            text += f", expected precision {100 * self.before:.1f} -> {100 * self.after:.1f} %"
        return text

    def as_json(self) -> dict[str, Any]:
        """What a page reads."""
        return {
            "running": self.running,
            "text": str(self),
            "decisions": self.decisions,
            "before": self.before,
            "after": self.after,
            "error": self.error,
            "links": [each._asdict() for each in self.links],
            "total": self.total,
        }


def changes_between(
    before: ReviewedRun, after: ReviewedRun, sides: tuple[Entities, Entities], decisions: int, decided: set[int], near: set[int]
) -> Changes:
    """The changes from one run to the next one of the same graphs.

    Args:
        before: The run before.
        after: The run after.
        sides: The entities of both graphs.
        decisions: How many decisions were new.
        decided: The sources that these were about.
        near: Their neighbours.
    """
    old, new = (run.links + run.task.seeds for run in (before, after))
    gone, come = old.where(~old.among(new)), new.where(~new.among(old))
    lost, gained = _by_source(gone), _by_source(come)
    links = []
    for source in sorted(lost.keys() | gained.keys()):
        reason = DECIDED if source in decided else NEAR if source in near else OTHER
        for one, other in zip(*_filled(lost.get(source, []), gained.get(source, [])), strict=True):
            links.append((source, one, other, reason))
    order = {DECIDED: 1, NEAR: 0, OTHER: 0}
    links.sort(key=lambda link: order[link[3]])  # what a reviewer does not know yet comes first
    shown = []
    for source, one, other, reason in links[:MOST_LISTED]:
        ends = [
            ("", "", None) if each is None else (sides[1].graph.entities[each[0]], sides[1].name(each[0]), each[1])
            for each in (one, other)
        ]
        (before_iri, before_name, before_p), (after_iri, after_name, after_p) = ends
        names = sides[0].graph.entities[source], sides[0].name(source)
        shown.append(ChangedLink(*names, before_iri, before_name, after_iri, after_name, before_p, after_p, reason))
    return Changes(False, decisions, before.expected_precision, after.expected_precision, shown, len(links))


def _by_source(links: Alignment) -> dict[int, list[tuple[int, float]]]:
    found: dict[int, list[tuple[int, float]]] = {}
    for (source, target), score in zip(links.pairs.tolist(), links.scores.tolist(), strict=True):
        found.setdefault(source, []).append((target, score))
    return found


def _filled(*lists: list[tuple[int, float]]) -> list[list[tuple[int, float] | None]]:
    """The lists with as many elements each, None where one has fewer."""
    most = max(map(len, lists))
    return [[*own, *[None] * (most - len(own))] for own in lists]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
