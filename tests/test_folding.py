"""Nodes that only carry a value are folded into the entities that they describe."""

import numpy as np
import pytest

from kgalign import align, read
from kgalign.data import KINDS
from kgalign.readers import READERS
from kgalign.readers.folding import fold_nodes

PREFIXES = """
@prefix : <http://x/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix obo: <http://www.geneontology.org/formats/oboInOwl#> . @prefix dcterms: <http://purl.org/dc/terms/> .
"""


def fold(folder, turtle):
    (folder / "g.ttl").write_text(PREFIXES + turtle, "utf-8")
    return fold_nodes(READERS["rdf"].read(folder / "g.ttl"))


def short(iri):
    return iri.rpartition("/")[2].rpartition("#")[2]


def entities(side):
    return {short(entity) for entity in side.entities}


def triples(side):
    return {(short(side.entities[h]), short(side.relations[r]), short(side.entities[t])) for h, r, t in side.triples.tolist()}


def literals(side):
    rows = zip(side.facts.tolist(), side.values, side.language_of.tolist(), strict=True)
    return {
        (short(side.entities[entity]), short(side.properties[name]), f"{value}@{side.languages[language]}".removesuffix("@"))
        for (entity, name), value, language in rows
    }


def kinds(side):
    return {short(entity): KINDS[kind] for entity, kind in zip(side.entities, side.kinds.tolist(), strict=True)}


def test_a_synonym_node_becomes_a_literal_of_its_entity(tmp_path):
    side = fold(
        tmp_path,
        """:Trunk a owl:Class ; obo:hasRelatedSynonym :genid1 . :genid1 a obo:Synonym ; rdfs:label "torso"@en .
        :Arm a owl:Class ; xl:altLabel [ a xl:Label ; xl:literalForm "limb" ; :since 1990 ] , [ xl:literalForm "upper limb" ] .""",
    )
    assert entities(side) == {"Trunk", "Arm"}
    assert literals(side) == {
        ("Trunk", "hasRelatedSynonym", "torso@en"),
        ("Arm", "altLabel", "limb"),
        ("Arm", "altLabel", "upper limb"),
    }
    assert (side.relations, side.record["folded nodes"]) == ([], "3 name nodes")


def test_a_name_two_steps_away_becomes_a_literal(tmp_path):
    side = fold(
        tmp_path,
        ':Work :P102_has_title :Title ; :by :Mozart . :Title a :E35_Title ; :has_appellation [ rdf:value "Don Giovanni" ] .',
    )
    assert literals(side) == {("Work", "P102_has_title", "Don Giovanni")}
    assert triples(side) == {("Work", "by", "Mozart")}


def test_the_best_text_of_a_node_is_its_name(tmp_path):
    side = fold(
        tmp_path, ':A :hasName [ rdfs:label "a"@en , "b"@de ; rdf:value "c" ; :text "d" ] , [ :nameText "e" ; :content "f" ] .'
    )
    assert {value for _, _, value in literals(side)} == {"a@en", "b@de", "e"}


def test_a_node_that_inverse_relations_leave_only_carries_a_name(tmp_path):
    side = fold(tmp_path, ':A :is_identified_by :N . :N rdfs:label "Anna" ; :identifies :A . :A :knows :B .')
    assert (entities(side), literals(side)) == ({"A", "B"}, {("A", "is_identified_by", "Anna")})


def test_a_named_thing_with_other_relations_stays(tmp_path):
    side = fold(
        tmp_path, ':A :hasTitle :T . :T rdfs:label "Count" ; :usedIn :France . :B :about :U ; :hasTitle :U . :U rdfs:label "Duke" .'
    )
    assert {"T", "U"} <= entities(side)
    assert ("A", "hasTitle", "T") in triples(side)
    # The leaf gives its text too, the node with relations of its own does not.
    assert literals(side) == {("T", "label", "Count"), ("U", "label", "Duke"), ("B", "hasTitle", "Duke")}


def test_a_node_that_many_share_stays(tmp_path):
    people = "".join(f":P{i} :jobTitle :Director . " for i in range(5))
    side = fold(tmp_path, people + ':Director rdfs:label "director" .')
    assert "Director" in entities(side)
    assert ("P4", "jobTitle", "director") in literals(side)


@pytest.mark.parametrize("relation", [":broaderTerm", ":recordLabel", ":isTitleOf", ":relatedTerm", "skos:broader"])
def test_relations_between_things_are_no_names(tmp_path, relation):
    side = fold(tmp_path, f':A {relation} :B . :B rdfs:label "b" .')
    assert entities(side) == {"A", "B"}


def test_a_concept_is_never_the_name_of_another(tmp_path):
    side = fold(tmp_path, ':A a skos:Concept ; :hasTerm :B . :B a skos:Concept ; skos:prefLabel "b" .')
    assert ("A", "hasTerm", "B") in triples(side)
    assert literals(side) == {("B", "prefLabel", "b")}


