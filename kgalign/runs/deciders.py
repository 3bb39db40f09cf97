"""Who decided what, as the logs say from which a run has taken its decisions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from kgalign.data import Cardinality, one_link
from kgalign.decisions import Decision, Standing, not_undone, read_decisions, stand
from kgalign.readers.decisions import is_log


def standing_of(logs: Sequence[str], cardinality: Cardinality) -> Standing:
    """What stands of the decisions in logs. Other files of decisions do not say who made them."""
    given = [each for path in logs if is_log(Path(path)) for each in not_undone(read_decisions(path))]
    return stand(given, one_link(cardinality))


def said_by(decision: Decision | None) -> str:
    """Who decided, and when if that is known, in words."""
    if decision is None:
        return "a person decided"
    try:
        day = f" on {datetime.fromisoformat(decision.at).date().isoformat()}"
    except ValueError:
        day = ""
    return f"{decision.author or 'a person'} decided{day}"
