"""Why an entity got its partner: names, probability, round, linked neighbours, literals, and what the runner-up lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates
from kgalign.errors import DataError, KgalignError
from kgalign.explain.evidence import LINK, RUNNER_UP, evidence_table, gather_evidence
from kgalign.files import read_rows
from kgalign.readers import read_again
from kgalign.iri import local_name, normal_iri
from kgalign.readers.schema import schema_of

SIDES = ("source", "target")
MOST_NAMED = 10  # entities of one name that are listed
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

    def __str__(self) -> str:
        return _describe(self)


@dataclass(frozen=True)
class _Entity:
    """An entity of one of the graphs."""

    side: str
    iri: str
    name: str

    def __str__(self) -> str:
        return f"{self.name}  <{self.iri}> of the {self.side}"


def explain(
    task: AlignmentTask, alignment: Alignment, candidates: Candidates, source_id: int, *, known: Alignment | None = None
) -> Explanation:
    """Why that source got its partner; `known` are further pairs that were evidence, see `Run.known`."""
    evidence = gather_evidence(task, alignment, candidates, known=known, sources=np.array([source_id]))
    table = evidence_table(evidence, task, str(alignment.record.get("decoder", "decoder")))
    count = int(evidence.edges[0].degrees[source_id])
    alone = Explanation(task.source.entities[source_id], task.source.names[source_id], count, None, None)
    return next(explanations(table.to_pylist()), alone)


def read_explanations(run: str | Path, entity: str) -> list[Explanation]:
    """Why the entity of a run's folder got its partner; for a target, why each source that it was given to did.

    It is named by its IRI, by the last part of that or by its name, in upper or lower case; sources come before targets.
    """
    run = Path(run)
    path = run / "evidence.parquet"
    if not path.is_file():
        raise DataError(f"{path}: no such file; expected the folder of a run, as kgalign align writes it")
    links, alone = _read_links(run), _read_unmatched(run)
    there = [_Entity(side, link[column], link[column + 2]) for link in links for column, side in enumerate(SIDES)]
    found = _find(run, [*there, *alone], entity)
    if found is None:
        raise DataError(_why_unknown(run, entity))
    column = SIDES.index(found.side)
    own = [link for link in links if link[column] == found.iri]
    sources = [found.iri] if found.side == "source" else [link[0] for link in own]
    if sources and (rows := _read_evidence(path, sources)):
        return list(explanations(rows))
    if own:
        link = own[0]
        raise DataError(
            f"{path}: {found} is linked to {link[3 - column]}  <{link[1 - column]}> with a probability of {link[4]}; "
            "what speaks for it is not kept: of very large runs only the least sure links have their evidence"
        )
    raise DataError(f"{run / 'unmatched.tsv'}: {found} {_why_alone(alone[found], found.side)}")


def _read_links(run: Path) -> list[list[str]]:
    """Source, target, their names and the probability of each link."""
    rows = read_rows(run / "alignment.tsv", 6)
    next(rows, None)
    return [fields[:5] for _, fields in rows]


def _read_unmatched(run: Path) -> dict[_Entity, list[str]]:
    """Whoever has no partner: the best candidate, its name and its probability."""
    path = run / "unmatched.tsv"
    rows = read_rows(path, 6) if path.is_file() else iter(())
    next(rows, None)
    return {_Entity(fields[0], fields[1], fields[2]): fields[3:] for _, fields in rows}


def _read_evidence(path: Path, sources: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of the evidence of some sources."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        rows: list[dict[str, Any]] = pa.parquet.read_table(path, filters=[("source", "in", sources)]).to_pylist()
    except pa.ArrowException as error:
        raise DataError(f"{path}: expected the evidence of a run, but {str(error).splitlines()[0]}") from None
    return rows


def _find(place: Path, entities: Iterable[_Entity], wanted: str) -> _Entity | None:
    """The entity that is meant, None where there is none; several are refused."""
    wanted = wanted.strip().removeprefix("<").removesuffix(">")
    same, last = wanted.casefold(), "" if "://" in wanted else local_name(wanted).casefold()
    ways: tuple[Callable[[_Entity], bool], ...] = (
        lambda each: normal_iri(each.iri.strip("<>")) == normal_iri(wanted),
        lambda each: each.name == wanted,
        lambda each: same in (each.iri.casefold(), each.name.casefold()) or last == local_name(each.iri).casefold(),
    )
    entities = list(dict.fromkeys(entities))
    for is_meant in ways:
        meant = [each for each in entities if is_meant(each)]
        for side in SIDES:
            of_side = [each for each in meant if each.side == side]
            if len(of_side) > 1:
                more = f" and {len(of_side) - MOST_NAMED:,} more" if len(of_side) > MOST_NAMED else ""
                shown = ", ".join(f"<{each.iri}>" for each in of_side[:MOST_NAMED])
                raise DataError(
                    f"{place}: {len(of_side):,} entities of the {side} are called {wanted!r}: {shown}{more}; give the IRI of one"
                )
            if of_side:
                return of_side[0]
    return None


def _why_alone(best: Sequence[str], side: str) -> str:
    """Why an entity without evidence has no partner."""
    iri, name, probability = best
    if not iri:
        return "has no partner: it had no candidate" if side == "source" else "has no partner: it was a candidate of nobody"
    return f"has no partner: {name}  <{iri}> could have had it with a probability of {probability}, but has another or none"


def _why_unknown(run: Path, wanted: str) -> str:
    """Why a run has nothing to say of an entity: its graphs are read again to find out."""
    try:
        task, _ = read_again(run)
    except (KgalignError, OSError) as error:
        return f"{run}: nobody who was asked or on offer is called {wanted!r}; the graphs themselves cannot be read again ({error})"
    graphs = dict(zip(SIDES, (task.source, task.target), strict=True))
    entities = (_Entity(side, *each) for side, graph in graphs.items() for each in zip(graph.entities, graph.names, strict=True))
    found = _find(run, entities, wanted)
    if found is None:
        return f"{run}: no entity of either graph is called {wanted!r}; expected an IRI, the last part of one, or a name"
    graph, column = graphs[found.side], SIDES.index(found.side)
    number = graph.entities.index(found.iri)
    if number in task.seeds.pairs[:, column]:
        other = task.seeds.pairs[task.seeds.pairs[:, column] == number][0, 1 - column]
        return f"{run}: {found} was not asked: it is a seed, told and not decided; its partner is <{graphs[SIDES[1 - column]].entities[other]}>"
    why = "it is a class or a property; --classes asks those too" if number in schema_of(graph) else "its protocol leaves it out"
    return f"{run}: {found} was not asked: {why}"


def explanations(rows: Iterable[Mapping[str, Any]]) -> Iterator[Explanation]:
    """The explanations out of the rows of evidence.parquet, in which those of one source stand together."""
    for source, group in groupby(rows, key=lambda row: row["source"]):
        by_role = {row["role"]: row for row in group}
        row = by_role.get(LINK) or by_role[RUNNER_UP]
        link, runner_up = (_option(by_role[role]) if role in by_role else None for role in (LINK, RUNNER_UP))
        yield Explanation(source, row["source_name"], row["source_neighbours"], link, runner_up, row["round"], row["decided_by"])


def _describe(explanation: Explanation) -> str:
    """The explanation for a terminal."""
    lines: list[str] = []
    lines.append(f"{explanation.name}  <{explanation.source}>, {_count(explanation.neighbour_count, 'neighbour')}")
    link, runner_up = explanation.link, explanation.runner_up
    if link is None:
        lines.append(f"has no partner: {_why_none(runner_up)}.")
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
        return "\n".join([*lines, "There was no other candidate."] if link else lines).rstrip()
    what = "Runner-up" if link else "Best candidate"
    lines.append(f"{what}: {runner_up.name}  <{runner_up.target}>, probability {runner_up.probability:.3f}.")
    lines.append(f"Names: {_similar(runner_up.name_similarity)}.")
    _add_values(lines, runner_up)
    if runner_up.taken_by_name:
        lines.append(f"It was given to {runner_up.taken_by_name}  <{runner_up.taken_by}>.")
    lacking = explanation.lacking()
    if lacking:
        lines.append("It lacks " + "; ".join(f"{each.target_name} ({_through(each.target_relations)})" for each in lacking) + ".")
    elif link is not None and runner_up.shared <= link.shared:
        lines.append("Its linked neighbours are no fewer: nothing there tells the two apart.")
    if link is None or runner_up.shared > link.shared:
        _add_linked(lines, runner_up)
    return "\n".join(lines)


def _why_none(best: Option | None) -> str:
    if best is None:
        return "there was no candidate for it"
    return f"its best candidate went to {best.taken_by_name}" if best.taken_by_name else "its best candidate is not probable enough"


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
