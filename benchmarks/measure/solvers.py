"""Our assignment solver beside those of scipy, ortools and lapx: the same instances, the same optimum, the seconds of each.

    python -m benchmarks.measure.solvers

The instances are real candidate lists: names of ZH-EN, 20 candidates from both directions, and 10 from one. The second list is also tiled
and perturbed to larger sizes: some candidates of a copy are in another copy, so that one giant component holds nearly all rows.
Each solver runs in a process of its own and has a time limit. A line says so where a solver fails or does not finish.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from benchmarks.results import DATA, add
from kgalign import Candidates, make_model, read
from kgalign.decoding.assignment import assign
from kgalign.decoding.decoders import joint
from kgalign.models import BASELINE
from kgalign.runs import peak_mb

LIMIT_SECONDS = 300
UNMATCHED = 0.01
CROSS_SHARE, NOISE = 0.05, 0.02


@dataclass(frozen=True)
class Instance:
    starts: Any  # (n + 1,)
    columns: Any  # (e,)
    costs: Any  # (e,)
    column_count: int
    unmatched: Any  # (n,)


def ours(instance: Instance) -> float:
    return assign(instance.starts, instance.columns, instance.costs, instance.column_count, instance.unmatched).total


def scipy_sparse(instance: Instance) -> float:
    """Each row has a dummy column for staying unmatched. Costs are shifted, since scipy takes a zero for no edge."""
    n = len(instance.unmatched)
    rows = np.concatenate([np.repeat(np.arange(n), np.diff(instance.starts)), np.arange(n)])
    columns = np.concatenate([instance.columns, instance.column_count + np.arange(n)])
    costs = np.concatenate([instance.costs, instance.unmatched]) + 1
    graph = sparse.csr_array((costs, (rows, columns)), shape=(n, instance.column_count + n))
    return float(graph[min_weight_full_bipartite_matching(graph)].sum() - n)


def scipy_dense(instance: Instance) -> float:
    """A full matrix. A pair that is no candidate costs as much as staying unmatched."""
    n = len(instance.unmatched)
    if n > 20_000:
        raise MemoryError("a full matrix of this size does not fit")
    matrix = np.tile(instance.unmatched[:, None], (1, instance.column_count + n))
    rows = np.repeat(np.arange(n), np.diff(instance.starts))
    matrix[rows, instance.columns] = np.minimum(instance.costs, matrix[rows, instance.columns])
    return float(matrix[linear_sum_assignment(matrix)].sum())


def ortools(instance: Instance) -> float:
    """Costs times 1e6, rounded to whole numbers."""
    from ortools.graph.python import linear_sum_assignment as solver

    left, right, costs = mirrored(instance)
    problem = solver.SimpleLinearSumAssignment()
    problem.add_arcs_with_cost(left, right, np.rint(costs * 1e6).astype(np.int64))
    if problem.solve() != problem.OPTIMAL:
        raise OverflowError("ortools found no optimum")
    return problem.optimal_cost() / 1e6


def lapx(instance: Instance) -> float:
    """Sparse Jonker-Volgenant on a square problem; costs are shifted, as for scipy."""
    from lap import lapmod

    size = len(instance.unmatched) + instance.column_count
    left, right, costs = mirrored(instance)
    graph = sparse.csr_array((costs + 1, (left, right)), shape=(size, size))
    total, _, _ = lapmod(size, graph.data, graph.indptr, graph.indices)
    return float(total - size)


def mirrored(instance: Instance) -> tuple[Any, Any, Any]:
    """Row, column and cost of the edges of a problem with a perfect matching: the instance, and its mirror image at no cost."""
    n, m = len(instance.unmatched), instance.column_count
    rows = np.repeat(np.arange(n), np.diff(instance.starts))
    left = np.concatenate([rows, np.arange(n), n + np.arange(m), n + instance.columns])
    right = np.concatenate([instance.columns, m + np.arange(n), np.arange(m), m + rows])
    return left, right, np.concatenate([instance.costs, instance.unmatched, np.zeros(m + len(rows))])


SOLVERS: dict[str, Callable[[Instance], float]] = {
    "kgalign": ours,
    "scipy sparse": scipy_sparse,
    "scipy dense": scipy_dense,
    "ortools": ortools,
    "lapx lapmod": lapx,
}


def main() -> None:
    task, _ = read(DATA / "dbp15k" / "zh_en")
    fitted = make_model(BASELINE).fit(task)
    twenties = fitted.predict(task, task.seeds)
    tens = replace(fitted, options=make_model(BASELINE, k=10, both_directions=False)).predict(task, task.seeds)
    joint(tens)  # compiles
    instances = {
        "10,500 x 10": lambda: instance_of(tens),
        "10,500 x 20 both": lambda: instance_of(twenties),
        "105,000 x 10": lambda: instance_of(tiled(tens, 10)),
        "1,008,000 x 10": lambda: instance_of(tiled(tens, 96)),
    }
    for name, make in instances.items():
        instance = make()
        optimum = None
        for solver in SOLVERS:
            if solver != "kgalign" and len(instance.unmatched) > 200_000 and solver != "lapx lapmod":
                continue  # takes a minute at a tenth of the size, and grows faster than the size
            total, seconds, peak = measured(solver, instance)
            optimum = total if solver == "kgalign" else optimum
            difference = abs(total - optimum) / abs(optimum) if total is not None and optimum else None
            metrics = {"objective": total, "apart": difference, "solved": total is not None, "peak_mb": peak}
            add("solvers", solver, name, metrics, seconds=seconds, options={"unmatched": UNMATCHED, "limit": LIMIT_SECONDS})


def measured(solver: str, instance: Instance) -> tuple[float | None, float, int]:
    """Objective, seconds and peak memory of a solver in a process of its own; no objective if it failed or took too long."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work() -> None:
        began = time.perf_counter()
        try:
            total: float | None = SOLVERS[solver](instance)
        except (MemoryError, OverflowError, ValueError) as error:
            print(f"{solver}: {error}")
            total = None
        sender.send((total, time.perf_counter() - began, peak_mb() or 0))

    process = context.Process(target=work)
    process.start()
    sender.close()  # so that the death of a child is noticed at once
    began = time.perf_counter()
    try:
        answer = receiver.recv() if receiver.poll(LIMIT_SECONDS) else (None, float(LIMIT_SECONDS), 0)
    except EOFError:
        answer = (None, time.perf_counter() - began, 0)
    process.kill()
    process.join()
    return answer


def instance_of(candidates: Candidates) -> Instance:
    probabilities = candidates.probabilities()
    rows, slots = np.nonzero(probabilities > 0)
    starts = np.searchsorted(rows, np.arange(len(candidates) + 1))
    pool, columns = np.unique(candidates.targets[rows, slots], return_inverse=True)
    return Instance(starts, columns, -np.log(probabilities[rows, slots]), len(pool), np.full(len(candidates), -np.log(UNMATCHED)))


def tiled(candidates: Candidates, copies: int) -> Candidates:
    """Copies of the lists, each with other noise and with some candidates in another copy."""
    random = np.random.default_rng(0)
    width = int(candidates.targets.max()) + 1
    targets, scores = [], []
    for copy in range(copies):
        elsewhere = random.random(candidates.targets.shape) < CROSS_SHARE
        where = np.where(elsewhere, random.integers(0, copies, candidates.targets.shape), copy)
        targets.append(np.where(candidates.targets >= 0, candidates.targets + width * where, -1))
        scores.append(candidates.scores + NOISE * random.normal(size=candidates.scores.shape))
    return Candidates(np.arange(copies * len(candidates)), np.concatenate(targets), np.concatenate(scores), candidates.temperature)


if __name__ == "__main__":
    main()
