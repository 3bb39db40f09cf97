"""Negative evidence: a pair differs where known links agree, in the end of a relation or in the value of a property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numba
import numpy as np
import scipy  # which imports its parts when they are first used
from scipy import sparse

from kgalign.data import Alignment, Floats, Ints
from kgalign.features.literals import LiteralPair, Literals
from kgalign.features.relations import Edges, best_matches
from kgalign.features.shared import shared_features
from kgalign.parallel import counts, unique

MIN_SINGLE = 0.7  # entities for each value: an entity with many values rarely has all of them in both graphs
MIN_CONFIDENT = 0.9  # that two values differ: below this they are no evidence
FULL = 8.0  # the logarithm of a likelihood ratio that counts as 1
STRONGEST = 5.0  # of one difference: known links are not all right
UNKNOWN = 1e-6  # how far an unknown value is known: not 0, which a sparse matrix would drop


@dataclass(frozen=True, eq=False)
class Contradictions:
    """The points at which entities can differ, such as a relation or a property, and the values that they have there."""

    points: tuple[sparse.csr_array, sparse.csr_array]  # (n, g), (m, g) how far the value of each entity is known
    features: tuple[sparse.csr_array, sparse.csr_array]  # (n, f), (m, f) how probably it is this one
    point_of: Ints  # (f,) ascending
    weights: Floats  # (g,) how much a difference counts, 0 to 1

    def compare(self, sources: Ints, targets: Ints) -> Floats:
        """(n,) how far each pair differs where known links agree, as negative evidence: 0 to -1."""
        return -_amounts(*_arrays(self.points), *_arrays(self.features), self.point_of, self.weights, sources, targets)


def contradicting_relations(
    edges: tuple[Edges, Edges],
    known: Alignment,
    shared: sparse.csr_array,
    matches: sparse.csr_array,
    single: tuple[bool, bool] = (True, True),
) -> Contradictions:
    """Where relations that match lead to entities that are known to be different ones.

    Args:
        edges: Those of both graphs.
        known: Plausible links: a relation matters as far as they agree on it.
        shared: (n, m) the probability of each pair; two entities differ as far as one of them is known to be another.
        matches: See `match_relations`.
        single: Whether a source has one link at most, and whether a target has: a link of one that may have several says nothing against
            another link of it.
    """
    source, target = (side.triples for side in edges)
    linked = [shared.sum(axis=1 - side) if single[side] else np.zeros(shared.shape[side]) for side in (0, 1)]
    itself = sparse.eye_array(shared.shape[1], dtype=np.float32, format="csr")
    ours = _Values(source[:, 0], best_matches(matches)[source[:, 1]], linked[0][source[:, 2]], source[:, 2])
    theirs = _Values(target[:, 0], target[:, 1], linked[1][target[:, 2]], target[:, 2])
    return _contradictions((ours, theirs), (shared, itself), known, shared.shape, matches.shape[1])


def contradicting_values(literals: LiteralPair, known: Alignment, matches: sparse.csr_array) -> Contradictions:
    """Where properties that match have different values; see `match_properties`.

    Dates and numbers have two points for each property: one where they must be the same, and one where they may be near. Known links
    decide which of them matters.
    """
    source, target = literals.source, literals.target
    count = matches.shape[1]
    sides = [
        _literal_values(side, points, count)
        for side, points in ((source, best_matches(matches)[source.properties]), (target, target.properties))
    ]
    sizes = source.entity_count, target.entity_count
    exact = [sparse.csr_array(side.features == 1) for side in (source, target)]
    telling = [
        sparse.csr_array(sparse.vstack([same, side.features > 0])) for same, side in zip(exact, (source, target), strict=True)
    ]
    found = _contradictions((sides[0], sides[1]), (telling[0], telling[1]), known, sizes, 2 * count)
    same, near = np.split(found.weights, 2)
    # Values that are not near are not the same either, so that both points differ: together they count as the stronger one.
    return replace(found, weights=np.concatenate([same, np.maximum(near - same, 0)]))


@dataclass(frozen=True, eq=False)
class _Values:
    entities: Ints  # (v,)
    points: Ints  # (v,) -1: none
    known: Floats  # (v,)
    rows: Ints  # (v,) of the features of each

    def where(self, chosen: Ints) -> Self:
        return type(self)(self.entities[chosen], self.points[chosen], self.known[chosen], self.rows[chosen])


def _literal_values(side: Literals, points: Ints, count: int) -> _Values:
    """Each literal once, and each date and number once more, at a point and with a row of features of its own."""
    numbers = np.arange(len(side.facts))
    again = side.scalar
    return _Values(
        np.concatenate([side.entities, side.entities[again]]),
        np.concatenate([points, np.where(points >= 0, points + count, -1)[again]]),
        np.ones(len(numbers) + int(again.sum())),
        np.concatenate([numbers, len(numbers) + numbers[again]]),
    )


def _contradictions(
    sides: tuple[_Values, _Values],
    value_features: tuple[sparse.csr_array, sparse.csr_array],
    known: Alignment,
    sizes: Sequence[int],
    count: int,
) -> Contradictions:
    """The points at which entities of both graphs have hardly more than one value, and those values.

    Args:
        sides: The values of both graphs.
        value_features: (r, f) the features of the values' rows.
        known: Plausible links.
        sizes: The numbers of entities.
        count: The number of points.
    """
    single = np.multiply(*(_singleness(values, count) for values in sides))
    single = np.append(single, 0)  # the last one is that of no point, -1
    ours, theirs = (values.where(single[values.points] >= MIN_SINGLE) for values in sides)
    width = value_features[0].shape[1]
    keyed = []
    for values, features in zip((ours, theirs), value_features, strict=True):
        of_values = features[values.rows]
        rows = np.repeat(np.arange(len(values.rows)), np.diff(of_values.indptr))
        keyed.append((values.entities[rows], values.points[rows].astype(np.int64) * width + of_values.indices, of_values.data))
    keys, *features = shared_features(keyed[0], keyed[1], (sizes[0], sizes[1]))
    points = [_how_far_known(values, (size, count)) for values, size in zip((ours, theirs), sizes, strict=True)]
    for matrix in (*points, *features):
        matrix.sort_indices()
    found = Contradictions((points[0], points[1]), (features[0], features[1]), keys // max(1, width), np.zeros(count))
    agreed, compared = _agreement(
        *_arrays(found.points), *_arrays(found.features), found.point_of, count, known.sources, known.targets, known.scores
    )
    return Contradictions(found.points, found.features, found.point_of, difference_weights(agreed, compared))


def difference_weights(agreed: Floats, compared: Floats) -> Floats:
    """(g,) 0 to 1: how much a difference counts, where so many of the compared links agree.

    A difference is evidence as far as it is rarer among right pairs than among others, nearly all of which differ: by the expected
    logarithm of one over its share, in units of `FULL`. Two more links that differ are counted, so that one agreement is no rule yet.
    """
    differing = compared - agreed
    amounts = scipy.special.digamma(compared + 2) - scipy.special.digamma(differing + 1)
    is_rule = agreed > (compared + 2) / 2
    weights: Floats = np.where(is_rule, np.minimum(amounts, STRONGEST) / FULL, 0)
    return weights


def _singleness(values: _Values, count: int) -> Floats:
    """(g,) entities for each value: 1 where none has two."""
    there = values.points >= 0
    points = values.points[there]
    of_entities = unique(values.entities[there].astype(np.int64) * count + points)[0] % max(1, count)
    found: Floats = counts(of_entities, count) / np.maximum(counts(points, count), 1)
    return found


def _how_far_known(values: _Values, shape: tuple[int, int]) -> sparse.csr_array:
    """(n, g) the mean over an entity's values."""
    sums, often = (
        sparse.csr_array((numbers, (values.entities, values.points)), shape=shape)
        for numbers in (np.clip(values.known, UNKNOWN, 1), np.ones(len(values.entities)))
    )
    return sparse.csr_array(((sums.data / often.data).astype(np.float32), sums.indices, sums.indptr), shape=shape)


