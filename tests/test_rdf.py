import bz2
import gzip
import json
import re
import subprocess
import sys
import time
from itertools import chain

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgalign import DataError, Names, OptionError, align, demo, read, read_graph, write_graph
from kgalign.iri import normal_iri
from kgalign.readers.rdf_parser import read_statements

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
SAME_GRAPH = {
    "g.nt": f'<http://x/a> <http://x/r> <http://x/b> .\n<http://x/a> {LABEL} "Anna"@en .\n<http://x/b> <http://x/n> "7" .\n',
    "g.nq": f'<http://x/a> <http://x/r> <http://x/b> <http://x/g> .\n<http://x/a> {LABEL} "Anna"@en .\n<http://x/b> <http://x/n> "7" .\n',
    "g.ttl": f'@prefix x: <http://x/> .\nx:a x:r x:b ; {LABEL} "Anna"@en .\nx:b x:n "7" .\n',
    "g.trig": f'@prefix x: <http://x/> .\nx:g {{ x:a x:r x:b ; {LABEL} "Anna"@en . }}\nx:b x:n "7" .\n',
    "g.rdf": '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/" '
    'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"><rdf:Description rdf:about="http://x/a"><x:r rdf:resource="http://x/b"/>'
    '<rdfs:label xml:lang="en">Anna</rdfs:label></rdf:Description><rdf:Description rdf:about="http://x/b"><x:n>7</x:n>'
    "</rdf:Description></rdf:RDF>\n",
    "g.jsonld": '{"@context": {"x": "http://x/", "label": "http://www.w3.org/2000/01/rdf-schema#label"}, "@graph": ['
    '{"@id": "x:a", "x:r": {"@id": "x:b"}, "label": {"@value": "Anna", "@language": "en"}}, {"@id": "x:b", "x:n": "7"}]}',
}


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def facts_of(graph):
    triples = {(graph.entities[h], graph.relations[r], graph.entities[t]) for h, r, t in graph.triples.tolist()}
    names = dict(zip(graph.entities, graph.names, strict=True))
    facts = zip(graph.attributes.facts.tolist(), graph.attributes.values, strict=True)
    return triples, names, {(graph.entities[e], graph.attributes.properties[p], value) for (e, p), value in facts}


@pytest.mark.parametrize("name", SAME_GRAPH)
def test_every_format_gives_the_same_graph(tmp_path, name):
    graph = read_graph(write(tmp_path / name, SAME_GRAPH[name]))
    assert facts_of(graph) == (
        {("http://x/a", "http://x/r", "http://x/b")},
        {"http://x/a": "Anna", "http://x/b": "b"},
        {("http://x/b", "http://x/n", "7")},
    )
    assert graph.record["broken"] == 0


@pytest.mark.parametrize("name", [name for name in SAME_GRAPH if name not in ("g.trig", "g.nq")])
def test_the_content_tells_the_format_where_the_name_does_not(tmp_path, name):
    graph = read_graph(write(tmp_path / "dump", SAME_GRAPH[name]))
    assert sorted(graph.names) == ["Anna", "b"]


@pytest.mark.parametrize("name", ["g.nt", "g.ttl"])
def test_compressed_files_read_alike(tmp_path, name):
    text = ("\ufeff" + SAME_GRAPH[name]).encode()
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text))
    (tmp_path / f"{name}.bz2").write_bytes(bz2.compress(text))
    with pa.output_stream(str(tmp_path / f"{name}.zst"), compression="zstd") as stream:
        stream.write(text)
    for ending in ("gz", "bz2", "zst"):
        assert list(read_graph(tmp_path / f"{name}.{ending}").names) == ["Anna", "b"]


