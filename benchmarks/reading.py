"""A million triples of RDF, read in a process of its own: seconds and memory, N-Triples and Turtle.

    python -m benchmarks.reading [--triples 1000000] [--results FILE]

The graph is generated; a tenth of its statements are names, another tenth other literals.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results import append
from kgalign import Attributes, KnowledgeGraph, read_graph, write_graph
from kgalign.align import peak_mb

FORMATS = ("nt", "nt.gz", "ttl")
BASE = "http://dbpedia.org"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=1_000_000, help="statements in the file")
    parser.add_argument("--results", type=Path, help="another file than results.jsonl for the lines")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for ending in FORMATS:
            path = Path(folder) / f"graph.{ending}"
            write_graph(generate(given.triples), path, "en")
            answer = measured(path)
            append(
                "reading",
                "RDF reader",
                f"{ending}, {given.triples:,} statements",
                {**answer["metrics"], "file_mb": round(path.stat().st_size / 2**20)},
                seconds=answer["seconds"],
                options={"triples": given.triples, "format": ending},
                protocol="none",
                split="none",
                file=given.results,
            )


def generate(statements: int, seed: int = 0) -> KnowledgeGraph:
    """A graph with that many statements, its degrees as uneven as in the world."""
    random = np.random.default_rng(seed)
    count = statements // 10
    triples = np.column_stack(
        [
            random.integers(count, size=statements - 2 * count),
            (random.pareto(1.0, statements - 2 * count) * 3).astype(np.int64) % 500,
            (count * random.power(0.5, statements - 2 * count)).astype(np.int64),
        ]
    )
    facts = np.column_stack([np.arange(count), random.integers(20, size=count)])
    return KnowledgeGraph(
        [f"{BASE}/resource/Entity_number_{i}" for i in range(count)],
        [f"{BASE}/ontology/relation{i}" for i in range(500)],
        triples,
        [f"Entity number {i}" for i in range(count)],
        Attributes(
            [f"{BASE}/ontology/property{i}" for i in range(20)], facts, random.integers(1_000_000, size=count).astype(str).tolist()
        ),
    )


def measured(path: Path) -> dict[str, Any]:
    """What reading in a process of its own came to."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(path, sender))
    process.start()
    sender.close()
    answer: dict[str, Any] = receiver.recv()
    process.join()
    return answer


def _work(path: Path, sender: Connection) -> None:
    before = peak_mb()
    began = time.perf_counter()
    graph = read_graph(path)
    seconds = time.perf_counter() - began
    metrics = {
        "entities": len(graph.entities),
        "triples": len(graph.triples),
        "literals": len(graph.attributes.values) + len(graph.names),
        "peak_mb": peak_mb(),
        "peak_mb_before": before,
    }
    sender.send({"metrics": metrics, "seconds": seconds})


if __name__ == "__main__":
    main()
