"""What runs take, for estimates: measures runs of several sizes and shapes, and writes kgalign/costs.json.

Each run is a process of its own with one thread, and its CPU time counts, so that other processes matter little. The share that
is parallel comes from a run on all cores: how much of its CPU time is that of other threads than the first, which is the least that it can be.
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
from kgalign.blocks import threads
from kgalign.plan import COSTS, probe_seconds, sizes_of
from kgalign.runs import peak_mb

GENERATED = (1000, 3000, 10_000, 30_000)
FOLDERS = ("dbp15k/fr_en", "dbp15k/zh_en", "dbp15k/ja_en")
PARALLEL = 10_000  # entities of the run that is measured on all cores
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
    rows = [in_own_process(place, 1) for place in ["1000", *places]][1:]  # the first compiles
    counts = np.array([[1, *row["sizes"].values()] for row in rows], float)
    costs: dict[str, Any] = {"seconds": fitted(counts, [row["cpu"] for row in rows])}
    costs["memory_mb"] = fitted(counts, [row["peak_mb"] for row in rows])
    ratios = np.array([row["cpu"] for row in rows]) / (counts @ costs["seconds"])
    costs["spread"] = [float(np.round(each, 2)) for each in (ratios.min(), ratios.max())]
    row = in_own_process(str(PARALLEL), 0)
    costs["parallel"] = round(row["others"] / row["cpu"], 2)
    costs["probe_seconds"] = round(probe_seconds(), 4)
    COSTS.write_text(json.dumps(costs, indent=1) + "\n", "utf-8")
    print(json.dumps({"runs": rows, **costs}, indent=1))


def in_own_process(place: str, only: int) -> dict[str, Any]:
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive", **({"NUMBA_NUM_THREADS": str(only)} if only else {})}
    command = [sys.executable, "-m", "benchmarks.measure.plan", "--one", place]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    row: dict[str, Any] = json.loads(done.stdout)
    print(place, row, file=sys.stderr, flush=True)
    return row


def measure(place: str) -> dict[str, Any]:
    """The CPU time of `align` and the peak of one run."""
    task, gold = generate(int(place)) if place.isdecimal() else kgalign.read(place)
    began, cpu, first = time.perf_counter(), time.process_time(), time.thread_time()
    run = kgalign.align(task, gold)
    wall, cpu, first = time.perf_counter() - began, time.process_time() - cpu, time.thread_time() - first
    return {
        "place": Path(place).name,
        "sizes": sizes_of(task),
        "wall": round(wall, 2),
        "cpu": round(cpu, 2),
        "others": round(cpu - first, 2),
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
