"""Literals as features that two graphs can share (dates, numbers, identifiers, text), and which of their properties match."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy import sparse

from kgalign.data import Alignment, Attributes, Floats, Ints, KnowledgeGraph
from kgalign.features.relations import best_matches
from kgalign.features.shared import Keyed, combinations, shared_features
from kgalign.features.spelling import Spelling, spellings_of, units_of
from kgalign.features.values import DATE, value_features
from kgalign.features.words import fold
from kgalign.iri import local_name

NEAR = 0.5  # the weight of an approximate value
ALONE, CODE_ALONE = 0.5, 0.8  # the weight of a value whatever its property; more, if it has the form of an identifier
CODE_DIGITS, CODE_LENGTH = 5, 30  # digits, or else characters, of values that two things hardly share by chance
SHORTEST_ALONE = 8  # characters of a value that is evidence without its property: a date is, a year is not
MOST_ALONE = 10  # facts of either graph with a value that is evidence whatever its property
SAME_NAME = 1.0  # common facts that two properties of the same name start with
MIN_PROPERTY_MATCH = 0.05
WHOLE_DATE = re.compile(r"-?\d+-\d\d-\d\d")
FIRST_VALUES = 20  # of a property, which show whether it has dates
DIFFERS, IS_NEAR, IS_SAME = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Literals:
    """The literals of one graph that can be compared, as features over a vocabulary which both graphs share."""

    facts: Ints  # (n,) positions in the graph's attributes
    entities: Ints  # (n,)
    properties: Ints  # (n,)
    features: sparse.csr_array  # (n, v) 1: the exact value, NEAR: an approximate one; only features that both graphs have
    scalar: Ints  # (n,) whether it is a date or a number, which can be near another
    alone: Floats  # (v,) the weight of a feature whatever the property, 0: none
    entity_count: int
    property_count: int


@dataclass(frozen=True, eq=False)
class LiteralPair:
    """The literals of two graphs.

    Attributes:
        same_name: (p, q) 1 where the last parts of two properties' IRIs are the same.
    """

    source: Literals
    target: Literals
    same_name: sparse.csr_array

    @property
    def comparable(self) -> bool:
        """Whether both graphs have literals that can be compared."""
        return len(self.source.facts) > 0 and len(self.target.facts) > 0


def read_literals(source: KnowledgeGraph, target: KnowledgeGraph) -> LiteralPair:
    """The literals of two graphs as features."""
    vocabulary: dict[str, int] = {}
    spellings = read_spellings(source, target)
    parts = [_read_side(graph, own, vocabulary) for graph, own in zip((source, target), spellings, strict=True)]
    often, exactly = (
        [np.bincount(features[strengths >= least], minlength=len(vocabulary)) for *_, features, strengths in parts]
        for least in (NEAR, 1)
    )
    shared = np.minimum(*often) > 0
    numbers = np.cumsum(shared) - 1
    telling = shared & (np.minimum(*exactly) > 0) & (np.maximum(*exactly) <= MOST_ALONE)
    alone = np.array([_weight_alone(name) if is_telling else 0 for name, is_telling in zip(vocabulary, telling, strict=True)])
    sides = []
    for graph, (facts, scalar, owners, features, strengths) in zip((source, target), parts, strict=True):
        kept = shared[features]
        matrix = sparse.csr_array(
            (strengths[kept], (owners[kept], numbers[features[kept]])), shape=(len(facts), int(shared.sum())), dtype=np.float32
        )
        matrix.sort_indices()
        entities, properties = np.asarray(graph.attributes.facts)[facts].T
        sizes = len(graph.entities), len(graph.attributes.properties)
        sides.append(Literals(facts, entities, properties, matrix, scalar, alone[shared], *sizes))
    return LiteralPair(sides[0], sides[1], _same_name(source, target))


def read_spellings(source: KnowledgeGraph, target: KnowledgeGraph) -> tuple[list[Spelling], list[Spelling]]:
    """How the values of each property of either graph are written.

    Numbers of eight digits are dates only if a property has dates in another spelling: otherwise they are equal as they are, and may be codes.
    A unit that all values of a property have counts only if the other graph has it too.
    """
    sides = [_values_by_property(graph.attributes) for graph in (source, target)]
    spellings = [spellings_of(columns) for columns in sides]
    if not any(_holds_dates(column) for columns in sides for column in columns):
        spellings = [[replace(spelling, digit_dates=False) for spelling in own] for own in spellings]
    units = [units_of(columns) for columns in reversed(sides)]
    both = [
        [replace(spelling, unit="") if spelling.unit in others else spelling for spelling in own]
        for own, others in zip(spellings, units, strict=True)
    ]
    return both[0], both[1]


def _values_by_property(literals: Attributes) -> list[list[str]]:
    there = np.flatnonzero(np.fromiter(map(bool, literals.values), bool, len(literals.values)))
    order = there[np.argsort(literals.facts[there, 1], kind="stable")]
    places = np.searchsorted(literals.facts[order, 1], np.arange(len(literals.properties) + 1)).tolist()
    values = [literals.values[row] for row in order.tolist()]
    return [values[begin:end] for begin, end in pairwise(places)]


def _holds_dates(values: Sequence[str]) -> bool:
    """Whether most of the first values are dates with signs or words between their parts."""
    first = [value for value in values if value][:FIRST_VALUES]
    return sum(WHOLE_DATE.match(value_features(value)[0]) is not None for value in first) > len(first) / 2


def _weight_alone(value: str) -> float:
    """The weight of a value that two literals share, whatever their properties."""
    is_code = sum(map(str.isdigit, value)) >= CODE_DIGITS or len(value) >= CODE_LENGTH
    if is_code and not DATE.fullmatch(value):
        return CODE_ALONE
    return ALONE if len(value) >= SHORTEST_ALONE else 0.0


def _read_side(
    graph: KnowledgeGraph, spellings: Sequence[Spelling], vocabulary: dict[str, int]
) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Facts that can be compared and whether they are scalar; then fact, feature and strength of each feature.

    Left out are empty values, values that are the entity's own name, and values that an entity has twice for one property, in another
    language or from another file for instance.
    """
    by_spelling: dict[Spelling, dict[str, tuple[list[int], bool]]] = {}
    parsed = [by_spelling.setdefault(spelling, {}) for spelling in spellings]
    facts, scalars, counts, features, strengths = [], [], [], [], []
    rows = zip(graph.attributes.values, np.asarray(graph.attributes.facts).tolist(), strict=True)
    for number, (value, (entity, kind)) in enumerate(rows):
        if not value:
            continue
        known = parsed[kind]
        if value not in known:
            exact, near, scalar = value_features(value, spellings[kind])
            names = [exact, *near] if exact else []
            known[value] = [vocabulary.setdefault(name, len(vocabulary)) for name in names], scalar
        found, scalar = known[value]
        if found and (scalar or value != graph.names[entity]):
            facts.append(number)
            scalars.append(scalar)
            counts.append(len(found))
            features.extend(found)
            strengths.extend([1.0] + [NEAR] * (len(found) - 1))
    positions, often, found_features = np.array(facts, np.int64), np.array(counts, np.int64), np.array(features, np.int64)
    new = _are_new(*np.asarray(graph.attributes.facts)[positions].T, found_features[np.cumsum(often) - often])
    kept = np.repeat(new, often)
    return (
        positions[new],
        np.array(scalars, bool)[new],
        np.repeat(np.arange(int(new.sum())), often[new]),
        found_features[kept],
        np.array(strengths, np.float32)[kept],
    )


