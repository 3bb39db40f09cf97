"""Graphs from objects in memory, and links as data frames."""

import datetime
import logging
import subprocess
import sys

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rdflib

import kgalign
from kgalign import KnowledgeGraph
from kgalign.writers.tsv import COLUMNS

TURTLE = """
@prefix e: <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix skosxl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
e:City a owl:Class . e:oslo a e:City ; rdfs:label "Oslo"@nb , "a \\"b\\"\\n\\\\c"@en ; e:in _:n ; e:area 454.1 ; e:founded "1048"^^e:year .
_:n rdfs:label "Norway" . e:bergen e:in _:n ; skosxl:prefLabel [ skosxl:literalForm "Bergen"@nb ] .
"""
FILMS = {
    "id": ["f1", "f2", "f3", "f4"],
    "title": ["The Third Man", "Vertigo", "Rear Window", "Metropolis"],
    "year": [1949, 1958, None, 1927],
    "director": ["Carol Reed", "Alfred Hitchcock", "Alfred Hitchcock", "Fritz Lang"],
    "genres": [["noir", "crime"], ["noir"], None, ["silent"]],
}
DISCS = {
    "name": ["Metropolis", "Third Man", "Vertigo", "Rear window", "Casablanca"],
    "made": [datetime.date(1927, 1, 10), datetime.date(1949, 9, 2), None, datetime.date(1954, 8, 1), datetime.date(1942, 11, 26)],
    "by": ["Fritz Lang", "Carol Reed", "Alfred Hitchcock", "Alfred Hitchcock", "Michael Curtiz"],
}
RIGHT = {("f1", "Third Man"), ("f2", "Vertigo"), ("f3", "Rear window"), ("f4", "Metropolis")}


@pytest.fixture(scope="module")
def run():
    task, _ = kgalign.read(pd.DataFrame(FILMS), pl.DataFrame(DISCS))
    return kgalign.align(task)


def facts(graph):
    """Triples, literals and names by the IRIs of their entities."""
    triples = {(graph.entities[head], graph.relations[relation], graph.entities[tail]) for head, relation, tail in graph.triples}
    literals = zip(graph.attributes.facts.tolist(), graph.attributes.values, graph.attributes.kinds, strict=True)
    return triples, {(graph.entities[who], graph.attributes.properties[what], text, kind) for (who, what), text, kind in literals}


def names(graph):
    return {(graph.entities[owner], text) for owner, text in zip(graph.names.owner.tolist(), graph.names.text, strict=True)}


def test_triples_have_entities_and_literals():
    graph = KnowledgeGraph.from_triples(
        [("Oslo", "capital of", "Norway"), ("Oslo", "founded", 1048), ("Norway", "name", "Norge"), ("Norway", "motto", '"Alt"@nb')],
        attributes=[("Oslo", "area", 454.1), ("Oslo", "alias", ['"Tigerstaden"', "Christiania"]), ("Oslo", "mayor", None)],
    )
    triples, literals = facts(graph)
    xsd = "^^http://www.w3.org/2001/XMLSchema#"
    assert triples == {("Oslo", "capital of", "Norway")}
    assert literals == {
        ("Oslo", "founded", "1048", f"{xsd}integer"),
        ("Norway", "name", "Norge", ""),
        ("Norway", "motto", "Alt", "@nb"),
        ("Oslo", "area", "454.1", f"{xsd}double"),
        ("Oslo", "alias", '"Tigerstaden"', ""),
        ("Oslo", "alias", "Christiania", ""),
    }
    assert dict(zip(graph.entities, graph.names, strict=True)) == {"Oslo": "Oslo", "Norway": "Norge"}


def test_given_names_replace_those_of_the_triples_and_may_name_further_entities():
    given = {"e1": ["Oslo", kgalign.Name("Christiania", "da", 1)], "e3": "Bergen"}
    graph = KnowledgeGraph.from_triples([("e1", "in", "Norway")], names=given)
    assert graph.entities == ["e1", "Norway", "e3"]
    assert list(graph.names) == ["Oslo", "Norway", "Bergen"]
    assert graph.names.of_entity(0) == [kgalign.Name("Oslo"), kgalign.Name("Christiania", "da", 1)]