def _arrays(sides: tuple[sparse.csr_array, sparse.csr_array]) -> tuple[Ints | Floats, ...]:
    return tuple(array for side in sides for array in (side.indptr, side.indices, side.data))


@numba.njit(parallel=True, cache=True)
def _amounts(  # type: ignore[no-untyped-def]
    points, point, known, other_points, other_point, other_known,
    starts, features, values, other_starts, other_features, other_values,
    point_of, weights, rows, columns,
):  # fmt: skip
    """Points that differ add up, as the logarithms of independent likelihood ratios do."""
    amounts = np.zeros(len(rows), np.float32)
    for number in numba.prange(len(rows)):
        row, column = rows[number], columns[number]
        at, other, total = points[row], other_points[column], 0.0
        feature, other_feature = starts[row], other_starts[column]
        while True:
            at, other = _shared_point(point, at, points[row + 1], other_point, other, other_points[column + 1])
            if at < 0:
                break
            same, feature, other_feature = _in_common(
                point[at], point_of, features, values, feature, starts[row + 1],
                other_features, other_values, other_feature, other_starts[column + 1],
            )  # fmt: skip
            differs = max(known[at], other_known[other]) - same
            total += weights[point[at]] * max(0.0, differs - MIN_CONFIDENT) / (1 - MIN_CONFIDENT)
            at += 1
            other += 1
        amounts[number] = min(1.0, total)
    return amounts


