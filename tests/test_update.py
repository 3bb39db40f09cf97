"""Updates: what is near a change is decided again, and everything else stays as it was."""

import os
import random
import signal
import time
from dataclasses import replace

import numpy as np
import pytest
from commands import command, refused
from conftest import graph, task_of

from kgalign import Alignment, KnowledgeGraph, OptionError, align, update
from kgalign.data import without_names
from kgalign.runs.folder import FILES, SOMETIMES
from kgalign.runs.hashes import GraphChange, GraphHashes

NAMES = ["Rome", "Paris", "Berlin", "Madrid", "Lisbon", "Vienna", "Warsaw", "Dublin", "Athens", "Prague", "Helsinki", "Budapest"]
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def circle(side, names=NAMES):
    """A graph in N-Triples whose entities have a name, and the next one as a neighbour."""
    lines = [f'<http://{side}/{name}> {LABEL} "{label}" .' for name, label in labels(names)]
    ids = [name for name, _ in labels(names)]
    return lines + [
        f"<http://{side}/{one}> <http://{side}/next> <http://{side}/{other}> ."
        for one, other in zip(ids, [*ids[1:], ids[0]], strict=True)
    ]


def labels(names):
    return [name if isinstance(name, tuple) else (name, name) for name in names]


def write(path, lines):
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def unlike_names(count):
    """Names that have little in common."""
    chance = random.Random(0)
    return ["".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(5)).title() for _ in range(count)]


def table(path):
    header, *rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    return [dict(zip(header, row, strict=True)) for row in rows]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two circles of cities, and a run of them."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.nt", circle("a"))
    write(tmp_path / "b.nt", circle("b"))
    assert command("align", "a.nt", "b.nt", "-o", "run") == 0
    return tmp_path


def changes_of(folder):
    return {row["source"].removeprefix("http://a/"): (row["change"], row["reason"]) for row in table(folder / "changes.tsv")}


def test_a_new_entity_gets_its_link_at_the_end_and_all_other_lines_stay(folder):
    write(folder / "a.nt", circle("a", [*NAMES, "Oslo"]))
    write(folder / "b.nt", circle("b", ["Oslo", *NAMES]))
    before = (folder / "run" / "alignment.tsv").read_text("utf-8")
    assert command("update", "run", "-o", "new") == 0
    after = (folder / "new" / "alignment.tsv").read_text("utf-8")
    assert after.startswith(before)
    assert [row["target"] for row in table(folder / "new" / "alignment.tsv")][-1] == "http://b/Oslo"
    assert changes_of(folder / "new") == {"Oslo": ("new", "source entity new")}


def test_an_entity_that_is_gone_leaves_its_match_alone(folder):
    write(folder / "b.nt", circle("b", [name for name in NAMES if name != "Vienna"]))
    assert command("update", "run", "--target", "b.nt") == 0
    assert changes_of(folder / "run")["Vienna"] == ("gone", "target entity gone")
    assert "Vienna" not in [row["source_name"] for row in table(folder / "run" / "alignment.tsv")]
    unmatched = [row["entity"] for row in table(folder / "run" / "unmatched.tsv")]
    assert unmatched == ["http://a/Vienna"]


def test_a_renamed_iri_counts_as_gone_and_new(folder):
    write(folder / "b.nt", circle("b", [("Wien", "Vienna") if name == "Vienna" else name for name in NAMES]))
    assert command("update", "run") == 0
    row = next(row for row in table(folder / "run" / "changes.tsv") if row["source_name"] == "Vienna")
    assert (row["change"], row["target"], row["target_before"]) == ("changed", "http://b/Wien", "http://b/Vienna")
    assert row["reason"] == "target entity gone"


def test_a_freed_target_goes_to_an_entity_that_could_not_have_it(folder):
    """Two sources are called Vienna; the one whose neighbours fit has the target, until it is gone."""
    write(folder / "a.nt", [*circle("a"), f'<http://a/Wien> {LABEL} "Vienna" .'])
    assert command("align", "a.nt", "b.nt", "-o", "run") == 0
    links = {row["source"]: row["target"] for row in table(folder / "run" / "alignment.tsv")}
    assert links["http://a/Vienna"] == "http://b/Vienna"
    assert "http://a/Wien" not in links
    write(folder / "a.nt", [*circle("a", [name for name in NAMES if name != "Vienna"]), f'<http://a/Wien> {LABEL} "Vienna" .'])
    assert command("update", "run") == 0
    links = {row["source"]: row["target"] for row in table(folder / "run" / "alignment.tsv")}
    assert links["http://a/Wien"] == "http://b/Vienna"
    assert changes_of(folder / "run")["Vienna"] == ("gone", "source entity gone")