def test_rows_are_entities_with_names_values_relations_and_lists():
    graph = KnowledgeGraph.from_pandas(pd.DataFrame(FILMS))
    triples, literals = facts(graph)
    assert names(graph) >= {("f1", "The Third Man"), ("f3", "Rear Window")}
    assert {tail for head, relation, tail in triples if relation == "director" and head in ("f2", "f3")} == {
        "director=Alfred Hitchcock"
    }
    assert {(who, text) for who, what, text, _ in literals if what == "year"} == {("f1", "1949"), ("f2", "1958"), ("f4", "1927")}
    assert {(who, text) for who, what, text, _ in literals if what == "genres"} == {
        ("f1", "noir"),
        ("f1", "crime"),
        ("f2", "noir"),
        ("f4", "silent"),
    }


def test_pandas_and_polars_give_the_same_graph():
    ours, theirs = KnowledgeGraph.from_pandas(pd.DataFrame(FILMS)), KnowledgeGraph.from_polars(pl.DataFrame(FILMS, strict=False))
    lazy = KnowledgeGraph.from_polars(pl.LazyFrame(FILMS, strict=False))
    assert facts(ours) == facts(theirs) == facts(lazy)
    assert names(ours) == names(theirs) == names(lazy)


def test_a_named_index_is_the_column_with_the_ids_and_a_filtered_one_is_not():
    frame = pd.DataFrame(FILMS)
    assert facts(KnowledgeGraph.from_pandas(frame.set_index("id"))) == facts(KnowledgeGraph.from_pandas(frame))
    some = frame[frame["year"] > 1930].drop(columns="id")
    assert "index" not in KnowledgeGraph.from_pandas(some).attributes.properties


def test_the_id_column_can_be_given():
    frame = pd.DataFrame({**FILMS, "shelf": ["s1", "s2", "s3", "s4"]})
    assert KnowledgeGraph.from_pandas(frame, id_column="shelf").entities[:4] == ["s1", "s2", "s3", "s4"]
    task, _ = kgalign.read(frame, frame, id_source="shelf", id_target="id")
    assert (task.source.entities[0], task.target.entities[0]) == ("s1", "f1")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_three_columns_of_triples_are_triples(frame):
    rows = {"head": ["Oslo", "Bergen", "Oslo"], "relation": ["in", "in", "capital of"], "tail": ["Norway", "Norway", "Norway"]}
    graph = kgalign.read_graph(frame(rows))
    assert facts(graph)[0] == set(zip(*rows.values(), strict=True))
    assert kgalign.read_graph(frame(rows), form="table").relations != graph.relations


def test_missing_values_of_every_kind_are_no_values():
    frame = pd.DataFrame(
        {
            "id": ["a", "b", "c"],
            "name": ["Ann", "Bob", "Cy"],
            "seen": pd.to_datetime(["2020-02-01", None, "2020-02-02 10:30"], format="ISO8601"),
            "count": pd.array([1, None, 3], dtype="Int64"),
            "size": [np.float64(1.5), np.nan, 2.0],
        }
    )
    _, literals = facts(KnowledgeGraph.from_pandas(frame))
    assert [literal for literal in literals if literal[0] == "b" and literal[1] != "name"] == []
    assert {text for _, what, text, _ in literals if what == "seen"} == {"2020-02-01", "2020-02-02 10:30:00"}
    assert {text for _, what, text, _ in literals if what == "size"} == {"1.5", "2"}


def test_rdflib_gives_the_graph_that_the_file_gives(tmp_path):
    (tmp_path / "graph.ttl").write_text(TURTLE, "utf-8")
    from_file = kgalign.read_graph(tmp_path / "graph.ttl")
    graph = KnowledgeGraph.from_rdflib(rdflib.Graph().parse(data=TURTLE, format="turtle"))

    def without_blanks(found):
        return {tuple("_:" if part.startswith("_:") else part for part in row) for row in found}

    assert [without_blanks(part) for part in facts(graph)] == [without_blanks(part) for part in facts(from_file)]
    assert without_blanks(names(graph)) == without_blanks(names(from_file))
    assert ("http://e.org/bergen", "Bergen") in names(graph)
    assert sorted(graph.kinds.tolist()) == sorted(from_file.kinds.tolist())


def test_all_named_graphs_of_an_rdflib_dataset_count():
    dataset = rdflib.Dataset()
    for number in (1, 2):
        own = dataset.graph(rdflib.URIRef(f"http://g.org/{number}"))
        own.add((rdflib.URIRef(f"http://e.org/{number}"), rdflib.RDFS.label, rdflib.Literal(f"number {number}")))
    assert KnowledgeGraph.from_rdflib(dataset).entities == ["http://e.org/1", "http://e.org/2"]


