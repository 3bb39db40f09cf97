"""All names of entities: which pair of names counts, by rank and language, and which names are equal."""

import numpy as np
import pytest
from scipy import sparse

from kgalign import KnowledgeGraph, Name
from kgalign.data import ALTERNATIVE, FROM_IRI, PREFERRED
from kgalign.features.names import (
    ACROSS_LANGUAGES,
    OTHER_RANK,
    NamePair,
    NameSimilarity,
    equal_names,
    ngram_similarity,
    other_languages,
    word_similarity,
)
from kgalign.features.text import ngram_vectors
from kgalign.features.words import Words


def stems_of(text):
    stems = Words.of([text]).stems
    return [stems.different[number] for number in stems.ids]


def named(*lists):
    """A graph of entities with those lists of names; a text stands for one preferred name without a language."""
    lists = [[Name(own)] if isinstance(own, str) else list(own) for own in lists]
    return KnowledgeGraph([f"http://x/{number}" for number in range(len(lists))], [], np.empty((0, 3), np.int64), lists)


def compare(similarity, source=0, target=0):
    return float(similarity.compare(np.array([source]), np.array([target]))[0])


def one_pair(make, source, target):
    """The similarity of two entities with those names."""
    return compare(make(named(source), named(target)))


def languages_of(source, target):
    return other_languages(ngram_similarity(source, target))


ENGLISH, FRENCH, GERMAN = (Name("violin", "en"), Name("violon", "fr"), Name("Geige", "de"))


def test_the_best_pair_of_names_counts():
    source, target = named([Name("fiddle"), Name("violin")]), named([Name("bow"), Name("string"), Name("violin")])
    similarity = ngram_similarity(source, target)
    assert compare(similarity) == pytest.approx(1, abs=1e-6)
    left, right = similarity.best_names(np.array([0]), np.array([0]))
    assert (source.names.text[left[0]], target.names.text[right[0]]) == ("violin", "violin")


def test_entities_without_names_or_anything_in_common_have_no_similarity():
    similarity = ngram_similarity(named([], "violin"), named("drum", []))
    assert similarity.compare(np.array([0, 1, 1]), np.array([0, 1, 0])).tolist() == [0, 0, 0]
    assert [side.tolist() for side in similarity.best_names(np.array([0, 1]), np.array([0, 0]))] == [[-1, -1], [-1, -1]]


def test_an_alternative_name_counts_for_less_than_a_preferred_one():
    preferred, alternative = [Name("violin"), Name("bow", rank=ALTERNATIVE)], [Name("bow"), Name("violin", rank=ALTERNATIVE)]
    assert one_pair(ngram_similarity, preferred, "violin") == pytest.approx(1, abs=1e-6)
    assert one_pair(ngram_similarity, alternative, "violin") == pytest.approx(OTHER_RANK, abs=1e-6)
    assert OTHER_RANK < 1
    both = one_pair(ngram_similarity, alternative, [Name("drum"), Name("violin", rank=ALTERNATIVE)])
    assert both == pytest.approx(OTHER_RANK**2, abs=1e-6)


@pytest.mark.parametrize("rank", [ALTERNATIVE, FROM_IRI])
def test_names_of_the_best_rank_that_an_entity_has_count_in_full(rank):
    assert one_pair(ngram_similarity, [Name("violin", rank=rank)], "violin") == pytest.approx(1, abs=1e-6)


def test_equal_names_of_two_languages_count_for_less_where_the_graphs_have_a_common_language():
    source, target = named([Name("chat", "en")], [Name("violon", "fr")]), named([Name("chat", "fr")], [ENGLISH])
    similarity = ngram_similarity(source, target)
    assert compare(similarity) == pytest.approx(ACROSS_LANGUAGES, abs=1e-6)


def test_names_of_two_languages_count_in_full_where_the_graphs_have_no_language_in_common():
    assert one_pair(ngram_similarity, [Name("Paris", "fr")], [Name("Paris", "en")]) == pytest.approx(1, abs=1e-6)


def test_a_name_without_a_language_meets_all_languages_in_full():
    source, target = named([Name("Paris")], [FRENCH]), named([Name("Paris", "en")], [FRENCH])
    assert compare(ngram_similarity(source, target)) == pytest.approx(1, abs=1e-6)


