"""alignment.tsv: one link a line, for people and for any tool that reads tables."""

from __future__ import annotations

import re
from pathlib import Path

from kgalign.data import Alignment, AlignmentTask

HEADER = ("source", "target", "source_name", "target_name", "probability", "round", "decided_by")


def write(alignment: Alignment, task: AlignmentTask, path: Path) -> None:
    """Writes the links with a header. `round` is the round of Easy-to-Hard that was sure of it, 0 where the decoder decided at the end."""
    decoder = str(alignment.record.get("decoder", "decoder"))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        print(*HEADER, sep="\t", file=file)
        rows = zip(alignment.pairs.tolist(), alignment.scores.tolist(), alignment.rounds.tolist(), strict=True)
        for (source, target), score, number in rows:
            fields = (
                task.source.entities[source],
                task.target.entities[target],
                task.source.names[source],
                task.target.names[target],
            )
            decided_by = "easy-to-hard" if number else decoder
            print(
                *(" ".join(re.split(r"[\t\r\n]", field)) for field in fields),
                f"{score:.4f}",
                number,
                decided_by,
                sep="\t",
                file=file,
            )
