"""Links between individuals, classes, properties and concepts, in the files of a run and in Python."""

import csv
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from conftest import candidates_of, graph, task_of

from kgalign import Alignment, Reasoning, Run, align, write
from kgalign.data import CLASS, CONCEPT, INDIVIDUAL, PROPERTY
from kgalign.features.relations import RelationMatch
from kgalign.readers.candidates import read_alignments
from kgalign.runs import read_links

OWL, SKOS = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2004/02/skos/core#"
ALL_KINDS = [INDIVIDUAL, CLASS, PROPERTY, CONCEPT]
NAMES = ["Rome", "City", "located in", "capitals"]


def graph_of(place, names, kinds, triples=()):
    """A graph of entities of those kinds, with IRIs at that place."""
    plain = graph(names, triples)
    return replace(plain, entities=[f"http://{place}/{entity}" for entity in plain.entities], kinds=np.array(kinds, np.int8))


def linked(source_kinds, target_kinds, scores=None):
    """Entities of those kinds, the first linked to the first, the second to the second, and so on."""
    source, target = (
        graph_of(place, [f"e{number}" for number in range(len(kinds))], kinds)
        for place, kinds in (("left", source_kinds), ("right", target_kinds))
    )
    pairs = np.column_stack([np.arange(len(source_kinds)), np.arange(len(source_kinds))])
    return Alignment(pairs, scores), task_of(source, target)


def read_sssom(path):
    """The metadata and the rows of an SSSOM file, by hand."""
    lines = path.read_text("utf-8").splitlines()
    rows = csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t")
    return dict(line[1:].split(": ", 1) for line in lines if line.startswith("#") and ": " in line), list(rows)


def outside_run(known, target_kinds=ALL_KINDS, relations=(), known_scores=None):
    """A run in which only the first entity is a query and in the pool; the other links are confident evidence."""
    source, target = graph_of("left", NAMES, ALL_KINDS), graph_of("right", NAMES, target_kinds)
    task = replace(task_of(source, target), queries=np.array([0]), pool=np.array([0]))
    reasoning = Reasoning(
        Alignment(np.array([[0, 0]]), np.array([0.9])),
        candidates_of([[0.9]]),
        known=Alignment(np.array(known, np.int64).reshape(-1, 2), known_scores),
    )
    return Run(task, reasoning, relations=relations)


def rows_of(path):
    return [line.split("\t") for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("kinds", "predicate"),
    [
        ((INDIVIDUAL, INDIVIDUAL), f"{OWL}sameAs"),
        ((CLASS, CLASS), f"{OWL}equivalentClass"),
        ((PROPERTY, PROPERTY), f"{OWL}equivalentProperty"),
        ((CONCEPT, CONCEPT), f"{SKOS}exactMatch"),
        ((CLASS, CONCEPT), f"{SKOS}exactMatch"),
        ((CONCEPT, INDIVIDUAL), f"{SKOS}exactMatch"),
        ((CLASS, INDIVIDUAL), f"{OWL}sameAs"),
        ((PROPERTY, CLASS), f"{OWL}sameAs"),
    ],
)
def test_the_predicate_of_a_triple_fits_both_kinds(tmp_path, kinds, predicate):
    alignment, task = linked(*([kind] for kind in kinds))
    write(alignment, task, tmp_path / "links.nt")
    assert (tmp_path / "links.nt").read_text() == f"<http://left/e0> <{predicate}> <http://right/e0> .\n"


def test_each_triple_has_the_predicate_of_its_own_link(tmp_path):
    alignment, task = linked(ALL_KINDS, ALL_KINDS, np.array([0.9, 0.4, 0.9, 0.9]))
    write(alignment, task, tmp_path / "links.nt")
    assert [line.split(" ")[:2] for line in (tmp_path / "links.nt").read_text().splitlines()] == [
        ["<http://left/e0>", f"<{OWL}sameAs>"],
        ["<http://left/e2>", f"<{OWL}equivalentProperty>"],
        ["<http://left/e3>", f"<{SKOS}exactMatch>"],
    ]


