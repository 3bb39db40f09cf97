"""Finds the entity that a user means and explains its link, from a run in memory or from a run folder in the same way."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import AlignmentTask, Cardinality, KnowledgeGraph
from kgalign.errors import DataError, KgalignError, OptionError
from kgalign.explain.notebook import Explanations
from kgalign.iri import local_name, normal_iri
from kgalign.readers.schema import schema_of
from kgalign.runs.deciders import said_by, standing_of
from kgalign.runs.evidence_table import SIDES, evidence_table, explanations
from kgalign.runs.run import Run
from kgalign.runs.tables import LinkRow, UnmatchedRow, link_rows, unmatched_rows

logger = logging.getLogger(__name__)
MOST_LISTED = 10  # entities of one name in a message
MOST_OFFERED = 5  # entities whose name is like the wanted one
SHORTEST_PART = 3  # letters of a name that are enough to offer entities


@dataclass(frozen=True)
class RunContents:
    """The links, the unmatched entities and the evidence of a run, from memory or from its folder.

    Attributes:
        place: The folder, at the beginning of messages; empty for a run in memory.
        links: All links.
        unmatched: All unmatched entities of both graphs.
        evidence: The rows of the evidence table for some sources, by IRI.
        task: The task; may read its graphs again.
        classes: The links between classes, also those that were evidence only.
        decided: The links that people have decided on.
        logs: The files of decisions that the run was made with.
        cardinality: How many links an entity may have.
        is_quick: The task is in memory, or its graphs are soon read.
    """

    place: str
    links: Sequence[LinkRow]
    unmatched: Sequence[UnmatchedRow]
    evidence: Callable[[Sequence[str]], Iterable[Mapping[str, Any]]]
    task: Callable[[], AlignmentTask]
    classes: Sequence[LinkRow] = ()
    decided: Sequence[LinkRow] = ()
    logs: Sequence[str] = ()
    cardinality: Cardinality = "one-to-one"
    is_quick: bool = True


@dataclass(frozen=True)
class _Entity:
    """An entity of one of the graphs. `others` are its names apart from the shown one."""

    side: str
    iri: str
    name: str
    others: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All its names, in small letters."""
        return tuple(map(str.casefold, (self.name, *self.others)))

    def __str__(self) -> str:
        return f"{_named(self.name, self.iri)} of the {self.side}"


def contents_of(run: Run) -> RunContents:
    """The contents of a run in memory."""

    def evidence(sources: Sequence[str]) -> Iterable[Mapping[str, Any]]:
        ids = {entity: number for number, entity in enumerate(run.task.source.entities)}
        chosen = np.array([ids[source] for source in sources], np.int64)
        rows: list[dict[str, Any]] = evidence_table(run.evidence(np.unique(chosen)), run.task, run.decoder).to_pylist()
        return rows

    links = list(link_rows(run.alignment, run.task))
    unmatched = list(unmatched_rows(run.links.alignment, run.task, run.candidates))
    decided = list(link_rows(run.links.alignment, run.task))[len(links) :]
    logs = run.options.get("read", {}).get("decisions", ())
    classes = list(link_rows(run.classes, run.task))
    return RunContents("", links, unmatched, evidence, lambda: run.task, classes, decided, logs, run.task.cardinality)


