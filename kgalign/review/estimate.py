"""How many links are right, and how many right links were found, as far as random checks among the decisions tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kgalign.data import Floats, Ints

BINS = (0.0, 0.2, 0.5, 0.8, 0.95)  # where strata of links begin, by probability
PRIOR = 2.0  # checks that the probabilities themselves count for, in each stratum
DRAWS = 4000
INTERVAL = (0.025, 0.975)


@dataclass(frozen=True)
class Estimate:
    """Precision and recall, each as an estimate with the ends of its 95 % interval; None: nothing was checked.

    Attributes:
        checked: The number of random checks behind it.
    """

    precision: tuple[float, float, float] | None
    recall: tuple[float, float, float] | None
    checked: int

    def as_json(self) -> dict[str, Any]:
        """What a page reads."""
        both = {"precision": self.precision, "recall": self.recall}
        return {
            **{name: None if one is None else [round(each, 4) for each in one] for name, one in both.items()},
            "checked": self.checked,
        }


@dataclass(frozen=True, eq=False)
class Stratum:
    """Things of which some were drawn at random and checked.

    Attributes:
        probabilities: (n,) those of the things that nobody has decided on.
        checked: (m,) the probabilities of those that were checked, at that time.
        right: (m,) whether they turned out right.
    """

    probabilities: Floats
    checked: Floats
    right: Ints

    def draws(self, random: np.random.Generator) -> Floats:
        """(DRAWS,) how many of the undecided ones are right, drawn from what the checks leave possible.

        Things of about the same probability are a stratum of their own, since more doubtful things are decided first. In each, checks count
        as what they are, and the probabilities themselves as two more.
        """
        total = np.zeros(DRAWS)
        own, seen = (np.digitize(values, BINS) for values in (self.probabilities, self.checked))
        for number in np.unique(own).tolist():
            count, mean = int((own == number).sum()), float(self.probabilities[own == number].mean())
            right, checked = int(self.right[seen == number].sum()), int((seen == number).sum())
            prior = np.clip(mean, 0.02, 0.98) * PRIOR
            total += count * random.beta(right + prior, checked - right + PRIOR - prior, DRAWS)
        return total


def estimate(links: Stratum, missing: Stratum, decided_right: int, has_other: float) -> Estimate:
    """The estimate for the links of a run that nobody has rejected, with the matches that people have given.

    Args:
        links: The links of the run that nobody has decided on.
        missing: The sources without a link, each with its best candidate; right: it has a match after all.
        decided_right: The matches that people have decided on, which are right.
        has_other: The share of sources with a wrong link that have another match.
    """
    checked = len(links.checked) + len(missing.checked)
    if not checked:
        return Estimate(None, None, 0)
    random = np.random.default_rng(0)
    right = links.draws(random)
    lost = missing.draws(random) + has_other * (len(links.probabilities) - right)
    all_links = len(links.probabilities) + decided_right
    precision = (decided_right + right) / max(1, all_links)
    recall = (decided_right + right) / np.maximum(decided_right + right + lost, 1)
    return Estimate(
        _with_interval(precision) if len(links.checked) and all_links else None,
        _with_interval(recall) if len(links.checked) and (len(missing.checked) or not len(missing.probabilities)) else None,
        checked,
    )


def _with_interval(draws: Floats) -> tuple[float, float, float]:
    low, high = np.quantile(draws, INTERVAL).tolist()
    return float(draws.mean()), low, high
