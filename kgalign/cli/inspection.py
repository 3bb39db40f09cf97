"""The commands that only read and print: info, evaluate, explain."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from kgalign.cli.options import AsJson, Labels, Languages, Protocols, Strict, parse_languages, places
from kgalign.cli.printing import console, plain_text, print_json, show_figures, show_not_judged, working
from kgalign.data import KnowledgeGraph
from kgalign.evaluate import evaluate as measure
from kgalign.features.text import fold
from kgalign.readers import is_dataset, read, read_graph
from kgalign.readers.candidates import read_alignments
from kgalign.readers.schema import schema_of
from kgalign.runs import links_file, read_explanations, read_report


def info(
    source: Annotated[str, typer.Argument(help=f"a dataset folder, or a graph: {places()}")],
    target: Annotated[str | None, typer.Argument(help="the other graph")] = None,
    labels: Labels = None,
    languages: Languages = None,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Show what the reader sees: sizes, names and where they come from, links, and what is missing."""
    given = parse_languages(languages)
    links = {"seeds": 0, "test links": 0}
    with working("reading"):
        if target is None and not is_dataset(source):
            seen = {"graph": _describe(read_graph(source, labels=labels or (), languages=given, strict=strict))}
        else:
            task, gold = read(source, target, labels=labels or (), languages=given, strict=strict)
            seen = {"source": _describe(task.source), "target": _describe(task.target)}
            links = {"seeds": len(task.seeds), "test links": len(gold)}
    if as_json:
        print_json({**seen, **links})
        return
    table = Table("", *seen)
    for key in dict.fromkeys(key for side in seen.values() for key in side):
        table.add_row(key, *(plain_text(side.get(key, "")) for side in seen.values()))
    out = Console(highlight=False, markup=False)
    out.print(table)
    if "graph" not in seen:
        out.print(", ".join(f"{count} {what}" for what, count in links.items()))


def evaluate(
    alignment: Annotated[Path, typer.Argument(help="a run's folder, or a table of source and target")],
    gold: Annotated[Path, typer.Option(help="a table of source and target")],
    protocol: Annotated[
        Protocols | None, typer.Option(help="under which the links were found; the folder of a run says it itself")
    ] = None,
    complete: Annotated[bool, typer.Option("--complete", help="there are no other right links: any other link is wrong")] = False,
    bootstrap: Annotated[int, typer.Option(min=0, help="draws for confidence intervals, 0: none")] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure links against gold links; gold links that were seeds of the run are not counted."""
    report: dict[str, Any] = read_report(alignment) if alignment.is_dir() else {"protocol": "open"}
    seeds = report.get("options", {}).get("read", {}).get("seeds")
    links, gold_links = read_alignments(links_file(alignment), gold, Path(seeds) if seeds and Path(seeds).is_file() else None)
    named: Any = protocol.value if protocol else report["protocol"]
    if not np.isin(links.sources, gold_links.sources).any():
        console.print("no link has a source of the gold links: are they of the same graphs, and is the source first in both?")
    figures = measure(links, gold_links, protocol=named, complete=complete, bootstrap=bootstrap)
    show_not_judged(figures)
    if as_json:
        print_json(figures)
    else:
        show_figures(figures)


def explain(
    run: Annotated[Path, typer.Argument(help="the folder of a run")],
    entity: Annotated[
        str, typer.Argument(metavar="IRI", help="an entity of either graph: its IRI, the last part of it, or its name")
    ],
    as_json: AsJson = False,
) -> None:
    """Explain the match of an entity: its evidence, linked neighbours, and what the runner-up lacks."""
    found = read_explanations(run, entity)
    if as_json:
        print_json([asdict(explanation) for explanation in found])
    else:
        print("\n\n".join(map(str, found)))


def _describe(graph: KnowledgeGraph) -> dict[str, Any]:
    """The facts of a graph that matter before it is aligned."""
    linked = set(graph.triples[:, [0, 2]].ravel().tolist())
    names = [fold(name) for name in graph.names]
    return {
        "entities": len(graph.entities),
        "relations": len(graph.relations),
        "triples": len(graph.triples),
        "literals": len(graph.attributes.values),
        "classes and properties": len(schema_of(graph)),
        "entities without triples": len(graph.entities) - len(linked),
        "entities without a name": sum(not name for name in names),
        "names that several share": len(names) - len(set(names)),
        "names in Latin letters": f"{sum(name.isascii() and name != '' for name in names) / max(1, len(names)):.0%}",
        "for instance": "; ".join([name for name in graph.names if name][:3]),
        **{key: f"{value:.0%}" if isinstance(value, float) else value for key, value in graph.record.items()},
    }
