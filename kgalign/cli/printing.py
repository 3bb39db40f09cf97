"""What all commands print with: progress and complaints to stderr, figures and JSON to stdout."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table

from kgalign.data import KnowledgeGraph

INTERRUPTED = 130
console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """A moving sign that something goes on, on a terminal only."""
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def show_log() -> None:
    """What a model tells while it trains goes to stderr, line by line."""
    handler = logging.Handler()
    handler.emit = lambda record: console.print(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("kgalign").addHandler(handler)
    logging.getLogger("kgalign").setLevel(logging.INFO)


def fail(message: str, status: int = 2) -> int:
    print(f"kgalign: {' '.join(message.split())}", file=sys.stderr)
    return status


def check_interrupted(error: BaseException) -> None:
    """Lets all pass on but interruptions, and what compiled code makes of them."""
    if isinstance(error, SystemError) and "exception set" not in str(error):
        raise error


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def show_not_judged(figures: Mapping[str, Any]) -> None:
    """Says how many links nobody can judge; those are not in the figures."""
    if figures["not_judged"]:
        console.print(
            f"{figures['not_judged']:,} of {figures['matched']:,} links touch no gold link: whether they are right is not known "
            "(kgalign evaluate --complete: the gold links are all there are)"
        )


def show_figures(figures: Mapping[str, Any]) -> None:
    table = Table("figure", "value")
    for name, value in figures.items():
        table.add_row(name.replace("_", " "), plain_text(value))
    Console(highlight=False, markup=False).print(table)


def plain_text(value: Any) -> str:
    if isinstance(value, list):
        return (" to " if all(isinstance(item, float) for item in value) else "\n").join(plain_text(item) for item in value)
    return f"{value:.4f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def size(graph: KnowledgeGraph) -> str:
    return f"{len(graph.entities):,} entities with {len(graph.triples):,} triples"
