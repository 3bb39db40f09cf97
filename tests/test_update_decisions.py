"""Decisions of people when a run is updated, reviewed or made again: they stand, and those that were taken back do not."""

import json
from pathlib import Path

import pytest
from commands import QUICK, command

from kgalign import align, read, update
from kgalign.datasets import DEMOS
from kgalign.errors import DataError, OptionError
from kgalign.review import ReviewSession
from kgalign.runs import read_explanations, read_task

CITIES = ("Rome", "Paris", "Berlin", "Vienna", "Oslo", "Madrid", "Lisbon", "Dublin")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two tables of the same cities, s0 to s7 and t0 to t7."""
    monkeypatch.chdir(tmp_path)
    cities("left.csv", "s")
    cities("right.csv", "t")
    return tmp_path


def cities(name, letter, names=CITIES):
    rows = "".join(f"{letter}{number},{city}\n" for number, city in enumerate(names) if city)
    Path(name).write_text(f"id,name\n{rows}", "utf-8")


def log(name, *rows):
    """A file of decisions: (id, verdict, source, target), or the id of a decision that is taken back."""
    lines = [
        {"id": f"undo {row}", "undo": row, "author": "ann"}
        if isinstance(row, str)
        else dict(zip(("id", "verdict", "source", "target"), row, strict=True), author="ann")
        for row in rows
    ]
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return name


def named(task, links):
    return sorted((task.source.entities[one], task.target.entities[other]) for one, other in links.pairs.tolist())


def linked(run):
    return dict(named(run.task, run.alignment))


@pytest.fixture
def closed(folder):
    """A run in the closed protocol, of all cities but the last one."""
    (folder / "gold.tsv").write_text("".join(f"s{number}\tt{number}\n" for number in range(7)), "utf-8")
    assert command("align", "left.csv", "right.csv", "--gold", "gold.tsv", "--protocol", "closed", "-o", "run") == 0
    return folder / "run"


def test_matches_that_people_decided_on_stand_in_the_closed_protocol(closed):
    log("run.decisions.jsonl", ("1", "match", "s0", "t1"), ("2", "match", "s2", "t2"))
    found = update(closed)
    assert named(found.task, found.task.seeds) == [("s0", "t1"), ("s2", "t2")]
    assert (found.task.queries.tolist(), found.task.pool.tolist()) == ([1, 3, 4, 5, 6], [0, 3, 4, 5, 6])
    assert {"s0", "s2"}.isdisjoint(linked(found))
    assert {each.source: each.change for each in found.changes}["s2"] == "given"


def test_a_match_that_is_taken_back_is_aligned_again_in_the_closed_protocol(closed):
    log("run.decisions.jsonl", ("1", "match", "s0", "t1"))
    update(closed).write(closed)
    log("run.decisions.jsonl", ("1", "match", "s0", "t1"), "1")
    found = update(closed)
    assert found.task.queries.tolist() == found.task.pool.tolist() == list(range(7))
    assert linked(found)["s0"] == "t0"


@pytest.fixture
def run(folder):
    """An open run of all cities."""
    assert command("align", "left.csv", "right.csv", "-o", "run") == 0
    return folder / "run"


def test_a_review_after_an_update_knows_the_decisions_that_it_has_used(run):
    log("run.decisions.jsonl", ("1", "match", "s0", "t0"), ("2", "no match", "s1", "t1"))
    assert command("update", "run") == 0
    with ReviewSession.open(run) as session:
        assert session.summary().since_run == 0
        assert not session.go_on()
        session.decide("ann", "s2", "t2", "match", request="3")
        assert session.summary().since_run == 1
        session.undo("ann", "4")
        session.undo("ann", "5")  # which the run knows
        assert session.summary().since_run == 1


def test_a_review_of_a_run_that_was_aligned_with_decisions_knows_them(folder):
    log("run.decisions.jsonl", ("1", "match", "s0", "t0"))
    assert command("align", "left.csv", "right.csv", "--decisions", "run.decisions.jsonl", "-o", "run") == 0
    with ReviewSession.open(folder / "run") as session:
        assert session.summary().since_run == 0
        assert session.links({"verdict": "match"})["total"] == 1


def test_decisions_of_a_run_in_memory_are_known_after_an_update(folder):
    log("all.jsonl", ("1", "match", "s0", "t0"))
    run = update(align(read("left.csv", "right.csv")[0]), decisions="all.jsonl")
    with ReviewSession.open(run, "all.jsonl") as session:
        assert session.summary().since_run == 0


def test_a_closed_run_stays_closed_when_it_goes_on_from_decisions(closed):
    with ReviewSession.open(closed) as session:
        session.decide("ann", "s0", "t1", "match", request="1")
        session.go_on()
        assert session.wait().error == ""
        assert session.made.task.protocol == "closed"
        assert session.made.task.queries.tolist() == [1, 2, 3, 4, 5, 6]
        session.undo("ann", "2")
        session.go_on()
        assert session.wait().error == ""
        assert session.made.task.queries.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert json.loads((closed / "run.json").read_text("utf-8"))["protocol"] == "closed"


def test_an_open_run_of_a_dataset_folder_stays_open_when_it_is_read_again(tmp_path):
    folder = tmp_path / "run"
    assert command("align", DEMOS / "fr_en", "--protocol", "open", "-o", folder, *QUICK) == 0
    assert read_task(folder)[0].protocol == "open"
    with ReviewSession.open(folder) as session:
        session.decide("ann", *session.next("ann").pair, "match", request="1")
        session.go_on()
        assert session.wait().error == ""
        assert session.made.task.protocol == "open"


def test_decisions_stand_when_a_run_in_memory_gets_another_graph(folder):
    log("all.jsonl", ("1", "no match", "s0", ""), ("2", "match", "s1", "t2"), ("3", "no match", "s3", "t3"))
    run = align(read("left.csv", "right.csv", decisions="all.jsonl")[0])
    cities("more.csv", "s", [*CITIES, "Athens"])
    found = update(run, source="more.csv")
    assert named(found.task, found.task.seeds) == named(found.task, found.task.decided) == [("s1", "t2")]
    assert len(found.task.lessons) == 0
    assert "s0" not in linked(found)
    assert linked(found).get("s3") != "t3"
    assert linked(found)["s5"] == "t5"


def test_decisions_that_were_taken_back_count_for_nothing_when_a_run_in_memory_is_updated(folder):
    made = [("1", "match", "s0", "t3"), ("2", "no match", "s1", "t1"), ("3", "no match", "s2", ""), ("4", "match", "s4", "t4")]
    run = align(read("left.csv", "right.csv", decisions=log("all.jsonl", *made))[0])
    found = update(run, decisions=log("all.jsonl", *made, "1", "2", "3"))
    assert named(found.task, found.task.seeds) == [("s4", "t4")]
    assert len(found.task.rejected) == 0
    assert found.task.types is None
    assert linked(found) == {f"s{number}": f"t{number}" for number in range(8) if number != 4}


@pytest.fixture
def films(folder):
    """Two graphs of the same films."""
    for name, kind in (("left.ttl", "Film"), ("right.ttl", "Movie")):
        films = "".join(f'<x:{kind}{number}> a <x:{kind}> ; rdfs:label "{city}" .\n' for number, city in enumerate(CITIES))
        Path(name).write_text(f"@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n{films}", "utf-8")


@pytest.mark.parametrize("chosen", [{"types": {"x:Film": "x:Movie"}}, {"only_source": "x:Film1,x:Film2"}], ids=["types", "only"])
def test_a_run_in_memory_of_some_entities_gets_no_graph_of_which_it_does_not_know_them(films, chosen):
    run = align(read("left.ttl", "right.ttl", **chosen)[0])
    with pytest.raises(
        OptionError, match=r"aligns only some entities, such as those of certain `types`, .* expected the new `task`"
    ):
        update(run, source="left.ttl")
    found = update(run, task=read("left.ttl", "right.ttl", **chosen)[0])
    assert linked(found) == linked(run)
    assert linked(update(run)) == linked(run)


def test_an_entity_keeps_its_types_when_it_has_a_counterpart_again(films):
    made = ("1", "no match", "x:Film0", "")
    typed = {"types": {"x:Film": "x:Movie"}, "decisions": log("all.jsonl", made)}
    run = align(read("left.ttl", "right.ttl", **typed)[0])
    assert "x:Film0" not in linked(run)
    found = update(run, decisions=log("all.jsonl", made, "1"))
    assert linked(found)["x:Film0"] == "x:Movie0"
    assert [side.tolist() for side in found.task.types] == [
        side.tolist() for side in read("left.ttl", "right.ttl", types=typed["types"])[0].types
    ]


def test_decisions_that_an_update_is_not_told_of_stay(folder):
    run = align(read("left.csv", "right.csv", decisions=log("one.jsonl", ("1", "match", "s0", "t3")))[0])
    found = update(run, decisions=log("other.jsonl", ("2", "match", "s1", "t1")))
    assert named(found.task, found.task.seeds) == [("s0", "t3"), ("s1", "t1")]


def test_a_decision_that_a_run_in_memory_knows_is_taken_back_in_a_review(folder):
    run = update(align(read("left.csv", "right.csv")[0]), decisions=log("all.jsonl", ("1", "match", "s0", "t3")))
    with ReviewSession.open(run, "all.jsonl") as session:
        session.undo("ann", "2")
        session.go_on()
        assert session.wait().error == ""
        assert len(session.made.task.seeds) == 0
        assert linked(session.made)["s0"] == "t0"


def test_a_decision_about_an_entity_that_is_gone_is_no_reason(run):
    log("run.decisions.jsonl", ("1", "no match", "s0", "t99"), ("2", "no match", "s99", "t1"))
    cities("right.csv", "t", ["", *CITIES[1:]])
    found = update(run)
    assert [(each.change, each.source, each.reason) for each in found.changes] == [("gone", "s0", "target entity gone")]


def test_graphs_that_have_changed_places_are_a_change(run, capsys):
    assert command("update", "run", "--source", "left.csv", "--target", "right.csv") == 0
    assert "nothing has changed" in capsys.readouterr().err
    assert command("update", "run", "--source", "right.csv", "--target", "left.csv") == 0
    assert "nothing has changed" not in capsys.readouterr().err


def test_a_copy_of_a_graph_in_another_place_is_no_change(run, capsys):
    cities("copy.csv", "s")
    assert command("update", "run", "--source", "copy.csv") == 0
    assert "nothing has changed" in capsys.readouterr().err
    log("run.decisions.jsonl", ("1", "match", "s0", "t0"))
    assert command("update", "run", "--source", "copy.csv") == 0
    assert "nothing has changed" not in capsys.readouterr().err


def links_table(folder):
    """(source, target, probability, decided_by) of each line of alignment.tsv, in their order."""
    header, *lines = (folder / "alignment.tsv").read_text("utf-8").splitlines()
    rows = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]
    return [(row["source"], row["target"], row["probability"], row["decided_by"]) for row in rows]


def test_matches_that_people_decided_are_among_the_links_and_other_seeds_are_not(folder):
    log("all.jsonl", ("1", "match", "s0", "t1"))
    Path("seeds.tsv").write_text("s5\tt5\n", "utf-8")
    run = align(read("left.csv", "right.csv", seeds="seeds.tsv", decisions="all.jsonl")[0])
    run.write("run")
    assert [link.source for link in run.links].count("s0") == 1
    assert run.links[-1] == ("s0", "t1", 1.0)
    assert "s0" not in linked(run)
    report = run.report()
    assert (report["matched"], report["decided"]) == (len(run.links), 1)
    table = links_table(folder / "run")
    assert table[-1] == ("s0", "t1", "1.0000", "person")
    assert {"person"} not in [{row[3]} for row in table[:-1]]
    assert "s5" not in [row[0] for row in table]
    assert run.links.to_arrow()["decided_by"].to_pylist()[-1] == "person"
    by_hand = [line for line in (folder / "run" / "alignment.sssom.tsv").read_text("utf-8").splitlines() if "ManualMapping" in line]
    assert len(by_hand) == 1
    assert "source:s0\t" in by_hand[0]
    assert "urn:kgalign:source:s0> <" in (folder / "run" / "sameas.nt").read_text("utf-8")
    page = (folder / "run" / "report.html").read_text("utf-8")
    assert "and 1 match decided by people" in page
    assert "Rome = Paris" in page


def test_decided_links_keep_their_lines_and_stand_once_after_every_update(run):
    log("run.decisions.jsonl", ("1", "match", "s2", "t2"))
    assert command("update", "run") == 0
    first = links_table(run)
    assert first[-1] == ("s2", "t2", "1.0000", "person")
    changes = (run / "changes.tsv").read_text("utf-8").splitlines()
    assert [line.split("\t")[:2] for line in changes[1:]] == [["given", "s2"]]
    assert "\t1.0000\t" in changes[1]
    cities("left.csv", "s", [*CITIES, "Athens"])
    assert command("update", "run") == 0
    assert links_table(run) == first
    assert len((run / "changes.tsv").read_text("utf-8").splitlines()) == 1


def test_a_decided_link_that_is_taken_back_is_a_change(run):
    log("run.decisions.jsonl", ("1", "match", "s2", "t3"))
    first = update(run)
    assert {(each.source, each.change, each.target) for each in first.changes} >= {("s2", "changed", "t3")}
    first.write(run)
    log("run.decisions.jsonl", ("1", "match", "s2", "t3"), "1")
    found = update(run)
    assert ("s2", "changed", "t2", "t3") in [(each.source, each.change, each.target, each.target_before) for each in found.changes]
    assert [link.target for link in found.links if link.source == "s2"] == ["t2"]


def test_a_run_in_memory_and_its_folder_are_updated_alike(folder):
    log("all.jsonl", ("1", "match", "s0", "t1"))
    run = update(align(read("left.csv", "right.csv")[0]), decisions="all.jsonl")
    assert not update(run, decisions="all.jsonl").changes


def test_what_reads_the_links_again_takes_a_decided_link_once(folder, capsys):
    log("run.decisions.jsonl", ("1", "match", "s0", "t0"))
    assert command("align", "left.csv", "right.csv", "--decisions", "run.decisions.jsonl", "-o", "run") == 0
    assert "8 links in" in (said := capsys.readouterr().err)
    assert "1 of them decided by people" in said
    Path("gold.tsv").write_text("s0\tt0\ns1\tt1\n", "utf-8")
    assert command("evaluate", "run", "--gold", "gold.tsv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["gold"] == 1  # the other one was decided
    assert command("merge", "run", "-o", "all.nt") == 0
    assert "8 links join" in capsys.readouterr().err
    with ReviewSession.open(folder / "run") as session:
        rows = [row["source"] for row in session.links({})["rows"]]
        assert len(rows) == len(set(rows))
        assert session.next("bob").pair[0] != "s0"


def test_an_explanation_says_who_decided_on_a_match_and_when(folder, capsys):
    line = {"id": "1", "verdict": "match", "source": "s0", "target": "t1", "author": "ann", "at": "2026-11-19T08:00:00+00:00"}
    Path("run.decisions.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    assert command("align", "left.csv", "right.csv", "--decisions", "run.decisions.jsonl", "-o", "run") == 0
    capsys.readouterr()
    assert command("explain", "run", "Rome") == 2
    assert "ann decided on 2026-11-19 that it matches Paris" in " ".join(capsys.readouterr().err.split())
    Path("run.decisions.jsonl").unlink()
    with pytest.raises(DataError, match=r"a person decided that it matches Rome <s0>"):
        read_explanations("run", "t1")


def test_a_run_in_memory_says_that_a_person_decided_on_a_match(folder):
    run = align(read("left.csv", "right.csv", decisions=log("all.jsonl", ("1", "match", "s0", "t1")))[0])
    with pytest.raises(DataError, match=r"has a match that was given: a person decided that it matches Paris <t1>"):
        run.explain("s0")
