"""Every command and every snippet of the README and of the docs is run, page by page, and must print what the page shows.

A page runs from top to bottom in an empty folder with the files of docs/examples in it. `bash` and `python` blocks are run; the Python
blocks of a page share their variables. A `text` block right after one of them is its output. A block with a title is one of the files, and
`console` blocks (they install, download or train) are not run.
"""

import gzip
import io
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path

import pytest
import typer.main
from test_sparql import endpoint

import kgalign
from kgalign import DECODERS, MODELS
from kgalign.cli import app
from kgalign.models.fast import KINDS
from kgalign.runs.folder import FILES
from kgalign.writers import WRITERS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXAMPLES = DOCS / "examples"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(set(DOCS.rglob("*.md")) - {DOCS / "results.md"})]
WITH_GRAPHS = [ROOT / "README.md", DOCS / "index.md"]  # they speak of two graphs that the reader has
ADDRESS = "http://localhost:7878/query"
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')
NEEDS = re.compile(r"<!-- needs ([\w ]+) -->\n$")
SNIPPET = re.compile(r"^--8<--\n(\S+)\n--8<--\n$")  # how a page includes a file of docs/examples
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
TOLERANCE = 0.02  # another machine rounds otherwise, and a few links come out differently
SMALL = 0.003  # the same for numbers near 0


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    title: str | None  # the name of the file that it shows
    needs: list[str]  # packages
    shown: str | None = None  # the output below it

    @property
    def is_run(self):
        return self.language in ("bash", "python") and self.title is None

    @property
    def exit_code(self):
        found = re.search(r"# exit (\d+)$", self.text, re.MULTILINE)
        return int(found[1]) if found else 0


def read_blocks(page):
    """The fenced blocks of a page, each with the output that is shown below it, if any."""
    text = page.read_text("utf-8")
    found = list(FENCE.finditer(text))
    assert 2 * len(found) == len(re.findall("^ *```", text, re.MULTILINE)), (
        "a block is not written as the others are, and would not be run"
    )
    blocks = []
    for match, after in zip_longest(found, found[1:]):
        title, needs = TITLE.search(match[2]), NEEDS.search(text[: match.start()])
        shown = after[3] if after and after[1] == "text" else None
        blocks.append(Block(match[1], match[3], title and title[1], needs[1].split() if needs else [], shown))
    return blocks


def name_of(page):
    return str(page.relative_to(ROOT))


