"""Every registered model is tested because it is registered."""

import numpy as np
import pytest

from kgalign import MODELS, Alignment, OptionError, coordinate, demo, evaluate, make_model


@pytest.fixture(scope="module")
def pair():
    return demo("fr_en")


@pytest.fixture(scope="module", params=MODELS)
def fitted(request, pair):
    return make_model(request.param).fit(pair[0])


def test_it_predicts_only_from_the_pool(fitted, pair):
    task, _ = pair
    candidates = fitted.predict(task, task.seeds)
    assert candidates.queries.tolist() == task.queries.tolist()
    assert set(candidates.targets.ravel().tolist()) <= {-1, *task.pool.tolist()}
    better, worse = candidates.scores[:, :-1], candidates.scores[:, 1:]
    assert (better >= worse).all(), "best first"


def test_it_beats_chance_by_far(fitted, pair):
    task, gold = pair
    alignment = coordinate(fitted, task, max_rounds=0)
    assert evaluate(alignment, gold, protocol=task.protocol)["hits@1"] > 50 / len(gold)


def test_predict_changes_nothing_and_repeats_itself(fitted, pair):
    task, _ = pair
    before = repr(fitted)
    first = fitted.predict(task, task.seeds)
    fitted.predict(task, Alignment.empty())
    second = fitted.predict(task, task.seeds)
    assert repr(fitted) == before
    assert first.targets.tobytes() == second.targets.tobytes()
    assert first.scores.tobytes() == second.scores.tobytes()


def test_names_use_known_pairs_by_sharing_the_name(pair):
    task, gold = pair
    model = make_model("names")
    best = model.predict(task, Alignment.empty()).targets[:, 0]
    missed = [link for link in gold.pairs.tolist() if link[1] not in best]
    known = Alignment(np.array(missed[:1]))
    candidates = model.predict(task, known)
    row = np.searchsorted(candidates.queries, known.sources[0])
    assert known.targets[0] in candidates.targets[row, candidates.scores[row] == candidates.scores[row].max()]


def test_names_fit_their_temperature_on_seeds(pair):
    task, _ = pair
    assert make_model("names").fit(task).temperature is not None
    assert make_model("names", temperature=0.3).fit(task).temperature == 0.3


def test_names_take_word_vectors(pair, tmp_path):
    task, _ = pair
    path = tmp_path / "vectors.txt"
    path.write_text("heure 1 0\ntime 1 0.1\nde 0 1\n")
    plain, helped = (make_model("names", word_vectors=vectors).predict(task, task.seeds) for vectors in (None, str(path)))
    assert not np.array_equal(plain.scores, helped.scores)


def test_unknown_models_and_options_are_refused():
    with pytest.raises(OptionError, match="unknown model 'magic': expected one of names"):
        make_model("magic")
    with pytest.raises(OptionError, match="no option 'size': expected one of k"):
        make_model("names", size=3)
