"""Whether source and target can change places: the default model without seeds, both ways round.

    python -m benchmarks.measure.swapped [--entities 200000]

One pair is the bundled demo. The other has a part of a generated graph on one side, and the whole of its counterpart on the other.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.measure.generated import generate
from benchmarks.results import GENERATED, add
from kgalign import Alignment, AlignmentTask, KnowledgeGraph, align
from kgalign.bench.runs import without_seeds
from kgalign.data import Floats, turned_task
from kgalign.datasets import demo
from kgalign.features.relations import Edges
from kgalign.models import DEFAULT

EXPERIMENT = "swapped"
FEW = 100  # entities of the small side


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=200_000, help="of the large side")
    given = parser.parse_args()
    for protocol in ("open", "closed"):
        _measure("demo", without_seeds(demo(protocol=protocol)[0]))
    _measure(f"generated, {FEW} against {given.entities:,} entities", uneven_task(given.entities))


def uneven_task(entities: int, few: int = FEW) -> AlignmentTask:
    """A generated task without seeds whose source graph has only so many entities, which are near one another."""
    task, _ = generate(entities)
    adjacency = Edges.of(task.source).adjacency
    there = np.zeros(len(task.source.entities))
    there[int(np.argmax(adjacency.sum(axis=1) == few // 10))] = 1
    while np.count_nonzero(there) < few:
        there += adjacency @ there
    chosen = np.sort(np.argsort(-there, kind="stable")[:few])
    number = np.full(len(there), -1)
    number[chosen] = np.arange(few)
    triples = number[task.source.triples[:, [0, 2]]]
    inside = (triples >= 0).all(axis=1)
    names = [task.source.names[entity] for entity in chosen.tolist()]
    source = KnowledgeGraph(
        [task.source.entities[entity] for entity in chosen.tolist()],
        task.source.relations,
        np.column_stack([triples[inside, 0], task.source.triples[inside, 1], triples[inside, 1]]),
        names,
    )
    return AlignmentTask(source, task.target, Alignment.empty(), np.arange(few), np.arange(len(task.target.entities)), "open")


def _measure(pair: str, task: AlignmentTask) -> None:
    began = time.perf_counter()
    run, turned = align(task), align(turned_task(task))
    ours, theirs = run.alignment, turned.alignment.turned()
    both = np.intersect1d(ours.keys, theirs.keys)
    apart = abs(_scores(ours, both) - _scores(theirs, both)).max(initial=0)
    add(
        EXPERIMENT,
        DEFAULT,
        pair,
        {"links": max(len(ours), len(theirs)), "same": len(both), "apart": float(apart)},
        seconds=time.perf_counter() - began,
        options=dict(run.options),
        protocol=task.protocol,
        split=GENERATED,
    )


def _scores(links: Alignment, keys: Floats) -> Floats:
    """(n,) the probabilities of the links with these keys."""
    order = np.argsort(links.keys)
    scores: Floats = links.scores[order[np.searchsorted(links.keys, keys, sorter=order)]]
    return scores


if __name__ == "__main__":
    main()
