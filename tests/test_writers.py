import csv
import json
import time
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from conftest import candidates_of, graph, task_of

from kgalign import Alignment, OptionError, Reasoning, Run, align, write
from kgalign.registry import Registry
from kgalign.writers import WRITERS
from kgalign.writers.sameas import iri
from kgalign.writers.sssom import curie, prefixes_of

ALIGNMENT = "{http://knowledgeweb.semanticweb.org/heterogeneity/alignment}"
RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"


def cities():
    """Two links, one of them with everything that is hard to write, and an unmatched entity."""
    entities = [
        "http://zh.dbpedia.org/resource/哈佛大学",
        "http://zh.dbpedia.org/resource/AC/DC_(band)",
        "http://zh.dbpedia.org/resource/X",
    ]
    source = replace(graph(["哈佛大学", 'AC/DC "the\tband" & <co>', "X"]), entities=entities)
    target = replace(
        graph(["Harvard University", "AC/DC"]), entities=["http://dbpedia.org/resource/Harvard", "http://dbpedia.org/resource/A&B"]
    )
    pairs = Alignment(np.array([[0, 0], [1, 1]]), np.array([0.98, 0.5]), np.array([1, 0]), {"decoder": "joint"})
    return pairs, task_of(source, target)


def test_tsv_holds_names_and_probabilities(tmp_path):
    task = task_of(graph(["Rome", "Paris"]), graph(["Roma"]))
    write(Alignment(np.array([[0, 0]]), np.array([0.5]), np.array([2])), task, tmp_path / "links.tsv")
    header, row = (tmp_path / "links.tsv").read_text().splitlines()
    assert header.split("\t")[:2] == ["source", "target"]
    assert row.split("\t") == ["Rome", "Roma", "Rome", "Roma", "0.5000", "2", "easy-to-hard", "individual"]


def test_sameas_is_valid_ntriples():
    assert iri("http://x/a b<c>", "source") == "<http://x/a%20b%3Cc%3E>"
    assert iri("plain name", "target") == "<urn:kgalign:target:plain%20name>"
    assert iri("<http://x/é>", "source") == "<http://x/é>"
    assert iri("http://x/100%[a]%C3", "source") == "<http://x/100%25%5Ba%5D%C3>"


def test_unknown_endings_are_refused(tmp_path):
    with pytest.raises(OptionError, match=r"expected one of \.sssom\.tsv, \.tsv, \.nt"):
        write(Alignment.empty(), task_of(graph(["a"]), graph(["b"])), tmp_path / "links.xls")


def write_table(alignment, task, path):
    """A writer as another package might bring it."""
    path.write_text("".join(f"{source} {target}\n" for source, target in alignment.pairs.tolist()))


class TableEntryPoint:
    """What importlib.metadata finds of an installed package with the entry point `table.tsv`."""

    name = "table.tsv"

    def load(self):
        return write_table


def test_an_installed_package_adds_a_writer_by_an_entry_point(tmp_path, monkeypatch):
    monkeypatch.setattr("kgalign.registry.entry_points", lambda group: [TableEntryPoint()] if group == "kgalign.writers" else [])
    monkeypatch.setattr("kgalign.writers.WRITERS", Registry("writer", "kgalign.writers", WRITERS.built_in))
    alignment, task = cities()
    write(alignment, task, tmp_path / "links.table.tsv")
    assert (tmp_path / "links.table.tsv").read_text() == "0 0\n1 1\n", "the longest ending counts"
    write(alignment, task, tmp_path / "links.tsv")
    assert (tmp_path / "links.tsv").read_text("utf-8").startswith("source\ttarget\t")
    with pytest.raises(OptionError, match=r"\.parquet, \.table\.tsv"):
        write(alignment, task, tmp_path / "links.xls")


@pytest.mark.parametrize("ending", WRITERS)
def test_every_writer_writes_no_links_too(tmp_path, ending):
    write(Alignment.empty(), task_of(graph(["a"]), graph(["b"])), tmp_path / f"links.{ending}")
    assert (tmp_path / f"links.{ending}").is_file()


def small_run():
    cities = graph(["Rome", "Milan", "Italy"], [("Rome", "in", "Italy"), ("Milan", "in", "Italy")])
    return align(task_of(cities, cities, [(2, 2)]), Alignment(np.array([[0, 0], [1, 1]])), model="names", max_rounds=0)


