"""The command that shows what all this is about: demo."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from kgalign.align import align
from kgalign.cli.options import AsJson, Output
from kgalign.cli.printing import console, print_json, size, working
from kgalign.datasets import PAIRS
from kgalign.datasets import demo as read_demo
from kgalign.writers import write_run
from kgalign.runs.folder import check_free


def demo(
    pair: Annotated[str, typer.Option(help=f"one of {', '.join(PAIRS)}")] = "fr_en",
    output: Output = Path("kgalign-demo"),
    as_json: AsJson = False,
) -> None:
    """Align two bundled graphs of real facts: greedy, jointly, easy-to-hard, and both."""
    check_free(output)
    task, gold = read_demo(pair)
    console.print(f"World facts of Unicode CLDR, {pair.replace('_', '-')}: {size(task.source)} and {size(task.target)},")
    console.print(f"{len(task.seeds)} seeds, {len(gold)} test links, {task.protocol} protocol.")
    variants = (
        ("names alone", "names", "greedy", False),
        ("greedy", "fast", "greedy", False),
        ("easy-to-hard", "fast", "greedy", True),
        ("joint", "fast", "joint", False),
        ("both", "fast", "joint", True),
    )
    runs = {}
    for label, model, decoder, easy_to_hard in variants:
        with working(label):
            runs[label] = align(task, gold, model=model, decoder=decoder, easy_to_hard=easy_to_hard)
    figures = {label: run.metrics or {} for label, run in runs.items()}
    _show_table(figures, task.protocol, console if as_json else Console(highlight=False, markup=False))
    folder = write_run(runs["both"], output)
    if as_json:
        print_json({label: run.report() for label, run in runs.items()})
    console.print(f"The links of the last row are in {folder}/alignment.tsv; see how they came about in {folder}/report.html")


def _show_table(rows: Mapping[str, Mapping[str, Any]], protocol: str, out: Console) -> None:
    columns = ("hits@1", "precision", "recall", "f1", "many_to_one")
    table = Table(protocol, *(column.replace("_", " ") for column in columns))
    for label, figures in rows.items():
        table.add_row(label, *(f"{figures[column]:.3f}" for column in columns))
    out.print(table)
