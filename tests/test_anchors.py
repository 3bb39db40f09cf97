"""Anchors: links that support only each other are no evidence, and what reaches a seed or a name is."""

import numpy as np
import pytest

from kgalign import Alignment, KnowledgeGraph, align
from kgalign.data import AlignmentTask, Names
from kgalign.features.anchors import anchored_links, most_probable
from kgalign.features.functionality import AnchoredEvidence
from kgalign.features.relations import Edges
from kgalign.models.fast import Fast


def chain(count: int, names: list[str] | None = None) -> KnowledgeGraph:
    """Two chains of entities, 0 to half and half to the end, that nothing joins."""
    half = count // 2
    triples = [(number, 0, number + 1) for number in range(count - 1) if number + 1 != half]
    return KnowledgeGraph(
        [str(number) for number in range(count)],
        names=Names.of(names or [""] * count),
        relations=["next"],
        triples=np.array(triples),
    )


@pytest.fixture
def edges():
    return Edges.of(chain(10)), Edges.of(chain(10))


ALL = Alignment(np.column_stack([np.arange(10), np.arange(10)]), np.full(10, 0.9))


def test_links_that_no_anchor_reaches_are_no_evidence(edges):
    own = np.eye(10)[0]  # one seed, at the beginning of the first chain
    found = anchored_links(AnchoredEvidence.of(edges, ALL), ALL, own)
    assert (found.scores[:5] > 0.5).all(), "the chain of the seed"
    assert found.scores[5:].tolist() == [0] * 5, "links that support only each other"


def test_an_anchor_keeps_its_probability_and_others_never_gain(edges):
    found = anchored_links(AnchoredEvidence.of(edges, ALL), ALL, np.eye(10)[3])
    assert found.scores[3] == 0.9
    assert (found.scores <= 0.9).all()
    assert np.array_equal(found.pairs, ALL.pairs)


def test_where_all_links_are_anchors_nothing_changes(edges):
    found = anchored_links(AnchoredEvidence.of(edges, ALL), ALL, np.ones(10))
    assert found.scores.tolist() == ALL.scores.tolist()


def test_a_pair_without_names_and_known_links_is_never_confident():
    own, amount = np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0, 0.5, 10.0, 0.0])
    alone, little, much, named = most_probable(own, amount)
    assert alone == 0.5
    assert 0.5 < little < 0.9
    assert much > 0.99
    assert named == 1


def test_names_are_anchors_where_there_is_no_seed():
    names = [
        f"{word} of the {other}" for word in ("north", "south") for other in ("river", "valley", "harbour", "castle", "market")
    ]
    graph = chain(10, names)
    task = AlignmentTask(graph, graph, Alignment.empty(), np.arange(10), np.arange(10))
    model = Fast().fit(task).for_task(task)
    around = model._evidence(task, ALL)[1]
    assert around.shared.diagonal().tolist() == pytest.approx([0.9] * 10)
    nameless = AlignmentTask(chain(10), chain(10), Alignment.empty(), np.arange(10), np.arange(10))
    model = Fast().fit(nameless).for_task(nameless)
    assert model._evidence(nameless, ALL)[1].shared.diagonal().tolist() == [0] * 10
    without = Fast(without="anchors").fit(nameless).for_task(nameless)
    assert without._evidence(nameless, ALL)[1].shared.diagonal().tolist() == pytest.approx([0.9] * 10)


def test_an_island_without_names_is_less_probable_than_what_seeds_reach():
    """Two long chains; seeds in one of them only."""
    graph = chain(40)
    seeds = Alignment(np.column_stack([np.arange(0, 20, 2)] * 2))
    rest = np.setdiff1d(np.arange(40), seeds.sources)
    run = align(AlignmentTask(graph, graph, seeds, rest, rest, "closed"))
    near = run.alignment.scores[run.alignment.sources < 20]
    island = run.alignment.scores[run.alignment.sources >= 20]
    assert near.min() > 0.5
    assert (island <= 0.5).all()
