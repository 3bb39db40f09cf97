"""Islands: links that support each other, but that no chain of links joins to an anchor."""

from __future__ import annotations

import numpy as np
import scipy  # which imports its parts when they are first used

from kgalign.data import Alignment, Ints
from kgalign.features.relations import Edges


def reached_links(edges: tuple[Edges, Edges], links: Alignment, anchors: Ints) -> Ints:
    """(n,) whether a chain of links leads from each link to an anchor; the two entities of a link are neighbours of those of the next.

    Args:
        edges: Those of both graphs.
        links: The links that chains consist of.
        anchors: (n,) whether each of them is an anchor.
    """
    near, far = (side.adjacency[ids][:, ids] for side, ids in zip(edges, (links.sources, links.targets), strict=True))
    _, islands = scipy.sparse.csgraph.connected_components(near.multiply(far), directed=False)
    return np.isin(islands, islands[anchors])
