"""A run once more, with other seeds and rejected pairs: the options of the first one, and its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from kgalign.align import align
from kgalign.data import AlignmentTask, one_link
from kgalign.decisions import Entry, ever_made, not_undone, stand
from kgalign.errors import DataError, OptionError
from kgalign.readers import read
from kgalign.readers.decided import decided_of, with_decisions, without_decisions
from kgalign.reasoning import Rules
from kgalign.review.reviewed_run import ReviewedRun
from kgalign.runs import Run, check_inputs, read_report
from kgalign.runs.remembered import REMEMBERED, read_remembered
from kgalign.runs.report import DECIDED, expect_file

DECISIONS = "decisions"  # the option of `read`


@dataclass(frozen=True, eq=False)
class RunAgain:
    """How a run is made again.

    Attributes:
        task: The task without the decisions of this review.
        options: The options of the run, as run.json has them.
        inputs: Path and SHA-256 of each file that was read.
        folder: Where the run is written; None: it stays in memory.
        seconds: How long the graphs took to read.
    """

    task: AlignmentTask
    options: Mapping[str, Any]
    inputs: Mapping[str, str]
    folder: Path | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run, log: Sequence[Entry]) -> RunAgain:
        """That of a run in memory, which may know some decisions of the log of this review."""
        return cls(without_decisions(run.task, decided_of(run.task, ever_made(log))), run.options, run.inputs)

    @classmethod
    def read(cls, folder: Path, log: Path, changed: bool = False) -> RunAgain:
        """That of a run folder.

        Args:
            folder: The run folder.
            log: The decisions of this review. The run may have been made with some of them.
            changed: Read graphs, too, that have changed since the run.
        """
        report = read_report(folder)
        arguments = check_inputs(folder, changed)
        others = [each for each in arguments.pop(DECISIONS, ()) if Path(each) != log.resolve()]
        try:
            task, _ = read(**arguments, decisions=others)
        except DataError as error:
            raise error.of_run() from None
        except OptionError as error:
            raise DataError(f"{folder / 'run.json'}: its graphs cannot be read again: {error}") from None
        if report["protocol"] == "closed":
            task = read_remembered(expect_file(folder, REMEMBERED)).closed(task)
        return cls(task, report["options"], report.get("inputs", {}), folder.resolve(), report.get("seconds", {}))

    def known_task(self, log: Path, entries: Sequence[Entry]) -> AlignmentTask:
        """The task with the decisions of a log that the run was made with."""
        known = not_undone(entries[: self.known_entries(log, entries)])
        return with_decisions(self.task, decided_of(self.task, stand(known, one_link(self.task.cardinality))))

    def known_entries(self, log: Path, entries: Sequence[Entry]) -> int:
        """How many lines of a log the run was made with."""
        last = self.options.get(DECIDED, {}).get(str(log))
        return next((number for number, entry in enumerate(entries, 1) if entry.id == last), 0)

    def run(self, task: AlignmentTask, log: Path, last: str) -> tuple[ReviewedRun, Run]:
        """The run with another task, written to the folder if it has one.

        Args:
            task: The task with decisions.
            log: The file that they are in.
            last: The id of the last line of it that counts.
        """
        options = self.options
        if "model" not in options:
            raise OptionError("this run has no model: another tool has scored its candidates, so it cannot go on")
        rules = Rules(**{rule.name: options[rule.name] for rule in fields(Rules) if rule.name in options})
        made = align(
            task,
            model=options["model"],
            options=options.get("model_options", {}),
            rules=rules,
            load=options.get("load"),
        )
        reading = {name: seconds for name, seconds in self.seconds.items() if name == "read"}
        made = replace(made, inputs=self.inputs, seconds={**reading, **made.seconds})
        made = replace(made, options={**made.options, DECIDED: {**options.get(DECIDED, {}), str(log): last}})
        if "read" in options:
            others = [each for each in options["read"].get(DECISIONS, ()) if each != str(log)]
            read_again = {**options["read"], DECISIONS: [*others, str(log)]}
            made = replace(made, options={**made.options, "read": read_again})
        if self.folder is None:
            return ReviewedRun.of(made), made
        made.write(self.folder)
        return ReviewedRun.read(self.folder, task), made
