"""What goes wrong inside, and what the machine does not have: an exit code, one line, and nothing lost that was there."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from commands import QUICK, align_pair, command, refused, write_pair

from kgalign import OptionError, Rules, align, demo
from kgalign.cli import failures

INSIDE = 3


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(failures.tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()


def fails(monkeypatch, error):
    """Makes reading fail, as a mistake in kgalign would."""

    def read(*arguments, **options):
        raise error

    monkeypatch.setattr("kgalign.cli.inspection.read_graph", read)


def test_an_error_inside_has_its_own_exit_code_and_keeps_its_traceback(tmp_path, monkeypatch, capsys):
    write_pair(tmp_path)
    fails(monkeypatch, ZeroDivisionError("in a place that nobody thought of"))
    assert command("info", "left.tsv") == INSIDE
    line = capsys.readouterr().err
    assert line.startswith("kgalign: something went wrong inside kgalign ")
    assert "(ZeroDivisionError: in a place that nobody thought of)" in line
    assert line.count("\n") == 1
    (file,) = (tmp_path / "temporary").iterdir()
    assert f"report it as a bug with the file {file}," in line
    report = file.read_text("utf-8")
    assert "Traceback (most recent call last):" in report
    assert report.rstrip().endswith("ZeroDivisionError: in a place that nobody thought of")


def test_a_traceback_that_cannot_be_kept_is_printed(tmp_path, monkeypatch, capsys):
    write_pair(tmp_path)
    fails(monkeypatch, ZeroDivisionError("once more"))
    monkeypatch.setattr(failures.tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert command("info", "left.tsv") == INSIDE
    told = capsys.readouterr().err
    assert "Traceback (most recent call last):" in told
    assert "with the traceback above" in told.splitlines()[-1]


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        MemoryError("Unable to allocate 3 TiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"),
        RuntimeError("can't start new thread"),
        OSError(12, "Cannot allocate memory"),
    ],
)
def test_too_little_memory_is_one_line(tmp_path, monkeypatch, capsys, error):
    write_pair(tmp_path)
    fails(monkeypatch, error)
    assert command("info", "left.tsv") == INSIDE
    line = capsys.readouterr().err
    assert line.startswith("kgalign: out of memory")
    assert line.count("\n") == 1
    assert not list((tmp_path / "temporary").iterdir())


def in_a_process(*arguments, before="", **options):
    """A command in a process of its own, after a few lines of Python."""
    code = f"{before}\nimport sys\nfrom kgalign.cli import main\nsys.argv[0] = 'kgalign'\nmain()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=100, **options
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of memory that holds")
def test_a_process_with_two_gigabytes_says_that_they_are_not_enough(tmp_path):
    rows = (f"a{source}\tb{target}\t0.5\n" for source in range(2) for target in range(0, 60_000 if source == 0 else 1))
    others = (f"s{number}\tb0\t0.5\n" for number in range(60_000))
    (tmp_path / "c.tsv").write_text("".join([*rows, *others]), "utf-8")
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))"
    done = in_a_process("decode", "c.tsv", before=limit, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (INSIDE, ""), done.stderr
    assert done.stderr.startswith("kgalign: out of memory")
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv", "temporary"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
def test_a_reader_that_ends_early_is_no_error(tmp_path):
    (tmp_path / "left.tsv").write_text("".join(f"Rome{i}\tin\tItaly{i}\n" for i in range(9)), "utf-8")
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "kgalign", "info", "left.tsv", "--json"],
        stdout=write, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


# Places that cannot be written to. A test that may mount has real ones; /proc is one everywhere on Linux.

WRITING = {
    "align": ["align", "left.tsv", "right.tsv", *QUICK, "-o"],
    "decode": ["decode", "c.tsv", "-o"],
    "save": ["align", "left.tsv", "right.tsv", "--model", "mtranse", "--save"],
    "checkpoint": ["align", "left.tsv", "right.tsv", "--model", "gm", "--set"],
    "results": ["bench", "quick", "--models", "names", "--results"],
    "keep": ["bench", "quick", "--models", "names", "--keep"],
    "download": ["download", "dbp15k", "--mirror", "http://localhost:1", "-o"],
}


@pytest.mark.parametrize("what", WRITING)
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no folder in which nobody can write")
def test_every_place_to_write_is_tried_before_the_work(tmp_path, monkeypatch, capsys, what):
    if what in ("save", "checkpoint"):
        pytest.importorskip("torch", reason="needs PyTorch: pip install '.[neural]', as `make test` does")
    write_pair(tmp_path)
    (tmp_path / "c.tsv").write_text("a\tx\t1\n")
    monkeypatch.setattr("kgalign.cli.align.read", lambda **_: pytest.fail("the work began"))
    monkeypatch.setattr("kgalign.cli.align.read_candidates", lambda *_: pytest.fail("the work began"))
    place = "checkpoint=/proc/place" if what == "checkpoint" else "/proc/place"
    assert "/proc/place: nothing can be written there (" in refused(capsys, *WRITING[what], place)


def test_merge_tries_its_place_before_the_work(tmp_path, monkeypatch, capsys):
    run = align_pair(tmp_path)
    monkeypatch.setattr("kgalign.cli.merge.read_task", lambda *_: pytest.fail("the work began"))
    monkeypatch.setattr("kgalign.drafts.tempfile.mkdtemp", _full)
    assert "all.nt: nothing can be written there (No space left on device)" in refused(capsys, "merge", run, "-o", "all.nt")


def _full(*_, **__):
    raise OSError(28, "No space left on device")


def test_training_is_not_begun_where_it_cannot_be_stored(monkeypatch):
    monkeypatch.setattr("kgalign.drafts.tempfile.mkdtemp", _full)
    pytest.importorskip("torch", reason="needs PyTorch: pip install '.[neural]', as `make test` does")
    monkeypatch.setattr("kgalign.models.embedding.frame.train", lambda *_: pytest.fail("the training began"))
    with pytest.raises(OptionError, match=r"model: nothing can be written there \(No space left on device\)"):
        align(demo("fr_en")[0], model="mtranse", save="model", rules=Rules(max_rounds=0))


@cache
def _may_mount():
    """Whether this process may mount a file system that it alone sees."""
    return subprocess.run([*SPACE, "mount -t tmpfs -o size=1m tmpfs /mnt"], capture_output=True).returncode == 0


SPACE = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
may_mount = pytest.mark.skipif(sys.platform != "linux" or not _may_mount(), reason="this process may not mount a small file system")


def mounted(script, folder):
    """The end of a shell script in which `kgalign` is the command, below a folder that is a file system of its own."""
    (folder / "small").mkdir()
    (folder / "kgalign").write_text(f'#!/bin/sh\nexec {sys.executable} -m kgalign "$@"\n')
    (folder / "kgalign").chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PATH": f"{folder}:{os.environ['PATH']}"}
    return subprocess.run([*SPACE, script], cwd=folder, env=environment, capture_output=True, text=True, timeout=100)


@pytest.mark.slow
@may_mount
def test_a_disk_that_is_full_is_noticed_before_the_work(tmp_path):
    write_pair(tmp_path)
    script = """mount -t tmpfs -o size=1m tmpfs small; head -c 2000000 /dev/zero > small/full
