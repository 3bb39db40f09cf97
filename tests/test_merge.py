import numpy as np
import pytest
from conftest import graph, task_of
from test_cli import kgalign

from kgalign import Alignment, Attributes, DataError, KnowledgeGraph, read, read_graph, write_graph
from kgalign.features.relations import RelationMatch
from kgalign.merge import find_conflicts, merged, single_links, write_merged
from kgalign.runs import read_links

NO_TRIPLES = np.empty((0, 3), np.int64)
OWL = "http://www.w3.org/2002/07/owl#"
VOCABULARIES = {"owl": "2002/07/owl", "rdfs": "2000/01/rdf-schema", "xl": "2008/05/skos-xl"}
RESTRICTION = "[ a owl:Restriction ; owl:onProperty :part ; owl:someValuesFrom :B ]"


def country(entities, capital, population):
    """A country, two cities, one of them its capital, and how many people live there."""
    attributes = Attributes(["people"], np.array([[0, 0]]), [population])
    return KnowledgeGraph(entities, ["capital"], np.array([[0, 0, capital]]), entities, attributes)


def identity(size):
    return Alignment(np.column_stack([np.arange(size), np.arange(size)]))


def test_linked_entities_become_one():
    task = task_of(country(["Italia", "Roma", "Milano"], 1, "59"), country(["Italy", "Rome", "Milan"], 1, "59"))
    quads = set(merged(task, identity(2)))
    same, capital = "<http://www.w3.org/2002/07/owl#sameAs>", "<urn:kgalign:relation:capital>"
    italy, rome = "<urn:kgalign:target:Italy>", "<urn:kgalign:target:Rome>"
    assert (italy, same, "<urn:kgalign:source:Italia>", "<urn:kgalign:links>") in quads
    assert (italy, capital, rome, "<urn:kgalign:source>") in quads
    assert (italy, capital, rome, "<urn:kgalign:target>") in quads


@pytest.mark.parametrize(
    ("kinds", "predicate"),
    [
        ((0, 0), "owl#sameAs"),
        ((1, 1), "owl#equivalentClass"),
        ((2, 2), "owl#equivalentProperty"),
        ((3, 3), "core#exactMatch"),
        ((3, 1), "core#exactMatch"),
    ],
)
def test_links_are_stated_by_their_kind(kinds, predicate):
    sides = [
        KnowledgeGraph([f"http://{side}/1"], [], NO_TRIPLES, [""], kinds=[kind]) for side, kind in zip("ab", kinds, strict=True)
    ]
    ((_, link, _, _),) = merged(task_of(*sides), identity(1))
    assert link.endswith(f"{predicate}>")


def test_nodes_that_reading_folds_are_merged_too(tmp_path):
    head = "".join(f"@prefix {name}: <http://www.w3.org/{path}#> . " for name, path in VOCABULARIES.items())
    (tmp_path / "left.ttl").write_text(f"{head}@prefix : <http://l/> . :A a owl:Class ; rdfs:subClassOf {RESTRICTION} .")
    (tmp_path / "right.ttl").write_text(f'{head}@prefix : <http://r/> . :A a owl:Class ; xl:altLabel [ xl:literalForm "a" ] .')
    places = tmp_path / "left.ttl", tmp_path / "right.ttl"
    task, _ = read(*places)
    whole = read_graph(places[0], fold=False), read_graph(places[1], fold=False)
    quads = {quad[:3] for quad in merged(task, Alignment(np.array([[0, 0]])), whole)}
    same = ("<http://r/A>", f"<{OWL}equivalentClass>", "<http://l/A>")
    stated = {quad[:3] for quad in merged(task_of(*whole), Alignment.empty())}
    assert quads == {same} | {tuple(part.replace("http://l/A>", "http://r/A>") for part in quad) for quad in stated}
    assert {part for quad in quads for part in quad} >= {f"<{OWL}onProperty>", "<http://l/part>", f"<{OWL}Class>", '"a"'}


def test_triples_are_written_once_and_quads_once_a_graph(tmp_path):
    task = task_of(country(["Italia", "Roma", "Milano"], 1, "59"), country(["Italy", "Rome", "Milan"], 1, "59"))
    assert write_merged(merged(task, identity(3)), tmp_path / "new" / "all.nt") == 3 + 2  # in a folder that is made for it
    assert write_merged(merged(task, identity(3)), tmp_path / "all.nq") == 3 + 4


def test_names_are_not_lost():
    left, right = (KnowledgeGraph([f"http://{side}/1"], [], NO_TRIPLES, [name]) for side, name in (("a", "Rome"), ("b", "Roma")))
    label, rome = "<http://www.w3.org/2000/01/rdf-schema#label>", "<http://b/1>"
    quads = set(merged(task_of(left, right), identity(1)))
    assert {(rome, label, '"Rome"', "<urn:kgalign:source>"), (rome, label, '"Roma"', "<urn:kgalign:target>")} <= quads


