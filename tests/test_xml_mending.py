"""RDF/XML as people have it: what is wrong costs one statement at most."""

import random
import re
import time

import pytest

from kgalign import DataError
from kgalign.readers.rdf_parser import read_statements

ROOT = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" '
    'xmlns:x="http://x/" xml:base="http://b/">\n'
)
BEFORE = '<x:T rdf:about="http://x/before"><x:n>first</x:n></x:T>\n'
AFTER = '<x:T rdf:about="http://x/after"><x:n>last</x:n><x:r rdf:resource="http://x/before"/></x:T>\n</rdf:RDF>\n'
AROUND = {("http://x/before", "http://x/n", "first"), ("http://x/after", "http://x/n", "last")}
X = "http://x/"


def statements_of(path, text, strict=False):
    path.write_text(text, encoding="utf-8")
    return read_statements([path], strict)


def facts_of(statements):
    facts = zip(statements.facts.tolist(), statements.values, strict=True)
    return {(statements.entities[e], statements.properties[p], value) for (e, p), value in facts}


def links_of(statements):
    links = {(statements.entities[h], statements.relations[r], statements.entities[t]) for h, r, t in statements.triples.tolist()}
    return {link for link in links if not link[1].endswith("#type")} - {(X + "after", X + "r", X + "before")}


MENDED = [  # the text, what it says, and what is wrong
    ('<x:T rdf:ID="http://y/z"><x:n>v</x:n></x:T>', {("http://b/#http://y/z", X + "n", "v")}, "'http://y/z' is not a valid rdf:ID"),
    ('<x:T rdf:ID="a/b"><x:n>v</x:n></x:T>', {("http://b/#a/b", X + "n", "v")}, "'a/b' is not a valid rdf:ID"),
    (
        '<x:T rdf:ID="a"><x:n>v</x:n></x:T>\n<x:T rdf:ID="a"><x:n>w</x:n></x:T>',
        {("http://b/#a", X + "n", "v"), ("http://b/#a", X + "n", "w")},
        "the rdf:ID 'a' twice",
    ),
    ('<x:T rdf:about="http://x/a"><x:n>v & w</x:n></x:T>', {(X + "a", X + "n", "v & w")}, "& is not escaped"),
    ('<x:T rdf:about="http://x/a?b&c=d"><x:n>v</x:n></x:T>', {(X + "a?b&c=d", X + "n", "v")}, "& is not escaped"),
    ('<x:T rdf:about="http://x/a"><x:n>caf&eacute;</x:n></x:T>', {(X + "a", X + "n", "café")}, "&eacute; is not declared"),
    ('<x:T rdf:about="http://x/a"><x:n>v&#0;</x:n></x:T>', {(X + "a", X + "n", "v\ufffd")}, "&#0; is no character"),
    ('<x:T rdf:about="http://x/a"><x:n>1 < 2</x:n></x:T>', {(X + "a", X + "n", "1 < 2")}, "< is not escaped"),
    ('<x:T rdf:about="http://x/a"><x:n>a <b and c> d</x:n></x:T>', {(X + "a", X + "n", "a <b and c> d")}, "< is not escaped"),
    ('<x:T rdf:about="http://x/a"><x:n>see <http://y></x:n></x:T>', {(X + "a", X + "n", "see <http://y>")}, "< is not escaped"),
    ('<x:T rdf:about="http://x/a"><x:n>H<sub>2</sub>O</x:n></x:T>', {(X + "a", X + "n", "H<sub>2</sub>O")}, "markup in a text"),
    (
        '<x:T rdf:about="http://x/a"><x:n>v<x:m>w</x:m></x:T>',
        {(X + "a", X + "n", "v"), (X + "a", X + "m", "w")},
        "</x:n> is missing",
    ),
    ('<x:T rdf:about="http://x/a"><x:n>v</x:T>', {(X + "a", X + "n", "v")}, "</x:n> is missing"),
    (
        '<x:T rdf:about="http://x/a"><x:n>v</x:N><x:m>w</x:m></x:T>',
        {(X + "a", X + "n", "v"), (X + "a", X + "m", "w")},
        "expected </x:n>",
    ),
    ('<x:T rdf:about="http://x/a"><x:n>v</x:n>', {(X + "a", X + "n", "v")}, "</x:T> is missing"),
    ('<x:T rdf:about="http://x/a"><x:n>v</x:n></x:n></x:T>', {(X + "a", X + "n", "v")}, "an end tag without its start tag"),
    ('<x:T rdf:about="http://x/a">v</x:n></x:T>', {(X + "a", X + "n", "v")}, "<x:n> is missing"),
    (
        '<x:T rdf:about="http://x/a"><foaf:name>v</foaf:name></x:T>',
        {(X + "a", "http://xmlns.com/foaf/0.1/name", "v")},
        "the prefix foaf:",
    ),
    (
        '<x:T rdf:about="http://x/a"><y:n>v</y:n></x:T>',
        {(X + "a", "http://undeclared.invalid/y#n", "v")},
        "the prefix y: is not declared",
    ),
    ('<x:T rdf:about="http://x/a" rdf:about="http://x/b"><x:n>v</x:n></x:T>', {(X + "a", X + "n", "v")}, "rdf:about twice"),
    ('<x:T rdf:about="http://x/a><x:n>v</x:n></x:T>', {(X + "a", X + "n", "v")}, "a quote is missing"),
    ("<x:T rdf:about=http://x/a><x:n>v</x:n></x:T>", {(X + "a", X + "n", "v")}, "a quote is missing"),
    ('<x:T rdf:about="http://x/a"\n<x:n>v</x:n></x:T>', {(X + "a", X + "n", "v")}, "> is missing"),
    ('<x:T about="http://x/a"><x:n>v</x:n></x:T>', {(X + "a", X + "n", "v")}, "about without the prefix of RDF"),
    ('<x:T rdf:nodeID="1 2"><x:n>v</x:n></x:T>', {("_:_1_20_2", X + "n", "v")}, "'1 2' is not a valid rdf:nodeID"),
    ('<x:T rdf:about="http://x/a" rdf:ID="b"><x:n>v</x:n></x:T>', {(X + "a", X + "n", "v")}, "rdf:ID beside another identifier"),
]


