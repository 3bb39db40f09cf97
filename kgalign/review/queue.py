"""The order in which a review asks: links whose decision is worth most first, mixed with a few random checks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgalign.data import Floats, Ints
from kgalign.review.reviewed_run import ReviewedRun

PLAUSIBLE = 0.5


@dataclass(frozen=True, eq=False)
class Questions:
    """What can be asked of a run: each link, and each source without a link together with its best candidate.

    Attributes:
        sources: (n,)
        targets: (n,)
        probabilities: (n,)
        rounds: (n,) the round in which the link became confident.
        is_link: (n,) whether it is a link of the run.
        values: (n,) what a decision is worth.
    """

    sources: Ints
    targets: Ints
    probabilities: Floats
    rounds: Ints
    is_link: NDArray[np.bool_]
    values: Floats

    def __len__(self) -> int:
        return len(self.sources)

    @classmethod
    def of(cls, run: ReviewedRun) -> Questions:
        lists, links = run.candidates, run.links
        begins = lists.starts[:-1]
        has = np.flatnonzero((np.diff(lists.starts) > 0) & np.isin(np.arange(len(begins)), run.task.queries))
        has = np.setdiff1d(has, links.sources)
        sources = np.concatenate([links.sources, has])
        targets = np.concatenate([links.targets, lists.targets[begins[has]]])
        probabilities = np.concatenate([links.scores, lists.probabilities[begins[has]]])
        rounds = np.concatenate([links.rounds, np.zeros(len(has), np.int64)])
        is_link = np.arange(len(sources)) < len(links)
        doubt = np.minimum(probabilities, 1 - probabilities)
        return cls(sources, targets, probabilities, rounds, is_link, doubt)
