"""The file of results: one line for each measured run. Tables are made from its lines, and no line is measured twice."""

from __future__ import annotations

import errno
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kgalign.errors import DataError
from kgalign.runs import peak_mb
from kgalign.version import __version__

Line = dict[str, Any]
Key = tuple[str, str, str, int, str, str]  # experiment, system, pair, seed, protocol, split: what a run is known by

ROOT = Path(__file__).parents[2]
CANONICAL = "canonical 30 %"  # the split of DBP15K that all papers share
CODE = ("kgalign", "benchmarks/*.py")  # where a change makes a commit dirty; in git, * also matches folders
DEVELOPMENT = "development"  # links held out of the seeds


def make_line(
    experiment: str,
    system: str,
    pair: str,
    metrics: Mapping[str, Any],
    *,
    seconds: float,
    options: Mapping[str, Any],
    protocol: str = "closed",
    split: str = CANONICAL,
    seed: int = 0,
    machine: str | None = None,
    peak: int | None = None,
) -> Line:
    """A line, with the commit and the machine that it was measured on.

    Args:
        experiment: The table or script that the line is for.
        system: The name of the row.
        pair: The name of the dataset.
        metrics: The figures.
        seconds: The time of the run.
        options: The options of the run.
        protocol: The protocol of the task.
        split: The division into seeds and test links.
        seed: The random seed.
        machine: The hardware, if it is not the processor of this machine.
        peak: The peak of memory in MiB, if another process did the work.
    """
    return {
        "experiment": experiment,
        "system": system,
        "pair": pair,
        "seed": seed,
        "protocol": protocol,
        "split": split,
        "metrics": {name: round(value, 6) if isinstance(value, float) else value for name, value in metrics.items()},
        "seconds": round(seconds, 3),
        "peak_mb": peak_mb() if peak is None else peak,
        "hardware": machine or hardware(),
        "commit": commit(),
        "options": dict(options),
    }


def append(line: Line, file: Path) -> None:
    """Adds a line to a file, which is created if there is none. The line is written whole or not at all; half a last line is replaced."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab+", buffering=0) as lines:
        lines.seek(0)
        before = _without_half_line(lines.readall())
        lines.truncate(len(before))
        is_ended = before[-1:] in (b"", b"\n")
        content = f"{'' if is_ended else chr(10)}{json.dumps(line, ensure_ascii=False)}\n".encode()
        try:
            if lines.write(content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
        except OSError:
            lines.truncate(len(before))
            raise


def read_lines(file: Path, experiment: str | None = None) -> list[Line]:
    """The lines of an experiment, or all lines. The last of several lines for the same run counts; a missing file has no lines.

    Half a line at the end, of a process that was killed or a disk that was full, does not count.
    """
    found = []
    whole = _without_half_line(file.read_bytes()).decode("utf-8") if file.exists() else ""
    for number, text in enumerate(whole.splitlines(), 1):
        try:
            line = json.loads(text)
            key(line)
        except (json.JSONDecodeError, KeyError, TypeError):
            raise DataError(
                f"{file}:{number}: expected a JSON object with the keys of a result, found something else; delete the line if it was cut off"
            ) from None
        if experiment in (None, line["experiment"]):
            found.append(line)
    return latest(found)


def _without_half_line(content: bytes) -> bytes:
    """The lines without a last one that was cut off."""
    end = content.rfind(b"\n") + 1
    try:
        json.loads(content[end:])
    except ValueError:
        return content[:end]
    return content


def latest(lines: Iterable[Line]) -> list[Line]:
    """The last line of each run."""
    return list({key(line): line for line in lines}.values())


def key(line: Line) -> Key:
    """The run that a line belongs to."""
    return line["experiment"], line["system"], line["pair"], line["seed"], line["protocol"], line["split"]


def commit() -> str:
    """The commit of the code, with `-dirty` if the code was changed since.

    The environment variable KGALIGN_COMMIT overrides it, for machines without git. An installed kgalign has its version instead.
    """
    if "KGALIGN_COMMIT" in os.environ:
        return os.environ["KGALIGN_COMMIT"]
    found = _git("rev-parse", "--short=12", "HEAD") if (ROOT / ".git").exists() else ""
    if not found:
        return __version__
    return found + ("-dirty" if _git("status", "--porcelain", "--", *CODE) else "")


def hardware(device: str = "cpu") -> str:
    """The processor and, unless the device is the CPU, the GPU, if there is one and PyTorch is loaded."""
    cpu = next(
        (line.split(":")[1].strip() for line in _lines_of("/proc/cpuinfo") if line.startswith("model name")), platform.processor()
    )
    machine = f"{os.cpu_count()} cores, {cpu or platform.machine()}"
    torch = sys.modules.get("torch")
    if device != "cpu" and torch is not None and torch.cuda.is_available():
        return f"{torch.cuda.get_device_name()}, {machine}"
    return machine


def _git(*arguments: str) -> str:
    try:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return ""


def _lines_of(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []
