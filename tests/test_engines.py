"""Engines: local threads, tasks of Ray, and parts that share a folder find the same bytes, whatever is killed meanwhile."""

import errno
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import kgalign
from kgalign.cli import run as command
from kgalign.errors import DataError, KgalignError
from kgalign.search import top_k
from kgalign.search.candidates import sparse_block
from kgalign.search.folder_tasks import ALIVE, FUNCTIONS, TASK, FolderTasks, _result, _write_task, joined, work_on_part

ROWS = 400


def vectors(seed=0):
    return sparse.random_array((ROWS, 60), density=0.1, format="csr", dtype=np.float32, rng=np.random.default_rng(seed))


def same(found, expected):
    return all(map(np.array_equal, found, expected))


def part_of(folder, number=1, parts=1, silent=60.0):
    """A part in a thread, and the list of what it tells, with its blocks at the end."""
    told = []
    thread = threading.Thread(target=lambda: told.append(work_on_part(folder, number, parts, told.append, silent)), daemon=True)
    thread.start()
    return thread, told


def test_parts_and_a_join_find_the_same_bytes(tmp_path):
    source, target = vectors(), vectors(1)
    expected = top_k(source, target, 5, effort=300)
    folder = tmp_path / ".run.parts"
    parts = [part_of(folder, number, 2) for number in (1, 2)]
    with joined(folder, least_bytes=0) as engine:
        while not all(told for _, told in parts):
            assert same(top_k(source, target, 5, effort=300, engine=engine), expected)
        for _ in range(5):
            assert same(top_k(source, target, 5, effort=300, engine=engine), expected)
    for thread, _ in parts:
        thread.join(30)
    assert not folder.exists()
    assert all("the join is over" in told[-2] for _, told in parts)


def test_a_part_alone_does_all_blocks_from_arrays_in_files(tmp_path):
    source, target = vectors(), vectors(1)
    shared = source, sparse.csr_array(target.T), ROWS, 5, 300
    blocks = [slice(start, start + 100) for start in range(0, ROWS, 100)]
    folder = tmp_path / ".run.parts"
    thread, told = part_of(folder, 2, 3)
    with joined(folder, least_bytes=0) as engine:
        place = engine.folder / "search-9"
        _write_task(place, "sparse_block", blocks, shared)
        while len(list(place.glob("*.npz"))) < len(blocks):
            time.sleep(0.01)
            assert thread.is_alive()
        for number, block in enumerate(blocks):
            assert same(_result(place, number), sparse_block(block, *shared))
    thread.join(30)
    assert told[-1] == len(blocks)


def test_blocks_that_a_part_claims_and_does_not_deliver_are_taken_over(tmp_path, monkeypatch):
    source = vectors()
    folder = tmp_path / ".run.parts"
    monkeypatch.setattr("kgalign.search.folder_tasks.PATIENCE", (0.2, 0.0))

    def claim_all():
        while not (tasks := list(folder.glob("join-*/search-*/"))):
            time.sleep(0.0001)
        with suppress(FileNotFoundError):  # the search is over
            for number in range(1000):
                (tasks[0] / f"{number}.claim").touch()

    thread = threading.Thread(target=claim_all, daemon=True)
    thread.start()
    with joined(folder, least_bytes=0) as engine:
        assert same(top_k(source, source, 5, engine=engine), top_k(source, source, 5))
    thread.join(10)


def scripted(folder, monkeypatch, seconds, script):
    """What the join finds while a script claims and delivers blocks, which take it so long; with how many it did, and at a time."""
    heard = Counter()

    def find(block, *shared):
        heard["done"] += 1
        heard["now"] += 1
        heard["at a time"] = max(heard["at a time"], heard["now"])
        time.sleep(seconds)
        heard["now"] -= 1
        return (np.array([block.start]),)

    monkeypatch.setitem(FUNCTIONS, "find", find)
    monkeypatch.setattr("kgalign.search.folder_tasks._write_task", lambda place, *task: (place.mkdir(), script(place)))
    with joined(folder, least_bytes=0) as engine:
        found = [int(at[0][0]) for at in engine.map(find, [slice(at, at + 1) for at in range(8)], (vectors(),))]
    return found, heard


def claim(place):
    for number in range(8):
        (place / f"{number}.claim").touch()


def test_blocks_of_a_part_that_is_killed_are_taken_over_by_all_threads(tmp_path, monkeypatch):
    monkeypatch.setattr("kgalign.search.folder_tasks.PATIENCE", (0.2, 0.0))
    monkeypatch.setattr("numba.get_num_threads", lambda: 4)
    found, heard = scripted(tmp_path / "parts", monkeypatch, 0.3, claim)
    assert (found, heard["done"], heard["at a time"]) == (list(range(8)), 8, 4)


