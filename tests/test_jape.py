"""JAPE on graphs small enough to check by hand."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import graph, task_of
from scipy import sparse

from kgalign import Alignment, Attributes, demo, make_model
from kgalign.models.embedding.jape import (
    attribute_pairs,
    attribute_sets,
    attribute_vectors,
    boost,
    mean_attributes,
    meetings,
    similar_pairs,
)


@pytest.fixture
def task():
    source = graph(["a", "b", "c"], [("a", "r", "b"), ("a", "q", "b"), ("a", "r", "c"), ("b", "r", "c")])
    target = graph(["x", "y", "z"], [("x", "s", "y"), ("y", "s", "z")])
    return task_of(source, target, [(0, 0), (1, 1)])


def test_entities_that_a_seed_points_to_meet_once_for_each_such_seed(task):
    # (a, x): b and c meet y; (b, y): c meets z
    assert meetings(task).toarray().tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 1]]


def test_boost_by_hand(task):
    source = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.6, 0.8]])
    target = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    similar = sparse.csr_array((np.array([0.95, 0.92], np.float32), ([2, 2], [0, 1])), shape=(3, 3))
    boosted = boost(similar, source, target, meetings(task), task.seeds).toarray()
    # seeds: a-x 1; b-y 1, and it meets once: 1 * 100 * 2. c-y: 0.8 * 100 * 2. c-z: a negative cosine is lifted to 1. c-x as it was
    np.testing.assert_allclose(boosted, [[1, 0, 0], [0, 200, 0], [0.95, 160, 1]], rtol=1e-5)


def with_attributes(knowledge_graph, facts, properties):
    return replace(knowledge_graph, attributes=Attributes(properties, np.array(facts), [""] * len(facts)))


def many_attributes():
    """Two graphs of twelve entities: the even ones have the attributes 0, 1 and 2, the odd ones 3, 4 and 5; all have 6 and one has 7."""
    names = [f"e{number}" for number in range(12)]
    facts = [(entity, 3 * (entity % 2) + number) for entity in range(12) for number in range(3)]
    facts += [(entity, 6) for entity in range(12)] + [(0, 7)]
    properties = [f"http://{{}}/property/p{number}" for number in range(8)]
    sides = [
        with_attributes(graph(names, [("e0", "r", "e1")]), facts, [iri.format(place) for iri in properties])
        for place in ("zh", "en")
    ]
    return task_of(*sides, [(0, 0), (1, 1)])


def test_attributes_of_one_name_are_one_and_rare_and_very_frequent_ones_are_left_out():
    task = many_attributes()
    source, target = attribute_sets(task.source, task.target)
    assert source.shape == (12, 6)
    assert (source != target).nnz == 0
    assert source.sum(axis=1).tolist() == [3] * 12


def test_pairs_of_attributes_count_once_within_an_entity_and_ten_times_across_a_seed():
    task = many_attributes()
    source, target = attribute_sets(task.source, task.target)
    pairs = attribute_pairs(source, target, task.seeds).toarray()
    together = (source.T @ source).toarray() > 0
    # twelve entities of both graphs have both, half for each order; of the two seeds one has both: 10 * (1 + 1)
    np.testing.assert_allclose(pairs, np.where(together & ~np.eye(6, dtype=bool), 12 / 2 + 20, 0))


def test_entities_are_similar_if_their_attributes_occur_together():
    task = many_attributes()
    source, target = attribute_sets(task.source, task.target)
    vectors = torch.tensor(attribute_vectors(attribute_pairs(source, target, task.seeds), 4))
    similar = similar_pairs(mean_attributes(source, vectors), mean_attributes(target, vectors), 0.9, 12).toarray()
    assert ((similar >= 0.9) == (np.add.outer(np.arange(12), np.arange(12)) % 2 == 0)).all()


def test_each_entity_has_a_limited_number_of_similar_entities():
    task = many_attributes()
    source, _ = attribute_sets(task.source, task.target)
    vectors = torch.tensor(attribute_vectors(attribute_pairs(source, source, Alignment.empty()), 4))
    means = mean_attributes(source, vectors)
    assert np.diff(similar_pairs(means, means, 0.9, 2).indptr).tolist() == [2] * 12


@pytest.mark.slow
def test_it_learns_without_attributes():
    task, _ = demo("fr_en")
    bare = replace(task, source=replace(task.source, attributes=Attributes()), target=replace(task.target, attributes=Attributes()))
    network = make_model("jape", size=16, batch=1000).build(bare, torch.device("cpu"))
    losses = [network.run_epoch(epoch) for epoch in range(8)]
    assert losses[6] < losses[0]
    assert losses[7] < losses[1]
    across, within_source, within_target = network.similar
    assert len(across.values) >= len(task.seeds)
    assert len(within_source.values) == len(within_target.values) == 0