def test_contradictions_are_found():
    task = task_of(country(["Italia", "Roma", "Milano"], 1, "59"), country(["Italy", "Rome", "Milan"], 2, "60"))
    value, fact = find_conflicts(task, identity(3))
    assert (value.kind, value.entity, value.source, value.target) == ("value", "Italy", "59", "60")
    assert (fact.kind, fact.entity, fact.source, fact.target) == ("fact", "Italy", "Roma", "Milan")


def described(side, properties, rows):
    """Entities of one side with literals: (entity, property, value, kind)."""
    count = 1 + max(entity for entity, *_ in rows)
    facts = np.array([(entity, properties.index(name)) for entity, name, _, _ in rows])
    literals = Attributes(properties, facts, [value for *_, value, _ in rows], [kind for *_, kind in rows])
    entities = [f"http://{side}/{i}" for i in range(count)]
    return KnowledgeGraph(entities, [], NO_TRIPLES, entities, literals)


def conflicts_of(left, right):
    task = task_of(described("a", ["people", "motto"], left), described("b", ["inhabitants", "motto", "area"], right))
    found = find_conflicts(task, identity(min(len(task.source.entities), len(task.target.entities))))
    return {(each.property, each.source, each.target) for each in found}


def test_properties_that_mostly_agree_are_compared_whatever_they_are_called():
    left = [(i, "people", str(100 + i), "") for i in range(8)]
    right = [(i, "inhabitants", f"{100 + i}.0", "") for i in range(7)] + [(7, "inhabitants", "5", "")]
    right += [(i, "area", "1", "") for i in range(8)]
    assert conflicts_of(left, right) == {("people = inhabitants", "107", "5")}
    assert conflicts_of(left[-2:], right[6:8]) == set(), "two places are too few to call them the same"


def test_properties_with_several_values_cannot_contradict_each_other():
    several = [(i, "motto", f"{word} {i}", "") for i in range(4) for word in ("one", "two")]
    assert conflicts_of(several, [(i, "motto", "three", "") for i in range(4)]) == set()
    assert len(conflicts_of(several[::2], [(i, "motto", "three", "") for i in range(4)])) == 4


def test_a_value_said_twice_is_one_value_and_languages_are_not_compared():
    left = [(0, "motto", "Unité", "@fr"), (0, "motto", "Unité", "@fr"), (1, "motto", "Paix", "@fr")]
    right = [(0, "motto", "Unity", "@en"), (1, "motto", "Guerre", "@fr")]
    assert conflicts_of(left, right) == {("motto", "Paix", "Guerre")}


def test_long_numbers_differ_in_their_last_digit_and_spellings_do_not():
    said = [("100064123456789012", "100064123456789013"), ("1,234", "1234.0"), ("2020-01-01", "2020-01-01T00:00:00Z")]
    left, right = ([(i, "motto", pair[side], "") for i, pair in enumerate(said)] for side in (0, 1))
    assert conflicts_of(left, right) == {("motto", *said[0])}


def test_relations_turned_round_contradict_each_other_too():
    names = [f"city {i}" for i in range(6)] + [f"land {i}" for i in range(6)]
    left = [(f"land {i}", "capital", f"city {i}") for i in range(6)]
    right = [(f"city {(i + (i > 3)) % 6 if i < 5 else 4}", "capital of", f"land {i}") for i in range(6)]
    task = task_of(graph(names, left), graph(names, right))
    found = find_conflicts(task, identity(12), [RelationMatch("capital", "capital of", True, 0.6)])
    assert {(each.property, each.entity, each.source, each.target) for each in found} == {
        ("capital = ^capital of", "land_4", "city_4", "city_5"),
        ("capital = ^capital of", "land_5", "city_5", "city_4"),
    }


def test_literals_keep_language_and_datatype(tmp_path):
    xsd, label = "http://www.w3.org/2001/XMLSchema#", "http://www.w3.org/2004/02/skos/core#prefLabel"
    said = [
        f'<http://x/a> <{label}> "Anna"@en .',
        f'<http://x/a> <{label}> "Anne"@fr-ca .',
        f'<http://x/a> <http://x/born> "1990-01-02"^^<{xsd}date> .',
        '<http://x/a> <http://x/note> "plain" .',
    ]
    (tmp_path / "left.nt").write_text("\n".join(said), "utf-8")
    (tmp_path / "right.tsv").write_text('b\theight\t"1.8"^^xsd:double\nb\tborn\t"2 mai"@fr\n', "utf-8")
    task, _ = read(tmp_path / "left.nt", tmp_path / "right.tsv")
    assert list(task.source.names) == ["Anna"]
    write_merged(merged(task, Alignment.empty()), tmp_path / "all.nt")
    assert set((tmp_path / "all.nt").read_text("utf-8").splitlines()) == {
        *said,
        f'<urn:kgalign:target:b> <urn:kgalign:relation:height> "1.8"^^<{xsd}double> .',
        '<urn:kgalign:target:b> <urn:kgalign:relation:born> "2 mai"@fr .',
    }
    write_graph(task.source, tmp_path / "again.nt")
    assert said[2] in (tmp_path / "again.nt").read_text("utf-8").splitlines()