def test_a_block_whose_file_is_damaged_is_taken_over(tmp_path, monkeypatch):
    monkeypatch.setattr("kgalign.search.folder_tasks.PATIENCE", (0.2, 0.0))
    found, heard = scripted(
        tmp_path / "parts", monkeypatch, 0, lambda place: (claim(place), (place / "3.npz").write_bytes(b"half"))
    )
    assert (found, heard["done"]) == (list(range(8)), 8)


def test_a_part_that_delivers_slowly_is_not_overtaken(tmp_path, monkeypatch):
    monkeypatch.setattr("kgalign.search.folder_tasks.PATIENCE", (0.6, 0.0))

    def deliver(place):
        claim(place)

        def go_on():
            for number in reversed(range(8)):  # the join waits for the first
                time.sleep(0.15)
                np.savez(place / "new", np.array([number]))
                (place / "new.npz").rename(place / f"{number}.npz")

        threading.Thread(target=go_on, daemon=True).start()

    found, heard = scripted(tmp_path / "parts", monkeypatch, 0, deliver)
    assert (found, heard["done"]) == (list(range(8)), 0)


def test_a_folder_in_which_nothing_can_be_claimed_is_refused(tmp_path, monkeypatch):
    def refuse(path, *options):
        if str(path).endswith(".claim"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened(path, *options)

    opened = os.open
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(KgalignError, match=r"could not be claimed \(No space left on device\); expected a folder with room"):
        scripted(tmp_path / "parts", monkeypatch, 0, lambda place: None)


def test_a_part_that_has_nothing_to_do_leaves_the_folder_in_peace(tmp_path, monkeypatch):
    opened, loaded = [], np.load
    monkeypatch.setattr(np, "load", lambda *args, **options: opened.append(args) or loaded(*args, **options))
    folder = tmp_path / "parts"
    with joined(folder, least_bytes=0) as engine:
        place = engine.folder / "search-0"
        _write_task(place, "sparse_block", [slice(at, at + 50) for at in range(0, ROWS, 50)], (vectors(), 5))
        claim(place)
        thread, told = part_of(folder)
        while not opened:
            time.sleep(0.01)
        time.sleep(1.0)
        assert len(opened) == 3, "the arrays of one sparse matrix, once"
    thread.join(10)
    assert told[-1] == 0


def test_small_and_dense_searches_are_not_written(tmp_path):
    source = vectors()
    with joined(tmp_path / "parts") as engine:
        top_k(source, source, 5, engine=engine)
        top_k(source.toarray(), source.toarray(), 5, engine=FolderTasks(engine.folder, least_bytes=0))
        assert list(engine.folder.iterdir()) == []


def test_a_part_ends_when_no_join_is_alive(tmp_path):
    with pytest.raises(KgalignError, match=r"no sign of life of a join for 0 seconds; expected `kgalign align \.\.\. --join`"):
        work_on_part(tmp_path / "parts", 1, 1, print, silent=0.2)


def test_a_part_refuses_a_join_of_another_version_and_calls_no_other_function(tmp_path):
    folder = tmp_path / "parts"
    with joined(folder):
        place = folder / "join-x" / "search-0"
        place.mkdir(parents=True)
        (place / TASK).write_text('{"function": "system", "blocks": [[0, 1]], "shared": []}')
        (folder / ALIVE).write_text('{"kgalign": "0.0.1", "join": "join-x"}')
        with pytest.raises(KgalignError, match=r"the join is kgalign 0\.0\.1"):
            work_on_part(folder, 1, 1, print)
        (folder / ALIVE).write_text(f'{{"kgalign": "{kgalign.__version__}", "join": "join-x"}}')
        with pytest.raises(KgalignError, match="system"):
            work_on_part(folder, 1, 1, print)


def test_a_join_gives_signs_of_life_while_it_reads(tmp_path, monkeypatch, capsys):
    heard = []

    def slow_read(*args, **options):
        while not heard and time.monotonic() < began + 30:
            heard.extend((tmp_path / ".run.parts").glob(ALIVE))
            time.sleep(0.01)
        raise DataError("graphs: enough was read")

    began = time.monotonic()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kgalign.cli.align.read", slow_read)
    assert command(["align", "left.tsv", "right.tsv", "--join"]) == 2
    assert heard
    assert "enough was read" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--engine", "clouds"], "unknown engine 'clouds': expected one of local, ray"),
        (["--address", "auto"], "expected --engine ray"),
        (["--part", "4/3"], "such as 3/16"),
        (["--part", "0/3"], "such as 3/16"),
        (["--part", "1/3", "--join"], "exclude each other"),
        (["--part", "1/3", "--engine", "ray"], "exclude each other"),
        (["--join", "--engine", "ray"], "exclude each other"),
    ],
)
def test_options_that_do_not_go_together_are_refused(tmp_path, monkeypatch, capsys, options, expected):
    monkeypatch.chdir(tmp_path)
    assert command(["align", "left.tsv", "right.tsv", *options]) == 2
    assert expected in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_address_where_nobody_answers_is_refused_before_reading(tmp_path, monkeypatch, capsys):
    pytest.importorskip("ray", reason="ray is not installed: pip install 'kgalign[ray]'")
    monkeypatch.chdir(tmp_path)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # and does not listen
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        for each in (address, f"ray://{address}"):
            assert command(["align", "left.tsv", "right.tsv", "--engine", "ray", "--address", each]) == 2
            message = capsys.readouterr().err
            assert message.startswith(f"kgalign: --address {each}: no cluster of Ray answers there (")
            assert message.count("\n") == 1


