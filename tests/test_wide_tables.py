"""Tables with an entity on each row: ids, names, relations, lists and literals are found out."""

import bz2
import datetime
import gzip
import json
import re
import time

import pyarrow as pa
import pyarrow.parquet
import pytest
from commands import command

import kgalign
from kgalign import OptionError, read, read_graph
from kgalign.data import ALTERNATIVE, PREFERRED
from kgalign.readers.value_entities import without_value_entities
from kgalign.runs import read_task

COMPANIES = """id,company,city,country,founded,website
7,Siemens AG,Munich,Germany,1847,https://www.siemens.com
8,BASF SE,Ludwigshafen,Germany,1865,https://www.basf.com
9,Renault S.A.,Boulogne-Billancourt,France,1899,https://www.renault.com
10,Danone,Paris,France,1919,https://www.danone.com
11,Ferrari N.V.,Maranello,Italy,1939,https://www.ferrari.com
12,Barilla Group,Parma,Italy,1877,
"""
TURTLE = """@prefix x: <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:c91 rdfs:label "Siemens"; x:country x:Germany; x:founded 1847 .
x:c82 rdfs:label "BASF"; x:country x:Germany; x:founded 1865 .
x:c73 rdfs:label "Groupe Renault"; x:country x:France; x:founded 1899 .
x:c64 rdfs:label "Danone"; x:country x:France; x:founded 1919 .
x:c55 rdfs:label "Ferrari"; x:country x:Italy; x:founded 1939 .
x:Germany rdfs:label "Germany" . x:France rdfs:label "France" . x:Italy rdfs:label "Italy" .
"""


def graph_of(folder, text, name="t.csv", **how):
    (folder / name).write_text(text, encoding="utf-8")
    return read_graph(folder / name, **how)


def facts_of(graph, entity):
    """The literals of an entity by property; names too."""
    number = list(graph.entities).index(entity)
    return {
        (part.properties[prop], value)
        for part in (graph.attributes, graph.labels)
        for (owner, prop), value in zip(part.facts.tolist(), part.values, strict=True)
        if owner == number
    }


def triples_of(graph):
    return {
        (graph.entities[head], graph.relations[relation], graph.entities[tail]) for head, relation, tail in graph.triples.tolist()
    }


def test_a_row_is_an_entity_and_a_column_a_property(tmp_path):
    graph = graph_of(tmp_path, COMPANIES)
    assert list(graph.entities) == ["7", "8", "9", "10", "11", "12", "country=Germany", "country=France", "country=Italy"]
    assert list(graph.names[:3]) == ["Siemens AG", "BASF SE", "Renault S.A."]
    assert facts_of(graph, "12") == {("company", "Barilla Group"), ("city", "Parma"), ("country", "Italy"), ("founded", "1877")}
    assert ("7", "country", "country=Germany") in triples_of(graph)
    assert graph.names[6] == "Germany"
    seen = {key: graph.record[key] for key in ("table", "ids from", "names from", "relations from", "literals from")}
    assert seen == {
        "table": "CSV: 6 rows",
        "ids from": "the column id (by its name)",
        "names from": "company",
        "relations from": "country (3 values)",
        "literals from": "city, founded, website",
    }


def test_without_folding_there_are_rows_alone(tmp_path):
    graph = graph_of(tmp_path, COMPANIES, fold=False)
    assert (len(graph.entities), len(graph.triples), len(graph.attributes.values)) == (6, 0, 23)


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "jsonl.gz", "csv.bz2", "csv.zst", "xlsx"])
def test_tables_of_all_formats_read_alike(tmp_path, ending):
    header, *rows = [row.split(",") for row in COMPANIES.splitlines()]
    typed = [{name: int(cell) if cell.isdigit() else cell or None for name, cell in zip(header, row, strict=True)} for row in rows]
    path = tmp_path / f"t.{ending}"
    lines = "".join(json.dumps(row) + "\n" for row in typed).encode()
    if ending == "parquet":
        pa.parquet.write_table(pa.Table.from_pylist(typed), path)
    elif ending == "xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in (header, *(list(row.values()) for row in typed)):
            book.active.append(row)
        book.save(path)
    else:
        packed = {"jsonl": lines, "jsonl.gz": gzip.compress(lines), "csv.bz2": bz2.compress(COMPANIES.encode())}
        path.write_bytes(packed.get(ending) or pa.compress(COMPANIES.encode(), "zstd", asbytes=True))
    found, expected = read_graph(path), graph_of(tmp_path, COMPANIES)
    assert list(found.entities) == list(expected.entities)
    assert list(found.names) == list(expected.names)
    assert {entity: facts_of(found, entity) for entity in found.entities} == {
        entity: facts_of(expected, entity) for entity in expected.entities
    }


