import gzip

import numpy as np
import pytest

from kgalign import DataError, OptionError
from kgalign.features.text import comparable, ngram_vectors, scripts, word_vectors
from kgalign.features.words import fold


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Abdullah_Gül", "abdullah gul"),
        ("  Łódź (Polska) ", "lodz polska"),
        ("STRASSE Straße", "strasse strasse"),
        ("東京", "東京"),
        ("が", "が"),
        ("กรุงเทพ, हिन्दी", "กรุงเทพ हिन्दी"),
        ("Ελλάδα", "ελλαδα"),
        ("", ""),
    ],
)
def test_fold_keeps_words_of_any_script(name, expected):
    assert fold(name) == expected


def test_names_in_two_scripts_are_compared_in_latin_letters():
    assert comparable(["Москва", "Тверь 1"], ["Moscow", "Tver"]) == (["Moskva", "Tver' 1"], ["Moscow", "Tver"])
    source, target = ngram_vectors(["Москва", "Тверь"], ["Moskva", "Tver"])
    assert (source @ target.T).toarray().argmax(axis=1).tolist() == [0, 1]


@pytest.mark.parametrize("names", [["東京", "Osaka (大阪)"], ["Łódź", "Київ A"], ["", "42"]])
def test_names_in_one_script_stay_as_they_are(names):
    other = ["京都", "大阪"] if "東京" in names else ["Lodz", "Q42"]
    assert comparable(names, other) == (names, other)


def test_scripts_are_told_by_their_letters():
    assert scripts(["abcd 12", "猫", "a猫"]) == {"LATIN": 0.5, "CJK": 0.5}
    assert scripts(["42", ""]) == {}


def test_equal_names_have_cosine_one_and_strangers_zero():
    source, target = ngram_vectors(["Café Noir", "東京", ""], ["cafe noir", "xyz", "東京"])
    cosines = (source @ target.T).toarray()
    assert cosines[0, 0] == pytest.approx(1)
    assert cosines[1, 2] == pytest.approx(1)
    assert cosines[0, 1] == cosines[0, 2] == 0
    assert not cosines[2].any()


def test_ngrams_do_not_reach_over_words_nor_names():
    source, target = ngram_vectors(["ab", "cd"], ["b c"])
    # a, b, " a", "ab", "b ", " ab", "ab " against b, c, " b", "b ", " c", "c ", " b ", " c "
    assert (source[[0]].toarray() > 0).sum() == 7
    assert (target.toarray() > 0).sum() == 8
    assert (source[[0]].multiply(target) > 0).sum() == 2


def test_rare_ngrams_weigh_more():
    source, _ = ngram_vectors(["ax", "ay", "az"], ["aq"], longest=1)
    row = source[[0]].toarray().ravel()
    assert row[row > 0].tolist() == sorted(row[row > 0].tolist())
    assert row[row > 0][0] < row[row > 0][1]


@pytest.mark.parametrize("header", ["", "3 2\n"])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_word_vectors_read_glove_and_word2vec(tmp_path, header, ending):
    text = f"{header}new 1 0\nyork 0 1\n. . 5 5\n".encode()
    path = tmp_path / f"vectors{ending}"
    path.write_bytes(gzip.compress(text) if ending else text)
    source, target = word_vectors(["New York", "nowhere"], ["york"], path)
    np.testing.assert_allclose(source, [[np.sqrt(0.5), np.sqrt(0.5)], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(target, [[0, 1]])


def test_names_without_letters_have_no_vector():
    source, target = ngram_vectors(["!!!"], ["???"])
    assert (source.nnz, target.nnz) == (0, 0)


def test_ngrams_longer_than_three_are_refused():
    with pytest.raises(OptionError, match="expected 1, 2 or 3"):
        ngram_vectors(["a"], ["b"], longest=4)


def test_word_vectors_name_the_broken_line(tmp_path):
    (tmp_path / "vectors").write_text("new 1 0\nyork 0 one\n")
    with pytest.raises(DataError, match="vectors:2: expected a word and 2 numbers"):
        word_vectors(["york"], [], tmp_path / "vectors")


def test_word_vectors_that_know_no_word_are_refused(tmp_path):
    (tmp_path / "vectors").write_text("new 1 0\n")
    with pytest.raises(DataError, match="none of the 1 words"):
        word_vectors(["york"], [], tmp_path / "vectors")
