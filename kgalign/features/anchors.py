"""Anchors: a link is confident only as far as its evidence reaches a seed, a name or a value.

Two links that support only each other are no evidence. So confidence grows from the anchors: from links that are seeds or whose entities
have names or values in common, to the links around them, and on from there. An island of links that no anchor reaches stays without any.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kgalign.data import Alignment, Floats
from kgalign.features.functionality import AnchoredEvidence

RATE = 300.0  # how fast evidence that adds up makes a link evidence itself: any anchored evidence nearly does
JUDGED_RATE = 2.0  # the same for its own probability
UNANCHORED = 0.5  # the highest probability of a link that nothing anchors
STEPS = 8  # links that are further from every anchor get less than they could
STANDING = 0.95  # links with own evidence above this stand by themselves


def most_probable(own: Floats, amount: Floats) -> Floats:
    """(n,) the highest probability that pairs can have, as far as they are anchored, however clearly they win against others.

    Args:
        own: (n,) 0 to 1: how far names and values say that the two are the same.
        amount: (n,) the evidence from anchored links around the pair, see `AnchoredEvidence`.
    """
    return UNANCHORED + (1 - UNANCHORED) * (1 - (1 - own) * (1 - anchored(amount)))


def anchored(amount: Floats) -> Floats:
    """(n,) 0 to 1: how far pairs are anchored by so much evidence from anchored links around them."""
    found: Floats = -np.expm1(-JUDGED_RATE * amount)
    return found


def anchored_links(evidence: AnchoredEvidence, known: Alignment, own: Floats) -> Alignment:
    """The known links, each with its probability times how far it is anchored: what grows from the anchors alone.

    Args:
        evidence: The relations of both graphs, as the known links match them.
        known: Links with their probabilities.
        own: (n,) 0 to 1: how far each of them is an anchor itself; 1 for seeds.
    """
    shares = np.asarray(own, np.float64)
    weak = np.flatnonzero(shares < STANDING)
    for _ in range(STEPS if len(weak) else 0):
        around = evidence.with_links(replace(known, scores=known.scores * shares))
        shares = shares.copy()
        amount = around.amount(known.sources[weak], known.targets[weak])
        shares[weak] = 1 - (1 - own[weak]) * np.exp(-RATE * amount)
    return replace(known, scores=known.scores * shares)
