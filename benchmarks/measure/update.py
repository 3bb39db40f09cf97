"""An update beside a whole run, where one in a hundred statements of two generated graphs has changed.

    python -m benchmarks.measure.update [10000 100000] [--share 0.01]

Both are commands: they read the graphs from files and write a run folder. They run in one process, one after the other, after all code is
compiled. `cpu` is the time on processors, which other work on the machine changes least.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure.generated import generate
from benchmarks.measure.scale import label
from benchmarks.results import GENERATED, add
from kgalign import Alignment, AlignmentTask, KnowledgeGraph
from kgalign.cli import run
from kgalign.data import Names
from kgalign.evaluate import evaluate
from kgalign.models import DEFAULT
from kgalign.readers import read
from kgalign.runs import peak_mb, read_links, read_report

EXPERIMENT = "update"
SIZES = (10_000, 100_000)
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES, help="entities in each graph")
    parser.add_argument("--share", type=float, default=0.01, help="of the statements that change")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        _measure(3000, given.share, given.seed, Path(temporary))  # compiles all code that is compiled on first use
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as temporary:
            metrics = _measure(size, given.share, given.seed, Path(temporary))
        add(
            EXPERIMENT,
            DEFAULT,
            f"generated {label(size)}",
            metrics,
            seconds=metrics["update_seconds"],
            options={"share": given.share},
            protocol="open",
            split=GENERATED,
            seed=given.seed,
        )


def changed(graph: KnowledgeGraph, share: float, random: np.random.Generator) -> tuple[KnowledgeGraph, int]:
    """The graph with a share of its statements changed, and how many these are.

    A third of the triples that change are gone, a third have another tail, as another triple of their relation has it, and as many such
    triples are new. Of names, two neighbouring letters change places.
    """
    triples = graph.triples
    drawn = np.array_split(random.permutation(len(triples))[: round(share * len(triples))], 3)
    order = np.argsort(triples[:, 1], kind="stable")
    starts = np.searchsorted(triples[order, 1], np.arange(len(graph.relations) + 1))
    relation = triples[:, 1]
    tails = triples[order[starts[relation] + (random.random(len(triples)) * np.diff(starts)[relation]).astype(np.int64)], 2]
    other = np.column_stack([triples[:, 0], relation, tails])
    kept = np.ones(len(triples), bool)
    kept[np.concatenate(drawn[:2])] = False
    found = np.unique(np.concatenate([triples[kept], other[np.concatenate(drawn[1:])]]), axis=0)
    names = list(graph.names)
    renamed = random.permutation(len(names))[: round(share * len(names))].tolist()
    for entity in renamed:
        name = names[entity]
        at = int(random.integers(0, max(1, len(name) - 1)))
        names[entity] = name[:at] + name[at : at + 2][::-1] + name[at + 2 :]
    return replace(graph, triples=found, names=Names.of(names)), sum(map(len, drawn)) + len(renamed)


def _measure(size: int, share: float, seed: int, folder: Path) -> dict[str, Any]:
    """The figures of an update and of a whole run on the changed graphs."""
    task, gold = generate(size, seed)
    random = np.random.default_rng(seed + 1)
    (source, first), (target, second) = (changed(graph, share, random) for graph in (task.source, task.target))
    for name, graph in (("source", task.source), ("target", task.target), ("new_source", source), ("new_target", target)):
        _write_graph(graph, name.removeprefix("new_"), folder / f"{name}.nt")
    _write_links(task.seeds, task, folder / "seeds.tsv")
    places = {name: str(folder / f"{name}.nt") for name in ("source", "target", "new_source", "new_target")}
    seeds = ["--seeds", str(folder / "seeds.tsv"), "--seed", str(seed)]
    before = _timed(["align", places["source"], places["target"], *seeds, "-o", str(folder / "before")])
    whole = _timed(["align", places["new_source"], places["new_target"], *seeds, "-o", str(folder / "whole")])
    updating = ["update", str(folder / "before"), "--source", places["new_source"], "--target", places["new_target"]]
    update = _timed([*updating, "-o", str(folder / "update")])
    figures = read_report(folder / "update")["options"]["update"]
    now, _ = read(places["new_source"], places["new_target"])
    gold = _between(gold, task, now)
    links = {name: read_links(folder / name, now) for name in ("whole", "update")}
    f1 = {name: round(evaluate(found, gold, protocol="open")["f1"], 6) for name, found in links.items()}
    return {
        "statements_changed": first + second,
        "entities_changed": sum(figures[side][what] for side in ("source", "target") for what in ("new", "gone", "changed")),
        "queries": len(task.queries),
        "decided_again": figures["decided_again"],
        "waves": figures["waves"],
        "links": len(links["update"]),
        "links_listed": sum(figures["links"].values()),
        "others_the_same": _are_others_same(folder),
        "same_as_whole": round(float(np.isin(links["update"].keys, links["whole"].keys).mean()), 4),
        "f1_whole": f1["whole"],
        "f1_update": f1["update"],
        "before_seconds": before[0],
        "before_cpu": before[1],
        "whole_seconds": whole[0],
        "whole_cpu": whole[1],
        "update_seconds": update[0],
        "update_cpu": update[1],
        "ratio_seconds": round(update[0] / whole[0], 4),
        "ratio_cpu": round(update[1] / whole[1], 4),
        "stages": {name: read_report(folder / name)["seconds"] for name in ("whole", "update")},
        "peak_mb": peak_mb(),
    }


def _timed(command: Sequence[str]) -> tuple[float, float]:
    """The seconds, and the seconds on processors, that a command takes."""
    began, cpu = time.perf_counter(), time.process_time()
    if run(command):
        raise RuntimeError(f"{' '.join(command)} failed")
    return round(time.perf_counter() - began, 2), round(time.process_time() - cpu, 2)


def _are_others_same(folder: Path) -> bool:
    """Whether every link that changes.tsv does not list has the same line as before."""
    listed = {line.split("\t")[1] for line in (folder / "update" / "changes.tsv").read_text("utf-8").splitlines()[1:]}
    before, after = (
        [
            line
            for line in (folder / name / "alignment.tsv").read_text("utf-8").splitlines()[1:]
            if line.split("\t")[0] not in listed
        ]
        for name in ("before", "update")
    )
    names = 2, 3  # names may be new where links are not
    cut = [[[field for at, field in enumerate(line.split("\t")) if at not in names] for line in lines] for lines in (before, after)]
    return cut[0] == cut[1]


def _write_graph(graph: KnowledgeGraph, side: str, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for head, relation, tail in graph.triples.tolist():
            ends = graph.entities[head], graph.relations[relation], graph.entities[tail]
            print(*(f"<http://{side}.example/{each}>" for each in ends), ".", file=file)
        for entity, name in zip(graph.entities, graph.names, strict=True):
            if name:
                print(f'<http://{side}.example/{entity}> {LABEL} "{name}" .', file=file)


def _write_links(links: Alignment, task: AlignmentTask, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for source, target in links.pairs.tolist():
            print(
                f"http://source.example/{task.source.entities[source]}\thttp://target.example/{task.target.entities[target]}",
                file=file,
            )


def _between(links: Alignment, task: AlignmentTask, now: AlignmentTask) -> Alignment:
    """The links between the entities of the graphs that were read, as far as these have them."""
    ids = [{entity: at for at, entity in enumerate(graph.entities)} for graph in (now.source, now.target)]
    pairs = [
        (
            ids[0].get(f"http://source.example/{task.source.entities[left]}"),
            ids[1].get(f"http://target.example/{task.target.entities[right]}"),
        )
        for left, right in links.pairs.tolist()
    ]
    return Alignment(np.array([pair for pair in pairs if None not in pair], np.int64).reshape(-1, 2))


if __name__ == "__main__":
    main()