def test_cells_of_typed_formats_are_what_a_person_would_write(tmp_path):
    rows = {
        "key": ["a", "b"],
        "day": [datetime.datetime(1979, 5, 25), datetime.datetime(1985, 2, 20, 20, 15)],
        "price": [12.0, 9.5],
        "seen": [True, None],
        "actors": [["Weaver", "Hurt"], []],
    }
    pa.parquet.write_table(pa.table(rows), tmp_path / "t.parquet")
    graph = read_graph(tmp_path / "t.parquet", fold=False)
    expected = {("day", "1979-05-25"), ("price", "12"), ("seen", "true"), ("actors", "Weaver"), ("actors", "Hurt")}
    assert facts_of(graph, "a") == expected
    assert facts_of(graph, "b") == {("day", "1985-02-20 20:15:00"), ("price", "9.5")}


@pytest.mark.parametrize(
    ("header", "rows", "ids", "reason"),
    [
        ("name,id,year", ["Alien,t1,1979", "Brazil,t2,1985"], ["t1", "t2"], "the column id (by its name)"),
        (
            "film,thing,year",
            ["Alien,http://x/1,1979", "Brazil,http://x/2,1985"],
            ["http://x/1", "http://x/2"],
            "thing (it holds IRIs)",
        ),
        ("title,filmId,year", ["Alien,a,1979", "Alien,b,1985"], ["a", "b"], "the column filmId (by its name)"),
        (
            "title,year,website",
            ["Alien,1979,http://x/1", "M,1985,http://x/2"],
            ["Alien", "M"],
            "title (the first column, all different)",
        ),
        ("title,isbn,year", ["Emma,12-3,1815", "Emma,12-4,1816"], ["12-3", "12-4"], "the column isbn (by its name)"),
        ("title,year,country", ["Alien,1979,UK", "Alien,1985,UK"], ["1", "2"], "row numbers (no column has an id for each row)"),
        (
            "id,title,year",
            ["7,Alien,1979", ",Brazil,1985"],
            ["1", "2"],
            "row numbers (no column has an id for each row; `id` is empty",
        ),
    ],
)
def test_the_id_column_is_found(tmp_path, header, rows, ids, reason):
    graph = graph_of(tmp_path, "\n".join([header, *rows]), form="table")
    assert list(graph.entities[:2]) == ids
    assert reason in graph.record["ids from"]


def test_an_id_that_says_something_is_a_literal_too_and_a_bare_one_is_not(tmp_path):
    graph = graph_of(tmp_path, "isbn,title,year\n12-3,Emma,1815\n12-4,Persuasion,1817\n")
    assert ("isbn", "12-3") in facts_of(graph, "12-3")
    graph = graph_of(tmp_path, "film,year\nAlien,1979\nBrazil,1985\n")
    assert (graph.names[0], facts_of(graph, "Alien")) == ("Alien", {("film", "Alien"), ("year", "1979")})
    graph = graph_of(tmp_path, "id,title,year\n12-3,Emma,1815\n12-4,Persuasion,1817\n")
    assert graph.attributes.properties == ["title", "year"]


