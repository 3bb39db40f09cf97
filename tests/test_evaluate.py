import numpy as np
import pytest

from kgalign import Alignment, Candidates, compare, evaluate
from kgalign.evaluate import calibration, many_to_one, ranks, reliability

GOLD = Alignment(np.array([[0, 0], [1, 1], [2, 2], [3, 3]]))


def test_figures_can_be_checked_by_hand():
    alignment = Alignment(np.array([[0, 0], [1, 2], [7, 8], [9, 3]]), np.array([0.9, 0.8, 0.7, 0.6]))
    figures = evaluate(alignment, GOLD, protocol="open")
    assert figures["protocol"] == "open"
    assert figures["hits@1"] == figures["recall"] == 1 / 4
    assert figures["precision"] == 1 / 3, "7-8 touches no gold link: it is not judged"
    assert (figures["matched"], figures["not_judged"]) == (4, 1)
    assert figures["f1"] == pytest.approx(2 / 7)
    assert evaluate(GOLD, GOLD, protocol="closed")["not_judged"] == 0


def test_where_gold_is_complete_every_other_link_is_wrong():
    alignment = Alignment(np.array([[0, 0], [7, 8]]))
    figures = evaluate(alignment, GOLD, protocol="open", complete=True)
    assert (figures["precision"], figures["not_judged"]) == (1 / 2, 0)


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


def alignment_of(pairs):
    return Alignment(np.array(pairs))


def test_compare_tells_a_gain_from_chance():
    gold = alignment_of([(0, 0), (1, 1)])
    first, second = alignment_of([(0, 0), (1, 0)]), alignment_of([(0, 0), (1, 1)])
    found = compare(first, second, gold, draws=20_000)
    assert found["gain"] == 0.5
    assert found["gain_interval"] == [0.0, 1.0]  # of two draws none, one or both are the link that was won: 1/4, 1/2, 1/4
    assert found["gain_p"] == pytest.approx(2 * 0.25, abs=0.02)
    assert compare(second, first, gold)["gain"] == -0.5


def test_compare_is_certain_where_every_link_agrees():
    gold = alignment_of([(i, i) for i in range(50)])
    wrong = alignment_of([(i, (i + 1) % 50) for i in range(50)])
    assert compare(gold, gold, gold) == {"gain": 0.0, "gain_interval": [0.0, 0.0], "gain_p": 1.0}
    assert compare(wrong, gold, gold, draws=999) == {"gain": 1.0, "gain_interval": [1.0, 1.0], "gain_p": 0.002}


def test_reliability_sets_probabilities_beside_the_truth():
    found = Alignment(np.array([(0, 0), (1, 2), (2, 3)]), np.array([0.95, 0.95, 0.32]))
    gold = alignment_of([(0, 0), (1, 1), (2, 3)])
    assert reliability(found, gold) == [
        {"probability": 0.32, "right": 1.0, "count": 1},
        {"probability": 0.95, "right": 0.5, "count": 2},
    ]