def test_agreement_is_no_conflict():
    task = task_of(country(["Italia", "Roma", "Milano"], 1, "59"), country(["Italy", "Rome", "Milan"], 1, "59"))
    assert find_conflicts(task, identity(3)) == []


def test_the_more_probable_of_two_links_is_kept():
    task = task_of(*(KnowledgeGraph(["a", "b"], [], NO_TRIPLES, ["a", "b"]) for _ in range(2)))
    links, conflicts = single_links(Alignment(np.array([[0, 0], [1, 0]]), np.array([0.6, 0.9])), task, 0.5)
    assert links.pairs.tolist() == [[1, 0]]
    assert [each.kind for each in conflicts] == ["twice"]


@pytest.mark.slow
def test_merge_from_the_command_line(tmp_path):
    (tmp_path / "left.tsv").write_text('Rome\tcapital of\tItaly\nParis\tcapital of\tFrance\nParis\tpeople\t"2"\n')
    (tmp_path / "right.tsv").write_text('Roma\tcapitale\tItalia\nParis\tcapitale\tFrance\nParis\tpeople\t"3"\n')
    assert kgalign("align", "left.tsv", "right.tsv", "-o", "run", cwd=tmp_path).returncode == 0
    done = kgalign("merge", "run", "-o", "all.nt", "--dry-run", cwd=tmp_path)
    assert "value: Paris people: 2 or 3" in done.stderr
    assert not (tmp_path / "all.nt").exists()
    done = kgalign("merge", "run", "-o", "all.nt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        "<urn:kgalign:target:Paris> <urn:kgalign:relation:capitale> <urn:kgalign:target:France> ."
        in (tmp_path / "all.nt").read_text()
    )
    assert "value\tParis" in (tmp_path / "all.conflicts.tsv").read_text()
    assert kgalign("merge", "run", "-o", "all.xls", cwd=tmp_path).returncode == 2


@pytest.mark.slow
def test_a_dry_run_shows_twenty_conflicts_and_counts_the_rest(tmp_path):
    for name, people in (("left.tsv", 1), ("right.tsv", 2)):
        rows = (f'city {i}\tin\tland {i}\ncity {i}\tpeople\t"{people}"\n' for i in range(25))
        (tmp_path / name).write_text("".join(rows))
    assert kgalign("align", "left.tsv", "right.tsv", "-o", "run", cwd=tmp_path).returncode == 0
    done = kgalign("merge", "run", "-o", "all.nt", "--dry-run", cwd=tmp_path)
    assert done.stderr.count("value: city") == 20
    assert "and 5 more; without --dry-run all of them are written to a table" in done.stderr


def links_table(folder, header, *rows):
    lines = ("\t".join(row) for row in (header, *rows))
    (folder / "alignment.tsv").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return folder


COLUMNS = ("source", "target", "source_name", "target_name", "probability")


def two_entities():
    return task_of(*(KnowledgeGraph([name], [], NO_TRIPLES, [name]) for name in "ab"))


def test_columns_of_links_are_found_by_their_names(tmp_path):
    folder = links_table(tmp_path, ("probability", "new", *COLUMNS[:4]), ("0.25", "?", "a", "b", "A", "B"))
    for path in (folder, folder / "alignment.tsv"):
        links = read_links(path, two_entities())
        assert (links.pairs.tolist(), links.scores.tolist()) == ([[0, 0]], [0.25])


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        (COLUMNS, ("a", "b", "", "", "high"), r":2: expected a probability from 0 to 1 in the column probability, found 'high'"),
        (COLUMNS, ("a", "c", "", "", "1"), r":2: expected entities of the graphs of this run, found 'a' and 'c'"),
        (COLUMNS, ("a", "b"), r":2: expected 5 fields between tabs, found 2"),
        (COLUMNS[:4], ("a", "b", "", ""), r":1: expected a header with the column probability"),
    ],
)
def test_a_table_of_links_that_cannot_be_read_is_refused_with_its_line(tmp_path, header, row, message):
    with pytest.raises(DataError, match=rf"alignment\.tsv{message}"):
        read_links(links_table(tmp_path, header, row), two_entities())