def test_the_id_column_is_given(tmp_path):
    (tmp_path / "a.csv").write_text(COMPANIES)
    (tmp_path / "b.csv").write_text(COMPANIES)
    task, _ = read(tmp_path / "a.csv", tmp_path / "b.csv", id_source="Company", id_target="website")
    assert (task.source.entities[0], task.target.entities[0]) == ("Siemens AG", "https://www.siemens.com")
    assert task.source.names[0] == "Siemens AG"
    assert task.target.record["broken"] == 1  # Barilla has no website
    assert "b.csv:7: expected an id in the column website, found none" in task.target.record["first broken"][0]


def test_rows_with_the_same_id_are_one_entity(tmp_path):
    graph = graph_of(
        tmp_path, "film,actor,year\nAlien,Weaver,1979\nAlien,Hurt,1979\nBrazil,Pryce,1985\n", form="table", id_column="film"
    )
    assert list(graph.entities) == ["Alien", "Brazil"]
    assert facts_of(graph, "Alien") == {("film", "Alien"), ("actor", "Weaver"), ("actor", "Hurt"), ("year", "1979")}
    assert len(graph.attributes.values) + len(graph.labels.values) == 7
    assert "1 row has the id of an earlier row" in graph.record["table"]


def test_a_column_that_points_to_ids_is_a_relation(tmp_path):
    graph = graph_of(tmp_path, "id,name,boss,floor\n1,Ann,,1\n2,Bob,1,2\n3,Cleo,1,2\n4,Dan,2,4\n")
    assert triples_of(graph) == {("2", "boss", "1"), ("3", "boss", "1"), ("4", "boss", "2")}
    assert graph.attributes.properties == ["name", "floor"]  # numbers that happen to be ids are no relation


def test_a_column_of_iris_is_a_relation_and_one_of_pages_is_not(tmp_path):
    rows = ["a,http://x/Germany,http://siemens.com", "b,http://x/Italy,http://ferrari.com"]
    graph = graph_of(tmp_path, "\n".join(["id,country,homepage", *rows]), form="table")
    assert triples_of(graph) == {("a", "country", "http://x/Germany"), ("b", "country", "http://x/Italy")}
    assert facts_of(graph, "a") == {("homepage", "http://siemens.com")}


@pytest.mark.parametrize(
    ("cells", "items"),
    [
        (["Drama|Comedy", "Comedy", "Drama|War"], ["Drama", "Comedy"]),
        (["Drama; Comedy", "Comedy", "War; Drama"], ["Drama", "Comedy"]),
        (["Drama, Comedy", "Comedy, War, Drama", "War"], ["Drama", "Comedy"]),
        (['["Drama", "Comedy"]', '["War"]', "[]"], ["Drama", "Comedy"]),
        (["['Drama', 'Comedy']", "['War']", "['Drama']"], ["Drama", "Comedy"]),
        (["Scott, Ridley", "Gilliam, Terry", "Scott, Tony"], ["Scott, Ridley"]),
        (["1 High St, Leeds, UK", "2 Low St, Leeds, UK", "9 Low St, Leeds, Yorks, UK"], ["1 High St, Leeds, UK"]),
        (["a love story; set in Spain", "on the run", "at sea"], ["a love story; set in Spain"]),
        (["&lt;b&gt;; x", "y", "&amp;"], ["<b>; x"]),
    ],
)
def test_lists_are_split_where_the_column_has_lists(tmp_path, cells, items):
    quoted = ('"' + cell.replace('"', '""') + '"' for cell in cells)
    graph = graph_of(tmp_path, "id,plot\n" + "".join(f"k{number},{cell}\n" for number, cell in enumerate(quoted)), fold=False)
    assert [value for _, value in sorted(facts_of(graph, "k0"))] == sorted(items)


@pytest.mark.parametrize(
    ("column", "values", "recurs"),
    [
        ("brand", ["Sony", "SONY", "Bose", "Koss"], True),
        ("brand", ["Sony", "Philips", "Bose", "Koss"], False),
        ("year", ["1979", "1979", "1985", "1986"], False),
        ("made", ["1 May 1979", "1 May 1979", "2 May 1985", "3 June 1985"], False),
        ("sold", ["yes", "no", "yes", "no"], False),
        ("text", ["a very long text that says a lot about the thing " * 2] * 2 + ["b", "c" * 99], False),
    ],
)
def test_recurring_values_become_entities(tmp_path, column, values, recurs):
    rows = "".join(f"k{number},n{number},{value}\n" for number, value in enumerate(values))
    graph = graph_of(tmp_path, f"id,name,{column}\n{rows}")
    assert (len(graph.relations), len(graph.entities)) == ((1, 7) if recurs else (0, 4))
    assert (column, values[1].strip()) in facts_of(graph, "k1")  # the literal stays
    if recurs:
        assert {("k0", "brand", "brand=Sony"), ("k1", "brand", "brand=Sony")} <= triples_of(graph)


