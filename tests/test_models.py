"""Every registered model is tested because it is registered."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import graph, task_of
from scipy import sparse

from kgalign import MODELS, Alignment, OptionError, align, coordinate, demo, evaluate, make_model
from kgalign.models import model_class
from kgalign.models.fast.model import _weighted, graph_evidence
from kgalign.features.relations import adjacency, match_relations


@pytest.fixture(scope="module")
def pair():
    return demo("fr_en")


@pytest.fixture(scope="module", params=MODELS)
def fitted(request, pair):
    return make_model(request.param, **getattr(model_class(request.param), "quick_options", {})).fit(pair[0])


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


def test_a_saved_model_predicts_as_before(fitted, pair, tmp_path):
    if not hasattr(fitted, "save"):
        pytest.skip("it does not train, so there is nothing to save")
    task, _ = pair
    fitted.save(tmp_path)
    loaded = type(fitted).load(tmp_path)
    before, after = (model.predict(task, task.seeds) for model in (fitted, loaded))
    assert before.targets.tobytes() == after.targets.tobytes()
    assert before.scores.tobytes() == after.scores.tobytes()
    assert (before.temperature, before.no_match_score) == (after.temperature, after.no_match_score)
    assert loaded.history == fitted.history


def test_the_same_seed_learns_the_same_and_another_does_not(fitted, pair):
    if not hasattr(fitted, "save"):
        pytest.skip("it does not train")
    task, _ = pair
    short = {"epochs": 1, "seed": 5} | ({"all_seeds": False} if hasattr(fitted, "all_seeds") else {})
    first, again, other = (
        type(fitted)(**{**fitted.options(), **short, "seed": seed}).fit(task).predict(task, task.seeds) for seed in (5, 5, 6)
    )
    assert first.scores.tobytes() == again.scores.tobytes()
    assert first.scores.tobytes() != other.scores.tobytes()


def test_names_are_not_surer_of_a_pair_for_having_been_sure(pair):
    task, gold = pair
    model = make_model("names").fit(task)
    alone, told = (model.predict(task, known) for known in (task.seeds, task.seeds + gold.where(np.arange(50))))
    assert alone.scores.tobytes() == told.scores.tobytes()


def test_fast_turns_to_the_graph_where_names_tell_nothing(pair):
    task, gold = demo("zh_en")
    nameless = [replace(side, names=[""] * len(side.names)) for side in (task.source, task.target)]
    task = replace(task, source=nameless[0], target=nameless[1])
    hits = [
        evaluate(coordinate(make_model(name).fit(task), task, alpha=0.5), gold, protocol=task.protocol)["hits@1"]
        for name in ("names", "fast")
    ]
    assert hits[0] < 0.05
    assert hits[1] > 0.4


def test_fast_needs_no_seeds_where_names_tell_something(pair):
    task, gold = pair
    unsupervised = replace(task, seeds=Alignment.empty())
    rounds = []
    coordinate(make_model("fast").fit(unsupervised), unsupervised, alpha=0.5, on_round=rounds.append)
    first, last = (evaluate(turn.alignment, gold, protocol=task.protocol)["hits@1"] for turn in (rounds[0], rounds[-1]))
    assert last > first > 0.6


def test_fast_doubts_the_only_candidate_where_nobody_need_be_right():
    source = graph(["Bordeaux", "France", "Zanzibar", "Tanzania"], [("Bordeaux", "in", "France"), ("Zanzibar", "in", "Tanzania")])
    target = graph(["Bordeaux", "France", "Santiago", "Chile"], [("Bordeaux", "in", "France"), ("Santiago", "in", "Chile")])
    run = align(task_of(source, target), options={"unmatched": 0.01})
    sure = {tuple(pair) for pair, score in zip(run.alignment.pairs.tolist(), run.alignment.scores, strict=True) if score > 0.5}
    assert sure == {(0, 0), (1, 1)}


@pytest.mark.parametrize("count", [199, 210, 222])
def test_fast_means_the_same_by_its_probabilities_in_every_phase(pair, count):
    task, gold = pair
    few = task.seeds.where(np.arange(len(task.seeds)) < count)
    run = align(replace(task, seeds=few, protocol="open"), gold)
    assert run.metrics["hits@1"] > 0.98
    assert run.metrics["ece"] < 0.07


def test_fast_matches_relations_by_the_pairs_they_join(pair):
    task, _ = demo("zh_en")
    matches = match_relations(task, task.seeds)
    best = matches.toarray()[: len(task.source.relations), : len(task.target.relations)].argmax(axis=1)
    named = {task.source.relations[i].rsplit("/", 1)[1]: task.target.relations[j].rsplit("/", 1)[1] for i, j in enumerate(best)}
    assert named["官方语言"] == "officialLanguage"
    assert named["主要地区"] == "mainTerritory"


def test_fast_knows_kinds_of_things_by_the_relations_that_point_to_them():
    source = graph(["Paris", "Lyon", "Seine", "Rhône"], [("Paris", "fleuve", "Seine"), ("Lyon", "fleuve", "Rhône")])
    target = graph(["Paris", "Lyon", "Seine", "Rhone"], [("Paris", "river", "Seine"), ("Lyon", "river", "Rhone")])
    roles, theirs = graph_evidence(task_of(source, target), Alignment(np.array([[0, 0], [2, 2], [1, 1], [3, 3]])))["roles"]
    alike = (roles @ theirs.T).toarray()
    np.testing.assert_allclose(alike[2:, 2:], 1, rtol=1e-6)
    assert not alike[:2].any()


def test_fast_never_counts_a_pair_as_evidence_for_itself(pair):
    task, _ = pair
    source, target = graph_evidence(task, task.seeds.where(np.arange(1)))["two hops"]
    own = task.seeds.pairs[0]
    assert source[[own[0]]].nnz == target[[own[1]]].nnz == 0


def test_names_fit_their_temperature_on_seeds_only(pair):
    task, _ = pair
    model = make_model("names")
    assert model.fit(task).temperature != model.temperature
    assert model.fit(replace(task, seeds=Alignment.empty())) == model


def test_names_take_word_vectors(pair, tmp_path):
    task, _ = pair
    path = tmp_path / "vectors.txt"
    path.write_text("heure 1 0\ntime 1 0.1\nde 0 1\n")
    plain, helped = (make_model("names", word_vectors=vectors).predict(task, task.seeds) for vectors in (None, str(path)))
    assert not np.array_equal(plain.scores, helped.scores)


def test_unknown_models_and_options_are_refused():
    with pytest.raises(OptionError, match="unknown model 'magic': expected one of fast, "):
        make_model("magic")
    with pytest.raises(OptionError, match="no option 'size': expected one of k"):
        make_model("names", size=3)


def test_doubtful_pairs_are_evidence_for_as_much_as_they_are_probable(pair):
    task, _ = pair
    sure = task.seeds.where(np.arange(len(task.seeds)) % 2 == 0)
    rest = task.seeds.where(np.arange(len(task.seeds)) % 2 == 1)
    weights = {}
    for probability in (0.1, 0.9):
        known = sure + replace(rest, scores=np.full(len(rest), probability))
        source, target = graph_evidence(replace(task, seeds=sure), known)["neighbours"]
        weights[probability] = (source @ target.T).toarray()
    right = tuple(task.seeds.pairs.T)
    assert weights[0.9][right].mean() > weights[0.1][right].mean() + 0.01


def test_no_kind_of_evidence_disturbs_another(pair):
    task, _ = pair
    doubtful = Alignment(np.column_stack([task.seeds.sources, np.roll(task.seeds.targets, 1)]), np.full(len(task.seeds), 0.3))
    known = task.seeds + doubtful
    once, again = graph_evidence(task, known), graph_evidence(task, known)
    for kind, sides in once.items():
        for one, other in zip(sides, again[kind], strict=True):
            assert (one != other).nnz == 0, kind
    shape = len(task.source.entities), 2000
    near = adjacency(task.source) @ sparse.csr_array((known.scores.astype(np.float32), tuple(known.pairs.T)), shape=shape)
    before = near.toarray()
    _weighted(near, sparse.csr_array((3, 2000), dtype=np.float32))
    np.testing.assert_array_equal(near.toarray(), before)
