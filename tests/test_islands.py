import numpy as np

from kgalign import Alignment, KnowledgeGraph
from kgalign.features.islands import reached_links
from kgalign.features.relations import Edges

LINKS = Alignment(np.repeat(np.arange(6), 2).reshape(-1, 2))


def edges(*pairs):
    triples = np.array([(one, 0, other) for one, other in pairs])
    return Edges.of(KnowledgeGraph([f"e{number}" for number in range(6)], ["r"], triples, [""] * 6))


def test_a_chain_of_links_reaches_an_anchor_and_an_island_does_not():
    side = edges((0, 1), (1, 2), (3, 4))
    assert reached_links((side, side), LINKS, np.arange(6) == 0).tolist() == [True, True, True, False, False, False]


def test_a_chain_needs_neighbours_in_both_graphs():
    both = edges((0, 1), (1, 2)), edges((0, 1), (3, 2))
    assert reached_links(both, LINKS, np.arange(6) == 0).tolist() == [True, True, False, False, False, False]


def test_without_anchors_nothing_is_reached():
    side = edges((0, 1))
    assert not reached_links((side, side), LINKS, np.zeros(6, bool)).any()
