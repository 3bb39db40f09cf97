import numpy as np
from conftest import task_of
from test_cli import kgalign

from kgalign import Alignment, Attributes, KnowledgeGraph
from kgalign.merge import find_conflicts, merged, single_links, write_merged

NO_TRIPLES = np.empty((0, 3), np.int64)


def country(entities, capital, population):
    """A country, two cities, one of them its capital, and how many people live there."""
    attributes = Attributes(["people"], np.array([[0, 0]]), [population])
    return KnowledgeGraph(entities, ["capital"], np.array([[0, 0, capital]]), entities, attributes)


def everything(size):
    return Alignment(np.column_stack([np.arange(size), np.arange(size)]))


def test_linked_entities_become_one():
    task = task_of(country(["Italia", "Roma", "Milano"], 1, "59"), country(["Italy", "Rome", "Milan"], 1, "59"))
    quads = set(merged(task, everything(2)))
    same, capital = "<http://www.w3.org/2002/07/owl#sameAs>", "<urn:kgalign:relation:capital>"
    italy, rome = "<urn:kgalign:target:Italy>", "<urn:kgalign:target:Rome>"
    assert (italy, same, "<urn:kgalign:source:Italia>", "<urn:kgalign:links>") in quads
    assert (italy, capital, rome, "<urn:kgalign:source>") in quads
    assert (italy, capital, rome, "<urn:kgalign:target>") in quads


def test_triples_are_written_once_and_quads_once_a_graph(tmp_path):
    task = task_of(country(["Italia", "Roma", "Milano"], 1, "59"), country(["Italy", "Rome", "Milan"], 1, "59"))
    assert write_merged(merged(task, everything(3)), tmp_path / "all.nt") == 3 + 2
    assert write_merged(merged(task, everything(3)), tmp_path / "all.nq") == 3 + 4


def test_names_are_not_lost():
    left, right = (KnowledgeGraph([f"http://{side}/1"], [], NO_TRIPLES, [name]) for side, name in (("a", "Rome"), ("b", "Roma")))
    label, rome = "<http://www.w3.org/2000/01/rdf-schema#label>", "<http://b/1>"
    quads = set(merged(task_of(left, right), everything(1)))
    assert {(rome, label, '"Rome"', "<urn:kgalign:source>"), (rome, label, '"Roma"', "<urn:kgalign:target>")} <= quads


def test_contradictions_are_found():
    task = task_of(country(["Italia", "Roma", "Milano"], 1, "59"), country(["Italy", "Rome", "Milan"], 2, "60"))
    value, fact = find_conflicts(task, everything(3))
    assert (value.kind, value.entity, value.source, value.target) == ("value", "Italy", "59", "60")
    assert (fact.kind, fact.entity, fact.source, fact.target) == ("fact", "Italy", "Roma", "Milan")


def test_agreement_is_no_conflict():
    task = task_of(country(["Italia", "Roma", "Milano"], 1, "59"), country(["Italy", "Rome", "Milan"], 1, "59"))
    assert find_conflicts(task, everything(3)) == []


def test_the_surer_of_two_links_stands():
    task = task_of(*(KnowledgeGraph(["a", "b"], [], NO_TRIPLES, ["a", "b"]) for _ in range(2)))
    links, conflicts = single_links(Alignment(np.array([[0, 0], [1, 0]]), np.array([0.6, 0.9])), task, 0.5)
    assert links.pairs.tolist() == [[1, 0]]
    assert [each.kind for each in conflicts] == ["twice"]


def test_merge_from_the_command_line(tmp_path):
    (tmp_path / "left.tsv").write_text('Rome\tcapital of\tItaly\nParis\tcapital of\tFrance\nParis\tpeople\t"2"\n')
    (tmp_path / "right.tsv").write_text('Roma\tcapitale\tItalia\nParis\tcapitale\tFrance\nParis\tpeople\t"3"\n')
    assert kgalign("align", "left.tsv", "right.tsv", "-o", "run", cwd=tmp_path).returncode == 0
    done = kgalign("merge", "run", "-o", "all.nt", "--dry-run", cwd=tmp_path)
    assert "value: Paris people: 2 or 3" in done.stderr
    assert not (tmp_path / "all.nt").exists()
    done = kgalign("merge", "run", "-o", "all.nt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        "<urn:kgalign:target:Paris> <urn:kgalign:relation:capitale> <urn:kgalign:target:France> ."
        in (tmp_path / "all.nt").read_text()
    )
    assert "value\tParis" in (tmp_path / "all.conflicts.tsv").read_text()
    assert kgalign("merge", "run", "-o", "all.xls", cwd=tmp_path).returncode == 2