def test_definitions_and_notes_become_literals(tmp_path):
    side = fold(
        tmp_path,
        """:A a owl:Class ; obo:hasDefinition :genid2 ; obo:hasDbXref [ rdfs:label "MA:1" ] . :genid2 rdfs:label "an animal" .
        :B a skos:Concept ; skos:scopeNote [ rdf:value "only for B"@en ; dcterms:creator :Anna ] .""",
    )
    assert literals(side) == {("A", "hasDefinition", "an animal"), ("A", "hasDbXref", "MA:1"), ("B", "scopeNote", "only for B@en")}
    assert entities(side) == {"A", "B"}
    assert side.record["folded nodes"] == "3 remarks"


def restriction(parts):
    return f"[ a owl:Restriction ; owl:onProperty :part ; {parts} ]"


def test_restrictions_become_triples(tmp_path):
    side = fold(
        tmp_path,
        f""":part a owl:ObjectProperty .
        :A rdfs:subClassOf {restriction("owl:someValuesFrom :B")} , {restriction("owl:allValuesFrom :C")} , :Top .
        :A owl:equivalentClass [ owl:intersectionOf ( :D {restriction("owl:onClass :E ; owl:minQualifiedCardinality 1")} ) ] .
        :A rdfs:subClassOf {restriction("owl:hasValue :i")} , {restriction("owl:hasValue 7")} , {restriction("owl:cardinality 1")} .""",
    )
    assert triples(side) == {
        *(("A", "part", end) for end in "BCEi"),
        ("A", "subClassOf", "Top"),
        ("A", "subClassOf", "D"),
    }
    assert literals(side) == {("A", "part", "7")}
    assert entities(side) == {"A", "B", "C", "D", "E", "Top", "i", "part"}
    assert side.record["folded nodes"] == "6 restrictions, 2 list nodes"
    assert (kinds(side)["E"], kinds(side)["part"], kinds(side)["i"]) == ("class", "property", "individual")


def test_a_restriction_on_an_inverse_is_reversed(tmp_path):
    side = fold(tmp_path, ":A rdfs:subClassOf [ owl:onProperty [ owl:inverseOf :has ] ; owl:someValuesFrom :B ] .")
    assert triples(side) == {("B", "has", "A")}


def test_fillers_that_are_unions_give_one_triple_for_each_member(tmp_path):
    side = fold(tmp_path, f":A rdfs:subClassOf {restriction('owl:someValuesFrom [ owl:unionOf ( :B :C ) ]')} .")
    assert triples(side) == {("A", "part", "B"), ("A", "part", "C")}


def test_unions_hold_for_each_member(tmp_path):
    side = fold(
        tmp_path,
        """:p rdfs:domain [ a owl:Class ; owl:unionOf ( :A :B ) ] ; rdfs:range :C .
        :U owl:equivalentClass [ owl:unionOf ( :D :E ) ] . :V owl:unionOf ( :F :G ) .""",
    )
    assert triples(side) == {
        ("p", "domain", "A"),
        ("p", "domain", "B"),
        ("p", "range", "C"),
        ("D", "subClassOf", "U"),
        ("E", "subClassOf", "U"),
        ("F", "subClassOf", "V"),
        ("G", "subClassOf", "V"),
    }


def test_enumerations_give_types_and_complements_disjointness(tmp_path):
    side = fold(
        tmp_path,
        """:Day owl:equivalentClass [ owl:oneOf ( :Monday :Sunday ) ] . :A rdfs:subClassOf [ owl:complementOf :B ] .
        :C rdfs:subClassOf [ owl:unionOf ( :A [ owl:complementOf :D ] ) ] .""",
    )
    assert triples(side) == {("Monday", "type", "Day"), ("Sunday", "type", "Day"), ("A", "disjointWith", "B")}


def test_an_expression_that_contains_itself_ends(tmp_path):
    side = fold(tmp_path, "_:x owl:intersectionOf ( :A _:x ) . :C rdfs:subClassOf _:x .")
    assert triples(side) == {("C", "subClassOf", "A")}


def test_deep_and_shared_expressions_are_read_once(tmp_path):
    levels = "".join(
        f"_:a{i} owl:intersectionOf _:a{i + 1} , _:b{i + 1} . _:b{i} owl:intersectionOf _:a{i + 1} , _:b{i + 1} . "
        for i in range(2000)
    )
    side = fold(
        tmp_path,
        f":C rdfs:subClassOf _:a0 . {levels} _:a2000 owl:intersectionOf :A . _:b2000 owl:intersectionOf :B . :p rdfs:domain _:b0 .",
    )
    assert triples(side) == {("C", "subClassOf", "A"), ("C", "subClassOf", "B"), ("p", "domain", "A"), ("p", "domain", "B")}


