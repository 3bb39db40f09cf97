"""Every registered model is tested because it is registered."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import graph, task_of

from kgalign import MODELS, Alignment, OptionError, Rules, align, coordinate, demo, evaluate, make_model
from kgalign.data import turned_task
from kgalign.features.relations import Edges, match_relations
from kgalign.models import options_of
from kgalign.models.fast import KINDS, Similarity, View
from kgalign.models.fast.evidence import Prepared
from kgalign.models.fast.vectors import weighted

PLAIN = Rules(max_rounds=0)
ROUNDS = Rules(alpha=0.5, all_entities=False, held_out=0)


def is_slow(name):
    return make_model(name).capabilities.stores


def evidence_of(task, known):
    """The evidence of each kind of `fast`, where these links give any."""
    view = View.of(task, known, Prepared.of(task, KINDS, options_of(make_model("fast"))))
    computed = {kind.name: kind.compute(view) for kind in KINDS}
    return {name: evidence for name, evidence in computed.items() if evidence is not None}


@pytest.fixture(scope="module")
def pair():
    return demo("fr_en")


@pytest.fixture(scope="module", params=[pytest.param(name, marks=[pytest.mark.slow] * is_slow(name)) for name in MODELS])
def trained(request, pair):
    """A quick fitted model, and the warnings of its training."""
    model = make_model(request.param)
    torch.set_warn_always(True)  # not only the first time
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = replace(model, **model.capabilities.quick_options).fit(pair[0])
    torch.set_warn_always(False)
    return fitted, caught


@pytest.fixture(scope="module")
def fitted(trained):
    return trained[0]


def test_it_predicts_only_from_the_pool(fitted, pair):
    task, _ = pair
    candidates = fitted.predict(task, task.seeds)
    assert candidates.queries.tolist() == task.queries.tolist()
    assert set(candidates.targets.ravel().tolist()) <= {-1, *task.pool.tolist()}
    better, worse = candidates.scores[:, :-1], candidates.scores[:, 1:]
    assert (better >= worse).all(), "best first"


def test_it_beats_chance_by_far(fitted, pair):
    task, gold = pair
    reasoning = coordinate(fitted, task, PLAIN)
    assert evaluate(reasoning.alignment, gold, protocol=task.protocol)["hits@1"] > 50 / len(gold)


def test_predict_changes_nothing_and_repeats_itself(fitted, pair):
    task, _ = pair
    before = repr(fitted)
    first = fitted.predict(task, task.seeds)
    fitted.predict(task, Alignment.empty())
    second = fitted.predict(task, task.seeds)
    assert repr(fitted) == before
    assert first.targets.tobytes() == second.targets.tobytes()
    assert first.scores.tobytes() == second.scores.tobytes()


def test_fitting_and_predicting_warns_of_nothing(trained, pair):
    fitted, caught = trained
    task, gold = pair
    assert [str(warning.message) for warning in caught] == []
    torch.set_warn_always(True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.predict(task, task.seeds + gold.where(np.arange(50)))
    torch.set_warn_always(False)


def test_a_model_and_its_fitted_form_declare_the_same_capabilities(fitted):
    assert fitted.capabilities == fitted.options.capabilities


def test_what_is_prepared_for_a_task_changes_no_prediction(fitted, pair):
    task, gold = pair
    fewer = replace(task, queries=task.queries[::3], pool=task.pool[1:])
    known = task.seeds + gold.where(np.arange(30))
    alone, prepared = (model.predict(fewer, known) for model in (fitted, fitted.for_task(task).for_task(fewer)))
    assert alone.queries.tolist() == fewer.queries.tolist()
    assert alone.targets.tobytes() == prepared.targets.tobytes()
    assert alone.scores.tobytes() == prepared.scores.tobytes()


def test_equal_graphs_need_no_new_preparation(fitted, pair):
    task, _ = pair
    ready = fitted.for_task(task)
    copied = replace(task, source=replace(task.source), target=replace(task.target))
    assert ready.for_task(copied) is ready


def test_a_saved_model_predicts_as_before(fitted, pair, tmp_path):
    if not fitted.capabilities.stores:
        pytest.skip("it does not train, so there is nothing to save")
    task, _ = pair
    fitted.save(tmp_path)
    loaded = type(fitted.options).load(tmp_path)
    before, after = (model.predict(task, task.seeds) for model in (fitted, loaded))
    assert loaded.options == fitted.options
    assert before.targets.tobytes() == after.targets.tobytes()
    assert before.scores.tobytes() == after.scores.tobytes()
    assert (before.temperature, before.no_match_score) == (after.temperature, after.no_match_score)
    assert loaded.history == fitted.history


def test_options_that_were_trained_with_cannot_be_changed(fitted, tmp_path):
    if not fitted.capabilities.stores:
        pytest.skip("it does not train")
    option = next(option for option in ("size", "ngrams") if option in options_of(fitted.options))
    trained_with = getattr(fitted.options, option)
    with pytest.raises(OptionError, match=rf"{option}=99: the model was trained with {trained_with}"):
        fitted.changed(**{option: 99})
    fitted.save(tmp_path)
    with pytest.raises(OptionError, match=rf"{option}=99: the model in .* was trained with {trained_with}"):
        type(fitted.options).load(tmp_path, **{option: 99})


def test_the_same_seed_learns_the_same_and_another_does_not(fitted, pair):
    if not fitted.capabilities.stores:
        pytest.skip("it does not train")
    task, _ = pair
    short = {"epochs": 1} | ({"all_seeds": False} if "all_seeds" in options_of(fitted.options) else {})
    first, again, other = (replace(fitted.options, **short, seed=seed).fit(task).predict(task, task.seeds) for seed in (5, 5, 6))
    assert first.scores.tobytes() == again.scores.tobytes()
    assert first.scores.tobytes() != other.scores.tobytes()


def test_known_links_change_nothing_for_names(pair):
    task, gold = pair
    model = make_model("names").fit(task)
    alone, with_links = (model.predict(task, known) for known in (task.seeds, task.seeds + gold.where(np.arange(50))))
    assert alone.scores.tobytes() == with_links.scores.tobytes()


def test_fast_turns_to_the_graph_where_names_say_nothing():
    task, gold = demo("zh_en")
    nameless = [replace(side, names=[""] * len(side.names)) for side in (task.source, task.target)]
    task = replace(task, source=nameless[0], target=nameless[1])
    hits = [
        evaluate(coordinate(make_model(name).fit(task), task, ROUNDS).alignment, gold, protocol=task.protocol)["hits@1"]
        for name in ("names", "fast")
    ]
    assert hits[0] < 0.05
    assert hits[1] > 0.4


def test_fast_needs_no_seeds_where_names_say_something(pair):
    task, gold = pair
    unsupervised = replace(task, seeds=Alignment.empty())
    decisions = []
    coordinate(make_model("fast").fit(unsupervised), unsupervised, ROUNDS, lambda figures, decision: decisions.append(decision))
    first, last = (evaluate(decisions[at].alignment, gold, protocol=task.protocol)["hits@1"] for at in (0, -1))
    assert last > first > 0.6


def test_fast_gives_an_only_candidate_a_low_probability_where_queries_may_stay_unmatched():
    source = graph(["Bordeaux", "France", "Zanzibar", "Tanzania"], [("Bordeaux", "in", "France"), ("Zanzibar", "in", "Tanzania")])
    target = graph(["Bordeaux", "France", "Santiago", "Chile"], [("Bordeaux", "in", "France"), ("Santiago", "in", "Chile")])
    run = align(task_of(source, target), decoder_options={"unmatched": 0.01})
    probable = {tuple(pair) for pair, score in zip(run.alignment.pairs.tolist(), run.alignment.scores, strict=True) if score > 0.5}
    assert probable == {(0, 0), (1, 1)}


@pytest.mark.slow
@pytest.mark.parametrize("count", [199, 210, 222])
def test_probabilities_of_fast_mean_the_same_in_every_phase(pair, count):
    task, gold = pair
    few = task.seeds.where(np.arange(len(task.seeds)) < count)
    run = align(replace(task, seeds=few, protocol="open"), gold)
    assert run.metrics["hits@1"] > 0.98
    assert run.metrics["ece"] < 0.07


def test_fast_matches_relations_by_the_links_they_join():
    task, _ = demo("zh_en")
    matches = match_relations(Edges.of_task(task), task.seeds)
    best = matches.toarray()[: len(task.source.relations), : len(task.target.relations)].argmax(axis=1)
    named = {task.source.relations[i].rsplit("/", 1)[1]: task.target.relations[j].rsplit("/", 1)[1] for i, j in enumerate(best)}
    assert named["官方语言"] == "officialLanguage"
    assert named["主要地区"] == "mainTerritory"


def test_fast_knows_kinds_of_things_by_the_relations_that_point_to_them():
    source = graph(["Paris", "Lyon", "Seine", "Rhône"], [("Paris", "fleuve", "Seine"), ("Lyon", "fleuve", "Rhône")])
    target = graph(["Paris", "Lyon", "Seine", "Rhone"], [("Paris", "river", "Seine"), ("Lyon", "river", "Rhone")])
    roles = evidence_of(task_of(source, target), Alignment(np.array([[0, 0], [2, 2], [1, 1], [3, 3]])))["roles"]
    similar = (roles.source @ roles.target.T).toarray()
    np.testing.assert_allclose(similar[2:, 2:], 1, rtol=1e-6)
    assert not similar[:2].any()


def test_fast_never_counts_a_link_as_evidence_for_itself(pair):
    task, _ = pair
    evidence = evidence_of(task, task.seeds.where(np.arange(1)))["two hops"]
    own = task.seeds.pairs[0]
    assert evidence.source[[own[0]]].nnz == evidence.target[[own[1]]].nnz == 0


def test_names_fit_their_temperature_on_seeds_only(pair):
    task, _ = pair
    model = make_model("names")
    assert model.fit(task).temperature != model.temperature
    unsupervised = model.fit(replace(task, seeds=Alignment.empty()))
    assert (unsupervised.temperature, unsupervised.no_match_score) == (model.temperature, model.no_match_score)


def test_names_take_word_vectors(pair, tmp_path):
    task, _ = pair
    path = tmp_path / "vectors.txt"
    path.write_text("heure 1 0\ntime 1 0.1\nde 0 1\n")
    plain, helped = (make_model("names", word_vectors=vectors).fit(task).predict(task, task.seeds) for vectors in (None, str(path)))
    assert not np.array_equal(plain.scores, helped.scores)


def test_unknown_models_and_options_are_refused():
    with pytest.raises(OptionError, match="unknown model 'magic': expected one of fast, "):
        make_model("magic")
    with pytest.raises(OptionError, match="no option 'size': expected one of k"):
        make_model("names", size=3)


def test_uncertain_links_are_evidence_in_proportion_to_their_probability(pair):
    task, _ = pair
    certain = task.seeds.where(np.arange(len(task.seeds)) % 2 == 0)
    rest = task.seeds.where(np.arange(len(task.seeds)) % 2 == 1)
    weights = {}
    for probability in (0.1, 0.9):
        known = certain + replace(rest, scores=np.full(len(rest), probability))
        evidence = evidence_of(replace(task, seeds=certain), known)["neighbours"]
        weights[probability] = (evidence.source @ evidence.target.T).toarray()
    right = tuple(task.seeds.pairs.T)
    assert weights[0.9][right].mean() > weights[0.1][right].mean() + 0.01


def test_no_kind_of_evidence_disturbs_another(pair):
    task, _ = pair
    uncertain = Alignment(np.column_stack([task.seeds.sources, np.roll(task.seeds.targets, 1)]), np.full(len(task.seeds), 0.3))
    known = task.seeds + uncertain
    prepared = make_model("fast").fit(task).prepared
    together = View.of(task, known, prepared)
    all_kinds = {kind.name: kind.compute(together) for kind in KINDS}
    for kind in KINDS:
        alone = kind.compute(View.of(task, known, prepared))
        if isinstance(alone, Similarity):
            assert (alone.source != all_kinds[kind.name].source).sum() == 0, kind.name
            assert (alone.target != all_kinds[kind.name].target).sum() == 0, kind.name
    near = together.near
    before = near[0].toarray()
    weighted(*near)
    np.testing.assert_array_equal(near[0].toarray(), before)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["open", "closed"])
def test_source_and_target_can_change_places(pair, protocol):
    task, _ = pair
    task = replace(task, seeds=Alignment.empty(), protocol=protocol)
    one, other = align(task).alignment, align(turned_task(task)).alignment.turned()
    probability = dict(zip(other.keys.tolist(), other.scores.tolist(), strict=True))
    both = [key for key in one.keys.tolist() if key in probability]
    assert len(both) >= 0.995 * max(len(one), len(other))
    apart = [
        abs(score - probability[key])
        for key, score in zip(one.keys.tolist(), one.scores.tolist(), strict=True)
        if key in probability
    ]
    assert max(apart) < 0.02
