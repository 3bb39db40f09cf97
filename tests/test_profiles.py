"""Relation profiles tell kinds of things apart, though no relation of one graph matches one of the other exactly."""

import numpy as np

from kgalign import Alignment, KnowledgeGraph
from kgalign.data import Names
from kgalign.features.profiles import profile_vectors
from kgalign.features.relations import Edges

COUNT = 600


def kinds_of_things(seed: int, relations: dict[int, tuple[int, ...]]) -> KnowledgeGraph:
    """Entity i is of kind i % 3; each has some of the relations of its kind, to places, which come after the entities."""
    random = np.random.default_rng(seed)
    triples = [
        (entity, relation, COUNT + random.integers(50))
        for entity in range(COUNT)
        for relation in relations[entity % 3]
        if random.random() < 0.6
    ]
    count = COUNT + 50
    return KnowledgeGraph(
        [str(number) for number in range(count)],
        names=Names.of([""] * count),
        relations=[f"r{n}" for n in range(9)],
        triples=np.array(triples),
    )


SOURCE = kinds_of_things(0, {0: (0, 1, 2), 1: (3, 4), 2: (5, 6, 7)})
TARGET = kinds_of_things(1, {0: (8, 7), 1: (6, 5, 4), 2: (3, 2)})
EDGES = Edges.of(SOURCE), Edges.of(TARGET)
LINKS = Alignment(np.column_stack([np.arange(COUNT)] * 2))


def test_profiles_of_one_kind_are_similar_and_those_of_others_are_not():
    known = LINKS.where(np.arange(COUNT) < 400)
    source, target = profile_vectors(EDGES, known)
    unseen = np.arange(400, COUNT)
    unseen = unseen[np.linalg.norm(source[unseen], axis=1) * np.linalg.norm(target[unseen], axis=1) > 0]
    similar = source[unseen] @ target[unseen].T
    same = unseen[:, None] % 3 == unseen[None, :] % 3
    assert similar[same].mean() > 0.5 > 0.1 > np.abs(similar[~same]).mean()


def test_few_links_show_nothing():
    assert profile_vectors(EDGES, LINKS.where(np.arange(COUNT) < 50)) is None


def test_an_entity_without_relations_has_no_profile():
    source, _ = profile_vectors(EDGES, LINKS)
    alone = ~np.isin(np.arange(COUNT), SOURCE.triples[:, 0])
    assert alone.any()
    assert not source[:COUNT][alone].any()


def test_vectors_are_the_same_in_either_order():
    source, target = profile_vectors(EDGES, LINKS)
    other, one = profile_vectors(EDGES[::-1], LINKS.turned())
    assert np.allclose(source[:COUNT] @ target[:COUNT].T, one[:COUNT] @ other[:COUNT].T, atol=1e-3)
