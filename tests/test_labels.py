"""Names by class: which properties hold them, in which language and order, and what is refused."""

import time

import pytest

from kgalign import Name, OptionError, read, read_graph
from kgalign.data import ALTERNATIVE, FROM_IRI, PREFERRED

PREFIXES = """@prefix : <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix obo: <http://www.geneontology.org/formats/oboInOwl#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
"""
WORDS = ["amber", "birch", "cedar", "dahlia", "elder", "fern", "gentian", "hazel", "iris", "jasmine", "kale", "laurel"]


def graph_of(folder, text, name="g.ttl", **options):
    path = folder / name
    path.write_text(PREFIXES + text, encoding="utf-8")
    return read_graph(path, **options)


def names_of(graph, entity):
    return graph.names.of_entity(graph.entities.index(f"http://x/{entity}"))


def texts_of(graph, entity):
    return [name.text for name in names_of(graph, entity)]


def naming_of(graph, name):
    return next(each for each in graph.record["names by class"] if each["class"] in (name, f"http://x/{name}"))


def restaurants(name="name"):
    """Twelve restaurants with names of their own in two cities that share a property with them, and with streets."""
    rows = (
        f':R{i} a :Restaurant ; :{name} "the {word}" ; :street "{word} street" ; :category "fish" ; :in :C{i} .\n'
        f':C{i} a :City ; :{name} "{"Oslo" if i % 2 else "Rome"}" .\n'
        for i, word in enumerate(WORDS)
    )
    return "".join(rows)


def test_labels_of_the_schema_do_not_hide_that_individuals_have_none(tmp_path):
    classes = "".join(f':{word} a owl:Class ; rdfs:label "{word}" .\n' for word in WORDS)
    graph = graph_of(tmp_path, classes + "".join(f":i{i} a :amber ; :next :i{i + 1} .\n" for i in range(12)))
    assert naming_of(graph, "amber")["names"] == []
    assert naming_of(graph, "classes")["names"] == ["rdfs:label on 100% (well known)"]
    assert (texts_of(graph, "i3"), texts_of(graph, "fern")) == ([], ["fern"])
    assert graph.record["individuals with a label"] == 0
    assert graph.record["subjects with a label"] == 0.5


def test_individuals_have_their_own_label_property_beside_a_labelled_schema(tmp_path):
    classes = "".join(f':{word}Class a owl:Class ; rdfs:label "{word}" .\n' for word in WORDS)
    graph = graph_of(tmp_path, classes + "".join(f':i{i} a :amberClass ; :called "old {word}" .\n' for i, word in enumerate(WORDS)))
    assert texts_of(graph, "i3") == ["old dahlia"]


def test_a_property_that_two_classes_share_is_judged_for_each(tmp_path):
    graph = graph_of(tmp_path, restaurants())
    assert naming_of(graph, "Restaurant")["names"] == ["http://x/name on 100% (by its own name)"]
    assert naming_of(graph, "City")["names"] == []
    assert naming_of(graph, "City")["no names"] == ["http://x/name on 100% (many share a value)"]
    assert (texts_of(graph, "R0"), texts_of(graph, "C0")) == (["the amber"], [])
    values = {graph.attributes.values[row] for row in range(len(graph.attributes.values))}
    assert {"Oslo", "Rome"} <= values, "what is no name stays a value"


@pytest.mark.parametrize("name", ["name", "denomination"])
def test_a_street_is_no_name_of_a_restaurant(tmp_path, name):
    graph = graph_of(tmp_path, restaurants(name))
    assert texts_of(graph, "R0") == ["the amber"]
    refused = naming_of(graph, "Restaurant")["no names"]
    assert "http://x/street on 100% (not needed)" in refused
    assert "http://x/category on 100% (many share a value)" in refused


def test_the_name_of_another_thing_is_no_name(tmp_path):
    graph = graph_of(tmp_path, "".join(f':b{i} :title "on {word}" ; :authorName "A. {word}" .\n' for i, word in enumerate(WORDS)))
    assert texts_of(graph, "b0") == ["on amber"]


def test_a_property_on_few_subjects_is_refused_as_such(tmp_path):
    rows = "".join(f":i{i} :size {i} .\n" for i in range(40))
    graph = graph_of(tmp_path, rows + ':i1 :called "amber" . :i2 :called "birch" .\n')
    (named,) = graph.record["names by class"]
    assert sorted(named["no names"]) == ["http://x/called on 5% (on few subjects)", "http://x/size on 100% (not text)"]
    assert graph.record["names from"] == "nothing"


