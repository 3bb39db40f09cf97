"""Drafts: a run folder is whole, old or absent, whenever a process is killed, and the next run cleans up."""

import os
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from commands import QUICK, align_pair, command, write_pair

from kgalign import demo
from kgalign.align import align
from kgalign.bench.results import append, make_line, read_lines
from kgalign.drafts import draft_of, put_in_place

KILLS = int(os.environ.get("KGALIGN_KILLS", "3"))  # of each command
posix = pytest.mark.skipif(os.name != "posix", reason="there are no such locks, so drafts of killed processes stay")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.slow
@posix
def test_commands_that_are_killed_leave_whole_results_and_the_next_one_no_draft(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    script = Path(__file__).with_name("kills.py")
    done = subprocess.run([sys.executable, script, str(KILLS)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sum(int(line.split()[0]) for line in done.stdout.splitlines()) == (4 if find_spec("torch") else 3) * KILLS, done.stdout


@posix
def test_the_drafts_of_a_killed_run_are_cleaned_up_and_other_things_are_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_pair(tmp_path)
    for name in (".run-abcd1234/new", ".run-00000000", ".run-mine/new", ".run-abcd5678/notes", ".run2-abcd1234/new"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_text("half") if name.endswith("new") else None
    align_pair(tmp_path)
    assert names(tmp_path) == [".run-abcd5678", ".run-mine", ".run2-abcd1234", "left.tsv", "right.tsv", "run"]


@posix
def test_a_draft_is_cleaned_up_before_the_work_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".run-abcd1234" / "new").mkdir(parents=True)
    assert command("align", "nowhere.tsv", "nowhere.tsv") == 2
    assert names(tmp_path) == []


@posix
def test_a_run_that_was_killed_between_its_two_moves_is_put_in_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = align_pair(tmp_path)
    draft = tmp_path / ".run-abcd1234"
    draft.mkdir()
    run.rename(draft / "new")
    (draft / "old").mkdir()
    assert command("align", "nowhere.tsv", "nowhere.tsv") == 2
    assert (run / "run.json").is_file()
    assert not draft.exists()


@posix
def test_the_draft_of_a_process_that_lives_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_pair(tmp_path)
    code = (
        "import sys, pathlib\nfrom kgalign.drafts import draft_of\n"
        "with draft_of(pathlib.Path('run')) as draft:\n"
        "    (draft / 'new').mkdir(); print(draft, flush=True); sys.stdin.read()"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        draft = Path(process.stdout.readline().strip())
        align_pair(tmp_path)
        assert (draft / "new").is_dir()
        process.kill()
        process.wait()
        assert (draft / "new").is_dir()
    assert command("align", "nowhere.tsv", "nowhere.tsv") == 2
    assert not draft.exists()


def test_two_that_write_the_same_folder_at_a_time_both_end(tmp_path):
    place, problems = tmp_path / "run", []

    def write_often(text):
        try:
            for _ in range(100):
                with draft_of(place) as draft:
                    (draft / "new").mkdir()
                    for number in range(3):
                        (draft / "new" / f"{number}").write_text(text)
                    put_in_place(draft / "new", place)
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=write_often, args=(text,)) for text in "abc"]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.001)
    assert problems == []
    assert names(tmp_path) == ["run"]
    assert len({path.read_text() for path in place.iterdir()}) == 1, "of two runs, one is there and not half of each"


def test_a_run_that_cannot_be_written_leaves_the_earlier_one(tmp_path, monkeypatch):
    task, gold = demo("fr_en")
    run = align(task, gold, model="names", max_rounds=0)
    folder = run.write(tmp_path / "run")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr("kgalign.runs.folder.render", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run.write(tmp_path / "run")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert names(tmp_path) == ["run"]


def test_a_later_command_replaces_an_earlier_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = align_pair(tmp_path)
    before = (run / "alignment.tsv").read_bytes()
    (tmp_path / "left.tsv").write_text("Oslo\tin\tNorway\n", "utf-8")
    (tmp_path / "right.tsv").write_text("Oslo\tin\tNorway\n", "utf-8")
    assert command("align", "left.tsv", "right.tsv", *QUICK) == 0
    assert (run / "alignment.tsv").read_bytes() != before
    assert names(tmp_path) == ["left.tsv", "right.tsv", "run"]


def test_half_a_line_of_results_is_measured_again_and_replaced(tmp_path):
    file = tmp_path / "results.jsonl"
    lines = [make_line("table", system, "pair", {"f1": 0.5}, seconds=1.0, options={}) for system in ("one", "two", "three")]
    append(lines[0], file)
    whole = file.read_bytes()
    for half in (b'{"experiment": "ta', b'{"experiment"', "é".encode()[:1]):
        file.write_bytes(whole + half)
        assert [line["system"] for line in read_lines(file)] == ["one"]
        append(lines[1], file)
        assert [line["system"] for line in read_lines(file)] == ["one", "two"]
        assert half not in file.read_bytes().removeprefix(whole).split(b"\n")
    file.write_bytes(file.read_bytes().rstrip(b"\n"))  # as an editor may leave it
    append(lines[2], file)
    assert [line["system"] for line in read_lines(file)] == ["one", "two", "three"]


@posix
def test_a_line_of_results_that_does_not_fit_on_the_disk_is_not_there(tmp_path):
    file = tmp_path / "results.jsonl"
    append(make_line("table", "one", "pair", {"f1": 0.5}, seconds=1.0, options={}), file)
    code = (
        "import resource, signal, sys, pathlib\nfrom kgalign.bench.results import append, make_line\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nfile = pathlib.Path(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 100,) * 2)\n"
        "append(make_line('table', 'two', 'pair', {'f1': 0.5}, seconds=1.0, options={}), file)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    before = file.read_bytes()
    done = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True, env=environment)
    assert "OSError" in done.stderr
    assert file.read_bytes() == before
