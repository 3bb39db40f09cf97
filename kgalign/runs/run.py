"""A run: the result of an alignment, and how it came about."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates, Ints
from kgalign.errors import OptionError
from kgalign.explain.evidence import Evidence, gather_evidence
from kgalign.explain.explanations import Explanation
from kgalign.features.relations import RelationMatch
from kgalign.reasoning import Reasoning
from kgalign.seams import Contributions, FittedModel
from kgalign.version import __version__


@dataclass(frozen=True, eq=False)
class Run:
    """The result of `align`.

    Attributes:
        task: The task that was aligned.
        reasoning: The links, the candidates of the last round, the rounds and the held-out seeds.
        metrics: The figures; None where there are no gold links.
        options: The options of the model, the decoder and the rules, and how the graphs were read.
        seconds: The time of each stage.
        inputs: Path and SHA-256 of each file that was read.
        relations: Relations of the two graphs that match, best first.
        gold: The gold links that the metrics are measured by.
        reliability: How often links are right, by probability: measured by gold links, else by held-out seeds.
        model: The fitted model; None where another tool has scored the candidates.
    """

    task: AlignmentTask
    reasoning: Reasoning
    metrics: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    relations: Sequence[RelationMatch] = ()
    gold: Alignment | None = None
    reliability: Sequence[Mapping[str, float]] = ()
    model: FittedModel | None = None

    @property
    def alignment(self) -> Alignment:
        """The links."""
        return self.reasoning.alignment

    @property
    def candidates(self) -> Candidates:
        """The candidates of the last round."""
        return self.reasoning.candidates

    @property
    def decoder(self) -> str:
        """The name of the decoder."""
        return str(self.alignment.record.get("decoder", "decoder"))

    def write(self, folder: str | Path) -> Path:
        """Writes the run folder, whole or not at all, and returns its path. An earlier run in that folder is replaced."""
        from kgalign.runs.folder import write_run  # which writes a Run

        return write_run(self, folder)

    def explain(self, entity: str | int) -> list[Explanation]:
        """Why an entity has its match, or none. For a target: why each source that is linked to it has it.

        Args:
            entity: The IRI of an entity of either graph, the last part of the IRI, or its name, in upper or lower case; or the id of an
                entity of the source. Where sources and targets fit, sources come first.

        Raises:
            DataError: No entity or more than one is called so, or there is nothing to explain: it is a seed, or had no candidate.
        """
        from kgalign.runs.explaining import contents_of, explain_entity  # which explain a Run

        if not isinstance(entity, str):
            if not 0 <= entity < len(self.task.source.entities):
                raise OptionError(f"entity={entity}: expected the id of a source, 0 to {len(self.task.source.entities) - 1}")
            entity = self.task.source.entities[entity]
        return explain_entity(entity, contents_of(self))

    def evidence(self, sources: Ints | None = None) -> Evidence:
        """The evidence for the links and runners-up of some sources, see `gather_evidence`."""
        return gather_evidence(
            self.task,
            self.alignment,
            self.candidates,
            known=self.reasoning.known,
            sources=sources,
            contributions=self.contributions,
        )

    def contributions(self, pairs: Ints) -> Contributions | None:
        """How much each kind of evidence adds to the score of pairs (n, 2) in the last round; None: the model does not say."""
        if self.model is None or not self.model.capabilities.explains:
            return None
        found: Contributions = self.model.contributions(self.task, self.reasoning.evidence, pairs)  # type: ignore[attr-defined]
        return found

    def report(self) -> dict[str, Any]:
        """The content of run.json."""
        return {
            "kgalign": __version__,
            "options": dict(self.options),
            "protocol": self.task.protocol,
            "queries": len(self.task.queries),
            "pool": len(self.task.pool),
            "seeds": len(self.task.seeds),
            "matched": len(self.alignment),
            "unmatched": dict(zip(("source", "target"), map(len, self.task.unmatched(self.alignment)), strict=True)),
            "metrics": dict(self.metrics) if self.metrics is not None else None,
            "decision": dict(self.alignment.record),
            "rounds": [figures.summary() for figures in self.reasoning.rounds],
            "seconds": {stage: round(seconds, 3) for stage, seconds in self.seconds.items()},
            "peak_mb": peak_mb(),
            "inputs": dict(self.inputs),
            "reading": {"source": dict(self.task.source.record), "target": dict(self.task.target.record)},
            "versions": {"python": platform.python_version(), "numpy": np.__version__},
        }


def peak_mb() -> int | None:
    """The most memory that this process has held so far, in MiB; None where the system does not say."""
    try:
        import resource  # POSIX only
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / 2**20 if sys.platform == "darwin" else peak / 2**10)