@pytest.mark.parametrize(("text", "facts", "reason"), MENDED, ids=[f"{case[2]} {number}" for number, case in enumerate(MENDED)])
def test_what_can_be_understood_is_mended_and_counted_as_such(tmp_path, text, facts, reason):
    document = ROOT + BEFORE + text + AFTER
    statements = statements_of(tmp_path / "g.rdf", document)
    assert facts_of(statements) == facts | AROUND
    assert statements.record["broken"] == 0
    assert statements.record["mended"] > 0
    assert re.match(rf".*g\.rdf:[345]: read .*{re.escape(reason)}", statements.record["first mended"][0])
    with pytest.raises(
        DataError, match=rf"g\.rdf:[345]: expected RDF/XML, found .*{re.escape(reason)}.*; mend it, or leave out `strict`"
    ):
        statements_of(tmp_path / "g.rdf", document, strict=True)


LOST = [
    ('<x:T rdf:about="http://x/a"><x:r rdf:resource="http://x/b">text</x:r><x:n>v</x:n></x:T>', "Unexpected text event"),
    ('<x:T rdf:about="http://x/a">text<x:n>v</x:n></x:T>', "text outside of any property"),
    ('<x:T rdf:about="http://x/a" name="A"><x:n>v</x:n></x:T>', "name without a prefix"),
    (
        '<x:T rdf:about="http://x/a"><x:r><x:U rdf:about="http://x/b"><rdf:RDF/>hm</x:U></x:r><x:n>v</x:n></x:T>',
        "text outside of any",
    ),
    (
        '<x:T rdf:about="http://x/a"><x:n>v</x:n><x:r><x:T rdf:about="http://x/c"><rdf:Description>no</rdf:Description></x:T></x:r></x:T>',
        "",
    ),
]


