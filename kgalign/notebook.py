"""Small tables of HTML for objects that a notebook shows. They take their colours from the page, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

LINE = "1px solid rgba(128,128,128,.4)"
LONGEST = 80  # characters of a text in a cell


class Shown(NamedTuple):
    """An entity in a cell: its name, and its IRI in small letters below."""

    name: str
    iri: str


Cell = str | int | float | Shown


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[Cell]], note: str = "") -> str:
    """A table with a title above and a note below; all texts are escaped, whole numbers have commas, others three digits.

    Args:
        title: The title.
        header: The headings of the columns; none: no line of headings.
        rows: The cells of each row.
        note: A remark, empty for none.
    """
    cells = "".join(f'<th style="{_style(False)};border-bottom:{LINE}">{escape(text)}</th>' for text in header)
    head = f"<thead><tr>{cells}</tr></thead>" if header else ""
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    below = f'<div style="opacity:.75">{escape(note)}</div>' if note else ""
    table = f'<table style="border-collapse:collapse;margin:.3em 0">{head}<tbody>{body}</tbody></table>'
    return f'<div style="overflow-x:auto;margin:.4em 0"><div><b>{escape(title)}</b></div>{table}{below}</div>'


def _cell(value: Cell) -> str:
    is_number = isinstance(value, int | float)
    return f'<td style="{_style(is_number)}">{_content(value)}</td>'


def _content(value: Cell) -> str:
    match value:
        case Shown(name, iri):
            small = f'<span style="opacity:.65;font-size:85%">{escape(_cut(iri))}</span>'
            return f"{escape(_cut(name))}<br>{small}" if name and name != iri else escape(_cut(iri))
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.3f}"
    return escape(_cut(str(value)))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _style(is_number: bool) -> str:
    return f"text-align:{'right' if is_number else 'left'};vertical-align:top;padding:.2em .8em .2em .2em"
