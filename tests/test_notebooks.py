"""The notebooks of the docs run from top to bottom, and show what is stored in them.

After a change: `jupyter nbconvert --to notebook --execute --inplace docs/tutorials/two-data-frames.ipynb`.
"""

import ast
import json

import pytest
from test_docs import DOCS, is_like

from kgalign import Explanations

NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_shows_what_is_stored_in_it(path):
    variables = {"__name__": "__main__"}
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert cells
    for cell in cells:
        source = "".join(cell["source"])
        shown = run_cell(source, variables)
        stored = next(output["data"] for output in cell["outputs"] if output["output_type"] == "execute_result")
        most = 2 if isinstance(shown, Explanations) else None  # the entities; the evidence has many figures
        lines = "".join(stored["text/plain"]).splitlines()[:most]
        assert is_like(lines, repr(shown).splitlines()[:most]), f"{source}\nshows:\n{shown!r}"
        assert "<table" in shown._repr_html_()
        assert "<table" in "".join(stored["text/html"])


def test_the_notebook_links_every_film_that_both_frames_have():
    variables = {}
    for cell in json.loads((DOCS / "tutorials" / "two-data-frames.ipynb").read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            run_cell("".join(cell["source"]), variables)
    found = set(zip(variables["films"]["source"], variables["films"]["target"], strict=True))
    targets = ["7311", "7334", "7310", "7340", "7302", "7333", "7315", "7351", "7320", "7321", "7301"]
    assert found == {(f"A{number:02}", target) for number, target in enumerate(targets, start=1)}


def run_cell(source, variables):
    """Runs the code and returns the value of its last line."""
    *before, last = ast.parse(source).body
    assert isinstance(last, ast.Expr), "the last line of a cell is what it shows"
    exec(compile(ast.Module(before, []), "a cell", "exec"), variables)
    return eval(compile(ast.Expression(last.value), "a cell", "eval"), variables)
