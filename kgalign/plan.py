"""What a run will take: its time and its memory, estimated from the sizes of the graphs before anything is computed."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy  # which imports its parts when they are first used

from kgalign.blocks import threads
from kgalign.data import AlignmentTask

COSTS = Path(__file__).with_name("costs.json")  # which `python -m benchmarks.measure.plan` measures
LONG = 3600.0  # seconds: more machines are worth the trouble for a run that may take longer
ENOUGH = 0.8  # of the memory that is free: more may be taken by others before the run is over


@dataclass(frozen=True)
class Plan:
    """What a run with the default model and the default options will take on this machine.

    Attributes:
        sizes: The counts that the estimate goes by.
        seconds: The time after reading, at least and at most: as far apart as the measured runs are from the estimate.
        memory_mb: The peak, with the graphs.
        free_mb: The memory that is free on this machine; None: the system does not say.
        cores: The threads that a run uses.
        speed: How fast this machine is, against the one on which the costs were measured.
        engine: The name of the engine that suits the run: `ray`, or parts and a join in its place, where it may take hours.
        advice: What to do where the run does not fit, or takes hours.
    """

    sizes: Mapping[str, int]
    seconds: tuple[float, float]
    memory_mb: float
    free_mb: float | None
    cores: int
    speed: float
    engine: str
    advice: str = ""

    @property
    def fits(self) -> bool:
        """Whether the memory that is free is enough."""
        return self.free_mb is None or self.memory_mb <= ENOUGH * self.free_mb


def plan_run(task: AlignmentTask) -> Plan:
    """The estimate for a task. It measures the speed of this machine, which takes less than a second."""
    costs = json.loads(COSTS.read_text("utf-8"))
    sizes, cores, speed = sizes_of(task), threads(), costs["probe_seconds"] / probe_seconds()
    counts = np.array([1, *sizes.values()])
    work = float(counts @ costs["seconds"]) / speed  # on one core
    seconds = work * (1 - costs["parallel"] + costs["parallel"] / cores)
    memory = float(counts @ costs["memory_mb"])
    free = free_memory_mb()
    low, high = costs["spread"]
    plan = Plan(sizes, (low * seconds, high * seconds), memory, free, cores, speed, "ray" if high * seconds > LONG else "local")
    return replace(plan, advice="; ".join(_advice(plan)))


def _advice(plan: Plan) -> Iterator[str]:
    if not plan.fits:
        yield "this is more than is free: take a machine with more memory, or align fewer entities (`only_source`, `types`)"
        yield "other machines take no memory off the process that aligns"
    if plan.engine != "local":
        yield "other machines share the searches, and nothing else, with --engine ray, or with --part and --join"


def sizes_of(task: AlignmentTask) -> dict[str, int]:
    """What time and memory go by, of both graphs together."""
    graphs = task.source, task.target
    return {
        "entities": sum(len(graph.entities) for graph in graphs),
        "triples": sum(len(graph.triples) for graph in graphs),
        "literals": sum(len(graph.attributes.values) for graph in graphs),
    }


def probe_seconds() -> float:
    """The seconds that one core takes for a little work of the kind that a run consists of: sorting, and products of sparse matrices."""
    random = np.random.default_rng(0)
    numbers = random.integers(0, 1 << 40, 1 << 20)
    matrix = scipy.sparse.random(40_000, 40_000, 2e-4, "csr", np.float32, rng=random)
    best = float("inf")
    for _ in range(2):
        began = time.process_time()
        np.argsort(numbers, kind="stable")
        _ = matrix @ matrix
        best = min(best, time.process_time() - began)
    return best


def free_memory_mb() -> float | None:
    """The memory that processes can still get, in MiB; None: the system does not say."""
    if sys.platform == "linux":
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return min(int(line.split()[1]) / 2**10, _limit_mb())
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20  # POSIX only: all memory, the best that is known
    except (AttributeError, ValueError, OSError):
        return None


def _limit_mb() -> float:
    """What a container allows, in MiB."""
    free = float("inf")
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            free = min(free, (int(Path(limit).read_text("ascii")) - int(Path(used).read_text("ascii"))) / 2**20)
        except (OSError, ValueError):  # there is none, or it says `max`
            continue
    return free
