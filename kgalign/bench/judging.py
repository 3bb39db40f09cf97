"""Links judged by gold links that may be only a part of what is true."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from kgalign.bench.real_sets import Gold

Link = tuple[str, str, float]  # source, target, probability

PLAUSIBLE = 0.5
CONFIDENT = 0.9


@dataclass(frozen=True)
class Counts:
    """How many links of one or more pairs were judged, and how many of them are right.

    Attributes:
        gold: The gold links.
        links: The judged links above 0.5.
        right: Those of them that are gold links.
        expected_right: The sum of the probabilities of the judged links above 0.5.
        confident: The judged links above 0.9.
        confident_right: Those of them that are gold links.
        not_judged: The links above 0.5 that the gold cannot judge.
    """

    gold: int = 0
    links: int = 0
    right: int = 0
    expected_right: float = 0.0
    confident: int = 0
    confident_right: int = 0
    not_judged: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    @property
    def metrics(self) -> dict[str, Any]:
        """The figures of a line of results."""
        precision, recall = self.right / max(1, self.links), self.right / max(1, self.gold)
        return {
            "precision": precision,
            "recall": recall,
            "f1": 2 * self.right / max(1, self.links + self.gold),
            "gold": self.gold,
            "links": self.links,
            "right": self.right,
            "expected_right": self.expected_right,
            "links_above_0.9": self.confident,
            "right_above_0.9": self.confident_right,
            "not_judged": self.not_judged,
        }


def judge(links: Iterable[Link], gold: Gold, judged: str, scopes: Sequence[set[str]] | None = None) -> Counts:
    """The counts of the links above 0.5.

    Args:
        links: All links.
        gold: The gold links.
        judged: C: all links count. K: links with an end in a scope do. T: links with an end in a gold link do.
        scopes: The sources and the targets that the gold is about, for K. None: those of the gold links.
    """
    ends = scopes if judged == "K" and scopes is not None else [set(side) for side in zip(*gold, strict=True)]
    plausible = [link for link in links if link[2] > PLAUSIBLE]
    chosen = [link for link in plausible if judged == "C" or link[0] in ends[0] or link[1] in ends[1]]
    right = {link[:2] for link in chosen}.intersection(gold)
    confident = [link for link in chosen if link[2] > CONFIDENT]
    return Counts(
        gold=len(gold),
        links=len(chosen),
        right=len(right),
        expected_right=sum(probability for _, _, probability in chosen),
        confident=len(confident),
        confident_right=sum(link[:2] in right for link in confident),
        not_judged=len(plausible) - len(chosen),
    )
