"""Output that is safe to look at: control characters, formulas, and file names that are not UTF-8."""

import gzip
import json
import os
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import QUICK, align_pair, command
from conftest import graph, task_of
from hypothesis import given
from hypothesis import strategies as st

from kgalign import Alignment, KnowledgeGraph, align, write
from kgalign.characters import escaped, json_text, shown, unescaped
from kgalign.cli.printing import Screen
from kgalign.files import as_cell, of_cell
from kgalign.runs import read_links

ODD = [
    "\uff1d1+1",
    "\ufeff=1",
    "\u202egnp",
    "a\tb",
    "a\nb",
    "a\r\nb",
    "back\\slash",
    "\\t is no tab",
    "\x1b[31mred",
    "=1+1",
    "\u2028",
    "'=x",
    "\x9b31m",
    "",
    "C:\\temp",
]
UNSAFE = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)  # what a terminal obeys, but line feeds, and what turns a text round


@given(st.text())
def test_every_text_comes_back_from_a_cell_and_from_escapes(text):
    for there, back in ((as_cell, of_cell), (escaped, unescaped)):
        made = there(text)
        assert back(made) == text
        assert not UNSAFE.search(made)
        assert "\n" not in made


@given(st.recursive(st.text(st.characters()) | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_is_safe_to_print_and_reads_back(value):
    text = json_text(value, indent=2)
    assert json.loads(text) == value
    assert not UNSAFE.search(text)
    text.encode()


def test_entities_with_tabs_and_line_feeds_come_back_from_every_table_of_a_run(tmp_path):
    ids = [f"{text}{number}" for number, text in enumerate(ODD)]
    sides = [KnowledgeGraph([f"{side}{each}" for each in ids], [], graph(["a"]).triples, ids) for side in ("", "=")]
    task = task_of(*sides)
    links = Alignment([[number, number] for number in range(len(ids))])
    write(links, task, tmp_path / "links.tsv")
    assert len((tmp_path / "links.tsv").read_bytes().splitlines()) == 1 + len(ids)
    assert read_links(tmp_path / "links.tsv", task).pairs.tolist() == links.pairs.tolist()
    folder = align(task, model="names", max_rounds=0).write(tmp_path / "run")
    assert len(read_links(folder, task)) == len(ids)
    for table in folder.glob("*.tsv"):
        assert not UNSAFE.search(table.read_text("utf-8").replace("\t", "")), table
        assert not re.search(r"(?m)(?:^|\t)\ufeff?[=@\uff1d]", table.read_text("utf-8")), table


def test_merge_accepts_a_run_whose_entities_have_line_feeds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("left.csv", "right.csv"):
        (tmp_path / name).write_text('id,name,city\n"a\tb","x\ty",Rome\n"c\nd","=1+1",Oslo\n"e\x85","red",Rome\n', "utf-8")
    assert command("align", "left.csv", "right.csv", "--table", *QUICK) == 0
    (tmp_path / "run" / "alignment.tsv").read_text("utf-8").index("c\\nd")
    assert command("merge", "run", "-o", "all.nt") == 0
    assert "%09" in (tmp_path / "all.nt").read_text("utf-8")
    assert command("evaluate", "run", "--gold", "run/alignment.tsv") == 0


def test_names_in_sssom_are_no_formulas_and_read_back(tmp_path):
    names = ["=HYPERLINK(1)", "plain", "@home"]
    task = task_of(graph(names), graph(names))
    links = Alignment([[number, number] for number in range(3)])
    write(links, task, tmp_path / "links.sssom.tsv")
    assert "\t=" not in (tmp_path / "links.sssom.tsv").read_text("utf-8")
    assert "'=HYPERLINK(1)" in (tmp_path / "links.sssom.tsv").read_text("utf-8")
    assert command("evaluate", tmp_path / "links.sssom.tsv", "--gold", tmp_path / "links.sssom.tsv") == 0


@pytest.mark.parametrize(
    "arguments", [("info", "left.nt"), ("info", "left.nt", "--json"), ("explain", "run", "http://left/1"), ("align",), ("merge",)]
)
def test_no_command_of_the_input_reaches_a_terminal(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    label, text = "<http://www.w3.org/2000/01/rdf-schema#label>", "\\u001B]0;title\\u0007red\\u001B[31m\\u009B31m\\u202E"
    for side, people in (("left", "2"), ("right", "3")):
        facts = f'<http://{side}/1> <http://x/people> "{people}{text}" .\n<http://{side}/1> <http://x/in> <http://{side}/2> .\n'
        (tmp_path / f"{side}.nt").write_text(
            f'{facts}<http://{side}/1> {label} "{text}" .\n<http://{side}/2> {label} "Rome" .\n', "utf-8"
        )
    both = ["align", "left.nt", "right.nt", *QUICK]
    assert command(*both) == 0
    calls = {"align": [*both, "--gold", "gold.tsv"], "merge": ["merge", "run", "-o", "all.nt", "--dry-run"]}
    (tmp_path / "gold.tsv").write_text("http://left/1\thttp://right/1\n\x1b[31m\tx\n", "utf-8")
    assert command(*calls.get(arguments[0], arguments)) == 0
    told = capsys.readouterr()
    assert "red" in told.out + told.err or arguments == ("align",)
    assert not UNSAFE.search(told.out + told.err), ascii(told)


@pytest.mark.parametrize(
    "arguments", [("info", "left.nt"), ("align", "left.nt", "left.nt", *QUICK), ("explain", "run", "http://x/0")]
)
def test_no_line_that_is_printed_is_long(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    label = f"http://x/{'title' * 20_000}"
    cities = ("Rome", "Oslo", "Bern")
    rows = (
        f'<http://x/{i}> <{label}> "{city}" .\n<http://x/{i}> <{label}s> <http://x/{i - 1}> .\n' for i, city in enumerate(cities)
    )
    (tmp_path / "left.nt").write_text("".join(rows), "utf-8")
    assert command("align", "left.nt", "left.nt", "--label", label, *QUICK) == 0
    assert command(*arguments, *(("--label", label) if arguments[0] == "align" else ())) == 0
    told = capsys.readouterr()
    assert "titletitle" in told.out + told.err
    assert max(map(len, (told.out + told.err).splitlines())) < 2000


def test_text_is_shown_as_it_is(capsys):
    Screen().print("[bold]:cat:\x1b[31m")
    assert capsys.readouterr().out == "[bold]:cat:\\x1b[31m\n"
    Screen(soft_wrap=True).print("\t" * 9999 + "end")
    told = capsys.readouterr().out
    assert told.endswith("end\n")
    assert len(told) < 1100
    assert shown("two\nlines\t\udce9") == "two\nlines\\t\\udce9"


needs_such_names = pytest.mark.skipif(os.name != "posix", reason="file names are bytes on POSIX alone")


@needs_such_names
def test_file_names_that_are_not_utf8_work_from_start_to_end(tmp_path, monkeypatch):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system has no such names")
    monkeypatch.chdir(folder)
    plain = b"left.tsv", b"right.tsv", b"gold.tsv", b"run", b"all.nq", b"c.tsv"
    left, right, gold, run, merged, candidates = (os.fsdecode(b"\xff\xfe" + name) for name in plain)
    for name in (left, right):
        (folder / name).write_text("Rome\tcapital of\tItaly\n", "utf-8")
    (folder / gold).write_text("Rome\tRome\n", "utf-8")
    assert command("info", left) == 0
    assert command("align", left, right, "--gold", gold, "-o", run, "--json", *QUICK) == 0
    report = json.loads((folder / run / "run.json").read_text("utf-8"))
    assert left in {path.rpartition("/")[2] for path in report["inputs"]}
    assert command("explain", run, "Rome") == 0
    assert command("evaluate", run, "--gold", gold) == 0
    assert command("merge", run, "-o", merged) == 0
    assert command("merge", run, "-o", merged) == 2
    assert (folder / merged).stat().st_size
    (folder / candidates).write_text("a\tx\t1\n")
    assert command("decode", candidates, "-o", run) == 0


def test_reports_of_tests_about_such_names_can_be_sent_by_workers(request):
    name = os.fsdecode(b"caf\xe9")
    report = pytest.TestReport("a test", ("a file", 1, name), {}, "failed", f"no {name}", "call", [("Captured log call", name)])
    sent = request.config.hook.pytest_report_to_serializable(config=request.config, report=report)
    assert (sent["longrepr"], sent["sections"]) == ("no caf\\udce9", [("Captured log call", "caf\\udce9")])


@needs_such_names
def test_compressed_files_and_parquet_may_have_names_that_are_not_utf8(tmp_path):
    plain = "<http://x/1> <http://x/p> <http://x/2> .\n"
    files = {"g.nt.zst": pa.compress(plain.encode(), "zstd", asbytes=True), "g.nt.gz": gzip.compress(plain.encode())}
    for name, content in files.items():
        path = tmp_path / os.fsdecode(b"\xff" + name.encode())
        try:
            path.write_bytes(content)
        except OSError:
            pytest.skip("this file system has no such names")
        assert command("info", path) == 0, name
    table = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": ["a", "b"], "name": ["Rome", "Paris"]}), table)
    assert command("info", table.rename(tmp_path / os.fsdecode(b"\xff.parquet"))) == 0


def test_arrow_reads_files_without_python(tmp_path, monkeypatch):
    """Its threads may still read when Python ends: the first call of Python would then abort the process."""
    run, read, given = align_pair(tmp_path), pq.ParquetFile, []
    monkeypatch.setattr(pq, "ParquetFile", lambda source, **options: given.append(source) or read(source, **options))
    assert command("explain", run, "Rome") == 0
    assert {type(source) for source in given} == {pa.OSFile}