@pytest.mark.parametrize(("text", "reason"), LOST)
def test_what_cannot_be_understood_costs_one_statement(tmp_path, text, reason):
    statements = statements_of(tmp_path / "g.rdf", ROOT + BEFORE + text + AFTER)
    assert facts_of(statements) == {(X + "a", X + "n", "v")} | AROUND
    assert statements.record["broken"] == 1
    assert re.match(rf".*g\.rdf:3: expected RDF/XML, found .*{reason}", statements.record["first broken"][0])
    with pytest.raises(DataError, match=r"g\.rdf:3: expected RDF/XML"):
        statements_of(tmp_path / "g.rdf", ROOT + BEFORE + text + AFTER, strict=True)


def test_a_wrong_namespace_of_rdf_is_put_right(tmp_path):
    statements = statements_of(tmp_path / "g.rdf", (ROOT + BEFORE + AFTER).replace("rdf-syntax-ns#", "rdf-syntax-ns"))
    assert facts_of(statements) == AROUND
    assert (statements.record["broken"], statements.record["mended"]) == (0, 1)


def test_bad_iris_cost_nothing(tmp_path):
    text = '<x:T rdf:about="http://x/a b|c"><x:n>v</x:n><x:r rdf:resource="http://["/></x:T>'
    statements = statements_of(tmp_path / "g.rdf", ROOT + BEFORE + text + AFTER)
    assert facts_of(statements) == {(X + "a b|c", X + "n", "v")} | AROUND
    assert links_of(statements) == {(X + "a b|c", X + "r", "http://[")}
    assert (statements.record["broken"], statements.record["mended"]) == (0, 3)


def test_comments_and_sections_inside_of_a_text_are_no_damage(tmp_path):
    text = '<x:T rdf:about="http://x/a"><x:n>a<!-- not < this -->b<![CDATA[<c> & ]]>d</x:n></x:T>'
    for strict in (False, True):
        statements = statements_of(tmp_path / "g.rdf", ROOT + BEFORE + text + AFTER, strict)
        assert facts_of(statements) == {(X + "a", X + "n", "ab<c> & d")} | AROUND
        assert (statements.record["broken"], statements.record["mended"]) == (0, 0)


def test_a_document_that_keeps_the_rules_is_not_changed_by_mending(tmp_path):
    """A comment inside of a text has the document mended, and nothing else in it is out of order."""
    text = """<x:T rdf:ID="a" x:attribute="1 &gt; 0"><x:n rdf:ID="s1">v</x:n><x:n rdf:ID="s2" xml:lang="de">w</x:n><x:r rdf:nodeID="n"/>
      <x:r rdf:parseType="Resource"><x:n>inner</x:n><x:r rdf:resource="#a"/></x:r>
      <x:r rdf:parseType="Collection"><x:T rdf:about="#b"/><rdf:Description rdf:about="c"/><x:T/></x:r>
      <x:r><y:T xmlns:y="http://y/" xmlns="http://z/" xml:base="http://z/base" rdf:ID="c"><y:n/><label> </label></y:T></x:r></x:T>
      <rdf:Seq rdf:about="http://x/list"><rdf:li>1</rdf:li><rdf:li rdf:resource="http://x/2"/></rdf:Seq>
      <x:T rdf:nodeID="n"><x:n rdf:datatype="http://x/d">4</x:n><x:text>{}</x:text></x:T>
      <rdf:Description rdf:about="http://x/ग्रह"><x:ग्रह>5</x:ग्रह></rdf:Description>"""
    plain = statements_of(tmp_path / "g.rdf", ROOT + text.format("ab") + AFTER)
    mended = statements_of(tmp_path / "g.rdf", ROOT + text.format("a<!-- a comment -->b") + AFTER)
    assert (plain.entities, plain.triples.tolist(), plain.values) == (mended.entities, mended.triples.tolist(), mended.values)
    assert plain.record == mended.record
    assert (plain.record["broken"], plain.record["mended"]) == (0, 0)