def explain_entity(wanted: str, run: RunContents) -> Explanations:
    """The explanations of the entity that is wanted, see `Run.explain`."""
    if not wanted.strip():
        raise OptionError("entity='': expected an IRI, the last part of one, or a name")
    linked = [
        _Entity(side, row[column], row[column + 2]) for row in (*run.links, *run.decided) for column, side in enumerate(SIDES)
    ]
    unmatched = {(row.side, row.entity): row for row in run.unmatched}
    aligned = [*linked, *(_Entity(row.side, row.entity, row.name) for row in run.unmatched)]
    found = _find(run.place, aligned, wanted) or _find_in_graphs(run, wanted, aligned)
    _say_namesakes(run, wanted, found)
    column = SIDES.index(found.side)
    links = [row for row in run.links if row[column] == found.iri]
    decided = [row for row in run.decided if row[column] == found.iri]
    if decided and not links:
        raise DataError(f"{run.place}{found} has a match that was given: {_who_decided(run, decided, column)}")
    sources = [found.iri] if found.side == "source" else [row.source for row in links]
    explained = Explanations(explanations(run.evidence(sources)) if sources else ())
    if found.side == "target" and links:  # its sources may have other links too
        explained = Explanations(each for each in explained if each.link is not None and each.link.target == found.iri)
    if explained:
        return explained
    if links:
        other = _named(links[0][3 - column], links[0][1 - column])
        raise DataError(
            f"{run.place}{found} is linked to {other} with a probability of {links[0].probability}; its evidence is not stored: "
            "in a very large run only the links with the lowest probability have it"
        )
    raise DataError(f"{run.place}{found} has no match: {_why_unmatched(unmatched[found.side, found.iri])}")


def _find(place: str, entities: Iterable[_Entity], wanted: str) -> _Entity | None:
    """The entity that is wanted, None where there is none; an ambiguous name is refused."""
    wanted = wanted.strip().removeprefix("<").removesuffix(">")
    folded, last = wanted.casefold(), "" if "://" in wanted else local_name(wanted).casefold()
    ways: tuple[Callable[[_Entity], bool], ...] = (
        lambda each: normal_iri(each.iri.strip("<>")) == normal_iri(wanted),
        lambda each: each.name == wanted,
        lambda each: folded in (each.iri.casefold(), each.name.casefold()) or last == local_name(each.iri).casefold(),
        lambda each: wanted in each.others,
        lambda each: folded in map(str.casefold, each.others),
    )
    entities = list(dict.fromkeys(entities))
    for fits in ways:
        fitting = [each for each in entities if fits(each)]
        for side in SIDES:
            of_side = [each for each in fitting if each.side == side]
            if len(of_side) > 1:
                more = f" and {len(of_side) - MOST_LISTED:,} more" if len(of_side) > MOST_LISTED else ""
                listed = ", ".join(f"<{each.iri}>" for each in of_side[:MOST_LISTED])
                raise DataError(
                    f"{place}{len(of_side):,} entities of the {side} are called {wanted!r}: {listed}{more}; give the IRI of one"
                )
            if of_side:
                return of_side[0]
    return None


def _say_namesakes(run: RunContents, wanted: str, found: _Entity) -> None:
    """Says which other entities of that side have the wanted name, perhaps in another language."""
    folded = wanted.strip().casefold()
    if not run.is_quick or normal_iri(found.iri.strip("<>")) == normal_iri(wanted.strip().strip("<>")):
        return
    try:
        task = run.task()
    except (KgalignError, OSError):
        return  # without the graphs, only the names that are shown are known
    graph = task.source if found.side == "source" else task.target
    others = [each for each in _entities(found.side, graph) if each.iri != found.iri and folded in each.names]
    if others:
        listed = ", ".join(_named(each.name, each.iri) for each in others[:MOST_LISTED])
        more = f" and {len(others) - MOST_LISTED:,} more" if len(others) > MOST_LISTED else ""
        explained = f"{found} is explained"
        logger.warning(
            "%s%d entities of the %s are called %r: %s; give the IRI of another: %s%s",
            *(run.place, len(others) + 1, found.side, wanted, explained, listed, more),
        )


def _offered(entities: Iterable[_Entity], wanted: str) -> str:
    """Entities whose name begins with the wanted one, then those whose name contains it, as part of a message; empty if there are none."""
    folded = wanted.strip().casefold()
    if len(folded) < SHORTEST_PART:
        return ""
    having = [each for each in entities if any(folded in name for name in each.names)]
    having.sort(key=lambda each: not any(name.startswith(folded) for name in each.names))
    listed = ", ".join(map(str, having[:MOST_OFFERED]))
    more = f" and {len(having) - MOST_OFFERED:,} more" if len(having) > MOST_OFFERED else ""
    return f"; it is part of the name of {listed}{more}" if having else ""


