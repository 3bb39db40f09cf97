"""One line a measured run in a file of results; the tables are made from it, and what has its line is not measured again."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kgalign.version import __version__
from kgalign.align import peak_mb
from kgalign.errors import DataError

Line = dict[str, Any]
Key = tuple[str, str, str, int, str, str]  # which run it is: experiment, system, pair, seed, protocol, split

ROOT = Path(__file__).parents[2]
CANONICAL = "canonical 30 %"  # the split of DBP15K that all papers share
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
    """A line, with the commit and the machine it was measured on."""
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
    """Adds a line to a file, which is made where there is none."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_lines(file: Path, experiment: str | None = None) -> list[Line]:
    """The lines of an experiment, or all; of two for the same run, the later one. None where there is no such file yet."""
    found = []
    for number, text in enumerate(file.read_text("utf-8").splitlines() if file.exists() else (), 1):
        try:
            line = json.loads(text)
            key(line)
        except (json.JSONDecodeError, KeyError, TypeError):
            raise DataError(f"{file}:{number}: expected a line of results, a JSON object; was it cut off? Then delete it") from None
        if experiment in (None, line["experiment"]):
            found.append(line)
    return latest(found)


def latest(lines: Iterable[Line]) -> list[Line]:
    """Of several lines for the same run the last one."""
    return list({key(line): line for line in lines}.values())


def key(line: Line) -> Key:
    """Which run a line is of."""
    return line["experiment"], line["system"], line["pair"], line["seed"], line["protocol"], line["split"]


def commit() -> str:
    """The commit that the code is at; `-dirty` is added where code was changed since. KGALIGN_COMMIT tells it where git cannot; the
    version stands in for it where kgalign is installed."""
    if "KGALIGN_COMMIT" in os.environ:
        return os.environ["KGALIGN_COMMIT"]
    found = _git("rev-parse", "--short=12", "HEAD") if (ROOT / ".git").exists() else ""
    if not found:
        return __version__
    return found + ("-dirty" if _git("status", "--porcelain", "--", "kgalign", "benchmarks/*.py") else "")


def hardware(device: str = "cpu") -> str:
    """The processor and, unless the device is the CPU, the GPU where there is one and PyTorch has been loaded."""
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
