"""Links as a table with tabs: one link a line, with names and probability, for people and for any tool that reads tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from kgalign.data import KINDS, Alignment, AlignmentTask
from kgalign.files import with_apostrophe

COLUMNS = ("source", "target", "source_name", "target_name", "probability", "round", "decided_by", "kind")


def write(alignment: Alignment, task: AlignmentTask, path: Path) -> None:
    """Writes the links with a header.

    `round` is the round in which the link became confident, 0 where the decoder decided at the end. `kind` is that of the source entity.
    """
    decoder = str(alignment.record.get("decoder", "decoder"))
    links = zip(alignment.pairs.tolist(), alignment.scores.tolist(), alignment.rounds.tolist(), strict=True)
    rows = (
        (
            task.source.entities[source],
            task.target.entities[target],
            task.source.names[source],
            task.target.names[target],
            f"{score:.4f}",
            str(number),
            "easy-to-hard" if number else decoder,
            KINDS[task.source.kinds[source]],
        )
        for (source, target), score, number in links
    )
    write_rows(COLUMNS, rows, path)


def write_rows(columns: Sequence[str], rows: Iterable[Sequence[str]], path: Path) -> None:
    """Writes a header and rows with tabs between the fields. Spreadsheets open such tables, so no field may be a formula to them."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        print(*columns, sep="\t", file=file)
        for row in rows:
            print(*(with_apostrophe(one_field(field)) for field in row), sep="\t", file=file)


def one_field(text: str) -> str:
    """The text with blanks in place of tabs and line breaks, which would end a field or a line."""
    return " ".join(re.split(r"[\t\r\n]", text))
