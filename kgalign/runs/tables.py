"""The small tables of a run folder: their columns, written and read by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates
from kgalign.errors import DataError
from kgalign.features.relations import RelationMatch
from kgalign.files import of_cell, open_lines
from kgalign.writers.parquet import strings, write_columns
from kgalign.writers.tsv import PERSON, write_rows

# Relations of these vocabularies describe every graph in the same way.
VOCABULARIES = (
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://www.w3.org/2000/01/rdf-schema#",
    "http://www.w3.org/2002/07/owl#",
)
DECIDED_BY = "decided_by"  # the column of an alignment.tsv


class LinkRow(NamedTuple):
    """The columns of classes.tsv, and those of alignment.tsv that are read back; `kgalign.writers.tsv` writes that one."""

    source: str
    target: str
    source_name: str
    target_name: str
    probability: str


class UnmatchedRow(NamedTuple):
    """A line of unmatched.tsv: an entity without a match, and its best candidate; empty where it had none."""

    side: str  # source or target
    entity: str
    name: str
    best: str
    best_name: str
    probability: str


class RelationRow(NamedTuple):
    """A line of relations.tsv: two relations or properties that match. `direction` is `inverse` where one is the other reversed.

    `score` says how far they hold between the same links, and `probability` is that of the link between the two; either can be empty.
    """

    source: str
    target: str
    direction: str
    score: str
    probability: str


def link_rows(alignment: Alignment, task: AlignmentTask) -> Iterator[LinkRow]:
    """The links as alignment.tsv and classes.tsv have them."""
    source, target = task.source, task.target
    for (left, right), score in zip(alignment.pairs.tolist(), alignment.scores.tolist(), strict=True):
        yield LinkRow(source.entities[left], target.entities[right], source.names[left], target.names[right], f"{score:.4f}")


def unmatched_rows(alignment: Alignment, task: AlignmentTask, candidates: Candidates) -> Iterator[UnmatchedRow]:
    """The unmatched queries and pool entities, each with its most probable candidate."""
    rows, slots = candidates.edges()
    pairs = np.column_stack([candidates.queries[rows], candidates.targets[rows, slots]])
    probabilities = candidates.probabilities()[rows, slots]
    sides = (("source", task.source, task.target), ("target", task.target, task.source))
    for column, ((side, graph, other), unmatched) in enumerate(zip(sides, task.unmatched(alignment), strict=True)):
        ranked = np.lexsort((-probabilities, pairs[:, column]))
        entities, first = np.unique(pairs[ranked, column], return_index=True)
        best = dict(zip(entities.tolist(), ranked[first].tolist(), strict=True))
        for entity in unmatched.tolist():
            found = ("", "", "")
            if (row := best.get(entity)) is not None:
                candidate = pairs[row, 1 - column]
                found = (other.entities[candidate], other.names[candidate], f"{probabilities[row]:.4f}")
            yield UnmatchedRow(side, graph.entities[entity], graph.names[entity], *found)


def write_unmatched(alignment: Alignment, task: AlignmentTask, candidates: Candidates, path: Path) -> None:
    """Writes unmatched.tsv."""
    write_rows(UnmatchedRow._fields, unmatched_rows(alignment, task, candidates), path)


def relation_rows(matches: Iterable[RelationMatch], properties: Alignment, task: AlignmentTask) -> Iterator[RelationRow]:
    """The relations that match by their use and the properties that are linked, best first; terms of RDF, RDFS and OWL are left out."""
    found: dict[tuple[str, str, str], list[float | None]] = {}
    for each in matches:
        if not any(relation.strip("<>").startswith(VOCABULARIES) for relation in (each.source, each.target)):
            found[each.source, each.target, "inverse" if each.inverse else "same"] = [each.score, None]
    for (left, right), probability in zip(properties.pairs.tolist(), properties.scores.tolist(), strict=True):
        link = task.source.entities[left], task.target.entities[right], "same"
        found.setdefault(link, [None, None])[1] = probability
    for match, figures in sorted(found.items(), key=lambda item: (-max(figure or 0 for figure in item[1]), item[0])):
        yield RelationRow(*match, *("" if figure is None else f"{figure:.4f}" for figure in figures))


def write_relations(matches: Iterable[RelationMatch], properties: Alignment, task: AlignmentTask, path: Path) -> None:
    """Writes relations.tsv."""
    write_rows(RelationRow._fields, relation_rows(matches, properties, task), path)


def write_classes(classes: Alignment, task: AlignmentTask, path: Path) -> None:
    """Writes classes.tsv."""
    write_rows(LinkRow._fields, link_rows(classes, task), path)


def write_candidates(candidates: Candidates, task: AlignmentTask, path: Path) -> None:
    """Writes candidates.parquet: one row for each candidate pair, best first for each source."""
    rows, slots = candidates.edges()
    columns = {
        "source": strings(task.source.entities, candidates.queries[rows]),
        "target": strings(task.target.entities, candidates.targets[rows, slots]),
        "score": candidates.scores[rows, slots].astype(np.float32),
        "probability": candidates.probabilities()[rows, slots].astype(np.float32),
    }
    write_columns(columns, path)


def read_link_rows(path: Path) -> Iterator[tuple[int, LinkRow]]:
    """The numbered links of an alignment.tsv that the run has found, or of a classes.tsv."""
    return ((number, LinkRow(*fields)) for number, fields, by_person in _read_links(path, LinkRow._fields) if not by_person)


def read_decided_rows(path: Path) -> Iterator[tuple[int, LinkRow]]:
    """The numbered links of an alignment.tsv that people have decided on."""
    return ((number, LinkRow(*fields)) for number, fields, by_person in _read_links(path, LinkRow._fields) if by_person)


def read_rounds(path: Path) -> list[int]:
    """The round in which each link of `read_link_rows` became confident, 0: in none, or the table does not say."""
    header = next((line for _, line in open_lines(path)), "").split("\t")
    if "round" not in header:
        return [0] * sum(1 for _ in read_link_rows(path))
    return [
        int(fields[0]) if fields[0].isdecimal() else 0 for _, fields, by_person in _read_links(path, ("round",)) if not by_person
    ]


def read_unmatched_rows(path: Path) -> Iterator[tuple[int, UnmatchedRow]]:
    """The numbered lines of an unmatched.tsv."""
    return ((number, UnmatchedRow(*fields)) for number, fields in _read_columns(path, UnmatchedRow._fields))


def _read_links(path: Path, names: tuple[str, ...]) -> Iterator[tuple[int, list[str], bool]]:
    """The fields of those columns of a table of links, line by line, and whether people have decided on the link."""
    header = next((line for _, line in open_lines(path)), "").split("\t")
    marked = (*names, DECIDED_BY) if DECIDED_BY in header else names
    for number, fields in _read_columns(path, marked):
        yield number, fields[: len(names)], fields[len(names) :] == [PERSON]


def _read_columns(path: Path, names: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """The fields of those columns, line by line; the first line says where each column is."""
    lines = open_lines(path)
    header = next((line for _, line in lines), "").split("\t")
    missing = [name for name in names if name not in header]
    if missing:
        raise DataError(f"{path}:1: expected a header with the column {missing[0]}, found {', '.join(header)[:60]!r}; align again")
    places = [header.index(name) for name in names]
    for number, line in lines:
        fields = line.split("\t")
        if len(fields) <= max(places):
            raise DataError(f"{path}:{number}: expected {len(header)} fields between tabs, found {len(fields)}: {line[:60]!r}")
        yield number, [of_cell(fields[place]) for place in places]