@pytest.mark.parametrize(("other", "stays"), [("Country", False), ("nation", False), ("kind", True)])
def test_a_column_that_is_a_relation_in_both_tables_is_no_literal(tmp_path, other, stays):
    rows = "".join(f"k{number},n{number},{['Spain', 'Italy', 'Malta'][number % 3]}\n" for number in range(12))
    places = tmp_path / "a.csv", tmp_path / "b.csv"
    for place, column in zip(places, ("country", other), strict=True):
        own = rows if column != "kind" else rows.replace("Spain", "cat").replace("Italy", "dog").replace("Malta", "cow")
        place.write_text(f"id,name,{column}\n{own}")
    task, _ = read(*places)
    assert [graph.relations for graph in (task.source, task.target)] == [["country"], [other]]
    assert (
        (("country", "Italy") in facts_of(task.source, "k1"))
        == any(column == other for column, _ in facts_of(task.target, "k1"))
        == stays
    )


def test_names_of_tables_are_found_as_labels_are(tmp_path):
    graph = graph_of(tmp_path, "id,first name,Last_Name,aliases\n1,Ada,Lovelace,Countess;AAL\n2,Alan,Turing,Prof\n")
    assert [name.text for name in graph.names.of_entity(0)] == ["Ada Lovelace", "Countess", "AAL"]
    titles = [
        f"{'A very long title of a product with many words in it, and still a title of it ' * 1}{number}" for number in range(12)
    ]
    graph = graph_of(tmp_path, "id|title\n" + "".join(f"{number}|{title}\n" for number, title in enumerate(titles)))
    assert list(graph.names) == titles


def test_persons_and_films_in_one_table_all_have_preferred_names(tmp_path):
    films = "".join(f"{number},Film {chr(97 + number)},\n" for number in range(12))
    persons = "".join(f"{number},,Person {chr(97 + number)}\n" for number in range(12, 20))
    graph = graph_of(tmp_path, f"id,title,name\n{films}{persons}")
    assert graph.names.rank.tolist() == [PREFERRED] * 20
    both = "".join(f"{number},Film {chr(97 + number)},Name {chr(97 + number)}\n" for number in range(12))
    assert graph_of(tmp_path, f"id,title,name\n{both}").names.of_entity(0)[1].rank == ALTERNATIVE


def test_a_column_with_the_iri_of_a_label_holds_names(tmp_path):
    graph = graph_of(tmp_path, "id,rdfs:label,code name\n1,Anna,xx\n2,Berta,yy\n")
    assert list(graph.names) == ["Anna", "Berta"]
    assert graph.record["names from"] == "rdfs:label"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("company,country,city\nAcme,Germany,Berlin\nFoo,France,Paris\n", "table"),
        ("id,name,country\n1,Acme,Germany\n2,Foo,France\n", "table"),
        ("film,genre,director\n" + "".join(f"f{n},Drama,d{n % 3}\n" for n in range(9)), "table"),
        ("a,b,c\n" + "".join(f"x{n},y{n},z{n % 3}\n" for n in range(9)), "table"),
        ("a,b,c,d\n1,2,3,4\n5,6,7,8\n", "table"),
        ("id,name\n1,Acme\n2,Foo\n", "table"),
        ("head,relation,tail\nid,name,country\n", "triples"),
        ("subject,predicate,object,graph\na,r,b,g\n", "triples"),
        ("a,r,b\na,s,c\n", "triples"),
        ("Rome,capital of,Italy\n", "triples"),
        ("http://x/a,http://x/r,http://x/b\nhttp://x/c,http://x/r,http://x/d\n", "triples"),
        ("h,what,t\n" + "".join(f"e{n % 4},r{n % 2},e{n}\n" for n in range(9)), "triples"),
        ("0,5,1\n1,6,2\n", "triples"),
        ("".join(f'city {n},in,land {n}\ncity {n},people,"""{n}"""\n' for n in range(9)), "triples"),
        ("country,city,people\n" + "".join(f"c{n % 3},d{n},{n}000\n" for n in range(9)), "table"),
        ("id,kind,made of\n1,a,b\n2,kind,c\nid,kind,made of\n", "table"),
    ],
)
def test_triples_and_tables_are_told_apart(tmp_path, text, form):
    assert ("table" in graph_of(tmp_path, text).record) == (form == "table")


