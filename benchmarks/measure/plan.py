"""What runs take, for estimates: measures runs of several sizes and shapes, and writes kgalign/costs.json.

Each run is a process of its own with one thread, and its CPU time counts, so that other processes matter little. How much of
a run threads share comes from the measurement of `benchmarks.measure.threads`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy

import kgalign
from benchmarks.measure.generated import generate
from benchmarks.results import Results
from kgalign.blocks import threads
from kgalign.plan import COSTS, probe_seconds, sizes_of
from kgalign.runs import peak_mb

GENERATED = (1000, 3000, 10_000, 30_000)
FOLDERS = ("dbp15k/fr_en", "dbp15k/zh_en", "dbp15k/ja_en")
TIE = 0.1  # how far counts are tied to each other


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder with dbp15k/ and real/")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one)))
        return
    places = [str(size) for size in GENERATED] + [str(given.data / name) for name in FOLDERS if given.data]
    rows = [in_own_process(place) for place in ["1000", *places]][1:]  # the first compiles
    counts = np.array([[1, *row["sizes"].values()] for row in rows], float)
    costs: dict[str, Any] = {"seconds": fitted(counts, [row["cpu"] for row in rows])}
    costs["memory_mb"] = fitted(counts, [row["peak_mb"] for row in rows])
    ratios = np.array([row["cpu"] for row in rows]) / (counts @ costs["seconds"])
    costs["spread"] = [float(np.round(each, 2)) for each in (ratios.min(), ratios.max())]
    costs["parallel"] = parallel_share()
    costs["probe_seconds"] = round(probe_seconds(), 4)
    COSTS.write_text(json.dumps(costs, indent=1) + "\n", "utf-8")
    print(json.dumps({"runs": rows, **costs}, indent=1))


def parallel_share() -> float:
    """The share of a run that is divided among threads, by Amdahl's law: from the last line of benchmarks.measure.threads."""
    line = Results.read().of("threads")[-1]
    number = max(line["options"]["threads"])
    return round((1 - 1 / line["metrics"][f"speedup_{number}"]) / (1 - 1 / number), 2)


def in_own_process(place: str) -> dict[str, Any]:
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive", "NUMBA_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.measure.plan", "--one", place]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    row: dict[str, Any] = json.loads(done.stdout)
    print(place, row, file=sys.stderr, flush=True)
    return row


def measure(place: str) -> dict[str, Any]:
    """The CPU time of `align` and the peak of one run."""
    task, gold = generate(int(place)) if place.isdecimal() else kgalign.read(place)
    began, cpu = time.perf_counter(), time.process_time()
    run = kgalign.align(task, gold)
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    return {
        "place": Path(place).name,
        "sizes": sizes_of(task),
        "wall": round(wall, 2),
        "cpu": round(cpu, 2),
        "threads": threads(),
        "peak_mb": peak_mb(),
        "rounds": len(run.reasoning.rounds),
    }


def fitted(counts: Any, values: Any) -> list[float]:
    """What each of the counts costs, none less than nothing; every run counts by its relative error.

    Counts grow together, so where they cannot be told apart each has its share.
    """
    values = np.array(values, float)
    rows, scale = counts / values[:, None], (counts / values[:, None]).max(axis=0)
    tied = np.vstack([rows / scale, TIE * (np.eye(len(scale)) - 1 / len(scale))])
    found = scipy.optimize.nnls(tied, np.append(np.ones(len(values)), np.zeros(len(scale))))[0] / scale
    return [float(f"{each:.3g}") for each in found]


if __name__ == "__main__":
    main()
