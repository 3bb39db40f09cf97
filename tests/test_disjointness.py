"""Linked classes that are disjoint are evidence against a pair below them."""

import numpy as np
import pytest
from conftest import task_of
from scipy import sparse

from kgalign import KnowledgeGraph
from kgalign.features.disjointness import disjointness, hierarchies
from kgalign.models.fast import Fast

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
BELOW = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
DISJOINT = "http://www.w3.org/2002/07/owl#disjointWith"
NAMES = ["Animal", "Plant", "Tree", "a"]
ANIMAL, PLANT, TREE, INSTANCE = range(4)


def graph(*, instance_of, disjoint=True):
    relations = [TYPE, BELOW, DISJOINT] if disjoint else [TYPE, BELOW]
    triples = [(TREE, 1, PLANT), (INSTANCE, 0, instance_of)] + ([(ANIMAL, 2, PLANT)] if disjoint else [])
    return KnowledgeGraph(NAMES, relations, np.array(triples), NAMES)


def links(*pairs, probability=1.0):
    rows, columns = np.array(pairs).T
    return sparse.csr_array((np.full(len(pairs), probability, np.float32), (rows, columns)), shape=(4, 4))


def compared(source, target, shared):
    everything = np.repeat(np.arange(4), 4), np.tile(np.arange(4), 4)
    return disjointness(hierarchies(source, target), shared).compare(*everything).reshape(4, 4)


@pytest.mark.parametrize("stated", [(True, True), (True, False), (False, True)])
def test_instances_of_disjoint_classes_do_not_match_whichever_graph_states_it(stated):
    source, target = (graph(instance_of=cls, disjoint=own) for cls, own in zip((ANIMAL, TREE), stated, strict=True))
    found = compared(source, target, links((ANIMAL, ANIMAL), (PLANT, PLANT)))
    assert found[INSTANCE, INSTANCE] == -1
    assert found[ANIMAL, TREE] == -1  # a tree is a plant
    assert found[TREE, TREE] == 0


def test_disjointness_counts_as_far_as_the_classes_are_linked():
    source, target = graph(instance_of=ANIMAL), graph(instance_of=PLANT)
    assert compared(source, target, links((PLANT, PLANT), probability=0.4))[INSTANCE, INSTANCE] == pytest.approx(-0.4)
    assert not compared(source, target, links((TREE, TREE)))[ANIMAL, ANIMAL]


def test_graphs_without_disjoint_classes_have_no_such_evidence():
    source, target = (graph(instance_of=PLANT, disjoint=False) for _ in range(2))
    assert hierarchies(source, target) is None
    task = task_of(source, target)
    assert Fast().fit(task).prepared.own["disjoint classes"] is None


def test_a_cycle_of_subclasses_ends():
    around = KnowledgeGraph(NAMES, [BELOW, DISJOINT], np.array([(0, 0, 1), (1, 0, 2), (2, 0, 0), (2, 1, 3)]), NAMES)
    found = compared(around, around, links((3, 3)))
    assert found[0, 3] == -1
