"""How fast the review of a hundred thousand links answers, over HTTP, as its page asks.

    python -m benchmarks.measure.review [--entities 150000] [--requests 100]

Graphs, links and their candidates are generated, so that no model has to run. A figure is the median of requests in
milliseconds. That with "slow" is what one request in twenty exceeds, that with "cpu" the median of the work of server and
client together, which other programs on the machine hardly change.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy as np

from benchmarks.measure.generated import generate
from benchmarks.results import GENERATED, RESULTS, add
from kgalign import Alignment, AlignmentTask, Candidates, Reasoning, Run
from kgalign.bench.runs import in_own_process
from kgalign.runs import peak_mb
from kgalign.serve.opening import open_review

CANDIDATES = 10  # of each source


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=150_000, help="entities of each graph; about seven in ten get a link")
    parser.add_argument("--requests", type=int, default=100, help="how often each request is made")
    given = parser.parse_args()
    measure(given.entities, given.requests)


def measure(entities: int, requests: int, file: Path = RESULTS) -> None:
    """Adds one line: the time to open the review, and of each kind of request.

    Args:
        entities: About how many entities each graph has.
        requests: How often each request is made.
        file: The file of results.
    """
    seconds, metrics = in_own_process(_review, entities, requests)
    add(
        "review answers",
        "over HTTP",
        f"{metrics['reviewed']:,} links",
        metrics,
        seconds=seconds,
        options={"candidates": CANDIDATES, "entities": entities, "requests": requests},
        protocol="open",
        split=GENERATED,
        file=file,
    )


def _review(entities: int, requests: int) -> tuple[float, dict[str, Any]]:
    """The seconds until the review is open, and the other figures."""
    run = _run(*generate(entities))
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        with open_review(run, Path(folder) / "decisions.jsonl", browser=False) as review:
            seconds = time.perf_counter() - began
            figures = _times(review.address, requests)
    return seconds, {"reviewed": len(run.alignment), **figures, "peak_mb": peak_mb()}


def _run(task: AlignmentTask, gold: Alignment) -> Run:
    """A run that links all gold links and seeds, with drawn probabilities and further candidates."""
    random = np.random.default_rng(0)
    everything = (np.arange(len(graph.entities)) for graph in (task.source, task.target))
    linked = gold + task.seeds
    task = replace(task, seeds=Alignment.empty(), **dict(zip(("queries", "pool"), everything, strict=True)))
    links = Alignment(linked.pairs, random.beta(4, 1, len(linked)), record={"decoder": "drawn"})
    others = random.integers(len(task.target.entities), size=(len(links), CANDIDATES - 1))
    targets = np.column_stack([links.targets, others])
    scores = np.column_stack([np.zeros(len(links)), np.sort(-random.exponential(3, others.shape))[:, ::-1]])
    return Run(task, Reasoning(links, Candidates(links.sources, targets, scores)))


def _times(address: str, requests: int) -> dict[str, float]:
    """The median of each kind of request in milliseconds, and what one in twenty exceeds, while a person decides on link after link."""
    place = urlsplit(address)
    connection = HTTPConnection(place.hostname or "", place.port or 0, timeout=60)
    taken: dict[str, list[float]] = {}
    worked: dict[str, list[float]] = {}

    def ask(path: str, given: Mapping[str, Any], method: str = "GET") -> Any:
        headers = {"Authorization": f"Bearer {place.fragment}", "Content-Type": "application/json"}
        began, began_work = time.perf_counter(), time.process_time()
        if method == "GET":
            connection.request("GET", f"/api/{path}?{urlencode(given)}", headers=headers)
        else:
            connection.request("POST", f"/api/{path}", json.dumps(given).encode(), headers)
        answer = connection.getresponse()
        text = answer.read()
        taken.setdefault(path, []).append(1000 * (time.perf_counter() - began))
        worked.setdefault(path, []).append(1000 * (time.process_time() - began_work))
        assert answer.status == 200, text
        return json.loads(text)

    for number in range(requests):
        item = ask("next", {"author": "ann"})
        pair = {"source": item["source"]["iri"], "target": item["target"]["iri"]}
        decided = {**pair, "author": "ann", "drawn": item["drawn"], "probability": item["probability"], "request": str(number)}
        ask("decide", {**decided, "verdict": ("match", "no match")[number % 2]}, "POST")
        ask("summary", {})
        ask("item", pair)
        ask("links", {"offset": 50 * number, "limit": 50, "sort": ("probability", "-probability", "round")[number % 3]})
        ask("search", {"text": item["source"]["name"][:4]})
        ask("above", {"line": 0.5 + number / 300})
        if number % 5 == 4:
            ask("undo", {"author": "ann", "request": f"undo {number}"}, "POST")
    connection.close()
    slow = {f"{path} slow": statistics.quantiles(times, n=20)[-1] for path, times in taken.items() if len(times) > 1}
    work = {f"{path} cpu": statistics.median(times) for path, times in worked.items()}
    return {**{path: statistics.median(times) for path, times in taken.items()}, **slow, **work}


if __name__ == "__main__":
    main()
