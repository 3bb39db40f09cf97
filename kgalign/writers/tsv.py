"""alignment.tsv and relations.tsv: one match a line, for people and for any tool that reads tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from kgalign.data import Alignment, AlignmentTask
from kgalign.relations import RelationMatch

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
                *(one_field(field) for field in fields),
                f"{score:.4f}",
                number,
                decided_by,
                sep="\t",
                file=file,
            )


def write_relations(matches: Iterable[RelationMatch], path: Path) -> None:
    """Writes the relation matches with a header. `direction` is inverse where one relation is the other turned round."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        print("source", "target", "direction", "score", sep="\t", file=file)
        for match in matches:
            direction = "inverse" if match.inverse else "same"
            print(one_field(match.source), one_field(match.target), direction, f"{match.score:.4f}", sep="\t", file=file)


def one_field(text: str) -> str:
    """The text with blanks where it would end a field or a line."""
    return " ".join(re.split(r"[\t\r\n]", text))
