import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from conftest import graph, task_of

from kgalign import Alignment, OptionError, align, demo, write, write_run
from kgalign.writers.sameas import iri


def test_tsv_holds_names_and_probabilities(tmp_path):
    task = task_of(graph(["Rome", "Paris"]), graph(["Roma"]))
    write(Alignment(np.array([[0, 0]]), np.array([0.5]), np.array([2])), task, tmp_path / "links.tsv")
    header, row = (tmp_path / "links.tsv").read_text().splitlines()
    assert header.split("\t")[:2] == ["source", "target"]
    assert row.split("\t") == ["Rome", "Roma", "Rome", "Roma", "0.5000", "2", "easy-to-hard"]


def test_sameas_is_valid_ntriples():
    assert iri("http://x/a b<c>", "source") == "<http://x/a%20b%3Cc%3E>"
    assert iri("plain name", "target") == "<urn:kgalign:target:plain%20name>"
    assert iri("<http://x/é>", "source") == "<http://x/é>"


def test_unknown_endings_are_refused(tmp_path):
    with pytest.raises(OptionError, match=r"expected one of \.tsv, \.nt"):
        write(Alignment.empty(), task_of(graph(["a"]), graph(["b"])), tmp_path / "links.xls")


def test_a_run_is_written_whole_and_replaced(tmp_path):
    run = align(*demo("fr_en"), easy_to_hard=False)
    for _ in range(2):
        folder = write_run(run, tmp_path / "run")
    assert {path.name for path in folder.iterdir()} == {
        "alignment.tsv", "sameas.nt", "relations.tsv", "candidates.parquet", "rounds.jsonl", "run.json",
    }  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    report = json.loads((folder / "run.json").read_text("utf-8"))
    assert report["metrics"]["hits@1"] == run.metrics["hits@1"]
    candidates = pa.parquet.read_table(folder / "candidates.parquet")
    assert candidates.column_names == ["source", "target", "score", "probability"]
    assert candidates.num_rows == (run.candidates.targets >= 0).sum()


def test_a_report_of_another_tool_is_not_replaced(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(OptionError, match="is not a run of kgalign"):
        write_run(align(*demo("fr_en"), easy_to_hard=False), tmp_path)
    assert (tmp_path / "run.json").read_text() == "{}"


def test_a_folder_that_is_no_run_is_not_touched(tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(OptionError, match="is not a run of kgalign"):
        write_run(align(*demo("fr_en"), easy_to_hard=False), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["precious.txt", "run.json"]
