"""The graph matching network: its scores do not depend on batches or order, it learns from training seeds alone, and it does learn."""

import logging
from dataclasses import replace

import numpy as np
import pytest
from conftest import graph, task_of

from kgalign import Alignment, DataError, OptionError, Rules, align, coordinate, demo, evaluate, hold_out, make_model

torch = pytest.importorskip("torch", reason="gm needs PyTorch: pip install '.[neural]', as `make test` does")

from kgalign.models.gm import GraphMatching, epochs  # noqa: E402
from kgalign.models.gm.epochs import simulate  # noqa: E402
from kgalign.models.gm.network import Encoded, GraphMatchingNetwork, Shape, pin  # noqa: E402
from kgalign.models.gm.scoring import Scorer  # noqa: E402
from kgalign.models.gm.topic_graphs import name_table, topic_graphs  # noqa: E402
from kgalign.models.gm.training import empty_network, make_scene, train  # noqa: E402

TINY = {
    "size": 16,
    "ngrams": 64,
    "negatives": 4,
    "k": 8,
    "graph_k": 8,
    "nodes": 12,
    "input_hops": 1,
    "matching_hops": 1,
    "perspectives": 3,
}
PLAIN = Rules(decoder="greedy", max_rounds=0)
NETWORKS = [(matching, readout) for matching in ("pooled", "attentive") for readout in ("pooled", "topic")]


def network_of(matching="pooled", readout="topic"):
    torch.manual_seed(1)
    return GraphMatchingNetwork(Shape(20, 8, 6, 8, 2, 3, 4, matching, readout)).eval()


def random_graphs(network, counts, width, seed=0):
    """Graphs with these numbers of nodes, padded to a width; the padding is noise."""
    random = torch.Generator().manual_seed(seed)
    mask = torch.arange(width)[None] < torch.tensor(counts)[:, None]
    names = torch.stack([torch.randn(width, 14, generator=random) for _ in counts])
    edges = torch.rand(len(counts), width, width, generator=random) < 0.3
    edges &= mask[:, :, None] & mask[:, None, :]
    return names, mask, edges


@pytest.fixture(scope="module")
def pair():
    return demo("fr_en")


@pytest.fixture(scope="module")
def fitted(pair):
    return make_model("gm", epochs=2, **TINY).fit(pair[0])


@pytest.mark.parametrize(("matching", "readout"), NETWORKS)
def test_score_is_the_same_in_every_batch_and_padding(matching, readout):
    network = network_of(matching, readout)
    names, mask, edges = random_graphs(network, [3, 7, 5], 7)
    both = network.encode(names, mask, edges)
    pins = torch.zeros(3, 7, 7, dtype=torch.bool)
    pins[0, 1, 2] = True
    together = network(both, both.pick(torch.tensor([1, 2, 0])), pins)
    for number, (count, other) in enumerate(((3, 7), (7, 5), (5, 3))):
        one, two = (
            network.encode(names[i : i + 1, :size], mask[i : i + 1, :size], edges[i : i + 1, :size, :size])
            for i, size in ((number, count), ((number + 1) % 3, other))
        )
        alone = network(one, two, pins[number : number + 1, :count, :other])
        assert alone.item() == pytest.approx(together[number].item(), abs=1e-5)


@pytest.mark.parametrize(("matching", "readout"), NETWORKS)
def test_score_does_not_depend_on_the_order_of_nodes(matching, readout):
    network = network_of(matching, readout)
    names, mask, edges = random_graphs(network, [6, 6], 6)
    pins = torch.zeros(1, 6, 6, dtype=torch.bool)
    pins[0, 2, 4] = True
    order = torch.tensor([0, 3, 5, 1, 4, 2])
    graphs = network.encode(names, mask, edges)
    mixed = network.encode(names[:, order], mask[:, order], edges[:, order][:, :, order])
    first, second = torch.tensor([0]), torch.tensor([1])
    plain = network(graphs.pick(first), graphs.pick(second), pins)
    reordered = network(mixed.pick(first), mixed.pick(second), pins[:, order][:, :, order])
    assert reordered.item() == pytest.approx(plain.item(), abs=1e-5)


