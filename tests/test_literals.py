"""Films of two graphs: equal dates, numbers and identifiers are evidence for a pair, different ones against it."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import graph, task_of
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from kgalign import Alignment, align, read
from kgalign.data import Attributes
from kgalign.features.contradictions import FULL, contradicting_relations, contradicting_values, difference_weights
from kgalign.features.literals import DIFFERS, IS_NEAR, IS_SAME, compare_literals, match_properties, read_literals
from kgalign.features.relations import Edges, match_relations
from kgalign.features.values import value_features
from kgalign.models.fast import Fast, View
from kgalign.runs import read_explanations

PREFIXES = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
PEOPLE = [
    "Ridley Scott",
    "Denis Villeneuve",
    "David Lynch",
    "Stanley Kubrick",
    "Alfred Hitchcock",
    "Gus Van Sant",
    "Steven Spielberg",
]
FILMS = [  # title, title of the other side, director, date, IMDb, minutes; on which sides it is
    ("Alien", "Alien", "Ridley Scott", "1979-05-25", "tt0078748", 117, "both"),
    ("Gladiator", "Gladiator", "Ridley Scott", "2000-05-01", "tt0172495", 155, "both"),
    ("Arrival", "Arrival", "Denis Villeneuve", "2016-09-01", "tt2543164", 116, "both"),
    ("Mulholland Drive", "Mulholland Drive", "David Lynch", "2001-05-16", "tt0166924", 147, "both"),
    ("Eraserhead", "Eraserhead", "David Lynch", "1977-03-19", "tt0074486", 89, "both"),
    ("The Shining", "The Shining", "Stanley Kubrick", "1980-05-23", "tt0081505", 146, "both"),
    ("Barry Lyndon", "Barry Lyndon", "Stanley Kubrick", "1975-12-18", "tt0072684", 185, "both"),
    ("Vertigo", "Vertigo", "Alfred Hitchcock", "1958-05-09", "tt0052357", 128, "both"),
    ("Milk", "Milk", "Gus Van Sant", "2008-10-28", "tt1013753", 128, "both"),
    ("Jaws", "Der weisse Hai", "Steven Spielberg", "1975-06-20", "tt0073195", 124, "both"),
    ("Lincoln", "Lincoln", "Steven Spielberg", "2012-10-08", "tt0443272", 150, "both"),
    ("Duel", "Ein Lastwagen", "Steven Spielberg", "1971-11-13", "tt0067023", 90, "both"),
    ("Blade Runner", "", "Ridley Scott", "1982-06-25", "tt0083658", 117, "source"),
    ("", "Blade Runner 2049", "Denis Villeneuve", "2017-10-06", "tt1856101", 164, "target"),
    ("Dune", "", "David Lynch", "1984-12-14", "tt0087182", 137, "source"),
    ("", "Dune", "Denis Villeneuve", "2021-09-15", "tt1160419", 155, "target"),
    ("Psycho", "", "Alfred Hitchcock", "1960-06-16", "tt0054215", 109, "source"),
    ("", "Psycho", "Gus Van Sant", "1998-12-04", "tt0155975", 104, "target"),
]


def write_films(folder, *, directors=True):
    """Two files in Turtle: dates here are years there, minutes are decimals there, and no property has the same name."""
    paths = []
    for side in ("source", "target"):
        ours = side == "source"
        place = f"http://{side}.org/"
        lines = [PREFIXES]
        for number, name in enumerate(PEOPLE):
            lines.append(f'<{place}person{number}> rdfs:label "{name}" .')
        for number, (name, other, director, date, code, minutes, sides) in enumerate(FILMS):
            if sides in (side, "both"):
                when = f'"{date}"^^xsd:date' if ours else f'"{date[:4]}"^^xsd:gYear'
                facts = [
                    f'rdfs:label "{name if ours else other}"',
                    f"<{place}{'released' if ours else 'year'}> {when}",
                    f'<{place}{"imdb" if ours else "P345"}> "{code}"',
                    f"<{place}{'runtime' if ours else 'length'}> {minutes if ours else minutes + 0.0}",
                ]
                if directors:
                    facts.append(f"<{place}{'director' if ours else 'directedBy'}> <{place}person{PEOPLE.index(director)}>")
                lines.append(f"<{place}film{number}> " + " ; ".join(facts) + " .")
        paths.append(folder / f"{side}.ttl")
        paths[-1].write_text("\n".join(lines), encoding="utf-8")
    return paths


def links(run):
    """The probability of each link by what the IRIs end in."""
    source, target = run.task.source.entities, run.task.target.entities
    return {
        (source[one].rsplit("/", 1)[1], target[other].rsplit("/", 1)[1]): score
        for (one, other), score in zip(run.alignment.pairs.tolist(), run.alignment.scores.tolist(), strict=True)
    }


@pytest.mark.parametrize("directors", [True, False])
def test_films_with_the_same_name_and_other_facts_are_not_linked(tmp_path, directors):
    task, _ = read(*write_films(tmp_path, directors=directors))
    found = links(align(task))
    right = {(f"film{number}", f"film{number}") for number, film in enumerate(FILMS) if film[-1] == "both"}
    assert {pair for pair, score in found.items() if score > 0.9 and pair[0].startswith("film")} == right
    assert all(score < 0.3 for pair, score in found.items() if pair[0] != pair[1])


def test_an_identifier_finds_its_pair_whatever_the_names(tmp_path):
    task, _ = read(*write_films(tmp_path, directors=False))
    nameless = [replace(side, names=[""] * len(side.names)) for side in (task.source, task.target)]
    found = links(align(replace(task, source=nameless[0], target=nameless[1])))
    assert {pair for pair, score in found.items() if score > 0.8} == {
        (f"film{number}", f"film{number}") for number, film in enumerate(FILMS) if film[-1] == "both"
    }


def test_kinds_of_literal_evidence_can_be_left_out(tmp_path):
    task, _ = read(*write_films(tmp_path))
    without = links(align(task, options={"without": "values,other values,other relations"}))
    assert without["film16", "film17"] > 0.8  # Psycho, of 1960 and of 1998


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12", "+12.0"),
        ("12", "1.2e1"),
        ("1,234,567", "1234567"),
        ("0.50", ".5"),
        ("-0.0", "0"),
        ("1982", "1982Z"),
        ("-0044", "-44"),
        ("1982-06-25", "1982-06-25T00:00:00Z"),
        ("1982-06-25+02:00", "1982-06-25"),
        ("Scott, Ridley", "ridley SCOTT"),
        ("0-306-40615-2", "0306406152"),
        ("978 0 306 40615 7", "9780306406157"),
        ("http://www.example.org/", "https://example.org"),
        ("１２", "12"),
        ("۱۹۸۲", "1982"),
        ("\N{MINUS SIGN}5", "-5"),
        ("1982-06-25 12:30:00", "1982-06-25"),
        ("12.5 km", "12,5 KM"),
        ("25 June 1982", "1982-06-25"),
        ("June 25th, 1982", "1982-06-25"),
        ("25. Juni 1982", "25 juin 1982"),
        ("25.06.1982", "25/6/1982"),
        ("6/25/1982", "1982/06/25"),
        ("$1,299.00", "$ 1299"),
        ("1.299,00 €", "1299 €"),
        ("7.50 %", "7.5%"),
        ("SW1A 1AA", "sw1a1aa"),
        ("(212) 555-1234", "212/555 1234"),
    ],
)
def test_values_that_mean_the_same_say_the_same(one, other):
    assert value_features(one)[0] == value_features(other)[0] != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12", "13"),
        ("1982", "1983"),
        ("1982-06-25", "1982-06-26"),
        ("-5", "5"),
        ("1.5", "15"),
        ("tt0083658", "tt0083659"),
        ("left-to-right", "right-to-left"),
        ("12.5 km", "1.25 km"),
        ("1,5", "15"),
        ("1,5", "5,1"),
        ("\N{MINUS SIGN}5", "5"),
        ("$5", "5 kg"),
        ("25 June 1982", "25 July 1982"),
        ("31 Foo 1982", "1982-05-31"),
    ],
)
def test_values_that_differ_say_something_else(one, other):
    assert value_features(one)[0] != value_features(other)[0]


@pytest.mark.parametrize("value", ["", " ", "\t\n", "--", "…"])
def test_an_empty_value_says_nothing(value):
    assert value_features(value)[0] == ""


@pytest.mark.parametrize("value", ["12", "1982", "0", "Ridley Scott"])
def test_years_and_what_is_counted_come_near_nothing(value):
    assert value_features(value)[1] == []


def test_a_date_says_about_the_same_as_its_year():
    assert value_features("1982-06-25")[1] == [value_features("1982")[0]] == [value_features("1982-11")[1][0]]


def test_a_date_whose_day_and_month_cannot_be_told_apart_is_near_both():
    near = value_features("05/06/1982")[1]
    assert {"1982-05-06", "1982-06-05", "1982"} == set(near)


def test_telephone_numbers_with_and_without_the_code_of_the_country_are_near():
    assert set(value_features("+1 212 555-1234")[1]) & set(value_features("(212) 555-1234")[1])


def test_prices_that_are_near_meet():
    assert set(value_features("$1,299.00")[1]) & set(value_features("$1,297.00")[1])


@given(st.floats(min_value=1e-12, max_value=1e15), st.floats(min_value=-0.004, max_value=0.004))
def test_numbers_that_are_near_meet_on_one_of_the_grids(number, difference):
    one, other = number, number * (1 + difference)
    near, others = value_features(repr(one))[1], value_features(repr(other))[1]
    if near and others:  # neither counts something, and neither is a year
        assert set(near) & set(others)


@given(st.floats(min_value=2100.5, max_value=1e12), st.floats(min_value=1.011, max_value=2))
def test_numbers_that_are_not_near_do_not_meet(number, factor):
    assert not set(value_features(repr(number))[1]) & set(value_features(repr(number * factor))[1])


@given(st.integers(-(10**14), 10**14))
def test_a_whole_number_is_the_same_in_every_spelling(number):
    assert value_features(str(number))[0] == value_features(f"{number}.0")[0] == value_features(f"{number:,}")[0]


@given(st.text())
def test_any_text_can_be_read(value):
    exact, near, _ = value_features(value)
    assert exact or not near


def literals(task):
    return read_literals(task.source, task.target)


def with_values(side, properties, facts):
    """The graph with literals: (name of the entity, property, value)."""
    rows = [(side.names.index(name), properties.index(kind)) for name, kind, _ in facts]
    return replace(side, attributes=Attributes(properties, np.array(rows).reshape(-1, 2), [value for *_, value in facts]))


def test_empty_values_and_own_names_are_no_literals():
    side = with_values(graph(["a", "b"]), ["p"], [("a", "p", ""), ("b", "p", "b"), ("a", "p", "x")])
    assert read_literals(side, side).source.facts.tolist() == [2]


def test_properties_match_by_the_values_of_known_pairs():
    names = [f"e{number}" for number in range(8)]
    ours = [(name, kind, f"{number * scale}") for number, name in enumerate(names) for kind, scale in (("born", 11), ("died", 17))]
    theirs = [(name, {"born": "birth", "died": "death"}[kind], value) for name, kind, value in ours]
    task = task_of(with_values(graph(names), ["born", "died"], ours), with_values(graph(names), ["death", "birth"], theirs))
    known = Alignment(np.repeat(np.arange(8), 2).reshape(-1, 2))
    matches = match_properties(literals(task), known).toarray()
    assert min(matches[0, 1], matches[1, 0]) > 0.7
    assert max(matches[0, 0], matches[1, 1]) < 0.2
    assert match_properties(literals(task), Alignment.empty()).nnz == 0


def test_properties_of_one_name_match_before_anything_is_known():
    side = with_values(graph(["a"]), ["http://x/birthDate", "http://x/height"], [("a", "http://x/height", "1.80")])
    other = with_values(graph(["a"]), ["http://y/birth_date"], [("a", "http://y/birth_date", "1950")])
    assert match_properties(read_literals(side, other), Alignment.empty()).toarray().ravel().tolist() == [0.5, 0.0]


def test_a_frequent_value_alone_does_not_make_entities_similar():
    names = [f"e{number}" for number in range(40)]
    facts = [(name, "sex", "female" if number % 2 else "male") for number, name in enumerate(names)]
    side = with_values(graph(names), ["sex"], facts)
    known = Alignment(np.repeat(np.arange(40), 2).reshape(-1, 2))
    task = task_of(side, side)
    view = View.of(task, known, Fast().fit(task).prepared)
    values = next(kind for kind in Fast().kinds if kind.name == "values").compute(view)
    assert (values.source @ values.target.T).max() < 0.2


def weight_of(agreed, compared=None):
    return float(difference_weights(np.array(agreed), np.array(agreed if compared is None else compared)))


def test_a_difference_counts_by_how_rare_it_is_among_known_links():
    assert weight_of(1) == 0  # one agreement is no rule
    assert 0 < weight_of(10) < weight_of(100) == weight_of(10_000)  # which is the strongest
    assert weight_of(75, 100) == pytest.approx(np.log(4) / FULL, rel=0.05)
    assert weight_of(40, 100) == 0


def test_several_differences_add_up():
    names = [f"e{number}" for number in range(10)]
    facts = [(name, kind, f"{kind} {number}") for number, name in enumerate(names) for kind in ("colour", "shape")]
    task = task_of(*[with_values(graph(names), ["colour", "shape"], facts)] * 2)
    known = Alignment(np.repeat(np.arange(8), 2).reshape(-1, 2))
    found = contradicting_values(literals(task), known, match_properties(literals(task), known))
    assert -found.compare(np.array([8]), np.array([9]))[0] == pytest.approx(2 * weight_of(8))


def test_what_is_missing_contradicts_nothing_and_what_differs_does():
    names = [f"e{number}" for number in range(10)]
    ours = with_values(graph(names), ["year"], [(name, "year", str(1950 + number)) for number, name in enumerate(names)])
    theirs = with_values(graph(names), ["year"], [(name, "year", str(1950 + number)) for number, name in enumerate(names[:9])])
    task = task_of(ours, theirs)
    known = Alignment(np.repeat(np.arange(8), 2).reshape(-1, 2))
    found = contradicting_values(literals(task), known, match_properties(literals(task), known))
    same, missing, different = -found.compare(np.array([8, 9, 8]), np.array([8, 9, 7]))
    assert (same, missing) == (0, 0)
    assert different == pytest.approx(weight_of(8))


def test_what_is_said_twice_is_one_value():
    names = [f"e{number}" for number in range(10)]
    facts = [(name, "year", str(1950 + number)) for number, name in enumerate(names)]
    again = [(name, "year", f"{value}.0") for name, _, value in facts]
    known = Alignment(np.repeat(np.arange(8), 2).reshape(-1, 2))
    once, twice = (task_of(*[with_values(graph(names), ["year"], said)] * 2) for said in (facts, facts + again + facts))
    matches = [match_properties(literals(task), known) for task in (once, twice)]
    assert matches[0].toarray() == matches[1].toarray()
    amounts = [
        -contradicting_values(literals(task), known, each).compare(np.array([8]), np.array([9]))
        for task, each in zip((once, twice), matches, strict=True)
    ]
    assert amounts[0] == amounts[1] == pytest.approx(weight_of(8))


def test_a_property_on_which_known_pairs_differ_contradicts_nothing():
    names = [f"e{number}" for number in range(10)]
    sides = [
        with_values(graph(names), ["note"], [(name, "note", f"{side} {number}") for number, name in enumerate(names)])
        for side in ("one thing", "another thing")
    ]
    known = Alignment(np.repeat(np.arange(8), 2).reshape(-1, 2))
    task = task_of(*sides)
    found = contradicting_values(literals(task), known, match_properties(literals(task), known))
    assert found.compare(np.array([8, 9]), np.array([8, 8])).tolist() == [0, 0]


def directed(count, wrong=()):
    """Films and their directors, one each; `wrong` have the director of the next."""
    triples = [(f"film {i}", "director", f"person {(i + (i in wrong)) % count}") for i in range(count)]
    return graph([*(f"film {i}" for i in range(count)), *(f"person {i}" for i in range(count))], triples)


def contradictions(task, seen, known):
    shared = sparse.csr_array((seen.scores.astype(np.float32), (seen.sources, seen.targets)), shape=(20, 20))
    edges = Edges.of_task(task)
    return contradicting_relations(edges, known, shared, match_relations(edges, known))


@pytest.mark.parametrize(("probability", "least", "most"), [(1.0, 0.3, 0.4), (0.95, 0.15, 0.2), (0.5, 0.0, 0.0)])
def test_another_director_is_negative_evidence_as_far_as_he_is_known(probability, least, most):
    task = task_of(directed(10), directed(10, wrong=[9]))
    known = Alignment(np.repeat(np.r_[0:9, 10:20], 2).reshape(-1, 2))  # all but the last film
    directors = np.isin(known.sources, [10, 19])  # the two that it may have
    seen = replace(known, scores=np.where(directors, probability, 1.0))
    differs, agrees = -contradictions(task, seen, known).compare(np.array([9, 8]), np.array([9, 8]))
    assert agrees == 0
    assert least <= differs <= most


@pytest.mark.parametrize("thought_to_be", [9, 0])
def test_a_link_is_no_evidence_for_or_against_itself(thought_to_be):
    task = task_of(directed(10), directed(10))
    known = Alignment(np.repeat(np.r_[1:9, 10:20], 2).reshape(-1, 2))
    found = contradictions(task, known + Alignment(np.array([[9, thought_to_be]]), np.array([0.9])), known)
    same, another = -found.compare(np.array([9, 9]), np.array([9, 0]))
    assert same == 0
    assert another == pytest.approx(weight_of(8))


@pytest.mark.parametrize("source_is_bare", [True, False])
def test_a_graph_without_relations_contradicts_nothing(source_is_bare):
    full = directed(10)
    sides = [graph(full.names), full] if source_is_bare else [full, graph(full.names)]
    known = Alignment(np.repeat(np.arange(8), 2).reshape(-1, 2))
    assert contradictions(task_of(*sides), known, known).compare(np.array([8, 9]), np.array([8, 8])).tolist() == [0, 0]


def test_graphs_whose_literals_have_nothing_in_common_align_all_the_same():
    names = ["Rome", "Paris", "Vienna"]
    sides = [with_values(graph(names), ["note"], [(name, "note", f"{side} {name}") for name in names]) for side in ("seen", "read")]
    assert align(task_of(*sides)).alignment.pairs.tolist() == [[0, 0], [1, 1], [2, 2]]
    only_one = task_of(sides[0], graph(names))
    assert align(only_one).alignment.pairs.tolist() == [[0, 0], [1, 1], [2, 2]]


@pytest.mark.parametrize(
    ("ours", "theirs", "nearest", "agreement"),
    [
        (["x9"], [f"x{number}" for number in range(10)], ("x9", "x9"), IS_SAME),
        ([f"y{number}" for number in range(9)] + ["x0"], ["x0", "z"], ("x0", "x0"), IS_SAME),
        (["1982"], ["1950", "1960", "1970", "1982-06-25", "1990"], ("1982", "1982-06-25"), IS_NEAR),
        (["1982", "5000"], ["5001", "1982"], ("1982", "1982"), IS_SAME),
        (["x", "y"], ["z", "w"], ("x", "z"), DIFFERS),
    ],
)
def test_the_nearest_of_many_values_are_compared(ours, theirs, nearest, agreement):
    sides = [with_values(graph(["a"]), ["p"], [("a", "p", value) for value in values]) for values in (ours, theirs)]
    owners, facts, found = compare_literals(read_literals(*sides), Alignment.empty(), np.array([[0, 0]]))
    assert (owners.tolist(), found.tolist()) == ([0], [agreement])
    assert (ours[facts[0, 0]], theirs[facts[0, 1]]) == nearest


def test_explanations_and_the_report_show_what_agrees_and_what_differs(tmp_path):
    task, _ = read(*write_films(tmp_path))
    folder = align(task).write(tmp_path / "run")
    jaws, psycho = (str(read_explanations(folder, name)[0]) for name in ("Jaws", "Psycho"))
    assert "released / year: 1975-06-20 | 1975, about the same" in jaws
    assert "imdb / P345: tt0073195 | tt0073195, the same" in jaws
    assert "imdb / P345: tt0054215 | " in psycho
    assert "differs" in psycho
    assert '"1975-06-20"' in (folder / "report.html").read_text("utf-8")
