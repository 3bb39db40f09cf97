"""The names of entities: every label, alternative label and synonym, in every language, and the words of the IRI."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kgalign.data import (
    ALTERNATIVE,
    CLASS,
    FROM_IRI,
    INDIVIDUAL,
    PREFERRED,
    PROPERTY,
    Attributes,
    Ints,
    KnowledgeGraph,
    Name,
    Names,
)
from kgalign.errors import OptionError
from kgalign.features.words import fold
from kgalign.iri import as_name, datatype_kind, is_blank, readable_names, without_qualifier
from kgalign.language_tags import main_language, plain_tag
from kgalign.readers.label_properties import Choice, NamedClass, choose_label_properties, full_iri, short_iri
from kgalign.readers.languages import NO_LANGUAGE, Shares, choose_languages, language_shares, languages_text
from kgalign.seams import Statements

LONGEST_NAME = 200  # characters; longer labels are descriptions


def name_graphs(sides: Sequence[Statements], labels: Sequence[str] = (), languages: Sequence[str] = ()) -> list[KnowledgeGraph]:
    """The graphs of the statements, with all names of each entity.

    The language of the names that are shown is chosen for all graphs together.

    Args:
        sides: The statements of each graph.
        labels: The properties that hold names, best first. Without them they are found out.
        languages: One language for all graphs, or one for each, such as `en`; `none` for names without one. Entities with a name in that
            language have no others. Without it all names count.
    """
    given = [full_iri(label) for label in labels]
    _check_labels(sides, given)
    classes = [choose_label_properties(side, given) for side in sides]
    rows = [_label_rows(side, found) for side, found in zip(sides, classes, strict=True)]
    shares = [language_shares(side, own) for side, (own, _, _) in zip(sides, rows, strict=True)]
    chosen = choose_languages(shares, languages)
    return [
        _named_graph(side, found, own, share, language, bool(languages))
        for side, found, own, share, language in zip(sides, classes, rows, shares, chosen, strict=True)
    ]


def _check_labels(sides: Sequence[Statements], given: Sequence[str]) -> None:
    """Refuses a property that no graph has. One graph is enough, since the two may use different ones."""
    for label in given:
        if not any(label in side.properties for side in sides):
            there = ", ".join(short_iri(iri) for side in sides for iri in side.properties[:10]) or "none"
            raise OptionError(f"`labels` {short_iri(label)}: no literal has this property; there are {there}")


def _label_rows(side: Statements, classes: Sequence[NamedClass]) -> tuple[Ints, Ints, Mapping[int, str]]:
    """(n,) the positions of the literals that are names, (n,) their ranks, and texts that differ from those of the literals.

    Names of one entity come in the order of its properties. A given name is completed by the family name.
    """
    parts: list[tuple[Ints, int, int]] = []
    texts: dict[int, str] = {}
    for named in classes:
        for place, choice in enumerate(named.chosen):
            own = choice.property.rows
            parts.append((own, choice.rank, place))
            texts |= _completed(side, choice) if choice.family is not None else {}
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int8), texts
    rows = np.concatenate([own for own, _, _ in parts])
    ranks = np.concatenate([np.full(len(own), rank, np.int8) for own, rank, _ in parts])
    places = np.concatenate([np.full(len(own), place) for own, _, place in parts])
    there = np.array([0 < len(texts.get(row, side.values[row]).strip()) <= LONGEST_NAME for row in rows.tolist()], bool)
    rows, ranks, places = rows[there], ranks[there], places[there]
    order = np.lexsort((rows, places, ranks, side.facts[rows, 0]))
    return rows[order], ranks[order], texts


def _completed(side: Statements, choice: Choice) -> dict[int, str]:
    """The whole names that begin with the values of the property, by the positions of these."""
    assert choice.family is not None
    family = {int(side.facts[row, 0]): side.values[row] for row in reversed(choice.family.rows.tolist())}
    own = ((row, family.get(int(side.facts[row, 0]), "")) for row in choice.property.rows.tolist())
    return {row: f"{side.values[row]} {rest}".strip() for row, rest in own}


def _named_graph(
    side: Statements,
    classes: Sequence[NamedClass],
    labels: tuple[Ints, Ints, Mapping[int, str]],
    shares: Shares,
    language: str,
    is_given: bool,
) -> KnowledgeGraph:
    """The graph with its names. The literals that became names are its `labels`, all others its `attributes`."""
    rows, ranks, texts = labels
    tags = [plain_tag(tag) for tag in side.languages]
    order = _language_order(shares, language)
    lists: list[list[tuple[int, int, Name]]] = [[] for _ in side.entities]
    for row, rank in zip(rows.tolist(), ranks.tolist(), strict=True):
        tag = tags[side.language_of[row]]
        name = Name(as_name(texts.get(row, side.values[row])), tag, rank)
        exact = tag.lower() != language.lower()
        lists[side.facts[row, 0]].append((rank, 2 * order.get(main_language(tag), len(order)) + exact, name))
    names = Names.of(_all_names(side, lists, language if is_given else None))
    whole = np.array([row not in texts for row in rows.tolist()], bool)  # parts of names are values, too
    is_label = np.zeros(len(side.values), bool)
    is_label[rows[whole] if len(rows) else rows] = True
    record: dict[str, Any] = {**_record(side, classes, rows, shares, language, names), **side.record}
    attributes, own_labels = _literals(side, np.flatnonzero(~is_label)), _literals(side, np.flatnonzero(is_label))
    return KnowledgeGraph(side.entities, side.relations, side.triples, names, attributes, own_labels, record, side.kinds)


def _all_names(side: Statements, lists: Sequence[list[tuple[int, int, Name]]], language: str | None) -> list[list[Name]]:
    """The names of each entity, each once, the one that is shown first.

    A name without its qualifier is an alternative, unless the qualifier tells it from others. The words of the IRI are one more name of a
    class or property, and the only name of any other entity without one.

    Args:
        side: The statements.
        lists: The names of each entity with their rank and the place of their language.
        language: The language that was asked for, None: none was.
    """
    kinds = (side.kinds if len(side.kinds) else np.zeros(len(side.entities), np.int8)).tolist()
    heads = ({without_qualifier(name.text) for _, _, name in own} for own in lists)
    bearers = Counter(head for own in heads for head in own)
    result = []
    for own, iri_name, kind in zip(lists, readable_names(side.entities), kinds, strict=True):
        own.sort(key=lambda each: each[:2])
        names = [name for _, _, name in own]
        shorter = [(without_qualifier(name.text), name) for name in names]
        names += [Name(head, name.language, ALTERNATIVE) for head, name in shorter if head != name.text and bearers[head] == 1]
        if language is not None:
            names = _in_language(names, language)
        if iri_name and (not names or (kind in (CLASS, PROPERTY) and language is None)):
            names.append(Name(iri_name, "", FROM_IRI))
        result.append(_each_once(names) if len(names) > 1 else names)
    return result


def _in_language(names: list[Name], language: str) -> list[Name]:
    """The names in a language, else those without one, else all."""
    own = [name for name in names if main_language(name.language) == main_language(language)]
    return own or [name for name in names if not name.language] or names


def _each_once(names: list[Name]) -> list[Name]:
    """The names without repetitions in one language, also in other letters; the better rank counts."""
    seen: dict[tuple[str, str], Name] = {}
    for name in names:
        seen.setdefault((fold(name.text) or name.text, main_language(name.language)), name)
    texts = {text for text, language in seen if seen[text, language].rank != FROM_IRI}
    return [name for (text, _), name in seen.items() if name.rank != FROM_IRI or text not in texts]


def _language_order(shares: Shares, language: str) -> dict[str, int]:
    """The languages in the order in which their names are shown: the chosen one, none, English, and then the frequent ones."""
    return {each: place for place, each in enumerate(dict.fromkeys([main_language(language), "", "en", *shares]))}


def _record(
    side: Statements, classes: Sequence[NamedClass], rows: Ints, shares: Shares, language: str, names: Names
) -> dict[str, Any]:
    """What people should know of the names."""
    subjects = sum(named.subjects for named in classes)
    with_name = np.zeros(len(side.entities), bool)
    with_name[side.facts[rows, 0]] = True
    individuals = side.kinds == INDIVIDUAL if len(side.kinds) else np.ones(len(side.entities), bool)
    is_subject = np.zeros(len(side.entities), bool)
    is_subject[side.triples[:, 0]] = is_subject[side.facts[:, 0]] = True
    own = is_subject & individuals if (is_subject & individuals).any() else is_subject
    best = {choice.sources(): None for named in classes for choice in named.chosen if choice.rank == PREFERRED}
    others = {choice.sources(): None for named in classes for choice in named.chosen if choice.rank != PREFERRED}
    from_properties = "; ".join(", ".join(part) for part in (best, others) if part)
    return {
        "names from": from_properties or ("the last part of the IRI" if len(names.text) else "nothing"),
        "subjects with a label": float(with_name[is_subject].mean()) if subjects else 0.0,
        "individuals with a label": float(with_name[own].mean()) if own.any() else 0.0,
        "languages of the labels": languages_text(shares) or NO_LANGUAGE,
        "language of the names": language or NO_LANGUAGE,
        "names by class": [
            {
                "class": named.name,
                "subjects": named.subjects,
                "names": [str(choice) for choice in named.chosen],
                "no names": [f"{use} ({use.reason_against or use.reason_to_spare})" for use in named.refused],
            }
            for named in classes
        ],
        "blank nodes": sum(map(is_blank, side.entities)),
    }


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