def test_sssom_has_predicate_and_types_of_every_kind(tmp_path):
    alignment, task = linked([*ALL_KINDS, CONCEPT], [*ALL_KINDS, CLASS])
    write(alignment, task, tmp_path / "links.sssom.tsv")
    metadata, rows = read_sssom(tmp_path / "links.sssom.tsv")
    assert [(row["subject_id"], row["predicate_id"], row["subject_type"], row["object_type"]) for row in rows] == [
        ("source:e0", "owl:sameAs", "owl named individual", "owl named individual"),
        ("source:e1", "owl:equivalentClass", "owl class", "owl class"),
        ("source:e2", "owl:equivalentProperty", "rdf property", "rdf property"),
        ("source:e3", "skos:exactMatch", "skos concept", "skos concept"),
        ("source:e4", "skos:exactMatch", "skos concept", "owl class"),
    ]
    assert not {"subject_type", "object_type"} & metadata.keys(), "a type in the metadata would hold for every row"


def test_sssom_has_a_type_that_all_rows_share_in_the_metadata(tmp_path):
    alignment, task = linked([CLASS, CLASS], [CLASS, CONCEPT])
    write(alignment, task, tmp_path / "links.sssom.tsv")
    metadata, rows = read_sssom(tmp_path / "links.sssom.tsv")
    assert metadata["subject_type"] == "owl class"
    assert "object_type" not in metadata
    assert [("subject_type" in row, row["object_type"]) for row in rows] == [(False, "owl class"), (False, "skos concept")]


def test_sssom_has_the_kind_of_unmatched_entities(tmp_path):
    _, task = linked([CLASS, CONCEPT], [PROPERTY])
    write(Alignment.empty(), task, tmp_path / "links.sssom.tsv")
    _, rows = read_sssom(tmp_path / "links.sssom.tsv")
    assert {
        (row["subject_id"], row["object_id"], row["predicate_id"], row["subject_type"], row["object_type"]) for row in rows
    } == {
        ("source:e0", "sssom:NoTermFound", "owl:equivalentClass", "owl class", "owl class"),
        ("source:e1", "sssom:NoTermFound", "skos:exactMatch", "skos concept", "skos concept"),
        ("sssom:NoTermFound", "target:e0", "owl:equivalentProperty", "rdf property", "rdf property"),
    }


def test_sssom_of_every_kind_passes_its_pydantic_implementation(tmp_path):
    sssom_pydantic = pytest.importorskip("sssom_pydantic", reason="sssom-pydantic is not installed")
    alignment, task = linked([*ALL_KINDS, CLASS], ALL_KINDS)
    write(alignment.where(np.arange(4)), task, tmp_path / "links.sssom.tsv")
    mappings, *_ = sssom_pydantic.read(tmp_path / "links.sssom.tsv")
    types = pytest.importorskip("sssom_pydantic.constants").ENTITY_TYPE_REFERENCE_TO_LITERAL
    assert [(each.predicate.curie, types[each.subject_type], types[each.object_type]) for each in mappings] == [
        ("owl:sameAs", "owl named individual", "owl named individual"),
        ("owl:equivalentClass", "owl class", "owl class"),
        ("owl:equivalentProperty", "rdf property", "rdf property"),
        ("skos:exactMatch", "skos concept", "skos concept"),
        ("owl:equivalentClass", "owl class", "owl class"),
    ]


def test_sssom_of_every_kind_passes_its_reference_implementation(tmp_path):
    parsers = pytest.importorskip("sssom.parsers", reason="sssom is not installed")
    validators = pytest.importorskip("sssom.validators")
    alignment, task = linked(ALL_KINDS, ALL_KINDS)
    write(alignment, task, tmp_path / "links.sssom.tsv")
    read = parsers.parse_sssom_table(str(tmp_path / "links.sssom.tsv"))
    assert len(read.df) == 4
    validators.validate(read, fail_on_error=True)


@pytest.mark.parametrize("ending", ["tsv", "parquet"])
def test_tables_of_links_end_with_the_kind_of_the_source(tmp_path, ending):
    alignment, task = linked([*ALL_KINDS, CLASS], [*ALL_KINDS, CONCEPT])
    write(alignment, task, tmp_path / f"links.{ending}")
    if ending == "tsv":
        found = [row[-1] for row in rows_of(tmp_path / "links.tsv")]
    else:
        table = pa.parquet.read_table(tmp_path / "links.parquet")
        found = [table.column_names[-1], *table["kind"].to_pylist()]
    assert found == ["kind", "individual", "class", "property", "concept", "class"]