def test_literals_of_xml_keep_their_markup_in_a_mended_document(tmp_path):
    text = '<x:T rdf:about="http://x/a"><x:n rdf:parseType="Literal">a <b>bold</b></x:n><x:m>1 & 2</x:m></x:T>'
    statements = statements_of(tmp_path / "g.rdf", ROOT + BEFORE + text + AFTER)
    values = {name: value for entity, name, value in facts_of(statements) if entity == X + "a"}
    assert re.fullmatch(r"a <b( [^>]*)?>bold</b>", values[X + "n"])
    assert values[X + "m"] == "1 & 2"


def test_entities_of_the_document_go_on_working_in_a_mended_one(tmp_path):
    doctype = '<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [\n<!ENTITY x "http://x/">\n<!ENTITY y "&x;y/">\n]>\n'
    text = '<y:T xmlns:y="&y;" rdf:about="&x;a"><x:n>&y; &z; & &lt;b></x:n></y:T>'
    statements = statements_of(tmp_path / "g.rdf", doctype + ROOT + BEFORE + text + AFTER)
    assert facts_of(statements) == {(X + "a", X + "n", "http://x/y/ &z; & <b>")} | AROUND
    assert "http://x/y/T" in statements.entities
    assert statements.record["mended"] == 2
    assert "g.rdf:8: read" in statements.record["first mended"][0]


def test_entities_that_would_fill_the_memory_are_refused(tmp_path):
    bomb = '<!ENTITY a0 "aaaaaaaaaa">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    text = '<x:T rdf:about="http://x/a"><x:n>&a11; &</x:n></x:T>'
    with pytest.raises(DataError, match=r"g\.rdf: expected XML entities that make a document larger by at most 100 times"):
        statements_of(tmp_path / "g.rdf", f"<!DOCTYPE rdf:RDF [{bomb}]>{ROOT}{BEFORE}{text}{AFTER}")


def test_blank_nodes_of_a_mended_document_are_never_doubled(tmp_path):
    text = (
        '<x:T rdf:nodeID="n"><x:n>v</x:n></x:T><x:T><x:n>anonymous</x:n><x:r rdf:nodeID="n"/></x:T>'
        '<x:T rdf:about="http://x/a"><x:n>&</x:n><x:r rdf:nodeID="n"/></x:T>'
    )
    statements = statements_of(tmp_path / "g.rdf", ROOT + text + AFTER)
    assert [entity for entity in statements.entities if entity.startswith("_:")] == ["_:n", "_:anon2"]
    assert links_of(statements) == {("_:anon2", X + "r", "_:n"), (X + "a", X + "r", "_:n")}
    assert sorted(statements.values) == ["&", "anonymous", "last", "v"]


def test_a_damaged_file_leaves_the_files_before_it_alone(tmp_path):
    sound = '<x:T rdf:about="http://x/a b"><x:n>v</x:n><x:r><x:T><x:n>w</x:n></x:T></x:r></x:T>'
    (tmp_path / "1.rdf").write_text(ROOT + sound + "</rdf:RDF>")
    (tmp_path / "2.rdf").write_text(ROOT + sound.replace("w", "&") + AFTER)
    both = read_statements([tmp_path / "1.rdf", tmp_path / "2.rdf"])
    assert sorted(both.values) == ["&", "last", "v", "v", "w"]
    assert [entity for entity in both.entities if entity.startswith("_:")] == ["_:f1.anon1", "_:f2.anon1"]
    assert both.record["mended"] == 2 * 3 + 1


def test_a_document_that_ends_too_early_gives_what_came_before(tmp_path):
    whole = ROOT + BEFORE + '<x:T rdf:about="http://x/a"><x:n>v</x:n><x:m>longer'
    statements = statements_of(tmp_path / "g.rdf", whole)
    assert facts_of(statements) == {("http://x/before", X + "n", "first"), (X + "a", X + "n", "v")}
    assert statements.record["broken"] == 1
    assert "g.rdf:3: expected RDF/XML, found '<x:m>' (the document ends inside <x:m>)" in statements.record["first broken"][0]
    with pytest.raises(DataError, match="the document ends inside <x:m>"):
        statements_of(tmp_path / "g.rdf", whole, strict=True)
    assert statements_of(tmp_path / "g.rdf", ROOT + BEFORE).record["mended"] == 1


