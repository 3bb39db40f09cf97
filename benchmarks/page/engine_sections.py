"""The sections about the engine: threads, machines, and how fast a review answers."""

from __future__ import annotations

from benchmarks.page.markdown import name_of, section, table
from benchmarks.results import Results

ANSWERS = {
    "next": "the next question",
    "decide": "a decision",
    "undo": "an undo",
    "summary": "the summary",
    "item": "one link",
    "links": "fifty links of the list",
    "search": "a search",
    "above": "how many links a line accepts",
}


def threads(results: Results) -> str:
    """What more threads bring; empty if it was not measured."""
    rows = []
    for line in results.of("threads"):
        metrics, numbers = line["metrics"], line["options"]["threads"]
        for number in numbers:
            speedup = f"{metrics[f'speedup_{number}']:.2f}" if number > 1 else "1"
            rows.append([line["pair"], str(number), f"{metrics[f'seconds_{number}']:.1f}", speedup])
    if not rows:
        return ""
    found = results.of("threads")
    same = "The links are the same bytes with each." if all(line["metrics"]["same_bytes"] for line in found) else ""
    text = (
        "The same run with more and more threads, one after the other on one machine (`python -m benchmarks.measure.threads`). Code is "
        f"compiled before; generating the graphs is left out. {same}"
    )
    header = ("", "threads", "seconds", "times as fast as one")
    return section("### Threads", text, table(header, rows), f"Measured on {found[-1]['hardware']}.")


def engines(results: Results) -> str:
    """Each engine beside local threads; empty if it was not measured."""
    found = results.of("engines")
    rows = [
        [
            name_of(line["pair"]),
            line["system"],
            "yes" if line["metrics"]["same_bytes"] else "no",
            f"{line['seconds']:.0f}",
            f"{line['metrics']['peak_mb']:,}",
            f"{line['metrics']['largest_other_mb']:,}" if line["metrics"]["largest_other_mb"] else "",
        ]
        for line in found
    ]
    text = (
        "The default model with each engine (`python -m benchmarks.measure.engines`): local threads, two nodes of Ray on one machine, and "
        "two processes that share a folder (`--part`, `--join`); each of these once more with a node or a process killed in the middle of a "
        "search. *Same bytes*: links, unmatched entities, candidates and evidence of the run folder are those of local threads. *Driver* is "
        "the process that aligns, *largest other* the largest of the others, without the memory that it shares. The driver holds both graphs "
        "and all vectors; only searches are shared."
    )
    header = ("", "engine", "same bytes", "seconds", "MiB of the driver", "MiB of the largest other")
    return section("### Engines", text, table(header, rows), f"Measured on {found[0]['hardware']}.") if rows else ""


def review_answers(results: Results) -> str:
    """How long a review takes to answer; empty if it was not measured."""
    found = results.of("review answers")
    rows = [
        [label, f"{metrics[name]:.1f}", f"{metrics[f'{name} slow']:.1f}", f"{metrics[f'{name} cpu']:.1f}"]
        for line in found
        for metrics in [line["metrics"]]
        for name, label in ANSWERS.items()
        if name in metrics
    ]
    if not rows:
        return ""
    line = found[-1]
    text = (
        f"How long `kgalign review` takes to answer over HTTP, with {line['metrics']['reviewed']:,} links (`python -m "
        "benchmarks.measure.review`), in milliseconds: the median, what one request in twenty exceeds, and the median of the work of server "
        f"and client. The review opened in {line['seconds']:.0f} seconds and takes {line['metrics']['peak_mb']:,} MiB, graphs included."
    )
    header = ("", "median", "one in twenty", "work")
    return section("### Answers of the review", text, table(header, rows), f"Measured on {line['hardware']}.")