def test_lists_give_their_members(tmp_path):
    side = fold(tmp_path, ':A :parts ( :B "two" ( :C ) ) . :D :order [ a rdf:Seq ; rdf:_1 :B ; rdf:_2 "second" ] .')
    assert triples(side) == {("A", "parts", "B"), ("A", "parts", "C"), ("D", "order", "B")}
    assert literals(side) == {("A", "parts", "two"), ("D", "order", "second")}
    assert entities(side) == {"A", "B", "C", "D"}


def test_a_list_without_an_end_is_read_once(tmp_path):
    side = fold(tmp_path, "_:l rdf:first :B ; rdf:rest _:m . _:m rdf:first :C ; rdf:rest _:l . :A :parts _:l .")
    assert triples(side) == {("A", "parts", "B"), ("A", "parts", "C")}


def test_statements_about_statements_vanish(tmp_path):
    side = fold(
        tmp_path,
        """:A rdfs:subClassOf :B . [] a owl:Axiom ; owl:annotatedSource :A ; owl:annotatedTarget :B ; rdfs:comment "sure" .
        [] a rdf:Statement ; rdf:subject :A ; rdf:object :B ; :source [ rdfs:label "a book" ] .
        [] a owl:AllDifferent ; owl:distinctMembers ( :i :j ) . :i :r :j .""",
    )
    assert triples(side) == {("A", "subClassOf", "B"), ("i", "r", "j")}
    assert (entities(side), literals(side)) == ({"A", "B", "i", "j"}, set())


def test_rules_vanish(tmp_path):
    side = fold(
        tmp_path,
        """@prefix swrl: <http://www.w3.org/2003/11/swrl#> . :x a swrl:Variable . :A rdfs:subClassOf :B .
        [] a swrl:Imp ; swrl:body ( [ a swrl:ClassAtom ; swrl:classPredicate :A ; swrl:argument1 :x ] ) .""",
    )
    assert (entities(side), triples(side)) == ({"A", "B"}, {("A", "subClassOf", "B")})


def test_a_restriction_without_a_property_vanishes(tmp_path):
    assert entities(fold(tmp_path, ":A rdfs:subClassOf [ a owl:Restriction ; owl:cardinality 1 ] , :B .")) == {"A", "B"}


def test_disjoint_classes_are_disjoint_in_pairs_unless_they_are_many(tmp_path):
    few = "[] a owl:AllDisjointClasses ; owl:members ( :A :B :C ) ."
    assert triples(fold(tmp_path, few)) == {(one, "disjointWith", other) for one, other in ("AB", "AC", "BC")}
    many = " ".join(f":C{i}" for i in range(51))
    side = fold(tmp_path, f":C0 rdfs:subClassOf :C1 . [] a owl:AllDisjointClasses ; owl:members ( {many} ) .")
    assert triples(side) == {("C0", "subClassOf", "C1")}


def test_headers_vanish_with_what_only_they_mention(tmp_path):
    side = fold(
        tmp_path,
        """<http://x/onto> a owl:Ontology ; owl:imports <http://y/onto> ; dcterms:license <http://y/cc> ; dcterms:creator [ rdfs:label "Ann" ] .
        :S a skos:ConceptScheme ; rdfs:label "scheme" ; skos:hasTopConcept :A .
        :A a skos:Concept ; skos:inScheme :S , :Other ; skos:narrower :B .
        dcterms:creator a owl:AnnotationProperty . :mine a owl:AnnotationProperty .""",
    )
    assert triples(side) == {("A", "narrower", "B")}
    assert kinds(side) == {"A": "concept", "B": "concept", "mine": "property"}


def test_terms_of_vocabularies_are_no_entities(tmp_path):
    side = fold(
        tmp_path,
        """:A a owl:Class ; rdfs:subClassOf owl:Thing . :a a owl:NamedIndividual , :A . :c a skos:Concept .
        :p a owl:DatatypeProperty ; rdfs:range xsd:string ; owl:inverseOf :q . skos:Concept a owl:Class ; rdfs:isDefinedBy <http://skos> .""",
    )
    assert triples(side) == {("a", "type", "A"), ("p", "inverseOf", "q")}
    assert literals(side) == {("p", "range", "string")}
    assert kinds(side) == {"A": "class", "a": "individual", "c": "concept", "p": "property", "q": "property"}


def test_a_graph_of_terms_alone_stays(tmp_path):
    side = fold(tmp_path, "skos:broader rdfs:subPropertyOf skos:semanticRelation .")
    assert entities(side) == {"broader", "semanticRelation"}


