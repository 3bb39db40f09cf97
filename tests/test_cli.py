"""The command line as a user meets it: a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import QUICK

from kgalign.datasets import DEMOS

pytestmark = pytest.mark.slow  # a process for each command


def kgalign(*arguments, cwd):
    return subprocess.run([sys.executable, "-m", "kgalign", *map(str, arguments)], cwd=cwd, capture_output=True, text=True)


def write_pair(folder):
    (folder / "left.tsv").write_text("Rome\tcapital of\tItaly\nParis\tcapital of\tFrance\n")
    (folder / "right.tsv").write_text("Roma\tcapitale\tItalia\nParis\tcapitale\tFrance\n")
    (folder / "gold.tsv").write_text("Rome\tRoma\nItaly\tItalia\nFrance\tFrance\n")


def test_demo_shows_that_each_step_beats_greedy_and_says_what_is_next(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))  # where the shell does not find the command
    activate = Path(sys.executable).with_name("activate")
    done = kgalign("demo", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)
    hits = {name: run["metrics"]["hits@1"] for name, run in runs.items()}
    assert min(hits["easy-to-hard"], hits["joint"], hits["both"]) > hits["greedy"] > hits["names alone"]
    assert (tmp_path / "kgalign-demo" / "alignment.tsv").is_file()
    assert "many to one: links that share their target" in done.stderr
    assert done.stderr.splitlines()[-1].startswith(
        f"next: . {activate}, then kgalign info" if activate.is_file() else "next: kgalign info"
    )


def test_align_two_tables_with_nothing_else(tmp_path):
    write_pair(tmp_path)
    done = kgalign("align", "left.tsv", "right.tsv", "-o", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "run" / "alignment.tsv").read_text().splitlines()
    assert {tuple(line.split("\t")[:2]) for line in lines[1:]} >= {("Paris", "Paris"), ("France", "France")}


def test_the_first_run_says_that_it_compiles_and_later_ones_do_not(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "compiled"))
    write_pair(tmp_path)
    told = "the first run compiles code, which takes a minute or two"
    planned = [kgalign("info", "left.tsv", "right.tsv", "--plan", cwd=tmp_path).stdout]
    runs = [kgalign("align", "left.tsv", "right.tsv", *QUICK, "-o", name, cwd=tmp_path).stderr for name in ("one", "two")]
    planned.append(kgalign("info", "left.tsv", "right.tsv", "--plan", cwd=tmp_path).stdout)
    assert [told in text for text in (*runs, *planned)] == [True, False, True, False], (runs, planned)


def test_align_prints_machine_readable_figures(tmp_path):
    done = kgalign("align", DEMOS / "fr_en", "--json", "--bootstrap", 200, "--set", "k=5", "--set", "tau=0.1", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert {"protocol", "hits@1", "hits@10", "mrr", "precision", "recall", "f1", "hits@1_interval"} <= report["metrics"].keys()
    assert report["metrics"]["protocol"] == "closed"
    assert report["options"]["model_options"]["k"] == 5
    assert report["options"]["decoder_options"]["tau"] == 0.1
    assert report["metrics"] == json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))["metrics"]
    assert "round 1, " in done.stderr


def test_open_protocol_asks_more(tmp_path):
    done = kgalign("align", DEMOS / "fr_en", "--json", "--protocol", "open", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert report["metrics"]["protocol"] == "open"
    assert report["queries"] > 1000


def test_decode_and_evaluate_follow_an_alignment(tmp_path):
    (tmp_path / "scores.csv").write_text("a,x,0.6\na,y,0.4\nb,x,0.9\n")
    (tmp_path / "gold.csv").write_text("a,y\nb,x\n")
    done = kgalign("decode", "scores.csv", "--scores", "probability", "--gold", "gold.csv", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["metrics"]["hits@1"] == 1.0
    done = kgalign("evaluate", "run", "--gold", "gold.csv", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["f1"] == 1.0
    done = kgalign("decode", "scores.csv", "--scores", "probability", "--decoder", "dinf", "-o", "other", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = kgalign("evaluate", "other", "--gold", "gold.csv", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["hits@1"] == 0.5
    (tmp_path / "half.csv").write_text("b,x\n")
    done = kgalign("evaluate", "run", "--gold", "half.csv", cwd=tmp_path)
    assert "1 of 2 links touch no gold link" in done.stderr
    assert "not judged" in done.stdout


def test_gold_links_that_were_seeds_are_not_counted(tmp_path):
    write_pair(tmp_path)
    (tmp_path / "seeds.tsv").write_text("Rome\tRoma\n")
    (tmp_path / "all.tsv").write_text("Rome\tRoma\nItaly\tItalia\n")
    assert kgalign("align", "left.tsv", "right.tsv", "--seeds", "seeds.tsv", cwd=tmp_path).returncode == 0
    figures = json.loads(kgalign("evaluate", "run", "--gold", "all.tsv", "--complete", "--json", cwd=tmp_path).stdout)
    assert (figures["gold"], figures["complete"]) == (1, True)
    done = kgalign("evaluate", "run", "--gold", "seeds.tsv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "kgalign: seeds.tsv: no links besides the seeds; expected rows of source and target\n",
    )
    (tmp_path / "run" / "run.json").write_text("{")
    done = kgalign("evaluate", "run", "--gold", "all.tsv", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("kgalign: run/run.json: expected the JSON object")


def test_evaluate_leaves_out_the_gold_links_that_align_leaves_out(tmp_path):
    write_pair(tmp_path)
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    for name, lines in (("left", "<http://x/1> <%s> 'Rome'"), ("right", "<http://y/1> <%s> 'Roma'")):
        (tmp_path / f"{name}.ttl").write_text(lines % label + " , 'Caput mundi' .\n" + f"<http://z/2> <{label}> 'Oslo' .\n")
    (tmp_path / "gold.tsv").write_text("caput mundi\tRoma\nnonsense\tOslo\nOslo\tnobody\n")
    done = kgalign("align", "left.ttl", "right.ttl", "--gold", "gold.tsv", "--json", cwd=tmp_path)
    said = (
        "gold.tsv: 2 of 3 links are left out, since an entity is not found; the first: 2: the source graph has no entity 'nonsense'"
    )
    assert said in done.stderr
    assert json.loads(done.stdout)["metrics"]["gold"] == 1
    done = kgalign("evaluate", "run", "--gold", "gold.tsv", "--json", cwd=tmp_path)
    assert said in done.stderr
    assert json.loads(done.stdout)["gold"] == 1
    done = kgalign("evaluate", "run", "--gold", "gold.tsv", "--strict", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("kgalign: gold.tsv:2: the source graph has no entity 'nonsense'; expected")
    (tmp_path / "left.ttl").unlink()
    done = kgalign("evaluate", "run", "--gold", "gold.tsv", cwd=tmp_path)
    assert "run: only entities that were aligned are known, since the graphs cannot be read again" in done.stderr
    assert done.returncode == 2  # the run folder has no other names than those that are shown
    (tmp_path / "gold.tsv").write_text("http://x/1\thttp://y/1\n")
    done = kgalign("evaluate", "run", "--gold", "gold.tsv", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["gold"] == 1


def test_rounds_of_two_phases_have_one_end(tmp_path):
    (tmp_path / "left.tsv").write_text("Rome\tin\tItaly\nParis\tin\tFrance\nOslo\tin\tNorway\n")
    (tmp_path / "rejected.tsv").write_text("Rome\tParis\n")
    options = ["--only-source", "Rome", "--rejected", "rejected.tsv"]
    done = kgalign("align", "left.tsv", "left.tsv", *options, cwd=tmp_path)
    lines = done.stderr.splitlines()
    assert "0 seeds, 1 rejected pair, 1 query, 6 targets in the candidate pool (open protocol)" in lines
    first = lines.index("first phase: entities that are only evidence, and seeds that are held out, are matched too")
    last = lines.index("last phase: only the queries and the candidate pool")
    assert [line for line in lines if "; stopped: " in line] == [line for line in lines[last:] if "; stopped: " in line]
    assert lines[first + 1].startswith("round 1, 6 queries: ")
    assert sum("; stopped: " in line for line in lines) == 1
    assert any(line.startswith("1 link in ") for line in lines)


def test_info_has_no_figure_of_individuals_where_there_are_none(tmp_path):
    (tmp_path / "o.ttl").write_text(TURTLE + "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n:A a owl:Class ; rdfs:label 'a' .\n")
    seen = json.loads(kgalign("info", "o.ttl", "--json", cwd=tmp_path).stdout)["graph"]
    assert seen["individuals"] == 0
    assert "individuals with a label" not in seen


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no folder in which nobody can write")
def test_a_place_that_cannot_be_written_to_is_refused_before_the_work(tmp_path):
    write_pair(tmp_path)
    done = kgalign("align", "left.tsv", "right.tsv", "-o", "/proc/run", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("kgalign: /proc/run: nothing can be written there (")
    assert done.stderr.count("\n") == 1


def test_version_is_all_that_is_printed(tmp_path):
    done = kgalign("--version", "info", DEMOS / "zh_en", cwd=tmp_path)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)


def test_info_says_what_was_read(tmp_path):
    seen = json.loads(kgalign("info", DEMOS / "zh_en", "--json", cwd=tmp_path).stdout)
    assert seen["source"]["entities"] > 1300
    assert seen["source"]["names in Latin letters"] != "100%"
    write_pair(tmp_path)
    assert json.loads(kgalign("info", "left.tsv", "--json", cwd=tmp_path).stdout)["graph"]["triples"] == 2


def test_brackets_are_printed_as_they_are(tmp_path):
    (tmp_path / "left[a].tsv").write_text("Rome [/b]\tin\tItaly [it]\n")
    done = kgalign("info", "left[a].tsv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Rome [/b]; Italy [it]" in done.stdout
    done = kgalign("align", "left[a].tsv", "left[a].tsv", "-o", "run[/1]", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "reading left[a].tsv and left[a].tsv" in done.stderr


def test_nothing_found_is_exit_one_with_a_hint(tmp_path):
    (tmp_path / "left.tsv").write_text("猫\t是\t动物\n")
    (tmp_path / "right.tsv").write_text("cat\tis\tanimal\n")
    done = kgalign("align", "left.tsv", "right.tsv", cwd=tmp_path)
    assert done.returncode == 1
    assert "no links found" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["align", "nowhere"], "nowhere: no such file or folder"),
        (["align", "left.tsv", "empty.tsv"], "empty.tsv: the graph is empty"),
        (["align", "left.tsv", "http://x.org/a.ttl"], "nothing is fetched from the web: download the file first, or put sparql+"),
        (["align", "left.tsv", "right.tsv", "--gold", "empty.tsv"], "empty.tsv: no links in this file"),
        (["merge", "run", "-o", "nowhere/all.nt"], "nowhere/all.nt: no such folder; expected a file in a folder that exists"),
        (["evaluate", "left.tsv", "--gold", "gold.tsv"], "left.tsv: no link has a target of the gold links"),
        (["align", "left.tsv", "right.tsv", "--seeds", "two.tsv"], "two.tsv:1: expected 2 fields, found 1"),
        (
            ["align", "left.tsv", "right.tsv", "--seeds", "torn.tsv"],
            "torn.tsv:2: the source entity 'Rome' is linked on line 1 already",
        ),
        (["align", "short.tsv", "right.tsv"], "short.tsv:1: expected 3 fields between tabs, found 2"),
        (["align", "latin1.tsv", "right.tsv"], "latin1.tsv:1: expected UTF-8"),
        (["align", "left.tsv", "right.tsv", "--alpha", "1.5"], "alpha=1.5: expected a probability between 0 and 1"),
        (["align", "left.tsv", "right.tsv", "--decoder", "best"], "unknown decoder 'best': expected one of greedy"),
        (["align", "left.tsv", "right.tsv", "--model", "best"], "unknown model 'best': expected one of"),
        (
            ["align", "left.tsv", "right.tsv", "--load", "there"],
            "the model Fast does not train, so there is nothing to load or save",
        ),
        (
            ["align", "left.tsv", "right.tsv", "--model", "gm", "--load", "there"],
            "as --save writes it",
        ),
        (["align", "left.tsv", "right.tsv", "--model", "gm"], "the model gm learns from seeds, but there are 0"),
        (["align", "left.tsv", "right.tsv", "--set", "size=3"], "--set size=3: expected NAME=VALUE with one of the names"),
        (["align", "left.tsv", "right.tsv", "--set", f"k={'9' * 20}"], "99: expected a number up to 2,147,483,647, such as 20"),
        (["align", "left.tsv", "right.tsv", "--set", f"k={'9' * 5000}"], "99: expected a whole number, such as 20"),
        (["align", "left.tsv", "right.tsv", "--bootstrap", "1000000000000"], "--bootstrap"),
        (["align", "left.tsv", "right.tsv", "--set", "k=many"], "--set k=many: expected a whole number, such as 20"),
        (["align", "left.tsv", "right.tsv", "--protocol", "shut"], "shut"),
        (["align", "left.tsv", "right.tsv", "--typo"], "--typo"),
        (
            ["align", "left.tsv", "right.tsv", "--threshold", "0.5"],
            "No such option: --threshold. Each link in alignment.tsv has its probability: choose there, or with kgalign merge --least",
        ),
        (["align", "left.tsv", "right.tsv", "--seed", "-1"], "--seed"),
        (
            ["align", "left.tsv", "right.tsv", "--set", "temperature=0", "--model", "names"],
            "temperature=0.0: expected",
        ),
        (["align", "left.tsv", "right.tsv", "-o", "."], "expected a folder of its own for the run"),
        (["align", "left.tsv", "right.tsv", "-o", "left.tsv/run"], "nothing can be written there"),
        (["decode", "broken.npz"], "broken.npz: expected the array `scores`"),
        (["download", "dbp15k", "--mirror", "foo", "-o", "data"], "could not be fetched"),
        (["align"], "Missing argument"),
        (["decode", "nowhere.tsv"], "nowhere.tsv: no such file"),
        (["evaluate", "left.tsv", "--gold", "nowhere.tsv"], "nowhere.tsv: no such file"),
        (["demo", "--pair", "xx"], "unknown demo pair 'xx'"),
    ],
)
def test_bad_input_is_one_line_and_exit_two(tmp_path, arguments, message):
    write_pair(tmp_path)
    (tmp_path / "empty.tsv").write_text("")
    (tmp_path / "two.tsv").write_text("Rome\n")
    (tmp_path / "torn.tsv").write_text("Rome\tRoma\nRome\tParis\n")
    (tmp_path / "short.tsv").write_text("Rome\tcapital of\n")
    (tmp_path / "latin1.tsv").write_bytes("Köln\tin\tEurope\n".encode("latin-1"))
    (tmp_path / "broken.npz").write_bytes(b"PK nothing")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = kgalign(*arguments, cwd=tmp_path)
    complaint = [line for line in done.stderr.splitlines() if line.startswith("kgalign: ")]
    assert done.returncode == 2
    assert len(complaint) == 1, done.stderr
    assert message in complaint[0]
    assert done.stderr.splitlines()[-1] == complaint[0]
    assert done.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == before


TURTLE = """@prefix : <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix s: <http://a.very.long.address/of/a/schema#> .
"""
PETS = """:a a s:Animal ; rdfs:label "chat"@fr , "cat"@en ; s:legs 4 .
:b a s:Animal ; rdfs:label "chien"@fr , "dog" ; s:legs 4 .
"""


def write_pets(folder):
    for name in ("left", "right"):
        (folder / f"{name}.ttl").write_text(TURTLE + PETS)


def test_info_shows_where_names_come_from_unabridged_on_a_narrow_terminal(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    write_pets(tmp_path)
    done = kgalign("info", "left.ttl", "right.ttl", cwd=tmp_path)
    assert (done.returncode, "…" in done.stdout) == (0, False)
    lines = done.stdout.splitlines()
    at = lines.index("names by class, target:")
    assert lines[at + 1 : at + 4] == [
        "  classes with fewer than 10 members: 2 subjects",
        "    names: rdfs:label on 100% (well known)",
        "    no names: http://a.very.long.address/of/a/schema#legs on 100% (not text)",
    ]
    assert "the same IRI in both graphs: 3" in lines


def test_info_counts_kinds_names_and_shared_iris(tmp_path):
    write_pets(tmp_path)
    seen = json.loads(kgalign("info", "left.ttl", "right.ttl", "--json", cwd=tmp_path).stdout)
    figures = seen["source"]
    assert (figures["individuals"], figures["classes"], figures["properties"], figures["concepts"]) == (2, 1, 0, 0)
    assert (figures["names"], figures["entities with several names"], figures["entities without a name"]) == (5, 2, 0)
    assert figures["languages of the labels"] == "fr (100%), none (50%), en (50%)"
    assert figures["names by class"][0]["names"] == ["rdfs:label on 100% (well known)"]
    assert seen["the same IRI in both graphs"] == 3


def test_info_shows_the_twelve_largest_classes_and_counts_the_others(tmp_path):
    rows = (f':{chr(97 + kind)}{chr(97 + i)}x a :K{chr(97 + kind)} ; rdfs:label "x" .\n' for kind in range(15) for i in range(10))
    (tmp_path / "g.ttl").write_text(TURTLE + "".join(rows))
    lines = kgalign("info", "g.ttl", cwd=tmp_path).stdout.splitlines()
    assert sum("10 subjects" in line for line in lines) == 12
    assert "  and 3 more classes (--json shows all)" in lines
    assert len(json.loads(kgalign("info", "g.ttl", "--json", cwd=tmp_path).stdout)["graph"]["names by class"]) == 15


def test_info_says_that_codes_are_no_names(tmp_path):
    (tmp_path / "g.tsv").write_text("e1\tr\te2\ne2\tr\te3\n")
    done = kgalign("info", "g.tsv", cwd=tmp_path)
    assert "entities without a name     │ 3" in done.stdout
    assert "  no entity has a name: no property holds names, and the IRIs end in codes" in done.stdout.splitlines()


@pytest.mark.parametrize(
    ("language", "expected"),
    [("fr", ("chat", "chat", "chien")), ("fr,none", ("chat", "cat", "dog")), ("en,und", ("cat", "cat", "dog"))],
)
def test_a_language_is_for_both_graphs_or_for_each(tmp_path, language, expected):
    write_pets(tmp_path)
    done = kgalign("align", "left.ttl", "right.ttl", "--lang", language, "--classes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in (tmp_path / "run" / "alignment.tsv").read_text().splitlines()[1:]]
    found = {row[0]: (row[2], row[3]) for row in rows}
    assert (*found["http://x/a"], found["http://x/b"][1]) == expected


def test_align_says_what_was_read_in_short(tmp_path):
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    more = "".join(f'; <http://x/{word}Name> "the {word}" ' for word in ("full", "official", "alternative", "legal"))
    (tmp_path / "left.ttl").write_text(f'<http://x/a> {label} "cafe" {more} ; <http://x/altName> [ {label} "bar" ] .\n')
    (tmp_path / "right.nt").write_bytes(f'<http://x/a> {label} "café" .\n'.encode("latin-1"))
    done = kgalign("align", "left.ttl", "right.nt", cwd=tmp_path)
    names = next(line for line in done.stderr.splitlines() if line.startswith("source: names from rdfs:label, "))
    assert "and 3 more (kgalign info shows them); language none, 100% of the subjects named" in names
    assert "source: nodes that only carry a value, folded into what they describe: 1 name node" in done.stderr
    assert "target: encoding right.nt: UTF-8, and windows-1252 where it is not" in done.stderr


def test_names_can_be_withheld(tmp_path):
    write_pair(tmp_path)
    (tmp_path / "seeds.tsv").write_text("Rome\tRoma\n")
    done = kgalign("align", "left.tsv", "right.tsv", "--seeds", "seeds.tsv", "--no-names", "--json", cwd=tmp_path)
    assert "source: names from nothing, since they are withheld" in done.stderr
    assert json.loads(done.stdout)["options"]["read"]["names"] is False
    rows = [line.split("\t") for line in (tmp_path / "run" / "alignment.tsv").read_text().splitlines()[1:]]
    assert all(row[2:4] == ["", ""] for row in rows)
    done = kgalign("align", "left.tsv", "right.tsv", "--no-names", "--names-source", "seeds.tsv", cwd=tmp_path)
    assert done.returncode == 2
    assert "--no-names" in done.stderr
