"""What `fast` makes of small graphs without seeds, when some of either side have no counterpart.

    python -m benchmarks.small [--pairs zh_en,fr_en] [--entities 40,400] [--shared 0.6,0.3]

Parts of DBP15K: entities around one another, of which the seeds tell the counterparts, so that all of them are known; test links are not
touched. Some are taken out of the one graph, some out of the other, about as many of either. The defaults that stand in for seeds were
chosen on such draws (of ZH-EN and FR-EN), so of those pairs this is no figure of a test; on JA-EN nothing was
chosen, though its figures were seen between versions.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.results import DATA, add
from kgalign import Alignment, AlignmentTask, KnowledgeGraph, align
from kgalign.bench.plan import Plan
from kgalign.bench.results import DEVELOPMENT
from kgalign.data import Floats, Ints
from kgalign.errors import OptionError
from kgalign.readers import make_task
from kgalign.features.relations import adjacency

ENTITIES = 1600  # in all draws of a row together
MOST_NEIGHBOURS = 6  # of one entity that the draw goes on to, so that it is not all around one hub


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", default="zh_en,ja_en,fr_en")
    parser.add_argument("--entities", default="40,400")
    parser.add_argument("--shared", default="0.6,0.3")
    given = parser.parse_args()
    for dataset in Plan(DATA, pairs=given.pairs.split(",")).datasets:
        task, _ = dataset.read()
        world = _world(task)
        for entities in map(int, given.entities.split(",")):
            for shared in map(float, given.shared.split(",")):
                began = time.perf_counter()
                metrics = _measure(task, world, entities, shared)
                about = {"entities": entities, "shared": shared}
                pair = f"{dataset.pair}, {entities} entities, {shared:.0%} shared"
                seconds = time.perf_counter() - began
                add("small", "fast", pair, metrics, seconds=seconds, options=about, protocol="open", split=DEVELOPMENT)


def _measure(task: AlignmentTask, world: sparse.csr_array, entities: int, shared: float) -> dict[str, Any]:
    random = np.random.default_rng(entities)
    draws = max(4, ENTITIES // entities)
    right, told, gold = [], [], 0
    for _ in range(draws):
        small, links = _draw(task, world, entities, shared, random)
        found = align(small).alignment
        right.append(np.isin(found.keys, links.keys))
        told.append(found.scores)
        gold += len(links)
    is_right, probability = np.concatenate(right), np.concatenate(told)
    likely, sure = probability > 0.5, probability > 0.9
    return {
        "graphs": draws,
        "gold": gold,
        "precision": _mean(is_right[likely]),
        "recall": float(is_right[likely].sum() / max(1, gold)),
        "f1": float(2 * is_right[likely].sum() / max(1, likely.sum() + gold)),
        "links_right": _mean(is_right),
        "links_probability": _mean(probability),
        "sure_links_right": _mean(is_right[sure]),
    }


def _world(task: AlignmentTask) -> sparse.csr_array:
    """(s, s) which seeds are neighbours, in either graph."""
    sides = (task.source, task.seeds.sources), (task.target, task.seeds.targets)
    first, second = (adjacency(graph)[ids][:, ids] for graph, ids in sides)
    return sparse.csr_array(first + second)


def _draw(
    task: AlignmentTask, world: sparse.csr_array, size: int, shared: float, random: np.random.Generator
) -> tuple[AlignmentTask, Alignment]:
    """An open task without seeds, and all its links."""
    members = _around(world, size, random)
    where = random.choice(
        3, size=size, p=[shared, (1 - shared) / 2, (1 - shared) / 2]
    )  # in both graphs, in the first, in the second
    pairs = task.seeds.pairs[members]
    source, numbers = _part(task.source, pairs[where != 2, 0], random)
    target, others = _part(task.target, pairs[where != 1, 1], random)
    both = pairs[where == 0]
    small, _ = make_task(source, target, Alignment.empty(), Alignment.empty(), "open")
    return small, Alignment(np.column_stack([numbers[both[:, 0]], others[both[:, 1]]]))


def _around(world: sparse.csr_array, size: int, random: np.random.Generator) -> Ints:
    """So many seeds, breadth first from one that has enough around it."""
    for start in random.permutation(world.shape[0]).tolist():
        found, seen = [start], {start}
        for member in found:
            near = random.permutation(world.indices[world.indptr[member] : world.indptr[member + 1]])
            fresh = [other for other in near.tolist() if other not in seen][: min(MOST_NEIGHBOURS, size - len(found))]
            found += fresh
            seen.update(fresh)
        if len(found) == size:
            return np.array(found)
    raise OptionError(f"no seed has {size} around it; expected fewer --entities")


def _part(graph: KnowledgeGraph, members: Ints, random: np.random.Generator) -> tuple[KnowledgeGraph, Ints]:
    """The graph of some of the entities, in any order, and their numbers in it."""
    members = random.permutation(members)
    numbers = np.full(len(graph.entities), -1)
    numbers[members] = np.arange(len(members))
    heads, relations, tails = graph.triples[(numbers[graph.triples[:, [0, 2]]] >= 0).all(axis=1)].T
    used, relations = np.unique(relations, return_inverse=True)
    part = KnowledgeGraph(
        [graph.entities[member] for member in members],
        [graph.relations[relation] for relation in used],
        np.column_stack([numbers[heads], relations, numbers[tails]]),
        [graph.names[member] for member in members],
    )
    return part, numbers


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0


if __name__ == "__main__":
    main()
