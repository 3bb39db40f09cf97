"""Whether an entity has a counterpart at all."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.generated import generate
from kgalign import Alignment, Candidates, align
from kgalign.models.doubt import LENIENT, Doubt, fit_doubt, with_prior


def test_doubt_is_learnt_from_what_right_and_wrong_pairs_score():
    random = np.random.default_rng(0)
    right, wrong = random.normal(9, 2, 20_000), random.normal(5, 2, 20_000)
    doubt = fit_doubt(right, wrong)  # two bells of variance 4: log-odds of (9 - 5) / 4 a point, 0 in the middle
    assert doubt == pytest.approx((1.0, 7.0), abs=0.05)
    for score in (4, 7, 10):
        near_right, near_wrong = (np.count_nonzero(abs(scores - score) < 0.3) for scores in (right, wrong))
        assert 1 / (1 + np.exp(-doubt.log_odds(score))) == pytest.approx(near_right / (near_right + near_wrong), abs=0.05)


def test_nothing_to_learn_from_leaves_the_default():
    assert fit_doubt(np.array([3.0]), np.empty(0)) == LENIENT


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_the_share_of_right_pairs_is_found_in_their_scores(share):
    """Both bells are known; how many come from which is not."""
    random = np.random.default_rng(1)
    right = random.random(20_000) < share
    scores = np.where(right, random.normal(9, 2, 20_000), random.normal(5, 2, 20_000))
    candidates = Candidates(np.arange(20_000), np.zeros((20_000, 1), np.int64), scores[:, None])
    doubt = with_prior(Doubt(1.0, 7.0), candidates, np.ones((20_000, 1)))
    assert np.mean(1 / (1 + np.exp(-doubt.log_odds(scores)))) == pytest.approx(share, abs=0.02)


def test_a_query_without_candidates_counts_for_nothing():
    candidates = Candidates(np.arange(2), np.array([[0], [-1]]), np.array([[9.0], [-np.inf]]))
    assert np.isfinite(with_prior(Doubt(1.0, 7.0), candidates, np.array([[1.0], [0.0]])).nobody)


@pytest.mark.parametrize("told", [0, 300])
def test_probabilities_hold_where_many_have_no_counterpart(told):
    """Of generated graphs all counterparts are known, so that links between those who have none count as what they are: wrong."""
    task, gold = generate(3000, seed=0)
    assert len(gold) < 0.8 * len(task.queries)
    run = align(_with_seeds(task, told))
    right = np.isin(run.alignment.keys, (gold + task.seeds).keys)
    for least in (0.3, 0.5, 0.9):
        links = run.alignment.scores >= least
        assert right[links].mean() == pytest.approx(run.alignment.scores[links].mean(), abs=0.05)


def _with_seeds(task, count):
    """The task with the first few seeds; the others are asked."""
    asked = task.seeds.where(np.arange(count, len(task.seeds)))
    return replace(
        task,
        seeds=task.seeds.where(np.arange(count)) if count else Alignment.empty(),
        queries=np.union1d(task.queries, asked.sources),
        pool=np.union1d(task.pool, asked.targets),
    )
