"""Whether an entity has a counterpart at all."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.generated import generate
from kgalign import Alignment, align
from kgalign.models.doubt import SIGNS, UNTAUGHT, fit_doubt, share_of_right


def test_doubt_is_learnt_from_the_signs_of_right_and_wrong_pairs():
    random = np.random.default_rng(0)
    right, wrong = _signs(random.normal(9, 2, 20_000)), _signs(random.normal(5, 2, 20_000))
    doubt = fit_doubt(right, wrong)  # two bells of variance 4: log-odds of (9 - 5) / 4 a point, 0 in the middle
    assert (*doubt.weights, doubt.bias) == pytest.approx((1.0, 0, 0, 0, 0, -7.0), abs=0.2)
    for score in (4, 7, 10):
        near_right, near_wrong = (np.count_nonzero(abs(signs[:, 0] - score) < 0.3) for signs in (right, wrong))
        told = 1 / (1 + np.exp(-doubt.log_odds(_signs(np.array([score])))))
        assert told == pytest.approx(near_right / (near_right + near_wrong), abs=0.05)


def test_a_sign_that_speaks_the_wrong_way_is_not_believed():
    random = np.random.default_rng(0)
    right, wrong = (
        np.column_stack([_signs(random.normal(mean, 2, 1000))[:, :4], random.random(1000) < often])
        for mean, often in ((9, 0.1), (5, 0.9))
    )
    assert fit_doubt(right, wrong).weights[4] == 0


def test_nothing_to_learn_from_leaves_the_default():
    assert fit_doubt(_signs(np.array([3.0])), np.empty((0, len(SIGNS)))) is UNTAUGHT


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_the_share_of_right_pairs_is_found_in_their_signs(share):
    """Both bells are known; how many come from which is not."""
    random = np.random.default_rng(1)
    right = random.random(20_000) < share
    scores = np.where(right, random.normal(9, 2, 20_000), random.normal(5, 2, 20_000))
    assert share_of_right(scores - 7, np.ones(20_000)) == pytest.approx(share, abs=0.02)


def test_where_nobody_won_the_share_is_finite():
    assert share_of_right(np.zeros(2), np.zeros(2)) == 0.5


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
    assert right / links > 0.95


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