kgalign align left.tsv right.tsv --model names -o small/run; echo "rc $?"; ls -A small"""
    done = mounted(script, tmp_path)
    assert done.stdout == "rc 2\nfull\n", done.stderr
    assert "small/run: nothing can be written there (No space left on device)" in done.stderr.splitlines()[-1]


@pytest.mark.slow
@may_mount
def test_a_disk_that_fills_up_keeps_the_earlier_run(tmp_path):
    write_pair(tmp_path)
    script = """mount -t tmpfs -o size=1m tmpfs small
kgalign align left.tsv right.tsv --model names -o small/run || exit 9
sha256sum small/run/* > before
free=$(df --output=avail -B1 small | tail -1); head -c $((free - 90000)) /dev/zero > small/full
kgalign align left.tsv right.tsv --model names --no-names -o small/run; echo "rc $?"; ls -A small
sha256sum --quiet -c before && echo same"""
    done = mounted(script, tmp_path)
    assert done.stdout == "rc 2\nfull\nrun\nsame\n", done.stderr
    assert "small/run: could not be written (" in done.stderr.splitlines()[-1]


@pytest.mark.slow
@may_mount
def test_a_read_only_folder_is_noticed_before_the_work(tmp_path):
    write_pair(tmp_path)
    script = """mount -t tmpfs -o size=1m,ro tmpfs small
kgalign align left.tsv right.tsv --model names -o small/run; echo "rc $?"; ls -A small"""
    done = mounted(script, tmp_path)
    assert done.stdout == "rc 2\n", done.stderr
    assert "small/run: nothing can be written there (Read-only file system)" in done.stderr.splitlines()[-1]
