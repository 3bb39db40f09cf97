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
    keys = np.intersect1d(source[1], target[1])
    matrices = []
    for (entities, own, values), size in zip((source, target), sizes, strict=True):
        places = np.minimum(np.searchsorted(keys, own), max(0, len(keys) - 1))
        there = keys[places] == own if len(keys) else np.zeros(len(own), bool)
        entries = values[there].astype(np.float32), (entities[there], places[there])
        matrices.append(capped(sparse.csr_array(entries, shape=(size, len(keys)))))
    return keys, matrices[0], matrices[1]
