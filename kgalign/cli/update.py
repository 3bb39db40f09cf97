"""The update command: the next run, which starts from an earlier one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgalign.cli.options import AsJson
from kgalign.cli.printing import console, count, print_json, working
from kgalign.readers import READERS
from kgalign.readers.places import expected
from kgalign.runs import check_free, read_report
from kgalign.update import is_unchanged, update


def update_command(
    run: Annotated[Path, typer.Argument(help="the folder of a run of kgalign align")],
    source: Annotated[
        str | None, typer.Option(help=f"the source graph as it is now: {expected(READERS)}; by default where the run has read it")
    ] = None,
    target: Annotated[str | None, typer.Option(help="the same for the target")] = None,
    decisions: Annotated[
        list[Path] | None,
        typer.Option(
            help="decisions of people, as `kgalign review` keeps them, or SSSOM; may be repeated; by default RUN.decisions.jsonl"
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="folder of the new run; by default it replaces the earlier one when it is whole"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start from an earlier run: decide only what is near a change again, and list what came out differently."""
    folder = output or run
    given = [str(path.resolve()) for path in decisions or ()]
    read_report(run)
    check_free(folder)
    with working("comparing files"):
        nothing_new = output is None and is_unchanged(run, source, target, given)
    if nothing_new:
        if as_json:
            print_json({"run": str(run.resolve()), "changed": False, **read_report(run)})
        console.print(f"nothing has changed since the run in {run}: its links stay as they are")
        return
    with working("updating"):
        found = update(run, source=source, target=target, decisions=given)
    with working("writing the run"):
        written = found.write(folder)
    figures = found.options["update"]
    if as_json:
        print_json({"run": str(written), "changed": True, **found.report()})
    for side in ("source", "target"):
        parts = [f"{number:,} {name}" for name, number in figures[side].items() if number]
        console.print(f"{side}: {', '.join(parts) or 'nothing changed'}")
    waves = count(figures["waves"], "wave")
    console.print(f"{count(figures['decided_again'], 'query', 'queries')} of {len(found.task.queries):,} decided again in {waves}")
    links = figures["links"]
    console.print(
        f"{count(len(found.links), 'link')} in {written}/alignment.tsv: {links['new']:,} new, {links['changed']:,} changed; "
        f"{links['gone']:,} gone; see {written}/changes.tsv"
    )
    if not len(found.links):
        raise typer.Exit(1)
