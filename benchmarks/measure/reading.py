"""Reading a million RDF statements in a process of its own: seconds and memory, for N-Triples and Turtle.

    python -m benchmarks.measure.reading [nt nt.gz ttl] [--triples 1000000]

The graph is generated; a tenth of its statements are names, another tenth other literals.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results import GENERATED, RESULTS, add
from kgalign import Attributes, KnowledgeGraph, read_graph, write_graph
from kgalign.bench.runs import in_own_process
from kgalign.runs import peak_mb

FORMATS = ("nt", "nt.gz", "ttl")
BASE = "http://dbpedia.org"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*", default=FORMATS, help=f"some of {', '.join(FORMATS)}")
    parser.add_argument("--triples", type=int, default=1_000_000, help="statements in the file")
    given = parser.parse_args()
    measure(given.triples, formats=given.formats)


def measure(statements: int, file: Path = RESULTS, formats: Sequence[str] = FORMATS) -> None:
    """Adds a line for each format.

    Args:
        statements: The number of statements in the graph.
        file: The file of results.
        formats: The endings of the files to read.
    """
    with tempfile.TemporaryDirectory() as folder:
        for ending in formats:
            path = Path(folder) / f"graph.{ending}"
            in_own_process(
                _write, statements, path
            )  # keeps this process small: the peak of a child starts at the memory of its parent
            seconds, metrics = in_own_process(_read, path)
            add(
                "reading",
                "RDF reader",
                f"{ending}, {statements:,} statements",
                {**metrics, "file_mb": round(path.stat().st_size / 2**20)},
                seconds=seconds,
                options={"triples": statements, "format": ending},
                protocol="open",
                split=GENERATED,
                file=file,
            )


def generate(statements: int, seed: int = 0) -> KnowledgeGraph:
    """A graph with that many statements, in which a few entities and relations have most of the triples."""
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


def _write(statements: int, path: Path) -> None:
    write_graph(generate(statements), path, "en")


def _read(path: Path) -> tuple[float, dict[str, Any]]:
    """Seconds and the other figures."""
    before = peak_mb()
    began, began_cpu = time.perf_counter(), time.process_time()
    graph = read_graph(path)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
    metrics = {
        "entities": len(graph.entities),
        "triples": len(graph.triples),
        "literals": len(graph.attributes.values) + len(graph.names),
        "cpu_seconds": round(cpu_seconds, 3),
        "peak_mb": peak_mb(),
        "peak_mb_before": before,
    }
    return seconds, metrics


if __name__ == "__main__":
    main()
