"""The page of results is made from the lines of results.jsonl and is up to date."""

import json
import re
import shutil
from importlib.metadata import version

import pytest

from benchmarks.measure import reading
from benchmarks.measure.splink_tables import SPLINK, SPLINK_WORDS, TABLES
from benchmarks.page import PAGE, page
from benchmarks.page.own_sections import earlier_version
from benchmarks.page.plots import FOLDER, PLOTS, picture, write_plots
from benchmarks.page.web_page import WEB_PAGE, costs_of, web_page
from benchmarks.results import RESULTS, ROOT, Results
from kgalign.bench import TABLES as BENCH_TABLES
from kgalign.bench import Plan
from kgalign.bench.ablation import ablation_rows
from kgalign.bench.judging import Counts
from kgalign.bench.real import NO_SEEDS, OPEN
from kgalign.bench.results import CANONICAL, append, make_line
from kgalign.datasets import DEMOS
from kgalign.models import DEFAULT, make_model

KEYS = {
    "experiment", "system", "pair", "seed", "protocol", "split", "metrics", "seconds", "peak_mb", "hardware", "commit", "options",
}  # fmt: skip


def test_every_line_has_its_keys():
    for text in RESULTS.read_text("utf-8").splitlines():
        assert set(json.loads(text)) == KEYS


@pytest.fixture(scope="module")
def results():
    return Results.read()


def test_page_is_made_from_the_lines(results):
    assert PAGE.read_text("utf-8") == page(results)


def test_page_on_larger_graphs_is_made_from_the_lines(results):
    assert WEB_PAGE.read_text("utf-8") == web_page(results)


def test_costs_of_an_entity_are_those_of_the_larger_run_and_its_memory_is_what_it_has_more_than_the_smaller_one():
    search = {"step": "searching by name", "blocks": 2, "rows": 50, "seconds": 3.0, "shared_bytes": 4000, "result_bytes": 1000}
    metrics = {"entities": [100, 300], "peak_mb": 400, "cpu_seconds": 20.0, "searching_seconds": 3.0, "candidates_a_query": 50.0}
    larger = {"metrics": {**metrics, "rounds": 2, "searches": [search, {**search, "shared_bytes": 2000}]}}
    smaller = {"metrics": {**metrics, "entities": [50, 150], "peak_mb": 300}}
    larger["options"] = {"model_options": {"effort": 1000}}
    costs = costs_of(smaller, larger)
    assert (costs.cpu, costs.searching, costs.memory) == (0.1, 0.015, 2**20)
    assert costs.at_worst == 100 / 200 * 1000 * 1e-7
    assert (costs.vectors, costs.traffic, costs.lists) == (20, 30, 10)


def test_plots_of_the_page_exist_and_no_others(results):
    shown = set(re.findall(r"\(plots/(\w+)\.svg\)", page(results)))
    assert shown == {name for name in PLOTS if picture(name, results)} == {path.stem for path in FOLDER.glob("*.svg")}


def test_every_row_of_a_table_has_as_many_cells_as_its_header(results):
    for block in page(results).split("\n\n"):
        if block.startswith("|"):
            assert len({row.count(" | ") for row in block.splitlines()}) == 1, block.splitlines()[0]


def test_page_says_which_lines_are_of_another_version_than_the_default_model(results):
    present = results.of(DEFAULT)
    assert earlier_version(present[:1], results) == ""
    assert "(commit 0123abc)" in earlier_version([*present, {**present[0], "commit": "0123abc"}], results)


def test_lines_of_the_ablation_left_out_the_evidence_that_their_rows_leave_out(results):
    """A line is found by the name of its row, so it must be measured again if the order of the kinds of evidence changes."""
    parts = make_model(DEFAULT).capabilities.parts
    rows = ablation_rows(DEFAULT, parts)
    lines = [line for line in results.of("ablation") if line["system"] in rows and line["options"]["model"] == DEFAULT]
    present = {part for part in parts if any(line["system"] == f"everything without {part}" for line in lines)}
    assert len(present) > 3
    for line in lines:
        left_out = line["options"]["model_options"]["without"], rows[line["system"]].options.get("without", "")
        found, expected = (present.intersection(text.split(",")) for text in left_out)
        assert found == expected, line["system"]


