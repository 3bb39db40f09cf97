import hashlib
import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from kgalign import DataError, OptionError, demo, read
from kgalign.datasets import PAIRS
from kgalign.datasets import download as downloads


@pytest.mark.parametrize("pair", PAIRS)
def test_demo_is_two_graphs_with_gaps(pair):
    task, gold = demo(pair)
    for graph in (task.source, task.target):
        assert 1300 < len(graph.entities) < 1900
        assert len(np.unique(graph.triples[:, [0, 2]])) == len(graph.entities)
    assert len(task.seeds) > 200
    assert len(gold) > 800
    assert len(task.source.entities) > len(gold) + len(task.seeds) + 100, "some have no counterpart"


def test_unknown_demo_is_refused():
    with pytest.raises(OptionError, match="unknown demo pair 'xx': expected one of fr_en, zh_en"):
        demo("xx")


@pytest.fixture
def server(tmp_path):
    """A real server on loopback with a small DBP15K in the shape of the public one."""
    root = tmp_path / "served"
    folder = root / "EA_datasets" / "DBP_ZH_EN"
    folder.mkdir(parents=True)
    (root / "translated_ent_name").mkdir()
    (folder / "ent_ids_1").write_text("0\thttp://x/a\n1\thttp://x/b\n")
    (folder / "ent_ids_2").write_text("2\thttp://y/a\n3\thttp://y/b\n")
    (folder / "triples_1").write_text("0\t0\t1\n")
    (folder / "triples_2").write_text("2\t0\t3\n")
    (folder / "ref_ent_ids").write_text("0\t2\n1\t3\n")
    names = [[0, ["new", "york"]], [1, ["rome"]], [2, ["new", "york"]], [3, ["rome"]]]
    (root / "translated_ent_name" / "dbp_zh_en.json").write_text(json.dumps(names))
    quiet = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), partial(quiet, directory=root))
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    files = {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
    yield f"http://127.0.0.1:{httpd.server_port}", files, root
    httpd.shutdown()


def test_download_arranges_what_the_reader_reads(server, tmp_path, monkeypatch):
    url, files, _ = server
    monkeypatch.setattr(downloads, "TEST_LINKS", 1)
    folder = downloads.download_dbp15k(tmp_path / "dbp15k", base_url=url, files=files)
    task, gold = read(folder / "zh_en")
    assert list(task.source.names) == ["new york", "rome"]
    assert (task.seeds.pairs.tolist(), gold.pairs.tolist()) == ([[1, 1]], [[0, 0]])


def test_download_refuses_a_changed_file_and_leaves_nothing(server, tmp_path):
    url, files, root = server
    (root / "EA_datasets/DBP_ZH_EN/triples_1").write_text("0\t0\t0\n")
    with pytest.raises(DataError, match="triples_1: expected a file with SHA-256"):
        downloads.download_dbp15k(tmp_path / "dbp15k", base_url=url, files=files)
    assert [path.name for path in tmp_path.iterdir()] == ["served"]


def test_download_says_when_the_file_is_gone(server, tmp_path):
    url, files, root = server
    (root / "EA_datasets/DBP_ZH_EN/triples_1").unlink()
    with pytest.raises(DataError, match="triples_1: could not be fetched"):
        downloads.download_dbp15k(tmp_path / "dbp15k", base_url=url, files=files)


def test_download_does_not_touch_what_exists(server, tmp_path):
    url, files, root = server
    with pytest.raises(OptionError, match="exists already"):
        downloads.download_dbp15k(root, base_url=url, files=files)


def test_every_public_file_has_a_checksum():
    assert len(downloads.DBP15K) == 18
    assert all(len(checksum) == 64 for checksum in downloads.DBP15K.values())