def test_bad_iris_of_rdflib_are_counted_and_kept_or_refused():
    graph = rdflib.Graph()
    graph.add((rdflib.URIRef("http://e.org/a b"), rdflib.RDFS.label, rdflib.Literal("ab")))
    graph.add((rdflib.URIRef("http://e.org/c"), rdflib.RDFS.label, rdflib.Literal("c")))
    found = KnowledgeGraph.from_rdflib(graph)
    assert set(found.entities) == {"http://e.org/a b", "http://e.org/c"}
    assert found.record["mended"] == 1
    with pytest.raises(kgalign.DataError, match="rdflib graph: expected N-Triples, found"):
        KnowledgeGraph.from_rdflib(graph, strict=True)


def test_networkx_has_attributes_names_and_relations():
    graph = nx.MultiDiGraph()
    graph.add_node(1, name="Oslo", area=454.1, twins=["Rotterdam", "Schleswig"])
    graph.add_node(2, name="Norway", area=None)
    graph.add_edge(1, 2, relation="capital of", weight=3)
    graph.add_edge(1, 2, key="lies in")
    graph.add_edge(2, 1)
    found = KnowledgeGraph.from_networkx(graph)
    triples, literals = facts(found)
    assert triples == {("1", "capital of", "2"), ("1", "lies in", "2"), ("2", "edge", "1")}
    assert names(found) == {("1", "Oslo"), ("2", "Norway")}
    assert {(who, what, text) for who, what, text, _ in literals} == {
        ("1", "area", "454.1"),
        ("1", "twins", "Rotterdam"),
        ("1", "twins", "Schleswig"),
    }


def test_an_undirected_edge_of_networkx_holds_in_both_directions():
    graph = nx.Graph([("Oslo", "Bergen", {"road": "E16"})])
    assert facts(KnowledgeGraph.from_networkx(graph, relation="road"))[0] == {("Oslo", "E16", "Bergen"), ("Bergen", "E16", "Oslo")}


def test_two_frames_are_linked_by_their_ids(run):
    assert {(link.source, link.target) for link in run.links if link.probability > 0.5} >= RIGHT
    assert "Casablanca" not in {link.target for link in run.links if link.probability > 0.5}


def test_graphs_of_all_kinds_can_be_read_against_each_other(run):
    sides = [
        KnowledgeGraph.from_pandas(pd.DataFrame(FILMS)),
        pd.DataFrame(FILMS),
        nx.from_pandas_edgelist(pd.DataFrame({"a": ["Vertigo", "Rear Window"], "b": ["Hitchcock", "Hitchcock"]}), "a", "b"),
        rdflib.Graph().parse(data=TURTLE, format="turtle"),
    ]
    for side in sides:
        task, gold = kgalign.read(side, pl.DataFrame(DISCS))
        assert len(task.queries)
        assert not len(gold)
    task, _ = kgalign.read(sides[0], KnowledgeGraph.from_polars(pl.DataFrame(DISCS)))
    assert list(kgalign.align(task).links) == list(run.links)


