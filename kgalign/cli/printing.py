"""How all commands print: progress and errors to stderr, figures and JSON to stdout."""

from __future__ import annotations

import logging
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgalign.characters import json_text, shown
from kgalign.data import KnowledgeGraph
from kgalign.errors import one_line, short_lines
from kgalign.progress import LOG_EVERY, duration

INTERRUPTED = 130
FLAGS = {  # by the names that options have in Python, which the library writes in backticks
    "labels": "--label",
    "languages": "--lang",
    "names": "--no-names",
    "options": "--set",
    "limits": "--limit",
    "form": "--table or --triples",
    "id_column": "--id-source",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            "strict",
            "query",
            "seeds",
            "gold",
            "rejected",
            "types",
            "only_source",
            "only_target",
            "protocol",
            "cardinality",
            "names_source",
            "names_target",
            "id_source",
            "id_target",
            "classes",
            "encoder",
            "address",
            "load",
            "save",
            "resume",
            "plan",
            "data",
            "changed",
            "force",
        )
    },
}
SAID_BY_COMMANDS = ("kgalign.align", "kgalign.readers", "kgalign.reasoning.easy_to_hard", "kgalign.update")  # loggers
OPTION = re.compile(f"`({'|'.join(FLAGS)})`")


class Screen(Console):
    """A console that shows text as it is, markup and emoji codes included.

    Control characters are escapes, so that no terminal obeys them, and the middle of a long line is cut out.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(short_lines(shown(text.expandtabs())), **options)


console = Screen(stderr=True, soft_wrap=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner while the block runs, on a terminal; elsewhere a line now and then, as logs get."""
    if console.is_terminal:
        with console.status(what):
            yield
        return
    began, over = time.monotonic(), threading.Event()

    def tell() -> None:
        while not over.wait(LOG_EVERY):
            console.print(f"{what}, for {duration(time.monotonic() - began)} so far")

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def show_log() -> None:
    """Sends the log of the library, such as the epochs of a training, to stderr line by line; less what the commands say themselves."""
    handler = logging.Handler()
    handler.addFilter(lambda record: record.name not in SAID_BY_COMMANDS)
    handler.emit = lambda record: console.print(one_line(with_flags(record.getMessage())))  # type: ignore[method-assign]
    logging.getLogger("kgalign").addHandler(handler)
    logging.getLogger("kgalign").setLevel(logging.INFO)


def fail(message: str, status: int = 2) -> int:
    print(f"kgalign: {one_line(with_flags(message))}", file=sys.stderr)
    return status


def with_flags(message: str) -> str:
    """The message of the library with the flags of the command line in place of Python's option names."""
    return OPTION.sub(lambda found: FLAGS[found[1]], message)


def show_hints(hints: Iterable[str]) -> None:
    for hint in hints:
        console.print(with_flags(hint))


def is_interruption(error: BaseException) -> bool:
    """Whether an error is Ctrl-C, or what compiled code makes of it."""
    return isinstance(error, KeyboardInterrupt) or (isinstance(error, SystemError) and "exception set" in str(error))


def print_json(value: Any) -> None:
    print(json_text(value, indent=2))


def show_not_judged(figures: Mapping[str, Any]) -> None:
    """Says how many links no gold link can judge; they are not in the figures."""
    if figures["not_judged"]:
        console.print(
            f"{figures['not_judged']:,} of {figures['matched']:,} links touch no gold link, so they are not judged "
            "(kgalign evaluate --complete counts them as wrong)"
        )


def show_figures(figures: Mapping[str, Any]) -> None:
    table = Table("figure", "value")
    for name, value in figures.items():
        table.add_row(name.replace("_", " "), plain_text(value))
    Screen().print(table)


def plain_text(value: Any) -> str:
    if isinstance(value, list):
        return (" to " if all(isinstance(item, float) for item in value) else "\n").join(plain_text(item) for item in value)
    return f"{value:.4f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def size(graph: KnowledgeGraph) -> str:
    return f"{count(len(graph.entities), 'entity', 'entities')} with {count(len(graph.triples), 'triple')}"


def count(number: int, what: str, several: str = "") -> str:
    """A number of things in words, such as `1 link` or `2,000 links`."""
    return f"{number:,} {what if number == 1 else several or what + 's'}"
