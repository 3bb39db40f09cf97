"""alignment.tsv, unmatched.tsv and relations.tsv: one match a line, or none, for people and for any tool that reads tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates
from kgalign.features.relations import RelationMatch

HEADER = ("source", "target", "source_name", "target_name", "probability", "round", "decided_by")
UNMATCHED_HEADER = ("side", "entity", "name", "best", "best_name", "probability")


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


def write_unmatched(alignment: Alignment, task: AlignmentTask, candidates: Candidates, path: Path) -> None:
    """Writes the entities of both sides that were asked or on offer and have no partner, each with the one it would most probably have had."""
    rows, slots = candidates.edges()
    pairs = np.column_stack([candidates.queries[rows], candidates.targets[rows, slots]])
    probabilities = candidates.probabilities()[rows, slots]
    sides = (("source", task.source, task.target), ("target", task.target, task.source))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        print(*UNMATCHED_HEADER, sep="\t", file=file)
        for column, ((side, graph, other), alone) in enumerate(zip(sides, task.unmatched(alignment), strict=True)):
            ranked = np.lexsort((-probabilities, pairs[:, column]))
            entities, first = np.unique(pairs[ranked, column], return_index=True)
            best = dict(zip(entities.tolist(), ranked[first].tolist(), strict=True))
            for entity in alone.tolist():
                row = best.get(entity)
                partner = None if row is None else pairs[row, 1 - column]
                likely = (
                    ("", "", "")
                    if partner is None
                    else (other.entities[partner], other.names[partner], f"{probabilities[row]:.4f}")
                )
                print(*map(one_field, (side, graph.entities[entity], graph.names[entity], *likely)), sep="\t", file=file)


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