@pytest.mark.slow
def test_processes_with_parts_end_with_the_join_and_the_run_is_the_same(tmp_path):
    """What the example for Slurm does, with plain processes; one part is killed."""
    data = Path(kgalign.__file__).parent / "datasets" / "demo" / "fr_en"
    align = [sys.executable, "-c", JOIN, "align", str(data), "--model", "names", "--max-rounds", "1"]
    done = subprocess.run([*align, "-o", "alone"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    parts = [
        subprocess.Popen([*align, "-o", "run", "--part", f"{number}/2"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        for number in (1, 2)
    ]
    parts[0].kill()
    done = subprocess.run([*align, "-o", "run", "--join"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    _, told = parts[1].communicate(timeout=60)
    assert parts[1].returncode == 0, told
    parts[0].communicate()
    for name in ("alignment.tsv", "candidates.parquet", "evidence.parquet"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone", "run"]


# The same command, but small searches are written, too.
JOIN = "import kgalign.search.folder_tasks as tasks; tasks.joined.__wrapped__.__defaults__ = (0,); from kgalign.cli import main; main()"


@pytest.fixture
def cluster():
    """Two nodes of Ray on this machine, real processes each."""
    pytest.importorskip("ray", reason="ray is not installed: pip install 'kgalign[ray]'")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    from ray.cluster_utils import Cluster

    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        started.other = started.add_node(num_cpus=1)
        ray.init(address=started.address, log_to_driver=False, logging_level="ERROR")
        yield started
    finally:
        ray.shutdown()
        started.shutdown()


@pytest.mark.slow
def test_two_nodes_of_ray_find_the_same_bytes_and_one_that_is_killed_costs_time_only(cluster, tmp_path):
    from kgalign.search.ray_tasks import RayTasks

    source, target = vectors(), vectors(1)
    expected = top_k(source, target, 5, effort=300)
    assert same(top_k(source, target, 5, effort=300, engine=RayTasks()), expected)
    task, gold = kgalign.demo()
    alone = kgalign.align(task, gold, model="names").write(tmp_path / "alone")
    killed = []

    def kill_a_node(progress):
        if progress.step == "searching by name" and progress.part is not None and not killed:
            cluster.remove_node(cluster.other, allow_graceful=False)
            killed.append(progress.part)

    run = kgalign.align(task, gold, model="names", engine="ray", progress=kill_a_node).write(tmp_path / "run")
    assert killed
    for name in ("alignment.tsv", "candidates.parquet", "evidence.parquet"):
        assert (run / name).read_bytes() == (alone / name).read_bytes()


@pytest.mark.slow
def test_blocks_that_no_process_of_ray_can_do_are_named(cluster, monkeypatch):
    from kgalign.search import ray_tasks

    def die(block):
        os._exit(1)

    monkeypatch.setattr(ray_tasks, "RETRIES", 1)
    with pytest.raises(KgalignError, match=r"^rows 100 to 200 of a search cannot be worked on in the cluster \("):
        list(ray_tasks.RayTasks().map(die, [slice(100, 200)], ()))
    monkeypatch.setattr(ray_tasks, "__version__", "0.0.1")
    with pytest.raises(KgalignError, match=rf"has kgalign {kgalign.__version__}; the process that aligns has 0\.0\.1"):
        list(ray_tasks.RayTasks().map(die, [slice(100, 200)], ()))


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "kgalign.search.ray_tasks", raising=False)
    with pytest.raises(KgalignError, match=r"the engine ray needs ray: pip install 'kgalign\[ray\]'"):
        kgalign.align(*kgalign.demo(), model="names", engine="ray")
