"""Writes the cells of a notebook into its page when mkdocs builds the site, so that no copy can be out of date."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

PLACE = re.compile(r"<!-- notebook (\S+) -->")  # is replaced on the page


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The hook of mkdocs: the page with the cells in place of the marker."""
    folder = Path(page.file.abs_src_path).parent
    return PLACE.sub(lambda found: notebook_text(folder / found[1]), markdown)


def notebook_text(path: Path) -> str:
    """The cells as Markdown: texts, code, and the outputs below it."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return "\n\n".join(_cell(cell) for cell in cells)


def _cell(cell: dict[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    return "\n\n".join([f"```python\n{source}\n```", *map(_output, cell["outputs"])])


def _output(output: dict[str, Any]) -> str:
    """An output as HTML, on one line: Markdown would take an empty line for the end of it."""
    data = output.get("data", {})
    found = "".join(data["text/html"]) if "text/html" in data else f"<pre>{escape(''.join(data['text/plain']))}</pre>"
    return f"<div>{' '.join(found.split())}</div>"
