"""Copies: entities of one graph that nothing tells apart, so that they are the same thing twice and not namesakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgalign.data import Floats, Ints, KnowledgeGraph
from kgalign.parallel import unique

LEAST_INFORMATION = 0.5  # of what it takes to tell one entity from all others: facts that many share do not tell namesakes apart
NEARLY_ALL = 0.9  # of the shares of two groups of copies lies between them: no other entity is a match of theirs
LEFT = 0.01  # of its share stays with a pair that another copy takes, so that it is still the best candidate


@dataclass(frozen=True, eq=False)
class Copies:
    """The groups of entities that are copies of one another; most groups have one member.

    Attributes:
        group: (n,) the number of each entity's group.
        size: (n,) how many members its group has.
    """

    group: Ints
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
            _, feature = unique(parts[0] * (int(parts[1].max(initial=0)) + 1) + parts[1])
            often = np.bincount(feature)
            codes = random.integers(0, 2**64, len(often), np.uint64)
            np.add.at(keys, owners, codes[feature])  # which wraps around, and is the same in any order
            if position:  # a name tells nothing here: it is what namesakes share
                np.add.at(information, owners, np.log(count / often)[feature])
        has_name = np.bincount(graph.names.owner, minlength=count) > 0
        alone = ~has_name | (information < LEAST_INFORMATION * np.log(max(count, 2)))
        keys[alone] = random.integers(0, 2**64, int(alone.sum()), np.uint64)
        _, group, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        return cls(group, sizes[group])


def one_to_one_copies(sides: tuple[Copies, Copies], sources: Ints, targets: Ints, shares: Floats) -> Floats:
    """(n,) the shares of pairs, where copies do not compete: all that two groups share goes to the first of each, then the second, and so on.

    It is done where two groups have hardly any share with others, and every pair of them is there: none is rejected or a seed.

    Args:
        sides: The copies of the source and of the target.
        sources: (n,) the source of each pair.
        targets: (n,) its target.
        shares: (n,) how far each pair is chosen among all pairs of its two entities.
    """
    ours, theirs = sides
    copied = np.flatnonzero((ours.size[sources] > 1) | (theirs.size[targets] > 1))
    if not len(copied):
        return shares
    width = int(theirs.group.max()) + 1
    _, block = np.unique(ours.group[sources[copied]] * width + theirs.group[targets[copied]], return_inverse=True)
    total = np.bincount(block, shares[copied])
    (number, count, own), (other_number, other_count, other) = (
        _members(block, ids[copied], np.bincount(ids, shares)) for ids in (sources, targets)
    )
    is_whole = (np.bincount(block) == count * other_count) & (total >= NEARLY_ALL * np.maximum(own, other))
    given = np.minimum(total / np.minimum(count, other_count), 1)
    result = shares.copy()
    result[copied] = np.where(number == other_number, given[block], LEFT * shares[copied])
    kept = copied[~is_whole[block]]
    result[kept] = shares[kept]
    return result


def _members(block: Ints, ids: Ints, shares: Floats) -> tuple[Ints, Ints, Floats]:
    """Of the entities of each block: their positions (n,) in it, how many there are (b,), and the shares (b,) that they have in all."""
    keys, place = np.unique(np.stack([block, ids]), axis=1, return_inverse=True)
    count = np.bincount(keys[0])
    number = np.arange(keys.shape[1]) - np.repeat(np.cumsum(count) - count, count)
    return number[place.ravel()], count, np.bincount(keys[0], shares[keys[1]])


def _numbered(texts: Sequence[str]) -> Ints:
    """(n,) the same number for the same text."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)
