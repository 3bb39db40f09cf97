"""How `fast` learns the weights of its kinds of evidence from seeds."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from kgalign.blocks import one_dense_thread
from kgalign.data import Floats, Ints


def fit_choice(rows: Ints, similarities: Floats, count: int, start: Floats) -> Floats:
    """Weights, none below 0, that make the right candidate of each row the most probable: a conditional logit.

    Args:
        rows: (n,) the link that a candidate belongs to; the first `count` candidates are the right ones.
        similarities: (n, kinds) the evidence of each candidate.
        count: The number of links.
        start: (kinds,) the default weights, towards which the weights are pulled a little.
    """

    def loss(weights: Floats) -> tuple[float, Floats]:
        logits = similarities @ weights
        highest = np.full(count, -np.inf)
        np.maximum.at(highest, rows, logits)
        shares = np.exp(logits - highest[rows])
        shares /= np.bincount(rows, shares, count)[rows]
        surprise = -np.log(np.maximum(shares[:count], 1e-12)).mean()
        gradient = (shares @ similarities - similarities[:count].sum(axis=0)) / count
        pull = 1e-4 * (weights - start)
        return surprise + 0.5 * float((pull * (weights - start)).sum()), gradient + pull

    with one_dense_thread():
        return minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.01, 200)] * len(start)).x


def best_wrong(rows: Ints, scores: Floats, count: int) -> Ints:
    """Positions of the best wrong candidate of each row; the first `count` candidates are the right ones. Some rows have none."""
    order = count + np.lexsort((-scores[count:], rows[count:]))
    return order[np.unique(rows[order], return_index=True)[1]]