def test_a_frame_and_a_file_are_aligned(tmp_path):
    pd.DataFrame(DISCS).to_csv(tmp_path / "discs.csv", index=False)
    task, _ = kgalign.read(pd.DataFrame(FILMS), tmp_path / "discs.csv")
    assert {(link.source, link.target) for link in kgalign.align(task).links if link.probability > 0.5} >= RIGHT


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: kgalign.read(3, pd.DataFrame(FILMS)), "int: expected a path, or in memory: a KnowledgeGraph"),
        (lambda: kgalign.read([("a", "b", "c")], pd.DataFrame(FILMS)), "KnowledgeGraph.from_triples takes triples"),
        (lambda: kgalign.read(pd.DataFrame(FILMS)), "a pandas data frame: this is one graph: give the other one too"),
        (lambda: KnowledgeGraph.from_pandas(nx.Graph()), "Graph: expected a pandas data frame"),
        (lambda: KnowledgeGraph.from_rdflib(nx.Graph()), "Graph: expected an rdflib graph"),
        (lambda: KnowledgeGraph.from_networkx(rdflib.Graph()), "Graph: expected a networkx graph"),
        (lambda: KnowledgeGraph.from_networkx(nx.Graph()), "the graph is empty; expected at least one node"),
        (lambda: KnowledgeGraph.from_networkx(nx.path_graph(2), relation="r"), "relation='r': no edge has this attribute"),
        (lambda: KnowledgeGraph.from_rdflib(rdflib.Graph()), "the graph is empty; expected at least one statement"),
        (lambda: KnowledgeGraph.from_pandas(pd.DataFrame({"id": [], "name": []})), "the graph is empty; expected rows"),
        (lambda: KnowledgeGraph.from_pandas(pd.DataFrame()), "the graph is empty; expected rows"),
        (lambda: KnowledgeGraph.from_polars(pl.DataFrame({"a": ["x"]}), "triples"), "expected columns of head, relation and tail"),
        (lambda: KnowledgeGraph.from_polars(pl.DataFrame({"a": ["x"]}), "rows"), "form='rows': expected table or triples"),
        (
            lambda: KnowledgeGraph.from_pandas(pd.DataFrame(FILMS), id_column="key"),
            "no column is called 'key'; there are id, title",
        ),
        (lambda: KnowledgeGraph.from_triples([]), "triples: the graph is empty"),
        (lambda: KnowledgeGraph.from_triples([("a", "b")]), r"triples\[0\]: expected head, relation and tail, found \('a', 'b'\)"),
        (lambda: KnowledgeGraph.from_triples([("a", "b", None)]), r"triples\[0\]: expected head, relation and tail"),
        (lambda: KnowledgeGraph.from_triples(["abc"]), r"triples\[0\]: expected head, relation and tail, found 'abc'"),
        (lambda: KnowledgeGraph.from_triples([("a", "r", "b")], attributes=[("a", None, 3)]), r"attributes\[0\]: expected entity"),
    ],
)
def test_a_mistake_is_one_line(wrong, message):
    with pytest.raises(kgalign.KgalignError, match=message) as raised:
        wrong()
    assert "\n" not in str(raised.value)


LINKS = [("f1", "Third Man"), ("f4", "Metropolis")]


@pytest.mark.parametrize("option", ["seeds", "gold", "rejected"])
@pytest.mark.parametrize(
    "links",
    [
        LINKS,
        tuple(LINKS),
        [[*link, 0.9, "note"] for link in LINKS],
        np.array(LINKS),
        dict(LINKS),
        pd.DataFrame(LINKS),
        pd.DataFrame(LINKS, columns=["source", "target"])[["target", "source"]],
        pl.DataFrame(LINKS, schema=["a", "b"], orient="row"),
    ],
    ids=lambda links: type(links).__name__,
)
def test_links_may_be_in_memory(option, links):
    task, gold = kgalign.read(pd.DataFrame(FILMS), pl.DataFrame(DISCS), **{option: links})
    found = {"seeds": task.seeds, "gold": gold, "rejected": task.rejected}[option]
    pairs = {(task.source.entities[source], task.target.entities[target]) for source, target in found.pairs}
    assert pairs == set(LINKS)


def test_the_links_of_a_run_are_seeds_of_another(run):
    task, _ = kgalign.read(pd.DataFrame(FILMS), pl.DataFrame(DISCS), seeds=run.links)
    assert len(task.seeds) == len(run.links)


