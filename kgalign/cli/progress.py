"""What `kgalign align` prints while it works: how the graphs were read, and each round."""

from __future__ import annotations

import re
from dataclasses import replace

from kgalign.cli.printing import console, count, size, with_flags
from kgalign.data import AlignmentTask, KnowledgeGraph
from kgalign.readers.statements import TABLE
from kgalign.readers.triples import LIKE_VALUES
from kgalign.readers.value_entities import is_table
from kgalign.reasoning import Decision, Round

MOST_PROPERTIES = 3  # with names that are shown; `kgalign info` shows all


def show_task(task: AlignmentTask, seconds: float) -> None:
    """Says how the two graphs were read, and what is to be aligned."""
    console.print(f"read {size(task.source)} and {size(task.target)} in {seconds:.1f} s")
    for side, graph in (("source", task.source), ("target", task.target)):
        _show_reading(side, graph)
    rejected = f" {count(len(task.rejected), 'rejected pair')}," if len(task.rejected) else ""
    queries, pool = count(len(task.queries), "query", "queries"), count(len(task.pool), "target")
    counts = f"{count(len(task.seeds), 'seed')},{rejected} {queries}, {pool} in the candidate pool"
    several = "" if task.cardinality == "one-to-one" else f", {task.cardinality}"
    console.print(f"{counts} ({task.protocol} protocol{several})")


def show_round(figures: Round, _: Decision) -> None:
    """Says what a round brought, and which phase it belongs to where there are two."""
    if figures.stopped == "plain decoding":
        return
    if figures.is_wide and figures.number == 1:
        console.print("first phase: entities that are only evidence, and seeds that are held out, are matched too")
    console.print(str(replace(figures, stopped=None) if figures.is_wide else figures))
    if figures.is_wide and figures.stopped:
        console.print("last phase: only the queries and the candidate pool")


def _show_reading(side: str, graph: KnowledgeGraph) -> None:
    """Where the names of a graph come from, what was folded, and what was broken in it or looks wrong."""
    seen = graph.record
    if is_table(graph):
        console.print(f"{side}: {seen[TABLE]}; ids from {with_flags(seen['ids from'])}")
    if "names from" in seen:
        console.print(f"{side}: {_names_text(graph)}")
    if is_table(graph):
        shown = ("relations from", "literals from", "lists split", "columns left out")
        if parts := [f"{key}: {seen[key]}" for key in shown if key in seen]:
            console.print(f"{side}: {'; '.join(parts)}")
    if seen.get("folded nodes"):
        console.print(f"{side}: nodes that only carry a value, folded into what they describe: {seen['folded nodes']}")
    if seen.get("encoding"):
        console.print(f"{side}: encoding {seen['encoding']}")
    if seen.get(LIKE_VALUES):
        console.print(f"{side}: {LIKE_VALUES}: {seen[LIKE_VALUES]:,}; in a table, put double quotes around literals")
    if seen.get("classes left out"):
        console.print(f"{side}: classes and properties that are left out: {seen['classes left out']:,}; --classes aligns them too")
    what = "rows" if is_table(graph) else "statements"
    if seen.get("broken"):
        console.print(f"{side}: broken {what} that are left out: {seen['broken']:,}; --strict refuses them. The first:")
        for problem in seen["first broken"]:
            console.print(f"  {problem}")
    if seen.get("mended"):
        console.print(f"{side}: {what} that break the rules but could be read: {seen['mended']:,}. The first:")
        for problem in seen["first mended"]:
            console.print(f"  {problem}")


def _names_text(graph: KnowledgeGraph) -> str:
    """The first properties that hold names, their language, and how many subjects they name."""
    seen = graph.record
    properties = re.split("[,;] ", seen["names from"])
    more = f" and {len(properties) - MOST_PROPERTIES} more (kgalign info shows them)" if len(properties) > MOST_PROPERTIES else ""
    text = f"names from {', '.join(properties[:MOST_PROPERTIES])}{more}"
    if len(graph.names.text) and not is_table(graph):
        text += f"; language {seen['language of the names']}"
    if len(graph.names.text):
        text += f", {named:.0%} of the subjects named" if (named := seen.get("subjects with a label")) else ""
    return text
