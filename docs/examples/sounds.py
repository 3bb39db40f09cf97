"""A kind of evidence in one file: names that sound alike, such as Aktaou and Aqtau."""

from __future__ import annotations

from itertools import groupby

import numpy as np
from scipy import sparse

import kgalign
from kgalign.models.fast import KINDS, EvidenceKind, Fast, Graphs, Similarity

SAME_SOUND = str.maketrans("qczvwjdb", "kksffgtp")
CONSONANTS = "fghklmnprstx"


def skeleton(name: str) -> str:
    """The consonants of a name, each sound once in a row: kt for Aktaou and for Aqtau.

    A name without such letters stands for itself.
    """
    sounds = (letter for letter in name.casefold().translate(SAME_SOUND) if letter in CONSONANTS)
    return "".join(sound for sound, _ in groupby(sounds)) or name


def sounds(graphs: Graphs) -> Similarity:
    """The similarity of two names is 1 if they sound alike, else 0: each skeleton is one column."""
    columns: dict[str, int] = {}
    places = []
    for graph in (graphs.task.source, graphs.task.target):
        places.append([columns.setdefault(skeleton(name), len(columns)) for name in graph.names])
    return Similarity(*(one_hot(side, len(columns)) for side in places))


def one_hot(columns: list[int], width: int) -> sparse.csr_array:
    """(n, width) a single 1 in each row."""
    ones = np.ones(len(columns), np.float32)
    return sparse.csr_array((ones, (range(len(columns)), columns)), shape=(len(columns), width))


SOUNDS = EvidenceKind(
    name="sounds",
    description="names that sound alike",
    weight=2.0,
    prepare=sounds,  # once for two graphs
    compute=lambda view: view.prepared["sounds"],  # in every round
    searches="once",  # names that sound alike are candidates
)

if __name__ == "__main__":
    task, gold = kgalign.demo("fr_en")
    for kinds in (KINDS, (*KINDS, SOUNDS)):
        run = kgalign.align(task, gold, model=Fast(kinds=kinds), max_rounds=0)
        print(f"{len(kinds)} kinds of evidence: hits@1 {run.metrics['hits@1']:.3f}")
    pair = [[task.source.names.index("Aktaou"), task.target.names.index("Aqtau")]]
    parts = run.model.contributions(task, task.seeds, np.array(pair))
    for kind, amount in zip(parts.kinds, parts.amounts[0], strict=True):
        if amount:
            print(f"{kind:10} {amount:+.2f}")