@pytest.mark.parametrize(("matching", "readout"), NETWORKS)
def test_swapping_the_graphs_swaps_the_halves(matching, readout):
    network = network_of(matching, readout)
    names, mask, edges = random_graphs(network, [6, 4], 6)
    graphs = network.encode(names, mask, edges)
    left, right = graphs.pick(torch.tensor([0])), graphs.pick(torch.tensor([1]))
    pins = torch.zeros(1, 6, 6, dtype=torch.bool)
    pins[0, 1, 3] = True
    (first, second), topics = network.compare(left, right, pins)
    (swapped_second, swapped_first), swapped_topics = network.compare(right, left, pins.mT)
    assert torch.allclose(first, swapped_first, atol=1e-6)
    assert torch.allclose(second, swapped_second, atol=1e-6)
    assert all(torch.allclose(one, two, atol=1e-6) for one, two in zip(topics, swapped_topics, strict=True))


def test_pinned_nodes_match_no_other_node():
    cosines = torch.full((1, 2, 3), 0.5)
    pins = torch.zeros(1, 2, 3, dtype=torch.bool)
    pins[0, 1, 2] = True
    assert pin(cosines, pins).tolist() == [[[0.5, 0.5, 0.5], [0.0, 0.0, 1.0]]]


def test_topic_graphs_keep_the_topic_first_and_the_edges_among_neighbours():
    triples = [("a", "r", "b"), ("c", "r", "a"), ("b", "r", "c"), ("d", "r", "b"), ("a", "r", "a")]
    graphs = topic_graphs(graph(["a", "b", "c", "d"], triples), size=3)
    assert graphs.nodes.tolist() == [[0, 2, 1], [1, 3, 0], [2, 0, 1], [3, 1, -1]]
    assert graphs.counts.tolist() == [3, 3, 3, 2]
    assert np.argwhere(graphs.edges[0]).tolist() == [[0, 2], [1, 0], [2, 1]]
    assert topic_graphs(graph(["a", "b", "c", "d"], triples), size=3, directions="out").nodes[0].tolist() == [0, 1, -1][:2]


def test_ngram_vectors_are_about_as_similar_as_the_ngrams():
    table = name_table(["berlin", "république tchèque"], ["berlin", "czech republic"], {"berlin": 2}, 512)
    similar = table.ngrams @ table.ngrams.T
    assert table.source[0] == table.target[0]
    assert table.words[table.source[0]].tolist()[:2] == [2, 0]
    assert similar[table.source[1], table.target[1]] > 0.25 > similar[table.source[0], table.target[1]]


@pytest.mark.slow
def test_without_seeds_as_evidence_seeds_change_nothing(fitted, pair):
    task, _ = pair
    blind = fitted.changed(seeds_as_evidence=False)
    assert blind.predict(task, task.seeds).scores.tobytes() == fitted.predict(task, Alignment.empty()).scores.tobytes()
    assert fitted.predict(task, task.seeds).scores.tobytes() != blind.predict(task, task.seeds).scores.tobytes()


@pytest.mark.slow
def test_a_link_is_no_evidence_for_itself(fitted, pair):
    task, gold = pair
    scorer = fitted.for_task(task).prepared.scorer
    lone = gold.where(np.arange(1))
    match = np.full(len(task.source.entities), -1)
    plain = scorer.score(lone.sources, lone.targets, match)
    match[lone.sources] = lone.targets
    assert scorer.score(lone.sources, lone.targets, match).tobytes() == plain.tobytes()


@pytest.mark.slow
def test_remembered_scores_change_nothing(fitted, pair):
    task, gold = pair
    known = task.seeds + gold.where(np.arange(0, 60))
    warm = fitted.changed().for_task(task)
    for evidence in (Alignment.empty(), task.seeds, known):
        first = warm.predict(task, evidence)
        again = fitted.changed().predict(task, evidence)
        assert first.targets.tobytes() == again.targets.tobytes()
        assert first.scores.tobytes() == again.scores.tobytes()


@pytest.mark.slow
def test_only_pairs_that_new_evidence_touches_are_scored_again(fitted, pair):
    task, gold = pair
    model = fitted.changed(graph_k=0).for_task(task)
    scorer = model.prepared.scorer
    candidates = model.predict(task, task.seeds)
    every = scorer.scored
    assert every == (candidates.targets >= 0).sum()
    model.predict(task, task.seeds + gold.where(np.arange(3)))
    assert 0 < scorer.scored - every < every / 2
    again = scorer.scored
    model.predict(task, task.seeds + gold.where(np.arange(3)))
    assert scorer.scored == again


