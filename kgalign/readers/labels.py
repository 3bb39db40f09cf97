"""Which literals are the names of entities, and in which language: found out by what they look like, or told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgalign.data import Attributes, Ints, KnowledgeGraph
from kgalign.errors import OptionError
from kgalign.iri import as_name, datatype_kind, is_blank, local_name, normal_iri
from kgalign.readers.statements import Statements

PREFIXES = {
    "rdfs:": "http://www.w3.org/2000/01/rdf-schema#",
    "skos:": "http://www.w3.org/2004/02/skos/core#",
    "foaf:": "http://xmlns.com/foaf/0.1/",
    "schema:": "http://schema.org/",
    "dc:": "http://purl.org/dc/elements/1.1/",
    "dcterms:": "http://purl.org/dc/terms/",
}
# In the order in which they are believed.
WELL_KNOWN = (
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://xmlns.com/foaf/0.1/name",
    "http://schema.org/name",
    "https://schema.org/name",
)
TEXT_TYPES = ("", "http://www.w3.org/2001/XMLSchema#string", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString")
LOOKED_AT = 20_000  # values of a property, at most
ENOUGH = 0.5  # well-known labels on this share of the subjects, and no others are looked for
LEAST_SHARE = 0.1  # of the subjects that a further property must name
UNIQUE, LONGEST, LETTERS = 0.7, 60, 0.7  # share of different values; characters on average; share of letters in them
NO_LANGUAGE = "none"


@dataclass(frozen=True)
class Property:
    """How a property is used: what tells whether its values are names."""

    iri: str
    share: float  # of the subjects that have it
    different: float  # share of values that occur once
    length: float  # characters, on average
    letters: float  # share of letters and blanks among them
    is_text: bool

    @property
    def reason_against(self) -> str:
        """Why its values cannot be names, empty where they may be."""
        if not self.is_text:
            return "not text"
        if self.letters < LETTERS:
            return "few letters"
        if self.length > LONGEST:
            return "long"
        return "" if self.different >= UNIQUE else "many share a value"

    def __str__(self) -> str:
        return f"{short_iri(self.iri)} on {self.share:.0%} of the subjects"


def name_graphs(
    sides: Sequence[Statements], labels: Sequence[str] = (), languages: Sequence[str] = ()
) -> list[tuple[KnowledgeGraph, dict[str, int]]]:
    """The graph of each side with a name for each entity, and the ids of the entities by IRI.

    Languages are chosen for all sides together: names of two graphs compare best in one language.

    labels      properties that hold the names, best first; else they are found out
    languages   one for each side, such as en; else what most entities of both sides have, or of each side by itself
    """
    told = [full_iri(label) for label in labels]
    _check_labels(sides, told)
    found = [_label_properties(side, told) for side in sides]
    rows = [_label_rows(side, [label.iri for label, _ in chosen]) for side, (chosen, _) in zip(sides, found, strict=True)]
    shares = [_language_shares(side, chosen) for side, chosen in zip(sides, rows, strict=True)]
    preferred = _check_languages(shares, languages) if languages else _choose_languages(shares)
    return [
        (_named_graph(side, chosen, share, language, *properties), side.ids)
        for side, chosen, share, language, properties in zip(sides, rows, shares, preferred, found, strict=True)
    ]


def full_iri(label: str) -> str:
    """The IRI that a name such as rdfs:label stands for; any other as it is."""
    label = label.strip("<>")
    prefix = label[: label.find(":") + 1]
    return PREFIXES[prefix] + label.removeprefix(prefix) if prefix in PREFIXES else label


def short_iri(iri: str) -> str:
    """The IRI with a prefix that people know, where there is one."""
    for prefix, start in PREFIXES.items():
        if iri.startswith(start):
            return prefix + iri.removeprefix(start)
    return iri


def _check_labels(sides: Sequence[Statements], told: Sequence[str]) -> None:
    """Each property must be one of either graph: the two may well use different ones."""
    for label in told:
        if not any(label in side.properties for side in sides):
            there = ", ".join(short_iri(iri) for side in sides for iri in side.properties[:10]) or "none"
            raise OptionError(f"--label {short_iri(label)}: no literal has this property; there are {there}")


def _label_properties(side: Statements, told: Sequence[str]) -> tuple[list[tuple[Property, str]], list[Property]]:
    """The properties that hold names, each with the reason why it was taken, best first; and the others."""
    used = _describe_properties(side)
    chosen = [(used[iri], "told") for iri in told if iri in used]
    if not chosen:
        chosen = [(used[iri], "well known") for iri in WELL_KNOWN if iri in used]
        named = _entities_with(side, [label.iri for label, _ in chosen])
        subjects = max(1, len(_subjects(side)))
        likely = [use for use in used.values() if use.iri not in WELL_KNOWN and use.share >= LEAST_SHARE and not use.reason_against]
        while likely and len(named) < ENOUGH * subjects:
            gains = [len(np.setdiff1d(_entities_with(side, [use.iri]), named)) for use in likely]
            best = int(np.argmax(gains))
            if gains[best] < LEAST_SHARE * subjects:
                break
            chosen.append((likely.pop(best), "short text, nearly unique"))
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
        sample = rows[:: max(1, len(rows) // LOOKED_AT)]
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
    """Entities that something is said of, without blank nodes unless there is nothing else."""
    said = np.union1d(side.triples[:, 0], side.facts[:, 0])
    known = [entity for entity in said.tolist() if not is_blank(side.entities[entity])]
    return np.array(known, np.int64) if known else said


def _entities_with(side: Statements, properties: Sequence[str]) -> Ints:
    return np.unique(side.facts[_label_rows(side, properties), 0])


def _label_rows(side: Statements, properties: Sequence[str]) -> Ints:
    """The literals of some properties: those of the first property first."""
    numbers = {iri: number for number, iri in enumerate(side.properties)}
    found = [np.flatnonzero(side.facts[:, 1] == numbers[iri]) for iri in properties]
    rows = np.concatenate(found) if found else np.empty(0, np.int64)
    return rows[[side.values[row].strip() != "" for row in rows.tolist()]] if len(rows) else rows


def _language_shares(side: Statements, rows: Ints) -> dict[str, float]:
    """The share of named entities that have a name in each language, the most frequent first; "" for names without a language."""
    named = max(1, len(np.unique(side.facts[rows, 0])))
    languages = side.language_of[rows]
    entities: dict[str, list[Ints]] = {}
    for number in np.unique(languages).tolist():
        entities.setdefault(_main_language(side.languages[number]), []).append(side.facts[rows[languages == number], 0])
    shares = {language: len(np.unique(np.concatenate(parts))) / named for language, parts in entities.items()}
    return dict(sorted(shares.items(), key=lambda item: (-item[1], item[0])))


def _main_language(tag: str) -> str:
    """The language without script and country: en of en-GB."""
    return tag.lower().split("-")[0]


def _choose_languages(shares: Sequence[dict[str, float]]) -> list[str]:
    """For each side the language that most entities of all sides have a name in; where hardly any does, that of most of its own."""
    common = set.intersection(*(set(share) for share in shares)) - {""}
    best = max(sorted(common), key=lambda language: min(share[language] for share in shares), default="")
    if best and min(share[best] for share in shares) >= 0.5:
        return [best] * len(shares)
    return [next(iter(share), "") for share in shares]


def _check_languages(shares: Sequence[dict[str, float]], languages: Sequence[str]) -> list[str]:
    wanted = list(languages) * len(shares) if len(languages) == 1 else list(languages)
    if len(wanted) != len(shares):
        raise OptionError(f"--lang {','.join(languages)}: expected a language, or one for each of the {len(shares)} graphs")
    for share, language in zip(shares, wanted, strict=True):
        if share and _main_language(language) not in share:
            raise OptionError(f"--lang {language}: no name is in this language; there are {languages_text(share)}")
    return wanted


def languages_text(shares: dict[str, float]) -> str:
    return ", ".join(f"{language or NO_LANGUAGE} ({share:.0%})" for language, share in list(shares.items())[:8])


def _named_graph(
    side: Statements,
    rows: Ints,
    shares: dict[str, float],
    language: str,
    chosen: list[tuple[Property, str]],
    others: list[Property],
) -> KnowledgeGraph:
    """The graph with its names; the literals that became names are not among its attributes but apart."""
    best = _best_names(side, rows, shares, language)
    names = ["" if is_blank(entity) else local_name(normal_iri(entity)) for entity in side.entities]
    for row in best.tolist():
        names[side.facts[row, 0]] = as_name(side.values[row])
    left = np.ones(len(side.values), bool)
    left[best] = False
    subjects = _subjects(side)
    record: dict[str, Any] = {
        "names from": "; ".join(f"{label} ({reason})" for label, reason in chosen) or "the last part of the IRI",
        "subjects with a label": float(np.isin(subjects, side.facts[best, 0]).mean()) if len(subjects) else 0.0,
        "languages of the labels": languages_text(shares) or NO_LANGUAGE,
        "language taken": language or NO_LANGUAGE,
        "not names": "; ".join(f"{short_iri(use.iri)} ({use.reason_against or 'not needed'})" for use in others[:5]) or NO_LANGUAGE,
        "blank nodes": sum(map(is_blank, side.entities)),
        "broken": side.damage.count,
        "first broken": list(side.damage.first),
        "mended": side.damage.mended,
        "first mended": list(side.damage.first_mended),
    }
    if side.left_out:
        record["statements about statements, left out"] = side.left_out
    attributes, labels = _literals(side, np.flatnonzero(left)), _literals(side, np.sort(best))
    return KnowledgeGraph(side.entities, side.relations, side.triples, names, attributes, labels, record)


def _literals(side: Statements, rows: Ints) -> Attributes:
    """Some of the literals, with the language or the datatype of each."""
    of_language = [f"@{language}" if language else "" for language in side.languages]
    of_datatype = [datatype_kind(datatype) for datatype in side.datatypes]
    kinds = zip(side.language_of[rows].tolist(), side.datatype_of[rows].tolist(), strict=True)
    return Attributes(
        side.properties,
        side.facts[rows],
        [side.values[row] for row in rows.tolist()],
        [of_language[language] or of_datatype[datatype] for language, datatype in kinds],
    )


def _best_names(side: Statements, rows: Ints, shares: dict[str, float], language: str) -> Ints:
    """The literal that names each entity: in the language taken, else without one, else in English, else in a frequent one.

    Of several in one language, that of the property that is believed most, and there the first.
    """
    main = _main_language(language)
    order = list(dict.fromkeys([main, "", "en", *shares]))
    rank_of = [
        2 * order.index(_main_language(tag)) - (tag.lower() == language.lower()) if _main_language(tag) in order else len(order) * 2
        for tag in side.languages
    ]
    ranks = np.array(rank_of, np.int64)[side.language_of[rows]] if len(rows) else np.empty(0, np.int64)
    entities = side.facts[rows, 0]
    best = np.lexsort((np.arange(len(rows)), ranks, entities))
    first = np.ones(len(best), bool)
    first[1:] = entities[best][1:] != entities[best][:-1]
    return rows[best[first]]
