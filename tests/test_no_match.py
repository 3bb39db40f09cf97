"""Whether an entity has a counterpart at all."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.generated import generate
from kgalign import Alignment, AlignmentTask, KnowledgeGraph, align
from kgalign.models import make_model
from kgalign.reasoning.no_match import SIGNS, UNTAUGHT, fit_doubt, share_of_right
from kgalign.models.fast.model import GRAPH_KINDS, _best_wrong


def test_doubt_is_learnt_from_the_signs_of_right_and_wrong_pairs():
    random = np.random.default_rng(0)
    right, wrong = _signs(random.normal(9, 2, 20_000)), _signs(random.normal(5, 2, 20_000))
    doubt = fit_doubt(right, wrong)  # two bells of variance 4: log-odds of (9 - 5) / 4 a point, 0 in the middle
    assert (doubt.weights[0], doubt.bias) == pytest.approx((1.0, -7.0), abs=0.2)
    for score in (4, 7, 10):
        near_right, near_wrong = (np.count_nonzero(abs(signs[:, 0] - score) < 0.3) for signs in (right, wrong))
        told = 1 / (1 + np.exp(-doubt.log_odds(_signs(np.array([score])))))
        assert told == pytest.approx(near_right / (near_right + near_wrong), abs=0.05)


def test_a_sign_that_speaks_the_wrong_way_is_not_believed():
    random = np.random.default_rng(0)
    right, wrong = (_signs(random.normal(mean, 2, 1000)) for mean in (9, 5))
    right[:, 4], wrong[:, 4] = random.random((2, 1000)) < [[0.1], [0.9]]
    assert fit_doubt(right, wrong).weights[4] == 0


def test_few_links_teach_little_and_many_much():
    random = np.random.default_rng(0)
    taught = [
        fit_doubt(_signs(random.normal(9, 2, count)), _signs(random.normal(5, 2, count))).weights[0] for count in (3, 30, 3000)
    ]
    assert 0 < taught[0] < 1
    assert taught[2] == pytest.approx(1, abs=0.1)


def test_the_best_wrong_candidate_of_each_row_is_found():
    rows, scores = (
        np.array([0, 1, 2, 2, 0, 2, 0]),
        np.array([9.0, 9, 9, 4, 1, 5, 3]),
    )  # the first three are right; row 1 has no other
    assert _best_wrong(rows, scores, 3).tolist() == [6, 5]


def test_nothing_to_learn_from_leaves_the_default():
    assert fit_doubt(_signs(np.array([3.0])), np.empty((0, len(SIGNS)))) is UNTAUGHT


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_the_share_of_right_pairs_is_found_in_their_signs(share):
    """Both bells are known; how many come from which is not."""
    random = np.random.default_rng(1)
    right = random.random(20_000) < share
    scores = np.where(right, random.normal(9, 2, 20_000), random.normal(5, 2, 20_000))
    assert share_of_right(scores - 7, np.ones(20_000)) == pytest.approx(share, abs=0.02)


def test_a_handful_does_not_run_away():
    assert 0.3 < share_of_right(np.full(6, -0.1), np.ones(6)) < share_of_right(np.full(6, 0.1), np.ones(6)) < 0.8
    assert share_of_right(np.full(6000, -1.0), np.ones(6000)) == pytest.approx(0.01)
    assert 0 < share_of_right(np.empty(0), np.empty(0)) < 1


def test_seeds_alone_will_do_where_names_say_nothing_however_few():
    random = np.random.default_rng(0)
    triples = np.unique(random.integers(0, [200, 5, 200], (1000, 3)), axis=0)
    graph = KnowledgeGraph([f"e{number}" for number in range(200)], list("abcde"), triples, [""] * 200)
    seeds, rest = Alignment(np.column_stack([np.arange(50)] * 2)), np.arange(50, 200)
    found = align(AlignmentTask(graph, graph, seeds, rest, rest, "open")).alignment
    sure = found.where(found.scores > 0.5)
    assert len(sure) > 130
    assert np.mean(sure.sources == sure.targets) > 0.97


def test_what_is_left_out_is_no_sign_either():
    task, _ = generate(100, seed=0)
    edgeless = [replace(side, triples=side.triples[:0]) for side in (task.source, task.target)]
    model = make_model("fast", without=",".join(GRAPH_KINDS))
    told = [model.predict(seen, task.seeds) for seen in (task, replace(task, source=edgeless[0], target=edgeless[1]))]
    assert np.array_equal(told[0].targets, told[1].targets)
    assert np.allclose(told[0].scores, told[1].scores)


@pytest.mark.parametrize("entities", [60, 300])
def test_two_that_are_left_over_do_not_find_each_other(entities):
    """Small graphs without seeds: one neighbour in common is all the evidence that there could be, and yet not much."""
    right, links = 0, 0
    for seed in range(300 // entities):
        task, gold = generate(entities, seed=seed)
        found = align(_with_seeds(task, 0)).alignment
        sure = found.where(found.scores > 0.9)
        right += np.isin(sure.keys, (gold + task.seeds).keys).sum()
        links += len(sure)
    assert links > 50
    assert right / links > 0.98


@pytest.mark.parametrize("told", [0, 300])
def test_probabilities_hold_where_many_have_no_counterpart(told):
    """Of generated graphs all counterparts are known, so that links between those who have none count as what they are: wrong."""
    task, gold = generate(3000, seed=0)
    assert len(gold) < 0.8 * len(task.queries)
    run = align(_with_seeds(task, told))
    right = np.isin(run.alignment.keys, (gold + task.seeds).keys)
    for least in (0.3, 0.5, 0.9):
        links = run.alignment.scores >= least
        # Without seeds it is careful: fewer may have a counterpart than here.
        assert right[links].mean() == pytest.approx(run.alignment.scores[links].mean(), abs=0.05 if told else 0.08)


def _with_seeds(task, count):
    """The task with the first few seeds; the others are asked."""
    asked = task.seeds.where(np.arange(count, len(task.seeds)))
    return replace(
        task,
        seeds=task.seeds.where(np.arange(count)) if count else Alignment.empty(),
        queries=np.union1d(task.queries, asked.sources),
        pool=np.union1d(task.pool, asked.targets),
    )


def _signs(scores):
    """(n, signs) of pairs that have a score and nothing else."""
    return np.column_stack([scores, np.zeros((len(scores), len(SIGNS) - 1))])