@pytest.mark.slow
def test_other_queries_share_the_scores_and_the_graphs(fitted, pair):
    task, _ = pair
    ready = fitted.for_task(task)
    fewer = ready.for_task(replace(task, queries=task.queries[:10]))
    assert fewer.prepared.scorer is ready.prepared.scorer
    assert len(fewer.prepared.by_name) == 10


@pytest.mark.slow
def test_a_trained_network_scores_other_graphs_too(fitted):
    other, _ = demo("zh_en")
    candidates = fitted.predict(other, other.seeds)
    assert candidates.queries.tolist() == other.queries.tolist()
    assert np.isfinite(candidates.scores[candidates.targets >= 0]).all()


@pytest.mark.slow
def test_training_learns_from_training_seeds_alone(pair, monkeypatch):
    task, gold = pair
    options = GraphMatching(**{**TINY, "epochs": 1, "negatives": 2, "k": 4})
    without, dev = hold_out(task, options.dev_fraction, options.seed)
    taken, score_seeds = [], epochs.score_seeds

    def watch(network, scene, sources, targets, match, *others):
        taken.append(torch.stack([sources[:, 0], targets[:, 0]], dim=1))
        known = (match >= 0).nonzero()[:, 0]
        taken.append(torch.stack([known, match[known]], dim=1))
        return score_seeds(network, scene, sources, targets, match, *others)

    monkeypatch.setattr(epochs, "score_seeds", watch)
    train(options, task)
    seen = Alignment(torch.cat(taken).numpy())
    assert set(seen.keys.tolist()) == set(without.seeds.keys.tolist())
    assert not np.isin(seen.keys, np.concatenate([gold.keys, dev.keys])).any()


def test_simulated_links_are_never_test_links(pair):
    task, gold = pair
    options = GraphMatching(epochs=1, **TINY)
    without, dev = hold_out(task, options.dev_fraction, options.seed)
    scene = make_scene(options, without, [], torch.device("cpu"))
    match = torch.full((len(task.source.entities),), -1)
    match[torch.tensor(without.seeds.sources)] = torch.tensor(without.seeds.targets)
    graphs = torch.tensor(gold.sources)
    matches = simulate(scene, graphs, match, 4, torch.Generator().manual_seed(0))
    rows, nodes = (matches >= 0).nonzero(as_tuple=True)
    shown = Alignment(torch.stack([scene.source.nodes[graphs][rows, nodes], matches[rows, nodes]], dim=1).numpy())
    assert len(shown)
    assert np.isin(shown.keys, without.seeds.keys).all()
    assert not np.isin(shown.keys, np.concatenate([gold.keys, dev.keys])).any()


def test_simulated_links_do_not_depend_on_what_a_source_is_compared_with(pair):
    task, _ = pair
    options = GraphMatching(**TINY)
    scene = make_scene(options, task, [], torch.device("cpu"))
    match = torch.full((len(task.source.entities),), -1)
    match[torch.tensor(task.seeds.sources)] = torch.tensor(task.seeds.targets)
    graphs = torch.arange(len(task.source.entities))
    for most in (0, 1, 3):
        matches = simulate(scene, graphs, match, most, torch.Generator().manual_seed(0))
        counts = (matches >= 0).sum(dim=1)
        assert counts.max() == most
        assert (matches[:, 0] == -1).all()
        assert (counts == 0).any()


