"""Splink beside the default model: what is measured, and what is said if it fails."""

import os
import time

import pytest

from benchmarks.measure.splink_tables import SPLINK, SPLINK_WORDS, TABLES, in_time, measure
from kgalign.bench.equal_names import EQUAL_NAMES
from kgalign.bench.real_sets import TableFacts
from kgalign.bench.results import read_lines
from kgalign.models import DEFAULT

WORDS = [
    "amber",
    "bitter",
    "cedar",
    "dune",
    "ember",
    "frost",
    "grove",
    "harbor",
    "ivory",
    "juniper",
    "kettle",
    "lantern",
    "meadow",
    "nectar",
    "orchid",
    "pepper",
    "quartz",
    "river",
]
MAKERS = ("north brewery", "south brewery", "east brewery")


@pytest.mark.slow
@pytest.mark.parametrize(("work", "said"), [((int, "x"), "ValueError"), ((os._exit, 3), "its process ended")])
def test_work_that_fails_is_an_error_on_one_line(work, said):
    found, error = in_time(60, *work)
    assert found is None
    assert error.startswith(said)


@pytest.mark.slow
def test_work_is_ended_after_its_time():
    assert in_time(60, int, "7") == (7, "")
    assert in_time(0.5, time.sleep, 60) == (None, "not done in 0.5 s")


@pytest.fixture
def beers(tmp_path):
    """Eighteen beers of two catalogues, the same ones but for one on each side, with an upper-case name and a price with a currency."""
    folder = tmp_path / "beers"
    folder.mkdir()
    names = [f"{one} {other}" for one, other in zip(WORDS, WORDS[1:] + WORDS[:1], strict=True)]
    source = [f"{number},{name},{MAKERS[number % 3]},{number + 2}.5" for number, name in enumerate(names[:-1])]
    target = [f"b{number},{name.upper()},{MAKERS[number % 3]},${number + 2}.5" for number, name in enumerate(names) if number]
    for side, rows in (("source", source), ("target", target)):
        (folder / f"{side}.csv").write_text("\n".join(["id,name,maker,price", *rows]) + "\n")
    (folder / "gold.tsv").write_text("".join(f"{number}\tb{number}\n" for number in range(1, len(names) - 1)))
    return folder


def test_splink_links_equal_rows(beers):
    pytest.importorskip("splink")
    from benchmarks.measure.splink_links import link_with_splink

    found = link_with_splink((beers / "source.csv", beers / "target.csv"), TableFacts(), False, 0)
    assert found.options["columns"] == {"name": "text", "maker": "text", "price": "number"}
    assert found.options["keys"] == ["name", "maker and price"]
    assert found.rows[0] == {str(number) for number in range(17)}
    assert found.links
    assert all(f"b{source}" == target and probability > 0.5 for source, target, probability in found.links)


@pytest.mark.slow
def test_every_system_has_a_line_of_a_set_of_tables(beers, tmp_path):
    file = tmp_path / "results.jsonl"
    measure(beers.parent, [], 100, file)
    lines = {line["system"]: line for line in read_lines(file, TABLES)}
    assert list(lines) == [EQUAL_NAMES, DEFAULT, SPLINK, SPLINK_WORDS]
    assert lines[EQUAL_NAMES]["metrics"]["f1"] == 1
    assert {line["metrics"]["gold"] for line in lines.values()} == {16}
    for system in (SPLINK, SPLINK_WORDS):
        metrics = lines[system]["metrics"]
        assert metrics["right"] > 8 if "error" not in metrics else "No module named" in metrics["error"]