def test_a_title_one_or_two_steps_away_is_a_name(tmp_path):
    graph = graph_of(
        tmp_path,
        """:w1 :hasTitle "Don Giovanni" ; :by :Mozart . :w2 :hasTitle [ rdfs:label "Fidelio" ] ; :by :Beethoven .
        :w3 :hasTitle :t3 ; :by :Verdi . :t3 a :Title ; :has_appellation [ <http://www.w3.org/1999/02/22-rdf-syntax-ns#value> "Aida" ] .""",
    )
    assert [texts_of(graph, work) for work in ("w1", "w2", "w3")] == [["Don Giovanni"], ["Fidelio"], ["Aida"]]
    assert "http://x/t3" not in graph.entities


@pytest.mark.parametrize(("given", "family"), [(":given_name", ":surname"), ("foaf:firstName", "foaf:lastName")])
def test_a_given_name_and_a_surname_are_one_name(tmp_path, given, family):
    rows = "".join(f':p{i} a :Person ; {given} "Anna" ; {family} "{word.title()}" ; :age {i} .\n' for i, word in enumerate(WORDS))
    graph = graph_of(tmp_path, rows + f':q a :Person ; {given} "Cher" .\n')
    assert (texts_of(graph, "p0"), texts_of(graph, "q")) == (["Anna Amber"], ["Cher"])
    assert "(parts of a name)" in naming_of(graph, "Person")["names"][0]
    assert "Amber" in graph.attributes.values, "the parts are values too"


def test_further_names_are_alternatives(tmp_path):
    graph = graph_of(
        tmp_path,
        """:arm a skos:Concept ; skos:prefLabel "arm"@en , "Arm"@de ; skos:altLabel "upper limb"@en ; skos:hiddenLabel "amr"@en ;
        obo:hasExactSynonym "brachium" ; obo:hasRelatedSynonym "forelimb" ; xl:altLabel [ xl:literalForm "brazo"@es ] ;
        :synonymSource "a book" ; skos:definition "a part of the body" .""",
    )
    names = names_of(graph, "arm")
    assert names[:2] == [Name("arm", "en", PREFERRED), Name("Arm", "de", PREFERRED)]
    assert {name.text for name in names[2:]} == {"upper limb", "amr", "brachium", "forelimb", "brazo"}
    assert {name.rank for name in names[2:]} == {ALTERNATIVE}


def test_a_node_with_a_preferred_label_of_skosxl_is_folded_into_its_concept(tmp_path):
    graph = graph_of(tmp_path, ':arm a skos:Concept ; xl:prefLabel [ a xl:Label ; xl:literalForm "arm"@en ] .')
    assert names_of(graph, "arm") == [Name("arm", "en", PREFERRED)]
    assert graph.record["folded nodes"] == "1 name node"


def test_a_name_that_is_repeated_counts_once_in_a_language(tmp_path):
    graph = graph_of(
        tmp_path, ':a rdfs:label "Café"@en , "Café"@fr ; skos:altLabel "cafe"@en , "bar" ; :near :b . :b rdfs:label "b" .'
    )
    assert [(name.text, name.language) for name in names_of(graph, "a")] == [("Café", "en"), ("Café", "fr"), ("bar", "")]


def test_the_words_of_the_iri_are_one_more_name_of_a_class_alone(tmp_path):
    graph = graph_of(tmp_path, ':HeartValve a owl:Class ; rdfs:label "valve" . :Anna_Berg rdfs:label "A. Berg" ; :knows :BobRay .')
    assert names_of(graph, "HeartValve") == [Name("valve"), Name("Heart Valve", "", FROM_IRI)]
    assert (texts_of(graph, "Anna_Berg"), names_of(graph, "BobRay")) == (["A. Berg"], [Name("Bob Ray", "", FROM_IRI)])


def test_the_best_property_and_then_no_language_and_english_are_shown(tmp_path):
    graph = graph_of(
        tmp_path,
        """:a skos:altLabel "4"@en ; foaf:name "3"@en ; rdfs:label "2"@en ; skos:prefLabel "1"@en .
        :b rdfs:label "neun"@de , "nove"@it , "nine"@en . :c rdfs:label "dix"@fr , "10" .
        :d rdfs:label "one"@en . :e rdfs:label "two"@en .""",
    )
    assert texts_of(graph, "a") == ["1", "2", "3", "4"]
    assert [graph.names[graph.entities.index(f"http://x/{entity}")] for entity in "abc"] == ["1", "nine", "10"]


def test_given_labels_are_the_only_names(tmp_path):
    text = "".join(f':p{i} rdfs:label "{word}" ; :code "X {word} {i}" .\n' for i, word in enumerate(WORDS))
    graph = graph_of(tmp_path, text, labels=["http://x/code"])
    assert texts_of(graph, "p0") == ["X amber 0"]
    assert naming_of(graph, "no class")["no names"] == ["rdfs:label on 100% (not needed)"]
    both = graph_of(tmp_path, text, labels=["http://x/code", "rdfs:label"])
    assert texts_of(both, "p0") == ["X amber 0", "amber"]