def _are_new(*columns: Ints) -> Ints:
    """(n,) whether no row before is the same in all columns."""
    order = np.lexsort(columns)  # stable, so that the first of equals comes first
    new = np.ones(len(order), bool)
    new[order[1:]] = np.any([np.diff(column[order]) != 0 for column in columns], axis=0)
    return new


def match_properties(literals: LiteralPair, known: Alignment) -> sparse.csr_array:
    """(p, q) how far each property of the source has the same values for known links as each of the target, 0 to 1.

    Properties of one name are ahead by a fact, so that they match before any link is known. Each link counts, also of
    entities that have several.
    """
    sides = literals.source, literals.target
    kinds = [side.property_count for side in sides]
    if not literals.comparable:
        return sparse.csr_array(tuple(kinds), dtype=np.float32)
    width = max(1, sides[0].features.shape[1])
    keys, properties, strengths, often = [], [], [], []
    for side, ids, count in zip(sides, (known.sources, known.targets), kinds, strict=True):
        owners, facts = _facts_of(side, ids)
        of_facts = side.features[facts]
        rows = np.repeat(np.arange(len(facts)), np.diff(of_facts.indptr))
        keys.append(owners[rows] * width + of_facts.indices)
        properties.append(side.properties[facts[rows]])
        strengths.append(of_facts.data)
        often.append(np.bincount(side.properties[facts], minlength=count))
    pairs, columns = np.unique(np.concatenate(keys), return_inverse=True)
    left, right = (
        sparse.csr_array((strength, (kind, column)), shape=(count, len(pairs)))
        for strength, kind, column, count in zip(strengths, properties, np.split(columns, [len(keys[0])]), kinds, strict=True)
    )
    both = sparse.coo_array(left @ right.T + SAME_NAME * literals.same_name)
    # Two more facts on either side, as for relations.
    score = both.data / np.sqrt((often[0][both.row] + 2) * (often[1][both.col] + 2))
    matches = sparse.csr_array((np.minimum(score, 1), (both.row, both.col)), shape=kinds, dtype=np.float32)
    matches.data[matches.data < MIN_PROPERTY_MATCH] = 0
    matches.eliminate_zeros()
    return matches


