"""Every command of docs/your-own-data.md is run, in its order, and must do and print what the page says."""

import gzip
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path

import pytest
from test_sparql import endpoint

PAGE = Path(__file__).parents[1] / "docs" / "your-own-data.md"
ADDRESS = "http://localhost:7878/query"
BLOCK = re.compile(r"^```(\w+)(?: needs ([\w ]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
TOLERANCE = 0.02  # another machine rounds otherwise, and a few pairs come out differently


def read_page():
    """Each script of the page, the packages that it needs, and the output that is shown below it, if any."""
    page = PAGE.read_text("utf-8")
    blocks = BLOCK.findall(page)
    assert {language for language, _, _ in blocks} == {"bash", "text"}
    assert 2 * len(blocks) == page.count("```"), "a block is not written as the others are, and would not be run"
    after = [*blocks[1:], ("", "", "")]
    return [
        (text, needed.split(), next_text if next_language == "text" else None)
        for (language, needed, text), (next_language, _, next_text) in zip(blocks, after, strict=True)
        if language == "bash"
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder that all commands work in, one after the other."""
    return tmp_path_factory.mktemp("walkthrough")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """`kgalign` and `python` are those of this very Python, and lines as long as in a terminal."""
    commands = tmp_path_factory.mktemp("bin")
    for name, arguments in (("kgalign", "-m kgalign "), ("python", "")):
        (commands / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}"$@"\n')
        (commands / name).chmod(0o755)
    return {**os.environ, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}


@pytest.mark.skipif(not shutil.which("bash"), reason="the commands are for bash")
@pytest.mark.parametrize(("script", "needed", "shown"), read_page(), ids=[script.splitlines()[-1] for script, _, _ in read_page()])
def test_each_command_does_what_the_page_says(script, needed, shown, folder, environment):
    """They follow on each other: one alone finds nothing to work on."""
    missing = [package for package in needed if find_spec(package) is None]
    if missing:
        pytest.skip(f"pip install {' '.join(missing)}")
    with endpoint_of(folder / "left.nt.gz") if ADDRESS in script else nullcontext(ADDRESS) as address:
        done = subprocess.run(
            ["bash", "-e", "-c", script.replace(ADDRESS, address)],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
    printed = done.stdout.replace(address, ADDRESS)
    expected = int(told[1]) if (told := re.search(r"# exit (\d+)$", script, re.MULTILINE)) else 0
    if done.returncode != expected:
        pytest.fail(f"{script}ended with {done.returncode}, not {expected}:\n{printed}", pytrace=False)
    if shown is not None and not is_like(shown.splitlines(), printed.splitlines()):
        pytest.fail(f"{script}printed:\n{printed}\nbut the page shows:\n{shown}", pytrace=False)


def test_the_page_shows_each_kind_of_command():
    told = " ".join(script for script, _, _ in read_page())
    for command in ("info", "align", "explain", "evaluate", "merge"):
        assert f"kgalign {command}" in told


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        (["a 1,000 b"], ["a 1,005 b"], True),
        (["a 1,000 b"], ["a 1,100 b"], False),
        (["round 1"], ["round 2"], False),
        (["took ... s", "..."], ["took 3.1 s"], True),
        (["...", "x", "..."], ["y", "z"], False),
        (["x"], ["x", "y"], False),
    ],
)
def test_shown_and_printed_may_differ_in_what_is_left_out_and_in_rounding(shown, printed, expected):
    assert is_like(shown, printed) == expected


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
    return found is not None and all(
        abs(float(one.replace(",", "")) - float(other.replace(",", ""))) <= TOLERANCE * float(one.replace(",", ""))
        for one, other in zip(NUMBER.findall(shown.replace("...", " ")), found.groups(), strict=True)
    )
