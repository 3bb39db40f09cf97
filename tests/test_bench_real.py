"""Sets of real graphs: what counts as a link, what counts as right, and what a folder may look like."""

import json
from dataclasses import replace

import pytest
from test_cli import kgalign

from benchmarks.page.real_section import real_graphs
from benchmarks.results import Results
from kgalign import DataError, OptionError, align, read
from kgalign.bench import TABLES, Plan, check, planned_lines
from kgalign.bench.equal_names import match_equal_names, read_raw
from kgalign.bench.judging import Counts, judge
from kgalign.bench.real_sets import RealPair, TableFacts, find_sets

SOURCE = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://a/1> a <http://v/City> ; rdfs:label "Rome" ; <http://v/on> <http://a/4> .
<http://a/2> a <http://v/City> ; rdfs:label "Paris" .
<http://a/3> a <http://v/City> ; rdfs:label "Berlin" .
<http://a/4> a <http://v/River> ; rdfs:label "Rhine" .
"""
TARGET = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://b/1> a <http://v/City> ; rdfs:label "Rome"@it ; <http://v/on> <http://b/4> .
<http://b/2> a <http://v/City> ; rdfs:label "PARIS" .
<http://b/3> a <http://v/City> ; rdfs:label "Madrid" .
<http://b/4> a <http://v/River> ; rdfs:label "Rhine" .
"""
GOLD = (("http://a/1", "http://b/1"), ("http://a/3", "http://b/3"))
COUNTS = {"C": (3, 1, 0), "K": (2, 1, 1), "T": (1, 1, 2)}  # links of equal names that are judged, right, and not judged


