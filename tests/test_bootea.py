"""BootEA on graphs small enough to check by hand."""

import numpy as np
import pytest
import torch
from conftest import graph, task_of
from scipy import sparse

from kgalign import demo, hold_out, make_model
from kgalign.models.embedding.bootea import errors
from kgalign.models.embedding.labelling import edit_labels, find_labels, shared_neighbours, unlikelihood
from kgalign.models.embedding.translation import are_known, swapped, translation_error, triple_keys, unit, with_one_end
from kgalign.search import dense


@pytest.fixture
def task():
    source = graph(["a", "b", "c", "d"], [("a", "r", "b"), ("b", "r", "c"), ("d", "r", "b"), ("c", "r", "d")])
    target = graph(["x", "y", "z"], [("x", "s", "y"), ("z", "s", "y")])
    return task_of(source, target, [(1, 1)])


def network_of(task, **options):
    return make_model("bootea", size=4, near=0.5, negatives=3, **options).build(task, torch.device("cpu"))


def test_swapped_triples_have_a_match_at_one_end():
    matches = torch.tensor([-1, 5, -1, -1, -1, 1])
    triples = torch.tensor([[0, 0, 1], [1, 0, 2], [1, 1, 1], [4, 1, 5]])
    new, replaced = swapped(triples, matches)
    assert new.tolist() == [[5, 0, 2], [5, 1, 1], [0, 0, 5], [1, 1, 5], [4, 1, 1]]
    assert replaced.tolist() == [1, 1, 1, 1, 5]
    assert triples.tolist() == [[0, 0, 1], [1, 0, 2], [1, 1, 1], [4, 1, 5]]


def test_seeds_are_swapped_in_the_triples_of_both_graphs(task):
    a, b, c, d, x, y, z = range(7)
    given = {(a, 0, b), (b, 0, c), (d, 0, b), (c, 0, d), (x, 1, y), (z, 1, y)}
    added = {(a, 0, y), (y, 0, c), (d, 0, y), (x, 1, b), (z, 1, b)}
    assert set(map(tuple, network_of(task).triples.tolist())) == given | added


def test_wrong_entities_are_similar_ones_of_the_same_graph_or_any_where_the_entity_is_of_the_other_graph(task):
    network = network_of(task)
    network.near.refresh(unit(network.entities))
    table = unit(network.entities).detach()
    similar = table @ table.T
    for rows in (range(4), range(4, 7)):
        for row in rows:
            best = sorted(rows, key=lambda other, row=row: -similar[row, other])[:3]
            assert sorted(network.near.lists[row].tolist()) == sorted(best)
    triples = network.triples.repeat(200, 1)
    at_head, drawn = network.near.draw(triples, 3, torch.Generator().manual_seed(0))
    assert 0.4 < at_head.float().mean() < 0.6
    for (head, relation, tail), first, rows in zip(triples.tolist(), at_head.tolist(), drawn.tolist(), strict=True):
        replaced = head if first else tail
        of_this_graph = (replaced >= 4) == (relation == 1)
        members = {0, 1, 2, 3, 5} if relation == 0 else {1, 4, 5, 6}
        assert set(rows) <= (set(network.near.lists[replaced].tolist()) if of_this_graph else members)


def test_known_triples_are_distinguished_from_wrong_ones(task):
    network = network_of(task)
    triples = torch.cartesian_prod(torch.arange(7), torch.arange(2), torch.arange(7))
    known = set(map(tuple, network.triples.tolist()))
    expected = [tuple(triple) in known for triple in triples.tolist()]
    assert are_known(triple_keys(triples, network.numbering), network.keys).tolist() == expected


def test_errors_are_those_of_the_replaced_triples():
    entities, relations = unit(torch.randn(6, 5)), unit(torch.randn(2, 5))
    right = torch.tensor([[0, 0, 1], [2, 1, 3]])
    at_head, drawn = torch.tensor([True, False]), torch.tensor([[4, 5, 2], [0, 1, 4]])
    wrong = with_one_end(right, drawn, at_head[:, None])
    assert wrong.tolist() == [[[4, 0, 1], [5, 0, 1], [2, 0, 1]], [[2, 1, 0], [2, 1, 1], [2, 1, 4]]]
    right_error, wrong_error = errors(entities, relations, right, at_head, drawn)
    torch.testing.assert_close(right_error, translation_error(entities, relations, right))
    torch.testing.assert_close(wrong_error, translation_error(entities, relations, wrong))


