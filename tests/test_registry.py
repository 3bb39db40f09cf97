"""What installed packages add by entry points is listed, chosen and run like what kgalign brings."""

import os
import subprocess
import sys

import pytest

from kgalign import DECODERS, MODELS, OptionError
from kgalign.registry import Registry

PROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "kgalign-example"
version = "1.0"

[project.entry-points."kgalign.models"]
lengths = "kgalign_example:Lengths"

[project.entry-points."kgalign.decoders"]
reckless = "kgalign_example:reckless"

[project.entry-points."kgalign.readers"]
edges = "kgalign_example:reader"

[project.entry-points."kgalign.writers"]
pairs = "kgalign_example:write_pairs"

[tool.setuptools]
py-modules = ["kgalign_example"]
"""
MODULE = '''\
"""A model, a decoder, a reader and a writer of a few lines each."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kgalign import Alignment, Candidates, Capabilities, KnowledgeGraph


@dataclass(frozen=True)
class Lengths:
    """Names of the same length are the same thing."""

    penalty: float = 1.0
    capabilities = Capabilities()

    def fit(self, task):
        return self

    def predict(self, task, known):
        ours, theirs = (np.array([len(name) for name in graph.names]) for graph in (task.source, task.target))
        scores = -self.penalty * abs(ours[task.queries][:, None] - theirs[task.pool][None, :])
        order = np.argsort(-scores, axis=1, kind="stable")
        return Candidates(task.queries, task.pool[order], np.take_along_axis(scores, order, axis=1))


def reckless(candidates, *, seed=0):
    """Each query takes its first candidate, and is certain of it."""
    return Alignment(np.column_stack([candidates.queries, candidates.targets[:, 0]]))


class EdgesReader:
    """A file with one edge a line: head > tail."""

    expects = "a file of edges (.edges)"

    def accepts(self, place):
        return str(place).endswith(".edges")

    def read(self, place, *, strict=False):
        edges = [line.split(" > ") for line in Path(place).read_text("utf-8").splitlines()]
        names = sorted({name for edge in edges for name in edge})
        triples = np.array([(names.index(head), 0, names.index(tail)) for head, tail in edges])
        return KnowledgeGraph(names, ["edge"], triples, names)


reader = EdgesReader()


def write_pairs(alignment, task, path):
    path.write_text("".join(f"{task.source.entities[s]} = {task.target.entities[t]}\\n" for s, t in alignment.pairs), "utf-8")
'''


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment of a process in which the package is installed."""
    project, site = tmp_path_factory.mktemp("example"), tmp_path_factory.mktemp("site")
    (project / "pyproject.toml").write_text(PROJECT, "utf-8")
    (project / "kgalign_example.py").write_text(MODULE, "utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", site, project]
    subprocess.run(list(map(str, pip)), check=True, capture_output=True)
    return {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "200"}


def run(environment, *arguments, cwd=None):
    return subprocess.run([sys.executable, *map(str, arguments)], env=environment, cwd=cwd, capture_output=True, text=True)


@pytest.mark.slow
def test_help_lists_what_a_package_adds(installed):
    shown = " ".join(run(installed, "-m", "kgalign", "align", "--help").stdout.split())
    for name in ("lengths", "reckless", "edges"):
        assert name in shown


@pytest.mark.slow
def test_a_model_a_decoder_and_a_reader_of_a_package_run(installed, tmp_path):
    (tmp_path / "left.edges").write_text("Oslo > Norway\nRome > Italia\n", "utf-8")
    (tmp_path / "right.edges").write_text("Oslo > Noruega\n", "utf-8")
    command = ["-m", "kgalign", "align", "left.edges", "right.edges", "--model", "lengths", "--decoder", "reckless"]
    done = run(installed, *command, "--set", "penalty=2", "--max-rounds", 0, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in (tmp_path / "run" / "alignment.tsv").read_text("utf-8").splitlines()[1:]]
    assert {(row[0], row[1]) for row in rows} >= {("Oslo", "Oslo"), ("Norway", "Noruega")}
    assert {row[6] for row in rows} == {"reckless"}


@pytest.mark.slow
def test_a_writer_of_a_package_is_found_by_its_ending(installed, tmp_path):
    lines = (
        "import kgalign",
        "task, gold = kgalign.demo()",
        "kgalign.write(gold, task, 'links.pairs')",
    )
    done = run(installed, "-c", "\n".join(lines), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "links.pairs").read_text("utf-8").splitlines()) == 966


@pytest.mark.slow
def test_an_option_that_a_package_does_not_have_is_refused_with_those_it_has(installed, tmp_path):
    done = run(installed, "-m", "kgalign", "align", "a", "b", "--model", "lengths", "--set", "size=3", cwd=tmp_path)
    assert done.returncode == 2
    assert "penalty" in done.stderr


@pytest.fixture
def broken(tmp_path):
    """The environment of a process in which a package is installed whose reader, model and decoder cannot be imported."""
    folder = tmp_path / "broken-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n", "utf-8")
    groups = ["[kgalign.decoders]\nbad = no_such_module:thing\nsm = no_such_module:thing\n"]
    groups += [f"[kgalign.{kind}]\nbad = no_such_module:thing\n" for kind in ("models", "readers", "writers")]
    (folder / "entry_points.txt").write_text("".join(groups), "utf-8")
    return {**os.environ, "PYTHONPATH": str(tmp_path)}


def test_a_broken_package_breaks_nothing_but_its_own_names(broken, tmp_path):
    (tmp_path / "left.tsv").write_text("Oslo\tin\tNorway\n", "utf-8")
    done = run(broken, "-m", "kgalign", "info", "left.tsv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the reader bad of the package broken cannot be loaded" in done.stderr
    done = run(broken, "-m", "kgalign", "align", "left.tsv", "left.tsv", "--model", "bad", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("kgalign: the model bad of the package broken cannot be loaded (ModuleNotFoundError")
    assert done.stderr.count("\n") == 1


def test_an_alias_is_not_taken_over_by_a_package(broken):
    done = run(broken, "-c", "import kgalign; kgalign.make_decoder('sm'); print(list(kgalign.DECODERS))")
    assert done.returncode == 0, done.stderr
    assert "'sm'" not in done.stdout


def test_an_unknown_name_is_refused_with_the_names_that_exist():
    with pytest.raises(OptionError, match="unknown model 'magic': expected one of fast, "):
        MODELS["magic"]
    with pytest.raises(OptionError, match=r"unknown decoder 'best': expected one of greedy, .*hungarian"):
        DECODERS["best"]


def test_names_are_listed_without_importing_what_they_stand_for():
    registry = Registry("thing", "kgalign.none", {"one": "no.such.module:One"}, aliases={"uno": "one"})
    assert list(registry) == ["one"]
    assert "uno" in registry
    assert registry.check("uno") == "one"
    with pytest.raises(ImportError):
        registry["one"]
