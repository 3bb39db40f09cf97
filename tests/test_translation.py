"""What the translation models share, on graphs small enough to check by hand."""

from collections import Counter

import numpy as np
import pytest
import torch

from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph
from kgalign.models import make_model
from kgalign.models.embedding.iptranse import find_paths
from kgalign.models.embedding.numbering import number
from kgalign.models.embedding.propagation import with_neighbour_evidence
from kgalign.models.embedding.translation import corrupted, translation_error, unit


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


def test_corrupted_triples_have_one_of_the_rows_at_one_end():
    triples = torch.tensor([[0, 0, 1], [1, 1, 2]]).repeat(50, 1)
    wrong = corrupted(triples, torch.tensor([7, 8]), 3, torch.Generator().manual_seed(0))
    changed = wrong != triples[:, None, :]
    assert wrong.shape == (100, 3, 3)
    assert not changed[..., 1].any()
    assert (changed.sum(-1) == 1).all()
    assert 0.3 < changed[..., 0].float().mean() < 0.7
    assert set(wrong[changed].tolist()) == {7, 8}


def test_without_links_beyond_the_seeds_rows_stay_as_they_are(task):
    numbering = number(task, share_seeds=True, share_relations=True)
    table = torch.eye(numbering.entities)
    for known in (task.seeds, Alignment.empty()):
        source, target = with_neighbour_evidence(table, torch.zeros(3, 5), numbering, known, task.seeds, 1.0)
        assert torch.equal(source, table[numbering.source])
        assert torch.equal(target, table[numbering.target])


def test_neighbours_of_known_links_move_an_entity_to_the_position_they_predict(task):
    numbering = number(task, share_seeds=True, share_relations=True)
    table, relations = torch.randn(5, 4), torch.randn(3, 4)
    known = task.seeds + Alignment(np.array([[1, 1]]))
    source, target = with_neighbour_evidence(table, relations, numbering, known, task.seeds, 0.5)
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
    source, _ = with_neighbour_evidence(
        torch.eye(4), torch.zeros(1, 4), numbering, Alignment(np.array([[1, 1]])), Alignment.empty(), 1.0
    )
    assert source[0].tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("seed", range(5))
def test_paths_are_those_that_brute_force_finds(seed):
    random = np.random.default_rng(seed)
    triples = np.unique(
        np.column_stack([random.integers(9, size=60), random.integers(4, size=60), random.integers(9, size=60)]), axis=0
    )
    tails = Counter((head, relation) for head, relation, _ in triples.tolist())
    expected = Counter(
        (first, second, direct, tails[head, first] * tails[middle, second])
        for head, first, middle in triples.tolist()
        for middle_too, second, tail in triples.tolist()
        for head_too, direct, tail_too in triples.tolist()
        if middle == middle_too and head == head_too and tail == tail_too
    )
    for most in (4, 1000):
        paths, branches = find_paths(triples, most)
        found = Counter((*path, int(count)) for path, count in zip(paths.tolist(), branches.tolist(), strict=True))
        assert found == {path: often for path, often in expected.items() if path[-1] <= most}


def test_no_triples_make_no_paths():
    paths, branches = find_paths(np.empty((0, 3), np.int64))
    assert paths.shape == (0, 3)
    assert branches.shape == (0,)


def test_mtranse_compares_in_the_space_of_the_target(task):
    network = make_model("mtranse", size=4).build(task, torch.device("cpu"))
    with torch.no_grad():
        network.map.copy_(-torch.eye(4))
        source, target = network.vectors(Alignment.empty())
    torch.testing.assert_close(source, -unit(network.entities[network.numbering.source]))
    torch.testing.assert_close(target, unit(network.entities[network.numbering.target]))


def test_iptranse_exchanges_the_triples_of_two_similar_entities(task):
    network = make_model("iptranse", size=5).build(task, torch.device("cpu"))
    numbering = network.numbering
    b, y = numbering.source[1], numbering.target[1]
    with torch.no_grad():
        network.entities.copy_(torch.eye(5))
        network.entities[b] = network.entities[y]
    (source, source_weights), (target, target_weights) = network.exchange()
    (to_b, from_b), (to_y, also_to_y) = numbering.source_triples.tolist(), numbering.target_triples.tolist()
    assert sorted(source.tolist()) == sorted([[y, *from_b[1:]], [*to_b[:2], y]])
    assert sorted(target.tolist()) == sorted([[*to_y[:2], b], [*also_to_y[:2], b]])
    assert source_weights.tolist() == target_weights.tolist() == [1.0, 1.0]
