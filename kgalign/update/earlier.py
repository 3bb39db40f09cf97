"""The run that an update starts from: its links, its candidates and what it remembers, out of its folder or out of memory."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from kgalign.data import Alignment, Candidates
from kgalign.errors import DataError
from kgalign.reasoning import Reasoning
from kgalign.reasoning.state import NO_CANDIDATES
from kgalign.runs import Run, read_report, read_task
from kgalign.runs.candidates_table import read_candidates_table
from kgalign.runs.folder import CANDIDATES, LINKS
from kgalign.runs.hashes import text_hashes
from kgalign.runs.reading import PROBABILITY
from kgalign.runs.remembered import REMEMBERED, Remembered, read_remembered
from kgalign.runs.report import expect_file
from kgalign.runs.tables import LinkRow, link_rows, read_decided_rows, read_link_rows, read_rounds

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Earlier:
    """An earlier run. All ids are those of its own graphs.

    Attributes:
        rows: The links that were found, as its table has them.
        alignment: The same links, in the same order.
        decided_rows: The links that people had decided on, as its table has them.
        decided: The same links, in the same order.
        candidates: Its candidates.
        remembered: Everything else that is needed to go on from it.
    """

    rows: list[LinkRow]
    alignment: Alignment
    candidates: Candidates
    remembered: Remembered
    decided_rows: Sequence[LinkRow] = ()
    decided: Alignment = field(default_factory=Alignment.empty)

    @classmethod
    def of_run(cls, run: Run) -> Earlier:
        """A run in memory. Its probabilities are taken as its table has them, so that it makes no difference where a run comes from."""
        rows = list(link_rows(run.alignment, run.task))
        decided = run.links.alignment.where(np.arange(len(rows), len(run.links)))
        decided_rows = list(link_rows(decided, run.task))
        alignment = replace(run.alignment, scores=np.array([float(row.probability) for row in rows]))
        return cls(rows, alignment, run.candidates, Remembered.of(run.task, run.reasoning), decided_rows, decided)

    @classmethod
    def read(cls, folder: Path) -> Earlier:
        """A run folder. One that does not remember its graphs needs them as they were."""
        path = expect_file(folder, LINKS)
        found, decided_rows = ([row for _, row in lines] for lines in (read_link_rows(path), read_decided_rows(path)))
        rows = [*found, *decided_rows]  # as they stand in the file
        table, report = expect_file(folder, CANDIDATES), read_report(folder)
        if len(rows) != report.get("matched", len(rows)):
            raise DataError(
                f"{path}: expected the {report['matched']} links of this run, found {len(rows)}; the file is cut off or was edited, so align "
                "again; what people know better goes into `decisions`"
            )
        is_whole = (folder / REMEMBERED).is_file()
        remembered = read_remembered(folder / REMEMBERED) if is_whole else _from_graphs(folder)
        sides = remembered.source, remembered.target
        ids = [side.places_of(text_hashes([row[place] for row in rows])) for place, side in enumerate(sides)]
        pairs = np.column_stack(ids).reshape(-1, 2)
        wrong = [not PROBABILITY.fullmatch(row.probability) for row in rows]
        if any(wrong) or (pairs < 0).any():
            at = int(np.flatnonzero((pairs < 0).any(axis=1) | np.array(wrong, bool))[0])
            raise DataError(
                f"{path}:{at + 2}: expected a link of this run and its probability, found {rows[at].source!r}, {rows[at].target!r} and "
                f"{rows[at].probability!r}; the file is damaged, so align again"
            )
        scores = np.array([float(row.probability) for row in rows], np.float64)
        alignment = Alignment(pairs[: len(found)], scores[: len(found)], np.array(read_rounds(path), np.int64))
        decided = Alignment(pairs[len(found) :], scores[len(found) :])
        scale = (remembered.temperature, remembered.no_match_score) if is_whole else None
        cardinality = report.get("cardinality", "one-to-one")
        candidates = read_candidates_table(table, sides, remembered.queries, cardinality, scale)
        return cls(found, alignment, candidates, remembered, decided_rows, decided)


def _from_graphs(folder: Path) -> Remembered:
    """What a run would have remembered, as far as its graphs say it. They must be as they were."""
    logger.info("%s: there is no %s in it, so the graphs of the run are read again", folder, REMEMBERED)
    try:
        task, _ = read_task(folder)
    except DataError as error:
        reason = str(error).partition(";")[0]
        raise DataError(
            f"{folder}: an update without {REMEMBERED} needs the graphs of the run as they were, but {reason}; align again"
        ) from None
    return Remembered.of(task, Reasoning(Alignment.empty(), NO_CANDIDATES))