def test_nothing_is_done_where_nothing_has_changed(folder, capsys):
    before = {path: path.stat().st_mtime_ns for path in (folder / "run").iterdir()}
    assert command("update", "run") == 0
    assert "nothing has changed" in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in (folder / "run").iterdir()} == before


def test_statements_in_another_order_change_nothing(folder):
    write(folder / "c.nt", sorted(circle("b"), reverse=True))
    before = (folder / "run" / "alignment.tsv").read_bytes()
    assert command("update", "run", "--target", "c.nt", "-o", "new") == 0
    assert (folder / "new" / "alignment.tsv").read_bytes() == before
    assert changes_of(folder / "new") == {}


def test_an_update_can_be_updated_again(folder):
    for names in ([*NAMES, "Oslo"], [*NAMES, "Oslo", "Bern"]):
        write(folder / "a.nt", circle("a", names))
        write(folder / "b.nt", circle("b", names))
        assert command("update", "run") == 0
    assert [row["source_name"] for row in table(folder / "run" / "alignment.tsv")] == [*NAMES, "Oslo", "Bern"]
    assert changes_of(folder / "run") == {"Bern": ("new", "source entity new")}
    page = " ".join((folder / "run" / "report.html").read_text("utf-8").split())
    assert "This run is an update of an earlier one: 14 queries in all" in page
    assert "Links: 1 new, 0 gone, 0 changed. All others are as they were" in page
    assert "all links at once" not in page


def test_decisions_stand_and_are_the_reason(folder):
    lines = [
        '{"id":"1","verdict":"no match","source":"http://a/Rome","target":"http://b/Rome","author":"ann"}',
        '{"id":"2","verdict":"match","source":"http://a/Paris","target":"http://b/Paris","author":"ann"}',
        '{"id":"3","verdict":"no match","source":"http://a/Berlin","target":"","author":"bob"}',
    ]
    write(folder / "run.decisions.jsonl", lines)  # where kgalign review keeps them
    assert command("update", "run") == 0
    assert changes_of(folder / "run") == {
        "Rome": ("gone", "decided by ann: not the same"),
        "Paris": ("given", "decided by ann: match"),
        "Berlin": ("gone", "decided by bob: no match at all"),
    }
    write(folder / "a.nt", circle("a", [*NAMES, "Oslo"]))
    assert command("update", "run") == 0
    linked = {row["source_name"]: row["decided_by"] for row in table(folder / "run" / "alignment.tsv")}
    assert not {"Rome", "Berlin"} & set(linked)
    assert linked["Paris"] == "person"
    assert command("update", "run", "--decisions", write(folder / "more.jsonl", lines[:1])) == 0
    assert "Rome" not in [row["source_name"] for row in table(folder / "run" / "alignment.tsv")]


def test_a_run_that_remembers_nothing_needs_its_graphs_as_they_were(folder, capsys):
    (folder / "run" / "update.npz").unlink()
    write(folder / "new.nt", circle("a", [*NAMES, "Oslo"]))
    assert command("update", "run", "--source", "new.nt", "-o", "next") == 0
    assert len(table(folder / "next" / "alignment.tsv")) == len(NAMES)
    write(folder / "a.nt", circle("a", [*NAMES, "Oslo"]))
    complaint = refused(capsys, "update", "run", "-o", "other")
    assert "a.nt: has changed (SHA-256 " in complaint
    assert "--changed" not in complaint  # which update does not have
    assert not (folder / "other").exists()


