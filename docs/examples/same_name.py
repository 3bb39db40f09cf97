"""A model in one file: two entities match if their names are equal, in upper or lower case."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

import kgalign
from kgalign import Alignment, AlignmentTask, Candidates, Capabilities


@dataclass(frozen=True)
class SameName:
    """The options of the model. The command line sets them with `--set k=5`.

    Attributes:
        k: Candidates for each query, at most.
    """

    k: int = 10

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities()

    def fit(self, task: AlignmentTask) -> FittedSameName:
        return FittedSameName(self)  # there is nothing to learn


@dataclass(frozen=True)
class FittedSameName:
    """Gives each query the targets of the pool that have its name. It does not use known links."""

    options: SameName

    @property
    def capabilities(self) -> Capabilities:
        return self.options.capabilities

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        targets_of = defaultdict(list)
        for target in task.pool.tolist():
            targets_of[task.target.names[target].casefold()].append(target)
        targets = np.full((len(task.queries), self.options.k), -1)  # (n, k), -1: none
        for row, query in enumerate(task.queries.tolist()):
            found = targets_of[task.source.names[query].casefold()][: self.options.k]
            targets[row, : len(found)] = found
        scores = np.where(targets >= 0, 1.0, -np.inf)  # (n, k)
        # The no-match option has the score 0: a single candidate has the probability e / (e + 1).
        return Candidates(task.queries, targets, scores, no_match_score=0.0)


if __name__ == "__main__":
    task, gold = kgalign.demo("fr_en")
    run = kgalign.align(task, gold, model=SameName(), decoder_options={"fill": False})
    precision, recall = run.metrics["precision"], run.metrics["recall"]
    print(f"{len(run.alignment)} links, precision {precision:.2f}, recall {recall:.2f}")
