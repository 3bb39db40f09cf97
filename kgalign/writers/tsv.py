"""Links as a table with tabs: one link a line, with names and probability, for people and for any tool that reads tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from kgalign.data import KINDS, Alignment, AlignmentTask
from kgalign.files import as_cell

COLUMNS = ("source", "target", "source_name", "target_name", "probability", "round", "decided_by", "kind")
PERSON = "person"  # in `decided_by`: the link is one of `AlignmentTask.decided`


def write(alignment: Alignment, task: AlignmentTask, path: Path) -> None:
    """Writes the links with a header.

    `round` is the round in which the link became confident, 0 where the decoder decided at the end. `kind` is that of the source entity.
    What people have decided on has `person` as `decided_by`.
    """
    decoder = str(alignment.record.get("decoder", "decoder"))
    links = zip(
        alignment.pairs.tolist(),
        alignment.scores.tolist(),
        alignment.rounds.tolist(),
        alignment.among(task.decided).tolist(),
        strict=True,
    )
    rows = (
        (
            task.source.entities[source],
            task.target.entities[target],
            task.source.names[source],
            task.target.names[target],
            f"{score:.4f}",
            str(number),
            PERSON if by_person else "easy-to-hard" if number else decoder,
            KINDS[task.source.kinds[source]],
        )
        for (source, target), score, number, by_person in links
    )
    write_rows(COLUMNS, rows, path)


def write_rows(columns: Sequence[str], rows: Iterable[Sequence[str]], path: Path) -> None:
    """Writes a header and rows with tabs between the fields, each as `as_cell` makes it; `of_cell` gives the text back."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        print(*columns, sep="\t", file=file)
        for row in rows:
            print(*map(as_cell, row), sep="\t", file=file)
