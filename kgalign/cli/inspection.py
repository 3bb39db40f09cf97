"""The commands that only read and print: info, evaluate, explain."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from kgalign.cli.description import BY_CLASS, describe, naming_lines, plan_lines, same_iris
from kgalign.cli.options import (
    AsJson,
    AsTable,
    AsTriples,
    Bootstrap,
    Cardinalities,
    Changed,
    IdSource,
    IdTarget,
    Labels,
    Languages,
    LimitSettings,
    Protocols,
    Query,
    Strict,
    parse_form,
    parse_languages,
    parse_limits,
    places,
)
from kgalign.cli.printing import Screen, console, plain_text, print_json, show_figures, show_not_judged, working
from kgalign.errors import OptionError, short_lines
from kgalign.evaluate import evaluate as measure
from kgalign.limits import Limits
from kgalign.plan import plan_run
from kgalign.readers import LINK_READERS, is_dataset, read, read_graph
from kgalign.readers.candidates import read_alignments
from kgalign.readers.places import expected
from kgalign.runs import read_explanations, read_judged, read_report


def info(
    source: Annotated[str, typer.Argument(help=f"a dataset folder, or a graph: {places()}")],
    target: Annotated[str | None, typer.Argument(help="the other graph")] = None,
    labels: Labels = None,
    languages: Languages = None,
    id_source: IdSource = None,
    id_target: IdTarget = None,
    table: AsTable = False,
    triples: AsTriples = False,
    strict: Strict = False,
    query: Query = None,
    limits: LimitSettings = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="estimate what a run of the two graphs takes on this machine: time, memory and engine")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what the reader sees: sizes, names and where they come from, links, and what is missing."""
    how: dict[str, Any] = {
        "labels": labels or (),
        "languages": parse_languages(languages),
        "strict": strict,
        "form": parse_form(table, triples),
        "query": query,
        "limits": parse_limits(limits),
    }
    links, estimate, began = {"seeds": 0, "test links": 0}, None, time.perf_counter()
    if plan and target is None and not is_dataset(source):
        raise OptionError("`plan` goes with two graphs, or with a dataset folder: expected SOURCE and TARGET")
    with working("reading"):
        if target is None and not is_dataset(source):
            if id_target is not None:
                raise OptionError("`id_target` goes with two graphs: `id_source` names the column of one")
            graphs = {"graph": read_graph(source, id_column=id_source, **how)}
        else:
            task, gold = read(source, target, id_source=id_source, id_target=id_target, **how)
            graphs = {"source": task.source, "target": task.target}
            links = {"seeds": len(task.seeds), "test links": len(gold)}
            reading = time.perf_counter() - began
            estimate = plan_run(task) if plan else None
    seen = {side: describe(graph) for side, graph in graphs.items()}
    shared = {"the same IRI in both graphs": same_iris(*graphs.values())} if len(graphs) == 2 else {}
    if as_json:
        planned = {"plan": {**asdict(estimate), "reading_seconds": round(reading, 3)}} if estimate else {}
        print_json({**seen, **links, **shared, **planned})
        return
    out = Screen()
    out.print(_table(seen))
    for side, graph in graphs.items():
        lines = list(naming_lines(graph))
        if lines:
            out.print("\n".join([f"{BY_CLASS}, {side}:" if len(graphs) == 2 else f"{BY_CLASS}:", *lines]), soft_wrap=True)
    for what, count in shared.items():
        out.print(f"{what}: {count:,}")
        out.print(", ".join(f"{count:,} {what}" for what, count in links.items()))
    if estimate:
        out.print(
            "\n".join(
                ["a run with the default options:", *(f"  {key}: {text}" for key, text in plan_lines(estimate, reading).items())]
            ),
            soft_wrap=True,
        )


def evaluate(
    alignment: Annotated[Path, typer.Argument(help="a run's folder, or a file of links in any format")],
    gold: Annotated[Path, typer.Option(help=f"{expected(LINK_READERS)}")],
    protocol: Annotated[
        Protocols | None, typer.Option(help="under which the links were found; the folder of a run says it itself")
    ] = None,
    cardinality: Annotated[
        Cardinalities | None,
        typer.Option(
            help="how many links an entity may have: of more, the most probable counts; by default as in the run, for a table as in the gold"
        ),
    ] = None,
    complete: Annotated[bool, typer.Option("--complete", help="there are no other right links: any other link is wrong")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="refuse gold links of entities that the graphs of the run do not have")
    ] = False,
    changed: Changed = False,
    limits: LimitSettings = None,
    bootstrap: Bootstrap = 0,
    as_json: AsJson = False,
) -> None:
    """Measure links against gold links; gold links that were seeds of the run are not counted."""
    report: dict[str, Any] = read_report(alignment) if alignment.is_dir() else {"protocol": "open"}
    bounded = Limits.of(parse_limits(limits))
    if alignment.is_dir():
        links, gold_links = read_judged(alignment, gold, strict, changed, bounded)
    else:
        links, gold_links = read_alignments(alignment, gold, bounded)
    named: Any = protocol.value if protocol else report["protocol"]
    if not np.isin(links.sources, gold_links.sources).any():
        console.print("no link has a source of the gold links: are they of the same graphs, and is the source first in both?")
    several: Any = cardinality.value if cardinality else report.get("cardinality")
    figures = measure(links, gold_links, protocol=named, cardinality=several, complete=complete, bootstrap=bootstrap)
    show_not_judged(figures)
    if as_json:
        print_json(figures)
    else:
        show_figures(figures)


def explain(
    run: Annotated[Path, typer.Argument(help="the folder of a run")],
    entity: Annotated[
        str, typer.Argument(metavar="IRI", help="an entity of either graph: its IRI, the last part of it, or any of its names")
    ],
    changed: Changed = False,
    as_json: AsJson = False,
) -> None:
    """Explain the match of an entity: its evidence, linked neighbours, and what the runner-up lacks."""
    found = read_explanations(run, entity, changed)
    if as_json:
        print_json([asdict(explanation) for explanation in found])
    else:
        print(short_lines(str(found)))


def _table(seen: dict[str, dict[str, Any]]) -> Table:
    """What was seen of each graph, a column each; long words are folded and never cut."""
    table = Table()
    for heading in ("", *seen):
        table.add_column(heading, overflow="fold")
    for key in dict.fromkeys(key for side in seen.values() for key in side if key != BY_CLASS):
        texts = [plain_text(side.get(key, "")) for side in seen.values()]
        if any(texts):
            table.add_row(key, *texts)
    return table