@pytest.mark.parametrize("model", ["names", "fast"])
def test_links_far_from_a_change_stay_exactly_as_they_were(model):
    names = unlike_names(144)
    ring = [(names[at], "next", names[(at + 1) % len(names)]) for at in range(len(names))]
    run = align(task_of(graph(names, ring), graph(names, ring)), model=model)
    other = [*names]
    other[70] = "something else"
    changed = graph(other, [(other[names.index(head)], relation, other[names.index(tail)]) for head, relation, tail in ring])
    found = update(run, target=changed)
    near = {names[at].replace(" ", "_") for at in range(66, 75)}
    before, after = ([link for link in each.links if link.source not in near] for each in (run, found))
    assert [(link.source, link.target, f"{link.probability:.4f}") for link in before] == [
        (link.source, link.target, f"{link.probability:.4f}") for link in after
    ]
    assert found.links[0].source == run.links[0].source
    assert {each.source for each in found.changes} <= near


def test_evidence_travels_from_what_is_new():
    """Names say nothing of b1, but its only neighbour a gets a name in both graphs."""
    source = graph(["Rome", "Paris", "Berlin", "?", "x"], [("Rome", "in", "Paris"), ("?", "part of", "x")])
    target = graph(["Rome", "Paris", "Berlin", "!", "y"], [("Rome", "in", "Paris"), ("!", "part of", "y")])
    run = align(task_of(source, target))
    named = [replace(each, names=["Rome", "Paris", "Berlin", "Reykjavik", other]) for each, other in ((source, "x"), (target, "y"))]
    found = update(run, task=task_of(*named))
    assert ("?", "!") in [(link.source, link.target) for link in found.links]


def test_an_update_finds_what_a_whole_run_finds():
    names = unlike_names(144)
    ring = [(names[at], "next", names[(at + 1) % len(names)]) for at in range(len(names))]
    run = align(task_of(graph(names[:-4], [each for each in ring if not set(each) & set(names[-4:])]), graph(names, ring)))
    task = task_of(graph(names, ring), graph(names, ring))
    found, whole = update(run, task=task), align(task)
    assert {link[:2] for link in found.links} == {link[:2] for link in whole.links}
    assert len(found.links) == len(names)


def test_seeds_that_are_new_are_evidence_and_no_queries():
    source = graph(["Rome", "x1", "x2"], [("Rome", "r", "x1"), ("x1", "r", "x2")])
    target = graph(["Rome", "y1", "y2"], [("Rome", "r", "y1"), ("y1", "r", "y2")])
    run = align(task_of(source, target))
    found = update(run, task=task_of(source, target, [(0, 0)]))
    assert 0 not in found.alignment.sources
    assert all(each.change != "new" or each.source != "Rome" for each in found.changes)


def test_rejected_pairs_do_not_come_back():
    source, target = graph(["Rome", "Paris"]), graph(["Rome", "Paris"])
    run = align(task_of(source, target))
    task = replace(task_of(source, target), rejected=Alignment(np.array([[0, 0]])))
    found = update(run, task=task)
    assert 0 not in found.alignment.sources
    assert next(each for each in found.changes if each.source == "Rome").reason == "pair rejected"
    again = update(found, source=graph(["Rome", "Paris", "Oslo"]))
    assert "Rome" not in [link.source for link in again.links]


@pytest.mark.parametrize("cardinality", ["one-to-many", "many-to-one", "many-to-many"])
def test_entities_with_several_links_are_updated_too(cardinality):
    source, target = graph(["Rome", "Paris", "Oslo"]), graph(["Rome", "Paris", "Oslo"])
    task = replace(task_of(source, target), cardinality=cardinality)
    run = align(task)
    more = graph(["Rome", "Paris", "Oslo", "Bern"])
    found = update(run, task=replace(task_of(more, more), cardinality=cardinality))
    assert {("Rome", "Rome"), ("Bern", "Bern")} <= {link[:2] for link in found.links}


@pytest.mark.slow
def test_a_model_that_trains_is_trained_again(caplog):
    pytest.importorskip("torch")
    ring = [(NAMES[at], "next", NAMES[(at + 1) % 12]) for at in range(12)]
    task = task_of(graph(NAMES, ring), graph(NAMES, ring), [(at, at) for at in range(10)])
    run = align(task, model="gcn_align", options={"epochs": 5})
    with caplog.at_level("INFO", "kgalign"):
        found = update(run, task=task)
    assert "trained again" in caplog.text
    assert found.options["model"] == "gcn_align"


def test_a_model_without_a_name_is_refused():
    class Mine:
        pass

    run = align(task_of(graph(["Rome"]), graph(["Rome"])), model="names")
    with pytest.raises(OptionError, match="no registered name"):
        update(replace(run, options={**run.options, "model": "Mine"}))


