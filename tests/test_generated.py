"""The generated graphs of the benchmarks: they are ambiguous, they can be aligned, and ids do not give the links away."""

import numpy as np
import pytest

from benchmarks.measure.generated import generate
from kgalign import align


@pytest.fixture(scope="module")
def generated():
    return generate(500)


def test_generate_gives_about_the_size_asked_for(generated):
    task, gold = generated
    for graph in (task.source, task.target):
        assert 400 < len(graph.entities) < 600
        assert len(np.unique(graph.triples[:, [0, 2]])) == len(graph.entities)
    assert 0.6 < (len(task.seeds) + len(gold)) / len(task.source.entities) < 0.9


def test_seeds_and_gold_share_no_entity(generated):
    task, gold = generated
    assert not np.intersect1d(task.seeds.sources, gold.sources).size
    assert not np.intersect1d(task.seeds.targets, gold.targets).size
    assert len(task.seeds) == round(0.3 * (len(task.seeds) + len(gold)))
    assert np.isin(gold.sources, task.queries).all()
    assert np.isin(gold.targets, task.pool).all()


def test_ids_say_nothing_about_the_links(generated):
    task, gold = generated
    links = task.seeds + gold
    assert abs(np.corrcoef(links.sources, links.targets)[0, 1]) < 0.2
    assert (links.sources == links.targets).mean() < 0.02


def test_generated_names_are_similar_but_not_the_same(generated):
    task, gold = generated
    links = (task.seeds + gold).pairs.tolist()
    same = np.mean([task.source.names[source] == task.target.names[target] for source, target in links])
    assert 0.25 < same < 0.6
    words = [word for name in task.target.names for word in name.split()]
    assert len(set(words)) < 0.8 * len(words)


def test_the_same_seed_generates_the_same_graphs(generated):
    task, gold = generated
    again, gold_again = generate(500)
    other, _ = generate(500, seed=1)
    np.testing.assert_array_equal(task.source.triples, again.source.triples)
    np.testing.assert_array_equal(gold.pairs, gold_again.pairs)
    assert list(task.source.names) == list(again.source.names) != list(other.source.names)


def test_default_model_beats_names_on_generated_graphs(generated):
    task, gold = generated
    by_name = align(task, gold, model="names", decoder="greedy", max_rounds=0)
    assert align(task, gold).metrics["hits@1"] > by_name.metrics["hits@1"] + 0.05
