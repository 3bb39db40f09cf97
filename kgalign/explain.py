"""Why an entity got its partner: names, probability, round, linked neighbours, literals, and what the runner-up lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates
from kgalign.errors import DataError
from kgalign.evidence import LINK, RUNNER_UP, degrees, evidence_table, gather_evidence
from kgalign.readers.names import local_name

LONGEST_SHOWN = 60  # characters of a literal


@dataclass(frozen=True)
class Neighbour:
    """A neighbour of the source and the neighbour of the other that it is linked to; one of them is None where it stands alone."""

    source: str | None
    source_name: str | None
    source_relations: tuple[str, ...]  # from the entity to its neighbour; ^ before one that leads back
    target: str | None
    target_name: str | None
    target_relations: tuple[str, ...]
    probability: float  # of the link between the two
    seed: bool  # it was told and not found
    lacking: bool  # the runner-up has not got it


@dataclass(frozen=True)
class Value:
    """A literal of the source and the one that the other has for the same property."""

    source_property: str
    source_value: str
    target_property: str
    target_value: str
    agreement: str  # the same, about the same, differs


@dataclass(frozen=True)
class Option:
    """An entity that the source was given, or could have been given, and what speaks for it."""

    target: str
    name: str
    probability: float
    name_similarity: float
    shared: int  # neighbours that are linked to each other
    neighbour_count: int
    neighbours: tuple[Neighbour, ...]  # the most telling of them
    taken_by: str | None  # another source that has this target
    taken_by_name: str | None
    values: tuple[Value, ...] = ()

    def linked_neighbours(self) -> tuple[Neighbour, ...]:
        return tuple(neighbour for neighbour in self.neighbours if neighbour.source and neighbour.target)


@dataclass(frozen=True)
class Explanation:
    """Why an entity got its partner, or none."""

    source: str
    name: str
    neighbour_count: int
    link: Option | None
    runner_up: Option | None
    round: int = 0  # of Easy-to-Hard that was sure of it, 0: none was
    decided_by: str = ""

    def lacking(self) -> tuple[Neighbour, ...]:
        """The linked neighbours that speak for the link and not for the runner-up."""
        return tuple(each for each in self.link.neighbours if each.lacking) if self.link else ()


def explain(
    task: AlignmentTask, alignment: Alignment, candidates: Candidates, source_id: int, *, known: Alignment | None = None
) -> Explanation:
    """Why that source got its partner; `known` are further pairs that were evidence, see `Run.known`."""
    evidence = gather_evidence(task, alignment, candidates, known=known, sources=np.array([source_id]))
    table = evidence_table(evidence, task, str(alignment.record.get("decoder", "decoder")))
    count = int(degrees(task.source)[source_id])
    alone = Explanation(task.source.entities[source_id], task.source.names[source_id], count, None, None)
    return next(explanations(table.to_pylist()), alone)


def read_explanations(run: str | Path, entity: str) -> list[Explanation]:
    """Why the entity of a run's folder got its partner. It is named by the IRI of either side, or by its name, which several may have."""
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.parquet

    path = Path(run) / "evidence.parquet"
    if not path.is_file():
        raise DataError(f"{path}: no such file; expected the folder of a run, as kgalign align writes it")
    try:
        columns = pa.parquet.read_table(path, columns=["source", "source_name", "target", "target_name", "role"])
    except pa.ArrowException as error:
        raise DataError(f"{path}: expected the evidence of a run, but {str(error).splitlines()[0]}") from None
    for side in ("source", "target"):
        for column in (side, f"{side}_name"):
            found = pa.compute.equal(columns[column], entity)
            if side == "target":
                found = pa.compute.and_(found, pa.compute.equal(columns["role"], LINK))
            sources = columns.filter(found)["source"].unique().to_pylist()
            if sources:
                rows = pa.parquet.read_table(path, filters=[("source", "in", sources)])
                return list(explanations(rows.to_pylist()))
    raise DataError(
        f"{path}: nothing about {entity!r}: expected the IRI or the name of an entity that was asked and had candidates; "
        "seeds are told, not decided, and of very large runs only the least sure links are kept"
    )


def explanations(rows: Iterable[Mapping[str, Any]]) -> Iterator[Explanation]:
    """The explanations out of the rows of evidence.parquet, in which those of one source stand together."""
    for source, group in groupby(rows, key=lambda row: row["source"]):
        by_role = {row["role"]: row for row in group}
        row = by_role.get(LINK) or by_role[RUNNER_UP]
        link, runner_up = (_option(by_role[role]) if role in by_role else None for role in (LINK, RUNNER_UP))
        yield Explanation(source, row["source_name"], row["source_neighbours"], link, runner_up, row["round"], row["decided_by"])


