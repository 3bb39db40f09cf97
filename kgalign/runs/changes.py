"""changes.tsv: the links of a run that are new, gone or changed since the run that it started from, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from kgalign.writers.tsv import write_rows


class LinkChange(NamedTuple):
    """A line of changes.tsv. A link that no line names is as it was, its probability included.

    Attributes:
        change: `new`: the entity had no link. `gone`: it has none now. `given`: its link is a seed now, or people have decided on it.
            `changed`: it has another target, or another probability.
        source: The IRI of the source entity.
        source_name: Its name.
        target: The target that it is linked to now, empty where it has none.
        target_name: Its name.
        probability: Of that link.
        target_before: The target that it was linked to before, empty where it had none.
        target_name_before: Its name.
        probability_before: Of that link.
        reason: Why it was decided again.
    """

    change: str
    source: str
    source_name: str
    target: str
    target_name: str
    probability: str
    target_before: str
    target_name_before: str
    probability_before: str
    reason: str


def write_changes(changes: Sequence[LinkChange], path: Path) -> None:
    """Writes changes.tsv."""
    write_rows(LinkChange._fields, changes, path)
