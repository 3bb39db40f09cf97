"""Entities that belong together: those of the same class, or of the same kind where nothing gives a class."""

from __future__ import annotations

import numpy as np

from kgalign.data import Ints, KnowledgeGraph

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def entity_groups(graph: KnowledgeGraph) -> Ints:
    """(n,) the number of the group of each entity.

    Entities of a class are a group; one with several classes is in that of its smallest class. The others are grouped by their kind.
    """
    count = len(graph.entities)
    types = [number for number, name in enumerate(graph.relations) if name.strip("<>") == TYPE]
    heads, relations, tails = graph.triples.T
    typed = np.isin(relations, types)
    groups = count + graph.kinds.astype(np.int64)
    often = np.bincount(tails[typed], minlength=count)
    order = np.argsort(-often[tails[typed]], kind="stable")
    groups[heads[typed][order]] = tails[typed][order]  # the smallest class comes last, and stays
    return np.unique(groups, return_inverse=True)[1]
