import numpy as np
import pytest
from conftest import candidates_of
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kgalign import DECODERS, Candidates, OptionError, make_decoder
from kgalign.decoding.cardinality import with_odds
from kgalign.decoding.decoders import csls, greedy, joint, mutual, sinkhorn, stable

MATRICES = arrays(float, st.tuples(st.integers(1, 7), st.integers(1, 7)), elements=st.sampled_from([0, 0.1, 0.2, 0.5, 0.5001, 0.9]))
ONE_TO_ONE = [mutual, stable, joint]


@pytest.mark.parametrize("name", DECODERS)
@settings(max_examples=60, deadline=None)
@given(matrix=MATRICES)
def test_every_decoder_picks_candidates_and_gives_probabilities(name, matrix):
    alignment = make_decoder(name)(candidates_of(matrix))
    assert len(np.unique(alignment.sources)) == len(alignment)
    assert (matrix[alignment.sources, alignment.targets] > 0).all()
    assert (np.diff(alignment.sources) > 0).all()


@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_is_the_same_for_the_same_seed(name):
    matrix = np.random.default_rng(0).integers(0, 3, (30, 30)) / 3
    first, second = (make_decoder(name, seed=4)(candidates_of(matrix)) for _ in range(2))
    assert first.pairs.tobytes() == second.pairs.tobytes()
    assert first.scores.tobytes() == second.scores.tobytes()


@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_takes_nothing_from_nothing(name):
    assert len(make_decoder(name)(candidates_of(np.zeros((3, 2))))) == 0
    assert len(make_decoder(name)(candidates_of(np.zeros((0, 2))))) == 0


@pytest.mark.parametrize("decoder", ONE_TO_ONE)
@settings(max_examples=100, deadline=None)
@given(matrix=MATRICES)
def test_one_to_one_decoders_give_each_target_once(decoder, matrix):
    alignment = decoder(candidates_of(matrix))
    assert len(np.unique(alignment.targets)) == len(alignment)


@settings(max_examples=100, deadline=None)
@given(matrix=MATRICES)
def test_joint_is_never_less_probable_than_greedy_made_one_to_one(matrix):
    candidates = candidates_of(matrix)
    price = 0.01

    def log_probability(alignment):
        return np.log(alignment.scores).sum() + (len(candidates) - len(alignment)) * np.log(price)

    best = log_probability(joint(candidates, unmatched=price))
    assert best >= log_probability(mutual(candidates)) - 1e-9
    assert best >= log_probability(stable(candidates)) - 1e-9


@settings(max_examples=100, deadline=None)
@given(matrix=MATRICES)
def test_stable_leaves_no_pair_that_would_rather_have_each_other(matrix):
    alignment = stable(candidates_of(matrix))
    match = dict(alignment.pairs.tolist())
    owner = {target: source for source, target in match.items()}
    rows = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1e-9)
    scores = np.log(np.maximum(matrix, 1e-300))
    for source, target in zip(*np.nonzero(matrix), strict=True):
        source_prefers = source not in match or rows[source, target] > rows[source, match[source]]
        target_prefers = target not in owner or scores[source, target] > scores[owner[target], target]
        assert not (source_prefers and target_prefers)


def test_joint_gives_up_a_best_candidate_for_the_whole():
    matrix = [[0.6, 0.4], [0.9, 0.0]]
    assert greedy(candidates_of(matrix)).targets.tolist() == [0, 0]
    assert joint(candidates_of(matrix)).targets.tolist() == [1, 0]


def test_joint_splits_the_search_at_tau():
    matrix = np.array([[0.9, 0.1, 0], [0.2, 0.75, 0.05], [0, 0.05, 0.95]])
    whole, split = joint(candidates_of(matrix)), joint(candidates_of(matrix), tau=0.15)
    assert (whole.record["sub_spaces"], whole.record["largest_sub_space"]) == (1, 3)
    assert (split.record["sub_spaces"], split.record["largest_sub_space"]) == (2, 2)
    assert whole.pairs.tolist() == split.pairs.tolist()


def test_joint_leaves_a_source_alone_or_fills_it():
    matrix = [[0.9, 0.1], [1.0, 0.0]]
    alone = joint(candidates_of(matrix), unmatched=0.5)
    assert alone.pairs.tolist() in ([[0, 0]], [[1, 0]])
    assert len(joint(candidates_of(matrix), unmatched=0.5, fill=True)) == 2


def test_csls_marks_hubs_down():
    similarity = np.array([[0.8, 0.7, 0.01], [0.9, 0.1, 0.01], [0.9, 0.1, 0.01]])
    candidates = candidates_of(np.exp(similarity))
    assert greedy(candidates).targets[0] == 0
    assert csls(candidates, neighbours=2).targets[0] == 1


def test_sinkhorn_makes_rows_share_a_target():
    matrix = [[0.6, 0.4], [0.99, 0.01]]
    alignment = sinkhorn(candidates_of(matrix))
    assert alignment.targets.tolist() == [1, 0]
    ratio = np.sqrt(0.4 * 0.99 / (0.6 * 0.01))  # what doubly stochastic scaling keeps of a 2 x 2 matrix
    assert alignment.scores == pytest.approx(ratio / (1 + ratio), abs=1e-3)


def test_ties_are_shuffled_not_ordered():
    matrix = np.ones((60, 60))
    for decoder in (greedy, stable, joint):
        alignment = decoder(candidates_of(matrix))
        assert (alignment.sources == alignment.targets).mean() < 0.2


def test_names_of_entmatcher_are_understood():
    matrix = [[0.6, 0.4], [0.9, 0.0]]
    for alias, name in (("hungarian", "joint"), ("sm", "stable"), ("dinf", "greedy")):
        expected = make_decoder(name)(candidates_of(matrix))
        assert make_decoder(alias)(candidates_of(matrix)).pairs.tolist() == expected.pairs.tolist()


def test_unknown_names_and_values_are_refused():
    with pytest.raises(OptionError, match="unknown decoder 'best': expected one of greedy"):
        make_decoder("best")
    with pytest.raises(OptionError, match="no option 'tua': expected one of tau"):
        make_decoder("joint", tua=1)
    with pytest.raises(OptionError, match="tau=1"):
        joint(candidates_of([[1.0]]), tau=1.0)
    with pytest.raises(OptionError, match="unmatched=0"):
        joint(candidates_of([[1.0]]), unmatched=0.0)


@pytest.mark.parametrize("decoder", ["mutual", "stable"])
def test_targets_compare_queries_by_probability_and_not_by_odds_within_each(decoder):
    """A query that is certain to have some match has high odds for all of its candidates."""
    probabilities = np.array([[0.6, 0.4], [0.6, 0.3]])
    candidates = with_odds(Candidates([0, 1], [[1, 0], [0, 2]], np.zeros((2, 2))), probabilities * [[0.999999], [1.0]])
    links = {tuple(pair) for pair in DECODERS[decoder](candidates).pairs.tolist()}
    assert links == {(0, 1), (1, 0)}