def test_broken_input_is_refused_in_one_line_and_writes_nothing(folder, capsys):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert "missing.nt" in refused(capsys, "update", "run", "--source", "missing.nt")
    assert "missing.jsonl" in refused(capsys, "update", "run", "--decisions", "missing.jsonl")
    assert "a.nt: exists and is not a run" in refused(capsys, "update", "run", "--source", "b.nt", "-o", "a.nt")
    assert "nowhere: no such run folder" in refused(capsys, "update", "nowhere")
    for name in ("update.npz", "candidates.parquet", "alignment.tsv"):
        whole = (folder / "run" / name).read_bytes()
        (folder / "run" / name).write_bytes(whole[: len(whole) // 2])
        assert name in refused(capsys, "update", "run", "--source", "b.nt", "-o", "new")
        (folder / "run" / name).write_bytes(whole)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="there is no fork")
def test_an_update_that_is_killed_leaves_the_earlier_run_or_the_new_one(folder):
    write(folder / "new.nt", circle("a", [*NAMES, "Oslo"]))
    write(folder / "b.nt", circle("b", [*NAMES, "Oslo"]))
    old = (folder / "run" / "alignment.tsv").read_bytes()
    chance, seen = np.random.default_rng(0), set()
    began = time.perf_counter()
    assert command("update", "run", "--source", "new.nt", "-o", "other") == 0
    seconds = time.perf_counter() - began
    new = (folder / "other" / "alignment.tsv").read_bytes()
    for _ in range(int(os.environ.get("KGALIGN_KILLS", "3"))):
        child = os.fork()
        if not child:
            os._exit(command("update", "run", "--source", "new.nt"))
        time.sleep(chance.uniform(0, seconds))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if (folder / "run").exists():  # otherwise it was killed between two moves, and the next command puts the new one in place
            assert {path.name for path in (folder / "run").iterdir()} | SOMETIMES == FILES
            seen.add((folder / "run" / "alignment.tsv").read_bytes())
    assert seen <= {old, new}
    assert command("update", "run", "--source", "new.nt") == 0
    assert (folder / "run" / "alignment.tsv").read_bytes() == new
    assert not list(folder.glob(".run-*"))


def test_hashes_do_not_depend_on_the_order_of_entities_and_statements():
    one = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "s", "c"), ("a", "age", 7)])
    other = KnowledgeGraph.from_triples([("b", "s", "c"), ("a", "age", 7), ("a", "r", "b")])
    change = GraphChange.between(GraphHashes.of(one), GraphHashes.of(other))
    assert not change.is_touched.any()
    assert [other.entities[at] for at in change.now] == list(one.entities)


@pytest.mark.parametrize(
    ("triples", "changed"),
    [
        ([("a", "r", "b"), ("b", "s", "c"), ("a", "age", 8)], {"a"}),
        ([("a", "r", "b"), ("b", "s", "c")], {"a"}),
        ([("b", "r", "a"), ("b", "s", "c"), ("a", "age", 7)], {"a", "b"}),
        ([("a", "r", "b"), ("b", "t", "c"), ("a", "age", 7)], {"b", "c"}),
        ([("a", "r", "b"), ("b", "s", "c"), ("a", "age", 7), ("d", "r", "b")], {"b", "d"}),
    ],
)
def test_entities_of_which_something_else_is_said_are_found(triples, changed):
    one = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "s", "c"), ("a", "age", 7)])
    other = KnowledgeGraph.from_triples(triples)
    change = GraphChange.between(GraphHashes.of(one), GraphHashes.of(other))
    assert {other.entities[at] for at in np.flatnonzero(change.is_touched)} == changed


def test_a_name_that_changes_changes_its_entity():
    one = KnowledgeGraph.from_triples([("a", "r", "b")], {"a": "Rome", "b": "Paris"})
    other = KnowledgeGraph.from_triples([("a", "r", "b")], {"a": "Roma", "b": "Paris"})
    assert GraphChange.between(GraphHashes.of(one), GraphHashes.of(other)).is_changed.tolist() == [True, False]
    assert not GraphChange.between(GraphHashes.of(without_names_of(one)), GraphHashes.of(without_names_of(other))).is_touched.any()


def without_names_of(one):
    return without_names(task_of(one, one)).source
