"""docs/toward-the-web.md: what 10 and 100 million entities a side would take, derived from the measured blocks of searches."""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchmarks.page.markdown import table
from benchmarks.results import ROOT, Results
from kgalign.bench.results import Line
from kgalign.models.fast.kinds import KINDS

WEB_PAGE = ROOT / "docs" / "toward-the-web.md"
STEPS = ("searching by name", "searching by the graph")
SIZES = (1_000_000, 10_000_000, 100_000_000)
BLOCK = 16_384  # rows
CORES, MEMORY = 16, 64  # of a rented machine, GiB
DOLLARS = 0.80  # of such a machine, an hour
BUSY = 0.5  # of the time that a core is rented it works
FILLED = 0.6  # of the memory of a machine
NETWORK = 1.25e9  # bytes a second: 10 Gbit
MISS = 1e-7  # seconds of a look into memory that no cache holds
EFFORT = {"searching by name": 1, "searching by the graph": 1 / 4}  # of the option `effort`, see `kgalign.models.fast`
GIB = 2**30


@dataclass(frozen=True)
class Costs:
    """What a run costs for each entity of a side.

    Attributes:
        cpu: Seconds of one core.
        searching: Seconds of these in blocks of searches.
        at_worst: The same if every row met as many entities as it may, and found none of them in a cache.
        memory: Bytes of the process that aligns.
        vectors: Bytes of the vectors of the largest search.
        traffic: Bytes of the vectors of all searches: what each machine gets.
        lists: Bytes of the lists of all searches: what the process that aligns gets.
        pairs: Candidates of the last round.
        rounds: Rounds of the run.
    """

    cpu: float
    searching: float
    at_worst: float
    memory: float
    vectors: float
    traffic: float
    lists: float
    pairs: float
    rounds: int


def web_page(results: Results) -> str:
    """The text of the page."""
    lines = results.of("blocks")
    if len(lines) < 2:
        return ""
    costs = costs_of(lines[-2], lines[-1])
    return TEXT.format(
        runs=table(("", "entities", "rounds", "CPU seconds", "of them searching", "ms an entity", "MiB"), map(_run_row, lines)),
        blocks=table(
            ("", "searches", "µs a row", "seconds a block", "bytes of vectors an entity", "bytes of lists a row"),
            (_step_row(step, lines[-1]) for step in STEPS),
        ),
        derived=table(("", *(f"{size // 1_000_000} million" for size in SIZES)), _derived(costs)),
        hardware=lines[-1]["hardware"],
        largest=lines[-1]["pair"].removeprefix("generated "),
        grown=f"{_per_entity(lines[-1]) / _per_entity(lines[0]):.2f}",
        memory=f"{costs.memory / 1000:.1f}",
        pairs=f"{costs.pairs:.0f}",
        kinds=len(KINDS),
        iterations=lines[-1]["options"]["model_options"]["iterations"],
        rounds=costs.rounds,
        effort=f"{lines[-1]['options']['model_options']['effort']:,}",
        miss=f"{1e9 * MISS:.0f}",
        cores=CORES,
        machine_memory=MEMORY,
        dollars=f"{DOLLARS:.2f}",
        busy=f"{100 * BUSY:.0f}",
        filled=f"{100 * FILLED:.0f}",
        block=f"{BLOCK:,}",
    )


def costs_of(smaller: Line, larger: Line) -> Costs:
    """The costs of the larger run. Its memory is told from that of every process by the smaller one."""
    metrics, entities = larger["metrics"], _entities(larger)
    grown = (metrics["peak_mb"] - smaller["metrics"]["peak_mb"]) * 2**20 / (entities - _entities(smaller))
    vectors = [row["shared_bytes"] / entities for row in metrics["searches"]]
    met = sum(row["rows"] * EFFORT[row["step"]] for row in metrics["searches"] if row["step"] in EFFORT) / entities
    return Costs(
        cpu=metrics["cpu_seconds"] / entities,
        searching=metrics["searching_seconds"] / entities,
        at_worst=met * larger["options"]["model_options"]["effort"] * MISS,
        memory=grown,
        vectors=max(vectors),
        traffic=sum(vectors),
        lists=sum(row["result_bytes"] for row in metrics["searches"]) / entities,
        pairs=metrics["candidates_a_query"],
        rounds=metrics["rounds"],
    )


def _derived(costs: Costs) -> list[list[str]]:
    """The rows of the table of sizes."""
    rows: dict[str, list[str]] = {}
    for size in SIZES:
        hours, memory = costs.cpu * size / 3600, costs.memory * size / GIB
        machines = max(1, math.ceil(memory / (FILLED * MEMORY)))
        worst = hours + (costs.at_worst - costs.searching) * size / 3600
        rented, rented_at_worst = hours / CORES / BUSY, worst / CORES / BUSY
        figures = {
            "core hours": f"{hours:,.1f}",
            "of them searching": f"{costs.searching * size / 3600:,.1f}",
            "core hours, at worst": f"{worst:,.1f}",
            "GiB of the process that aligns, today": f"{memory:,.0f}",
            "GiB of vectors of the largest search": f"{costs.vectors * size / GIB:,.1f}",
            "GiB of vectors to each machine, all searches": f"{costs.traffic * size / GIB:,.0f}",
            "minutes of network for them": f"{costs.traffic * size / NETWORK / 60:,.1f}",
            "GiB of lists back": f"{costs.lists * size / GIB:,.1f}",
            "machines, if all memory were shared out": f"{machines:,}",
            "minutes of each, if all work were": f"{60 * rented / machines:,.0f} to {60 * rented_at_worst / machines:,.0f}",
            "dollars": f"{rented * DOLLARS:,.2f} to {rented_at_worst * DOLLARS:,.2f}",
        }
        for name, figure in figures.items():
            rows.setdefault(name, [name]).append(figure)
    return list(rows.values())