def test_a_label_is_replaced_by_one_at_least_as_similar_and_stays_otherwise():
    held, held_values = np.array([0, 1, 2, -1, -1]), np.array([0.8, 0.8, 0.3, 0.0, 0.0])
    found, found_values = np.array([5, 6, -1, 7, -1]), np.array([0.8, 0.7, -np.inf, 0.9, -np.inf])
    assert edit_labels(held, held_values, found, found_values).tolist() == [5, 1, 2, 7, -1]


def test_of_sources_with_the_same_label_the_most_similar_keeps_it():
    held, held_values = np.array([3, -1, 4]), np.array([0.5, 0.0, 0.9])
    found, found_values = np.array([-1, 3, 3]), np.array([-np.inf, 0.75, 0.8])
    assert edit_labels(held, held_values, found, found_values).tolist() == [-1, 3, 4]


def test_labels_are_the_best_one_to_one_pairs_above_the_threshold():
    source = unit(torch.tensor([[1.0, 0.1], [1.0, 0.2], [0.0, -1.0]]))
    target = unit(torch.tensor([[1.0, 0.15], [1.0, 0.6], [-1.0, 0.0]]))
    nothing, free = sparse.csr_array((3, 3), dtype=np.float32), np.full(3, -1)
    assert find_labels(source, target, nothing, free, 3, 0.7).tolist() == [0, 1, -1]
    bonus = sparse.csr_array((np.array([1.0], np.float32), ([2], [2])), shape=(3, 3))
    assert find_labels(source, target, bonus, free, 3, 0.7).tolist() == [0, 1, 2]
    assert find_labels(source, target, bonus, np.array([-1, 0, -1]), 1, 0.7).tolist() == [-1, 0, 2]


def test_labels_and_similar_rows_do_not_depend_on_the_size_of_blocks(task, monkeypatch):
    generator = torch.Generator().manual_seed(0)
    source, target = (unit(torch.randn(count, 6, generator=generator)) for count in (30, 40))
    bonus = sparse.csr_array(np.where(np.random.default_rng(0).random((30, 40)) < 0.1, np.float32(0.5), np.float32(0)))
    held = np.full(30, -1)
    network = network_of(task)

    def found():
        network.near.refresh(unit(network.entities).detach())
        return find_labels(source, target, bonus, held, 5, 0.3).tolist(), network.near.lists.sort(dim=1).values.tolist()

    whole = found()
    monkeypatch.setattr(dense, "row_blocks", lambda count, size: [slice(at, at + 1) for at in range(count)])
    assert found() == whole


def test_shared_neighbours_are_counted_by_the_seeds_that_both_point_to(task):
    queries, pool = np.array([0, 2, 3]), np.array([0, 2])
    assert shared_neighbours(task, queries, pool).toarray().tolist() == [[1, 1], [0, 0], [1, 1]]


def test_unlikelihood_is_that_of_the_whole_matrix():
    generator = torch.Generator().manual_seed(0)
    left, right, unlabelled, pool = (unit(torch.randn(n, 20, generator=generator)) for n in (3, 3, 6, 9))
    dense = -torch.nn.functional.logsigmoid(left @ right.T).trace() - torch.nn.functional.logsigmoid(unlabelled @ pool.T).sum() / 9
    assert abs(unlikelihood(left, right, unlabelled, pool) - dense) < 1e-3


@pytest.mark.slow
def test_labels_are_one_to_one_and_never_touch_a_seed():
    task, _ = demo("fr_en")
    without, dev = hold_out(task, 0.2)
    network = make_model("bootea", size=32, batch=2000, learning_rate=0.1).build(without, torch.device("cpu"))
    for epoch in range(20):
        network.run_epoch(epoch)
    labelled = np.flatnonzero(network.labels.numpy() >= 0)
    targets = network.labels.numpy()[labelled]
    assert len(labelled) > 50
    assert len(set(targets.tolist())) == len(targets)
    assert set(labelled.tolist()) <= set(without.queries.tolist())
    assert set(targets.tolist()) <= set(without.pool.tolist())
    assert set(labelled.tolist()) & set(dev.sources.tolist())
