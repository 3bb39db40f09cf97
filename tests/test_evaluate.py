import numpy as np
import pytest

from kgalign import Alignment, Candidates, evaluate
from kgalign.evaluate import calibration, many_to_one, ranks

GOLD = Alignment(np.array([[0, 0], [1, 1], [2, 2], [3, 3]]))


def test_figures_can_be_checked_by_hand():
    alignment = Alignment(np.array([[0, 0], [1, 2], [7, 8], [9, 3]]), np.array([0.9, 0.8, 0.7, 0.6]))
    figures = evaluate(alignment, GOLD, protocol="open")
    assert figures["protocol"] == "open"
    assert figures["hits@1"] == figures["recall"] == 1 / 4
    assert figures["precision"] == 1 / 3, "7-8 touches no gold entity: nobody knows"
    assert figures["f1"] == pytest.approx(2 / 7)


def test_unmatched_counts_as_wrong():
    assert evaluate(Alignment.empty(), GOLD, protocol="closed")["hits@1"] == 0
    assert evaluate(GOLD, GOLD, protocol="closed")["f1"] == 1


def test_ties_share_their_mean_rank():
    candidates = Candidates(np.array([0, 1, 2]), np.array([[0, 5], [5, 1], [5, 6]]), np.array([[0.5, 0.5], [0.9, 0.1], [1.0, 0.5]]))
    assert ranks(candidates, GOLD).tolist() == [1.5, 2.0, np.inf, np.inf]
    figures = evaluate(GOLD, GOLD, protocol="closed", candidates=candidates)
    assert figures["candidate_hits@1"] == 0
    assert figures["hits@10"] == figures["candidate_recall"] == 0.5
    assert figures["mrr"] == pytest.approx((1 / 1.5 + 1 / 2) / 4)


def test_many_to_one_counts_every_pair_of_a_shared_target():
    assert many_to_one(Alignment(np.array([[0, 0], [1, 0], [2, 1]]))) == pytest.approx(2 / 3)


def test_calibration_is_zero_when_probabilities_are_true():
    figures = calibration(np.array([0.75] * 4 + [0.95]), np.array([1, 1, 1, 0, 1], bool))
    assert figures["ece"] == pytest.approx(0.05 / 5)
    assert (figures["accuracy_above_0.9"], figures["pairs_above_0.9"]) == (1.0, 1)


def test_bootstrap_gives_an_interval_around_the_figure():
    gold = Alignment(np.column_stack([np.arange(400), np.arange(400)]))
    figures = evaluate(gold.where(np.arange(300)), gold, protocol="closed", bootstrap=2000)
    low, high = figures["hits@1_interval"]
    assert low < 0.75 < high
    assert high - low == pytest.approx(4 * np.sqrt(0.75 * 0.25 / 400), rel=0.15)
