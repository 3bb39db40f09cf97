"""Queries and candidate pools: which entities of two graphs are aligned, and with which kinds."""

import numpy as np
import pytest

from kgalign import Alignment, AlignmentTask, KnowledgeGraph, read
from kgalign.data import CLASS, CONCEPT, INDIVIDUAL, KINDS, PROPERTY
from kgalign.features.constraints import compatible_kinds
from kgalign.readers.schema import is_ontology, schema_of, with_kinds

PREFIXES = """@prefix : <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
"""
TYPE, SUBCLASS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "http://www.w3.org/2000/01/rdf-schema#subClassOf"


def queries_of(folder, turtle, **options):
    """The last parts of the IRIs of the queries, and the record of the graph."""
    (folder / "g.ttl").write_text(PREFIXES + turtle, "utf-8")
    task, _ = read(folder / "g.ttl", folder / "g.ttl", **options)
    return {task.source.entities[query].rpartition("/")[2] for query in task.queries}, task.source.record


def test_all_classes_and_properties_of_an_ontology_are_queries(tmp_path):
    found, record = queries_of(
        tmp_path,
        ':A a owl:Class ; rdfs:label "a" ; rdfs:subClassOf :B , [ owl:onProperty :p ; owl:someValuesFrom :C ] . :B a owl:Class . '
        ":C a owl:Class . :p a owl:ObjectProperty ; rdfs:domain :A .",
    )
    assert found == {"A", "B", "C", "p"}
    assert "classes left out" not in record


def test_classes_of_a_graph_of_instances_are_left_out_and_counted(tmp_path):
    turtle = ':a a :A ; rdfs:label "a" . :b a :A ; :p :a . :c :p :b . :A a owl:Class ; rdfs:label "A" . :p a owl:ObjectProperty .'
    found, record = queries_of(tmp_path, turtle)
    assert (found, record["classes left out"]) == ({"a", "b", "c"}, 2)
    assert queries_of(tmp_path, turtle, classes=True)[0] == {"a", "b", "c", "A", "p"}


def test_concepts_are_queries_beside_individuals(tmp_path):
    found, _ = queries_of(tmp_path, ":a :about :c . :b :about :d . :c a skos:Concept ; skos:broader :d .")
    assert found == {"a", "b", "c", "d"}


def test_deprecated_entities_are_no_queries(tmp_path):
    found, record = queries_of(
        tmp_path, ':A a owl:Class ; rdfs:label "a" . :B a owl:Class ; rdfs:label "b" ; owl:deprecated true .'
    )
    assert (found, record["deprecated"]) == ({"A"}, 1)


def test_pages_and_entities_of_other_graphs_are_no_queries(tmp_path):
    found, _ = queries_of(
        tmp_path,
        ":a skos:exactMatch <http://y/a> , :b ; foaf:page <http://y/page> ; :r :leaf ; :about <http://y/b> . :b owl:sameAs <http://y/b> .",
    )
    assert found == {"a", "b", "leaf"}  # http://y/b has the last part b too: others than references lead to it


def test_a_graph_with_nothing_but_deprecated_entities_keeps_them(tmp_path):
    assert queries_of(tmp_path, ":A a owl:Class ; owl:deprecated true .")[0] == {"A"}


def table(rows):
    """A graph as tables of triples give it: without kinds."""
    entities = sorted({entity for head, _, tail in rows for entity in (head, tail)})
    relations = sorted({relation for _, relation, _ in rows})
    ids = [(entities.index(head), relations.index(relation), entities.index(tail)) for head, relation, tail in rows]
    return KnowledgeGraph(entities, relations, np.array(ids, np.int64).reshape(-1, 3), entities)


def test_a_table_tells_classes_by_their_relations():
    graph = table(
        [("a", TYPE, "A"), ("A", SUBCLASS, "B"), ("p", TYPE, "http://www.w3.org/2002/07/owl#ObjectProperty"), ("b", "r", "a")]
    )
    kinds = dict(zip(graph.entities, with_kinds(graph).kinds.tolist(), strict=True))
    assert [kinds[name] for name in "aAbBp"] == [INDIVIDUAL, CLASS, INDIVIDUAL, CLASS, PROPERTY]
    assert {graph.entities[entity] for entity in schema_of(graph)} == {
        "A",
        "B",
        "p",
        "http://www.w3.org/2002/07/owl#ObjectProperty",
    }


def test_a_class_of_a_table_with_other_triples_is_an_individual():
    graph = table([("Rex", TYPE, "Dog"), ("Dog", "eats", "Bone")])
    assert (with_kinds(graph), len(schema_of(graph))) == (graph, 0)


@pytest.mark.parametrize(("classes", "expected"), [(2, True), (1, False)])
def test_an_ontology_is_mostly_classes(classes, expected):
    rows = [*((f"C{i}", SUBCLASS, "Top") for i in range(classes)), ("a", "r", "b")]
    assert is_ontology(with_kinds(table(rows))) is expected


def task_of_kinds(source, target):
    """A task whose entities have these kinds, all of them queries or in the pool."""
    graphs = [
        KnowledgeGraph([f"{i}" for i in kinds], [], np.empty((0, 3)), ["" for _ in kinds], kinds=np.array(kinds))
        for kinds in (source, target)
    ]
    return AlignmentTask(*graphs, Alignment.empty(), np.arange(len(source)), np.arange(len(target)))


def pairs_of(task):
    """The pairs of different kinds that may match."""
    found = compatible_kinds(task)
    assert found.diagonal().all()
    return {(KINDS[one][0:2], KINDS[other][0:2]) for one, other in np.argwhere(found).tolist() if one != other}


def test_kinds_match_within_themselves():
    assert pairs_of(task_of_kinds([INDIVIDUAL, CLASS, PROPERTY, CONCEPT], [INDIVIDUAL, CLASS])) == set()


def test_kinds_that_only_one_graph_has_match_each_other():
    assert pairs_of(task_of_kinds([CONCEPT, INDIVIDUAL], [CLASS, INDIVIDUAL, PROPERTY])) == {("co", "cl")}
    assert pairs_of(task_of_kinds([CLASS, PROPERTY], [INDIVIDUAL])) == {("cl", "in")}


def test_compatible_kinds_are_the_same_from_either_side():
    one, other = [CONCEPT, INDIVIDUAL], [CLASS, PROPERTY]
    assert np.array_equal(compatible_kinds(task_of_kinds(one, other)), compatible_kinds(task_of_kinds(other, one)).T)


def test_only_entities_that_are_aligned_count_for_compatible_kinds():
    task = task_of_kinds([CONCEPT, CLASS], [CLASS])
    without = AlignmentTask(task.source, task.target, task.seeds, np.array([0]), task.pool)
    assert (pairs_of(task), pairs_of(without)) == (set(), {("co", "cl")})
