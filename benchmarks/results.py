"""One line a measured run in results.jsonl; the tables in the docs are made from it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from kgalign.align import peak_mb

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results.jsonl"
DATA = Path(os.environ.get("KGALIGN_DATA", ROOT.parent / "shared" / "data"))
PAIRS = ("zh_en", "ja_en", "fr_en")


def append(
    experiment: str,
    system: str,
    pair: str,
    metrics: dict[str, Any],
    *,
    seconds: float,
    options: dict[str, Any],
    protocol: str = "closed",
    split: str = "canonical 30 %",
    seed: int = 0,
    machine: str | None = None,
    file: Path | None = None,
) -> None:
    """Adds a line, with the commit and the machine it was measured on, to results.jsonl or to another file."""
    line = {
        "experiment": experiment,
        "system": system,
        "pair": pair,
        "seed": seed,
        "protocol": protocol,
        "split": split,
        "metrics": {name: round(value, 6) if isinstance(value, float) else value for name, value in metrics.items()},
        "seconds": round(seconds, 3),
        "peak_mb": metrics.get("peak_mb", peak_mb()),  # of the process that did the work, where it was another one
        "hardware": machine or hardware(),
        "commit": commit(),
        "options": options,
    }
    with (file or RESULTS).open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(experiment, system, pair, line["metrics"], f"{seconds:.2f} s", flush=True)


def lines(experiment: str) -> list[dict[str, Any]]:
    """The lines of an experiment; of two for the same thing, the later one."""
    latest = {}
    for text in RESULTS.read_text("utf-8").splitlines():
        line = json.loads(text)
        if line["experiment"] == experiment:
            latest[line["system"], line["pair"], line["seed"], line["protocol"]] = line
    return list(latest.values())


def commit() -> str:
    """The commit that the code is at; `-dirty` is added where code was changed since. KGALIGN_COMMIT tells it where git cannot."""
    if "KGALIGN_COMMIT" in os.environ:
        return os.environ["KGALIGN_COMMIT"]
    found = _git("rev-parse", "--short=12", "HEAD")
    return found + ("-dirty" if _git("status", "--porcelain", "--", "kgalign", "benchmarks/*.py") else "")


def hardware() -> str:
    cpu = next(
        (line.split(":")[1].strip() for line in _lines_of("/proc/cpuinfo") if line.startswith("model name")), platform.processor()
    )
    return f"{os.cpu_count()} cores, {cpu or platform.machine()}"


def _git(*arguments: str) -> str:
    try:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return ""


def _lines_of(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []
