"""The merge command: the two graphs of a run as one."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from kgalign.characters import escaped
from kgalign.cli.options import Changed
from kgalign.cli.printing import console, count, size, working
from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph
from kgalign.drafts import check_new, check_writable
from kgalign.errors import OptionError
from kgalign.features.relations import relation_matches
from kgalign.merge import ENDINGS, find_conflicts, merged, single_links, write_conflicts, write_merged
from kgalign.readers import read_whole
from kgalign.readers.value_entities import without_value_entities
from kgalign.runs import check_inputs, files_at, input_places, is_part, read_links, read_task


def merge(
    run: Annotated[Path, typer.Argument(help="the folder of a run of kgalign align")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="the merged graph: .nt, or .nq, which keeps apart which graph states what")
    ],
    least: Annotated[float, typer.Option(min=0, max=1, help="leave out links below this probability")] = 0.5,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="count, and show conflicts; write nothing")] = False,
    changed: Changed = False,
    force: Annotated[
        bool, typer.Option("--force", help="replace the output if it exists; graphs and runs are never replaced")
    ] = False,
) -> None:
    """Merge the two graphs of a run along its links, and list where they contradict each other."""
    beside = output.with_suffix(".conflicts.tsv")
    if output.suffix not in ENDINGS:
        raise OptionError(f"{output}: expected a file ending in {' or '.join(ENDINGS)}")
    if not output.parent.is_dir():
        raise OptionError(f"{output}: no such folder; expected a file in a folder that exists")
    with working("reading"):
        reading = check_inputs(run, changed)
        if not dry_run:
            _check_output(output, run, reading, force)
            _check_output(beside, run, reading, force)
        task, _ = read_task(run, True)  # its files were checked above
        whole = _read_whole(reading)
    whole_task, every = task, read_links(run, task)
    task, found = without_value_entities(whole_task, every)
    links, conflicts = single_links(found, task, least)
    conflicts += find_conflicts(task, links, relation_matches(task, links))
    counted = f"{len(conflicts):,} conflict{'' if len(conflicts) == 1 else 's'}"
    console.print(f"{len(links):,} links join {size(task.source)} and {size(task.target)}; {counted}")
    if left_out := list(_left_out(whole_task, every, task, found, least)):
        console.print(f"left out: {'; '.join(left_out)}")
    if dry_run:
        for each in conflicts[:20]:
            entity, about, *values = map(escaped, (each.entity, each.property, each.source, each.target))
            console.print(f"{each.kind}: {entity} {about}: {' or '.join(values)}")
        if len(conflicts) > 20:
            console.print(f"and {len(conflicts) - 20:,} more; without --dry-run all of them are written to a table")
        return
    write_conflicts(conflicts, beside, force)
    written = write_merged(merged(task, links, whole), output, force)
    console.print(f"{written:,} statements in {output}, conflicts in {beside}")


def _left_out(whole: AlignmentTask, every: Alignment, rows: AlignmentTask, found: Alignment, least: float) -> Iterator[str]:
    """How many links of the run are not merged, and why."""
    if count_of_values := len(every) - len(found):
        is_value = every.sources >= len(rows.source.entities), every.targets >= len(rows.target.entities)
        side = int(not is_value[0].any())
        example = (whole.source, whole.target)[side].entities[every.pairs[is_value[side]][0, side]]
        yield f"{count(count_of_values, 'link')} of values in cells, which are no rows of a table, such as {escaped(example)}"
    if improbable := int((found.scores < least).sum()):
        yield f"{count(improbable, 'link')} below {least:g} (--least)"


def _check_output(path: Path, run: Path, reading: Mapping[str, Any], force: bool) -> None:
    """Refuses a place at which nothing can be written, and one where a file of the run or of its graphs is or would be."""
    whole = path.resolve()
    if run.resolve() in whole.parents:
        raise OptionError(f"{path}: lies in the run folder; expected a place outside of it")
    for place in input_places(reading):
        is_input = path.exists() and any(path.samefile(file) for file in files_at(place))
        if is_input or (is_part(whole, place) and reading.get("target") is not None):  # a dataset folder has fixed names
            raise OptionError(f"{path}: would be part of what the run has read from {place}; expected another place")
    check_new(path, force)
    check_writable(path)


def _read_whole(reading: Mapping[str, Any]) -> tuple[KnowledgeGraph, KnowledgeGraph] | None:
    """The two graphs of a run with every node of their files; None for a dataset folder, whose graphs have nothing to fold."""
    if reading.get("target") is None:
        return None
    known = inspect.signature(read_whole).parameters
    return read_whole(**{name: value for name, value in reading.items() if name in known})
