"""The page of results is what its generator makes of results.jsonl."""

import json
import re
import shutil
from importlib.metadata import version

import pytest

from benchmarks import reading
from benchmarks.pages import PAGE, page
from benchmarks.plots import FOLDER, PLOTS, picture, write_plots
from benchmarks.results import RESULTS, ROOT
from kgalign.bench import TABLES, Plan
from kgalign.bench.results import CANONICAL, append
from kgalign.datasets import DEMOS

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


@pytest.fixture
def more_lines(tmp_path, monkeypatch):
    """The checked-in lines, and lines of two folds and of the canonical split as the command writes them."""
    data = tmp_path / "world"
    shutil.copytree(DEMOS / "fr_en", data)
    shutil.copytree(data / "721_5fold" / "1", data / "721_5fold" / "2")
    file = tmp_path / "results.jsonl"
    shutil.copy(RESULTS, file)
    lines = list(TABLES["table2"].measure(Plan(data, file, models=["names"], seeds=[0])))
    for line in lines[:4]:
        append({**line, "pair": "zh_en", "split": CANONICAL}, file)
    monkeypatch.setattr("benchmarks.results.RESULTS", file)
    return lines


def test_page_takes_up_folds_gains_rounds_and_reliability(more_lines):
    assert {line["split"] for line in more_lines} == {"fold 1", "fold 2"}
    text = page()
    folds = text.partition("## Other datasets")[2]
    assert "| names | 79.40 ± 0.00 |" in folds
    gains = text.partition("### What reasoning brings")[2]
    assert "| names-JEA | +9.11 [" in gains
    assert {name for name in PLOTS if picture(name)} == set(PLOTS)


def test_page_says_how_rdf_is_read_where_that_was_measured(tmp_path, monkeypatch):
    kept = [line for line in RESULTS.read_text("utf-8").splitlines(keepends=True) if json.loads(line)["experiment"] != "reading"]
    file = tmp_path / "results.jsonl"
    file.write_text("".join(kept), "utf-8")
    monkeypatch.setattr("benchmarks.results.RESULTS", file)
    assert "### Reading RDF" not in page()
    reading.measure(1000)
    rows = page().partition("### Reading RDF")[2].partition("\n\nMeasured on")[0].splitlines()[-3:]
    assert [row.split(" | ")[0] for row in rows] == [f"| {ending}, 1,000 statements" for ending in ("nt", "nt.gz", "ttl")]
    assert all(row.split(" | ")[2:5] == ["100", "794", "200"] for row in rows)


def test_every_picture_can_be_drawn(more_lines, tmp_path):
    pytest.importorskip("matplotlib")
    write_plots(tmp_path / "plots")
    assert {path.stem for path in (tmp_path / "plots").iterdir()} == set(PLOTS)


def test_pictures_are_made_from_the_lines(tmp_path):
    pytest.importorskip("matplotlib")
    for folder in (tmp_path / "once", tmp_path / "again"):
        write_plots(folder)
    for path in sorted((tmp_path / "once").iterdir()):
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
        if f"matplotlib=={version('matplotlib')}\n" in (ROOT / "constraints.txt").read_text("utf-8"):
            assert path.read_bytes() == (FOLDER / path.name).read_bytes()