def test_the_properties_after_a_wrong_end_tag_stay_with_their_node(tmp_path):
    text = '<x:T rdf:about="http://x/a"><x:n>v</x:T><x:m>w</x:m><x:r rdf:resource="http://x/b"/></x:T>'
    more = '<x:T rdf:about="http://x/c"><x:m>u</x:m></x:T>'
    statements = statements_of(tmp_path / "g.rdf", ROOT + BEFORE + text + more + AFTER)
    assert facts_of(statements) == {(X + "a", X + "n", "v"), (X + "a", X + "m", "w"), (X + "c", X + "m", "u")} | AROUND
    assert links_of(statements) == {(X + "a", X + "r", X + "b")}


def test_properties_of_a_node_without_its_start_tag_are_given_to_no_other(tmp_path):
    text = '<x:n>v</x:n><x:r rdf:resource="http://x/b"/></x:T>'
    statements = statements_of(tmp_path / "g.rdf", ROOT + BEFORE + text + AFTER)
    assert facts_of(statements) == AROUND
    assert statements.record["broken"] == 1


def test_a_web_page_is_refused(tmp_path):
    page = "<!DOCTYPE html>\n<html><head><title>404</title></head><body><p>Not found<br></body></html>"
    with pytest.raises(
        DataError, match=r"the graph is empty.*g\.rdf:1: expected RDF/XML, found '<!DOCTYPE html> .*nothing in it is RDF"
    ):
        statements_of(tmp_path / "g.rdf", page)


def test_every_mend_is_counted_and_the_first_few_are_shown(tmp_path):
    rows = "".join(f'<x:T rdf:ID="{i}/"><x:n>{i}</x:n></x:T>\n' for i in range(20))
    statements = statements_of(tmp_path / "g.rdf", ROOT + rows + AFTER)
    assert (statements.record["broken"], statements.record["mended"]) == (0, 20)
    assert [line.split("g.rdf:")[1].split(":")[0] for line in statements.record["first mended"]] == ["2", "3", "4", "5", "6"]


def test_the_time_grows_with_the_length_and_not_with_the_errors(tmp_path):
    row = '<x:T rdf:ID="{0} b"><x:n>{0} & 1</x:n><x:r rdf:resource="http://x/b">lost</x:r><x:m>kept<x:m>too</x:m></x:T>\n'
    rows = "".join(row.format(i) for i in range(3000))
    start = time.process_time()
    statements = statements_of(tmp_path / "g.rdf", ROOT + rows + AFTER)
    assert time.process_time() - start < 20  # far less, and far more if every error had the document read again
    assert len(statements.values) == 3 * 3000 + 1
    assert statements.record["broken"] == 3000


def resources(count):
    rows = [
        f'<x:Thing rdf:about="http://x/{i}">\n  <rdfs:label xml:lang="en">Name {i}</rdfs:label>\n  <x:r rdf:resource="http://x/{i + 1}"/>\n'
        + (f'  <x:part>\n    <x:Part rdf:about="http://x/p{i}"><x:size>{i}</x:size></x:Part>\n  </x:part>\n' if i % 2 else "")
        + f"  <x:n>{i}</x:n>\n</x:Thing>\n"
        for i in range(count)
    ]
    return '<?xml version="1.0"?>\n' + ROOT + "".join(rows) + "</rdf:RDF>\n"


@pytest.mark.parametrize("is_deleted", [True, False])
def test_one_tag_too_many_or_too_few_costs_little(tmp_path, is_deleted):
    whole = resources(30)
    tags = list(re.finditer(r"<[^<>?]+>", whole))
    for found in random.Random(1).sample(tags, 80):
        damaged = whole[: found.start()] + ("" if is_deleted else found[0] * 2) + whole[found.end() :]
        statements = statements_of(tmp_path / "g.rdf", damaged)
        names = [(entity, value) for entity, name, value in facts_of(statements) if name.endswith("#label")]
        right = [name for name in names if name[1] == f"Name {name[0].removeprefix(X)}"]
        assert (len(right) >= 28, len(names) - len(right)) == (True, 0), found[0]