@pytest.mark.slow
def test_interrupted_training_ends_in_the_same_weights(pair, tmp_path):
    task, _ = pair
    options = {**TINY, "k": 4, "negatives": 2, "batch": 64, "dropout": 0.1}
    whole = make_model("gm", epochs=3, checkpoint=str(tmp_path / "whole"), **options).fit(task)
    left = tmp_path / "whole" / ".checkpoint.safetensors-abcdefgh"  # by a process that was killed after the last epoch
    left.mkdir()
    make_model("gm", epochs=3, checkpoint=str(tmp_path / "whole"), **options).fit(task)
    assert not left.exists()
    broken = GraphMatching(epochs=3, checkpoint=str(tmp_path / "broken"), **options)

    class Stop(logging.Handler):
        def emit(self, record):
            raise KeyboardInterrupt

    handler = Stop()
    logger = logging.getLogger("kgalign")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    with pytest.raises(KeyboardInterrupt):
        train(broken, task)
    logger.removeHandler(handler)
    logger.setLevel(level)
    resumed = broken.fit(task)
    assert len(resumed.history) == 3
    ours, theirs = (model.trained.network.state_dict() for model in (whole, resumed))
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    with pytest.raises(OptionError, match="was trained with size=16, not 8"):
        replace(broken, size=8).fit(task)


@pytest.mark.slow
def test_saved_model_predicts_the_same(fitted, pair, tmp_path):
    task, _ = pair
    fitted.save(tmp_path / "model")
    loaded = GraphMatching.load(tmp_path / "model", seed=0)
    assert loaded.options == fitted.options
    assert loaded.predict(task, task.seeds).scores.tobytes() == fitted.predict(task, task.seeds).scores.tobytes()
    with pytest.raises(OptionError, match=r"size=99: the model in .* was trained with 16"):
        GraphMatching.load(tmp_path / "model", size=99)
    with pytest.raises(DataError, match=r"gm\.json: no such file"):
        GraphMatching.load(tmp_path)
    (tmp_path / "model" / "gm.safetensors").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"gm\.safetensors: expected weights"):
        GraphMatching.load(tmp_path / "model")


@pytest.mark.slow
def test_align_uses_a_trained_model_again(pair, tmp_path):
    options = {**TINY, "epochs": 1, "negatives": 2, "k": 4}
    settings = {"model": "gm", "rules": PLAIN}
    first = align(*pair, options=options, save=tmp_path / "model", **settings)
    again = align(*pair, load=tmp_path / "model", **settings)
    assert first.alignment.pairs.tolist() == again.alignment.pairs.tolist()
    assert again.options["model_options"]["size"] == TINY["size"]


@pytest.mark.slow
def test_it_learns_more_than_names_say(pair):
    task, gold = pair
    names = make_model("names").fit(task)
    model = make_model("gm", **{**TINY, "size": 32, "ngrams": 256, "k": 20, "negatives": 8, "epochs": 6}).fit(task)
    losses = [epoch["loss"] for epoch in model.history]
    assert losses[-1] < losses[0] / 2
    hits = [evaluate(coordinate(each, task, PLAIN).alignment, gold, protocol=task.protocol)["hits@1"] for each in (names, model)]
    assert hits[1] > hits[0]


@pytest.mark.slow
def test_both_losses_and_readings_train(pair):
    task, _ = pair
    for options in ({"loss": "pair", "matching": "attentive", "readout": "pooled"}, {"directions": "out", "ngrams": 0}):
        model = make_model("gm", **{**TINY, "epochs": 1, "negatives": 2, "k": 4, **options}).fit(task)
        assert np.isfinite(model.history[0]["loss"])


def test_bad_options_are_refused():
    with pytest.raises(OptionError, match="matching=best: expected pooled or attentive"):
        make_model("gm", matching="best")
    with pytest.raises(OptionError, match="device=toaster: PyTorch cannot use it"):
        make_model("gm", device="toaster").fit(demo("fr_en")[0])
    with pytest.raises(OptionError, match="learns from seeds, but there are 0"):
        make_model("gm").fit(task_of(graph(["a"], [("a", "r", "a")]), graph(["a"], [("a", "r", "a")])))


def test_graphs_without_a_known_neighbour_can_be_scored():
    source = graph(["paris", "rome", "oslo"], [("paris", "near", "rome")])
    task = task_of(source, source, [(2, 2)])
    options = GraphMatching(**TINY)
    network = empty_network(options, 0, 16)
    scorer = Scorer(network, make_scene(options, task, [], torch.device("cpu")), 4)
    scores = scorer.score(np.array([0, 2]), np.array([1, 1]), np.full(3, -1))
    assert np.isfinite(scores).all()
    assert isinstance(scorer.targets.pick(torch.tensor([0]), 8), Encoded)