def test_deprecated_entities_stay_and_are_counted(tmp_path):
    side = fold(
        tmp_path,
        ':A a owl:Class ; owl:deprecated true . :B rdfs:subClassOf obo:ObsoleteClass . :C a owl:Class ; owl:deprecated "false" .',
    )
    assert entities(side) == {"A", "B", "C"}
    assert side.record["deprecated"] == 2


def test_kinds_follow_from_relations(tmp_path):
    side = fold(
        tmp_path,
        """:i a :T ; :p :j . :p rdfs:label "p" . :q rdfs:domain :D ; rdfs:subPropertyOf :r . :s rdfs:range :R . :A owl:disjointWith :B .
        :c skos:related :d . :k a :U . :U :eats :m .""",
    )
    found = kinds(side)
    assert {name for name, kind in found.items() if kind == "class"} == {"T", "D", "R", "A", "B"}
    assert {name for name, kind in found.items() if kind == "property"} == {"p", "q", "r", "s"}
    assert {name for name, kind in found.items() if kind == "concept"} == {"c", "d"}


def test_a_class_that_is_a_concept_is_what_most_others_are(tmp_path):
    both = ":X a owl:Class , skos:Concept . "
    assert kinds(fold(tmp_path, both + ":A a owl:Class . :B rdfs:subClassOf :A ."))["X"] == "class"
    assert kinds(fold(tmp_path, both + ":A a skos:Concept . :B skos:broader :A ."))["X"] == "concept"


def test_a_class_that_is_an_individual_too_is_a_class(tmp_path):
    assert kinds(fold(tmp_path, ":Eagle a owl:Class , :Species ; :eats :Mouse . :Harry a :Eagle ."))["Eagle"] == "class"


def test_every_spelling_leads_to_the_new_id(tmp_path):
    side = fold(tmp_path, ':A obo:hasSynonym [ rdfs:label "a" ] . <http://x/Caf%C3%A9> :r <http://x/Café> .')
    assert {name: side.entities[number] for name, number in side.ids.items()} == {
        "http://x/A": "http://x/A",
        "http://x/Caf%C3%A9": "http://x/Caf%C3%A9",
        "http://x/Café": "http://x/Caf%C3%A9",
    }


def test_a_graph_without_such_nodes_stays_as_it_is(tmp_path):
    (tmp_path / "g.ttl").write_text(PREFIXES + ':A :r :B ; rdfs:label "a" . :B :r [ :s :A ] .')
    before = READERS["rdf"].read(tmp_path / "g.ttl")
    after = fold_nodes(before)
    assert after.triples is before.triples
    assert (after.entities, after.values, after.record) == (before.entities, before.values, before.record)
    assert np.array_equal(after.kinds, [0, 0, 0])


def test_an_address_of_a_page_becomes_a_literal(tmp_path):
    side = fold(
        tmp_path,
        """:a :homepage <http://a.org/> ; :logo <http://x/a.png> ; :sees :b . :b :page <http://b.org/1>, <http://b.org/2> ; :age 3 .""",
    )
    assert (entities(side), triples(side)) == ({"a", "b"}, {("a", "sees", "b")})
    pages = [
        value
        for value, datatype in zip(side.values, side.datatype_of.tolist(), strict=True)
        if "anyURI" in side.datatypes[datatype]
    ]
    assert sorted(pages) == ["http://a.org/", "http://b.org/1", "http://b.org/2", "http://x/a.png"]
    assert side.record["folded nodes"] == "4 web pages"


@pytest.mark.parametrize(
    "turtle",
    [
        ":a :site :Troy . :b :age 3 .",  # looks like the other things of the graph
        ':a :page <http://b.org/1> . <http://b.org/1> rdfs:label "About a" .',  # something is said of it
        ":a :page <http://b.org/1> ; :partOf <http://b.org/1> .",  # another relation leads to it too
        ":a :country <http://b.org/1> .",  # no relation to a page
    ],
)
def test_an_entity_is_no_page_because_of_one_relation(tmp_path, turtle):
    assert len(triples(fold(tmp_path, turtle))) > 0


def test_a_page_in_rdf_is_the_website_of_a_table(tmp_path):
    companies = [
        ("Alpha Works", "Werke A"),
        ("Beta Trading", "Handel B"),
        ("Gamma Foods", "Speisen C"),
        ("Delta Glass", "Scheiben D"),
    ]
    rows = [f"c{number},{name},www.{number}.example" for number, (name, _) in enumerate(companies)]
    (tmp_path / "a.csv").write_text("\n".join(["id,name,website", *rows]))
    turtle = [f':e{n} rdfs:label "{name}" ; :homepage <https://{n}.example/> .' for n, (_, name) in enumerate(companies)]
    (tmp_path / "b.ttl").write_text(PREFIXES + "\n".join(turtle))
    task, _ = read(tmp_path / "a.csv", tmp_path / "b.ttl")
    assert sorted(align(task).alignment.pairs.tolist()) == [[number, number] for number in range(4)]
