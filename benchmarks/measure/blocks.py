"""What the blocks of searches cost on generated graphs, and what follows for 10 and 100 million entities a side.

An engine that records works on the blocks: CPU seconds and bytes of each. Everything is given for an entity of one side, a round, and a core,
so that it can be multiplied. The prices are assumptions, see PRICES.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

import kgalign
from benchmarks.measure.generated import generate
from kgalign.plan import COSTS, sizes_of

TARGETS = (1_000_000, 10_000_000, 100_000_000)
PRICES = {"core_hour": 0.05, "gib_hour": 0.005}  # dollars: of the order that large clouds ask for general machines on demand
NETWORK = 1.25e9  # bytes a second: 10 Gbit
CORES, MEMORY = 16, 64  # of a rented machine, GiB


@dataclass
class Recording:
    """Works on blocks one after the other, and writes down what each search has cost."""

    searches: list[dict[str, Any]] = field(default_factory=list)
    step: str = ""

    def map(
        self, function: Callable[..., Any], blocks: Sequence[slice], shared: Sequence[Any], *, at_once: int | None = None
    ) -> Iterator[Any]:
        row = {"step": self.step, "blocks": 0, "rows": 0, "seconds": 0.0, "shared": sum(map(size_of, shared)), "results": 0}
        self.searches.append(row)
        for block in blocks:
            began = time.thread_time()
            result = function(block, *shared)
            row["seconds"] += time.thread_time() - began
            row["blocks"] += 1
            row["rows"] += block.stop - block.start
            row["results"] += sum(map(size_of, result))
            yield result

    def begin(self, step: str) -> None:
        self.step = step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("entities", type=int, nargs="*", default=(10_000, 30_000))
    given = parser.parse_args()
    kgalign.align(*kgalign.demo())  # compiles
    for entities in given.entities:
        row = measure(entities)
        print(json.dumps(row), flush=True)
    print(json.dumps([extrapolated(row, target) for target in TARGETS], indent=1))


def measure(entities: int) -> dict[str, Any]:
    """The cost of the searches of a run, once for a phase and in every round, for each entity of a side."""
    task, _ = generate(entities)
    engine, cpu = Recording(), time.process_time()
    run = kgalign.align(task, engine=engine)
    cpu = time.process_time() - cpu
    rounds, per = len(run.reasoning.rounds), len(task.source.entities)
    steps: dict[str, Any] = {}
    for step in ("searching by name", "searching by the graph"):
        rows = [row for row in engine.searches if row["step"] == step]
        steps[step] = {
            "searches": len(rows),
            "seconds": sum(row["seconds"] for row in rows) / per,
            "shared_bytes": max(row["shared"] for row in rows) / per,
            "result_bytes": sum(row["results"] for row in rows) / per / len(rows),
            "us_a_row": 1e6 * sum(row["seconds"] for row in rows) / sum(row["rows"] for row in rows),
        }
    searching = sum(row["seconds"] for row in engine.searches)
    figures = {"entities": per, "rounds": rounds, "cpu_seconds": round(cpu, 2), "searching_share": round(searching / cpu, 3)}
    costs = json.loads(COSTS.read_text("utf-8"))["memory_mb"][1:]  # less what every process has
    return {**figures, "bytes_an_entity": round(float(np.dot(costs, list(sizes_of(task).values()))) * 2**20 / per), "steps": steps}


def extrapolated(row: dict[str, Any], entities: int) -> dict[str, Any]:
    """The same for more entities, if every entity costs as much: searches are bounded by their effort, and the rest is linear."""
    steps = row["steps"].values()
    cpu = row["cpu_seconds"] / row["entities"] * entities
    shared = max(step["shared_bytes"] for step in steps) * entities
    results = sum(step["result_bytes"] * step["searches"] for step in steps) * entities
    traffic = sum(step["shared_bytes"] * step["searches"] for step in steps) * entities
    memory = row["bytes_an_entity"] * entities
    hours = cpu / 3600
    return {
        "entities a side": entities,
        "core hours": round(hours, 1),
        "of them searching": round(hours * row["searching_share"], 1),
        "GiB in one process today": round(memory / 2**30),
        "GiB of vectors of the largest search": round(shared / 2**30, 1),
        "GiB to each machine, all searches": round(traffic / 2**30),
        "GiB of results": round(results / 2**30),
        "minutes of network to each machine": round(traffic / NETWORK / 60, 1),
        "machines for the memory, if all were sharded": max(1, int(np.ceil(memory / 2**30 / (0.6 * MEMORY)))),
        "dollars": round(hours * PRICES["core_hour"] + hours / CORES * MEMORY * PRICES["gib_hour"], 2),
    }


def size_of(value: Any) -> int:
    """The bytes of the arrays of a value."""
    if sparse.issparse(value):
        return sum(each.nbytes for each in (value.data, value.indices, value.indptr))
    return value.nbytes if isinstance(value, np.ndarray) else 0


if __name__ == "__main__":
    main()
