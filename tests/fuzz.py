"""Damages files of every format at random and gives them to every command: `make fuzz SECONDS=60`, or `python tests/fuzz.py --help`.

A command may refuse a damaged file in one line, or read what is left of it. It may not fail inside, crash, hang, take more memory than the
limit, print what a terminal would obey, change its input, or leave anything half-written. Inputs are numbered, and the seed and the number
make the input. Those that fail are kept in a folder, with the command and what it said.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess as Process
from pathlib import Path
from urllib.parse import unquote_plus

# Idle threads sleep, as in conftest.py: on small graphs, threads that spin take most of the time. It is read by the imports below.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from fuzz_corpus import ENDPOINT, Entry, make_corpus
from fuzz_damage import damage

from kgalign.cli import run
from kgalign.cli.printing import show_log
from kgalign.runs.folder import FILES, SOMETIMES

UNSAFE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # what a terminal obeys, but line feeds
WARNING = re.compile(r"^\S+\.py:\d+: \w*Warning: ", re.MULTILINE)
LONGEST_LINE = 2_000
ANSWERS = {".json": "application/sparql-results+json", ".nt": "application/n-triples", ".ttl": "text/turtle"}
NO_ROWS = b'{"results": {"bindings": []}}'  # of the pages after the first
SECONDS, MEMORY = 60.0, 4 << 30  # that one input may take, on a core of its own


@dataclass(frozen=True)
class Failure:
    """An input that a command did not take as it should."""

    number: int
    name: str
    problem: str
    folder: Path

    def __str__(self) -> str:
        return f"input {self.number}, {self.name}: {self.problem}; kept in {self.folder}"


def fuzz(
    seconds: float, seed: int, keep: Path, only: Sequence[str] = (), first: int = 0, count: int | None = None
) -> tuple[int, list[Failure]]:
    """Runs inputs for some seconds, or so many, and returns how many there were, and those that failed.

    Args:
        seconds: When to end.
        seed: Makes the inputs, together with their numbers.
        keep: A folder for inputs that fail.
        only: Beginnings of the names of entries; none: all entries.
        first: The number of the first input.
        count: How many inputs at most.
    """
    failures: list[Failure] = []
    deadline, number = time.monotonic() + seconds, first
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="kgalign-fuzz-") as temporary:
        corpus = Path(temporary, "corpus")
        while time.monotonic() < deadline and (count is None or number < first + count):
            ours, theirs = context.Pipe()
            last = None if count is None else first + count
            process = context.Process(
                target=_work, args=(theirs, corpus, seed, first, number, last, list(only), deadline - time.monotonic(), keep)
            )
            process.start()
            theirs.close()
            number, ended = _watch(process, ours, number, failures)
            if not ended:  # it crashed or hung, so the next process goes on behind that input
                name, folder = _kept_input(seed, number, only, corpus, keep)
                process.join(1)
                code = process.exitcode or 0
                how = f"no end after {SECONDS:.0f} s" if code == -signal.SIGKILL else f"a crash with exit code {code}"
                failures.append(Failure(number, name, how, folder))
                number += 1
            elif time.monotonic() < deadline and count is None:
                break
    return number - first, failures


def _watch(process: Process, pipe: Connection, number: int, failures: list[Failure]) -> tuple[int, bool]:
    """Waits for a process, and returns the number of the input that it was at, and whether it has ended by itself."""
    patience = 300.0  # until the corpus is made
    with contextlib.suppress(EOFError):
        while pipe.poll(patience):
            message = pipe.recv()
            if message == "done":
                process.join()
                return number, True
            if isinstance(message, Failure):
                failures.append(message)
                print(message, flush=True)
            else:
                number, patience = message, SECONDS * _slowness()
                if number and not number % 1000:
                    print(f"{number:,} inputs so far", flush=True)
    process.kill()
    process.join()
    return number, False


def _slowness() -> float:
    """How much longer everything takes while other processes use the cores, too."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)) if os.name == "posix" else 1.0