def test_what_a_table_is_can_be_told(tmp_path):
    graph = graph_of(tmp_path, "a,r,b\nc,r,d\n", form="table")
    assert list(graph.entities) == ["a", "c"]
    graph = graph_of(tmp_path, COMPANIES, form="triples")
    assert "Siemens AG" in graph.relations
    with pytest.raises(OptionError, match="form='wide': expected table or triples"):
        graph_of(tmp_path, COMPANIES, form="wide")
    (tmp_path / "g.ttl").write_text(TURTLE)
    task, _ = read(tmp_path / "g.ttl", tmp_path / "t.csv", form="table")
    assert (len(task.source.entities), task.target.record["table"]) == (8, "CSV: 6 rows")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "head;relation;tail\na;r;b\na;label;Anna\n"),
        ("t.csv", "a|r|b\na|label|Anna\n"),
        ("t.jsonl", '{"head": "a", "relation": "r", "tail": "b"}\n{"head": "a", "relation": "label", "tail": "Anna"}\n'),
    ],
)
def test_triples_with_other_separators_are_triples(tmp_path, name, text):
    graph = graph_of(tmp_path, text, name)
    assert (list(graph.entities), list(graph.names), graph.relations) == (["a", "b"], ["Anna", "b"], ["r"])


def test_json_ld_is_still_rdf(tmp_path):
    graph = graph_of(tmp_path, '{"@id": "http://x/a", "http://x/name": "Anna"}', "g.json")
    assert (graph.entities, "table" in graph.record) == (["http://x/a"], False)


def test_row_numbers_never_link(tmp_path):
    """Equal ids, row numbers and counts are no evidence: no row of one table is a row of the other."""
    first = ["Ambrose", "Beatrix", "Cornelius", "Dorothea", "Ethelbert", "Frederica"]
    other = ["Quincy", "Yolanda", "Wilhelm", "Ursula", "Zacharias", "Xanthippe"]
    for name, names in (("a.csv", first), ("b.csv", other)):
        rows = "".join(f"{number},{number},{name}\n" for number, name in enumerate(names))
        (tmp_path / name).write_text("id,nr,name\n" + rows)
    task, _ = read(tmp_path / "a.csv", tmp_path / "b.csv")
    assert task.source.record["columns left out"] == "nr (row numbers)"
    assert not len(task.source.attributes.values)
    assert not (kgalign.align(task).alignment.scores > 0.5).any()


def test_a_table_without_names_does_not_link_by_its_ids(tmp_path):
    for name, price in (("a.csv", 10), ("b.csv", 977)):
        (tmp_path / name).write_text("id,price\n" + "".join(f"{number},{price + 3 * number}.5\n" for number in range(9)))
    task, _ = read(tmp_path / "a.csv", tmp_path / "b.csv")
    assert not any(task.source.names)
    assert not (kgalign.align(task).alignment.scores > 0.5).any()


