"""What one more thread brings: the default model on generated graphs with 1, 2, 4 ... threads, in turns, each in a process of its own.

    python -m benchmarks.measure.threads [--entities 100000] [--times 1]

The line says by how much each number of threads is faster than one, and whether the links are the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure.generated import generate
from benchmarks.measure.scale import compile_first, label
from benchmarks.results import GENERATED, RESULTS, add
from kgalign import align
from kgalign.blocks import available_cores
from kgalign.models import DEFAULT
from kgalign.runs import peak_mb

VARIABLES = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=100_000, help="entities in each graph")
    parser.add_argument("--times", type=int, default=1, help="runs with each number of threads; the fastest one counts")
    parser.add_argument(
        "--threads", type=int, nargs="+", help="numbers of threads, 1 among them; all powers of two up to the cores"
    )
    parser.add_argument("--alone", action="store_true", help="print the figures of one run with the threads of this process")
    given = parser.parse_args()
    if given.alone:
        print(json.dumps(_run(given.entities)))
    else:
        measure(given.entities, given.times, given.threads)


def measure(entities: int, times: int, numbers: list[int] | None = None, file: Path = RESULTS) -> None:
    """Adds the line."""
    numbers = numbers or [1 << power for power in range(available_cores().bit_length())]
    found: dict[int, list[dict[str, Any]]] = {number: [] for number in numbers}
    for _ in range(times):
        for number in numbers:
            found[number].append(_in_a_process(entities, number))
            print(number, found[number][-1], flush=True)
    seconds = {number: min(each["seconds"] for each in runs) for number, runs in found.items()}
    all_runs = [each for runs in found.values() for each in runs]
    add(
        "threads",
        DEFAULT,
        f"generated {label(entities)}",
        {
            **{f"seconds_{number}": value for number, value in seconds.items()},
            **{f"speedup_{number}": seconds[1] / value for number, value in seconds.items() if number > 1},
            "peak_mb": max(each["peak_mb"] for each in all_runs),
            "same_bytes": len({each["links"] for each in all_runs}) == 1,
        },
        seconds=sum(each["seconds"] for each in all_runs),
        options={"threads": numbers, "times": times},
        protocol="open",
        split=GENERATED,
        file=file,
    )


def _in_a_process(entities: int, threads: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.measure.threads", "--alone", "--entities", str(entities)]
    environment = {**os.environ, **dict.fromkeys(VARIABLES, str(threads))}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _run(entities: int) -> dict[str, Any]:
    """Seconds of an alignment, and a hash of its links."""
    task, _ = generate(entities, 0)
    compile_first(entities)
    began = time.perf_counter()
    links = align(task, max_rounds=1).alignment
    seconds = time.perf_counter() - began
    content = np.ascontiguousarray(links.pairs).tobytes() + np.ascontiguousarray(links.scores).tobytes()
    return {"seconds": seconds, "links": hashlib.sha256(content).hexdigest(), "peak_mb": peak_mb()}


if __name__ == "__main__":
    main()