def test_links_in_memory_are_found_counted_and_left_out_as_those_of_a_file(caplog):
    frames = pd.DataFrame(FILMS), pl.DataFrame(DISCS)
    task, _ = kgalign.read(*frames, seeds=[("gone", "Vertigo"), *LINKS])
    assert len(task.seeds) == 2
    assert "seeds: 1 of 3 links is left out, since an entity is not found; the first: 1: the source graph has no" in caplog.text
    with pytest.raises(kgalign.DataError, match="none of the 1 links of `seeds` can be used"):
        kgalign.read(*frames, seeds=[("gone", "Vertigo")])
    numbers = pd.DataFrame({"id": [1, 2], "name": ["Rome", "Oslo"]}), pd.DataFrame({"id": [7, 8], "name": ["Roma", "Oslo"]})
    task, _ = kgalign.read(*numbers, seeds=[(1, 7.0)], rejected=[])
    assert (task.source.entities[task.seeds.sources[0]], task.target.entities[task.seeds.targets[0]]) == ("1", "7")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": 3}, "`seeds`: expected a file, pairs of source id and target id, .*, found int"),
        ({"gold": object()}, "`gold`: expected a file, pairs of .*, found object"),
        ({"rejected": ["f1"]}, "rejected:1: expected a pair of source id and target id, found 'f1'"),
        ({"seeds": [("f1",)]}, r"seeds:1: expected a pair of source id and target id, found \('f1',\)"),
        ({"seeds": [("f1", None)]}, "seeds:1: expected a source and a target, one is empty"),
        ({"seeds": [("f1", ["Vertigo"])]}, r"seeds:1: expected the id of an entity, found \['Vertigo'\]"),
        ({"seeds": pd.DataFrame({"source": ["f1"]})}, "`seeds`: expected columns of source and target, found source"),
        ({"seeds": kgalign.Alignment.empty()}, "`seeds`: an Alignment has the positions of entities in its own graphs"),
        ({"only_source": 5}, "`only_source`: expected IRIs, ids, classes or files, found int"),
        ({"types": 5}, "`types`: expected up to 62 pairs of a source class and a target class, such as Film=Movie, found int"),
        ({"types": "Film"}, "`types` Film: expected a class of the source, = and a class of the target, as in Film=Movie"),
        ({"types": [("a", "b", "c")]}, r"`types`: expected up to 62 pairs .*, found \('a', 'b', 'c'\)"),
    ],
)
def test_a_mistake_in_links_or_restrictions_is_one_line(options, message):
    with pytest.raises(kgalign.KgalignError, match=message) as raised:
        kgalign.read(pd.DataFrame(FILMS), pl.DataFrame(DISCS), **options)
    assert "\n" not in str(raised.value)


def test_one_text_restricts_a_task_as_on_the_command_line(tmp_path):
    frames = pd.DataFrame({**FILMS, "type": ["film"] * 3 + ["silent film"]}), pl.DataFrame({**DISCS, "type": ["disc"] * 5})
    task, _ = kgalign.read(*frames, only_source="f1, f3")
    assert [task.source.entities[query] for query in task.queries] == ["f1", "f3"]
    (tmp_path / "g.ttl").write_text('<http://x/a> <http://www.w3.org/2000/01/rdf-schema#label> "chat"@fr , "cat"@en .')
    task, _ = kgalign.read(tmp_path / "g.ttl", tmp_path / "g.ttl", languages="fr,en", labels="rdfs:label")
    assert (task.source.names[0], task.target.names[0]) == ("chat", "cat")
    task, _ = kgalign.read(*frames, types="film=disc")
    assert [task.source.entities[query] for query in task.queries] == ["f1", "f2", "f3"]


def test_links_are_tuples_of_source_target_and_probability(run):
    source, target, probability = run.links[0]
    assert (source, target) == ("f1", "Third Man")
    assert probability == run.alignment.scores[0]
    assert len(run.links) == len(list(run.links)) == len(run.alignment)
    assert run.links[:2] == [run.links[0], run.links[1]]
    assert run.links[-1] in run.links


def test_links_become_tables_with_the_columns_of_the_file(run, tmp_path):
    run.write(tmp_path / "run")
    file = pd.read_csv(tmp_path / "run" / "alignment.tsv", sep="\t", dtype={"source": str, "target": str}, keep_default_na=False)
    frame, table, polars = run.links.to_pandas(), run.links.to_arrow(), run.links.to_polars()
    assert list(frame.columns) == table.column_names == polars.columns == list(COLUMNS)
    assert isinstance(table, pa.Table)
    assert table.schema.field("source").type == pa.string()
    for column in COLUMNS:
        there = file[column].tolist() if column != "probability" else pytest.approx(file[column].tolist(), abs=1e-4)
        assert frame[column].tolist() == there
        assert polars[column].to_list() == frame[column].tolist() == table[column].to_pylist()


def test_no_links_are_an_empty_table():
    task, _ = kgalign.read(pd.DataFrame(FILMS), pd.DataFrame(DISCS))
    links = kgalign.Links(task, kgalign.Alignment.empty())
    assert list(links) == []
    assert list(links.to_pandas().columns) == list(COLUMNS)
    assert "0 links" in links._repr_html_()