def test_a_table_is_aligned_to_rdf_and_merged_without_entities_of_values(tmp_path, monkeypatch, capsys):
    from kgalign.cli.merge import merge

    (tmp_path / "a.csv").write_text(COMPANIES)
    (tmp_path / "b.ttl").write_text(TURTLE)
    task, _ = read(tmp_path / "a.csv", tmp_path / "b.ttl")
    links = kgalign.align(task).alignment
    found = {(task.source.entities[one], task.target.entities[two]) for one, two in links.where(links.scores > 0.5).pairs.tolist()}
    assert found >= {
        ("7", "http://x/c91"),
        ("8", "http://x/c82"),
        ("9", "http://x/c73"),
        ("10", "http://x/c64"),
        ("11", "http://x/c55"),
    }
    assert ("country=Italy", "http://x/Italy") in found
    monkeypatch.chdir(tmp_path)
    assert command("align", "a.csv", "b.ttl", "--id-source", "company", "--table") == 0
    assert read_task("run")[0].source.entities[0] == "Siemens AG"
    capsys.readouterr()
    merge(tmp_path / "run", tmp_path / "merged.nt")
    assert re.search(
        r"left out: \d+ links? of values in cells, which are no rows of a table, such as country=", capsys.readouterr().err
    )
    merged = (tmp_path / "merged.nt").read_text()
    assert '<http://x/c55> <urn:kgalign:relation:city> "Maranello" .' in merged
    assert "country=" not in merged


def test_seeds_and_rejected_pairs_go_by_id_or_by_name(tmp_path):
    (tmp_path / "a.csv").write_text(COMPANIES)
    (tmp_path / "b.csv").write_text(COMPANIES.replace("AG", "Aktiengesellschaft"))
    (tmp_path / "seeds.tsv").write_text("7\t7\nBASF SE\t8\n")
    (tmp_path / "rejected.tsv").write_text("Danone\t11\ncountry=Italy\tcountry=France\n")
    task, _ = read(tmp_path / "a.csv", tmp_path / "b.csv", seeds=tmp_path / "seeds.tsv", rejected=tmp_path / "rejected.tsv")
    assert (task.seeds.pairs.tolist(), task.rejected.pairs.tolist()) == ([[0, 0], [1, 1]], [[3, 4], [8, 7]])
    rows, links = without_value_entities(task, task.rejected)
    assert (len(rows.source.entities), rows.pool.max(), len(rows.rejected), len(links)) == (6, 5, 1, 1)
    assert not len(rows.source.triples)


def test_align_says_in_three_lines_what_a_table_is(tmp_path, monkeypatch, capsys):
    (tmp_path / "a.csv").write_text(COMPANIES.replace(",", ";"))
    (tmp_path / "b.ttl").write_text(TURTLE)
    monkeypatch.chdir(tmp_path)
    assert command("align", "a.csv", "b.ttl") == 0
    assert [line for line in capsys.readouterr().err.splitlines() if line.startswith("source:")] == [
        "source: CSV with ;: 6 rows; ids from the column id (by its name)",
        "source: names from company, 100% of the subjects named",
        "source: relations from: country (3 values); literals from: city, founded, website",
    ]


def test_align_says_nothing_of_columns_beside_id_and_name_where_there_are_none(tmp_path, monkeypatch, capsys):
    (tmp_path / "a.csv").write_text("id,name\n7,Siemens\n8,BASF\n9,Danone\n")
    (tmp_path / "b.ttl").write_text(TURTLE)
    monkeypatch.chdir(tmp_path)
    assert command("align", "a.csv", "b.ttl") == 0
    assert [line for line in capsys.readouterr().err.splitlines() if line.startswith("source:")] == [
        "source: CSV: 3 rows; ids from the column id (by its name)",
        "source: names from name, 100% of the subjects named",
    ]


def test_columns_with_the_same_name_are_numbered_in_linear_time(tmp_path):
    header = "id,name,a,a 2,a,b" + ",a" * 10_000
    (tmp_path / "g.csv").write_text(header + "\n" + "".join(f"{row},name {row},1,2,3,4{',5' * 10_000}\n" for row in "xyz"))
    began = time.process_time()
    graph = read_graph(tmp_path / "g.csv")
    assert graph.attributes.properties[1:7] == ["a", "a 2", "a 3", "b", "a 4", "a 5"]
    assert len(set(graph.attributes.properties)) == 10_005
    assert time.process_time() - began < 5
