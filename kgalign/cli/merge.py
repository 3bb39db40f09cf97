"""The merge command: the two graphs of a run as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgalign.cli.printing import console, size, working
from kgalign.data import KnowledgeGraph
from kgalign.errors import OptionError
from kgalign.features.relations import relation_matches
from kgalign.merge import ENDINGS, find_conflicts, merged, single_links, write_conflicts, write_merged
from kgalign.readers import read_whole
from kgalign.readers.value_entities import without_value_entities
from kgalign.runs import check_writable, read_links, read_report, read_task


def merge(
    run: Annotated[Path, typer.Argument(help="the folder of a run of kgalign align")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="the merged graph: .nt, or .nq, which keeps apart which graph states what")
    ],
    least: Annotated[float, typer.Option(min=0, max=1, help="leave out links below this probability")] = 0.5,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="count, and show conflicts; write nothing")] = False,
) -> None:
    """Merge the two graphs of a run along its links, and list where they contradict each other."""
    if output.suffix not in ENDINGS:
        raise OptionError(f"{output}: expected a file ending in {' or '.join(ENDINGS)}")
    if not output.parent.is_dir():
        raise OptionError(f"{output}: no such folder; expected a file in a folder that exists")
    check_writable(output)
    with working("reading"):
        task, _ = read_task(run)
        whole = _read_whole(run)
    task, found = without_value_entities(task, read_links(run, task))
    links, conflicts = single_links(found, task, least)
    conflicts += find_conflicts(task, links, relation_matches(task, links))
    counted = f"{len(conflicts):,} conflict{'' if len(conflicts) == 1 else 's'}"
    console.print(f"{len(links):,} links join {size(task.source)} and {size(task.target)}; {counted}")
    if dry_run:
        for each in conflicts[:20]:
            console.print(f"{each.kind}: {each.entity} {each.property}: {each.source} or {each.target}")
        if len(conflicts) > 20:
            console.print(f"and {len(conflicts) - 20:,} more; without --dry-run all of them are written to a table")
        return
    count = write_merged(merged(task, links, whole), output)
    beside = output.with_suffix(".conflicts.tsv")
    write_conflicts(conflicts, beside)
    console.print(f"{count:,} statements in {output}, conflicts in {beside}")


def _read_whole(run: Path) -> tuple[KnowledgeGraph, KnowledgeGraph] | None:
    """The two graphs of a run with every node of their files; None for a dataset folder, whose graphs have nothing to fold."""
    places = read_report(run)["options"]["read"]
    if places.get("target") is None:
        return None
    how = {name: places.get(name) for name in ("form", "id_source", "id_target")}
    return read_whole(places["source"], places["target"], **how)
