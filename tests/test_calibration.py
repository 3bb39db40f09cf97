from dataclasses import replace

import numpy as np
import pytest

from kgalign import Alignment, Candidates
from kgalign.decoding.cardinality import turned_candidates, with_odds
from kgalign.decoding.decoders import greedy, joint
from kgalign.decoding.marginals import balance
from kgalign.reasoning.calibration import Sharpening, calibrated


def test_calibration_finds_what_made_the_data():
    random = np.random.default_rng(0)
    scores = -np.sort(-random.normal(size=(20_000, 5)), axis=1)
    candidates = Candidates(np.arange(20_000), np.tile(np.arange(5), (20_000, 1)), scores)
    truth = replace(candidates, temperature=0.4).probabilities()
    gold = (truth.cumsum(axis=1) > random.random((20_000, 1))).argmax(axis=1)
    fitted = calibrated(candidates, Alignment(np.column_stack([np.arange(20_000), gold])))
    np.testing.assert_allclose(fitted.probabilities()[:, 0].mean(), truth[:, 0].mean(), atol=0.01)
    np.testing.assert_allclose(fitted.probabilities()[:, 0], truth[:, 0], atol=0.06)


def test_a_lone_candidate_is_not_certain_when_such_were_wrong():
    random = np.random.default_rng(1)
    scores = random.random((2000, 1))
    gold = np.where(random.random(2000) < scores[:, 0], 0, 1)
    candidates = calibrated(
        Candidates(np.arange(2000), np.zeros((2000, 1), int), scores), Alignment(np.column_stack([np.arange(2000), gold]))
    )
    np.testing.assert_allclose(candidates.probabilities(), scores, atol=0.12)


def test_links_that_are_all_right_do_not_make_everything_certain():
    scores = np.tile([1.0, 0.2], (20, 1))
    candidates = Candidates(np.arange(20), np.tile([0, 1], (20, 1)), scores)
    fitted = calibrated(candidates, Alignment(np.column_stack([np.arange(20), np.zeros(20, int)])))
    assert 0.8 < fitted.probabilities()[0, 0] < 0.99


def test_without_links_nothing_changes():
    candidates = Candidates(np.array([0]), np.array([[1]]), np.array([[0.5]]), 0.7)
    assert calibrated(candidates, Alignment.empty()) is candidates


def shared_candidates(sharpness, seed=0, count=400):
    """Closed candidates whose right one is drawn with its probability, and the right links; then scores are made sharper or duller."""
    random = np.random.default_rng(seed)
    targets = np.arange(count)[:, None] // 4 * 4 + np.argsort(random.random((count, 4)), axis=1)
    scores = np.sort(random.normal(0, 2, (count, 4)), axis=1)[:, ::-1]
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    drawn = (random.random((count, 1)) > probabilities.cumsum(axis=1)).sum(axis=1)
    right = Alignment(np.column_stack([np.arange(count), targets[np.arange(count), drawn]]))
    return Candidates(np.arange(count), targets, sharpness * scores, no_match_score=-50.0), right


@pytest.mark.parametrize(("sharpness", "sign"), [(0.4, -1), (2.5, 1)])
def test_sharpening_moves_probabilities_towards_how_often_links_are_right(sharpness, sign):
    candidates, right = shared_candidates(sharpness)
    found = Sharpening.fit(candidates, greedy(candidates), right)
    assert sign * np.log(found.temperature) > 0.15
    before, after = (greedy(one) for one in (candidates, found(candidates)))
    truth = np.isin(before.keys, right.keys).mean()
    assert abs(after.scores.mean() - truth) < abs(before.scores.mean() - truth)


def test_sharpening_by_nothing_changes_nothing():
    candidates, _ = shared_candidates(1.0)
    assert Sharpening()(candidates).probabilities().max() <= candidates.probabilities().max()
    single = Candidates([0, 1], [[0], [1]], [[2.0], [0.5]], no_match_score=0.0)
    assert np.allclose(Sharpening()(single).probabilities(), single.probabilities())


def test_sharpened_probabilities_add_up_to_one_at_most_for_queries_and_targets():
    candidates, _ = shared_candidates(1.0)
    sharpened = Sharpening(0.5, 0.8)(candidates)
    rows, slots = sharpened.edges()
    values = sharpened.probabilities()[rows, slots]
    for ids in (rows, sharpened.targets[rows, slots]):
        assert np.bincount(ids, values).max() <= 1 + 1e-6


def test_sharpening_is_the_same_in_either_order():
    candidates, right = shared_candidates(0.6)
    balanced = with_odds(candidates, balance(candidates, 50) * 0.9)
    links = joint(balanced)
    turned = turned_candidates(balanced)
    turned = with_odds(turned, _pairs_of(balanced, turned))
    one, other = Sharpening.fit(balanced, links, right), Sharpening.fit(turned, links.turned(), right.turned())
    assert one.temperature == pytest.approx(other.temperature, rel=0.02)
    assert one.no_match == pytest.approx(other.no_match, rel=0.05)


def _pairs_of(candidates, turned):
    """(m, k) the probability of each pair in another order of its ends."""
    rows, slots = candidates.edges()
    by_pair = {
        (int(candidates.targets[row, slot]), int(candidates.queries[row])): value
        for row, slot, value in zip(rows, slots, candidates.probabilities()[rows, slots], strict=True)
    }
    return np.array(
        [
            [by_pair.get((int(query), int(target)), 0.0) for target in row]
            for query, row in zip(turned.queries, turned.targets, strict=True)
        ]
    )
