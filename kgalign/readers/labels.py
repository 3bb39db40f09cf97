"""The names of entities: literals of properties that are well known as labels, that look like labels, or that are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgalign.data import Attributes, Ints, KnowledgeGraph
from kgalign.errors import OptionError
from kgalign.iri import as_name, datatype_kind, is_blank, local_name, normal_iri
from kgalign.readers.languages import NO_LANGUAGE, Shares, choose_languages, language_shares, languages_text, main_language
from kgalign.seams import Statements

PREFIXES = {
    "rdfs:": "http://www.w3.org/2000/01/rdf-schema#",
    "skos:": "http://www.w3.org/2004/02/skos/core#",
    "foaf:": "http://xmlns.com/foaf/0.1/",
    "schema:": "http://schema.org/",
    "dc:": "http://purl.org/dc/elements/1.1/",
    "dcterms:": "http://purl.org/dc/terms/",
}
# The first one that an entity has gives its name.
WELL_KNOWN = (
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://xmlns.com/foaf/0.1/name",
    "http://schema.org/name",
    "https://schema.org/name",
)
TEXT_TYPES = ("", "http://www.w3.org/2001/XMLSchema#string", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString")
SAMPLE = 20_000  # values of a property that are examined at most
ENOUGH = 0.5  # share of the subjects with a name from which on no further property is sought
LEAST_SHARE = 0.1  # share of the subjects that a further property must name
UNIQUE, LONGEST, LETTERS = 0.7, 60, 0.7  # share of different values; mean number of characters; share of letters in them


@dataclass(frozen=True)
class Property:
    """How a property is used, which shows whether its values are names.

    Attributes:
        iri: The IRI of the property.
        share: The share of the subjects that have it.
        different: The share of different values among its values.
        length: The mean number of characters of a value.
        letters: The share of letters and spaces among the characters.
        is_text: Nearly all values are text, not numbers or dates.
    """

    iri: str
    share: float
    different: float
    length: float
    letters: float
    is_text: bool

    @property
    def reason_against(self) -> str:
        """The reason why its values cannot be names; empty where they may be."""
        if not self.is_text:
            return "not text"
        if self.letters < LETTERS:
            return "few letters"
        if self.length > LONGEST:
            return "long"
        return "" if self.different >= UNIQUE else "many share a value"

    def __str__(self) -> str:
        return f"{short_iri(self.iri)} on {self.share:.0%} of the subjects"


def name_graphs(sides: Sequence[Statements], labels: Sequence[str] = (), languages: Sequence[str] = ()) -> list[KnowledgeGraph]:
    """The graphs of the statements, with a name for each entity.

    Languages are chosen for all graphs together, since names compare best in a common language.

    Args:
        sides: The statements of each graph.
        labels: The properties that hold names, best first. Without them they are found out.
        languages: One language for all graphs, or one for each, such as `en`. Without them they are found out.
    """
    given = [_full_iri(label) for label in labels]
    _check_labels(sides, given)
    found = [_label_properties(side, given) for side in sides]
    rows = [_label_rows(side, [label.iri for label, _ in chosen]) for side, (chosen, _) in zip(sides, found, strict=True)]
    shares = [language_shares(side, chosen) for side, chosen in zip(sides, rows, strict=True)]
    return [
        _named_graph(side, chosen, share, language, *properties)
        for side, chosen, share, language, properties in zip(
            sides, rows, shares, choose_languages(shares, languages), found, strict=True
        )
    ]


def short_iri(iri: str) -> str:
    """The IRI with a well-known prefix, such as `rdfs:label`; any other as it is."""
    for prefix, start in PREFIXES.items():
        if iri.startswith(start):
            return prefix + iri.removeprefix(start)
    return iri


def _full_iri(label: str) -> str:
    """The IRI that a name such as `rdfs:label` stands for; any other as it is."""
    label = label.strip("<>")
    prefix = label[: label.find(":") + 1]
    return PREFIXES[prefix] + label.removeprefix(prefix) if prefix in PREFIXES else label


def _check_labels(sides: Sequence[Statements], given: Sequence[str]) -> None:
    """Refuses a property that no graph has. One graph is enough, since the two may use different ones."""
    for label in given:
        if not any(label in side.properties for side in sides):
            there = ", ".join(short_iri(iri) for side in sides for iri in side.properties[:10]) or "none"
            raise OptionError(f"`labels` {short_iri(label)}: no literal has this property; there are {there}")


def _label_properties(side: Statements, given: Sequence[str]) -> tuple[list[tuple[Property, str]], list[Property]]:
    """The properties that hold names, best first, each with the reason for its choice; and all other properties."""
    used = _describe_properties(side)
    chosen = [(used[iri], "given") for iri in given if iri in used]
    if not chosen:
        chosen = [(used[iri], "well known") for iri in WELL_KNOWN if iri in used]
        named = _entities_with(side, [label.iri for label, _ in chosen])
        subjects = max(1, len(_subjects(side)))
        possible = [
            use for use in used.values() if use.iri not in WELL_KNOWN and use.share >= LEAST_SHARE and not use.reason_against
        ]
        while possible and len(named) < ENOUGH * subjects:
            gains = [len(np.setdiff1d(_entities_with(side, [use.iri]), named)) for use in possible]
            best = int(np.argmax(gains))
            if gains[best] < LEAST_SHARE * subjects:
                break
            chosen.append((possible.pop(best), "short text, nearly unique"))
            named = _entities_with(side, [label.iri for label, _ in chosen])
    taken = {label.iri for label, _ in chosen}
    return chosen, [use for use in used.values() if use.iri not in taken]


def _describe_properties(side: Statements) -> dict[str, Property]:
    """How each property with literals is used, the most frequent first."""
    subjects = max(1, len(_subjects(side)))
    order = np.argsort(side.facts[:, 1], kind="stable")
    starts = np.searchsorted(side.facts[order, 1], np.arange(len(side.properties) + 1))
    text_types = [position for position, datatype in enumerate(side.datatypes) if datatype in TEXT_TYPES]
    used = []
    for number, iri in enumerate(side.properties):
        rows = order[starts[number] : starts[number + 1]]
        sample = rows[:: max(1, len(rows) // SAMPLE)]
        values = [side.values[row] for row in sample.tolist()]
        characters = max(1, sum(map(len, values)))
        beginnings = "".join(value[:LONGEST] for value in values[:: max(1, len(values) // 1000)])
        letters = sum(char.isalpha() or char.isspace() for char in beginnings)
        used.append(
            Property(
                iri,
                len(np.unique(side.facts[rows, 0])) / subjects,
                len(set(values)) / len(values),
                characters / len(values),
                letters / max(1, len(beginnings)),
                bool(np.isin(side.datatype_of[sample], text_types).mean() > 0.9),
            )
        )
    return {use.iri: use for use in sorted(used, key=lambda use: -use.share)}


def _subjects(side: Statements) -> Ints:
    """The entities that are the subject of a statement, without blank nodes unless all are."""
    subjects = np.union1d(side.triples[:, 0], side.facts[:, 0])
    with_iri = [entity for entity in subjects.tolist() if not is_blank(side.entities[entity])]
    return np.array(with_iri, np.int64) if with_iri else subjects


def _entities_with(side: Statements, properties: Sequence[str]) -> Ints:
    """The entities that have a literal of one of the properties."""
    return np.unique(side.facts[_label_rows(side, properties), 0])


def _label_rows(side: Statements, properties: Sequence[str]) -> Ints:
    """(n,) the positions of the literals of some properties, those of the first property first."""
    numbers = {iri: number for number, iri in enumerate(side.properties)}
    found = [np.flatnonzero(side.facts[:, 1] == numbers[iri]) for iri in properties]
    rows = np.concatenate(found) if found else np.empty(0, np.int64)
    return rows[[side.values[row].strip() != "" for row in rows.tolist()]] if len(rows) else rows


def _named_graph(
    side: Statements,
    rows: Ints,
    shares: Shares,
    language: str,
    chosen: list[tuple[Property, str]],
    others: list[Property],
) -> KnowledgeGraph:
    """The graph with its names. The literals that became names are its `labels`, all others its `attributes`."""
    best = _best_names(side, rows, shares, language)
    names = ["" if is_blank(entity) else local_name(normal_iri(entity)) for entity in side.entities]
    for row in best.tolist():
        names[side.facts[row, 0]] = as_name(side.values[row])
    left = np.ones(len(side.values), bool)
    left[best] = False
    subjects = _subjects(side)
    against = "; ".join(f"{short_iri(use.iri)} ({use.reason_against or 'not needed'})" for use in others[:5])
    record: dict[str, Any] = {
        "names from": "; ".join(f"{label} ({reason})" for label, reason in chosen) or "the last part of the IRI",
        "subjects with a label": float(np.isin(subjects, side.facts[best, 0]).mean()) if len(subjects) else 0.0,
        "languages of the labels": languages_text(shares) or NO_LANGUAGE,
        "language of the names": language or NO_LANGUAGE,
        "properties that are not names": against or "none",
        "blank nodes": sum(map(is_blank, side.entities)),
        **side.record,
    }
    attributes, labels = _literals(side, np.flatnonzero(left)), _literals(side, np.sort(best))
    return KnowledgeGraph(side.entities, side.relations, side.triples, names, attributes, labels, record)


def _literals(side: Statements, rows: Ints) -> Attributes:
    """Some of the literals, each with its language or its datatype."""
    of_language = [f"@{language}" if language else "" for language in side.languages]
    of_datatype = [datatype_kind(datatype) for datatype in side.datatypes]
    kinds = zip(side.language_of[rows].tolist(), side.datatype_of[rows].tolist(), strict=True)
    return Attributes(
        side.properties,
        side.facts[rows],
        [side.values[row] for row in rows.tolist()],
        [of_language[language] or of_datatype[datatype] for language, datatype in kinds],
    )


def _best_names(side: Statements, rows: Ints, shares: Shares, language: str) -> Ints:
    """(n,) the position of the literal that names each entity with a label.

    A name in the chosen language comes first, then one without a language, one in English, and one in a frequent language. Among names in
    one language, that of the first property counts, and there the first.
    """
    order = list(dict.fromkeys([main_language(language), "", "en", *shares]))
    rank_of = [
        2 * order.index(main_language(tag)) - (tag.lower() == language.lower()) if main_language(tag) in order else len(order) * 2
        for tag in side.languages
    ]
    ranks = np.array(rank_of, np.int64)[side.language_of[rows]] if len(rows) else np.empty(0, np.int64)
    entities = side.facts[rows, 0]
    best = np.lexsort((np.arange(len(rows)), ranks, entities))
    first = np.ones(len(best), bool)
    first[1:] = entities[best][1:] != entities[best][:-1]
    return rows[best[first]]
