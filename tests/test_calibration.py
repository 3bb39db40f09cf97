from dataclasses import replace

import numpy as np

from kgalign import Alignment, Candidates
from kgalign.reasoning.calibration import calibrated


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