def test_regions_of_a_language_are_one_language():
    source, target = named([Name("colour", "en-GB")]), named([Name("colour", "EN-us")])
    assert compare(ngram_similarity(source, target)) == pytest.approx(1, abs=1e-6)
    assert languages_of(source, target) is not None


def test_names_in_the_same_language_win_over_the_same_word_in_another():
    source = named([Name("gift", "en")])
    target = named([Name("Gift", "de"), Name("poison", "en")], [Name("gift", "en"), Name("Geschenk", "de")])
    similarity = ngram_similarity(source, target)
    assert compare(similarity, 0, 1) > compare(similarity, 0, 0)


def test_graphs_with_one_name_for_each_entity_have_the_products_of_their_vectors():
    source, target = ["Paris", "", "Lyon", "São Paulo"], ["Paris (France)", "Lyons", "", "Sao Paulo", "Rio"]
    similarity = ngram_similarity(named(*source), named(*target))
    vectors = ngram_vectors(source, target)
    rows, columns = (each.ravel() for each in np.meshgrid(np.arange(4), np.arange(5), indexing="ij"))
    plain = (vectors[0] @ vectors[1].T).toarray()
    assert plain.any()
    found = similarity.compare(rows, columns).reshape(4, 5)
    # Empty names are left out of the graphs' names, and count as documents in the vectors alone.
    assert (found > 0).tolist() == (plain > 0).tolist()
    full_source, full_target = [name for name in source if name], [name for name in target if name]
    vectors = ngram_vectors(full_source, full_target)
    np.testing.assert_allclose(found[np.ix_([0, 2, 3], [0, 1, 3, 4])], (vectors[0] @ vectors[1].T).toarray(), rtol=1e-5, atol=1e-6)


def test_search_finds_an_entity_by_an_alternative_name():
    source = named("drum", "fiddle")
    target = named("harp", [Name("violin"), Name("fiddle", rank=ALTERNATIVE)], "flute")
    rows, targets = ngram_similarity(source, target).search(
        np.array([1]), np.arange(3), 1, both_directions=False, effort=None, seed=0
    )
    assert (rows.tolist(), targets.tolist()) == ([0], [1])


def test_search_returns_a_pair_once_however_many_names_find_it_and_keeps_to_the_pool():
    source = named("harp", [Name("fiddle"), Name("violin")])
    target = named([Name("violin"), Name("fiddle")], [Name("fiddle"), Name("violins")])
    rows, targets = ngram_similarity(source, target).search(
        np.array([1, 0]), np.array([1]), 5, both_directions=True, effort=None, seed=0
    )
    assert list(zip(rows.tolist(), targets.tolist(), strict=True)) == [(0, 1)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Guitar", "guitars"),
        ("box", "Boxes"),
        ("study", "Studies"),
        ("church", "churches"),
        ("brushes", "brush"),
        ("The Beatles", "Beatles"),
        ("cheval", "chevaux"),
        ("der Baum", "Baum"),
        ("São Paulo", "sao paulo"),
        ("has author", "author"),
    ],
)
def test_inflections_articles_and_accents_do_not_change_the_stems(one, other):
    assert stems_of(one) == stems_of(other)


@pytest.mark.parametrize(
    ("one", "other"), [("gas", "ga"), ("bus", "bu"), ("basis", "base"), ("glass", "glas"), ("Apollo 11", "Apollo 1")]
)
def test_endings_that_are_none_stay(one, other):
    assert stems_of(one) != stems_of(other)


def test_each_character_of_a_script_without_spaces_is_a_word():
    assert stems_of("東京都") == ["東", "京", "都"]
    assert stems_of("東京 Tower") == ["東", "京", "tower"]


def test_a_name_of_nothing_but_articles_keeps_its_words():
    assert stems_of("The The") == ["the", "the"]
    assert stems_of("?!") == []


def test_word_similarity_does_not_depend_on_the_order_of_words():
    assert one_pair(word_similarity, "guitars, electric", "Electric guitar") == pytest.approx(1, abs=1e-6)


def test_a_rare_common_word_counts_for_more_than_a_frequent_one():
    source = named("river Danube", *[f"river {word}" for word in ("alpha", "beta", "gamma", "delta")])
    target = named("Danube stream", "river Omega", *[f"river {word}" for word in ("kappa", "sigma", "theta")])
    similarity = word_similarity(source, target)
    assert compare(similarity, 0, 0) > compare(similarity, 0, 1) > 0


