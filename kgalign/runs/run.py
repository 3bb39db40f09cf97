"""A run: the result of an alignment, and how it came about."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import CLASS, PROPERTY, Alignment, AlignmentTask, Candidates, Ints
from kgalign.errors import OptionError
from kgalign.explain.evidence import Evidence, gather_evidence
from kgalign.explain.notebook import Explanations
from kgalign.features.relations import RelationMatch
from kgalign.notebook import html_table
from kgalign.reasoning import Reasoning
from kgalign.runs.changes import LinkChange
from kgalign.runs.links import Links
from kgalign.seams import Contributions, FittedModel
from kgalign.services import SERVICES
from kgalign.version import __version__
from kgalign.writers.kinds import link_kinds

SHOWN_METRICS = ("precision", "recall", "f1", "hits@1", "mrr")  # in a notebook


@dataclass(frozen=True, eq=False, repr=False)
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
        changes: What is other than in the run that this one started from; None where it started from none.
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
    changes: Sequence[LinkChange] | None = None

    @property
    def alignment(self) -> Alignment:
        """The links that were found. `links` has those that people have decided on, too."""
        return self.reasoning.alignment

    @property
    def links(self) -> Links:
        """The links by IRI: iterates over (source, target, probability), and becomes a data frame by `to_pandas()` or `to_polars()`.

        Matches that people have decided on follow at the end, with a probability of 1. Other seeds are left out.
        """
        return Links(self.task, self.task.and_decided(self.alignment))

    @property
    def classes(self) -> Alignment:
        """The links between two classes. Those of classes that were evidence only, neither queries nor in the pool, are among them."""
        return self._links_of_kind(CLASS)

    @property
    def properties(self) -> Alignment:
        """The links between two properties. Those of properties that were evidence only are among them."""
        return self._links_of_kind(PROPERTY)

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

    def explain(self, entity: str | int) -> Explanations:
        """Why an entity has its match, or none; one explanation for each link. For a target: why each source that is linked to it has it.

        Args:
            entity: The IRI of an entity of either graph, the last part of the IRI, or any of its names, in upper or lower case; or the id of
                an entity of the source. Where sources and targets fit, sources come first.

        Raises:
            DataError: No entity or more than one is called so, or there is nothing to explain: it is a seed, or had no candidate.
        """
        from kgalign.runs.explaining import contents_of, explain_entity  # which explain a Run

        if not isinstance(entity, str):
            if not isinstance(entity, int | np.integer):
                raise OptionError(f"entity={entity!r}: expected an IRI, the last part of one, a name, or the id of a source")
            if not 0 <= entity < len(self.task.source.entities):
                raise OptionError(f"entity={entity}: expected the id of a source, 0 to {len(self.task.source.entities) - 1}")
            entity = self.task.source.entities[entity]
        return explain_entity(entity, contents_of(self))

    def review(self, decisions: str | Path | None = None, **options: Any) -> Any:
        """Opens the review of this run in a browser, and returns it: it has the `address`, what the decisions say, and `close()`.

        Args:
            decisions: The file of decisions, which is only added to; by default `decisions.jsonl` in the working folder.
            options: `browser=False` opens none; `host` and `port`; see `kgalign review --help`.

        Raises:
            OptionError: The extra `web` is missing, or decisions cannot be kept there.
        """
        return SERVICES["review"](self, decisions, **options)

    def evidence(self, sources: Ints | None = None) -> Evidence:
        """The evidence for the links and runners-up of some sources, see `gather_evidence`."""
        return gather_evidence(
            self.task,
            self.alignment,
            self.candidates,
            known=self.reasoning.known,
            given=self.reasoning.evidence,
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
        links = self.links.alignment
        return {
            "kgalign": __version__,
            "options": dict(self.options),
            "protocol": self.task.protocol,
            "cardinality": self.task.cardinality,
            "queries": len(self.task.queries),
            "pool": len(self.task.pool),
            "seeds": len(self.task.seeds),
            "rejected": len(self.task.rejected),
            "matched": len(links),
            "decided": len(links) - len(self.alignment),
            "unmatched": dict(zip(("source", "target"), map(len, self.task.unmatched(links)), strict=True)),
            "metrics": dict(self.metrics) if self.metrics is not None else None,
            "decision": dict(self.alignment.record),
            "rounds": [figures.summary() for figures in self.reasoning.rounds],
            "seconds": {stage: round(seconds, 3) for stage, seconds in self.seconds.items()},
            "peak_mb": peak_mb(),
            "inputs": dict(self.inputs),
            "reading": {
                "source": dict(self.task.source.record),
                "target": dict(self.task.target.record),
                "seeds": dict(self.task.seeds.record),
                "rejected": dict(self.task.rejected.record),
            },
            "versions": {"python": platform.python_version(), "numpy": np.__version__},
        }

    def __repr__(self) -> str:
        return f"Run({len(self.alignment)} links of {len(self.task.queries)} queries)"

    def _repr_html_(self) -> str:
        links = self.links.alignment
        unmatched = self.task.unmatched(links)
        figures: dict[str, str | int | float] = {
            "queries": len(self.task.queries),
            "links": len(links),
            **({"of them decided by people": decided} if (decided := len(links) - len(self.alignment)) else {}),
            "of them above 0.9": int((links.scores > 0.9).sum()),
            "of them above 0.5": int((links.scores > 0.5).sum()),
            "unmatched of the source": len(unmatched[0]),
            "unmatched of the target": len(unmatched[1]),
            "rounds": len(self.reasoning.rounds),
            "seconds": sum(self.seconds.values()),
            **{name: value for name, value in (self.metrics or {}).items() if name in SHOWN_METRICS},
        }
        return html_table("Run", (), figures.items()) + self.links._repr_html_()

    def _links_of_kind(self, kind: int) -> Alignment:
        links = self.alignment + self.reasoning.known
        return links.where(link_kinds(links, self.task) == kind)


def peak_mb() -> int | None:
    """The most memory that this process has held so far, in MiB; None where the system does not say."""
    try:
        import resource  # POSIX only
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / 2**20 if sys.platform == "darwin" else peak / 2**10)