def test_measured_rows_of_the_ablation_are_on_the_page(results):
    section = page(results).partition("### What each part brings")[2].partition("\n### ")[0]
    assert "| names only |" in section
    assert "| + all entities (everything) |" in section


@pytest.fixture
def more_results(tmp_path):
    """The checked-in lines, and lines of two folds and of the canonical split as the command writes them."""
    data = tmp_path / "world"
    shutil.copytree(DEMOS / "fr_en", data)
    shutil.copytree(data / "721_5fold" / "1", data / "721_5fold" / "2")
    file = tmp_path / "results.jsonl"
    shutil.copy(RESULTS, file)
    lines = list(BENCH_TABLES["table2"].measure(Plan(data, file, models=["names"], seeds=[0])))
    assert {line["split"] for line in lines} == {"fold 1", "fold 2"}
    for line in lines[:4]:
        append({**line, "pair": "zh_en", "split": CANONICAL}, file)
    return Results.read(file)


@pytest.mark.slow
def test_page_shows_folds_gains_rounds_and_reliability(more_results):
    text = page(more_results)
    folds = text.partition("## Other datasets")[2]
    hits = {line["system"]: 100 * line["metrics"]["hits@1"] for line in more_results.of_other_datasets("table2")}
    assert f"| names | {hits['names']:.2f} ± 0.00 |" in folds
    gains = text.partition("### What reasoning brings")[2]
    assert f"| names-JEA | {hits['names-JEA'] - hits['names']:+.2f} [" in gains
    assert {name for name in PLOTS if picture(name, more_results)} == set(PLOTS)


@pytest.mark.slow
def test_page_says_how_fast_rdf_is_read_if_that_was_measured(results, tmp_path):
    others = Results(tuple(line for line in results.lines if line["experiment"] != "reading"))
    assert "### Reading RDF" not in page(others)
    file = tmp_path / "results.jsonl"
    for line in others.lines:
        append(line, file)
    reading.measure(1000, file)
    rows = page(Results.read(file)).partition("### Reading RDF")[2].partition("\n\nMeasured on")[0].splitlines()[-3:]
    assert [row.split(" | ")[0] for row in rows] == [f"| {ending}, 1,000 statements" for ending in ("nt", "nt.gz", "ttl")]
    assert all(row.split(" | ")[2:5] == ["100", "794", "200"] for row in rows)


def test_page_shows_tables_beside_splink_if_it_was_measured(results, tmp_path):
    others = Results(tuple(line for line in results.lines if line["experiment"] != TABLES))
    assert "### Tables, beside Splink" not in page(others)
    file = tmp_path / "results.jsonl"
    for line in others.lines:
        append(line, file)
    right = Counts(gold=10, links=8, right=6, confident=5, confident_right=4).metrics
    failed = {**Counts(gold=10).metrics, "error": "films: not done in 600 s"}
    about = {"protocol": OPEN, "split": NO_SEEDS, "options": {"splink": "4.0", "duckdb": "2.0"}, "peak": 1234}
    append(make_line(TABLES, SPLINK, "films", right, seconds=2.5, **about), file)
    append(make_line(TABLES, SPLINK_WORDS, "films", failed, seconds=600, **about), file)
    text = page(Results.read(file)).partition("### Tables, beside Splink")[2].partition("\n#")[0]
    assert "| films | splink | 0.750 | 0.600 | 0.667 | 4 of 5 | 2.5 | 1,234 |" in text
    assert "- films, splink, words: films: not done in 600 s" in text
    assert "Splink 4.0 with DuckDB 2.0" in text


@pytest.mark.slow
def test_every_plot_can_be_drawn(more_results, tmp_path):
    pytest.importorskip("matplotlib")
    write_plots(more_results, tmp_path / "plots")
    assert {path.stem for path in (tmp_path / "plots").iterdir()} == set(PLOTS)


@pytest.mark.slow
def test_plots_are_made_from_the_lines(results, tmp_path):
    pytest.importorskip("matplotlib")
    for folder in (tmp_path / "once", tmp_path / "again"):
        write_plots(results, folder)
    for path in sorted((tmp_path / "once").iterdir()):
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
        if f"matplotlib=={version('matplotlib')}\n" in (ROOT / "constraints.txt").read_text("utf-8"):
            assert path.read_bytes() == (FOLDER / path.name).read_bytes()
