"""Models that give each entity a vector: the frame that they share, and what the graph convolutions compute."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from conftest import graph, task_of

from kgalign import MODELS, Alignment, OptionError, demo, make_model
from kgalign.data import Attributes
from kgalign.models.embedding import EmbeddingModel
from kgalign.models.embedding.gcn_align import GCNAlign, attribute_matrix, functionality
from kgalign.models.embedding.layers import SparseMatrix, joint_triples, margin_loss, neighbour_matrix, normalised, share_rows
from kgalign.models.embedding.rdgcn import TripleAttention, dual_graph, incidence

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def task():
    return demo("fr_en")[0]


@pytest.fixture(scope="module", params=("gcn_align", "rdgcn"))
def fitted(request, task):
    model = make_model(request.param, device="cpu")
    return replace(model, **model.capabilities.quick_options).fit(task)


@pytest.mark.slow
def test_known_links_change_the_scores_of_other_queries(fitted, task):
    links = Alignment(np.column_stack([task.queries[:50], task.pool[:50]]))
    others = np.arange(len(task.queries)) >= 50
    alone, helped = (fitted.predict(task, known).scores[others] for known in (task.seeds, task.seeds + links))
    assert not np.array_equal(alone, helped)


@pytest.mark.slow
def test_other_graphs_are_refused(fitted, tmp_path):
    other = demo("zh_en")[0]
    fitted.save(tmp_path)
    for model in (fitted, type(fitted.options).load(tmp_path, device="cpu")):
        with pytest.raises(OptionError, match="was trained on other graphs"):
            model.predict(other, other.seeds)
        with pytest.raises(OptionError, match="was trained on other graphs"):
            model.for_task(other)


@pytest.mark.slow
def test_links_that_were_learnt_cannot_be_queries(fitted, task):
    fewer = replace(task, seeds=task.seeds.where(np.arange(len(task.seeds)) > 0))
    with pytest.raises(OptionError, match="was trained on 1 links that are no seeds here"):
        fitted.predict(fewer, fewer.seeds)


@pytest.mark.parametrize("name", ["gcn_align", "rdgcn"])
def test_a_share_that_leaves_no_development_links_is_refused(name, task):
    with pytest.raises(OptionError, match=r"dev_fraction=0.001: of \d+ seeds that leaves \d+ to learn from and 0 to judge by"):
        make_model(name, device="cpu", dev_fraction=0.001).fit(task)


@pytest.mark.slow
def test_a_changed_model_keeps_what_it_has_learnt(fitted, task):
    changed = fitted.changed(k=5)
    assert fitted.options.k == 50
    assert changed.options == replace(fitted.options, k=5)
    assert changed.history is fitted.history
    assert changed.predict(task, task.seeds).scores.shape[1] <= 20


@pytest.mark.slow
def test_confident_links_are_learnt_from_and_are_never_development_links(task):
    """The first network of a training is the one without the development links."""
    learnt_from = []

    @dataclass(frozen=True)
    class Recording(GCNAlign):
        def build(self, task, device):
            learnt_from.append(set(task.seeds.keys.tolist()))
            return super().build(task, device)

    options = {**GCNAlign().capabilities.quick_options, "epochs": 1}
    model = Recording(device="cpu", refit=True, **options).fit(task)
    plain, seeds = learnt_from[0], set(task.seeds.keys.tolist())
    confident = Alignment(np.column_stack([task.queries, task.pool]))
    clashing = Alignment(np.column_stack([task.seeds.sources[:1], task.pool[-1:]]))
    learnt_from.clear()
    model.predict(task, task.seeds + clashing + confident)
    assert learnt_from == [plain | set(confident.keys.tolist()), seeds | set(confident.keys.tolist())]


def test_a_model_is_registered_under_its_own_name():
    for name in MODELS:
        if issubclass(kind := MODELS[name], EmbeddingModel):
            assert kind.name == name


def test_neighbours_are_normalised_by_hand():
    triples = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 2], [2, 0, 2]])  # a path 0 - 1 - 2, one edge twice, one loop
    matrix = neighbour_matrix(triples, 3)
    np.testing.assert_array_equal(matrix.toarray(), [[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    np.testing.assert_allclose(normalised(matrix, "mean").toarray(), [[1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3], [0, 1 / 2, 1 / 2]])
    off = 1 / np.sqrt(6)
    np.testing.assert_allclose(normalised(matrix, "symmetric").toarray(), [[1 / 2, off, 0], [off, 1 / 3, off], [0, off, 1 / 2]])


def test_triples_count_by_the_functionality_of_their_relation():
    triples = np.array([[0, 0, 2], [1, 0, 2], [0, 1, 1]])  # two heads of one tail; one of one
    np.testing.assert_allclose(functionality(triples, 0), [1, 1])
    np.testing.assert_allclose(functionality(triples, 2), [0.5, 1])
    matrix = neighbour_matrix(triples, 3, functionality(triples, 2), functionality(triples, 0))
    np.testing.assert_allclose(matrix.toarray(), [[1, 1, 1], [1, 1, 1], [0.5, 0.5, 1]])


def test_attributes_of_the_same_iri_are_one_column():
    task = task_of(graph(["a", "b"]), graph(["A"]))
    task = replace(
        task,
        source=replace(
            task.source, attributes=Attributes(["x/height", "x/age"], np.array([[0, 0], [0, 0], [1, 1]]), ["1", "2", "3"])
        ),
        target=replace(task.target, attributes=Attributes(["x/age", "x/name"], np.array([[0, 0], [0, 1]]), ["3", "A"])),
    )
    np.testing.assert_array_equal(attribute_matrix(task, 3).toarray(), [[1, 0, 0], [0, 1, 0], [0, 1, 1]])
    np.testing.assert_array_equal(attribute_matrix(task, 1).toarray(), [[0], [1], [1]])
    assert attribute_matrix(task_of(graph(["a"]), graph(["A"])), 3) is None


def test_attributes_without_a_common_iri_go_by_their_local_name():
    task = task_of(graph(["a"]), graph(["A"]))
    facts = np.array([[0, 0]])
    task = replace(
        task,
        source=replace(task.source, attributes=Attributes(["http://fr/age"], facts, ["3"])),
        target=replace(task.target, attributes=Attributes(["http://en/age"], facts, ["3"])),
    )
    np.testing.assert_array_equal(attribute_matrix(task, 5).toarray(), [[1], [1]])


def test_the_source_of_a_known_link_has_the_row_of_its_target():
    rows = torch.arange(5.0)[:, None]
    assert share_rows(rows, Alignment(np.array([[1, 0]])), 3).flatten().tolist() == [0, 3, 2, 3, 4]


def test_a_sparse_product_and_its_gradients_are_those_of_the_dense_one():
    random = torch.Generator().manual_seed(0)
    dense = torch.tensor([[0.0, 2, 0], [1, 0, 3], [0, 0, 0], [4, 0, 0]])
    matrix = SparseMatrix.of(dense.numpy(), CPU)
    states, aim = (torch.rand(size, 2, generator=random, requires_grad=True) for size in (3, 4))
    values = matrix.values.clone().requires_grad_()
    (matrix.times(states, values) * aim).sum().backward()
    by_hand, whole = states.detach().clone().requires_grad_(), dense.clone().requires_grad_()
    (whole @ by_hand * aim.detach()).sum().backward()
    torch.testing.assert_close(states.grad, by_hand.grad)
    torch.testing.assert_close(values.grad, whole.grad[matrix.rows, matrix.columns])


def test_the_margin_loss_by_hand(monkeypatch):
    vectors = torch.tensor([[0.0, 0], [5, 5], [1, 0], [0, 4]], requires_grad=True)
    pairs, wrong_sources, wrong_targets = torch.tensor([[0, 2], [1, 3]]), torch.tensor([[1], [0]]), torch.tensor([[3], [2]])
    # 0-2: 1 + 3 - |0 3| = 0, 1 + 3 - |1 2| < 0; 1-3: 6 + 3 - |1 2| = 0, 6 + 3 - |0 3| = 5
    loss = margin_loss(vectors, pairs, wrong_sources, wrong_targets, 3.0)
    assert loss.item() == pytest.approx(5 / 4)
    loss.backward()
    whole, vectors.grad = vectors.grad, None
    monkeypatch.setattr("kgalign.models.embedding.layers.BLOCK", 1)
    margin_loss(vectors, pairs, wrong_sources, wrong_targets, 3.0).backward()
    torch.testing.assert_close(vectors.grad, whole)


def test_relations_are_similar_by_the_heads_and_tails_they_share():
    source = graph(["a", "b", "c"], [("a", "r", "b"), ("c", "r", "b"), ("a", "s", "c"), ("a", "s", "b")])
    triples = joint_triples(task_of(source, graph(["d"], [("d", "t", "d")])))
    assert triples[-1].tolist() == [3, 2, 3]
    # heads: r a c, s a; tails: r b, s b c; t has its own entity for both
    near = dual_graph(*(incidence(triples, end, 3, 4) for end in (0, 2)))
    np.testing.assert_allclose(near, [[2, 1, 0], [1, 2, 0], [0, 0, 2]])


def test_the_attention_of_each_head_adds_up_to_one():
    triples = np.array([[0, 0, 1], [2, 1, 1], [0, 1, 1], [0, 2, 3], [2, 2, 0]])
    attention = TripleAttention(triples, 4, CPU)
    weights = attention.coefficients(torch.tensor([[1.0], [-500.0], [200.0]]))
    assert np.bincount(triples[:, 0], weights.numpy()).tolist() == pytest.approx([1, 0, 1])
    even = attention(torch.eye(4), torch.zeros(3, 1))
    np.testing.assert_allclose(even, [[0, 2 / 3, 0, 1 / 3], [0, 0, 0, 0], [1 / 2, 1 / 2, 0, 0], [0, 0, 0, 0]])


def test_rdgcn_needs_something_to_start_from():
    with pytest.raises(OptionError, match="expected one or the other"):
        make_model("rdgcn", ngrams=0)


def test_rdgcn_takes_word_vectors_alone(task, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("heure 1 0\ntime 1 0.1\nde 0 1\n")
    model = make_model("rdgcn", device="cpu", ngrams=0, word_vectors=str(path), negatives=2, epochs=1).fit(task)
    candidates = model.predict(task, task.seeds)
    assert len(candidates) == len(task.queries)
    model.save(tmp_path)
    path.unlink()
    again = type(model.options).load(tmp_path, device="cpu").predict(task, task.seeds)
    assert again.scores.tobytes() == candidates.scores.tobytes(), "a trained model does without the file"