RUN_PAGES = [page for page in PAGES if any(block.is_run for block in read_blocks(page))]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which a page is run, with the files of docs/examples."""
    work = tmp_path / "page"
    shutil.copytree(EXAMPLES, work, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(work)
    monkeypatch.syspath_prepend(work)
    yield work
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(work)):
            del sys.modules[name]


@pytest.fixture
def environment(tmp_path):
    """`kgalign` and `python` are those of this very Python, `pip` installs into a folder apart, and lines are as long as in a terminal."""
    commands, installed = tmp_path / "bin", tmp_path / "installed"
    commands.mkdir()
    pip = f'-m pip --disable-pip-version-check --quiet "$@" --no-deps --no-build-isolation --target "{installed}"'
    for name, arguments in (("kgalign", '-m kgalign "$@"'), ("python", '"$@"'), ("pip", pip)):
        (commands / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}\n')
        (commands / name).chmod(0o755)
    path = os.pathsep.join(filter(None, (str(installed), os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": path, "COLUMNS": "80"}


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("bash"), reason="the commands are for bash")
@pytest.mark.parametrize("page", RUN_PAGES, ids=name_of)
def test_a_page_does_what_it_says(page, folder, environment):
    if page in WITH_GRAPHS:
        write_graphs(folder)
    variables = {"__name__": "__main__"}
    for block in filter(lambda block: block.is_run, read_blocks(page)):
        if not all(map(find_spec, block.needs)):
            continue
        printed = run_bash(block, folder, environment) if block.language == "bash" else run_python(block, variables)
        if block.shown is not None and not is_like(block.shown.splitlines(), printed.splitlines()):
            pytest.fail(f"{block.text}printed:\n{printed}\nbut the page shows:\n{block.shown}", pytrace=False)


def test_the_pages_show_every_command():
    shown = " ".join(block.text for page in PAGES for block in read_blocks(page) if block.is_run)
    for command in set(commands()) - {"download"}:
        assert f"kgalign {command}" in shown


def test_commands_that_are_not_run_have_the_options_that_they_are_given():
    for page in PAGES:
        for block in read_blocks(page):
            for line in block.text.splitlines() if block.language == "console" else ():
                words = line.split("#")[0].split()
                if words[:1] == ["kgalign"]:
                    known = {
                        option
                        for parameter in commands()[words[1]].params
                        for option in (*parameter.opts, *parameter.secondary_opts)
                    }
                    assert {word for word in words if re.match("--?[a-z]", word)} <= known, line


def test_every_block_has_a_known_language():
    for page in PAGES:
        assert {block.language for block in read_blocks(page)} <= {"bash", "python", "text", "console", "toml"}, page
        assert not re.search("^ {4}(kgalign|python|pip|make) ", page.read_text("utf-8"), re.MULTILINE), (
            f"{page}: a command that no test runs"
        )


def test_every_example_is_shown_in_full_on_a_page():
    shown = {match[1] for page in PAGES for block in read_blocks(page) if (match := SNIPPET.match(block.text))}
    assert shown == {path.name for path in EXAMPLES.iterdir() if path.is_file()}


def test_the_api_pages_describe_every_public_name():
    pages = "\n".join(path.read_text("utf-8") for path in (DOCS / "api").glob("*.md"))
    described = set(re.findall(r"^(?:::: kgalign(?:\.\w+)*?\.|## )(\w+)$", pages, re.MULTILINE))
    assert set(kgalign.__all__) - {"__version__"} <= described


def test_the_pages_name_everything_that_can_be_chosen():
    explained = (DOCS / "how-it-works.md").read_text("utf-8")
    assert [name for name in (*MODELS, *DECODERS, *(kind.name for kind in KINDS)) if name not in explained] == []
    files = (DOCS / "files.md").read_text("utf-8")
    assert [name for name in (*FILES, *(f"`.{ending}`" for ending in WRITERS)) if name not in files] == []


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_the_links_of_pages_outside_the_site_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8")):
        assert "://" in link or (ROOT / link).exists(), link


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) < 150


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("mkdocs") or not find_spec("mkdocstrings"), reason="pip install '.[docs]'")
def test_the_site_builds_without_a_warning(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert not done.returncode, done.stdout
    page = (tmp_path / "site" / "command-line.html").read_text("utf-8")
    for command in commands():
        assert f"kgalign {command}" in page
    assert not re.search(r'(?:src|href)="https?://[^"]*\.(?:css|js|woff2?)"', page), "the site fetches something from elsewhere"


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        (["a 1,000 b"], ["a 1,005 b"], True),
        (["a 1,000 b"], ["a 1,100 b"], False),
        (["round 1"], ["round 2"], False),
        (["p = 0.002"], ["p = 0.003"], True),
        (["took ... s", "..."], ["took 3.1 s"], True),
        (["...", "x", "..."], ["y", "z"], False),
        (["x"], ["x", "y"], False),
    ],
)
def test_shown_and_printed_may_differ_in_what_is_left_out_and_in_rounding(shown, printed, expected):
    assert is_like(shown, printed) == expected


def commands():
    """The commands of the command line by name."""
    return typer.main.get_command(app).commands


def write_graphs(folder):
    """Two graphs, and two tables of their links, under the names that the pages use."""
    task, gold = kgalign.demo("fr_en")
    kgalign.write_graph(task.source, folder / "left.nt.gz", "fr")
    kgalign.write_graph(task.target, folder / "right.ttl", "en")
    kgalign.write(task.seeds, task, folder / "known.tsv")
    kgalign.write(gold, task, folder / "test.tsv")


def run_python(block, variables):
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(block.text, "a block of the page", "exec"), variables)
    return printed.getvalue()


def run_bash(block, folder, environment):
    """What a script prints; it must end as its comment says."""
    with endpoint_of(folder / "left.nt.gz") if ADDRESS in block.text else nullcontext(ADDRESS) as address:
        done = subprocess.run(
            ["bash", "-e", "-c", block.text.replace(ADDRESS, address)],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
    printed = done.stdout.replace(address, ADDRESS)
    if done.returncode != block.exit_code:
        pytest.fail(f"{block.text}ended with {done.returncode}, not {block.exit_code}:\n{printed}", pytrace=False)
    return printed


@contextmanager
def endpoint_of(path):
    """The address of an endpoint that holds the graph of the file."""
    with endpoint(gzip.decompress(path.read_bytes()).decode()) as (address, _):
        yield address


def is_like(shown, printed):
    """Whether the lines are the same, but for `...` (in a line: any text; alone: any lines) and numbers that are a little off."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(is_like(shown[1:], printed[start:]) for start in range(len(printed) + 1))
    return bool(printed) and is_like_line(shown[0], printed[0]) and is_like(shown[1:], printed[1:])


def is_like_line(shown, printed):
    texts = [re.escape(NUMBER.sub("\0", part)).replace("\0", f"({NUMBER.pattern})") for part in shown.split("...")]
    found = re.fullmatch(".*".join(texts), printed)
    return found is not None and all(map(is_near, NUMBER.findall(shown.replace("...", " ")), found.groups()))


def is_near(shown, printed):
    one, other = (float(number.replace(",", "")) for number in (shown, printed))
    return abs(one - other) <= max(TOLERANCE * one, SMALL)
