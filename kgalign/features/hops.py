"""What is two hops away from each entity."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kgalign.matrices import front, product, without
from kgalign.parallel import argsort, flat, taken

MOST_TWO_HOPS = 64  # features for each entity, on average


def two_hops(adjacency: sparse.csr_array, near: sparse.csr_array, own: sparse.csr_array) -> sparse.csr_array:
    """(n, f) for each entity the mean over its neighbours of what is near them, without what is its own.

    Two hops lead back to the entity itself, and a link is never evidence for itself. Hubs have more neighbours than memory would hold:
    neighbours with few features are used first, until there are `MOST_TWO_HOPS` for each entity on average.

    Args:
        adjacency: (n, n) the neighbours of each entity.
        near: (n, f) what is near each entity.
        own: (n, f) what is left out for each entity.
    """
    degrees, reach = np.diff(adjacency.indptr), np.diff(near.indptr)
    order = argsort(reach)
    passable = np.zeros(len(reach), bool)
    passable[order] = np.cumsum(degrees[order].astype(np.int64) * reach[order]) <= MOST_TWO_HOPS * len(reach)
    shares = (1 / np.maximum(degrees, 1)).astype(np.float32)
    mean = sparse.csr_array((taken(shares, flat(adjacency.indptr)), adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    return without(product(mean, front(near.data, near.indices, near.indptr, reach * passable, near.shape)), own)