def test_a_run_is_written_whole_and_replaced(tmp_path):
    run = small_run()
    for _ in range(2):
        folder = run.write(tmp_path / "run")
    assert {path.name for path in folder.iterdir()} == {
        "alignment.tsv", "alignment.sssom.tsv", "unmatched.tsv", "sameas.nt", "relations.tsv", "candidates.parquet", "evidence.parquet",
        "rounds.jsonl", "run.json", "report.html", "update.npz",
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
        small_run().write(tmp_path)
    assert (tmp_path / "run.json").read_text() == "{}"


def test_a_folder_that_is_no_run_is_not_touched(tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(OptionError, match="is not a run of kgalign"):
        small_run().write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["precious.txt", "run.json"]


def test_parquet_has_the_columns_of_the_tsv(tmp_path):
    alignment, task = cities()
    for ending in (".parquet", ".tsv"):
        write(alignment, task, tmp_path / f"links{ending}")
    table = pa.parquet.read_table(tmp_path / "links.parquet")
    assert table.column_names == (tmp_path / "links.tsv").read_text("utf-8").splitlines()[0].split("\t")
    assert table["source"].to_pylist() == [task.source.entities[0], task.source.entities[1]]
    assert table["decided_by"].to_pylist() == ["easy-to-hard", "joint"]


def test_oaei_alignment_reads_back(tmp_path):
    alignment, task = cities()
    write(alignment, task, tmp_path / "links.rdf")
    root = ElementTree.parse(tmp_path / "links.rdf").getroot()
    assert root.tag == f"{RDF}RDF"
    assert root.findtext(f"{ALIGNMENT}Alignment/{ALIGNMENT}type") == "11"
    cells = root.findall(f"{ALIGNMENT}Alignment/{ALIGNMENT}map/{ALIGNMENT}Cell")
    found = [
        (
            cell.find(f"{ALIGNMENT}entity1").get(f"{RDF}resource"),
            cell.find(f"{ALIGNMENT}entity2").get(f"{RDF}resource"),
            cell.findtext(f"{ALIGNMENT}relation"),
            float(cell.findtext(f"{ALIGNMENT}measure")),
        )
        for cell in cells
    ]
    assert found == [
        (task.source.entities[0], "http://dbpedia.org/resource/Harvard", "=", 0.98),
        (task.source.entities[1], "http://dbpedia.org/resource/A&B", "=", 0.5),
    ]


def test_oaei_says_when_links_are_not_one_to_one(tmp_path):
    write(Alignment(np.array([[0, 0], [1, 0]])), task_of(graph(["a", "b"]), graph(["c"])), tmp_path / "links.rdf")
    assert "<type>??</type>" in (tmp_path / "links.rdf").read_text()


def read_sssom(path):
    """The metadata lines and the rows of an SSSOM file, by hand."""
    lines = path.read_text("utf-8").splitlines()
    rows = csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t")
    return [line[1:] for line in lines if line.startswith("#")], list(rows)


def test_sssom_has_curies_confidence_and_unmatched_entities(tmp_path):
    alignment, task = cities()
    write(alignment, task, tmp_path / "links.sssom.tsv")
    metadata, rows = read_sssom(tmp_path / "links.sssom.tsv")
    assert '  source: "http://zh.dbpedia.org/resource/"' in metadata
    assert any(line.startswith("license: https://") for line in metadata)
    by_subject = {row["subject_id"]: row for row in rows}
    assert by_subject.keys() == {"source:%E5%93%88%E4%BD%9B%E5%A4%A7%E5%AD%A6", "source:AC/DC_(band)", "source:X"}
    harvard = by_subject["source:%E5%93%88%E4%BD%9B%E5%A4%A7%E5%AD%A6"]
    assert (harvard["object_id"], harvard["confidence"], harvard["mapping_cardinality"]) == ("target:Harvard", "0.98", "1:1")
    assert by_subject["source:AC/DC_(band)"]["subject_label"] == 'AC/DC "the band" & <co>'
    assert (by_subject["source:X"]["object_id"], by_subject["source:X"]["mapping_cardinality"]) == ("sssom:NoTermFound", "1:0")


def test_sssom_has_the_digits_of_the_table_of_links(tmp_path):
    alignment, task = cities()
    alignment = replace(alignment, scores=np.linspace(0.9998, 1, len(alignment)))
    write(alignment, task, tmp_path / "links.sssom.tsv")
    confidences = [row["confidence"] for row in read_sssom(tmp_path / "links.sssom.tsv")[1] if row["confidence"]]
    assert sorted(confidences) == ["0.9998", "1"]


def unmatched():
    """Two of three entities unmatched on either side, one of them without candidates."""
    task = task_of(graph(["Rome", "Paris", "Oslo"]), graph(["Roma", "Lutetia", "Bergen"]))
    return Alignment(np.array([[0, 0]])), task, candidates_of([[0.9, 0.1, 0], [0.2, 0.6, 0], [0, 0, 0]])


def test_sssom_has_unmatched_targets_too(tmp_path):
    alignment, task, _ = unmatched()
    write(alignment, task, tmp_path / "links.sssom.tsv")
    _, rows = read_sssom(tmp_path / "links.sssom.tsv")
    assert {(row["subject_id"], row["object_id"], row["mapping_cardinality"]) for row in rows} == {
        ("source:Rome", "target:Roma", "1:1"),
        ("source:Paris", "sssom:NoTermFound", "1:0"),
        ("source:Oslo", "sssom:NoTermFound", "1:0"),
        ("sssom:NoTermFound", "target:Lutetia", "0:1"),
        ("sssom:NoTermFound", "target:Bergen", "0:1"),
    }


def test_unmatched_entities_are_listed_with_their_best_candidate(tmp_path):
    alignment, task, candidates = unmatched()
    folder = Run(task, Reasoning(alignment, candidates)).write(tmp_path / "run")
    assert [line.split("\t") for line in (folder / "unmatched.tsv").read_text().splitlines()[1:]] == [
        ["source", "Paris", "Paris", "Lutetia", "Lutetia", "0.7500"],
        ["source", "Oslo", "Oslo", "", "", ""],
        ["target", "Lutetia", "Lutetia", "Paris", "Paris", "0.7500"],
        ["target", "Bergen", "Bergen", "", "", ""],
    ]


def test_sssom_prefixes_stay_few(tmp_path):
    source = graph(["a"] * 300)
    source = replace(source, entities=[f"http://x.org/{i}/thing" for i in range(300)])
    pairs = Alignment(np.column_stack([np.arange(300), np.arange(300)]))
    write(pairs, task_of(source, source), tmp_path / "links.sssom.tsv")
    metadata, rows = read_sssom(tmp_path / "links.sssom.tsv")
    assert sum(line.startswith("  ") for line in metadata) <= 5
    assert {row["subject_id"] for row in rows} == {f"source:{i}/thing" for i in range(300)}


@pytest.mark.parametrize("part", [":x", "/x", "x"])
def test_sssom_of_very_long_iris_is_written_quickly(part):
    addresses = [
        "http://y.org/" + part * (600_000 // len(part)),
        part[1:] * 600_000 + "x:",
        *(f"http://x{i}.org/a" for i in range(50)),
    ]
    began = time.process_time()
    prefixes = prefixes_of("source", addresses, {})
    curies = [curie(address, prefixes) for address in addresses]
    assert time.process_time() - began < 5
    assert len(set(curies)) == len(addresses)
    assert max(map(len, prefixes)) <= 1000


def test_sssom_of_a_namespace_for_each_entity_is_written_quickly():
    addresses = [f"http://{i}.org/a" for i in range(60_000)]
    began = time.process_time()
    prefixes = prefixes_of("source", addresses, {})
    assert time.process_time() - began < 5
    assert len(prefixes) == len(addresses)
    assert curie(addresses[7], prefixes) == f"{prefixes['http://7.org/']}:a"


def test_a_name_without_a_scheme_has_a_curie_too():
    assert curie("urn:kgalign:source:C#", {"urn:kgalign:source:": "source"}) == "source:C#"


def test_sssom_passes_its_reference_implementation(tmp_path):
    parsers = pytest.importorskip(
        "sssom.parsers", reason="sssom is not installed; it brings eighty packages with it, so it is not among ours"
    )
    validators = pytest.importorskip("sssom.validators")
    alignment, task = cities()
    write(alignment, task, tmp_path / "links.sssom.tsv")
    read = parsers.parse_sssom_table(str(tmp_path / "links.sssom.tsv"))
    assert len(read.df) == 3
    validators.validate(read, fail_on_error=True)


def test_sssom_passes_its_pydantic_implementation(tmp_path):
    sssom_pydantic = pytest.importorskip("sssom_pydantic", reason="sssom-pydantic is not installed")
    alignment, task = cities()
    write(alignment, task, tmp_path / "links.sssom.tsv")
    mappings, *_ = sssom_pydantic.read(tmp_path / "links.sssom.tsv")
    assert len(mappings) == 3
