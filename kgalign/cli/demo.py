"""The demo command: two bundled graphs, aligned in five ways."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from kgalign.align import align
from kgalign.cli.compiling import tell_of_compiling
from kgalign.cli.options import AsJson, Output
from kgalign.cli.printing import Screen, console, print_json, size, working
from kgalign.datasets import PAIRS
from kgalign.datasets import demo as read_demo
from kgalign.models import BASELINE, DEFAULT
from kgalign.reasoning import Rules
from kgalign.runs import check_free

MEANINGS = (
    "joint decides on all queries together, both does so from easy to hard; hits@1: queries linked to their right target; "
    "many to one: links that share their target with another"
)


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
    tell_of_compiling()
    plain = Rules(max_rounds=0)
    variants = {
        "names alone": (BASELINE, replace(plain, decoder="greedy")),
        "greedy": (DEFAULT, replace(plain, decoder="greedy")),
        "easy-to-hard": (DEFAULT, Rules(decoder="greedy")),
        "joint": (DEFAULT, plain),
        "both": (DEFAULT, Rules()),
    }
    runs = {}
    for label, (model, rules) in variants.items():
        with working(label):
            runs[label] = align(task, gold, model=model, rules=rules)
    figures = {label: run.metrics or {} for label, run in runs.items()}
    out = console if as_json else Screen()
    _show_table(figures, task.protocol, out)
    out.print(MEANINGS, soft_wrap=True)
    folder = runs["both"].write(output)
    if as_json:
        print_json({label: run.report() for label, run in runs.items()})
    console.print(f"The links of the last row are in {folder}/alignment.tsv; {folder}/report.html shows the evidence for each")
    console.print(f"next: {_activation()}kgalign info LEFT RIGHT, with two graphs of your own")


def _activation() -> str:
    """What to type first where the shell does not find the command, as after `make demo`."""
    script = Path(sys.executable).with_name("activate")
    if shutil.which("kgalign") or not script.is_file():
        return ""
    here = script.relative_to(Path.cwd()) if script.is_relative_to(Path.cwd()) else script
    return f". {shlex.quote(str(here))}, then "


def _show_table(rows: Mapping[str, Mapping[str, Any]], protocol: str, out: Console) -> None:
    columns = ("hits@1", "precision", "recall", "f1", "many_to_one")
    table = Table(protocol, *(column.replace("_", " ") for column in columns))
    for label, figures in rows.items():
        table.add_row(label, *(f"{figures[column]:.3f}" for column in columns))
    out.print(table)