def test_the_libraries_are_not_needed_and_are_named_where_they_are():
    script = """
import sys
class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars", "rdflib", "networkx", "IPython"):
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, NotInstalled())
import kgalign
graph = kgalign.KnowledgeGraph.from_triples([("Oslo", "in", "Norway"), ("Bergen", "in", "Norway")])
run = kgalign.align(kgalign.read(graph, graph)[0], progress=True)
assert len(run.links.to_arrow()) == 3
for name in ("pandas", "polars"):
    try:
        getattr(run.links, f"to_{name}")()
    except kgalign.OptionError as error:
        assert str(error) == f"to_{name}() needs {name}: pip install {name}", error
    else:
        raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_progress_function_hears_of_every_stage_and_round():
    task, gold = kgalign.demo()
    heard, rounds = [], []
    kgalign.align(task, gold, model="names", progress=heard.append, on_round=lambda figures, _: rounds.append(figures))
    assert sorted(each.seconds for each in heard) == [each.seconds for each in heard]
    assert {each.step for each in heard} == {"", "preparing", "searching by name", "predicting", "deciding"}
    assert [each.part for each in heard if each.part is not None][-1] == 1
    heard = [each for each in heard if not each.step]
    assert [each.stage for each in heard] == ["fit", "rounds", *["rounds"] * len(rounds), "evaluate", "done"]
    assert [(each.round, each.done, each.total) for each in heard[2:-2]] == [
        (figures.number, figures.confident, figures.queries) for figures in rounds
    ]


def test_a_bar_is_shown_on_a_terminal_and_nowhere_else(capfd):
    from rich.console import Console

    from kgalign.progress import Progress, shown_progress

    for is_terminal in (True, False):
        console = Console(force_terminal=is_terminal, width=100, stderr=True)
        with shown_progress(console) as show:
            show(Progress("rounds", 2, 30, 40, 1.0))
        assert ("2 rounds, 30 confident links of 40 queries" in capfd.readouterr().err) == is_terminal


def test_a_bar_in_a_notebook_is_one_output_that_changes():
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    from kgalign.progress import shown_progress

    shell = InteractiveShell.instance()
    try:
        shell.kernel = None  # a shell of a notebook has one
        shell.display_pub = CapturingDisplayPublisher()
        with shown_progress() as show:
            kgalign.align(*kgalign.demo(), model="names", progress=show)
        outputs = shell.display_pub.outputs
    finally:
        InteractiveShell.clear_instance()
    assert [each.get("update", False) for each in outputs] == [False, *[True] * (len(outputs) - 1)]
    assert len({each["transient"]["display_id"] for each in outputs}) == 1
    assert "done: " in outputs[-1]["data"]["text/html"]


def test_the_log_says_what_was_read_and_found(caplog, capfd):
    caplog.set_level(logging.INFO, "kgalign")
    kgalign.align(kgalign.read(pd.DataFrame(FILMS), pd.DataFrame(DISCS))[0])
    lines = [record.getMessage() for record in caplog.records]
    assert [line for line in lines if line.startswith("a pandas data frame: 10 entities, ") and line.endswith("names from title")]
    assert [line for line in lines if line.startswith("round 1, ")]
    assert [line for line in lines if " links of 10 queries in " in line]
    assert capfd.readouterr() == ("", "")


def test_notebooks_show_tables_in_which_every_text_is_escaped():
    evil = "<script>alert(1)</script>"
    graph = KnowledgeGraph.from_triples([(evil, evil, "b & c"), ("b & c", "name", f"{evil} b")], attributes=[(evil, evil, evil)])
    task, _ = kgalign.read(graph, graph)
    run = kgalign.align(task)
    shown = [graph, task, run, run.links, run.explain(evil), run.explain(evil)[0]]
    for thing in shown:
        html = thing._repr_html_()
        assert html.startswith("<div") and html.endswith("</div>")  # noqa: PT018
        assert "<script" not in html
        assert "<style" not in html
    assert "&lt;script&gt;alert(1)" in run.links._repr_html_()


def test_what_a_notebook_shows_has_the_figures_and_the_evidence(run):
    assert "<td" in run.task._repr_html_()
    assert ">10<" in run.task.source._repr_html_()
    assert f"{len(run.links):,} links" in run._repr_html_()
    shown = run.explain("f1")._repr_html_()
    for part in ("The Third Man is Third Man", "Evidence, in points", "runner-up", "Linked neighbours", "Carol Reed"):
        assert part in shown
    assert str(run.explain("f1")) == str(run.explain("f1")[0])
    assert len(repr(run)) + len(repr(run.links)) + len(repr(run.task)) < 400