def _why_unmatched(row: UnmatchedRow) -> str:
    """Why an entity without evidence has no match."""
    if not row.best:
        return "it had no candidate" if row.side == "source" else "it was a candidate of no query"
    return f"its best query is {_named(row.best_name, row.best)}, with a probability of {row.probability}, and has another match or none"


def _find_in_graphs(run: RunContents, wanted: str, aligned: Sequence[_Entity]) -> _Entity:
    """The entity that is wanted, by any of its names.

    Raises:
        DataError: No graph has it, or it is not among `aligned`: it was neither a query nor in the candidate pool.
    """
    try:
        task = run.task()
    except (KgalignError, OSError) as error:
        raise DataError(
            f"{run.place}no query and no entity of the candidate pool is called {wanted!r}{_offered(aligned, wanted)}; "
            f"the graphs cannot be read again ({error})"
        ) from None
    entities = [each for side, graph in zip(SIDES, (task.source, task.target), strict=True) for each in _entities(side, graph)]
    found = _find(run.place, entities, wanted)
    if found is None:
        raise DataError(
            f"{run.place}no entity of either graph is called {wanted!r}{_offered(entities, wanted)}; "
            "expected an IRI, the last part of one, or a name"
        )
    if (found.side, found.iri) not in {(each.side, each.iri) for each in aligned}:
        raise DataError(f"{run.place}{found} was not aligned: {_why_not_aligned(run, task, found)}")
    return found


def _entities(side: str, graph: KnowledgeGraph) -> Iterator[_Entity]:
    others: dict[int, list[str]] = {}
    for owner, text in zip(graph.names.owner.tolist(), graph.names.text, strict=True):
        if text != graph.names[owner]:
            others.setdefault(owner, []).append(text)
    for number, (iri, name) in enumerate(zip(graph.entities, graph.names, strict=True)):
        yield _Entity(side, iri, name, tuple(others.get(number, ())))


def _why_not_aligned(run: RunContents, task: AlignmentTask, entity: _Entity) -> str:
    """Why an entity of a graph was neither a query nor in the candidate pool."""
    graphs, column = (task.source, task.target), SIDES.index(entity.side)
    number = graphs[column].entities.index(entity.iri)
    seeds = task.seeds.pairs[task.seeds.pairs[:, column] == number]
    people = task.decided.pairs[task.decided.pairs[:, column] == number]
    if len(people):
        return _who_decided(run, [row for row in link_rows(task.decided, task) if row[column] == entity.iri], column)
    if len(seeds):
        other = graphs[1 - column].entities[seeds[0, 1 - column]]
        return f"it is a seed, so its match was given: <{other}>"
    link = next((row for row in run.classes if row[column] == entity.iri), None)
    if link is not None:
        other = _named(link[3 - column], link[1 - column])
        return f"it is a class, and its link to {other} with a probability of {link.probability} was evidence for other links"
    if number in schema_of(graphs[column]):
        return "it is a class or a property; `classes` aligns those too"
    if task.types is not None and not task.types[column][number]:
        return "it is of none of the classes that `types` names"
    return f"the {task.protocol} protocol leaves it out, or `only_{entity.side}` does"


def _who_decided(run: RunContents, decided: Sequence[LinkRow], column: int) -> str:
    """Who decided on the matches of an entity, and when."""
    made = standing_of([path for path in run.logs if Path(path).is_file()], run.cardinality).matches
    return "; ".join(
        f"{said_by(made.get((row.source, row.target)))} that it matches {_named(row[3 - column], row[1 - column])}"
        for row in decided
    )


def _named(name: str, iri: str) -> str:
    return f"{name}  <{iri}>" if name else f"<{iri}>"