def write_pair(folder, gold=GOLD):
    folder.mkdir(parents=True)
    (folder / "source.ttl").write_text(SOURCE, "utf-8")
    (folder / "target.ttl").write_text(TARGET, "utf-8")
    (folder / "gold.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in gold), "utf-8")


@pytest.fixture
def data(tmp_path):
    """A set judged C, a set that is not in sets.json, and one of two pairs."""
    folder = tmp_path / "sets"
    write_pair(folder / "whole")
    write_pair(folder / "part")
    write_pair(folder / "nested" / "first")
    write_pair(folder / "nested" / "second", GOLD[:1])
    facts = {
        "whole": {"judged": "C", "kind": "cities", "peer": 0.5, "peers": "Best One .4/.6/.5, Other .3"},
        "nested": {"judged": "K", "cardinality": "one-to-many"},
    }
    (folder / "sets.json").write_text(json.dumps(facts), "utf-8")
    return folder


@pytest.fixture
def plan(data, tmp_path):
    return Plan(data, tmp_path / "lines.jsonl", seeds=[0])


@pytest.fixture
def in_this_process(monkeypatch):
    """Work that would have a process of its own is done in this one, for speed, and nothing is compiled for the sake of measured seconds."""
    monkeypatch.setattr("kgalign.bench.real._compile_elsewhere", lambda: None)
    monkeypatch.setattr("kgalign.bench.real.in_own_process", lambda work, *arguments: work(*arguments))


def measured(plan):
    return list(TABLES["real"].measure(plan))


def by_set(lines, system):
    return {line["pair"]: line for line in lines if line["system"] == system}


@pytest.mark.parametrize("judged", COUNTS)
def test_links_are_judged_by_what_the_gold_is_about(tmp_path, judged):
    write_pair(tmp_path / "pair")
    (each,) = find_sets(tmp_path / "pair")
    raw = read_raw(each.pairs[0], each.table)
    links = match_equal_names(raw)
    assert sorted(link[:2] for link in links) == [(f"http://a/{number}", f"http://b/{number}") for number in (1, 2, 4)]
    scopes = [graph.scope({pair[side] for pair in GOLD}) for side, graph in enumerate(raw)]
    assert scopes[0] == {f"http://a/{number}" for number in (1, 2, 3)}
    counts = judge(links, GOLD, judged, scopes)
    assert (counts.links, counts.right, counts.not_judged) == COUNTS[judged]
    assert counts.gold == 2


def test_only_links_above_a_half_count_and_probabilities_say_how_many_are_right():
    links = [("http://a/1", "http://b/1", 0.95), ("http://a/3", "http://b/4", 0.7), ("http://a/2", "http://b/3", 0.5)]
    counts = judge(links, GOLD, "C")
    assert counts == Counts(gold=2, links=2, right=1, expected_right=pytest.approx(1.65), confident=1, confident_right=1)
    assert counts.metrics["precision"] == counts.metrics["recall"] == counts.metrics["f1"] == 0.5
    assert counts + counts == Counts(4, 4, 2, pytest.approx(3.3), 2, 2)
    assert Counts().metrics["f1"] == 0


@pytest.mark.slow
def test_a_set_has_an_own_line_for_equal_names_and_for_the_model(plan, in_this_process):
    lines = measured(plan)
    assert [(line["pair"], line["system"]) for line in lines] == [
        (name, system) for name in ("whole", "nested", "part") for system in ("equal names", "fast")
    ]
    names = {name: line["metrics"] for name, line in by_set(lines, "equal names").items()}
    assert names["whole"]["f1"] == pytest.approx(2 / 5)
    assert names["part"]["f1"] == pytest.approx(2 / 3), "T if nothing else is said"
    assert [names["nested"][name] for name in ("gold", "links", "right", "not_judged")] == [3, 4, 2, 2], "the sum of two pairs"
    facts = by_set(lines, "fast")["whole"]["options"]["set"]
    assert (facts["kind"], facts["judged"], facts["peer"], facts["peer_name"], facts["pairs"]) == (
        "cities",
        "C",
        0.5,
        "Best One",
        1,
    )
    assert measured(replace(plan)) == []
    assert len(planned_lines("real", replace(plan, models=["fast"], sets=["art"]))) == 2


def test_figures_of_the_model_are_those_of_its_links(plan, in_this_process):
    folder = plan.data / "whole"
    run = align(read(folder / "source.ttl", folder / "target.ttl")[0])
    scores = run.alignment.scores[run.alignment.scores > 0.5]
    assert len(scores)
    metrics = by_set(measured(replace(plan, sets=["whole"])), "fast")["whole"]["metrics"]
    assert metrics["links"] == len(scores)
    assert metrics["expected_right"] == pytest.approx(scores.sum(), abs=1e-5)
    assert metrics["right"] == 1


@pytest.mark.slow
def test_swapped_sets_are_lines_of_their_own_and_judged_by_the_same_gold(plan, in_this_process):
    given = by_set(measured(plan), "fast")
    lines = measured(replace(plan, swap=True))
    assert {line["protocol"] for line in lines} == {"swapped"}
    assert {line["system"] for line in lines} == {"fast"}, "equal names are measured once"
    swapped = by_set(lines, "fast")
    assert swapped["whole"]["metrics"]["right"] == given["whole"]["metrics"]["right"] == 1
    assert given["nested"]["options"]["cardinality"] == "one-to-many"
    assert swapped["nested"]["options"]["cardinality"] == "many-to-one"
    assert swapped["nested"]["options"]["set"]["cardinality"] == "one-to-many"


def test_a_file_that_cannot_be_read_counts_as_no_links(plan, in_this_process):
    (plan.data / "nested" / "first" / "source.ttl").write_bytes(b"")
    line = by_set(measured(replace(plan, sets=["nested"])), "fast")["nested"]
    assert line["metrics"]["error"].startswith("first/source.ttl: ")
    assert (line["metrics"]["gold"], line["metrics"]["right"]) == (3, 1)


def test_equal_names_know_name_nodes_groups_and_the_ends_of_iris(tmp_path):
    head = "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n@prefix : <http://{}/> .\n"
    source, target = tmp_path / "source.ttl", tmp_path / "target.ttl"
    source.write_text(
        head.format("a") + ':1 :hasSynonym <http://a/genid1> . <http://a/genid1> :label "Heart" . :Lung_Left :p :1 . '
        ':c a owl:Class ; :label "Knee" .',
        "utf-8",
    )
    target.write_text(head.format("b") + ':x :label "heart" . :lungLeft :p :x . :y :label "Knee" .', "utf-8")
    links = match_equal_names(read_raw(RealPair(source, target, GOLD), TableFacts()))
    assert sorted(link[:2] for link in links) == [("http://a/1", "http://b/x"), ("http://a/Lung_Left", "http://b/lungLeft")]


def test_a_name_that_is_unique_on_both_sides_goes_first(tmp_path):
    source, target = tmp_path / "source.nt", tmp_path / "target.nt"
    source.write_text('<http://a/1> <http://label> "x" .\n<http://a/2> <http://label> "x" .\n<http://a/2> <http://label> "y" .\n')
    target.write_text('<http://b/1> <http://label> "x" .\n<http://b/1> <http://label> "y" .\n')
    links = match_equal_names(read_raw(RealPair(source, target, GOLD), TableFacts()))
    assert [link[:2] for link in links] == [("http://a/2", "http://b/1")]


def test_rows_of_tables_are_linked_if_each_is_most_similar_to_the_other(tmp_path):
    (tmp_path / "source.csv").write_bytes("id|name\n1|red Café\n2|blue house\n3|nothing\n".encode("cp1252"))
    (tmp_path / "target.csv").write_text("key,name,place\na,house,blue\nb,the red café,Bonn\nc,red,Rome\n", "utf-8")
    pair = RealPair(tmp_path / "source.csv", tmp_path / "target.csv", GOLD)
    links = match_equal_names(read_raw(pair, TableFacts()))
    assert sorted(link[:2] for link in links) == [("1", "b"), ("2", "a")]


def test_names_that_break_the_rules_of_xml_are_read(tmp_path):
    text = (
        '<?xml version="1.0" encoding="ISO-8859-1"?><rdf:RDF xml:base="http://a/x" '
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:v="http://v#">'
        '<v:Shop rdf:ID="http://caf\u00e9.fr/1"><v:label>Caf\u00e9</v:label></v:Shop></rdf:RDF>'
    )
    for side in ("source", "target"):
        (tmp_path / f"{side}.rdf").write_bytes(text.encode("latin-1"))
    source, _ = read_raw(RealPair(tmp_path / "source.rdf", tmp_path / "target.rdf", GOLD), TableFacts())
    assert source.names == {"http://a/x#http://caf\u00e9.fr/1": {"cafe"}}


def test_a_missing_gold_file_is_named(plan):
    (plan.data / "part" / "gold.tsv").unlink()
    with pytest.raises(DataError, match=r"part/gold\.tsv: no such file; expected the gold links of part"):
        check("real", plan)
    check("real", replace(plan, sets=["whole"]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n"whole": {"judged": "C",}\n}', r"sets\.json:2: expected JSON, but"),
        ("[]", r"sets\.json: expected an object with the name of each set, found \[\]"),
        ('{"whole": {"judged": "X"}}', r'sets\.json: whole: judged: expected C, K, T, found "X"'),
        ('{"whole": {"peer": "high"}}', r'sets\.json: whole: peer: expected an F1 from 0 to 1, found "high"'),
        ('{"elsewhere": {}}', r"elsewhere: expected the files of a set that sets\.json lists, found none"),
    ],
)
def test_a_bad_list_of_sets_is_one_clear_line(plan, text, message):
    (plan.data / "sets.json").write_text(text, "utf-8")
    with pytest.raises(DataError, match=message) as raised:
        check("real", plan)
    assert "\n" not in str(raised.value)


