"""A review in Python: what it hands out, what it keeps, and what decisions change."""

import json
import shutil
import time

import numpy as np
import pytest
from commands import command, refused

from kgalign import DataError, OptionError, align, read
from kgalign.datasets import DEMOS
from kgalign.decisions import CHECK, Decision, Undo, read_decisions
from kgalign.review import ReviewSession
from kgalign.review.log import DecisionLog


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The run of the demo."""
    folder = tmp_path_factory.mktemp("made") / "run"
    assert command("align", DEMOS / "fr_en", "-o", folder, "--max-rounds", "1") == 0
    return folder


@pytest.fixture
def folder(made, tmp_path):
    shutil.copytree(made, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def session(folder):
    with ReviewSession.open(folder) as session:
        yield session


def test_a_question_comes_again_until_its_author_has_decided_and_goes_to_nobody_else(session):
    ann, bob = session.next("ann"), session.next("bob")
    assert session.next("ann").pair == ann.pair != bob.pair
    session.decide("ann", *ann.pair, "match", "r1")
    assert session.next("ann").pair not in (ann.pair, bob.pair)
    session.decide("bob", *bob.pair, "skip", "r2")
    assert session.next("bob").pair != bob.pair


def test_an_item_has_what_a_reviewer_needs_and_is_json(session):
    item = session.next("ann").as_json()
    assert json.loads(json.dumps(item)) == item
    assert item["source"]["names"]
    assert [each["number"] for each in item["candidates"]] == list(range(1, len(item["candidates"]) + 1))
    assert item["target"]["iri"] in {each["target"] for each in item["candidates"]}
    assert item["contributions"]
    assert item["drawn"] == "queue"


def test_a_question_says_why_it_is_asked(session):
    reasons = []
    for number in range(20):
        item = session.next("ann")
        reasons.append((item.drawn, item.why))
        if "doubtful" in item.why.split(", "):
            assert 0.05 <= item.probability <= 0.95
        session.decide("ann", *item.pair, "match", f"r{number}")
    assert reasons[19] == (CHECK, "a random check of the probabilities")
    assert all(why and "random" not in why for drawn, why in reasons if drawn != CHECK)
    assert any("doubtful" in why for _, why in reasons)
    assert any("helps to decide" in why for _, why in reasons)
    assert session.item(item.pair[0]).why == ""  # opened by somebody


def test_any_pair_can_be_looked_at_also_one_that_was_no_candidate(session):
    rows = session.links(limit=2, sort="-probability")["rows"]
    stored = session.item(rows[0]["source"])
    assert (stored.target["iri"], stored.probability) == (rows[0]["target"], rows[0]["probability"])
    other = session.item(rows[0]["source"], rows[1]["target"])
    assert other.evidence is not None
    assert other.drawn == "search"
    with pytest.raises(DataError, match="the target graph has no entity 'http://nowhere/'"):
        session.item(rows[0]["source"], "http://nowhere/")


def test_a_hundred_decisions_are_undone_and_made_again_and_nothing_is_lost_or_twice(folder):
    with ReviewSession.open(folder) as session:
        asked = []
        for number in range(100):
            item = session.next("ann")
            asked.append(item.pair)
            for _ in range(2):  # a request that is repeated counts once
                session.decide("ann", *item.pair, ("match", "no match")[number % 2], f"r{number}")
        assert len(set(asked)) == 100
        before = session.summary().verdicts
        for number in range(100):
            for _ in range(2):
                assert session.undo("ann", f"u{number}").pair == asked[99 - number]
        assert session.undo("ann", "u100") is None
        assert session.summary().decided == 0
        for number, pair in enumerate(asked):
            session.decide("ann", *pair, ("match", "no match")[number % 2], f"again{number}")
        assert session.summary().verdicts == before
    entries = read_decisions(session.path)
    assert (len(entries), sum(isinstance(entry, Undo) for entry in entries)) == (300, 100)
    with ReviewSession.open(folder) as again:
        assert again.summary().verdicts == before
        assert again.next("ann").pair not in asked


def test_what_is_accepted_above_a_line_is_what_was_said_and_one_undo_takes_it_back(session):
    line, filters = 0.95, {"text": "e", "to": 0.999}
    said = session.above(line, filters)
    assert 0 < said["probably_wrong"] < said["links"]
    assert session.accept_above("ann", line, filters, "all") == session.accept_above("ann", line, filters, "all") == said["links"]
    assert session.above(line, filters)["links"] == 0
    assert session.summary().verdicts["match"] == said["links"]
    session.undo("ann", "u1")
    assert session.above(line, filters) == said


def test_half_of_a_batch_is_made_whole_when_the_request_is_repeated(folder):
    with ReviewSession.open(folder) as session:
        count = session.accept_above("ann", 0.9, None, "all")
    content = session.path.read_bytes()
    session.path.write_bytes(content[: len(content) // 2])  # as after a kill
    with ReviewSession.open(folder) as again:
        assert again.accept_above("ann", 0.9, None, "all") == count
        assert again.summary().verdicts["match"] == count
        again.undo("ann", "u1")
        assert again.summary().decided == 0


def test_people_who_disagree_are_listed(session):
    item = session.next("ann")
    session.decide("ann", *item.pair, "match", "r1")
    session.decide("bob", *item.pair, "no match", "r2", drawn="search")
    summary = session.summary().as_json()
    assert [each["author"] for each in summary["conflicts"][0]["decisions"]] == ["ann", "bob"]
    assert [each["standing"] for each in summary["conflicts"][0]["decisions"]] == [False, True]
    row = session.links({"verdict": "decided"})["rows"][0]
    assert (row["verdict"], row["author"], row["conflict"]) == ("no match", "bob", True)
    session.undo("bob", "u1")
    assert session.summary().conflicts == []


def test_another_candidate_is_a_match_and_the_link_of_the_run_none(session):
    item = session.next("ann")
    other = item.candidates[-1].target["iri"]
    session.decide("ann", item.pair[0], other, "match", "r1")
    rows = {(row["source"], row["target"]): row["verdict"] for row in session.links({"verdict": "decided"})["rows"]}
    assert rows[item.pair[0], other] == "match"
    assert rows[item.pair] == "no match"


def test_links_are_filtered_sorted_and_cut(session):
    everything = session.links(limit=10_000)
    probabilities = [row["probability"] for row in everything["rows"]]
    assert everything["total"] == len(probabilities)
    assert probabilities == sorted(probabilities)
    some = session.links({"from": 0.5, "to": 0.9}, limit=10_000)["rows"]
    assert some
    assert all(0.5 <= row["probability"] <= 0.9 for row in some)
    assert session.links(offset=5, limit=3)["rows"] == everything["rows"][5:8]
    texts = session.links({"text": "EURO"}, limit=100)["rows"]
    assert texts
    assert all("euro" in " ".join((row["source_name"], row["target_name"], row["source"])).lower() for row in texts)
    for wrong in ({"colour": "red"}, {"from": "high"}, {"verdict": "perhaps"}):
        with pytest.raises(OptionError, match="filters"):
            session.links(wrong)


def test_a_search_finds_entities_of_both_graphs_whole_names_first(session):
    found = session.search("euro")
    assert {row["side"] for row in found} == {"source", "target"}
    assert found[0]["source_name"].lower() == "euro"
    assert session.search(" ") == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("ann", "match", "", "r"), "a match needs a target"),
        (("ann", "perhaps", None, "r"), "expected one of match, no match"),
        (("", "match", None, "r"), "author"),
        (("ann", "match", None, ""), "request"),
        (("ann", "match", None, "r" * 201), "request"),
    ],
)
def test_a_bad_decision_is_refused_and_leaves_nothing(session, arguments, problem):
    author, verdict, target, request = arguments
    item = session.next("ann")
    with pytest.raises(OptionError, match=problem):
        session.decide(author, item.pair[0], item.pair[1] if target is None else target, verdict, request)
    assert session.path.read_bytes() == b""


def test_a_run_goes_on_from_decisions_and_those_made_meanwhile_are_kept(folder):
    with ReviewSession.open(folder) as session:
        assert not session.go_on()  # nothing is new
        first, second = session.next("ann"), session.next("bob")
        session.decide("ann", *first.pair, "no match", "r1")
        assert session.go_on()
        session.decide("bob", *second.pair, "match", "r2")
        changes = session.wait()
        assert (changes.error, changes.decisions) == ("", 1)
        assert changes.total >= 1
        assert str(changes).startswith("1 decision, ")
        assert "expected precision" in str(changes)
        assert session.summary().since_run == 1
        assert first.pair not in {
            (row["source"], row["target"]) for row in session.links({"verdict": "undecided"}, limit=10_000)["rows"]
        }
    report = json.loads((folder / "run.json").read_text("utf-8"))
    assert report["options"]["read"]["decisions"] == [str(session.path)]
    with ReviewSession.open(folder) as again:
        assert again.summary().since_run == 1
        assert again.summary().verdicts == {"match": 1, "no match": 1, "no match at all": 0, "unsure": 0}
    assert command("align", DEMOS / "fr_en", "--decisions", session.path, "-o", folder.parent / "new", "--max-rounds", "1") == 0


def test_a_run_goes_on_by_itself_after_so_many_decisions(folder):
    with ReviewSession.open(folder, every=3) as session:
        for number in range(3):
            session.decide("ann", *session.next("ann").pair, "match", f"r{number}")
        assert session.wait().decisions == 3


def test_a_run_in_memory_is_reviewed_and_goes_on_in_memory(tmp_path):
    task, _ = read(DEMOS / "fr_en")
    run = align(task, max_rounds=1)
    with ReviewSession.open(run, tmp_path / "log.jsonl") as session:
        item = session.next("ann")
        session.decide("ann", *item.pair, "no match", "r1")
        session.go_on()
        assert session.wait().error == ""
        assert session.made is not None
        assert item.pair not in {(source, target) for source, target, _ in session.made.links}


def test_a_run_that_cannot_go_on_says_why_and_the_review_does(folder, monkeypatch):
    with ReviewSession.open(folder) as session:
        monkeypatch.setattr("kgalign.review.going_on.align", lambda *_, **__: (_ for _ in ()).throw(OptionError("no room")))
        session.decide("ann", *session.next("ann").pair, "match", "r1")
        session.go_on()
        assert session.wait().error == "no room"
        assert session.next("ann") is not None


def test_random_checks_tell_precision_and_recall_with_an_interval(session):
    assert session.summary().estimate.precision is None
    for number in range(60):
        item = session.next("ann")
        session.decide("ann", *item.pair, "match", f"r{number}", item.drawn, item.probability)
    estimate = session.summary().estimate
    drawn = [each.drawn for each in read_decisions(session.path)]
    assert drawn.count(CHECK) == estimate.checked == 3
    value, low, high = estimate.precision
    assert 0.5 < low < value < high <= 1
    assert high - low > 0.02  # three checks say little


def test_decisions_are_exported_as_sssom_and_read_back(folder, tmp_path):
    sssom_pydantic = pytest.importorskip("sssom_pydantic", reason="sssom-pydantic is not installed")
    with ReviewSession.open(folder) as session:
        for number, verdict in enumerate(("match", "no match", "unsure", "skip")):
            session.decide("ann", *session.next("ann").pair, verdict, f"r{number}")
        session.decide("Béa Ö.", session.next("ann").pair[0], "", "no match", "r4")
        path = tmp_path / "decisions.sssom.tsv"
        assert session.export(path) == 4
        with pytest.raises(OptionError, match="exists already"):
            session.export(path)
    mappings, *_ = sssom_pydantic.read(path)
    assert len(mappings) == 4
    assert {each.justification.curie for each in mappings} == {"semapv:ManualMappingCuration"}
    assert sorted(each.predicate_modifier or "" for each in mappings) == ["", "", "", "Not"]
    assert [each.reviewer_agreement for each in mappings if each.reviewer_agreement is not None] == [0.0]
    assert all(each.mapping_date for each in mappings)
    tasks = [read(DEMOS / "fr_en", decisions=each)[0] for each in (path, session.path)]
    for name in ("seeds", "rejected"):
        one, other = (np.sort(getattr(task, name).keys).tolist() for task in tasks)
        assert one == other
    assert np.array_equal(tasks[0].types[0], tasks[1].types[0])


def test_the_queue_asks_what_is_doubtful_and_learns_from_answers(session):
    first = session.next("ann")
    rows = session.links({"from": 0.97}, limit=1)
    assert rows["total"] > 500
    assert first.probability < 0.97
    assert session.summary().decided == 0


def test_unknown_orders_are_refused(folder):
    with pytest.raises(OptionError, match="expected one of value, doubtful, random"):
        ReviewSession.open(folder, order="best")


def test_calls_are_quick(session):
    seconds = []
    for number in range(30):
        began = time.perf_counter()
        item = session.next("ann")
        session.decide("ann", *item.pair, "match", f"r{number}")
        session.links({"text": "a"})
        seconds.append(time.perf_counter() - began)
    assert np.median(seconds) < 0.5  # also on a machine that does much else


def test_decisions_about_entities_that_are_gone_are_kept_and_count_for_nothing(folder):
    with ReviewSession.open(folder) as session:
        DecisionLog.open(session.path).add([Decision("old", "match", "http://gone/", "http://gone/too", "ann")])
        assert session.summary().authors == {"ann": 1}
        assert session.next("ann") is not None
        session.decide("ann", *session.next("ann").pair, "match", "r1")
        session.go_on()
        assert session.wait().error == ""


@pytest.mark.parametrize("verdict", ["unsure", "skip"])
def test_what_an_author_leaves_to_others_is_asked_of_them_and_not_of_the_author(session, verdict):
    item = session.next("ann")
    session.decide("ann", *item.pair, verdict, "r1")
    assert session.next("ann").pair != item.pair
    assert session.next("bob").pair == item.pair
    session.undo("ann", "u1")
    session.decide("bob", *item.pair, "match", "r2")
    assert session.next("ann").pair != item.pair


def test_a_decision_about_an_entity_that_is_gone_is_taken_back(session):
    DecisionLog.open(session.path).add([Decision("old", "match", "http://gone/", "http://gone/too", "ann")])
    assert session.undo("ann", "u1").source == "http://gone/"
    assert session.undo("ann", "u2") is None


def test_a_decision_that_another_process_takes_back_at_the_same_time_is_taken_back_once(folder, monkeypatch):
    with ReviewSession.open(folder) as one, ReviewSession.open(folder) as other:
        one.decide("ann", *one.next("ann").pair, "match", "r1")
        other.summary()
        monkeypatch.setattr(DecisionLog, "refresh", lambda _: [])  # neither has heard of the other yet
        assert one.undo("ann", "u1") is not None
        assert other.undo("ann", "u2") is None
        assert other.summary().decided == 0


def test_a_question_that_somebody_else_has_by_now_does_not_come_back_with_an_undo(session):
    item = session.next("ann")
    session.decide("ann", *item.pair, "skip", "r1")
    assert session.next("bob").pair == item.pair
    session.undo("ann", "u1")
    assert session.next("ann").pair != item.pair == session.next("bob").pair


def test_a_check_that_is_answered_after_a_restart_counts_as_what_it_was(folder):
    with ReviewSession.open(folder) as session:
        link = session.links(limit=1)["rows"][0]
    with ReviewSession.open(folder) as again:
        again.decide("ann", link["source"], link["target"], "match", "r1", drawn=CHECK)
        assert again.summary().estimate.checked == 1
        assert again.summary().estimate.precision is not None
    assert read_decisions(again.path)[-1].linked is True


def test_a_check_of_which_nobody_knows_what_was_shown_is_left_out(session):
    item = session.next("ann")
    DecisionLog.open(session.path).add([Decision("r1", "match", *item.pair, "ann", drawn=CHECK)])
    assert session.summary().estimate.checked == 0


def test_a_log_that_is_removed_while_it_is_in_use_is_named_in_one_line(session):
    item = session.next("ann")
    session.path.rename(session.path.with_name("elsewhere"))
    for call in (lambda: session.decide("ann", *item.pair, "match", "r1"), lambda: session.next("ann"), session.summary):
        with pytest.raises(OptionError, match=r"decisions\.jsonl: is gone while it was in use; put it back"):
            call()
    assert not session.path.exists()
    session.path.with_name("elsewhere").rename(session.path)
    session.decide("ann", *item.pair, "match", "r1")
    assert session.summary().decided == 1


def test_decisions_of_others_are_known_also_if_an_own_one_could_not_be_kept(folder, monkeypatch):
    with ReviewSession.open(folder) as session:
        mine, theirs = session.next("ann"), session.next("bob")

        def full(handle, content):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(DecisionLog, "refresh", lambda _: [])  # it comes between two looks at the file
            DecisionLog.open(session.path).add([Decision("theirs", "match", *theirs.pair, "bob")])
            patched.setattr("kgalign.review.log.os.write", full)
            with pytest.raises(OptionError, match=r"could not be kept \(No space left on device\)"):
                session.decide("ann", *mine.pair, "match", "mine")
        assert session.summary().authors == {"bob": 1}


def test_a_command_exports_the_decisions_and_opens_nothing(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("kgalign.serve.opening.open_review", None)
    path = tmp_path / "decisions.sssom.tsv"
    assert "run.decisions.jsonl: no such file" in refused(capsys, "review", folder, "--export", path)
    with ReviewSession.open(folder) as session:
        pair = session.next("ann").pair
        session.decide("ann", *pair, "match", "r1")
        assert command("review", folder, "--export", path) == 0
        assert "1 decision in " in capsys.readouterr().err
        assert path.read_text("utf-8") == session.sssom()
        session.decide("ann", *session.next("ann").pair, "skip", "r2")
        assert command("review", folder, "--export", path, "--force") == 0
        assert "1 decision (1 skipped) in " in capsys.readouterr().err
    assert "exists already" in refused(capsys, "review", folder, "--export", path)
    assert command("review", folder, "--export", path, "--force") == 0
    assert len(read(DEMOS / "fr_en", decisions=path)[0].decided) == 1


def test_what_is_kept_up_to_date_is_what_a_review_finds_that_is_opened_anew(folder):
    chance = np.random.default_rng(0)
    with ReviewSession.open(folder) as session:
        rows = session.links(limit=100)["rows"]
        for number in range(200):
            one, other = (rows[place] for place in chance.integers(30, size=2))
            author, verdict = ("ann", "bob")[number % 2], ("match", "no match", "unsure", "skip")[chance.integers(4)]
            target = (one["target"], other["target"], "" if verdict == "no match" else one["target"])[chance.integers(3)]
            if chance.random() < 0.3:
                session.undo(author, f"u{number}")
            else:
                session.decide(author, one["source"], target, verdict, f"r{number}")
            if number == 100:
                session.accept_above("ann", 0.999, request="all")
        with ReviewSession.open(folder) as again:
            for get in (
                lambda each: sorted(each.links(limit=10_000)["rows"], key=lambda row: (row["source"], row["target"])),
                lambda each: each.summary().as_json(),
                lambda each: each.above(0.5),
                lambda each: each.search("e"),
            ):
                assert get(session) == get(again)
