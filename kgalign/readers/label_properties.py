"""Which properties hold the names of entities: decided for each class of subjects by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kgalign.data import ALTERNATIVE, CLASS, CONCEPT, PREFERRED, PROPERTY, Ints
from kgalign.features.spelling import are_addresses
from kgalign.iri import local_name, split_words
from kgalign.readers.statements import TABLE
from kgalign.readers.vocabulary import says_remark
from kgalign.seams import Statements

PREFIXES = {
    "rdf:": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs:": "http://www.w3.org/2000/01/rdf-schema#",
    "skos:": "http://www.w3.org/2004/02/skos/core#",
    "skosxl:": "http://www.w3.org/2008/05/skos-xl#",
    "foaf:": "http://xmlns.com/foaf/0.1/",
    "schema:": "http://schema.org/",
    "dc:": "http://purl.org/dc/elements/1.1/",
    "dcterms:": "http://purl.org/dc/terms/",
    "oboInOwl:": "http://www.geneontology.org/formats/oboInOwl#",
}
# The first one that an entity has gives the name that is shown.
WELL_KNOWN = (
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://www.w3.org/2008/05/skos-xl#prefLabel",
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://xmlns.com/foaf/0.1/name",
    "http://schema.org/name",
    "https://schema.org/name",
)
ALTERNATIVES = re.compile(
    r"alt(ernat(iv)?e?)?|hidden|(exact|related|broad|narrow)?synonyms?|alias(es)?|aka|acronym|abbreviation|variant|nickname"
)
NAMING = frozenset({
    "name", "names", "label", "labels", "title", "titles", "titre", "titel",
    "term", "heading", "appellation", "designation", "nom", "nombre", "nome", "bezeichnung",
})  # fmt: skip
BESIDE_NAMING = frozenset({
    "has", "is", "full", "official", "preferred", "pref", "main", "common", "legal",
    "display", "proper", "native", "original", "literal", "form", "by", "identified",
})  # fmt: skip
GIVEN_NAME = re.compile(r"(given|first|fore) ?name|prénom|prenom|vorname", re.IGNORECASE)
FAMILY_NAME = re.compile(r"(family|last|sur) ?name|nachname|nom de famille", re.IGNORECASE)
SHARED = "many share a value"
TEXT_TYPES = ("", "http://www.w3.org/2001/XMLSchema#string", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString")
TYPE = f"{PREFIXES['rdf:']}type"
KIND_GROUPS = {CLASS: "classes", PROPERTY: "properties", CONCEPT: "concepts"}
SAMPLE = 2_000  # values of a property in a class that are examined at most
MOST_GROUPS = 200  # classes that are looked at by themselves; the rarer ones together
LEAST_SUBJECTS = 10  # of a class that is looked at by itself
ENOUGH = 0.5  # share of the subjects with a name from which on no further property is sought
LEAST_SHARE = 0.1  # share of the subjects that a further property must name
LONGEST_TITLE = 120  # mean number of characters of a value, where the name of the property says that it is a name
UNIQUE, LONGEST, LETTERS = 0.7, 60, 0.7  # share of different values; mean number of characters; share of letters in them
RECURRING = 0.3  # share of different values in a column that may name the rows of a table although values recur


@dataclass(frozen=True)
class Property:
    """How a class of subjects uses a property, which shows whether its values are names.

    Attributes:
        iri: The IRI of the property.
        share: The share of the subjects that have it.
        different: The share of different values among its values.
        length: The mean number of characters of a value.
        letters: The share of letters and spaces among the characters.
        is_text: Nearly all values are text, not numbers, dates or addresses of pages and mail.
        rows: (n,) the positions of its literals.
    """

    iri: str
    share: float
    different: float
    length: float
    letters: float
    is_text: bool
    rows: Ints = field(repr=False, compare=False)

    @property
    def reason_against(self) -> str:
        """The reason why its values cannot be names; empty where they may be."""
        if self.iri == f"{PREFIXES['rdfs:']}range":
            return "a datatype"
        if not self.is_text:
            return "not text"
        if self.letters < LETTERS:
            return "few letters"
        if self.length > LONGEST:
            return "long"
        return "" if self.different >= UNIQUE else SHARED

    @property
    def reason_to_spare(self) -> str:
        """The reason why it was left alone although its values may be names."""
        return "on few subjects" if self.share < LEAST_SHARE else "not needed"

    @property
    def words(self) -> list[str]:
        """The words of its IRI, in lower case, without codes such as `P102`."""
        words = split_words(local_name(self.iri)).lower().split()
        return [word for word in words if not any(map(str.isdigit, word))]

    def __str__(self) -> str:
        return f"{short_iri(self.iri)} on {f'{self.share:.0%}' if self.share >= 0.01 else 'less than 1%'}"


@dataclass(frozen=True)
class Choice:
    """A property whose values are names.

    Attributes:
        property: How it is used.
        rank: The rank of its names, see `kgalign.data.RANKS`.
        reason: Why it was taken.
        family: The property whose values complete those of this one, as a family name does a given name.
    """

    property: Property
    rank: int
    reason: str
    family: Property | None = None

    def sources(self) -> str:
        """The property, with the one that completes its values."""
        return short_iri(self.property.iri) + self._completion()

    def _completion(self) -> str:
        return f" and {short_iri(self.family.iri)}" if self.family else ""

    def __str__(self) -> str:
        return f"{self.property}{self._completion()} ({self.reason})"


@dataclass(frozen=True)
class NamedClass:
    """A class of subjects, and the properties that name them.

    Attributes:
        name: The IRI of the class; for classes, properties and concepts themselves, that word.
        subjects: How many subjects it has.
        chosen: The properties whose values are names, best first.
        refused: The other properties.
    """

    name: str
    subjects: int
    chosen: list[Choice]
    refused: list[Property]


def choose_label_properties(side: Statements, given: Sequence[str] = ()) -> list[NamedClass]:
    """For each class of subjects the properties that hold names, the largest class first.

    Well-known properties come first, then those whose own name says so (`title`, `hasName`), then short texts that are nearly unique. Rows of
    a table that would have no name have the most name-like column as their name, even if its values recur.

    Args:
        side: The statements of a graph.
        given: The IRIs of properties that hold names; no other is sought in a class that has one of them.
    """
    groups, names = _groups(side)
    uses = _describe_properties(side, groups, len(names))
    sizes = np.bincount(groups[groups >= 0], minlength=len(names))
    found, named = [], _Named(side)
    for number in np.argsort(-sizes, kind="stable").tolist():
        used = uses[number]
        chosen = [Choice(used[iri], PREFERRED, "given") for iri in given if iri in used]
        chosen = chosen or _choose(side, named, used, names[number], int(sizes[number]))
        taken = {choice.property.iri for choice in chosen}
        found.append(NamedClass(names[number], int(sizes[number]), chosen, [use for use in used.values() if use.iri not in taken]))
    return found


def short_iri(iri: str) -> str:
    """The IRI with a well-known prefix, such as `rdfs:label`; any other as it is."""
    for prefix, start in PREFIXES.items():
        if iri.startswith(start):
            return prefix + iri.removeprefix(start)
    return iri


def full_iri(label: str) -> str:
    """The IRI that a name such as `rdfs:label` stands for; any other as it is."""
    label = label.strip("<>")
    prefix = label[: label.find(":") + 1]
    return PREFIXES[prefix] + label.removeprefix(prefix) if prefix in PREFIXES else label


def is_alternative_name(words: Sequence[str]) -> bool:
    """Whether the words of a property say that its values are further names: `alt label`, `gene synonym`, not `synonym source`."""
    is_name = bool(words) and (words[-1] in NAMING or ALTERNATIVES.fullmatch(words[-1]) is not None)
    return is_name and any(ALTERNATIVES.fullmatch(word) for word in words)


def is_name_part(words: Sequence[str]) -> bool:
    """Whether the words of a property say that its values are given names or family names."""
    return any(pattern.fullmatch(" ".join(words)) for pattern in (GIVEN_NAME, FAMILY_NAME))


class _Named:
    """The entities with a literal of the properties that were chosen so far. No entity is in two classes, so all classes share it."""

    def __init__(self, side: Statements) -> None:
        self._side = side
        self._has_name = np.zeros(len(side.entities), bool)

    def new(self, use: Property) -> Ints:
        """(n,) those that a further property would name."""
        owners = np.unique(self._side.facts[use.rows, 0])
        found: Ints = owners[~self._has_name[owners]]
        return found

    def add(self, use: Property) -> int:
        """Names them, and returns how many they are."""
        new = self.new(use)
        self._has_name[new] = True
        return len(new)


def _choose(side: Statements, named: _Named, used: dict[str, Property], group: str, subjects: int) -> list[Choice]:
    """The properties of a class that hold names, best first."""
    chosen = [Choice(used[iri], PREFERRED, "well known") for iri in WELL_KNOWN if iri in used]
    count = sum(named.add(choice.property) for choice in chosen)
    class_words = set(split_words(local_name(group)).lower().split())
    others = [use for use in used.values() if use.iri not in WELL_KNOWN]
    for use in others:
        if (
            _says_name(use, class_words)
            and use.is_text
            and use.length <= LONGEST_TITLE
            and (use.different >= UNIQUE or subjects < LEAST_SUBJECTS)
        ):
            new = named.add(use)
            chosen.append(Choice(use, _rank_beside(count, new, use, subjects), "by its own name"))
            count += new
    if count < ENOUGH * subjects and (parts := _name_parts(others)):
        chosen.append(Choice(parts[0], PREFERRED, "parts of a name", parts[1]))
        count += named.add(parts[0])
    recurring = _recurring_names(others, class_words) if TABLE in side.record else []
    if count < ENOUGH * subjects and recurring and not _may_be_forms_of_address(recurring[0]):
        chosen.append(Choice(recurring[0], PREFERRED, "by its own name"))
        count += named.add(recurring[0])
    possible = [use for use in others if use.share >= LEAST_SHARE and not use.reason_against and not _is_alternative(use)]
    taken = {choice.property.iri for choice in chosen}
    possible = [use for use in possible if use.iri not in taken and (TABLE in side.record or not says_remark(use.iri))]
    while possible and count < ENOUGH * subjects:
        gains = [len(named.new(use)) for use in possible]
        best = int(np.argmax(gains))
        if gains[best] < LEAST_SHARE * subjects:
            break
        chosen.append(Choice(possible.pop(best), PREFERRED, "short text, nearly unique"))
        count += named.add(chosen[-1].property)
    if not chosen and TABLE in side.record and (best_left := _most_name_like(others, recurring)):
        chosen.append(best_left)
    taken = {choice.property.iri for choice in chosen}
    alternatives = [
        use for use in others if use.iri not in taken and _is_alternative(use) and use.is_text and use.length <= LONGEST
    ]
    return chosen + [Choice(use, ALTERNATIVE, "by its own name") for use in alternatives]


def _recurring_names(uses: Sequence[Property], class_words: set[str]) -> list[Property]:
    """The properties whose own name says that they hold names, though values recur, those with the most different values first."""
    found = [use for use in uses if _says_name(use, class_words) and use.is_text and use.length <= LONGEST_TITLE]
    return sorted((use for use in found if use.share >= ENOUGH), key=lambda use: -use.different)


def _may_be_forms_of_address(use: Property) -> bool:
    """Whether a column has few different values and is not called `name`, as a `title` of Mr and Mrs."""
    return use.different < RECURRING and "name" not in use.words


def _most_name_like(uses: Sequence[Property], recurring: Sequence[Property]) -> Choice | None:
    """The name of rows that have none so far: a column whose own name says so, or else the short text with the most different values."""
    if recurring:
        return Choice(recurring[0], PREFERRED, "by its own name")
    short = [use for use in uses if use.share >= ENOUGH and use.reason_against in ("", SHARED) and not _is_alternative(use)]
    best = max(short, key=lambda use: use.different, default=None)
    return Choice(best, PREFERRED, "the most name-like") if best and best.different >= RECURRING else None


def _rank_beside(before: int, new: int, use: Property, subjects: int) -> int:
    """The rank of names beside those of chosen properties: alternative, unless most of their owners have no other name.

    Args:
        before: How many subjects have a name by those properties.
        new: How many more have one by this property.
        use: The property.
        subjects: How many subjects there are.
    """
    return ALTERNATIVE if before >= ENOUGH * subjects and new < ENOUGH * use.share * subjects else PREFERRED


def _says_name(use: Property, class_words: set[str]) -> bool:
    """Whether the name of a property says that its values are names of its own subjects, not of others: `title`, not `authorName`."""
    words = set(use.words)
    identifies = {"identified", "by"} <= words
    return (identifies or bool(words & NAMING)) and words <= NAMING | BESIDE_NAMING | class_words


def _is_alternative(use: Property) -> bool:
    """Whether the name of a property says that its values are further names: `altLabel`, `gene_synonym`, not `synonymSource`."""
    return is_alternative_name(use.words)


def _name_parts(uses: Sequence[Property]) -> tuple[Property, Property] | None:
    """The properties with given names and family names."""
    found = [next((use for use in uses if pattern.fullmatch(" ".join(use.words))), None) for pattern in (GIVEN_NAME, FAMILY_NAME)]
    return (found[0], found[1]) if found[0] and found[1] else None


def _groups(side: Statements) -> tuple[Ints, list[str]]:
    """(n,) the class of each subject, -1 for other entities, and the names of the classes.

    An individual with several types counts by the rarest that is not too rare.
    """
    count = len(side.entities)
    subjects = np.union1d(side.triples[:, 0], side.facts[:, 0])
    groups = np.full(count, -1, np.int64)
    groups[subjects] = 0
    names = ["rows" if TABLE in side.record else "no class"]
    kinds = side.kinds if len(side.kinds) else np.zeros(count, np.int8)
    is_type = np.array([relation == TYPE for relation in side.relations], bool)
    typed = side.triples[is_type[side.triples[:, 1]]] if len(side.triples) else side.triples
    typed = typed[groups[typed[:, 0]] >= 0]
    often = np.bincount(typed[:, 2], minlength=count)
    usable = np.argsort(-often, kind="stable")[:MOST_GROUPS]
    usable = usable[often[usable] >= LEAST_SUBJECTS]
    full = len(usable) == MOST_GROUPS
    for kind in usable.tolist():  # the rarest comes last, and counts
        names.append(side.entities[kind])
        groups[typed[typed[:, 2] == kind, 0]] = len(names) - 1
    for kind, name in KIND_GROUPS.items():
        if (kinds[subjects] == kind).any():
            names.append(name)
            groups[subjects[kinds[subjects] == kind]] = len(names) - 1
    if TABLE not in side.record:
        names[0] = _rest_name(
            subjects[groups[subjects] == 0], typed[:, 0], max(LEAST_SUBJECTS, int(often[usable].min()) + 1 if full else 0)
        )
    used, groups[subjects] = np.unique(groups[subjects], return_inverse=True)
    return groups, [names[number] for number in used.tolist()]


def _rest_name(rest: Ints, typed: Ints, least: int) -> str:
    """What the subjects are called that no group of their class has: those without a class, and those of small classes."""
    has_class = np.isin(rest, typed)
    small = f"classes with fewer than {least:,} members"
    return "no class" if not has_class.any() else small if has_class.all() else f"no class, or {small}"


def _describe_properties(side: Statements, groups: Ints, count: int) -> list[dict[str, Property]]:
    """How the subjects of each class use each property with literals, the most frequent first."""
    sizes = np.bincount(groups[groups >= 0], minlength=count)
    rows = np.flatnonzero(groups[side.facts[:, 0]] >= 0)
    keys = groups[side.facts[rows, 0]] * max(1, len(side.properties)) + side.facts[rows, 1]
    order = np.argsort(keys, kind="stable")
    found, starts = np.unique(keys[order], return_index=True)
    text_types = [position for position, datatype in enumerate(side.datatypes) if datatype in TEXT_TYPES]
    uses: list[list[Property]] = [[] for _ in range(count)]
    for key, own in zip(found.tolist(), np.split(rows[order], starts[1:]), strict=False):  # no literals: one empty part
        group, number = divmod(key, max(1, len(side.properties)))
        use = _describe(side, side.properties[number], own, int(sizes[group]), text_types)
        if use is not None:
            uses[group].append(use)
    return [{use.iri: use for use in sorted(own, key=lambda use: -use.share)} for own in uses]


def _describe(side: Statements, iri: str, rows: Ints, subjects: int, text_types: Sequence[int]) -> Property | None:
    """How some subjects use a property with literals; None where all its values are empty."""
    sample = rows[:: max(1, len(rows) // SAMPLE)]
    values = [value for row in sample.tolist() if (value := side.values[row].strip())]
    if not values:
        return None
    beginnings = "".join(value[:LONGEST] for value in values[:: max(1, len(values) // 1000)])
    letters = sum(char.isalpha() or char.isspace() for char in beginnings)
    return Property(
        iri,
        len(np.unique(side.facts[rows, 0])) / max(1, subjects),
        len(set(values)) / len(values),
        sum(map(len, values)) / len(values),
        letters / max(1, len(beginnings)),
        bool(np.isin(side.datatype_of[sample], text_types).mean() > 0.9) and not are_addresses(values),
        rows,
    )