def test_a_file_that_is_cut_off_gives_what_came_before(tmp_path):
    lines = "".join(f'<http://x/{i}> {LABEL} "{hash(str(i))}" .\n' for i in range(100_000))
    whole = gzip.compress(lines.encode())
    path = tmp_path / "g.nt.gz"
    path.write_bytes(whole[: len(whole) // 2])
    graph = read_graph(path)
    assert 1000 < len(graph.entities) < 100_000
    assert "expected a whole gzip file" in " ".join(graph.record["first broken"])
    with pytest.raises(DataError, match=r"g\.nt\.gz: expected a whole gzip file"):
        read_graph(path, strict=True)


def test_files_of_a_folder_a_pattern_or_a_list_are_one_graph(tmp_path):
    write(tmp_path / "1.nt", "<http://x/a> <http://x/r> _:n .\n_:n <http://x/r> <http://x/b> .\n")
    write(tmp_path / "2.ttl", "<http://x/b> <http://x/r> _:n , [] .\n")
    write(tmp_path / "readme.txt", "not a graph")
    for place in (tmp_path, str(tmp_path / "[12].*"), [tmp_path / "1.nt", str(tmp_path / "2.ttl")]):
        graph = read_graph(place)
        assert graph.entities == ["http://x/a", "_:f1.n", "http://x/b", "_:f2.n", "_:f2.anon2"]
        assert graph.record["blank nodes"] == 3


def test_blank_nodes_without_a_name_are_no_queries(tmp_path):
    write(tmp_path / "l.ttl", f'<http://x/a> <http://x/r> [ {LABEL} "Anna" ] , [] .\n')
    task, _ = read(tmp_path / "l.ttl", tmp_path / "l.ttl")
    assert [task.source.names[query] for query in task.queries] == ["a", "Anna"]


PEOPLE = """@prefix x: <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
x:Anna a x:Person , owl:NamedIndividual ; rdfs:label "Anna" . x:Berta a x:Person ; rdfs:label "Berta" ; x:knows x:Anna .
x:Rex a x:Dog ; rdfs:label "Rex" . x:Oslo a owl:Thing ; rdfs:label "Oslo" .
x:Person a owl:Class ; rdfs:label "person" ; rdfs:subClassOf x:Being . x:Dog a x:Species ; x:eats x:Bone .
x:knows rdfs:range x:Person .
"""


def queries_of(path, **options):
    task, _ = read(path, path, **options)
    assert np.array_equal(task.queries, task.pool)
    return {task.source.entities[query].rpartition("/")[2].rpartition("#")[2] for query in task.queries}


def test_classes_are_no_queries_but_stay_in_the_graph(tmp_path):
    path = write(tmp_path / "g.ttl", PEOPLE)
    individuals = {"Anna", "Berta", "Rex", "Oslo", "Dog", "Bone"}  # Dog is a class, but one with facts of its own
    assert queries_of(path) == individuals
    assert queries_of(path, classes=True) == individuals | {"Person", "Being", "Species", "knows"}
    task, _ = read(path, path)
    assert task.source.record["classes left out"] == 4
    assert {"http://x/Person", "http://x/Being"} <= set(task.source.entities)
    assert "classes left out" not in read(path, path, classes=True)[0].source.record


def test_classes_are_queries_if_a_seed_links_one(tmp_path):
    path = write(tmp_path / "g.ttl", PEOPLE)
    assert "Being" in queries_of(path, seeds=write(tmp_path / "seeds.tsv", "http://x/Person\thttp://x/Person\n"))
    assert "Being" not in queries_of(path, seeds=write(tmp_path / "seeds.tsv", "http://x/Anna\thttp://x/Anna\n"))


def test_classes_of_an_ontology_are_queries(tmp_path):
    head = PEOPLE.partition("\n")[0]
    path = write(tmp_path / "g.ttl", head + "".join(f"x:C{i} a owl:Class ; rdfs:subClassOf x:C{i // 2} .\n" for i in range(20)))
    assert queries_of(path) == {f"C{i}" for i in range(20)}
    both, _ = read(path, write(tmp_path / "people.ttl", PEOPLE))
    assert "http://x/Person" in [both.target.entities[i] for i in both.pool]


def test_repeated_triples_count_once(tmp_path):
    row = "<http://x/a> <http://x/r> <http://x/b> .\n"
    graph = read_graph(write(tmp_path / "g.nt", f"<http://x/b> <http://x/r> <http://x/a> .\n{row}{row}"))
    assert graph.triples.tolist() == [[0, 0, 1], [1, 0, 0]]


def test_spellings_of_one_iri_are_one_entity(tmp_path):
    rows = "<http://x/Caf%C3%A9> <http://x/r> <http://x/b> .\n<http://x/Café> <http://x/s> <http://x/Caf%c3%a9> .\n"
    write(tmp_path / "g.nt", rows)
    write(tmp_path / "seeds.tsv", "<http://x/Café>\thttp://x/b\n")
    task, _ = read(tmp_path / "g.nt", tmp_path / "g.nt", seeds=tmp_path / "seeds.tsv")
    assert task.source.entities == ["http://x/Caf%C3%A9", "http://x/b"]
    assert list(task.source.names) == ["Café", "b"]
    assert task.seeds.pairs.tolist() == [[0, 1]]
    assert normal_iri("http://x/a%2fb%7E%E4%ZZ") == "http://x/a%2Fb~%E4%ZZ"


BROKEN = """<http://x/a> <http://x/r> <http://x/b> .
rubbish
<http://x/a> <http://x/r> "no end .
<http://x/a b|c> <http://x/r> <http://x/c> .
"literal" <http://x/r> <http://x/c> .
# a comment

<http://x/c> <http://x/r> <http://x/d> .
"""


def test_broken_lines_are_counted_and_do_not_harm_others(tmp_path):
    graph = read_graph(write(tmp_path / "g.nt", BROKEN))
    assert graph.entities == ["http://x/a", "http://x/b", "http://x/a b|c", "http://x/c", "http://x/d"]
    assert graph.record["broken"] == 3
    assert [line.split("g.nt:")[1].split(":")[0] for line in graph.record["first broken"]] == ["2", "3", "5"]
    assert "expected N-Triples, found 'rubbish'" in graph.record["first broken"][0]


def test_strict_refuses_the_first_broken_line(tmp_path):
    with pytest.raises(DataError, match=r"g\.nt:2: expected N-Triples, found 'rubbish' .*; mend it, or leave out `strict`"):
        read_graph(write(tmp_path / "g.nt", BROKEN), strict=True)
    with pytest.raises(DataError, match=r"g\.ttl:2: expected Turtle, found 'x:a x:r y:b \.' \(The prefix y: has not"):
        read_graph(write(tmp_path / "g.ttl", "@prefix x: <http://x/> .\nx:a x:r y:b .\n"), strict=True)


def test_turtle_goes_on_after_an_error(tmp_path):
    graph = read_graph(write(tmp_path / "g.ttl", "@prefix x: <http://x/> .\nx:a x:r y:b .\nx:a x:r x:c .\n"))
    assert (graph.entities, graph.record["broken"]) == (["http://x/a", "http://x/c"], 1)


UNCLOSED = ('x:q x:n "no end .', "x:q x:n 'it's' .", "x:q x:r <http://x/no_end .", "x:q x:r [ x:r x:z .")


@pytest.mark.parametrize("bad", UNCLOSED)
def test_an_unclosed_literal_or_node_harms_its_sentence_only(tmp_path, bad):
    text = (
        "@prefix x: <http://x/> .\nx:a x:r x:b .\n"
        + bad
        + "\n"
        + "".join(f'x:s{i} x:n "v{i}" ;\n  x:r <o> .\n' for i in range(300))
    )
    graph = read_graph(write(tmp_path / "g.ttl", "@base <http://x/> .\n" + text))
    assert {entity for entity in graph.entities if not entity.startswith("_:")} - {"http://x/z"} == {
        "http://x/a", "http://x/b", "http://x/o", *(f"http://x/s{i}" for i in range(300)),
    }  # fmt: skip
    assert graph.record["broken"] == 1
    assert f"g.ttl:4: expected Turtle, found {bad!r}" in graph.record["first broken"][0]
    with pytest.raises(DataError, match=r"g\.ttl:4: expected Turtle"):
        read_graph(tmp_path / "g.ttl", strict=True)


def test_a_literal_whose_lines_end_in_dots_is_one_literal(tmp_path, monkeypatch):
    text = '"""One.\nTwo.\nThree."""'
    rows = "".join(f"x:s{i} x:about {text} ; x:r x:o .\n" for i in range(50))
    path = write(tmp_path / "g.ttl", f"@prefix x: <http://x/> .\n{rows}")
    for block in (1 << 18, 100, 7):  # some blocks end inside the literal
        monkeypatch.setattr("kgalign.readers.rdf_parser.BLOCK", block)
        graph = read_graph(path, strict=True)
        assert (len(graph.entities), len(graph.triples)) == (51, 50)
    write(path, f"@prefix x: <http://x/> .\nx:q x:n 'it's' .\n{rows}")
    graph = read_graph(path)
    assert (len(graph.entities), graph.record["broken"], graph.record["mended"]) == (51, 1, 0)


@pytest.mark.parametrize("name", SAME_GRAPH)
def test_a_statement_with_a_bad_iri_is_kept_and_counted(tmp_path, name):
    text = SAME_GRAPH[name].replace("x:b", "<http://x/b c>" if name in ("g.ttl", "g.trig") else "x:b c").replace("x/b", "x/b c")
    graph = read_graph(write(tmp_path / name, text.replace("b c c", "b c")))
    assert sorted(graph.entities) == ["http://x/a", "http://x/b c"]
    assert (graph.record["broken"], graph.record["mended"]) == (0, 2)
    first = graph.record["first mended"][0]
    line = {"g.nt": 1, "g.nq": 1, "g.ttl": 2}.get(name)
    assert first.startswith(f"{tmp_path / name}:{line}: read" if line else f"{tmp_path / name}: read 'http://x/b c'")
    with pytest.raises(DataError, match=re.escape(f"{tmp_path / name}") + r".*mend it, or leave out `strict`"):
        read_graph(tmp_path / name, strict=True)


@pytest.mark.parametrize("name", ["g.nt", "g.ttl", "g.trig"])
@pytest.mark.parametrize(
    "cut", ['<http://x/b> <http://x/n> "Par', "<http://x/b> <http://x/r>", '<http://x/b> <http://x/n> """Paris\n']
)
def test_a_file_that_ends_inside_a_statement_is_said_to_be_cut_off(tmp_path, name, cut):
    path = write(tmp_path / name, f'<http://x/a> <http://x/n> "Rome" .\n{cut}')
    told = "the file ends in the middle of a statement: is it cut off?"
    assert (told in read_graph(path).record["first broken"][-1]) == (name != "g.nt" or not cut.endswith("\n"))
    write(path, '<http://x/a> <http://x/n> "Rome" .\n<http://x/b> rubbish .')
    assert told not in read_graph(path).record["first broken"][0]


def test_the_lost_lines_of_a_document_are_one_message(tmp_path):
    rows = "".join(f"x:s{i} x:r x:o{i} .\n" for i in range(5))
    graph = read_graph(write(tmp_path / "g.trig", f'@prefix x: <http://x/> .\n{rows}x:q x:n """no end .\n{rows}'))
    assert len(graph.triples) == 5
    assert graph.record["broken"] == 1
    assert graph.record["first broken"][0].endswith("; lines 7 to 12 could not be read")


def test_files_that_are_no_graph_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"g\.nt: the graph is empty.*g\.nt:1: expected N-Triples"):
        read_graph(write(tmp_path / "g.nt", "a\tb\tc\n"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no graph in this folder; expected RDF"):
        read_graph(tmp_path / "empty")
    with pytest.raises(DataError, match="its @context lies elsewhere"):
        read_graph(
            write(tmp_path / "g.jsonld", '{"@context": "http://schema.org/", "@id": "http://x/a", "name": "A"}'), strict=True
        )
    with pytest.raises(DataError, match="no such file"):
        read_statements([tmp_path / "nowhere.nt"])
    with pytest.raises(DataError, match="not recognised as RDF"):
        read_graph([write(tmp_path / "g.tsv", "a\tr\tb\n"), tmp_path / "g.nt"])
    with pytest.raises(DataError, match="this is one graph: give the other one too"):
        read(tmp_path)


def test_statements_about_statements_are_left_out(tmp_path):
    rows = "<http://x/a> <http://x/r> <http://x/b> .\n<http://x/a> <http://x/r> <<( <http://x/a> <http://x/r> <http://x/b> )>> .\n"
    graph = read_graph(write(tmp_path / "g.nt", rows))
    assert (len(graph.triples), graph.record["statements about statements, left out"]) == (1, 1)


def labelled(prefix, rows):
    return "".join(f"<http://{prefix}/{entity}> <http://{prefix}/{label}> {value} .\n" for entity, label, value in rows)


def test_a_property_that_behaves_like_a_label_is_one(tmp_path):
    people = [("Anna Berg", "a@x.org"), ("Bruno Vega", "b@x.org"), ("Carla Dorn", "c@x.org"), ("Dario Rossi", "d@x.org")]
    rows = [(f"p{i}", "called", f'"{name}"') for i, (name, _) in enumerate(people)]
    rows += [(f"p{i}", "email", f'"{email}"') for i, (_, email) in enumerate(people)]
    rows += [(f"p{i}", "code", f'"X{i}0{i}"') for i in range(4)] + [(f"p{i}", "kind", '"person"') for i in range(4)]
    rows += [(f"p{i}", "biography", f'"{name} was born and {"did this and that " * 9}"') for i, (name, _) in enumerate(people)]
    graph = read_graph(write(tmp_path / "g.nt", labelled("x", rows)))
    assert list(graph.names) == [name for name, _ in people]
    assert graph.record["names from"] == "http://x/called"
    (named,) = graph.record["names by class"]
    assert named["names"] == ["http://x/called on 100% (short text, nearly unique)"]
    assert "http://x/kind on 100% (many share a value)" in named["no names"]
    given_labels = read_graph(tmp_path / "g.nt", labels=["<http://x/code>"])
    assert given_labels.record["names by class"][0]["names"] == ["http://x/code on 100% (given)"]
    assert list(given_labels.names) == ["X000", "X101", "X202", "X303"]
    with pytest.raises(OptionError, match="`labels` http://x/title: no literal has this property; there are http://x/called"):
        read_graph(tmp_path / "g.nt", labels=["http://x/title"])


def in_languages(tags):
    return "".join(f'<http://x/{i}> {LABEL} "{tag} {i}"{tag and f"@{tag}"} .\n' for i in range(4) for tag in tags)


@pytest.mark.parametrize(
    ("left", "right", "languages", "chosen"),
    [
        (["fr"], ["en"], (), ("fr", "en")),  # each has one only
        (["de", "fr", "en-GB"], ["en"], (), ("en-GB", "en")),  # a common one
        (["zh", "en"], ["ja", "en"], ("zh", "ja"), ("zh", "ja")),
        (["zh", "en"], ["ja", "en"], ("en",), ("en", "en")),
        (["", "de"], ["de"], (), ("de", "de")),
        (["pt", "pt-BR"], ["en"], ("pt-br", "en"), ("pt-BR", "en")),
    ],
)
def test_names_are_chosen_in_a_common_language(tmp_path, left, right, languages, chosen):
    write(tmp_path / "l.nt", in_languages(left))
    write(tmp_path / "r.nt", in_languages(right))
    task, _ = read(tmp_path / "l.nt", tmp_path / "r.nt", languages=languages)
    assert (task.source.names[0].split()[0], task.target.names[0].split()[0]) == chosen


def test_an_entity_without_a_name_in_that_language_takes_another(tmp_path):
    rows = in_languages(["fr"]) + f'<http://x/9> {LABEL} "nine"@en .\n<http://x/9> {LABEL} "neun"@de .\n'
    assert read_graph(write(tmp_path / "g.nt", rows)).names[-1] == "nine"
    with pytest.raises(OptionError, match=r"`languages` xx: no name is in this language; there are fr \(80%\)"):
        read_graph(tmp_path / "g.nt", languages=["xx"])


def test_options_of_rdf_are_refused_for_tables(tmp_path):
    write(tmp_path / "g.tsv", "a\tr\tb\n")
    with pytest.raises(OptionError, match="`labels`, `languages` and `strict` are for RDF, and this graph comes with its names"):
        read(tmp_path / "g.tsv", tmp_path / "g.tsv", strict=True)


def test_a_table_of_names_comes_before_all_others(tmp_path):
    write(tmp_path / "g.nt", SAME_GRAPH["g.nt"])
    write(tmp_path / "g.tsv", "a\tr\tb\n")
    write(tmp_path / "names.tsv", "<http://x/a>\tAnne\nhttp://x/unknown\tNemo\n")
    task, _ = read(tmp_path / "g.nt", tmp_path / "g.tsv", names_source=tmp_path / "names.tsv")
    assert (list(task.source.names), list(task.target.names)) == (["Anne", "b"], ["a", "b"])
    with pytest.raises(DataError, match=r"names\.tsv: no entity of the graph is in this table"):
        read(tmp_path / "g.nt", tmp_path / "g.tsv", names_target=tmp_path / "names.tsv")


def write_demo(folder, source_name, target_name):
    task, _ = demo("fr_en", protocol="open")
    write_graph(task.source, folder / source_name, "fr")
    write_graph(task.target, folder / target_name, "en")
    pairs = [f"{task.source.entities[s]}\t{task.target.entities[t]}\n" for s, t in task.seeds.pairs.tolist()]
    return task, write(folder / "seeds.tsv", "".join(pairs))


@pytest.mark.parametrize(("source_name", "target_name"), [("l.nt", "r.nt.gz"), ("l.ttl.gz", "r.ttl")])
def test_the_demo_written_as_rdf_reads_as_the_same_task(tmp_path, source_name, target_name):
    task, seeds = write_demo(tmp_path, source_name, target_name)
    again, _ = read(tmp_path / source_name, tmp_path / target_name, seeds=seeds, strict=True)
    for graph, other in ((task.source, again.source), (task.target, again.target)):
        assert list(map(normal_iri, graph.entities)) == list(map(normal_iri, other.entities))
        assert (graph.relations, list(graph.names)) == (other.relations, list(other.names))
        assert np.array_equal(graph.triples, other.triples)
    assert np.array_equal(task.seeds.pairs, again.seeds.pairs)
    assert np.array_equal(task.queries, again.queries)
    assert np.array_equal(task.pool, again.pool)


@pytest.mark.slow
def test_the_demo_aligns_alike_from_rdf(tmp_path):
    task, seeds = write_demo(tmp_path, "left.nt.gz", "right.ttl")
    again, _ = read(tmp_path / "left.nt.gz", tmp_path / "right.ttl", seeds=seeds)
    expected, found = align(task).alignment, align(again).alignment
    same = np.isin(found.keys, expected.keys).sum()  # RDF has names without brackets, too
    assert same > 0.99 * max(len(found), len(expected))
    assert len(found) > 800


def test_literals_and_odd_characters_survive_writing(tmp_path):
    name = 'quotes " and \\ and\nlines\tand \u007f and 猫 and 🐈'
    write(tmp_path / "g.tsv", "a <b>\tr\tc|d\n")
    write(tmp_path / "names.tsv", "c|d\tplain\n")
    task, _ = read(tmp_path / "g.tsv", tmp_path / "g.tsv", names_source=tmp_path / "names.tsv")
    graph = task.source
    object.__setattr__(graph, "names", Names.of([name, "plain"]))
    for ending in ("nt", "ttl"):
        write_graph(graph, tmp_path / f"out.{ending}")
        again = read_graph(tmp_path / f"out.{ending}", strict=True)
        assert list(again.names) == [" ".join(name.split()), "plain"]
    with pytest.raises(OptionError, match="no format has this ending"):
        write_graph(graph, tmp_path / "out.xml")


def packed(data, packing):
    if packing == "zst":
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(data)
        return sink.getvalue().to_pybytes()
    return {"": bytes, "gz": gzip.compress, "bz2": bz2.compress}[packing](data)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(sorted(SAME_GRAPH)),
    wounds=st.lists(
        st.tuples(
            st.sampled_from(["cut", "drop", "insert", "swap", "repeat"]), st.floats(0, 1), st.floats(0, 1), st.binary(max_size=6)
        ),
        min_size=1,
        max_size=8,
    ),
    packing=st.sampled_from(["", "gz", "bz2", "zst"]),
    is_packed_first=st.booleans(),
    strict=st.booleans(),
)
def test_no_damage_gives_a_traceback(tmp_path, name, wounds, packing, is_packed_first, strict):
    data = SAME_GRAPH[name].encode()
    data = packed(data, packing) if is_packed_first else data
    for kind, start, length, noise in wounds:
        at = int(start * len(data))
        end = min(len(data), at + 1 + int(length * 40))
        data = {
            "cut": data[:at],
            "drop": data[:at] + data[end:],
            "insert": data[:at] + noise + data[at:],
            "swap": data[:at] + data[at:end][::-1] + data[end:],
            "repeat": data[:end] + data[at:],
        }[kind]
    path = tmp_path / f"{name}.{packing}".rstrip(".")
    path.write_bytes(data if is_packed_first else packed(data, packing))
    message = ""
    try:
        read_graph(path, strict=strict)
    except DataError as error:
        message = str(error)
    assert not message or (message.startswith(str(path)) and "\n" not in message)


def test_the_command_line_aligns_rdf_with_nothing_else(tmp_path):
    write(
        tmp_path / "left.nt",
        labelled("l", [("1", "title", '"Rome"'), ("2", "title", '"Paris"'), ("3", "title", '"Oslo"')]) + "rubbish\n",
    )
    write(tmp_path / "right.ttl", "".join(f'<http://r/{name}> {LABEL} "{name}"@en .\n' for name in ("Oslo", "Rome", "Paris")))
    run = [sys.executable, "-m", "kgalign"]
    done = subprocess.run([*run, "align", "left.nt", "right.ttl", "-o", "run"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "source: names from http://l/title; language none, 100% of the subjects named" in done.stderr
    assert "source: broken statements that are left out: 1" in done.stderr
    assert "left.nt:4: expected N-Triples, found 'rubbish'" in done.stderr
    report = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert (report["reading"]["source"]["broken"], report["reading"]["target"]["language of the names"]) == (1, "en")
    links = {tuple(line.split("\t")[:2]) for line in (tmp_path / "run" / "alignment.tsv").read_text().splitlines()[1:]}
    assert links == {("http://l/1", "http://r/Rome"), ("http://l/2", "http://r/Paris"), ("http://l/3", "http://r/Oslo")}
    done = subprocess.run([*run, "align", "left.nt", "right.ttl", "--strict"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, "left.nt:4: expected N-Triples" in done.stderr) == (2, True)
    write(tmp_path / "people.ttl", PEOPLE)
    done = subprocess.run([*run, "align", "people.ttl", "people.ttl", "-o", "run"], cwd=tmp_path, capture_output=True, text=True)
    assert "source: classes and properties that are left out: 4; --classes aligns them too" in done.stderr
    done = subprocess.run([*run, "info", "people.ttl"], cwd=tmp_path, capture_output=True, text=True)
    assert "classes 3 properties 1" in " ".join(done.stdout.replace("│", " ").split())
    done = subprocess.run([*run, "info", "left.nt"], cwd=tmp_path, capture_output=True, text=True)
    assert "    names: http://l/title on 100% (by its own name)" in done.stdout.splitlines()


def test_broken_sentences_are_read_in_linear_time_whatever_the_number_of_prefixes(tmp_path):
    declared = "".join(f"@prefix p{number}: <http://x/{number}/> .\n" for number in range(4000))
    broken = "".join(f"p{number}:a p{number}:b p{number}:c p{number}:d .\n" for number in range(4000))
    began = time.process_time()
    graph = read_graph(write(tmp_path / "g.ttl", declared + broken))
    assert graph.record["broken"] == 4000
    assert time.process_time() - began < 5


def test_a_broken_sentence_knows_every_prefix_that_it_names(tmp_path):
    declared = "".join(f"@prefix p{number}: <http://x/{number}/> .\n" for number in range(100))
    declared += "@prefix : <http://y/> .\n@prefix é.x: <http://z/> .\n@base <http://base/> .\n"
    sentences = ":a p1:n 1.p2:a p3:n 'x'@en.é.x:a p4:r <b>.p5:a p6:r p7:b .\n@prefix p8: <http://new/> .\np8:a p8:r p8:b .\n"
    graph = read_graph(write(tmp_path / "g.ttl", f"{declared}p0:a p0:b p0:c p0:d .\n{sentences}"))
    triples, names, facts = facts_of(graph)
    assert triples >= {("http://z/a", "http://x/4/r", "http://base/b"), ("http://x/5/a", "http://x/6/r", "http://x/7/b")}
    assert triples >= {("http://new/a", "http://new/r", "http://new/b")}
    assert (facts, names["http://x/2/a"]) == ({("http://y/a", "http://x/1/n", "1")}, "x")
    assert graph.record["broken"] == 1


IRIS = st.sampled_from(["p1:a", "p2:b", ":c", "é.x:d", "p.q:r-s", "<e>", "p3:a%20b", "p4:a\\~b", "p5:a:b", "p6:"])
LITERALS = st.sampled_from(['"x"', "'x'@en", '"1"^^p7:t', "1", "1.5", "true", '"""p8:a"""', "'~p9:a'"])
TERMS = st.recursive(
    IRIS.map(lambda iri: [iri]) | LITERALS.map(lambda literal: [literal]),
    lambda terms: (
        st.tuples(IRIS, terms).map(lambda pair: ["[", pair[0], *pair[1], "]"])
        | st.lists(terms, max_size=3).map(lambda each: ["(", *chain.from_iterable(each), ")"])
    ),
    max_leaves=4,
)
ANNOTATIONS = st.sampled_from([[], ["~", "p1:r"], ["{|", "p2:s", "p3:o", "|}"], ["~", ":r", "{|", "é.x:s", "1", "|}"]])
SENTENCES = st.tuples(IRIS, IRIS, st.lists(st.tuples(TERMS, ANNOTATIONS), min_size=1, max_size=3), st.booleans())


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sentence=SENTENCES)
def test_a_sentence_is_as_whole_beside_a_broken_one_as_alone(tmp_path, sentence):
    subject, relation, objects, has_blanks = sentence
    words = [subject, relation]
    for number, (term, annotation) in enumerate(objects):
        words += [*([","] if number else []), *term, *annotation]
    text = " ".join(words)
    if not has_blanks:
        text = re.sub(r" ?([\[\](),~]|\{\||\|\}) ?", r"\1", text)
    declared = "".join(f"@prefix p{number}: <http://x/{number}/> .\n" for number in range(60))
    declared += "@prefix : <http://y/> .\n@prefix é.x: <http://z/> .\n@prefix p.q: <http://q/> .\n@base <http://base/> .\n"
    graph = read_graph(write(tmp_path / "g.ttl", f"{declared}p0:a p0:b p0:c p0:d .\n{text} .\np0:e p0:f p0:g .\n"))
    assert graph.record["broken"] == 1, graph.record["first broken"]
