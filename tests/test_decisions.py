"""Decisions of people: which of them stand, how they are kept, and what a task makes of them."""

import json
import os
import random
import signal
import time

import numpy as np
import pytest
from commands import QUICK, command, refused

from kgalign import DataError, align, demo, read
from kgalign.data import Alignment
from kgalign.decisions import Decision, Undo, not_undone, read_decisions, stand
from kgalign.readers.decided import Decided, with_decisions
from kgalign.review.log import DecisionLog

CITIES = ("Lisboa", "Porto", "Coimbra", "Braga", "Faro", "Setubal", "Aveiro", "Viseu")
BOTH = (True, True)


def made(*rows):
    """Decisions out of (author, source, target, verdict)."""
    return [
        Decision(f"r{number}", verdict, source, target, author) for number, (author, source, target, verdict) in enumerate(rows)
    ]


def test_the_last_decision_of_an_author_about_a_pair_stands():
    found = stand(made(("ann", "a", "x", "match"), ("ann", "a", "x", "no match")), BOTH)
    assert (list(found.matches), list(found.rejected), found.conflicts) == ([], [("a", "x")], [])


def test_another_candidate_replaces_the_first_one_and_is_no_conflict():
    found = stand(made(("ann", "a", "x", "match"), ("ann", "a", "y", "match")), BOTH)
    assert (list(found.matches), found.conflicts) == ([("a", "y")], [])


def test_two_people_who_disagree_are_a_conflict_and_the_later_one_stands():
    decisions = made(("ann", "a", "x", "match"), ("bob", "a", "x", "no match"), ("cid", "b", "y", "match"))
    found = stand(decisions, BOTH)
    assert (list(found.matches), list(found.rejected)) == ([("b", "y")], [("a", "x")])
    assert found.conflicts == [tuple(decisions[:2])]


def test_two_people_who_agree_are_no_conflict():
    found = stand(made(("ann", "a", "x", "match"), ("bob", "a", "x", "match")), BOTH)
    assert (len(found.matches), found.conflicts) == (1, [])


def test_a_target_that_two_sources_get_is_a_conflict_only_if_it_has_one_match_at_most():
    decisions = made(("ann", "a", "x", "match"), ("ann", "b", "x", "match"))
    assert (list(stand(decisions, BOTH).matches), len(stand(decisions, BOTH).conflicts)) == ([("b", "x")], 1)
    assert (len(stand(decisions, (True, False)).matches), stand(decisions, (True, False)).conflicts) == (2, [])


def test_a_source_without_a_counterpart_has_no_match_until_it_gets_one():
    alone = made(("ann", "a", "x", "match"), ("ann", "a", "", "no match"))
    assert (list(stand(alone, BOTH).matches), list(stand(alone, BOTH).alone)) == ([], ["a"])
    again = stand([*alone, Decision("later", "match", "a", "y", "ann")], BOTH)
    assert (list(again.matches), list(again.alone)) == ([("a", "y")], [])


def test_to_skip_says_nothing_and_who_is_unsure_contradicts_nobody():
    found = stand(made(("ann", "a", "x", "match"), ("ann", "a", "x", "skip"), ("bob", "a", "x", "unsure")), BOTH)
    assert (list(found.matches), list(found.unsure), found.conflicts) == ([("a", "x")], [], [])


def test_an_undo_takes_back_what_came_before_it_and_no_more():
    one, two = made(("ann", "a", "x", "match"), ("ann", "a", "x", "no match"))
    assert not_undone([one, two, Undo("u1", "r1", "ann")]) == [one]
    assert not_undone([one, Undo("u1", "r0"), Undo("u2", "r0")]) == []


def test_decisions_of_two_processes_come_together_in_one_file(tmp_path):
    one, other = (DecisionLog.open(tmp_path / "log.jsonl") for _ in range(2))
    one.add(made(("ann", "a", "x", "match")))
    assert [each.author for each in other.add([Decision("r9", "skip", "b", "y", "bob")])] == ["ann", "bob"]
    assert [each.author for each in one.refresh()] == ["bob"]
    assert one.entries == other.entries == read_decisions(tmp_path / "log.jsonl")


def test_every_decision_that_was_kept_survives_a_kill_at_any_moment(tmp_path):
    """The process says which decisions it has kept. After a kill, the file has all of these, each once, and at most one more."""
    chance, path = random.Random(0), tmp_path / "log.jsonl"
    kept = 0
    for _ in range(int(os.environ.get("KGALIGN_KILLS", "12"))):
        before = len(DecisionLog.open(path).entries)
        assert before in (kept, kept + 1)
        ours, theirs = os.pipe()
        child = os.fork()
        if not child:
            log = DecisionLog.open(path)
            for number in range(before, before + 100_000):
                log.add([Decision(f"r{number}", "match", f"a{number}", "x" * 500, "ann")])
                os.write(theirs, b".")
            os._exit(0)
        os.close(theirs)
        time.sleep(chance.uniform(0, 0.1))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        said = b""
        while block := os.read(ours, 1 << 16):
            said += block
        os.close(ours)
        kept = before + len(said)
    entries = DecisionLog.open(path).entries
    assert len(entries) in (kept, kept + 1)
    assert [each.id for each in entries] == [f"r{number}" for number in range(len(entries))]
    assert all(line.endswith("}") for line in path.read_text("utf-8").splitlines())


