"""The no-match classifier: whether an entity has a counterpart at all."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.measure.generated import generate
from kgalign import Alignment, AlignmentTask, KnowledgeGraph, align
from kgalign.models import make_model
from kgalign.models.fast import KINDS
from kgalign.models.fast.learning import best_wrong
from kgalign.reasoning.no_match import SCORE, Feature, NoMatchClassifier, fit_no_match, share_of_right

FEATURES = [SCORE, *(Feature(name, 6.0, 6.0) for name in ("names", "neighbours", "values", "other values"))]


def test_it_is_learnt_from_the_features_of_right_and_wrong_pairs():
    random = np.random.default_rng(0)
    right, wrong = _only_scores(random.normal(9, 2, 20_000)), _only_scores(random.normal(5, 2, 20_000))
    # Two normal distributions of variance 4: log-odds of (9 - 5) / 4 a point, 0 in the middle.
    classifier = fit_no_match(FEATURES, right, wrong)
    assert (classifier.weights[0], classifier.bias) == pytest.approx((1.0, -7.0), abs=0.2)
    for score in (4, 7, 10):
        near_right, near_wrong = (np.count_nonzero(abs(features[:, 0] - score) < 0.3) for features in (right, wrong))
        predicted = 1 / (1 + np.exp(-classifier.log_odds(_only_scores(np.array([score])))))
        assert predicted == pytest.approx(near_right / (near_right + near_wrong), abs=0.05)


def test_a_feature_that_points_the_wrong_way_gets_no_weight():
    random = np.random.default_rng(0)
    right, wrong = (_only_scores(random.normal(mean, 2, 1000)) for mean in (9, 5))
    right[:, 4], wrong[:, 4] = random.random((2, 1000)) < [[0.1], [0.9]]
    assert fit_no_match(FEATURES, right, wrong).weights[4] == 0


def test_few_links_move_it_a_little_and_many_much():
    random = np.random.default_rng(0)
    taught = [
        fit_no_match(FEATURES, _only_scores(random.normal(9, 2, count)), _only_scores(random.normal(5, 2, count))).weights[0]
        for count in (3, 30, 3000)
    ]
    assert 0 < taught[0] < 1
    assert taught[2] == pytest.approx(1, abs=0.1)


def test_the_best_wrong_candidate_of_each_row_is_found():
    rows, scores = (
        np.array([0, 1, 2, 2, 0, 2, 0]),
        np.array([9.0, 9, 9, 4, 1, 5, 3]),
    )  # the first three are right; row 1 has no other
    assert best_wrong(rows, scores, 3).tolist() == [6, 5]


def test_it_says_how_many_of_the_links_that_taught_it_it_accepts():
    random = np.random.default_rng(0)
    told, untold = (
        fit_no_match(FEATURES, _only_scores(random.normal(mean, 2, 1000)), _only_scores(random.normal(5, 2, 1000)))
        for mean in (15, 5)
    )
    assert told.recall(0.1) > 0.9
    assert untold.recall(0.5) == pytest.approx(0.5, abs=0.05)
    assert untold.recall(0.1) < 0.2
    assert NoMatchClassifier.untaught(FEATURES).recall(0.1) == 1


def test_nothing_to_learn_from_leaves_the_default():
    classifier = fit_no_match(FEATURES, _only_scores(np.array([3.0])), np.empty((0, len(FEATURES))))
    untaught = NoMatchClassifier.untaught(FEATURES)
    assert (classifier.weights.tolist(), classifier.bias) == (untaught.weights.tolist(), untaught.bias)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_the_share_of_right_pairs_is_found_in_their_only_scores(share):
    """Both distributions are known; how many pairs come from which is not."""
    random = np.random.default_rng(1)
    right = random.random(20_000) < share
    scores = np.where(right, random.normal(9, 2, 20_000), random.normal(5, 2, 20_000))
    assert share_of_right(scores - 7, np.ones(20_000)) == pytest.approx(share, abs=0.02)


def test_a_handful_of_pairs_does_not_run_to_an_extreme():
    assert 0.3 < share_of_right(np.full(6, -0.1), np.ones(6)) < share_of_right(np.full(6, 0.1), np.ones(6)) < 0.8
    assert share_of_right(np.full(6000, -1.0), np.ones(6000)) == pytest.approx(0.01)
    assert 0 < share_of_right(np.empty(0), np.empty(0)) < 1


def test_seeds_alone_will_do_where_names_say_nothing_however_few():
    random = np.random.default_rng(0)
    triples = np.unique(random.integers(0, [200, 5, 200], (1000, 3)), axis=0)
    graph = KnowledgeGraph([f"e{number}" for number in range(200)], list("abcde"), triples, [""] * 200)
    seeds, rest = Alignment(np.column_stack([np.arange(50)] * 2)), np.arange(50, 200)
    found = align(AlignmentTask(graph, graph, seeds, rest, rest, "open")).alignment
    plausible = found.where(found.scores > 0.5)
    assert len(plausible) > 130
    assert np.mean(plausible.sources == plausible.targets) > 0.97


def test_evidence_that_is_left_out_is_no_feature_either():
    task, _ = generate(100, seed=0)
    edgeless = [replace(side, triples=side.triples[:0]) for side in (task.source, task.target)]
    model = make_model("fast", without=",".join(kind.name for kind in KINDS if kind.name != "names"))
    predicted = [
        model.fit(seen).predict(seen, task.seeds) for seen in (task, replace(task, source=edgeless[0], target=edgeless[1]))
    ]
    assert np.array_equal(predicted[0].targets, predicted[1].targets)
    assert np.allclose(predicted[0].scores, predicted[1].scores)


@pytest.mark.parametrize("entities", [60, 300])
def test_two_unmatchable_entities_are_not_linked_to_each_other(entities):
    """Small graphs without seeds: one common neighbour is all the evidence that there could be, and yet not much."""
    right, links = 0, 0
    for seed in range(300 // entities):
        task, gold = generate(entities, seed=seed)
        found = align(_with_seeds(task, 0)).alignment
        confident = found.where(found.scores > 0.9)
        right += np.isin(confident.keys, (gold + task.seeds).keys).sum()
        links += len(confident)
    assert links > 50
    assert right / links > 0.98


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [0, 300])
def test_probabilities_hold_where_many_have_no_counterpart(seeds):
    """All counterparts of generated graphs are known, so a link between entities without one counts as wrong."""
    task, gold = generate(3000, seed=0)
    assert len(gold) < 0.8 * len(task.queries)
    run = align(_with_seeds(task, seeds))
    right = np.isin(run.alignment.keys, (gold + task.seeds).keys)
    for least in (0.3, 0.5, 0.9):
        links = run.alignment.scores >= least
        # Without seeds it is careful: fewer entities may have a counterpart than here.
        assert right[links].mean() == pytest.approx(run.alignment.scores[links].mean(), abs=0.05 if seeds else 0.08)


def _with_seeds(task, count):
    """The task with the first few seeds; the others become queries."""
    rest = task.seeds.where(np.arange(count, len(task.seeds)))
    return replace(
        task,
        seeds=task.seeds.where(np.arange(count)) if count else Alignment.empty(),
        queries=np.union1d(task.queries, rest.sources),
        pool=np.union1d(task.pool, rest.targets),
    )


def _only_scores(scores):
    """(n, features) of pairs that have a score and no other feature."""
    return np.column_stack([scores, np.zeros((len(scores), len(FEATURES) - 1))])