def _work(
    pipe: Connection,
    corpus: Path,
    seed: int,
    first: int,
    number: int,
    last: int | None,
    only: list[str],
    seconds: float,
    keep: Path,
) -> None:
    """Runs inputs one after the other in this process, and says which one comes next."""
    entries = _entries(corpus, only)
    _limit_memory()
    show_log()
    if number == first:
        for whole in _refused_whole(corpus, entries):
            pipe.send(whole)
    began = time.monotonic()
    while time.monotonic() - began < seconds and (last is None or number < last):
        pipe.send(number)
        with tempfile.TemporaryDirectory(prefix="kgalign-fuzz-") as temporary:
            entry, damaged = _make_input(Path(temporary), corpus, entries, seed, number)
            before = _contents(Path(temporary))
            problem, said, _ = _problem(entry, Path(temporary), before)
            if problem:
                folder = _keep(Path(temporary), before, keep / f"{seed}-{number}", entry, said)
                pipe.send(Failure(number, f"{entry.name} with {damaged}", problem, folder))
        number += 1
    pipe.send(number)
    pipe.send("done")


def _entries(corpus: Path, only: Sequence[str]) -> list[Entry]:
    """The entries, whose files are made once."""
    if corpus.is_dir():
        shutil.rmtree(corpus)
    corpus.mkdir()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        entries = make_corpus(corpus, models=not only or any("load".startswith(each[:4]) for each in only))
    return [entry for entry in entries if not only or entry.name.startswith(tuple(only))]


def _refused_whole(corpus: Path, entries: Sequence[Entry]) -> Iterator[Failure]:
    """The entries that are refused though nothing is damaged: they would find nothing. This also compiles what all inputs need."""
    for entry in {(entry.name, *entry.arguments): entry for entry in entries}.values():
        with tempfile.TemporaryDirectory(prefix="kgalign-fuzz-") as temporary:
            folder = Path(temporary)
            _copy_files(corpus, entry, folder)
            problem, said, status = _problem(entry, folder, _contents(folder))
        if problem or status == 2:
            yield Failure(-1, entry.name, f"{problem or 'refused'} though it is whole: {said[-300:]}", corpus)


def _copy_files(corpus: Path, entry: Entry, folder: Path) -> None:
    for name in (*entry.damaged, *entry.others):
        (shutil.copytree if (corpus / name).is_dir() else shutil.copy)(corpus / name, folder / name)


def _make_input(folder: Path, corpus: Path, entries: Sequence[Entry], seed: int, number: int) -> tuple[Entry, str]:
    """Copies the files of an entry into a folder and damages one. The families of entries, which have the same name, come in turn."""
    chance = random.Random(f"{seed} {number}")
    names = sorted({entry.name for entry in entries})
    entry = chance.choice([entry for entry in entries if entry.name == names[number % len(names)]])
    _copy_files(corpus, entry, folder)
    return entry, damage(folder / chance.choice(list(entry.damaged)), chance)


def _problem(entry: Entry, folder: Path, before: dict[str, bytes]) -> tuple[str, str, int]:
    """What is wrong with how a command took its input, empty if nothing is; what it said, and its exit code."""
    out, err = io.StringIO(), io.StringIO()
    home = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _endpoint(folder) as address:
            status = run([argument.replace(ENDPOINT, address) for argument in entry.arguments])
    except BaseException:
        return "an exception left the command", f"{out.getvalue()}\n{err.getvalue()}\n{traceback.format_exc()}", -1
    finally:
        os.chdir(home)
    said = f"{out.getvalue()}\n{err.getvalue()}"
    return _wrong_ending(status, said, err.getvalue().splitlines()) or _left_behind(entry, folder, before, status), said, status


def _wrong_ending(status: int, said: str, lines: Sequence[str]) -> str:
    """What is wrong with what a command said; the lines are those of stderr."""
    if status not in (0, 1, 2):
        return f"exit code {status}: {lines[-1] if lines else ''}"[:300]
    if status == 2 and (sum(line.startswith("kgalign: ") for line in lines) != 1 or not lines[-1].startswith("kgalign: ")):
        return "exit code 2 without one line that says why"
    if found := UNSAFE.search(said):
        return f"prints the control character {found[0]!r}"
    if (longest := max(map(len, said.splitlines()), default=0)) > LONGEST_LINE:
        return f"a line of {longest:,} characters"
    if found := WARNING.search(said):
        return f"a warning of Python: {found[0]}"
    return ""