def describe(explanation: Explanation) -> str:
    """The explanation for a terminal."""
    lines: list[str] = []
    lines.append(f"{explanation.name}  <{explanation.source}>, {_count(explanation.neighbour_count, 'neighbour')}")
    link, runner_up = explanation.link, explanation.runner_up
    if link is None:
        lines.append("has no partner.")
    else:
        lines.append(f"is {link.name}  <{link.target}>, {_count(link.neighbour_count, 'neighbour')}")
        by = f"round {explanation.round} of Easy-to-Hard" if explanation.round else f"the decoder ({explanation.decided_by})"
        lines.append(f"with a probability of {link.probability:.3f}, decided by {by}.")
        if link.taken_by_name:
            lines.append(f"The same partner was given to {link.taken_by_name}  <{link.taken_by}>.")
        lines.append("")
        lines.append(f"Names: {_similar(link.name_similarity)}.")
        _add_values(lines, link)
        _add_linked(lines, link)
        _add_alone(lines, link)
    lines.append("")
    if runner_up is None:
        lines.append("There was no other candidate.")
        return "\n".join(lines)
    what = "Runner-up" if link else "Best candidate"
    lines.append(f"{what}: {runner_up.name}  <{runner_up.target}>, probability {runner_up.probability:.3f}.")
    lines.append(f"Names: {_similar(runner_up.name_similarity)}.")
    _add_values(lines, runner_up)
    if runner_up.taken_by_name:
        lines.append(f"It was given to {runner_up.taken_by_name}  <{runner_up.taken_by}>.")
    lacking = explanation.lacking()
    if lacking:
        lines.append("It lacks " + "; ".join(f"{each.target_name} ({_through(each.target_relations)})" for each in lacking) + ".")
    elif link is not None:
        lines.append("Its linked neighbours are no fewer: nothing there tells the two apart.")
    if link is None:
        _add_linked(lines, runner_up)
    return "\n".join(lines)


def _add_values(lines: list[str], option: Option) -> None:
    for each in option.values:
        names = dict.fromkeys(local_name(iri) for iri in (each.source_property, each.target_property))
        lines.append(f"  {' / '.join(names)}: {_cut(each.source_value)} | {_cut(each.target_value)}, {each.agreement}")


def _add_linked(lines: list[str], option: Option) -> None:
    linked = option.linked_neighbours()
    if not option.shared:
        lines.append("No neighbour of the one is linked to a neighbour of the other.")
        return
    those = "" if option.shared == len(linked) else f"; the {len(linked)} most telling"
    lines.append(f"Neighbours that are linked: {option.shared}{those}:")
    for each in linked:
        sure = "seed" if each.seed else f"{each.probability:.3f}"
        lines.append(
            f"  {each.source_name} ({_through(each.source_relations)}) = "
            f"{each.target_name} ({_through(each.target_relations)}), {sure}"
        )


def _add_alone(lines: list[str], option: Option) -> None:
    for side, other in (("source", "target"), ("target", "source")):
        alone = [each for each in option.neighbours if getattr(each, other) is None]
        if alone:
            names = "; ".join(f"{getattr(each, f'{side}_name')} ({_through(getattr(each, f'{side}_relations'))})" for each in alone)
            lines.append(f"Only around the {side}: {names}.")


def _option(row: Mapping[str, Any]) -> Option:
    neighbours = tuple(
        Neighbour(
            **{
                **each,
                "source_relations": tuple(each["source_relations"] or ()),
                "target_relations": tuple(each["target_relations"] or ()),
            }
        )
        for each in row["neighbours"]
    )
    return Option(
        row["target"],
        row["target_name"],
        row["probability"],
        row["name_similarity"],
        row["shared"],
        row["target_neighbours"],
        neighbours,
        row["taken_by"],
        row["taken_by_name"],
        tuple(Value(**each) for each in row.get("values") or ()),
    )


def _through(relations: Iterable[str]) -> str:
    """The relations with arrows for their direction."""
    arrows = (f"← {local_name(each[1:])}" if each.startswith("^") else f"→ {local_name(each)}" for each in relations)
    return ", ".join(arrows)


def _cut(value: str) -> str:
    value = " ".join(value.split())
    return value if len(value) <= LONGEST_SHOWN else value[: LONGEST_SHOWN - 1] + "…"


def _similar(similarity: float) -> str:
    return "the same" if similarity == 1 else f"{similarity:.0%} of their letters in common" if similarity else "nothing in common"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
