"""First links from few seeds: reach, anchored evidence, and growth around seeds without any name."""

from __future__ import annotations

import numpy as np

from kgalign import Alignment, Candidates, Capabilities, KnowledgeGraph, Rules, align, coordinate
from kgalign.data import AlignmentTask, Names
from kgalign.features.functionality import AnchoredEvidence, Inclusions
from kgalign.features.reach import reach_vectors
from kgalign.features.relations import Edges
from kgalign.models.fast.growth import grow


def graph(triples: list[tuple[int, int, int]], count: int, relations: int = 2) -> KnowledgeGraph:
    names = [str(number) for number in range(count)]
    return KnowledgeGraph(
        entities=names,
        names=Names.of([""] * count),
        relations=[f"r{number}" for number in range(relations)],
        triples=np.array(triples).reshape(-1, 3),
    )


def nameless_task(count: int = 400, seeds: int = 24, seed: int = 0) -> tuple[AlignmentTask, Alignment]:
    """A random graph twice, its entities in another order, without names, and all true links."""
    random = np.random.default_rng(seed)
    triples = np.unique(
        np.column_stack(
            [
                random.integers(count, size=(5 * count, 1)),
                random.integers(6, size=(5 * count, 1)),
                random.integers(count, size=(5 * count, 1)),
            ]
        ),
        axis=0,
    )
    order = random.permutation(count)
    other = triples.copy()
    other[:, 0], other[:, 2] = order[triples[:, 0]], order[triples[:, 2]]
    truth = Alignment(np.column_stack([np.arange(count), order]))
    known = truth.where(np.sort(random.permutation(count)[:seeds]))
    queries, pool = np.setdiff1d(truth.sources, known.sources), np.setdiff1d(truth.targets, known.targets)
    left, right = (graph(side.tolist(), count, 6) for side in (triples, other))
    return AlignmentTask(left, right, known, queries, pool, "closed"), truth


class Scripted:
    """A model that finds nothing, and grows nothing; it keeps the order in which it was asked to grow."""

    capabilities = Capabilities(grows=True)

    def __init__(self) -> None:
        self.asked: list[bool] = []

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        none = np.full((len(task.queries), 1), -1), np.full((len(task.queries), 1), -np.inf)
        return Candidates(task.queries, *none, no_match_score=0.0)

    def first_links(self, task: AlignmentTask, always: bool = False) -> Alignment:
        self.asked.append(always)
        return Alignment.empty()


class Growing(Scripted):
    """A model that finds nothing and grows the same links whatever it is asked; it keeps what it was given as known."""

    def __init__(self, grown: Alignment) -> None:
        super().__init__()
        self.grown, self.given = grown, list[Alignment]()

    def first_links(self, task: AlignmentTask, always: bool = False) -> Alignment:
        return self.grown.where(~np.isin(self.grown.sources, task.seeds.sources))

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        self.given.append(known)
        return super().predict(task, known)


def test_what_grows_is_dropped_where_held_out_seeds_show_that_it_is_wrong() -> None:
    task, truth = nameless_task(seeds=240)
    wrong = Alignment(np.column_stack([truth.sources, np.roll(truth.targets, 1)]))
    for grown, kept in ((truth, True), (wrong, False)):
        model = Growing(grown)
        coordinate(model, task, Rules(max_rounds=1))
        assert (len(model.given[0]) > 240) == kept


def test_growth_before_the_first_round_is_a_step() -> None:
    steps: list[str] = []
    coordinate(Scripted(), nameless_task(seeds=240)[0], Rules(max_rounds=1), on_step=steps.append)
    assert steps[:2] == ["growing first links", "predicting"]


def test_relation_with_one_beginning_for_each_end_determines_it() -> None:
    edges = Edges.of(graph([(0, 0, 1), (2, 0, 3), (0, 1, 4), (2, 1, 4)], 5))
    assert edges.inverse_functionality[:2].tolist() == [1.0, 0.5]


def test_relation_is_included_in_the_one_that_holds_between_the_same_links() -> None:
    triples = [(0, 0, 1), (2, 0, 3)]
    edges = Edges.of(graph(triples, 5)), Edges.of(graph([(head, 1, tail) for head, _, tail in triples], 5))
    known = Alignment(np.column_stack([np.arange(5), np.arange(5)]))
    found = Inclusions.of(edges, known)
    assert [matrix[0, 1] for matrix in found.common] == [2, 2], "both facts, seen from either graph"
    assert found.common[0][0, 0] == 0
    assert found.often[0][0] == found.often[1][1] == 2


def test_pair_without_a_known_link_around_it_has_no_anchored_evidence() -> None:
    triples = [(0, 0, 1), (2, 0, 3)]
    edges = Edges.of(graph(triples, 4)), Edges.of(graph(triples, 4))
    evidence = AnchoredEvidence.of(edges, Alignment(np.array([[1, 1]])))
    amounts = evidence.amount(np.array([0, 2, 0]), np.array([0, 2, 2]))
    assert amounts[0] > 0
    assert amounts[1:].tolist() == [0, 0]


def test_reach_tells_entities_apart_that_are_two_hops_from_a_seed() -> None:
    chain = [(0, 0, 1), (1, 0, 2), (3, 0, 4), (4, 0, 5)]
    edges = Edges.of(graph(chain, 6)), Edges.of(graph(chain, 6))
    left, right = reach_vectors(edges, Alignment(np.array([[0, 0], [3, 3]])))
    assert left[2] @ right[2] > left[2] @ right[5]


def test_growth_from_few_seeds_finds_most_links_and_hardly_a_wrong_one() -> None:
    task, truth = nameless_task()
    found = grow(task, Edges.of_task(task))
    right = np.isin(found.keys, truth.keys)
    assert len(found) > 250
    assert right.mean() > 0.95
    assert not np.isin(found.sources, task.seeds.sources).any()


def test_growth_draws_the_same_links_for_the_same_seed() -> None:
    task, _ = nameless_task()
    one, two = (grow(task, Edges.of_task(task), seed=3) for _ in range(2))
    assert np.array_equal(one.pairs, two.pairs)
    assert np.array_equal(one.scores, two.scores)


def test_nothing_grows_without_seeds() -> None:
    task, _ = nameless_task(seeds=0)
    assert len(grow(task, Edges.of_task(task))) == 0


def test_growth_ends_where_no_relation_leads_from_a_seed() -> None:
    alone, pairs = graph([], 60), np.column_stack([np.arange(30), np.arange(30)])
    task = AlignmentTask(alone, alone, Alignment(pairs), np.arange(30, 60), np.arange(30, 60), "closed")
    assert len(grow(task, Edges.of_task(task))) == 0


def test_growth_starts_where_hardly_any_held_out_seed_is_found() -> None:
    task, _ = nameless_task(count=900, seeds=400)
    model = Scripted()
    coordinate(model, task, Rules(held_out=0.1))
    assert model.asked == [False, True], "first as the model sees fit, then because the rounds found nothing"


def test_align_without_names_finds_most_links_from_few_seeds() -> None:
    task, truth = nameless_task()
    run = align(task)
    right = np.isin(run.alignment.keys, truth.keys)
    assert right.sum() > 0.8 * len(task.queries)