def test_graphs_without_any_words_can_be_compared():
    for make in (word_similarity, equal_names, ngram_similarity):
        assert one_pair(make, "", []) == 0
        assert one_pair(make, "?!", "?!") == 0


def test_an_equal_name_that_is_unique_in_both_graphs_counts_in_full():
    similarity = equal_names(named("Paris", "Lyon"), named("paris", "Rome"))
    assert compare(similarity) == pytest.approx(1)
    assert compare(similarity, 1, 1) == 0


def test_an_equal_name_counts_for_less_the_more_entities_share_it():
    shared_once = equal_names(named("Paris", "Lyon"), named("Paris", "Paris"))
    shared_twice = equal_names(named("Paris", "Paris"), named("Paris", "Paris"))
    assert compare(shared_once) == pytest.approx(np.sqrt(1 / 2))
    assert compare(shared_twice) == pytest.approx(1 / 2)


def test_the_same_name_in_two_languages_of_one_entity_is_not_shared():
    similarity = equal_names(named([Name("Paris", "fr"), Name("Paris", "en")]), named([Name("Paris", "en")]))
    assert compare(similarity) == pytest.approx(1)


def test_a_preferred_name_is_not_shared_with_those_that_have_it_as_an_alternative():
    target = named("violin", [Name("viola"), Name("violin", rank=ALTERNATIVE)])
    similarity = equal_names(named("violin"), target)
    assert compare(similarity, 0, 0) == pytest.approx(1)
    assert compare(similarity, 0, 1) == pytest.approx(OTHER_RANK * np.sqrt(1 / 2))


def test_other_languages_are_evidence_against_names_that_differ_in_a_common_language():
    source = named([Name("gift", "en"), Name("cadeau", "fr")])
    target = named([Name("gift", "en"), Name("venin", "fr")], [Name("gift", "en"), Name("cadeau", "fr")])
    evidence = languages_of(source, target)
    assert compare(evidence, 0, 0) < -0.3
    assert compare(evidence, 0, 1) == pytest.approx(0, abs=1e-6)


def test_other_languages_leave_alternative_names_alone():
    source = named([Name("gift", "en"), Name("cadeau", "fr", ALTERNATIVE)])
    target = named([Name("gift", "en"), Name("venin", "fr", ALTERNATIVE)])
    assert compare(languages_of(source, target)) == pytest.approx(0, abs=1e-6)


def test_other_languages_say_nothing_of_a_pair_without_a_common_language():
    source, target = named([FRENCH], [ENGLISH]), named([GERMAN], [ENGLISH])
    assert compare(languages_of(source, target), 0, 0) == 0


def test_graphs_without_a_common_language_have_no_evidence_of_other_languages():
    assert languages_of(named([FRENCH]), named([ENGLISH])) is None
    assert languages_of(named("violin"), named("violin")) is None


@pytest.mark.parametrize("make", [ngram_similarity, word_similarity, equal_names, languages_of])
def test_names_compare_the_same_in_both_directions(make):
    one = named([ENGLISH, Name("fiddle", "en", ALTERNATIVE)], "Paris", [FRENCH, Name("lyre", rank=FROM_IRI)])
    other = named([Name("fiddles", "en"), GERMAN], [Name("Paris", "fr", PREFERRED)], [Name("violon", "fr-CA"), Name("lyre", "en")])
    rows, columns = (each.ravel() for each in np.meshgrid(np.arange(3), np.arange(3), indexing="ij"))
    forth, back = make(one, other).compare(rows, columns), make(other, one).compare(columns, rows)
    assert forth.any()
    np.testing.assert_allclose(forth, back, atol=1e-6)


def test_the_best_pair_counts_where_vectors_are_longer_than_one():
    """Word vectors beside n-grams make longer vectors: a pair of less weight may have the larger product."""
    pair = NamePair.of(named([Name("bow"), Name("violin", rank=ALTERNATIVE)]).names, named("violin").names)
    vectors = (
        sparse.csr_array(np.array([[1.0, 0, 0], [0.9, 0.0, 1.5]], np.float32)),
        sparse.csr_array(np.array([[0.9, 0, 1.0]], np.float32)),
    )
    assert compare(NameSimilarity(pair, *vectors)) == pytest.approx(OTHER_RANK * (0.81 + 1.5))
