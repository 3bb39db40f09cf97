"""The words of many texts at once are those of each text by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgalign.features import words
from kgalign.features.words import Words, fold, stem

TEXTS = st.lists(st.text(st.sampled_from("aAbdeginsxyé ß東\n-_'1\ud800\x00"), max_size=12), max_size=20)


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "TEXTS", 3)
        yield


@given(TEXTS)
def test_words_are_those_of_each_text_in_the_order_in_which_they_first_occur(texts):
    found = Words.of(texts)
    expected = [fold(text).split() for text in texts]
    own = [[found.different[at] for at in found.ids[start:end]] for start, end in zip(found.starts, found.starts[1:], strict=False)]
    assert own == expected
    assert list(found.different) == list(dict.fromkeys(word for text in expected for word in text))


@given(TEXTS)
def test_letters_are_the_same_whatever_blanks_are_between_them(texts):
    numbers = Words.of(texts).letter_numbers().tolist()
    joined = [stem(fold(text).replace(" ", "")) for text in texts]
    assert len(set(zip(numbers, joined, strict=True))) == len(set(numbers)) == len(set(joined))
