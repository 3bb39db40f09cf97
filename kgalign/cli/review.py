"""The review command: serves the review of a run to a browser until Ctrl-C."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from kgalign.cli.options import Changed
from kgalign.cli.printing import console, count, working
from kgalign.decisions import SKIP, decisions_beside, not_undone, read_decisions
from kgalign.drafts import check_new
from kgalign.review import ReviewSession
from kgalign.runs import read_report
from kgalign.services import SERVICES


def review(
    run: Annotated[Path, typer.Argument(help="the folder of a run")],
    decisions: Annotated[
        Path | None,
        typer.Option(help="the file of decisions, which is only added to; by default RUN.decisions.jsonl beside the run folder"),
    ] = None,
    host: Annotated[
        str, typer.Option(help="serve other machines, too: an address of this one, or 0.0.0.0 for all of them")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="the port; by default one that stays the same for a run")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="open the page in the browser of this machine")] = True,
    changed: Changed = False,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="write the decisions that stand as SSSOM, with authors and days, and open nothing"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="replace the file of --export if it exists")] = False,
) -> None:
    """Review links in a browser: decide on doubtful ones, and see what the decisions change. Needs the extra web."""
    if export is not None:
        _export(run, decisions or decisions_beside(run), changed, export, force)
        return
    open_review = SERVICES["review"]
    with working("reading"):
        opened = open_review(run, decisions, host=host, port=port, browser=browser, changed=changed)
    if opened.is_public:
        console.print(
            f"Whoever can reach {host} and has the address can read the run and decide. Nothing is encrypted: use it in a network that you "
            "trust, or stay with 127.0.0.1 and a tunnel (ssh -L)."
        )
    print(opened.address, flush=True)
    console.print(f"Open this address; Ctrl-C ends the review. Decisions are in {opened.decisions}")
    try:
        opened.wait()
    except KeyboardInterrupt:
        console.print()
    is_running = opened.changes().running
    opened.stop()
    if is_running:
        console.print("The run that was going on is given up; the run folder is as it was before.")
    console.print(
        f"The decisions are in {opened.decisions}; kgalign align --decisions {opened.decisions} takes them into a new run"
    )
    if is_running:
        os._exit(0)  # Python would wait for the compiled code of the run, or fail in it


def _export(run: Path, decisions: Path, changed: bool, path: Path, force: bool) -> None:
    """Writes the decisions of a review that are in a file already."""
    read_report(run)
    check_new(path, force)
    entries = read_decisions(decisions)  # a review would begin a new file
    skipped = sum(each.verdict == SKIP for each in not_undone(entries))
    with working("reading"), ReviewSession.open(run, decisions, changed=changed) as session:
        written = session.export(path, force)
    console.print(f"{count(written, 'decision')}{f' ({skipped:,} skipped)' if skipped else ''} in {path}")
