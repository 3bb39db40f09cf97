"""An item of a review: a pair of entities with all that a reviewer needs to decide on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kgalign.decisions import QUEUE, Decision
from kgalign.explain.explanations import Contribution, MatchingName, Pair, through
from kgalign.iri import local_name
from kgalign.review.entities import latin


@dataclass(frozen=True)
class Candidate:
    """A target that a source may be.

    Attributes:
        number: The key that chooses it, from 1.
        target: IRI, name, and the name in Latin letters.
        taken_by: IRI and name of another source that is linked to it; empty texts: none is.
    """

    number: int
    target: dict[str, str]
    probability: float
    taken_by: tuple[str, str] = ("", "")

    def as_json(self) -> dict[str, Any]:
        """What a page reads."""
        return {
            "number": self.number,
            "target": self.target["iri"],
            "name": self.target["name"],
            "latin": self.target["latin"],
            "probability": self.probability,
            "taken_by": self.taken_by[0],
            "taken_by_name": self.taken_by[1],
        }


@dataclass(frozen=True)
class ShownDecision:
    """A decision with the names of its entities."""

    decision: Decision
    source_name: str
    target_name: str
    stands: bool

    def as_json(self) -> dict[str, Any]:
        """What a page reads."""
        own = self.decision
        return {
            "id": own.id,
            "verdict": own.verdict,
            "source": own.source,
            "source_name": self.source_name,
            "target": own.target,
            "target_name": self.target_name,
            "author": own.author,
            "at": own.at,
            "drawn": own.drawn,
            "batch": own.batch,
            "standing": self.stands,
        }


@dataclass(frozen=True)
class Item:
    """A pair of entities to decide on. `as_json()` has all of it.

    Attributes:
        source: The source entity, see `Entities.as_json`.
        target: The target entity; None: the source has no candidate.
        probability: The probability of the link, or of the candidate; None: the target is no candidate.
        round: The round in which the link became confident, 0: in none.
        of_class: The name of the smallest class of the source.
        drawn: Why it is shown: `queue`, `check` or `search`.
        why: Why it is asked, in words; empty where somebody has opened it.
        evidence: What says something for or against the pair.
        neighbour_counts: How many neighbours both have.
        candidates: The best candidates of the source.
        decisions: All decisions about the source, oldest first.
    """

    source: dict[str, Any]
    target: dict[str, Any] | None
    probability: float | None
    round: int = 0
    of_class: str = ""
    drawn: str = QUEUE
    why: str = ""
    evidence: Pair | None = None
    neighbour_counts: Sequence[int] = (0, 0)
    candidates: Sequence[Candidate] = ()
    decisions: Sequence[ShownDecision] = ()

    @property
    def pair(self) -> tuple[str, str]:
        """The IRIs of both; an empty text where there is no target."""
        return self.source["iri"], self.target["iri"] if self.target else ""

    def as_json(self) -> dict[str, Any]:
        """What a page reads. The relations of neighbours have an arrow for their direction."""
        return {
            "source": self.source,
            "target": self.target,
            "probability": self.probability,
            "round": self.round,
            "class": self.of_class,
            "drawn": self.drawn,
            "why": self.why,
            **_evidence(self.evidence),
            "neighbour_counts": list(self.neighbour_counts),
            "candidates": [each.as_json() for each in self.candidates],
            "decisions": [each.as_json() for each in self.decisions],
        }


def _evidence(pair: Pair | None) -> dict[str, Any]:
    if pair is None:
        return {"matching_names": None, "name_similarity": None, "values": [], "neighbours": [], "contributions": []}
    return {
        "matching_names": None if pair.matching_names is None else [_name(name) for name in pair.matching_names],
        "name_similarity": pair.name_similarity,
        "values": [
            {
                "source_property": local_name(each.source_property),
                "source": each.source_value,
                "target_property": local_name(each.target_property),
                "target": each.target_value,
                "agreement": each.agreement,
            }
            for each in pair.values
        ],
        "neighbours": [
            {
                "source": _entity(each.source, each.source_name),
                "source_relations": [through((relation,)) for relation in each.source_relations],
                "target": _entity(each.target, each.target_name),
                "target_relations": [through((relation,)) for relation in each.target_relations],
                "probability": each.probability,
                "seed": each.seed,
            }
            for each in pair.neighbours
        ],
        "contributions": [_contribution(each) for each in pair.contributions],
    }


def _name(name: MatchingName) -> dict[str, str]:
    return {"text": name.text, "language": name.language, "rank": name.rank, "latin": latin(name.text)}


def _entity(iri: str | None, name: str | None) -> dict[str, str] | None:
    if iri is None:
        return None
    name = name or local_name(iri)
    return {"iri": iri, "name": name, "latin": latin(name)}


def _contribution(each: Contribution) -> dict[str, Any]:
    return {"kind": each.kind, "description": each.description, "amount": each.amount}