def test_a_folder_without_sets_is_refused(plan, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no set in this folder; a set is a folder with source"):
        check("real", replace(plan, data=tmp_path / "empty"))
    with pytest.raises(OptionError, match=r"no set is called like x: .* has whole, nested, part"):
        check("real", replace(plan, sets=["x"]))


def test_the_page_has_a_row_for_each_set_and_says_what_is_not_measured(plan, in_this_process):
    assert real_graphs(Results(())) == ""
    measured(replace(plan, sets=["whole", "part"]))
    measured(replace(plan, sets=["whole"], swap=True))
    rows = [row.split(" | ") for row in real_graphs(Results.read(plan.results)).splitlines() if row.startswith("| ")]
    assert [row[0] for row in rows[2:]] == ["| whole", "| part", "| mean"]
    assert rows[2][1:5] == ["cities", "C", "0.400", "0.500 (Best One)"]
    assert rows[2][-1] == rows[2][7] + " |"
    assert rows[3][-1] == "not measured |"
    only_names = [line for line in Results.read(plan.results).lines if line["system"] == "equal names"]
    assert real_graphs(Results(tuple(only_names))).count("not measured") == 6


@pytest.mark.slow
def test_the_command_prints_equal_names_and_the_best_peer_beside_ours(plan, tmp_path):
    done = kgalign("bench", "real", "--data", plan.data, "--sets", "who", "--results", "lines", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 lines measured" in done.stderr
    (row,) = [line.split("│") for line in done.stdout.splitlines() if "whole" in line]
    assert [cell.strip() for cell in row[2:5]] == ["C", "0.400", "0.500"]
    lines = [json.loads(text) for text in (tmp_path / "lines").read_text("utf-8").splitlines()]
    assert [line["experiment"] for line in lines] == ["real", "real"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table2", "--swap"], "--swap goes with the table real, not with table2"),
        (["real", "--pairs", "whole"], "--pairs and --folds do not go with the table real: expected --sets"),
        (["real", "--sets", "x"], "no set is called like x"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(plan, arguments, message, tmp_path):
    done = kgalign("bench", *arguments, "--data", plan.data, cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr
