"""Where a review stands: what was decided by whom, what it says about the links, and what it has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgalign.review.changes import Changes
from kgalign.review.estimate import Estimate
from kgalign.review.item import ShownDecision

AT_ALL = "no match at all"  # the verdict about a source as a whole


@dataclass(frozen=True)
class Summary:
    """Where a review stands. `as_json()` has all of it.

    Attributes:
        links: The number of links, decided ones included.
        decided: The number of pairs that somebody has decided on.
        verdicts: How many pairs stand as `match`, `no match` and `unsure`, and how many sources have `no match at all`.
        authors: How many decisions each author has made.
        conflicts: Decisions that contradict each other; the last one of each group stands.
        estimate: Precision and recall, as far as random checks tell.
        since_run: Decisions that the run does not know yet.
        changes: What the last run that went on has changed.
        classes: The classes that links can be filtered by.
        rounds: The highest round in which a link became confident.
        last: The last decisions, newest first.
    """

    links: int
    decided: int
    verdicts: Mapping[str, int]
    authors: Mapping[str, int]
    conflicts: Sequence[Sequence[ShownDecision]]
    estimate: Estimate
    since_run: int
    changes: Changes
    classes: Sequence[str]
    rounds: int
    last: Sequence[ShownDecision]

    def as_json(self) -> dict[str, Any]:
        """What a page reads."""
        return {
            "links": self.links,
            "decided": self.decided,
            "verdicts": dict(self.verdicts),
            "authors": dict(self.authors),
            "conflicts": [
                {
                    "source": group[0].decision.source,
                    "source_name": group[0].source_name,
                    "decisions": [each.as_json() for each in group],
                }
                for group in self.conflicts
            ],
            "estimate": self.estimate.as_json(),
            "since_run": self.since_run,
            "changes": self.changes.as_json(),
            "classes": list(self.classes),
            "rounds": self.rounds,
            "last": [each.as_json() for each in self.last],
        }