@pytest.fixture
def cities(tmp_path):
    """Two tables of the same cities."""
    for side, ending in (("left", ""), ("right", "e")):
        rows = "".join(f"{side}/{number},{city}{ending}\n" for number, city in enumerate(CITIES))
        (tmp_path / f"{side}.csv").write_text(f"id,name\n{rows}", "utf-8")
    return tmp_path / "left.csv", tmp_path / "right.csv"


def decided_file(folder, *rows):
    """A log of decisions of (source, target, verdict)."""
    path = folder / "log.jsonl"
    DecisionLog.open(path).add(made(*(("ann", *row) for row in rows)))
    return path


def test_decisions_become_seeds_rejected_pairs_and_sources_that_stay_unmatched(cities, tmp_path, caplog):
    rows = (
        ("left/0", "right/1", "match"),
        ("left/2", "right/2", "no match"),
        ("left/3", "", "no match"),
        ("gone", "right/5", "match"),
    )
    task, _ = read(*cities, decisions=decided_file(tmp_path, *rows))
    assert "1 of 4 decisions are left out, since an entity is not found" in caplog.text
    names = task.source.entities, task.target.entities
    pairs = [[(names[0][one], names[1][other]) for one, other in links.pairs.tolist()] for links in (task.seeds, task.rejected)]
    assert pairs == [[("left/0", "right/1")], [("left/2", "right/2")]]
    assert len(task.lessons) == 0
    run = align(task)
    linked = {source: target for source, target, _ in run.links}
    assert linked["left/4"] == "right/4"
    assert linked["left/0"] == "right/1", "what people have decided on is a link of the run, too"
    assert "left/3" not in linked
    assert linked.get("left/2") != "right/2"
    assert names[0].index("left/3") in task.unmatched(run.alignment)[0]


def test_strict_refuses_decisions_about_unknown_entities(cities, tmp_path):
    path = decided_file(tmp_path, ("gone", "right/5", "match"))
    with pytest.raises(DataError, match="decision 1: the source graph has no entity 'gone'"):
        read(*cities, decisions=path, strict=True)


def test_align_takes_decisions_and_says_so_in_its_record(cities, tmp_path, capsys):
    path = decided_file(tmp_path, ("left/0", "right/1", "match"))
    assert command("align", *cities, "--decisions", path, "-o", tmp_path / "run", *QUICK) == 0
    report = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert (report["seeds"], report["options"]["read"]["decisions"]) == (1, [str(path)])
    assert "no such file" in refused(
        capsys, "align", *cities, "--decisions", tmp_path / "none.jsonl", "-o", tmp_path / "other", *QUICK
    )
    assert not (tmp_path / "other").exists()


def test_seeds_that_a_decision_contradicts_are_left_out(cities):
    task, _ = read(*cities, seeds=[("left/0", "right/0"), ("left/1", "right/1")])
    ids = [{name: number for number, name in enumerate(graph.entities)} for graph in (task.source, task.target)]
    pair = Alignment(np.array([[ids[0]["left/0"], ids[1]["right/1"]]]))
    decided = with_decisions(task, Decided(pair, Alignment.empty(), np.empty(0, np.int64)))
    assert decided.seeds.pairs.tolist() == pair.pairs.tolist()
    assert ids[0]["left/1"] in decided.queries
    assert ids[1]["right/0"] in decided.pool


def test_the_entities_of_a_seed_that_is_rejected_are_aligned_again(cities, tmp_path):
    path = decided_file(tmp_path, ("left/0", "right/1", "no match"))
    task, _ = read(*cities, seeds=[("left/0", "right/1")], decisions=path)
    assert len(task.seeds) == 0
    assert len(task.queries) == len(task.pool) == len(CITIES)
    linked = {source: target for source, target, _ in align(task, model="names").links}
    assert linked["left/0"] == "right/0"


def test_chosen_seeds_teach_nothing_so_they_do_no_harm():
    """The hardest links of a run as seeds: what a model learnt from them would not fit the others."""
    task, gold = demo(protocol="open")
    links = task.seeds + gold
    whole = read_without_seeds(task)
    before = align(whole)
    order = np.argsort(before.alignment.scores)
    hard = before.alignment.where(order[:100])
    matches = hard.where(np.isin(hard.keys, links.keys))
    after = align(with_decisions(whole, Decided(matches, Alignment.empty(), np.empty(0, np.int64))))
    right = [int(np.isin((run.alignment + run.task.seeds).keys, links.keys).sum()) for run in (before, after)]
    assert right[1] >= right[0]


def read_without_seeds(task):
    from dataclasses import replace

    queries, pool = np.union1d(task.queries, task.seeds.sources), np.union1d(task.pool, task.seeds.targets)
    return replace(task, seeds=Alignment.empty(), queries=queries, pool=pool)
