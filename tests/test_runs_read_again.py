"""Runs that are read again with their graphs: nothing is overwritten, and graphs that have changed are noticed."""

import os

import pytest
from commands import QUICK, align_pair, changed_report, command, refused, write_pair


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return align_pair(tmp_path)


def test_merge_replaces_no_file_unless_it_is_told_to(run, tmp_path, capsys):
    (tmp_path / "all.nt").write_text("precious")
    assert "all.nt: exists already; expected another path, or --force" in refused(capsys, "merge", run, "-o", "all.nt")
    (tmp_path / "all.nt").rename(tmp_path / "all.conflicts.tsv")
    assert "all.conflicts.tsv: exists already" in refused(capsys, "merge", run, "-o", "all.nt")
    assert (tmp_path / "all.conflicts.tsv").read_text() == "precious"
    assert command("merge", run, "-o", "all.nt", "--force") == 0
    assert (tmp_path / "all.nt").read_text() != "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.conflicts.tsv", "all.nt", "left.tsv", "right.tsv", "run"]


@pytest.mark.parametrize("same", ["graphs/a.nt", "other.nt", "run/all.nt", "graphs/new.nt", "linked.nt", "graphs"])
def test_merge_never_writes_to_its_graphs_and_its_run(tmp_path, monkeypatch, capsys, same):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graphs").mkdir()
    for name in ("graphs/a.nt", "other.nt"):
        (tmp_path / name).write_text('<http://x/a> <http://www.w3.org/2000/01/rdf-schema#label> "Rome" .\n')
    (tmp_path / "linked.nt").symlink_to("other.nt")
    assert command("align", "graphs", "other.nt", *QUICK) == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for force in ([], ["--force"]):
        assert same in refused(capsys, "merge", "run", "-o", same, *force)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_dry_run_writes_nothing_and_needs_no_free_place(run, tmp_path):
    (tmp_path / "all.nt").write_text("precious")
    assert command("merge", run, "-o", "all.nt", "--dry-run") == 0
    assert (tmp_path / "all.nt").read_text() == "precious"


@pytest.mark.parametrize("name", ["left.tsv", "right.tsv", "names.tsv"])
def test_merge_refuses_files_that_have_changed_since_the_run(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "names.tsv").write_text("Rome\tRoma\n")
    run = align_pair(tmp_path, "--names-source", "names.tsv")
    with (tmp_path / name).open("a") as file:
        file.write("Oslo\tcapital of\tNorway\n")
    assert f"{name}: has changed (SHA-256 " in refused(capsys, "merge", run, "-o", "all.nt")
    assert not (tmp_path / "all.nt").exists()
    assert command("merge", run, "-o", "all.nt", "--changed") == 0


def test_a_file_that_is_gone_or_new_in_a_folder_is_a_change(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graphs").mkdir()
    triple = '<http://x/%s> <http://www.w3.org/2000/01/rdf-schema#label> "Rome" .\n'
    for name in ("a", "b", "c"):
        (tmp_path / "graphs" / f"{name}.nt").write_text(triple % name)
    assert command("align", "graphs", "graphs/a.nt", "-o", "graphs/run", *QUICK) == 0, "a run among the graphs is no graph"
    assert command("merge", "graphs/run", "-o", "all.nt") == 0
    (tmp_path / "graphs" / "d.nt").write_text(triple % "d")
    assert "d.nt: is new; expected the files that were read for the run" in refused(capsys, "merge", "graphs/run", "-o", "2.nt")
    (tmp_path / "graphs" / "d.nt").unlink()
    (tmp_path / "graphs" / "c.nt").unlink()
    assert "c.nt: no such file; expected the one that was read" in refused(capsys, "merge", "graphs/run", "-o", "2.nt")


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_links_to_folders_are_followed_and_never_round_in_a_circle(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("loop", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "g.nt").write_text("<http://x/a> <http://x/r> <http://x/b> .\n", "utf-8")
    for name in ("one", "two", "three"):
        (tmp_path / "loop" / name).symlink_to(".")
    (tmp_path / "loop" / "more").symlink_to("../elsewhere")
    assert command("align", "loop", "elsewhere/g.nt", *QUICK) == 0
    assert command("merge", "run", "-o", "all.nt") == 0
    (tmp_path / "elsewhere" / "new.nt").write_text("", "utf-8")
    assert "new.nt: is new" in refused(capsys, "merge", "run", "-o", "more.nt")


def test_explain_and_evaluate_say_that_graphs_have_changed(run, tmp_path, capsys, caplog):
    (tmp_path / "left.tsv").write_text("Rome\tcapital of\tItaly\nParis\tcapital of\tFrance\nOslo\tin\tNorway\n")
    assert "has changed" in refused(capsys, "explain", run, "Oslo")
    assert "was not aligned" in refused(capsys, "explain", run, "Oslo", "--changed")
    (tmp_path / "gold.tsv").write_text("Rome\tRoma\nOslo\tParis\n")
    assert command("evaluate", run, "--gold", "gold.tsv") == 0
    assert "left.tsv: has changed" in caplog.text
    caplog.clear()
    assert command("evaluate", run, "--gold", "gold.tsv", "--changed") == 0
    assert "has changed" not in caplog.text


def test_gold_links_may_change_after_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_pair(tmp_path)
    (tmp_path / "gold.tsv").write_text("Rome\tRoma\n")
    assert command("align", "left.tsv", "right.tsv", "--gold", "gold.tsv", *QUICK) == 0
    (tmp_path / "gold.tsv").write_text("Italy\tItalia\n")
    assert command("merge", "run", "-o", "all.nt") == 0


def test_a_run_that_has_lost_its_hashes_is_not_trusted(run, capsys):
    changed_report(run, lambda report: report | {"inputs": {}})
    assert "run.json: expected the SHA-256 of " in refused(capsys, "merge", run, "-o", "all.nt")


def test_a_run_is_merged_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_pair(tmp_path)
    assert command("align", "left.tsv", "right.tsv", *QUICK) == 0
    (tmp_path / "elsewhere").mkdir()
    os.chdir(tmp_path / "elsewhere")
    assert command("merge", "../run", "-o", "all.nt") == 0