def _same_name(source: KnowledgeGraph, target: KnowledgeGraph) -> sparse.csr_array:
    """(p, q) 1 where the last parts of two properties' IRIs are the same."""
    names = [[fold(local_name(iri)).replace(" ", "") for iri in graph.attributes.properties] for graph in (source, target)]
    columns: dict[str, list[int]] = {}
    for column, name in enumerate(names[1]):
        columns.setdefault(name, []).append(column)
    places = [(row, column) for row, name in enumerate(names[0]) for column in columns.get(name, ())]
    rows, found = np.array(places, np.int64).reshape(-1, 2).T
    return sparse.csr_array((np.ones(len(places)), (rows, found)), shape=(len(names[0]), len(names[1])))


def literal_features(literals: LiteralPair, matches: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
    """(n, f), (m, f) features (property of the target, value), and (value) alone where few entities have it.

    A literal of the source has one feature for each match of its property, weighted by that match; see `match_properties`.
    """
    source, target = literals.source, literals.target
    width, beyond = max(1, source.features.shape[1]), matches.shape[1]
    rows, kinds, columns, values = combinations(matches[source.properties], source.features)
    owners, features, strengths = _entries(target)
    ours = source.entities[rows], kinds.astype(np.int64) * width + columns, values
    theirs = target.entities[owners], target.properties[owners] * width + features, strengths
    _, left, right = shared_features(
        _joined(ours, _alone(source, beyond * width)),
        _joined(theirs, _alone(target, beyond * width)),
        (source.entity_count, target.entity_count),
    )
    return left, right


def compare_literals(literals: LiteralPair, known: Alignment, pairs: Ints) -> tuple[Ints, Ints, Ints]:
    """The literals of pairs on properties that match according to the known links.

    Returns:
        (m,) position of the pair, ascending; (m, 2) positions in the attributes of either graph; (m,) DIFFERS, IS_NEAR or IS_SAME.
        Of several values of a property the nearest two are returned.
    """
    source, target = literals.source, literals.target
    matches = match_properties(literals, known)
    best, count = best_matches(matches), max(1, matches.shape[1])
    owners, ours = _facts_of(source, pairs[:, 0])
    other_owners, theirs = _facts_of(target, pairs[:, 1])
    there = best[source.properties[ours]] >= 0
    ours, places = ours[there], (owners * count + best[source.properties[ours]])[there]  # a place: a pair and a property
    other_places = other_owners * count + target.properties[theirs]
    both, left, right = np.intersect1d(places, other_places, return_indices=True)  # the first values, unless others come nearer
    agreement = np.full(len(both), DIFFERS)
    features, at, strengths = _strongest(source, ours, places, both)
    other_features, other_at, other_strengths = _strongest(target, theirs, other_places, both)
    common, one, other = np.intersect1d(features, other_features, assume_unique=True, return_indices=True)
    products = strengths[one] * other_strengths[other]
    order = np.argsort(products, kind="stable")  # of several, the last one stays
    met = common[order] // max(1, source.features.shape[1])
    left[met], right[met] = at[one[order]], other_at[other[order]]
    agreement[met] = np.where(products[order] == 1, IS_SAME, IS_NEAR)
    return both // count, np.column_stack([source.facts[ours[left]], target.facts[theirs[right]]]), agreement


def _strongest(side: Literals, facts: Ints, places: Ints, chosen: Ints) -> tuple[Ints, Ints, Floats]:
    """Each feature at a chosen place once, as number of the place * features + feature; position of the fact that has it most, and how far."""
    kept = np.flatnonzero(np.isin(places, chosen))
    of_facts = side.features[facts[kept]]
    rows = np.repeat(np.arange(len(kept)), np.diff(of_facts.indptr))
    keys = np.searchsorted(chosen, places[kept])[rows] * side.features.shape[1] + of_facts.indices
    order = np.lexsort((-of_facts.data, keys))
    found, first = np.unique(keys[order], return_index=True)
    return found, kept[rows[order[first]]], of_facts.data[order[first]]


def _facts_of(side: Literals, entities: Ints) -> tuple[Ints, Ints]:
    """The position of each entity, once for each of its literals, and that literal."""
    order = np.argsort(side.entities, kind="stable")
    starts = np.searchsorted(side.entities[order], np.arange(side.entity_count + 1))
    counts = np.diff(starts)[entities]
    owners = np.repeat(np.arange(len(entities)), counts)
    inner = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owners, order[starts[entities][owners] + inner]


def _alone(side: Literals, first_key: int) -> Keyed:
    """The features that are evidence whatever their property."""
    owners, features, strengths = _entries(side)
    kept = (strengths == 1) & (side.alone[features] > 0)
    return side.entities[owners[kept]], first_key + features[kept], side.alone[features[kept]]


def _joined(one: Keyed, other: Keyed) -> Keyed:
    entities, keys, values = (np.concatenate(parts) for parts in zip(one, other, strict=True))
    return entities, keys, values


def _entries(side: Literals) -> Keyed:
    """Fact, feature and strength of each feature."""
    owners = np.repeat(np.arange(len(side.facts)), np.diff(side.features.indptr))
    return owners, side.features.indices.astype(np.int64), side.features.data
