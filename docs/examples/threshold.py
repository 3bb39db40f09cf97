"""A decoder in one file: each query takes its best candidate if that is probable enough."""

from __future__ import annotations

import numpy as np

import kgalign
from kgalign import Alignment, Candidates


def threshold(candidates: Candidates, *, least: float = 0.5) -> Alignment:
    """Each query takes its best candidate if that has a probability above `least`; not one-to-one.

    Args:
        candidates: The candidates of all queries.
        least: An option of the decoder. The command line sets it with `--set least=0.8`.
    """
    probabilities = candidates.probabilities()  # (n, k)
    rows = np.flatnonzero(probabilities.max(axis=1, initial=0) > least)
    best = probabilities[rows].argmax(axis=1)
    links = np.column_stack([candidates.queries[rows], candidates.targets[rows, best]])  # (m, 2)
    return Alignment(links, np.clip(probabilities[rows, best], 0, 1))


if __name__ == "__main__":
    task, gold = kgalign.demo("fr_en")
    for decoder in ("greedy", threshold):
        run = kgalign.align(task, gold, model="names", decoder=decoder, max_rounds=0)
        precision, recall = run.metrics["precision"], run.metrics["recall"]
        print(f"{len(run.alignment)} links, precision {precision:.2f}, recall {recall:.2f}")
