"""A run: what came out of an alignment, and how."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates
from kgalign.features.relations import RelationMatch
from kgalign.reasoning import Reasoning
from kgalign.seams import FittedModel
from kgalign.version import __version__


@dataclass(frozen=True, eq=False)
class Run:
    """What `align` returns.

    Attributes:
        task: What was aligned.
        reasoning: The links, the candidates of the last round, the rounds and the held-out seeds.
        metrics: The figures; None where there are no gold links.
        options: Of the model, the decoder and the rules, and how the graphs were read.
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
    """The most memory that this process has held so far, in MiB; None where the system does not tell."""
    try:
        import resource  # POSIX only
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / 2**20 if sys.platform == "darwin" else peak / 2**10)
