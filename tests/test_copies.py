"""Copies within a graph, groups of entities, and names that structure does not overrule."""

import numpy as np
import pytest

import kgalign
from kgalign.features.classes import TYPE, entity_groups
from kgalign.features.copies import Copies, one_to_one_copies
from kgalign.features.functionality import AnchoredEvidence
from kgalign.features.names import equal_names, ngram_similarity
from kgalign.models.fast import KINDS
from kgalign.models.fast.evidence import Prepared
from kgalign.models.fast.probabilities import LinkProbabilities, PairFeatures
from kgalign.reasoning.no_match import NoMatchClassifier, careful_shares

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
    pair, single = Copies(np.array([0, 0]), np.array([2, 2])), Copies(np.array([0]), np.array([1]))
    first = one_to_one_copies((single, pair), np.array([0, 0]), np.array([0, 1]), np.array([0.45, 0.45]))
    assert first == pytest.approx([0.9, 0.0045])  # the other copy is still the next best candidate
    both = one_to_one_copies((pair, pair), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.full(4, 0.5))
    assert both == pytest.approx([1.0, 0.005, 0.005, 1.0])


def test_copies_keep_their_shares_where_a_pair_of_them_is_missing_or_another_entity_competes():
    pair, apart = Copies(np.array([0, 0]), np.array([2, 2])), Copies(np.array([0, 1]), np.array([1, 1]))
    rejected = one_to_one_copies((pair, pair), np.array([0, 1, 1]), np.array([1, 0, 1]), np.full(3, 0.5))
    assert rejected.tolist() == [0.5, 0.5, 0.5]
    two_targets = one_to_one_copies((pair, apart), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.full(4, 0.5))
    assert two_targets.tolist() == [0.5, 0.5, 0.5, 0.5]


def test_a_rejected_pair_of_copies_leaves_the_other_pairs(tmp_path):
    _, target = films(tmp_path, copied=[2])
    source = tmp_path / "twice.csv"
    source.write_text(target.read_text("utf-8").replace("\nt", "\ns"), "utf-8")
    links = film_links(kgalign.align(kgalign.read(source, target, rejected=[("s2", "t2")])[0]))
    assert ("s2", f"t{len(FILMS)}") in links
    assert (f"s{len(FILMS)}", "t2") in links


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
    [
        ("Wave Number", "wavenumber", True),
        ("sea bed", "seabed", True),
        ("left wing", "leftwing", True),
        ("neck tie", "necktie", True),
        ("a e", "ae", True),
        ("Smith, John", "John Smith", True),
        ("tramways", "tramway", True),
        ("essais", "essai", True),
        ("Wave Number", "wave numeral", False),
        ("Windows 3.11", "Windows 31.1", False),
        ("Section 1.2", "Section 2.1", False),
    ],
)
def test_names_are_equal_in_any_order_and_without_blanks(one, other, is_equal):
    graphs = [kgalign.KnowledgeGraph(["e"], [], np.empty((0, 3), np.int64), [name]) for name in (one, other)]
    similarity = equal_names(*graphs).compare(np.array([0]), np.array([0]))[0]
    assert similarity == pytest.approx(float(is_equal))


def test_equal_names_do_not_depend_on_the_order_of_the_graphs():
    one, two = (
        kgalign.KnowledgeGraph([f"e{number}" for number in range(len(names))], [], np.empty((0, 3), np.int64), names)
        for names in (["Database"], ["Base Data", "Data Base"])
    )
    forth = equal_names(one, two).compare(np.array([0, 0]), np.array([0, 1]))
    back = equal_names(two, one).compare(np.array([0, 1]), np.array([0, 0]))
    assert forth.tolist() == back.tolist() == pytest.approx([0.5**0.5] * 2)


def test_shares_of_right_links_are_estimated_for_each_group():
    log_odds = np.concatenate([np.full(100, 4.0), np.full(100, -4.0), [4.0]])
    groups = np.repeat([0, 1, 2], [100, 100, 1])
    shares = careful_shares(log_odds, np.ones(201), groups)
    assert shares[0] == pytest.approx(2 / 3)
    assert shares[100] < 0.15
    assert shares[100] < shares[200] <= shares[0], "a small group takes after all queries"
    assert not len(careful_shares(np.empty(0), np.empty(0), np.empty(0, np.int64)))


def test_a_share_is_lower_where_few_queries_win_a_candidate():
    won = np.repeat([1.0, 0.0], [10, 190])
    few = careful_shares(np.full(200, 3.0), won, np.zeros(200, np.int64))
    all_won = careful_shares(np.full(10, 3.0), np.ones(10), np.zeros(10, np.int64))
    assert few[0] < all_won[0]


def test_a_unique_equal_name_competes_by_its_log_odds_however_low_its_score_is():
    graphs = [kgalign.KnowledgeGraph(["a", "b"], [], np.empty((0, 3), np.int64), names) for names in (FILMS[:2], FILMS[1::-1])]
    task = kgalign.AlignmentTask(*graphs, kgalign.Alignment.empty(), np.arange(2), np.arange(2), "open")
    candidates = kgalign.Candidates(np.arange(2), np.array([[0, 1], [0, 1]]), np.zeros((2, 2)))
    features = PairFeatures(
        KINDS, Prepared.of(task, (), {}), {"names": ngram_similarity(*graphs), "equal names": equal_names(*graphs)}
    )
    judged = LinkProbabilities(
        features,
        NoMatchClassifier.untaught(features.features),
        is_taught=False,
        around=AnchoredEvidence.of(features.prepared.edges, kgalign.Alignment.empty()),
        iterations=20,
    )
    scores = judged.with_decisive(np.full((2, 2), -20.0), candidates)
    is_equal = np.array([[name == other for other in graphs[1].names] for name in graphs[0].names])
    assert (scores[is_equal] > 0).all()
    assert (scores[~is_equal] == -20).all()
