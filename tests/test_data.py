from dataclasses import replace

import numpy as np
import pytest
from conftest import graph, task_of

from kgalign import Alignment, Candidates, DataError, KnowledgeGraph, Name, OptionError, hold_out, share_names
from kgalign.data import ALTERNATIVE, PREFERRED, same_graphs


def test_graph_refuses_triples_of_unknown_entities():
    with pytest.raises(DataError, match="a triple's entity has the id 2: expected 0 to 1"):
        KnowledgeGraph(["a", "b"], ["r"], np.array([[0, 0, 2]]), ["a", "b"])


def test_graph_refuses_a_missing_name():
    with pytest.raises(DataError, match="1 names for 2 entities"):
        KnowledgeGraph(["a", "b"], [], np.empty((0, 3), int), ["a"])


def test_arrays_cannot_be_changed():
    alignment = Alignment(np.array([[0, 1]]))
    with pytest.raises(ValueError, match="read-only"):
        alignment.pairs[0, 0] = 5


def test_alignment_refuses_scores_that_are_no_probabilities():
    with pytest.raises(DataError, match="from 0 to 1"):
        Alignment(np.array([[0, 1]]), np.array([1.5]))


def test_task_refuses_contradicting_seeds():
    with pytest.raises(DataError, match="two seeds share a source entity"):
        task_of(graph(["a", "b"]), graph(["c", "d"]), [(0, 0), (0, 1)])


def test_probabilities_are_the_softmax_of_what_is_there():
    candidates = Candidates(np.array([0, 1]), np.array([[3, 4], [3, -1]]), np.array([[1.0, 0.0], [0.2, -np.inf]]), 0.5)
    expected = np.exp(2) / (np.exp(2) + 1)
    np.testing.assert_allclose(candidates.probabilities(), [[expected, 1 - expected], [1, 0]])


def test_a_row_without_candidates_has_no_probability():
    candidates = Candidates(np.array([0]), np.array([[-1]]), np.array([[-np.inf]]))
    assert candidates.probabilities().tolist() == [[0.0]]


def test_nobody_takes_its_share_of_a_row():
    candidates = Candidates(np.array([0]), np.array([[3]]), np.array([[1.0]]), 0.5, no_match_score=1.0)
    assert candidates.probabilities().tolist() == [[0.5]]


def test_task_refuses_an_unknown_protocol():
    task = task_of(graph(["a"]), graph(["b"]))
    with pytest.raises(OptionError, match="protocol='opne': expected closed or open"):
        replace(task, protocol="opne")


def test_candidates_refuse_a_temperature_of_zero():
    with pytest.raises(OptionError, match="temperature"):
        Candidates(np.array([0]), np.array([[1]]), np.array([[1.0]]), 0.0)


def test_hold_out_turns_some_seeds_into_queries_and_keeps_the_others():
    names = [str(i) for i in range(20)]
    task = task_of(graph(names), graph(names), [(i, i) for i in range(10)])
    without, dev = hold_out(task, 0.3, seed=1)
    assert len(dev) == 3
    assert len(without.seeds) == 7
    assert set(dev.sources) <= set(without.queries)
    assert set(dev.targets) <= set(without.pool)
    assert set(task.queries) <= set(without.queries)
    assert not set(dev.sources) & set(without.seeds.sources)


def test_share_names_renames_only_the_known_sources():
    task = task_of(graph(["Firenze", "Roma"]), graph(["Florence", "Rome"]))
    shared = share_names(task, Alignment(np.array([[0, 0]])))
    assert list(shared.source.names) == ["Florence", "Roma"]
    assert list(task.source.names) == ["Firenze", "Roma"]


def test_graphs_with_other_ranks_or_languages_of_names_are_not_the_same():
    plain, alternative, french = (
        task_of(named_graph([Name("violin", language, rank)]), named_graph([Name("violin")]))
        for language, rank in (("", PREFERRED), ("", ALTERNATIVE), ("fr", PREFERRED))
    )
    assert same_graphs(plain, plain)
    assert not same_graphs(plain, alternative)
    assert not same_graphs(plain, french)


def test_shared_names_leave_the_other_names_of_other_entities_alone():
    source = named_graph([Name("violon", "fr"), Name("fiddle", "en", ALTERNATIVE)], [Name("tambour", "fr")])
    task = task_of(source, named_graph([Name("drum", "en")]))
    shared = share_names(task, Alignment(np.array([[1, 0]]))).source.names
    assert shared.of_entity(0) == source.names.of_entity(0)
    assert shared.of_entity(1) == [Name("drum", "en")]


def named_graph(*lists):
    return KnowledgeGraph([f"e{number}" for number in range(len(lists))], [], np.empty((0, 3), np.int64), lists)