def test_links_with_kinds_read_back(tmp_path):
    alignment, task = linked(ALL_KINDS, ALL_KINDS, np.array([0.9, 0.8, 0.7, 0.6]))
    write(alignment, task, tmp_path / "alignment.tsv")
    assert read_links(tmp_path, task).scores.tolist() == [0.9, 0.8, 0.7, 0.6]
    links, gold = read_alignments(tmp_path / "alignment.tsv", tmp_path / "alignment.tsv")
    assert np.array_equal(links.pairs, gold.pairs)
    assert links.scores.tolist() == [0.9, 0.8, 0.7, 0.6]


def test_classes_that_were_evidence_only_are_in_classes_tsv(tmp_path):
    run = outside_run([(1, 1), (2, 2), (3, 3)], known_scores=np.array([0.97, 0.96, 0.95]))
    folder = run.write(tmp_path / "run")
    assert rows_of(folder / "classes.tsv") == [
        ["source", "target", "source_name", "target_name", "probability"],
        ["http://left/City", "http://right/City", "City", "City", "0.9700"],
    ]
    assert run.classes.pairs.tolist() == [[1, 1]]


def test_classes_of_the_alignment_are_in_classes_tsv(tmp_path):
    source, target = graph_of("left", NAMES, ALL_KINDS), graph_of("right", NAMES, ALL_KINDS)
    run = align(task_of(source, target), model="names", max_rounds=0)
    run.write(tmp_path / "run")
    in_alignment = [row[:5] for row in rows_of(tmp_path / "run" / "alignment.tsv") if row[-1] in ("kind", "class")]
    assert len(in_alignment) == 2
    assert rows_of(tmp_path / "run" / "classes.tsv") == in_alignment


@pytest.mark.parametrize(
    "run",
    [outside_run([]), outside_run([(2, 2), (3, 3)]), outside_run([(1, 1)], target_kinds=[INDIVIDUAL, CONCEPT, PROPERTY, CONCEPT])],
    ids=["no known link", "no class", "a class and a concept"],
)
def test_a_run_without_links_between_classes_has_no_classes_tsv(tmp_path, run):
    assert not len(run.classes)
    assert not (run.write(tmp_path / "run") / "classes.tsv").exists()


def test_a_run_with_classes_is_replaced_by_one_without(tmp_path):
    outside_run([(1, 1)]).write(tmp_path / "run")
    assert not (outside_run([]).write(tmp_path / "run") / "classes.tsv").exists()


def test_linked_properties_stand_beside_matching_relations(tmp_path):
    used = [
        RelationMatch("http://left/near", "http://right/near", False, 0.99),
        RelationMatch("http://left/in", "http://right/has", True, 0.5),
    ]
    run = outside_run([(1, 1), (2, 2)], relations=used, known_scores=np.array([0.97, 0.96]))
    assert rows_of(run.write(tmp_path / "run") / "relations.tsv") == [
        ["source", "target", "direction", "score", "probability"],
        ["http://left/near", "http://right/near", "same", "0.9900", ""],
        ["http://left/located_in", "http://right/located_in", "same", "", "0.9600"],
        ["http://left/in", "http://right/has", "inverse", "0.5000", ""],
    ]
    assert run.properties.pairs.tolist() == [[2, 2]]


def test_a_property_that_matches_in_both_ways_has_both_numbers(tmp_path):
    used = [
        RelationMatch("http://left/located_in", "http://right/located_in", False, 0.3),
        RelationMatch("http://www.w3.org/2000/01/rdf-schema#subClassOf", "http://right/part_of", False, 0.2),
    ]
    run = outside_run([(2, 2)], relations=used, known_scores=np.array([0.96]))
    assert rows_of(run.write(tmp_path / "run") / "relations.tsv")[1:] == [
        ["http://left/located_in", "http://right/located_in", "same", "0.3000", "0.9600"]
    ]
