"""What a column of a table is by its name and its values: the name of the rows, a relation, a class or a literal."""

import pytest

from kgalign import align, read, read_graph

PEOPLE = ["Anna Müller", "Peter Schmidt", "Maria García", "Jean Dupont", "Olga Ivanova", "Paul Smith"]


def graph_of(folder, text, name="t.csv", **how):
    (folder / name).write_text(text, encoding="utf-8")
    return read_graph(folder / name, form="table", **how)


def rows_of(header, *rows):
    return "\n".join([header, *rows]) + "\n"


def triples_of(graph):
    return {
        (graph.entities[head], graph.relations[relation], graph.entities[tail]) for head, relation, tail in graph.triples.tolist()
    }


def literals_of(graph, column):
    number = list(graph.attributes.properties).index(column)
    rows = zip(graph.attributes.facts[:, 1].tolist(), graph.attributes.values, strict=True)
    return [value for kind, value in rows if kind == number]


def orders(people=PEOPLE):
    """Two orders of each person, and a line of each order with its customer."""
    return [(f"o{number}", people[number // 2]) for number in range(2 * len(people))]


@pytest.mark.parametrize("column", ["name", "title", "full_name", "Bezeichnung", "person"])
def test_a_column_whose_values_recur_is_the_name_of_rows_that_have_no_other(tmp_path, column):
    graph = graph_of(tmp_path, rows_of(f"id,{column},amount", *(f"{order},{name},{order[1:]}.5" for order, name in orders())))
    assert list(graph.names) == [name for _, name in orders()]
    assert (graph.record["names from"], len(graph.relations)) == (column, 0)


def test_a_column_called_name_comes_before_addresses_and_texts_that_differ(tmp_path):
    rows = (f"{order},{name},{order}@mail.org,remark {chr(97 + number)}" for number, (order, name) in enumerate(orders()))
    graph = graph_of(tmp_path, rows_of("id,name,contact,remark", *rows))
    assert graph.record["names from"] == "name"


def test_forms_of_address_are_no_names_beside_texts_that_differ(tmp_path):
    rows = (f"{number},{'Mr' if number % 2 else 'Mrs'},Customer {chr(97 + number)}" for number in range(12))
    graph = graph_of(tmp_path, rows_of("id,title,customer", *rows))
    assert graph.names[0] == "Customer a"


def test_a_column_of_few_values_is_no_name_unless_it_is_called_so(tmp_path):
    rows = (f"k{number},{['Spain', 'Italy', 'Malta'][number % 3]},{number}.5" for number in range(15))
    graph = graph_of(tmp_path, rows_of("id,country,amount", *rows))
    assert (graph.record["names from"], graph.record["relations from"]) == ("nothing", "country (3 values)")


def test_records_are_linked_to_rows_of_the_same_name_and_not_to_values(tmp_path):
    (tmp_path / "crm.csv").write_text(rows_of("id,name", *(f"c{number},{name}" for number, name in enumerate(PEOPLE))))
    (tmp_path / "orders.csv").write_text(rows_of("order no,name,amount", *(f"{order},{name},1.5" for order, name in orders())))
    task, _ = read(tmp_path / "crm.csv", tmp_path / "orders.csv", cardinality="one-to-many")
    links = align(task).alignment
    found = {(task.source.entities[source], task.target.entities[target]) for source, target in links.pairs.tolist()}
    assert found == {(f"c{PEOPLE.index(name)}", order) for order, name in orders()}


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("last_name", ["Smith", "Jones", "Brown"]),
        ("Vorname", ["Anna", "Jean", "Olga"]),
        ("contact", ["a@x.org", "b@x.org", "c@x.org"]),
        ("mail", ["a at x dot org", "b at x dot org", "c at x dot org"]),
        ("seen at", ["http://x.org/a", "www.x.org/b", "x.org/c"]),
        ("part", ["ABC-1", "ABD-3", "XYZ-7"]),
    ],
)
def test_parts_of_names_addresses_and_codes_are_no_entities(tmp_path, column, values):
    rows = (f"k{number},Thing {chr(97 + number)},{values[number % 3]}" for number in range(9))
    graph = graph_of(tmp_path, rows_of(f"id,name,{column}", *rows))
    assert (len(graph.entities), graph.relations) == (9, [])
    assert literals_of(graph, column) == [values[number % 3] for number in range(9)]


def test_given_and_family_names_are_said_to_be_the_name(tmp_path):
    graph = graph_of(tmp_path, rows_of("id,first_name,last_name", "1,Ada,Lovelace", "2,Ada,Smith", "3,Bo,Smith", "4,Cy,Smith"))
    assert (graph.names[1], graph.record["names from"]) == ("Ada Smith", "first_name and last_name")


def test_nothing_refers_to_row_numbers(tmp_path):
    rows = ["Dune,1,1965", "Emma,2,1815", "Dune,1,1984"]
    graph = graph_of(tmp_path, rows_of("title,parent id,year", *rows))
    assert (list(graph.entities), graph.relations) == (["1", "2", "3"], [])
    assert literals_of(graph, "parent id") == ["1", "2", "1"]


@pytest.mark.parametrize(
    ("ids", "column", "refers"),
    [
        ("id", "category_id", False),
        ("id", "ref", False),
        ("id", "part number", False),
        ("id", "parent_id", True),
        ("id", "part of", True),
        ("id", "predecessor", True),
        ("staff no", "deputy staff no", True),
        ("staff no", "room no", False),
    ],
)
def test_numbers_refer_to_rows_only_in_columns_that_mean_rows(tmp_path, ids, column, refers):
    graph = graph_of(tmp_path, rows_of(f"{ids},name,{column}", "1,Ann,2", "2,Bob,1", "3,Cleo,1"))
    expected = {("1", column, "2"), ("2", column, "1"), ("3", column, "1")}
    assert triples_of(graph) == (expected if refers else set())


def test_ids_that_many_rows_share_are_no_references(tmp_path):
    graph = graph_of(tmp_path, rows_of("id,name,sku", "1,Ann,1", "1,Bob,2", "1,Cleo,3", "2,Dan,4", "2,Eve,5"))
    assert (list(graph.entities), graph.relations) == (["1", "2", "3", "4", "5"], [])
    assert literals_of(graph, "id") == ["1", "1", "1", "2", "2"]


def test_whole_numbers_with_a_point_are_ids_too(tmp_path):
    graph = graph_of(tmp_path, rows_of("id,name,parent", "40103,Ann,", "40117,Bob,40103.0", "40122,Cleo,40117.0"))
    assert triples_of(graph) == {("40117", "parent", "40103"), ("40122", "parent", "40117")}


def test_unique_names_of_rows_stand_for_these_rows(tmp_path):
    rows = ["1,Alpha AG,", "2,Beta AG,Alpha AG", "3,Gamma AG,ALPHA AG", "4,Delta AG,Beta AG", "5,Eta AG,Omega AG"]
    graph = graph_of(tmp_path, rows_of("id,name,parent company", *rows))
    assert triples_of(graph) == {
        ("2", "parent company", "1"),
        ("3", "parent company", "1"),
        ("4", "parent company", "2"),
        ("5", "parent company", "parent company=Omega AG"),  # no row has this name
    }
    assert graph.record["relations from"] == "parent company (names of rows, 1 value)"


def test_names_that_two_rows_share_and_own_names_stand_for_no_row(tmp_path):
    rows = ["1,Alpha,Alpha,Beta", "2,Beta,Beta,Beta", "3,Beta,Gamma,Beta", "4,Gamma,Delta,Alpha", "5,Delta,Eta,Alpha"]
    graph = graph_of(tmp_path, rows_of("id,name,called,near", *rows))
    assert triples_of(graph) == set()


@pytest.mark.parametrize("column", ["type", "Class", "category"])
@pytest.mark.parametrize("kinds", [["Movie", "Novel"], ["Movie"]])
def test_a_column_called_type_gives_classes_however_few_they_are(tmp_path, column, kinds):
    rows = [f"{number},{kinds[number % len(kinds)]},Thing {chr(97 + number)}" for number in range(6)]
    (tmp_path / "a.csv").write_text(rows_of(f"id,{column},title", *rows))
    (tmp_path / "b.ttl").write_text(
        '@prefix : <http://x/> . :m a :Film ; :title "Thing a" . :n a :Book ; :title "Thing b" . :o a :Film ; :title "Thing c" .'
    )
    task, _ = read(tmp_path / "a.csv", tmp_path / "b.ttl", types={"Movie": "Film"})
    assert {task.source.entities[query] for query in task.queries.tolist()} == {str(n) for n in range(0, 6, len(kinds))}


def test_types_come_before_categories(tmp_path):
    rows = [f"{number},{['Movie', 'Novel'][number % 2]},{['old', 'new'][number // 3]},T {chr(97 + number)}" for number in range(6)]
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(rows_of("id,type,category,title", *rows))
    with pytest.raises(ValueError, match=r"expected one of its classes: type=Movie \(3\), type=Novel \(3\)$"):
        read(tmp_path / "a.csv", tmp_path / "b.csv", types={"old": "old"})
