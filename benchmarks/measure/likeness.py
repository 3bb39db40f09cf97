"""How similar generated graphs are to DBP15K: prints their figures side by side.

python -m benchmarks.measure.likeness [entities]
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.measure.generated import generate
from benchmarks.results import DATA
from kgalign import Alignment, AlignmentTask, KnowledgeGraph, read
from kgalign.bench.paper import PAIRS
from kgalign.data import Ints

Figures = Mapping[str, Sequence[str]]  # one text for both sides, or one for each


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    columns = {"generated": figures(*generate(size))}
    for pair in PAIRS:
        columns[pair] = figures(*read(DATA / "dbp15k" / pair, protocol="open"))
    table = Table("", *columns)
    for name in columns["generated"]:
        table.add_row(name, *(", ".join(column[name]) for column in columns.values()))
    Console().print(table)


def figures(task: AlignmentTask, gold: Alignment) -> Figures:
    """The figures that are compared, for both graphs."""
    links = task.seeds + gold
    sides = [(task.source, links.sources), (task.target, links.targets)]
    found: dict[str, list[str]] = {}
    for graph, linked in sides:
        for name, text in _of_graph(graph, linked).items():
            found.setdefault(name, []).append(text)
    names = [[graph.names[entity] for entity in linked.tolist()] for graph, linked in sides]
    words = [[set(name.split()) for name in side] for side in names]
    found["links with equal names"] = [_percent(np.mean([one == other for one, other in zip(*names, strict=True)]))]
    found["links whose names share no word"] = [_percent(np.mean([not one & other for one, other in zip(*words, strict=True)]))]
    found["edges between linked entities in both"] = [_percent(share) for share in _shared_edges(task, links)]
    return found


def _of_graph(graph: KnowledgeGraph, linked: Ints) -> dict[str, str]:
    count = len(graph.entities)
    degrees = np.bincount(graph.triples[:, [0, 2]].ravel(), minlength=count)
    facts = np.sort(np.bincount(graph.triples[:, 1], minlength=len(graph.relations)))[::-1]
    ends = [len(np.unique(graph.triples[:, [1, end]], axis=0)) / len(graph.triples) for end in (0, 2)]
    has_link, is_head = np.zeros(count, bool), np.zeros(count, bool)
    has_link[linked], is_head[graph.triples[:, 0]] = True, True
    return {
        "entities": f"{count:,}",
        "triples": f"{len(graph.triples):,}",
        "degree: mean": f"{degrees.mean():.1f}",
        "degree: median": f"{np.median(degrees):.0f}",
        "degree: 99th percentile": f"{np.percentile(degrees, 99):.0f}",
        "degree: largest": f"{degrees.max()}",
        "relations": f"{len(graph.relations):,}",
        "facts of a relation: median": f"{np.median(facts):.0f}",
        "facts of the 10 most frequent relations": _percent(facts[:10].sum() / facts.sum()),
        "facts of the 100 most frequent relations": _percent(facts[:100].sum() / facts.sum()),
        "heads for each fact of a relation": f"{ends[0]:.2f}",
        "tails for each fact of a relation": f"{ends[1]:.2f}",
        "entities without a counterpart": _percent(1 - has_link.mean()),
        "ever a head: linked entities": _percent(is_head[has_link].mean()),
        "ever a head: entities without a counterpart": _percent(is_head[~has_link].mean()),
    }


def _shared_edges(task: AlignmentTask, links: Alignment) -> list[float]:
    """The share of the edges between two linked entities that the other graph has too, for each graph."""
    edges = []
    for graph, ids in ((task.source, links.sources), (task.target, links.targets)):
        positions = np.full(len(graph.entities), -1)
        positions[ids] = np.arange(len(ids))
        pairs = positions[graph.triples[:, [0, 2]]]
        pairs = np.sort(pairs[(pairs >= 0).all(axis=1)], axis=1)
        edges.append(np.unique(pairs[:, 0] * len(links) + pairs[:, 1]))
    return [float(np.isin(own, other).mean()) for own, other in (edges, edges[::-1])]


def _percent(share: float | np.floating[Any]) -> str:
    return f"{100 * share:.0f} %"


if __name__ == "__main__":
    main()
