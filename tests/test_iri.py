"""Names that a person can read in IRIs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode, RdfFormat, parse

from kgalign import KnowledgeGraph, read_graph, write_graph
from kgalign.iri import is_code, local_name, normal_iri, readable_names, same_spelling, strict_iri
from kgalign.writers.sameas import iri

CODES = [
    "MA_0000982", "Q42", "e123", "17", "0001", "GO_0008150", "NCIT_C12345", "person17", "x1y2z3", "id-5", "0000-0002-1825-0097",
    "550e8400-e29b-41d4-a716-446655440000", "d41d8cd98f00b204e9800998ecf8427e", "6f1ed002ab5595859014ebf0951522d9",
]  # fmt: skip
READABLE = {
    "hasTitle": "has Title",
    "HTTPServer": "HTTP Server",
    "iPhone": "iPhone",
    "under_score_name": "under score name",
    "New-York": "New York",
    "Apollo_11": "Apollo 11",
    "Boeing_747": "Boeing 747",
    "Catch-22": "Catch 22",
    "Vitamin_B12": "Vitamin B12",
    "7-Eleven": "7 Eleven",
    "E21_Person": "E21 Person",
    "2001:_A_Space_Odyssey": "2001: A Space Odyssey",
    "Caf%C3%A9_12": "Café 12",
    "北京": "北京",
    "第7中学": "第7中学",
    "東京23区": "東京23区",
    "서울_2호선": "서울 2호선",
    "Москва_1941": "Москва 1941",
    "Αθήνα": "Αθήνα",
    "α-amylase": "α-amylase",
    "القاهرة": "القاهرة",
    "decade": "decade",
}


def of_ids(pattern, ids):
    return readable_names([f"http://x/{pattern.format(each)}" for each in ids])


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_no_name(code):
    assert readable_names([f"http://x/{code}", f"http://x/a#{code}"]) == ["", ""]


@pytest.mark.parametrize(("ending", "name"), READABLE.items())
def test_the_words_of_an_iri_are_its_name(ending, name):
    assert readable_names([f"http://x/{ending}"]) == [name]


def test_the_same_ending_of_many_iris_is_no_name():
    assert of_ids("{}/time", range(8)) == [""] * 8
    assert readable_names(["http://x/1/time", "http://x/Rome"]) == ["time", "Rome"]


def test_many_iris_that_differ_in_numbers_or_hashes_alone_have_no_names():
    assert of_ids("person_{}", range(5)) == [""] * 5
    assert of_ids("person_{}", range(4)) == [f"person {i}" for i in range(4)]
    hashes = ["8d3bec66-6890-4e99", "42f977ef-4c0d-4efe", "3caa41c3-d8dd-483f", "7bedefb0-ae20-440e", "73a47f2c-9135-425d"]
    assert of_ids("person-{}", hashes) == [""] * 5


def test_a_few_numbered_names_of_a_large_graph_are_names():
    letters = "abcdefghijklmnop"
    others = [f"http://x/{a}{b}{c}x" for a in letters for b in letters for c in letters]
    missions = [f"http://x/Apollo_{i}" for i in range(7, 18)]
    assert readable_names([*others, *missions])[-1] == "Apollo 17"
    assert readable_names([*others, *(f"http://x/person_{i}" for i in range(30))])[-1] == ""


def test_names_with_years_are_names_however_many():
    assert of_ids("World_Cup_{}", (1990, 1994, 1998, 2002, 2006, 2010))[0] == "World Cup 1990"
    assert of_ids("{}_births", range(1990, 2000))[0] == "1990 births"
    assert of_ids("record_{}", (1990, 1994, 1998, 2002, 2006, 7)) == [""] * 6  # not all are years


def test_words_beside_years_and_short_codes_are_names():
    years = [f"http://x/{year}" for year in range(1980, 1990)]
    assert readable_names([*years, "http://x/Rome", "http://x/Oslo"])[-2:] == ["Rome", "Oslo"]


def test_a_random_id_without_a_digit_is_no_name_beside_others():
    ids = ["ieqh524y", "ng5by1a2", "ro7ubbb8", "ayn1b7o2", "59owoo3s", "zxobkctz"]
    assert of_ids("{}", ids) == [""] * 6
    assert readable_names(["http://x/zxobkctz", "http://y/ieqh524y"]) == ["zxobkctz", ""]


def test_names_that_are_no_iris_stay_as_they_are():
    names = ["Rome", "Apollo 11", "Jean-Luc", "TCP/IP", "C#", "hasTitle"]
    assert readable_names(names) == names
    assert readable_names(["Anna_Berg", "urn:x:Anna_Berg", "<urn:x:Anna_Berg>", "urn:isbn:123", "_:b0", "e12"]) == (
        ["Anna Berg"] * 3 + [""] * 3
    )


def test_many_numbered_names_that_are_no_iris_are_names_only_with_a_blank():
    assert readable_names([f"city {i}" for i in range(9)]) == [f"city {i}" for i in range(9)]
    assert readable_names([f"city_{i}" for i in range(9)]) == [""] * 9


def test_local_name_keeps_codes():
    assert local_name("http://x/Q42") == "Q42"
    assert is_code("Q42")


def test_a_table_of_codes_has_no_names(tmp_path):
    (tmp_path / "g.tsv").write_text("".join(f"e{i}\tr\te{i + 1}\n" for i in range(9)))
    assert list(read_graph(tmp_path / "g.tsv").names) == [""] * 10


LEGAL = [
    "http://[::1]/a", "http://[2001:db8::1]:8080/a?b#c", "http://user@[::ffff:192.0.2.1]/x", "http://[v1.fe80::a+en1]/a", "x://[::1]",
    "http://x/%5B1%5D", "http://x/a%C3%A9é", "urn:isbn:0-395", "mailto:a@b.c", "http://x:80/a(1)", "tag:x,2020:a", "http://[::1]",
]  # fmt: skip


@pytest.mark.parametrize("iri", LEGAL)
def test_a_legal_iri_is_written_as_it_is(tmp_path, iri):
    (tmp_path / "g.nt").write_text(f"<{iri}> <http://[::1]/r> <http://x/o> .\n", "utf-8")
    graph = read_graph(tmp_path / "g.nt", strict=True)
    assert graph.entities[0] == strict_iri(iri) == iri
    for ending in ("nt", "ttl"):
        write_graph(graph, tmp_path / f"out.{ending}")
        again = read_graph(tmp_path / f"out.{ending}", strict=True)
        assert (again.entities, again.relations) == (graph.entities, graph.relations)


@pytest.mark.parametrize(
    ("iri", "written"),
    [
        ("http://x/a[1]", "http://x/a%5B1%5D"),
        ("http://[::1]/a[b]", "http://[::1]/a%5Bb%5D"),
        ("http://[", "http://%5B"),
        ("http://[::g]/a", "http://%5B%3A%3Ag%5D/a"),
        ("http://[fe80::1%25eth0]/a", "http://%5Bfe80%3A%3A1%25eth0%5D/a"),
        ("http://a b@[::1]/c d", "http://a%20b@[::1]/c%20d"),
        ("http://x/?q=[::1]", "http://x/?q=%5B::1%5D"),
        ("http://x/100%", "http://x/100%25"),
        ("http://x/a#b#c", "http://x/a#b%23c"),
        ("http://[::1", "http://%5B%3A%3A1"),
        ("http://x:port/a", "http://x%3Aport/a"),
        ("http://a@b@x/", "http://a%40b%40x/"),
    ],
)
def test_any_other_iri_is_written_so_that_strict_parsers_read_it(tmp_path, iri, written):
    graph = KnowledgeGraph.from_triples([(iri, "http://x/r", "http://x/o")])
    write_graph(graph, tmp_path / "g.nt")
    first = next(parse((tmp_path / "g.nt").read_bytes(), format=RdfFormat.N_TRIPLES))
    assert first.subject.value == strict_iri(iri) == written


def test_an_ipv6_host_that_an_earlier_version_has_encoded_is_the_same_entity():
    assert normal_iri("http://%5B::1%5D/a") == normal_iri("http://[::1]/a")


PARTS = [
    "http:",
    "//",
    "/",
    "[",
    "]",
    "[::1]",
    "::1",
    ":",
    "@",
    "a_b:",
    "ä:",
    "#",
    "?",
    "%",
    "%41",
    " ",
    ".",
    "_:b",
    "<",
    ">",
    "80",
    "\n",
    "é",
]


@given(st.lists(st.sampled_from(PARTS) | st.characters(exclude_categories=["Cs"]), max_size=8).map("".join))
def test_every_entity_is_written_so_that_strict_parsers_read_it(text):
    written = iri(text, "source")
    assert f"<{NamedNode(written[1:-1]).value}>" == written
    (statement,) = parse(f"{written} <http://x/p> <http://x/o> .\n".encode(), format=RdfFormat.N_TRIPLES)
    assert same_spelling(statement.subject.value) == same_spelling(same_spelling(written))


@pytest.mark.parametrize("entity", ["C##", "a_b:1", "a#b#c", "http://x/a#b#c", "ä:b"])
def test_an_entity_is_found_by_its_iri_in_a_file(entity):
    assert same_spelling(iri(entity, "target")) == same_spelling(entity)


@given(st.text(), st.sampled_from(["http://x/", "http://x/?", "http://[::1]/", "http://x/#", "urn:x:"]))
def test_every_text_becomes_an_iri_that_strict_parsers_read(text, before):
    iri = strict_iri(before + text)
    assert NamedNode(iri).value == iri
    assert strict_iri(iri) == iri


@pytest.mark.parametrize("entity", ["_:b <http://x/p> <http://x/o> .\n_:c", "_:", "_:a.", "_:a b"])
def test_what_is_no_label_of_a_blank_node_is_written_as_an_iri(tmp_path, entity):
    graph = KnowledgeGraph.from_triples([(entity, "http://x/r", "_:é1")])
    write_graph(graph, tmp_path / "g.nt")
    (statement,) = parse((tmp_path / "g.nt").read_bytes(), format=RdfFormat.N_TRIPLES)
    assert statement.subject.value.startswith("urn:kgalign:entity:_:")
    assert (tmp_path / "g.nt").read_text("utf-8").endswith(" _:é1 .\n")
