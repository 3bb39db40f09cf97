"""Writes the help of every command into docs/command-line.md when mkdocs builds the site, so that no copy can be out of date."""

from __future__ import annotations

from html import escape
from typing import Any

import typer.main

from kgalign.cli import app

PLACE = "<!-- commands -->"  # is replaced on the page


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The hook of mkdocs: the page with the commands in place of the marker."""
    return markdown.replace(PLACE, command_pages()) if PLACE in markdown else markdown


def command_pages() -> str:
    """A section for each command: what it does, how it is called, its arguments and its options."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return "\n\n".join(_section(name, command) for name, command in commands.items())


def _section(name: str, command: Any) -> str:
    context = command.context_class(command, info_name=f"kgalign {name}")
    usage = " ".join(command.get_usage(context).removeprefix("Usage:").split())
    rows = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    table = "\n".join(f"| <code>{_cell(call)}</code> | {_cell(meaning)} |" for call, meaning in filter(None, rows))
    return (
        f"## kgalign {name}\n\n{command.help}\n\n```text\n{usage}\n```\n\n| argument or option | meaning |\n| --- | --- |\n{table}"
    )


def _cell(text: str) -> str:
    """The text as one cell of a table."""
    return escape(" ".join(text.split())).replace("|", "&#124;")