IN_LANGUAGES = """:a rdfs:label "chat"@fr , "cat"@en , "felis"@und ; skos:altLabel "minou"@fr .
:b rdfs:label "chien"@fr-CA , "dog"@en , "canis" . :c rdfs:label "horse"@en , "equus" . :d rdfs:label "cow"@en .
"""


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("fr", [["chat", "minou"], ["chien"], ["equus"], ["cow"]]),
        ("fre", [["chat", "minou"], ["chien"], ["equus"], ["cow"]]),
        ("none", [["felis"], ["canis"], ["equus"], ["cow"]]),
        ("und", [["felis"], ["canis"], ["equus"], ["cow"]]),
    ],
)
def test_a_given_language_leaves_no_others_where_an_entity_has_it(tmp_path, language, expected):
    graph = graph_of(tmp_path, IN_LANGUAGES, languages=[language])
    assert [texts_of(graph, entity) for entity in "abcd"] == expected


def test_all_languages_count_where_none_is_given(tmp_path):
    graph = graph_of(tmp_path, IN_LANGUAGES)
    assert set(texts_of(graph, "a")) == {"chat", "cat", "felis", "minou"}
    assert graph.record["language of the names"] == "en"


def test_each_graph_has_its_own_given_language(tmp_path):
    graph_of(tmp_path, IN_LANGUAGES, "l.ttl")
    task, _ = read(tmp_path / "l.ttl", tmp_path / "l.ttl", languages=["fr", "none"])
    assert (task.source.names[0], task.target.names[0]) == ("chat", "felis")
    both, _ = read(tmp_path / "l.ttl", tmp_path / "l.ttl", languages=["fr"])
    assert (both.source.names[0], both.target.names[0]) == ("chat", "chat")
    with pytest.raises(OptionError, match=r"`languages` de: no name is in this language; there are en \(100%\)"):
        read(tmp_path / "l.ttl", tmp_path / "l.ttl", languages=["fr", "de"])
    with pytest.raises(OptionError, match="expected one language, or one for each of the 2 graphs"):
        read(tmp_path / "l.ttl", tmp_path / "l.ttl", languages=["fr", "en", "it"])


def test_given_names_replace_all_names_of_their_entities_alone(tmp_path):
    graph_of(tmp_path, IN_LANGUAGES, "l.ttl")
    (tmp_path / "names.tsv").write_text("http://x/a\tcat  of ours\nhttp://x/d\t \n")
    task, _ = read(tmp_path / "l.ttl", tmp_path / "l.ttl", names_source=tmp_path / "names.tsv")
    assert names_of(task.source, "a") == [Name("cat of ours")]
    for entity in "bcd":
        assert names_of(task.source, entity) == names_of(task.target, entity)
    assert len(names_of(task.source, "b")) == 3
    assert (task.source.record["names from a table"], len(names_of(task.target, "a"))) == (1, 4)


def test_names_can_be_withheld(tmp_path):
    graph_of(tmp_path, IN_LANGUAGES, "l.ttl")
    task, _ = read(tmp_path / "l.ttl", tmp_path / "l.ttl", names=False)
    assert [(list(graph.names), len(graph.names.text)) for graph in (task.source, task.target)] == [([""] * 4, 0)] * 2
    assert len(task.queries) == 4
    assert task.source.record["names from"] == "nothing, since they are withheld"
    with pytest.raises(OptionError, match="all names are withheld"):
        read(tmp_path / "l.ttl", tmp_path / "l.ttl", names=False, labels=["rdfs:label"])


def test_thousands_of_properties_that_say_that_they_hold_names_are_looked_through_in_linear_time(tmp_path):
    lines = (f'<http://x/{number}> <http://x/{number}/name> "Name {number}" .\n' for number in range(6_000))
    (tmp_path / "g.nt").write_text("".join(lines), "utf-8")
    began = time.process_time()
    graph = read_graph(tmp_path / "g.nt")
    assert "Name 17" in graph.names
    assert time.process_time() - began < 10


def test_small_classes_are_not_called_no_class(tmp_path):
    typed = "".join(f'<http://x/{n}> a <http://x/C{n % 3}> ; <http://x/n> "name {n}" .\n' for n in range(15))
    (tmp_path / "g.ttl").write_text(typed)
    assert [each["class"] for each in read_graph(tmp_path / "g.ttl").record["names by class"]] == [
        "classes with fewer than 10 members"
    ]
    (tmp_path / "g.ttl").write_text(typed + '<http://x/other> <http://x/n> "other" .\n')
    (found,) = read_graph(tmp_path / "g.ttl").record["names by class"]
    assert (found["class"], found["subjects"]) == ("no class, or classes with fewer than 10 members", 16)
