"""Copies within a graph, groups of entities, and names that structure does not overrule."""

import numpy as np
import pytest

import kgalign
from kgalign.features.classes import TYPE, entity_groups
from kgalign.features.copies import Copies, one_to_one_copies
from kgalign.features.names import equal_names

DIRECTORS = ["Ford Beebe", "Ray Taylor", "Jack Conway", "Agnes Varda", "Carol Reed", "Fritz Lang", "Alain Resnais", "Mira Nair"]
WORDS = ["Amber", "Birch", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Harbour", "Iris", "Jade", "Kelp", "Lagoon"]
FILMS = [f"{one} {other}" for one, other in zip(WORDS, (*WORDS[5:], *WORDS[:5]), strict=True)]


def table(path, rows):
    path.write_text("id,title,director\n" + "".join(f"{','.join(row)}\n" for row in rows), "utf-8")
    return path


def films(folder, copied):
    """Two tables of films; some films are in the target twice."""
    rows = [(title, DIRECTORS[number % len(DIRECTORS)]) for number, title in enumerate(FILMS)]
    source = table(folder / "source.csv", [(f"s{number}", *row) for number, row in enumerate(rows)])
    twice = [*rows, *(rows[number] for number in copied)]
    return source, table(folder / "target.csv", [(f"t{number}", *row) for number, row in enumerate(twice)])


def film_links(run):
    return {(source, target): probability for source, target, probability in run.links if source.startswith("s")}


def test_a_copy_takes_nothing_from_the_probability_of_a_link(tmp_path):
    links = film_links(kgalign.align(kgalign.read(*films(tmp_path, copied=[0, 3]))[0]))
    assert {source for source, _ in links} == {f"s{number}" for number in range(len(FILMS))}
    for number in (0, 3):
        assert max(links.get((f"s{number}", target), 0) for target in (f"t{number}", f"t{len(FILMS) + (number > 0)}")) > 0.9


def test_copies_of_both_graphs_are_linked_one_to_one(tmp_path):
    _, target = films(tmp_path, copied=[2])
    source = tmp_path / "twice.csv"
    source.write_text(target.read_text("utf-8").replace("\nt", "\ns"), "utf-8")
    links = film_links(kgalign.align(kgalign.read(source, target)[0]))
    assert sum(probability > 0.9 for probability in links.values()) == len(FILMS) + 1


def test_namesakes_with_common_facts_are_no_copies():
    country = [f"c{number}" for number in range(2)]
    people = [f"p{number}" for number in range(40)]
    names = [
        "Anna Berg",
        "Anna Berg",
        *(f"Person {word} {number}" for number, word in enumerate((WORDS * 4)[:38])),
        "A",
        "B",
    ]
    triples = np.array([[number, 0, 40 + number // 20] for number in range(40)])
    graph = kgalign.KnowledgeGraph([*people, *country], ["country"], triples, names)
    assert Copies.of(graph).size.max() == 1
    own = np.array([[0, 1, 41], [1, 1, 41]])
    telling = kgalign.KnowledgeGraph([*people, *country], ["country", "employer"], np.concatenate([triples, own]), names)
    assert Copies.of(telling).size[:3].tolist() == [2, 2, 1]


def test_entities_without_a_name_are_no_copies():
    triples = np.array([[0, 0, 2], [1, 0, 2]])
    graph = kgalign.KnowledgeGraph(["a", "b", "c"], ["r"], triples, ["", "", "Cedar"])
    assert Copies.of(graph).size.tolist() == [1, 1, 1]


def test_the_share_of_two_groups_of_copies_goes_to_the_first_of_each():
    pair, single = Copies(np.array([0, 0]), np.array([0, 1]), np.array([2, 2])), Copies(np.array([0]), np.array([0]), np.array([1]))
    assert one_to_one_copies((single, pair), np.array([0, 0]), np.array([0, 1]), np.array([0.45, 0.45])).tolist() == [0.9, 0.0]
    both = one_to_one_copies((pair, pair), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.full(4, 0.5))
    assert both.tolist() == [1.0, 0.0, 0.0, 1.0]


def test_groups_are_the_smallest_classes_and_else_the_kinds():
    entities = ["film", "novel", "Film", "Work", "alone"]
    triples = np.array([[0, 0, 2], [0, 0, 3], [1, 0, 3]])
    graph = kgalign.KnowledgeGraph(entities, [TYPE], triples, [""] * 5)
    groups = entity_groups(graph)
    assert groups[0] != groups[1]
    assert groups[2] == groups[3] == groups[4]
    assert len({groups[0], groups[1], groups[4]}) == 3


@pytest.mark.parametrize(
    ("one", "other", "is_equal"),
    [("Wave Number", "wavenumber", True), ("Smith, John", "John Smith", True), ("Wave Number", "wave numeral", False)],
)
def test_names_are_equal_in_any_order_and_without_blanks(one, other, is_equal):
    graphs = [kgalign.KnowledgeGraph(["e"], [], np.empty((0, 3), np.int64), [name]) for name in (one, other)]
    similarity = equal_names(*graphs).compare(np.array([0]), np.array([0]))[0]
    assert similarity == pytest.approx(float(is_equal))


def test_a_unique_equal_name_does_not_lose_to_another_director(tmp_path):
    """All films but one agree in their directors; that one has a namesake in the other table, and a director with many films."""
    rows = [(title, DIRECTORS[number % 2]) for number, title in enumerate(FILMS)]
    source = table(
        tmp_path / "source.csv", [(f"s{number}", *row) for number, row in enumerate([*rows, ("Zephyr Quay", DIRECTORS[0])])]
    )
    target = table(
        tmp_path / "target.csv", [(f"t{number}", *row) for number, row in enumerate([*rows, ("Zephyr Quay", DIRECTORS[1])])]
    )
    links = film_links(kgalign.align(kgalign.read(source, target)[0]))
    assert links[f"s{len(FILMS)}", f"t{len(FILMS)}"] > 0.5
