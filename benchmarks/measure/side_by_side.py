"""The rows of the default model on DBP15K, several side by side with one core each: for a machine with many cores.

    python -m benchmarks.measure.side_by_side --runs 16 [--limit 3000] [--results FILE]

Measures the tables of peers and seeds with the random seeds 0, 1 and 2, and the ablation and the unusual rows of the seeds with 0. Rows
that the file has a line for, by the present commit, are left out; the longest come first.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

from benchmarks.results import DATA, RESULTS
from kgalign.bench.ablation import ablation_rows, parts_with_evidence
from kgalign.bench.peers import DEFAULT_ROWS
from kgalign.bench.plan import Dataset, Plan
from kgalign.bench.results import Key, Line, append, commit, hardware, key, make_line, read_lines
from kgalign.bench.runs import RunRow, compile_first, measure_row
from kgalign.bench.seed_rows import EXPERIMENT as SEEDS
from kgalign.bench.seed_rows import main_rows, seed_rows
from kgalign.data import without_names
from kgalign.models import DEFAULT, make_model

UNKNOWN = 100.0  # seconds of a row that no line tells


@dataclass(frozen=True)
class Job:
    """A row on a dataset with a random seed."""

    experiment: str
    name: str
    row: RunRow
    dataset: Dataset
    seed: int

    @property
    def key(self) -> Key:
        return self.experiment, self.name, self.dataset.pair, self.seed, self.row.protocol, self.dataset.split


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=os.cpu_count() or 1, help="runs side by side")
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds after which no run is waited for")
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    began = time.monotonic()
    os.environ["NUMBA_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    compile_first()
    lines = {key(line): line for line in (*read_lines(RESULTS), *read_lines(given.results))}
    jobs = [job for job in _jobs() if job.key not in lines or lines[job.key]["commit"] != commit()]
    jobs.sort(key=lambda job: -lines[job.key]["seconds"] if job.key in lines else -UNKNOWN)
    print(len(jobs), "rows", flush=True)
    pool = ProcessPoolExecutor(given.runs, mp_context=get_context("spawn"), max_tasks_per_child=1)
    running = [pool.submit(_measure, job, f"{hardware()}, {given.runs} runs side by side") for job in jobs]
    try:
        for done in as_completed(running, timeout=given.limit - (time.monotonic() - began) if given.limit < 1e9 else None):
            for line in done.result():
                append(line, given.results)
                print(*key(line), line["metrics"].get("hits@1"), f"{line['seconds']:.0f} s", flush=True)
    except TimeoutError:
        print("no time is left; call again for the rows that are missing")
        for process in list(pool._processes.values()):
            process.kill()
    pool.shutdown(wait=False, cancel_futures=True)


def _jobs() -> Iterator[Job]:
    for dataset in Plan(DATA / "dbp15k").datasets:
        task = dataset.read()[0]
        parts, nameless = (parts_with_evidence(make_model(DEFAULT), each) for each in (task, without_names(task)))
        for seed in (0, 1, 2):
            for name, row in DEFAULT_ROWS.items():
                yield Job(DEFAULT, name, row, dataset, seed)
            yield Job(DEFAULT, DEFAULT, RunRow(protocol="open", threshold=True), dataset, seed)
            for name, row in (seed_rows() if seed == 0 else main_rows()).items():
                yield Job(SEEDS, name, row, dataset, seed)
        for name, row in ablation_rows(DEFAULT, parts, nameless).items():
            yield Job("ablation", name, row, dataset, 0)


def _measure(job: Job, machine: str) -> list[Line]:
    """The lines of a job; its process has no other."""
    compile_first()
    model = job.row.model or DEFAULT
    row = replace(job.row, model=model, rules={**job.row.rules, "seed": job.seed})
    return [
        make_line(
            job.experiment,
            job.name + suffix,
            job.dataset.pair,
            metrics,
            seconds=seconds,
            options=options,
            protocol=row.protocol,
            split=job.dataset.split,
            seed=job.seed,
            machine=machine,
            peak=peak,
        )
        for suffix, metrics, seconds, options, peak in measure_row(job.dataset, row)
    ]


if __name__ == "__main__":
    main()
