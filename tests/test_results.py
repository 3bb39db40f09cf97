"""The page of results is what its generator makes of results.jsonl."""

import json
import re
from importlib.metadata import version

import pytest

from benchmarks.pages import PAGE, page
from benchmarks.plots import FOLDER, PLOTS, picture, write_plots
from benchmarks.results import RESULTS, ROOT

KEYS = {
    "experiment", "system", "pair", "seed", "protocol", "split", "metrics", "seconds", "peak_mb", "hardware", "commit", "options",
}  # fmt: skip


def test_every_line_has_its_keys():
    for text in RESULTS.read_text("utf-8").splitlines():
        assert set(json.loads(text)) == KEYS


def test_page_is_made_from_the_lines():
    assert PAGE.read_text("utf-8") == page()


def test_pictures_of_the_page_are_there_and_no_others():
    shown = set(re.findall(r"\(plots/(\w+)\.svg\)", page()))
    assert shown == {name for name in PLOTS if picture(name)} == {path.stem for path in FOLDER.glob("*.svg")}


def test_every_row_of_a_table_has_as_many_cells_as_its_header():
    for block in page().split("\n\n"):
        if block.startswith("|"):
            assert len({row.count(" | ") for row in block.splitlines()}) == 1, block.splitlines()[0]


def test_pictures_are_made_from_the_lines(tmp_path):
    pytest.importorskip("matplotlib")
    for folder in (tmp_path / "once", tmp_path / "again"):
        write_plots(folder)
    for path in sorted((tmp_path / "once").iterdir()):
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
        if f"matplotlib=={version('matplotlib')}\n" in (ROOT / "constraints.txt").read_text("utf-8"):
            assert path.read_bytes() == (FOLDER / path.name).read_bytes()