def _left_behind(entry: Entry, folder: Path, before: dict[str, bytes], status: int) -> str:
    """What is wrong with the files after a command."""
    after = _contents(folder)
    folder_given = "next/" if "next" in entry.arguments else "run/"
    output = folder_given if status in (0, 1) and entry.arguments[0] in ("align", "decode", "update") else ""
    may_change = tuple(f"{each}/" for each in entry.spent) + ((output,) if output else ())
    changed = [name for name, content in before.items() if after.get(name) != content and not name.startswith(may_change)]
    if changed:
        return f"{changed[0]} is changed or gone"
    new = sorted(after.keys() - before.keys())
    if any(part.startswith(".") for name in new for part in Path(name).parts):
        return f"drafts are left: {', '.join(new)}"
    if status == 2 and new:
        return f"refused its input but wrote {', '.join(new)}"
    if output and {path.name for path in (folder / output).iterdir()} | SOMETIMES != FILES:
        return "the run is not whole"
    return ""


@contextlib.contextmanager
def _endpoint(folder: Path) -> Iterator[str]:
    """The address of a server whose first page is a file of that folder, where there is one."""
    answer = next(folder.glob("answer.*"), None)
    if answer is None:
        yield ""
        return
    content, media_type = answer.read_bytes(), ANSWERS[answer.suffix]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = unquote_plus(self.rfile.read(int(self.headers["Content-Length"])).decode())
            found = NO_ROWS if "OFFSET" in query or "STR(?s) >" in query else content
            self.send_response(200)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(found)))
            self.end_headers()
            self.wfile.write(found)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/sparql"
    finally:
        server.shutdown()
        server.server_close()


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _keep(folder: Path, before: dict[str, bytes], place: Path, entry: Entry, said: str) -> Path:
    """Keeps the files that a command was given, the command, and what it said."""
    shutil.rmtree(place, ignore_errors=True)
    for name, content in before.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    place.mkdir(parents=True, exist_ok=True)
    (place / "command.json").write_text(json.dumps(entry.arguments), "utf-8")
    (place / "said.txt").write_text(said, "utf-8", errors="backslashreplace")
    for report in re.findall(r"with the file (\S+),", said):
        with contextlib.suppress(OSError):
            shutil.move(report, place / "traceback.txt")
    return place


def _kept_input(seed: int, number: int, only: Sequence[str], corpus: Path, keep: Path) -> tuple[str, Path]:
    """The input of a process that has not ended by itself."""
    with tempfile.TemporaryDirectory(prefix="kgalign-fuzz-") as temporary:
        entry, damaged = _make_input(Path(temporary), corpus, _entries(corpus, only), seed, number)
        return f"{entry.name} with {damaged}", _keep(
            Path(temporary), _contents(Path(temporary)), keep / f"{seed}-{number}", entry, ""
        )


def _limit_memory() -> None:
    """Limits the memory of this process. The system limits addresses, so those that libraries have reserved and do not use are added."""
    with contextlib.suppress(ImportError):
        import resource  # POSIX only

        reserved = 0
        with contextlib.suppress(OSError):  # only Linux says it
            size, resident, *_ = map(int, Path("/proc/self/statm").read_text("ascii").split())
            reserved = (size - resident) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY + reserved,) * 2)


def main() -> int:
    """Runs the attack and says what has failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--count", type=int, help="how many inputs at most")
    parser.add_argument("--only", default="", help="beginnings of the names of entries, with commas between them")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="a folder for inputs that fail")
    given = parser.parse_args()
    count, failures = fuzz(
        given.seconds, given.seed, given.keep.resolve(), list(filter(None, given.only.split(","))), given.first, given.count
    )
    print(f"{count:,} inputs, {len(failures):,} failed")
    for failure in failures:
        print(f"  {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
