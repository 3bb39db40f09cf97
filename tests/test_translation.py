"""What the translation models share, on graphs small enough to check by hand."""

import numpy as np
import pytest
import torch

from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph
from kgalign.models.translation import corrupted, number, told_by_neighbours, translation_error


def graph(entities, relations, triples):
    return KnowledgeGraph(entities, relations, np.array(triples, np.int64).reshape(-1, 3), entities)


@pytest.fixture
def task():
    source = graph(["a", "b", "c"], ["http://zh/capital", "http://zh/river"], [[0, 0, 1], [1, 1, 2]])
    target = graph(["x", "y", "z"], ["http://en/mayor", "http://en/capital"], [[0, 1, 1], [2, 0, 1]])
    return AlignmentTask(source, target, Alignment(np.array([[0, 0]])), np.array([1, 2]), np.array([1, 2]), "closed")


def test_numbering_shares_the_rows_of_seeds_and_of_relations_of_one_name(task):
    shared = number(task, share_seeds=True, share_relations=True)
    assert shared.source[0] == shared.target[0]
    assert sorted({*shared.source.tolist(), *shared.target.tolist()}) == list(range(5))
    assert shared.entities == 5
    assert shared.relations == 3
    assert shared.source_triples[0, 1] == shared.target_triples[0, 1] != shared.target_triples[1, 1]
    apart = number(task, share_seeds=False, share_relations=False)
    assert (apart.entities, apart.relations) == (6, 4)
    assert not {*apart.source.tolist()} & {*apart.target.tolist()}


def test_translation_error_is_the_squared_distance():
    entities, relations = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[1.0, 2.0]])
    triples = torch.tensor([[0, 0, 1], [1, 0, 1]])
    # (1, 0) + (1, 2) - (0, 1) = (2, 1) and (0, 1) + (1, 2) - (0, 1) = (1, 2)
    assert translation_error(entities, relations, triples).tolist() == [5.0, 5.0]


def test_corrupted_triples_differ_at_one_end_and_stay_among_the_offered():
    triples = torch.tensor([[0, 0, 1], [1, 1, 2]]).repeat(50, 1)
    wrong = corrupted(triples, torch.tensor([7, 8]), 3, torch.Generator().manual_seed(0))
    changed = wrong != triples[:, None, :]
    assert wrong.shape == (100, 3, 3)
    assert not changed[..., 1].any()
    assert (changed.sum(-1) == 1).all()
    assert 0.3 < changed[..., 0].float().mean() < 0.7
    assert set(wrong[changed].tolist()) == {7, 8}


def test_with_nothing_known_beyond_the_seeds_rows_stay_as_they_are(task):
    numbering = number(task, share_seeds=True, share_relations=True)
    table = torch.eye(numbering.entities)
    for known in (task.seeds, Alignment.empty()):
        source, target = told_by_neighbours(table, torch.zeros(3, 5), numbering, known, task.seeds, 1.0)
        assert torch.equal(source, table[numbering.source])
        assert torch.equal(target, table[numbering.target])


def test_neighbours_tell_where_an_entity_should_be(task):
    numbering = number(task, share_seeds=True, share_relations=True)
    table, relations = torch.randn(5, 4), torch.randn(3, 4)
    known = task.seeds + Alignment(np.array([[1, 1]]))
    source, target = told_by_neighbours(table, relations, numbering, known, task.seeds, 0.5)
    a, b, c = table[numbering.target[0]], table[numbering.target[1]], table[numbering.source[2]]  # b has the row of y
    capital, river = relations[numbering.source_triples[:, 1]]
    by_hand = torch.stack([a + 0.5 * (b - capital), b + 0.5 * ((a + capital) + (c - river)) / 2, c + 0.5 * (b + river)])
    torch.testing.assert_close(source, by_hand / by_hand.norm(dim=1, keepdim=True))
    mayor, z = relations[numbering.target_triples[1, 1]], table[numbering.target[2]]
    by_hand = b + 0.5 * ((a + capital) + (z + mayor)) / 2
    torch.testing.assert_close(target[1], by_hand / by_hand.norm())


def test_an_entity_without_triples_keeps_its_direction():
    lonely = graph(["a", "b"], ["r"], [])
    task = AlignmentTask(lonely, lonely, Alignment.empty(), np.array([0]), np.array([0]), "closed")
    numbering = number(task, share_seeds=True, share_relations=True)
    source, _ = told_by_neighbours(
        torch.eye(4), torch.zeros(1, 4), numbering, Alignment(np.array([[1, 1]])), Alignment.empty(), 1.0
    )
    assert source[0].tolist() == [1, 0, 0, 0]
