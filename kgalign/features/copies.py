"""Copies: entities of one graph that nothing tells apart, so that they are the same thing twice and not namesakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgalign.data import Floats, Ints, KnowledgeGraph

LEAST_INFORMATION = 0.5  # of what it takes to tell one entity from all others: facts that many share do not tell namesakes apart


@dataclass(frozen=True, eq=False)
class Copies:
    """The groups of entities that are copies of one another; most groups have one member.

    Attributes:
        group: (n,) the number of each entity's group.
        number: (n,) the position of each entity within its group.
        size: (n,) how many members its group has.
    """

    group: Ints
    number: Ints
    size: Ints

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> Copies:
        """Entities with the same names, literals and relations, if these are too rare for a coincidence."""
        count = len(graph.entities)
        heads, relations, tails = graph.triples.T
        facts = np.asarray(graph.attributes.facts)
        names = _numbered(graph.names.text)
        features = [  # owners, and two numbers that tell a feature from others
            (graph.names.owner, names, names),
            (heads, relations, tails),
            (tails, relations, heads),
            (facts[:, 0], facts[:, 1], _numbered(graph.attributes.values)),
        ]
        random = np.random.default_rng(0)
        keys, information = np.zeros(count, np.uint64), np.zeros(count)
        for position, (owners, *parts) in enumerate(features):
            _, feature, often = np.unique(np.stack(parts), axis=1, return_inverse=True, return_counts=True)
            codes = random.integers(0, 2**64, len(often), np.uint64)
            np.add.at(keys, owners, codes[feature.ravel()])  # which wraps around, and is the same in any order
            if position:  # a name tells nothing here: it is what namesakes share
                np.add.at(information, owners, np.log(count / often)[feature.ravel()])
        has_name = np.bincount(graph.names.owner, minlength=count) > 0
        alone = ~has_name | (information < LEAST_INFORMATION * np.log(max(count, 2)))
        keys[alone] = random.integers(0, 2**64, int(alone.sum()), np.uint64)
        _, group, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        order = np.argsort(group, kind="stable")
        number = np.empty(count, np.int64)
        number[order] = np.arange(count) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return cls(group, number, sizes[group])


def one_to_one_copies(sides: tuple[Copies, Copies], sources: Ints, targets: Ints, shares: Floats) -> Floats:
    """(n,) the shares of pairs, where copies do not compete: all that two groups share goes to the first of each, then the second, and so on.

    Args:
        sides: The copies of the source and of the target.
        sources: (n,) the source of each pair.
        targets: (n,) its target.
        shares: (n,) how far each pair is chosen among all pairs of its two entities.
    """
    ours, theirs = sides
    copied = (ours.size[sources] > 1) | (theirs.size[targets] > 1)
    if not copied.any():
        return shares
    sources, targets = sources[copied], targets[copied]
    _, groups = np.unique(np.stack([ours.group[sources], theirs.group[targets]]), axis=1, return_inverse=True)
    groups = groups.ravel()
    chosen = ours.number[sources] == theirs.number[targets]
    total, places = np.bincount(groups, shares[copied]), np.bincount(groups, chosen)
    given = np.minimum(total / np.maximum(places, 1), 1)[groups] * chosen
    result = shares.copy()
    result[copied] = np.where(places[groups] > 0, given, shares[copied])
    return result


def _numbered(texts: Sequence[str]) -> Ints:
    """(n,) the same number for the same text."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)
