"""Splink beside the default model on pairs of tables: the same files, no labels, each set and system in a process of its own.

    python -m benchmarks.measure.splink_tables [--data FOLDER] [--sets dblp-acm,beer] [--limit 600]

The folder has the form of `kgalign bench real`; sets that are no tables are left out. Needs pip install '.[bench]'.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.results import DATA, RESULTS
from kgalign.bench.judging import Counts, judge
from kgalign.bench.plan import Plan
from kgalign.bench.real import LONGEST_ERROR, NO_SEEDS, OPEN, real
from kgalign.bench.real_sets import RealPair, RealSet, find_sets
from kgalign.bench.results import Line, append, make_line

if TYPE_CHECKING:
    from benchmarks.measure.splink_links import SplinkLinks

TABLES = "tables"
SPLINK, SPLINK_WORDS = "splink", "splink, words"
LIMIT = 600  # seconds for a pair of tables
SEED = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA / "real", help="a folder of sets")
    parser.add_argument("--sets", default="", help="parts of the names of sets, with commas; all sets by default")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds that Splink has for a pair of tables")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file that the lines are added to")
    given = parser.parse_args()
    measure(given.data, [part for part in given.sets.split(",") if part], given.limit, given.results)


def measure(data: Path, sets: list[str], limit: float, file: Path) -> None:
    """Adds the lines of each set of tables: equal names, the default model, and Splink with two comparisons of texts.

    Args:
        data: A folder of sets.
        sets: Parts of the names of the sets to take; empty: all.
        limit: The seconds that Splink has for a pair of tables.
        file: The file of results.
    """
    for each in find_sets(data, sets):
        if all(pair.is_table for pair in each.pairs):
            for line in _lines(data, each, limit):
                append(line, file)
                figures = line["metrics"]
                print(
                    f"{line['pair']}, {line['system']}: F1 {figures['f1']:.3f}, "
                    f"{figures['right_above_0.9']} of {figures['links_above_0.9']} right above 0.9, "
                    f"{line['seconds']:.1f} s, {line['peak_mb'] or 0:,} MiB {figures.get('error', '')}",
                    flush=True,
                )


def _lines(data: Path, each: RealSet, limit: float) -> Iterator[Line]:
    ours = real(Plan(data, sets=[each.name], seeds=[SEED]))
    yield from ({**line, "experiment": TABLES} for line in ours if line["pair"] == each.name)
    for system in (SPLINK, SPLINK_WORDS):
        yield _splink_line(each, system, limit)


def _splink_line(each: RealSet, system: str, limit: float) -> Line:
    """The line of Splink on a set, judged as `kgalign bench real` judges. A pair that fails has no links."""
    counts, errors, seconds, peak = Counts(), [], 0.0, 0
    options: dict[str, Any] = {"model": SPLINK}
    for pair in each.pairs:
        began = time.perf_counter()
        found, error = in_time(limit, _link, pair, each, system == SPLINK_WORDS)
        if found is None:
            errors.append(f"{pair.source.parent.name}: {error}")
            seconds += time.perf_counter() - began
            counts += judge([], pair.gold, each.judged)
        else:
            options, seconds, peak = found.options, seconds + found.seconds, max(peak, found.peak or 0)
            counts += judge(found.links, pair.gold, each.judged, found.rows)
    return make_line(
        TABLES,
        system,
        each.name,
        {**counts.metrics, **({"error": "; ".join(errors)[:LONGEST_ERROR]} if errors else {})},
        seconds=seconds,
        options={**options, "limit": limit, "set": each.facts},
        protocol=OPEN,
        split=NO_SEEDS,
        seed=SEED,
        peak=peak or None,
    )


def in_time(limit: float, work: Callable[..., Any], *arguments: Any) -> tuple[Any, str]:
    """The result of a function in a process of its own, which is ended after some seconds; or None and the error on one line."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(sender, work, *arguments))
    process.start()
    sender.close()  # so that the end of the process is seen here
    try:
        return receiver.recv() if receiver.poll(limit) else (None, f"not done in {limit:g} s")
    except EOFError:
        return None, "its process ended before it was done, perhaps for lack of memory"
    finally:
        process.kill()
        process.join()


def _answer(sender: Connection, work: Callable[..., Any], *arguments: Any) -> None:
    try:
        sender.send((work(*arguments), ""))
    except Exception as error:  # another program fails in ways nobody has foreseen: that is a figure, not the end of the table
        sender.send((None, " ".join(f"{type(error).__name__}: {error}".split())))


def _link(pair: RealPair, each: RealSet, words: bool) -> SplinkLinks:
    # Splink is imported in the process that it is measured in: a process begins with no less memory than the one that starts it.
    from benchmarks.measure.splink_links import link_with_splink

    return link_with_splink((pair.source, pair.target), each.table, words, SEED)


if __name__ == "__main__":
    main()