def _run_row(line: Line) -> list[str]:
    metrics = line["metrics"]
    return [
        line["pair"],
        " and ".join(f"{count:,}" for count in metrics["entities"]),
        str(metrics["rounds"]),
        f"{metrics['cpu_seconds']:,.1f}",
        f"{100 * metrics['searching_seconds'] / metrics['cpu_seconds']:.0f} %",
        f"{1000 * _per_entity(line):.2f}",
        f"{metrics['peak_mb']:,}",
    ]


def _step_row(name: str, line: Line) -> list[str]:
    searches = [row for row in line["metrics"]["searches"] if row["step"] == name]
    rows, seconds, lists = (sum(row[what] for row in searches) for what in ("rows", "seconds", "result_bytes"))
    vectors = max(row["shared_bytes"] for row in searches) / _entities(line)
    figures = 1e6 * seconds / rows, seconds / rows * BLOCK, vectors, lists / rows
    return [name, str(len(searches)), *(f"{figure:,.{digits}f}" for figure, digits in zip(figures, (0, 2, 0, 0), strict=True))]


def _per_entity(line: Line) -> float:
    seconds: float = line["metrics"]["cpu_seconds"]
    return seconds / _entities(line)


def _entities(line: Line) -> float:
    """Those of a side, on average."""
    source, target = line["metrics"]["entities"]
    return (source + target) / 2


TEXT = """\
# Toward the web

What 10 and 100 million entities a side would take, on paper. Nobody has run this. The first two tables are measured on generated
graphs (`python -m benchmarks.measure.blocks`), the third is multiplied from them, and the prices are assumptions. The page is
made from `benchmarks/results.jsonl` by `python -m benchmarks.page`.

## Measured

Runs of the default model with all rounds, 30 % seeds and the open protocol, with one thread on {hardware}. *ms an entity* are CPU
milliseconds for an entity of one side; *MiB* is the peak of the process. Other processes worked on the machine at the same
time, which makes CPU seconds a little longer than they are on an idle one.

{runs}

The same entity costs {grown} times as much CPU time in the largest of these runs as in the smallest one, which also has to do
with the number of rounds. The memory grows by {memory} kB for an entity of each side.

A search compares *rows*, which are the entities of one side, with all entities of the other side. A block of up to {block} rows
is the unit that threads, tasks of Ray and parts work on. Blocks of the run with {largest} entities a side:

{blocks}

*Bytes of vectors* are what all blocks of the largest search of that kind share, for an entity of each side. *Bytes of lists* are
what a row sends back. In the last round a query has {pairs} candidates on average.

## Derived

{derived}

- **Linear growth** is an assumption, and it is a little less than what was measured. A row of a search meets {effort} entities at
  most (by the graph a quarter), so its time is limited, but its lists get worse where more entities share rare features.
- **At worst**, every row meets that many, and each of them takes {miss} nanoseconds, since the sums of a row are too many for a
  cache: 8 bytes for each entity of the other side and each thread. Shards of targets would keep them small.
- The exact **assignment** takes a second for a million rows ([Results](results.md#the-assignment-solver)). Nobody knows whether
  it stays that quick.
- **Prices** are assumptions, and no offer of anybody: {dollars} dollars an hour for a machine with {cores} cores and
  {machine_memory} GiB, traffic between machines free, cores busy {busy} % of the time, {filled} % of the memory filled. The cores
  must be as fast as the one that was measured.
- **Network** means 10 Gbit a second to each machine.
- Reading, the generation of graphs and the writing of the run are not in it.

So neither cores nor the network are the obstacle. The memory of the one process that aligns is: it has all vectors, all candidates
and all names. One machine is enough for a million entities a side, and one with much memory would be for 10 million, with today's
code and local threads. For 100 million, everything that grows with entities has to be shared out.

## What to share out next

In this order:

1. **Vectors by shards of targets.** Today each machine gets the vectors of both sides for each search, and the process that
   aligns keeps them. If a machine held the targets of one shard, it would keep only these, and get the vectors of the sources
   block by block. A row would send back a list from each shard, and merging lists is exact. `effort` counts how many targets
   share a feature on the whole graph, so those counts must be summed over the shards first; else the lists, and the bytes, would
   differ from those of one machine.
2. **Candidates and evidence by blocks of queries.** A query has {pairs} candidates, with {kinds} kinds of evidence for each. They
   need the vectors of their own source and targets, and the links known around them. Weights are learnt from a sample that fits
   everywhere.
3. **Competition.** Sinkhorn normalisation needs the rows of a block and one sum for each target. In each of {iterations}
   iterations a machine would send and get 8 bytes for each target, in each of {rounds} rounds: {iterations} x {rounds} x 16 bytes
   for a target in a run. The parts of a sum must be added in one order, or the last digits depend on the number of machines.
4. **Features of the graph.** What is known around an entity is a product of sparse matrices, whose rows can be computed where the
   entities are, if the links of the round are sent to all: 12 bytes a link.
5. **Names.** They are Python texts in the process that reads. Vectors of names need the count of each n-gram in both graphs, and
   nothing else from other machines.
6. **The assignment** stays in one process: it needs the candidates that are still in question, and no vectors.

The driver of Ray is a single point of failure in all of this; that it [keeps its
rounds](large-graphs.md#go-on-after-an-interruption) is the answer to that.
"""