@numba.njit(cache=True)
def _agreement(  # type: ignore[no-untyped-def]
    points, point, known, other_points, other_point, other_known,
    starts, features, values, other_starts, other_features, other_values,
    point_of, count, rows, columns, probabilities,
):  # fmt: skip
    """At each point, how many of the pairs agree, and how many have a value that is known; each counts by its probability."""
    agreed, compared = np.zeros(count), np.zeros(count)
    for number in range(len(rows)):
        row, column = rows[number], columns[number]
        at, other = points[row], other_points[column]
        feature, other_feature = starts[row], other_starts[column]
        while True:
            at, other = _shared_point(point, at, points[row + 1], other_point, other, other_points[column + 1])
            if at < 0:
                break
            same, feature, other_feature = _in_common(
                point[at], point_of, features, values, feature, starts[row + 1],
                other_features, other_values, other_feature, other_starts[column + 1],
            )  # fmt: skip
            how_far = max(known[at], other_known[other])
            agreed[point[at]] += probabilities[number] * min(same, how_far)
            compared[point[at]] += probabilities[number] * how_far
            at += 1
            other += 1
    return agreed, compared


@numba.njit(cache=True)
def _shared_point(point, at, end, other_point, other, other_end):  # type: ignore[no-untyped-def]
    """Where the next point stands on which both have something, from two positions on; -1: there is none."""
    while at < end and other < other_end:
        if point[at] == other_point[other]:
            return at, other
        if point[at] < other_point[other]:
            at += 1
        else:
            other += 1
    return -1, -1


@numba.njit(cache=True)
def _in_common(point, point_of, features, values, at, end, other_features, other_values, other, other_end):  # type: ignore[no-untyped-def]
    """How probably the two have a value in common at a point, and where the features of the next point begin."""
    same = 0.0
    while at < end and other < other_end:
        if features[at] == other_features[other]:
            if point_of[features[at]] > point:
                break
            if point_of[features[at]] == point:
                same += values[at] * other_values[other]
            at += 1
            other += 1
        elif features[at] < other_features[other]:
            if point_of[features[at]] > point:
                break
            at += 1
        else:
            if point_of[other_features[other]] > point:
                break
            other += 1
    return same, at, other
