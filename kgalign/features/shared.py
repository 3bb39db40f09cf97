"""Sparse features that two graphs share: how they are put together."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kgalign.data import Floats, Ints

Keyed = tuple[Ints, Ints, Floats]  # (n,) entity, key of the feature, value


def combinations(left: sparse.csr_array, right: sparse.csr_array) -> tuple[Ints, Ints, Ints, Floats]:
    """Row, column of the left, column of the right, product: for each row, each entry of the left with each of the right."""
    lefts, rights = np.diff(left.indptr).astype(np.int64), np.diff(right.indptr).astype(np.int64)
    rows = np.repeat(np.arange(len(lefts)), lefts * rights)
    inner = np.arange(len(rows)) - np.repeat(np.cumsum(lefts * rights) - lefts * rights, lefts * rights)
    at_left, at_right = left.indptr[rows] + inner // rights[rows], right.indptr[rows] + inner % rights[rows]
    return rows, left.indices[at_left], right.indices[at_right], (left.data[at_left] * right.data[at_right]).astype(np.float32)


def capped(features: sparse.csr_array) -> sparse.csr_array:
    """No feature counts for more than 1."""
    features.data = np.minimum(features.data, 1)
    return features


def shared_features(source: Keyed, target: Keyed, sizes: tuple[int, int]) -> tuple[Ints, sparse.csr_array, sparse.csr_array]:
    """The keys (f,) that occur on both sides, ascending, and the features (n, f), (m, f) of the entities of either side."""
    from kgalign.matrices import from_entries  # compiled code, slow to import
    from kgalign.parallel import places_in, taken, unique

    ours, theirs = unique(source[1])[0], unique(target[1])[0]
    keys = ours[places_in(theirs, ours) >= 0]
    matrices = []
    for (entities, own, values), size in zip((source, target), sizes, strict=True):
        places = places_in(keys, own)
        there = np.flatnonzero(places >= 0)
        entries = taken(values, there).astype(np.float32), taken(entities, there), taken(places, there)
        matrices.append(capped(from_entries(*entries, (size, len(keys)))))
    return keys, matrices[0], matrices[1]
