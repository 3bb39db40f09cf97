"""The paper's running example: which George Bush is George Bush?"""

import json
from dataclasses import asdict, dataclass, replace

import numpy as np
import pytest
from conftest import candidates_of, graph, task_of
from test_cli import kgalign

from kgalign import (
    Alignment,
    AlignmentTask,
    Capabilities,
    DataError,
    KnowledgeGraph,
    OptionError,
    Reasoning,
    Run,
    align,
    demo,
    read,
)
from kgalign.data import ALTERNATIVE, CLASS, FROM_IRI, Name, Names
from kgalign.explain.evidence import MOST_SHARED, gather_evidence
from kgalign.explain.explanations import MatchingName
from kgalign.explain.names import matching_names
from kgalign.runs import file_hashes, read_explanations
from kgalign.runs.evidence_table import evidence_table, explanations
from kgalign.seams import Contributions

SOURCE = graph(
    ["Bush", "Harvard", "Yale", "Texas", "Iraq"],
    [("Bush", "studied at", "Harvard"), ("Bush", "studied at", "Yale"), ("Texas", "governor", "Bush"), ("Bush", "war", "Iraq")],
)
TARGET = graph(
    ["George W Bush", "Harvard University", "Yale University", "Texas", "George H W Bush", "Maine"],
    [
        ("George W Bush", "alma mater", "Harvard University"),
        ("George W Bush", "alma mater", "Yale University"),
        ("Texas", "governed by", "George W Bush"),
        ("George H W Bush", "alma mater", "Yale University"),
        ("George H W Bush", "home", "Maine"),
    ],
)
TASK = task_of(SOURCE, TARGET, [(3, 3)])
CANDIDATES = candidates_of(
    [[0.6, 0, 0, 0, 0.4, 0], [0, 0.9, 0.1, 0, 0, 0], [0, 0.1, 0.9, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0.3, 0.7]]
)
ALIGNMENT = Alignment(np.array([[0, 0], [1, 1], [2, 2]]), np.array([0.6, 0.9, 0.8]), np.array([2, 1, 0]), {"decoder": "joint"})


def explain(source_id, alignment=ALIGNMENT, candidates=CANDIDATES, known=None):
    """The explanation of one source by a run with those links."""
    (found,) = Run(TASK, Reasoning(alignment, candidates, known=known or Alignment.empty())).explain(source_id)
    return found


def test_linked_neighbours_are_evidence_for_a_link():
    bush = explain(0)
    assert (bush.name, bush.link.name, bush.round, bush.decided_by) == ("Bush", "George W Bush", 2, "easy-to-hard")
    assert bush.link.probability == pytest.approx(0.6)
    linked = {
        each.source: (each.target, each.source_relations, each.target_relations, each.seed)
        for each in bush.link.linked_neighbours()
    }
    assert linked == {
        "Texas": ("Texas", ("^governor",), ("^governed by",), True),
        "Harvard": ("Harvard_University", ("studied at",), ("alma mater",), False),
        "Yale": ("Yale_University", ("studied at",), ("alma mater",), False),
    }
    assert [each.source for each in bush.link.neighbours if each.target is None] == ["Iraq"]


def test_the_runner_up_lacks_neighbours_that_only_the_link_has():
    bush = explain(0)
    assert bush.runner_up.name == "George H W Bush"
    assert bush.runner_up.shared == 1
    assert {each.target for each in bush.lacking()} == {"Harvard_University", "Texas"}


def test_an_explanation_names_the_source_that_is_linked_to_the_runner_up():
    harvard = explain(1)
    assert harvard.runner_up.taken_by == "Yale"


def test_an_unmatched_entity_shows_its_best_candidate():
    iraq = explain(4)
    assert iraq.link is None
    assert iraq.runner_up.name == "Maine"
    assert "has no match: its best candidate is not probable enough (0.700) beside other queries and no match." in str(iraq)


def test_the_text_names_everything():
    text = str(explain(0))
    for part in (
        "George W Bush",
        "0.600",
        "round 2",
        "Harvard (→ studied at) = Harvard University (→ alma mater), 0.900",
        "← governor",
        "It lacks",
    ):
        assert part in text


def test_links_of_other_entities_than_queries_are_evidence_too():
    known = Alignment(np.array([[4, 5]]), np.array([0.7]))
    assert explain(0).runner_up.shared == 1
    assert explain(0, known=known).runner_up.shared == 2


def test_evidence_of_entities_that_are_no_queries_joins_neighbours():
    task = replace(TASK, queries=np.array([0]))  # as only_source makes it
    bush = ALIGNMENT.where(np.array([0]))
    given = Alignment(np.array([[1, 1], [3, 3], [2, 2]]), np.array([0.9, 1.0, 0.4]))
    (found,) = Run(task, Reasoning(bush, CANDIDATES, evidence=given)).explain(0)
    linked = {each.source: (each.target, each.probability) for each in found.link.linked_neighbours()}
    assert linked == {"Texas": ("Texas", 1.0), "Harvard": ("Harvard_University", 0.9), "Yale": ("Yale_University", 0.4)}
    assert found.link.shared == 3


def test_neighbours_are_said_to_be_the_same_only_where_there_are_some():
    task = task_of(graph(["Rome"]), graph(["Rome", "Roma"]))
    run = Run(task, Reasoning(Alignment(np.array([[0, 0]])), candidates_of([[0.7, 0.3]])))
    assert "Runner-up: Roma" in str(run.explain("Rome"))
    assert "the same linked neighbours" not in str(run.explain("Rome"))


def test_the_strongest_neighbours_are_kept():
    many = [str(i) for i in range(50)]
    star = graph(["hub", *many], [("hub", "has", name) for name in many])
    pairs = Alignment(np.column_stack([np.arange(51), np.arange(51)]), np.linspace(0.5, 1, 51))
    evidence = gather_evidence(task_of(star, star), pairs, candidates_of(np.eye(51)), sources=np.array([0]))
    assert evidence.shared.tolist() == [50]
    assert evidence.neighbours[:, 0].tolist() == list(range(50, 50 - MOST_SHARED, -1))


def named(prefix, *lists, kinds=()):
    """A graph without triples whose entities have those lists of names."""
    entities = [f"{prefix}{number}" for number in range(len(lists))]
    return KnowledgeGraph(entities, [], np.empty((0, 3), np.int64), Names.of(lists), kinds=kinds)


def explain_names(source, target):
    """The explanation of a link between two entities with those names."""
    run = Run(
        task_of(named("s", source), named("t", target)),
        Reasoning(Alignment(np.array([[0, 0]]), record={"decoder": "joint"}), candidates_of([[1]])),
    )
    (found,) = run.explain("s0")
    return found


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [("Köln", "koln", 1), ("cat", "dog", 0), ("Rome", "Roma", 0.6), ("anna", "anna ann", 10 / 11), ("", "", 0), ("!", "?", 0)],
)
def test_names_are_compared_by_their_letter_pairs(one, other, share):
    assert explain_names([Name(one)], [Name(other)]).link.name_similarity == pytest.approx(share, abs=1e-4)


@pytest.mark.parametrize(
    ("source", "target", "line"),
    [
        (
            [Name("Gehege", "de"), Name("enclosures", "en", ALTERNATIVE)],
            [Name("enclos", "fr"), Name("enclosure", "en")],
            'Names: "enclosures" (en, alternative) and "enclosure" (en): 86% of their letters in common.',
        ),
        ([Name("flamenco", "es")], [Name("flamenco", "fr")], 'Names: both are called "flamenco" (es and fr).'),
        ([Name("flamenco", "es")], [Name("flamenco", "es")], 'Names: both are called "flamenco" (es).'),
        ([Name("Rome")], [Name("Rome")], 'Names: both are called "Rome".'),
        (
            [Name("borrower", "en"), Name("reader", "en", ALTERNATIVE)],
            [Name("reader", "en")],
            'Names: both are called "reader" (source: en, alternative; target: en).',
        ),
        ([Name("Patron", "", FROM_IRI)], [Name("patron")], 'Names: "Patron" (from the IRI) and "patron": the same letters.'),
        ([Name("Москва")], [Name("Moskva")], 'Names: "Москва" and "Moskva": the same letters, written in Latin letters.'),
        ([Name("cat")], [Name("dog")], "Names: no two letters in a row in common."),
        ([], [Name("dog")], "Names: no two letters in a row in common."),
    ],
)
def test_the_text_names_the_most_similar_names_with_language_and_rank(source, target, line):
    assert line in str(explain_names(source, target)).splitlines()


def test_the_letters_in_common_are_those_of_the_most_similar_names():
    found = explain_names([Name("Wien", "de"), Name("Vienna", "en", ALTERNATIVE)], [Name("Vienne", "fr"), Name("Vienna", "en")])
    assert (found.name, found.link.name) == ("Wien", "Vienne"), "the shown names stay the headline"
    assert found.link.name_similarity == 1
    assert found.link.matching_names == (MatchingName("Vienna", "en", "alternative"), MatchingName("Vienna", "en"))


def test_the_most_similar_names_of_a_pair_do_not_depend_on_other_pairs():
    source = named("s", [Name("red bird"), Name("blue fish", "", ALTERNATIVE)], [Name("red fox")], [Name("red hen")])
    task = task_of(source, named("t", [Name("red fish"), Name("bird", "en")], [Name("red fox")], [Name("red cow")]))
    pairs = np.array([[0, 0], [1, 1], [2, 2], [1, 0]])
    together, shares = matching_names(task, pairs)
    alone = [matching_names(task, pairs[[number]]) for number in range(len(pairs))]
    assert together.tolist() == [each[0][0].tolist() for each in alone]
    assert shares.tolist() == [each[1][0] for each in alone]


def named_run():
    """A run of two links; the second pair has a name in common that is not shown."""
    source = named("s", [Name("cat", "en")], [Name("dog", "en"), Name("hound", "en", ALTERNATIVE)])
    target = named("t", [Name("cat", "en")], [Name("chien", "fr"), Name("hound", "en", ALTERNATIVE)])
    links = Alignment(np.array([[0, 0], [1, 1]]), np.array([0.9, 0.8]), record={"decoder": "joint"})
    return Run(task_of(source, target), Reasoning(links, candidates_of([[0.9, 0.1], [0.2, 0.8]])))


def test_a_run_folder_holds_the_names_that_match(tmp_path):
    run = named_run()
    found = read_explanations(run.write(tmp_path / "run"), "dog")
    assert found == run.explain("dog")
    assert found[0].link.matching_names == (MatchingName("hound", "en", "alternative"),) * 2
    assert found[0].runner_up.matching_names is None
    assert asdict(found[0])["link"]["matching_names"][0] == {"text": "hound", "language": "en", "rank": "alternative"}


def test_an_older_run_folder_without_matching_names_is_explained():
    rows = evidence_table(named_run().evidence(), named_run().task, "joint").drop_columns(["matching_names"]).to_pylist()
    assert "Names: the same letters." in str(list(explanations(rows))[1])


@pytest.mark.parametrize("wanted", ["hound", "HOUND"])
def test_an_entity_is_found_by_any_of_its_names(wanted):
    assert [each.source for each in named_run().explain(wanted)] == ["s1"]


def test_a_run_folder_finds_an_entity_by_any_of_its_names_in_its_graphs(tmp_path):
    labels = '@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n<http://{0}/1> skos:prefLabel "{1}"@en ; skos:altLabel "hound"@en .'
    for side, name in (("l", "dog"), ("r", "Canis")):
        (tmp_path / f"{side}.ttl").write_text(labels.format(side, name))
    places = {"source": str(tmp_path / "l.ttl"), "target": str(tmp_path / "r.ttl")}
    run = align(*read(**places), model="names")
    folder = replace(run, options={**run.options, "read": places}, inputs=file_hashes(places.values())).write(tmp_path / "run")
    (found,) = read_explanations(folder, "Hound")
    assert 'Names: both are called "hound" (en, alternative).' in str(found)


def test_an_entity_without_a_name_is_called_by_its_iri():
    assert str(explain_names([], [])).startswith("<s0>, 0 neighbours\nis <t0>, 0 neighbours\n")


def test_the_link_of_a_class_that_was_evidence_only_is_named():
    source, target = (
        named(side, [Name("cat")], [Name(kind)], kinds=[0, CLASS]) for side, kind in (("s", "Animal"), ("t", "Beast"))
    )
    task = AlignmentTask(source, target, Alignment.empty(), np.array([0]), np.array([0]))
    links, known = Alignment(np.array([[0, 0]])), Alignment(np.array([[1, 1]]), np.array([0.75]))
    run = Run(task, Reasoning(links, candidates_of([[1]]), known=known))
    with pytest.raises(DataError, match=r"^Animal <s1> of the source was not aligned: it is a class, and its link to Beast <t1> "):
        run.explain("animal")
    with pytest.raises(DataError, match=r"its link to Animal <s1> with a probability of 0\.7500 was evidence for other links$"):
        run.explain("beast")


def test_an_unmatched_entity_says_which_source_is_linked_to_its_best_candidate():
    without = ALIGNMENT.where(np.array([0, 2]))
    text = str(explain(1, without, candidates_of([[0.6], [0.5], [0], [0], [0]])))
    assert "has no match: its best candidate is the match of Bush." in text


def test_an_entity_without_a_candidate_has_nothing_to_explain():
    with pytest.raises(DataError, match=r"^Iraq <Iraq> of the source has no match: it had no candidate$"):
        explain(4, ALIGNMENT.where(np.array([0, 2])), candidates_of(np.zeros((5, 6))))


def test_an_entity_is_found_by_id_iri_or_name():
    run = Run(TASK, Reasoning(ALIGNMENT, CANDIDATES))
    assert run.explain(np.int64(0)) == run.explain("bush") == run.explain("Bush")
    assert run.explain("George_W_Bush") == run.explain("george w bush") == run.explain(0)
    with pytest.raises(OptionError, match="entity=5: expected the id of a source, 0 to 4"):
        run.explain(5)
    with pytest.raises(OptionError, match="entity=None: expected an IRI, the last part of one, a name, or the id of a source"):
        run.explain(None)
    with pytest.raises(OptionError, match="entity='': expected an IRI"):
        run.explain(" ")
    with pytest.raises(
        DataError, match=r"^Texas <Texas> of the source was not aligned: it is a seed, so its match was given: <Texas>"
    ):
        run.explain("texas")


CITIES = [("Rome", "in", "Italy"), ("Milan", "in", "Italy"), ("Paris", "in", "France"), ("Lyon", "in", "France")]
NAMES = ["Rome", "Milan", "Paris", "Lyon", "Italy", "France"]


def small_task():
    """Two graphs of the same four cities; the countries are seeds."""
    cities = graph(NAMES, CITIES)
    return task_of(cities, cities, [(4, 4), (5, 5)])


@dataclass(frozen=True)
class TwoKinds:
    """A model whose scores are the sum of two kinds of evidence: the same name, and an odd id."""

    capabilities = Capabilities(explains=True)

    def fit(self, task):
        return self

    def predict(self, task, known):
        return candidates_of(np.exp(8 * np.eye(len(task.source.entities)))[task.queries])

    def contributions(self, task, known, pairs):
        amounts = np.column_stack([8.0 * (pairs[:, 0] == pairs[:, 1]), -0.1234 * (pairs[:, 1] % 2)])
        return Contributions(("equality", "oddness"), ("the same number", "an odd number"), amounts)


def test_an_explanation_shows_how_much_each_kind_of_evidence_adds_to_the_score():
    (rome,) = align(small_task(), max_rounds=0).explain("rome")
    amounts = {each.kind: each.amount for each in rome.link.contributions}
    assert amounts["names"] > 5
    assert amounts["neighbours"] > 0
    assert {each.kind for each in rome.runner_up.contributions} <= amounts.keys()
    text = str(rome)
    assert "Evidence, in points    link    runner-up" in text
    assert "the probability also weighs other queries and no match" in text
    assert f"{amounts['names']:+.2f}" in text
    assert "character n-grams that the two most similar names have in common" in text


def test_contributions_come_from_any_model_that_explains(tmp_path):
    run = align(small_task(), model=TwoKinds(), max_rounds=0)
    (milan,) = run.explain("milan")
    assert [(each.kind, each.description, each.amount) for each in milan.link.contributions] == [
        ("equality", "the same number", 8.0),
        ("oddness", "an odd number", -0.12),
    ]
    assert "  score               +7.88" in str(milan)
    assert read_explanations(run.write(tmp_path / "run"), "milan") == [milan]


def test_a_model_that_does_not_explain_shows_no_contributions(tmp_path):
    run = align(small_task(), model="names", max_rounds=0)
    (rome,) = run.explain("rome")
    assert rome.link.contributions == rome.runner_up.contributions == ()
    assert "Evidence" not in str(rome)
    assert read_explanations(run.write(tmp_path / "run"), "rome") == [rome]


@pytest.mark.slow
def test_a_run_folder_explains_itself_without_its_graphs(tmp_path):
    run = align(*demo("fr_en"))
    folder = run.write(tmp_path / "run")
    source = run.alignment.sources[5]
    iri, name = run.task.source.entities[source], run.task.source.names[source]
    from_disk = read_explanations(folder, iri)
    assert from_disk == run.explain(iri) == run.explain(source)
    assert from_disk[0] in read_explanations(folder, name)
    assert from_disk[0] in read_explanations(folder, from_disk[0].link.target)


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"evidence\.parquet: no such file"):
        read_explanations(tmp_path, "Rome")
    with pytest.raises(DataError, match=r"^nowhere: no such run folder; expected one that kgalign align has written"):
        read_explanations("nowhere", "Rome")


LEFT = """<http://l/Rome> <http://l/in> <http://l/Italy> .
<http://l/Oslo> <http://l/in> <http://l/Norway> .
<http://l/Oslo> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://l/City> .
<http://l/1> <http://www.w3.org/2000/01/rdf-schema#label> "Springfield" .
<http://l/2> <http://www.w3.org/2000/01/rdf-schema#label> "Springfield" .
<http://l/猫> <http://l/in> <http://l/Norway> .
"""
RIGHT = """<http://r/Rome> <http://r/in> <http://r/Italy> .
<http://r/Oslo> <http://r/in> <http://r/Norway> .
<http://r/Łódź> <http://r/in> <http://r/Poland> .
"""


@pytest.fixture(scope="module")
def run_of_rdf(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    (folder / "left.nt").write_text(LEFT, "utf-8")
    (folder / "right.nt").write_text(RIGHT, "utf-8")
    (folder / "seeds.tsv").write_text("http://l/Italy\thttp://r/Italy\n")
    places = {"source": str(folder / "left.nt"), "target": str(folder / "right.nt"), "seeds": str(folder / "seeds.tsv")}
    run = align(*read(**places), model="names")
    return replace(
        run, options={**run.options, "read": places}, inputs=file_hashes(places.values())
    )  # as the command line stores it


@pytest.fixture(scope="module")
def folder_of_rdf(run_of_rdf, tmp_path_factory):
    return run_of_rdf.write(tmp_path_factory.mktemp("explain") / "run")


@pytest.mark.parametrize("wanted", ["http://l/Rome", "<http://l/rome>", "rome", "ROME", "Rome"])
def test_an_entity_is_found_however_it_is_written(run_of_rdf, folder_of_rdf, wanted):
    (found,) = read_explanations(folder_of_rdf, wanted)
    assert run_of_rdf.explain(wanted) == [found]
    assert (found.source, found.link.target) == ("http://l/Rome", "http://r/Rome")
    assert str(found).startswith("Rome  <http://l/Rome>, 1 neighbour\nis Rome  <http://r/Rome>")


def test_a_target_is_explained_by_the_source_that_is_linked_to_it(folder_of_rdf):
    assert [each.source for each in read_explanations(folder_of_rdf, "http://r/oslo")] == ["http://l/Oslo"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("Atlantis", "no entity of either graph is called 'Atlantis'"),
        (
            "http://l/Italy",
            "Italy <http://l/Italy> of the source was not aligned: it is a seed, so its match was given: <http://r/Italy>",
        ),
        ("city", "City <http://l/City> of the source was not aligned: it is a class or a property; `classes` aligns those too"),
        ("springfield", "2 entities of the source are called 'springfield': <http://l/1>, <http://l/2>; give the IRI of one"),
        ("猫", "<http://l/猫> of the source has no match: it had no candidate"),
        ("łódź", "<http://r/Łódź> of the target has no match: (it was a candidate of no query|its best query is)"),
    ],
)
def test_each_cause_has_its_message(run_of_rdf, folder_of_rdf, wanted, message):
    with pytest.raises(DataError, match=f"{folder_of_rdf}: .*{message}"):
        read_explanations(folder_of_rdf, wanted)
    with pytest.raises(DataError, match=message):
        run_of_rdf.explain(wanted)


def test_a_part_of_a_name_offers_the_entities_that_have_it(run_of_rdf, folder_of_rdf):
    message = r"no entity of either graph is called 'osl'; it is part of the name of Oslo <http://l/Oslo> of the source, "
    with pytest.raises(DataError, match=f"{message}Oslo <http://r/Oslo> of the target; expected an IRI"):
        read_explanations(folder_of_rdf, "osl")
    with pytest.raises(DataError, match=message):
        run_of_rdf.explain("osl")


def test_a_name_of_two_entities_in_two_languages_is_said_to_be_ambiguous(tmp_path, caplog):
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    food = f'<http://l/1> <{label}> "frites"@fr , "chips"@en .\n<http://l/2> <{label}> "chips"@fr , "crisps"@en .\n'
    (tmp_path / "left.ttl").write_text(food)
    (tmp_path / "right.ttl").write_text(food.replace("/l/", "/r/"))
    places = {"source": str(tmp_path / "left.ttl"), "target": str(tmp_path / "right.ttl"), "languages": []}
    run = align(*read(**places))
    run = replace(
        run,
        options={**run.options, "read": places},
        inputs=file_hashes((tmp_path / "left.ttl", tmp_path / "right.ttl")),
        seconds={"read": 0.1},
    )
    folder = run.write(tmp_path / "run")
    for explain_it in (run.explain, lambda wanted: read_explanations(folder, wanted)):
        caplog.clear()
        (found,) = explain_it("chips")
        assert "2 entities of the source are called 'chips': " in caplog.text
        assert "http://l/1" in caplog.text
        assert "http://l/2" in caplog.text
        caplog.clear()
        explain_it(found.source)
        assert caplog.text == ""


def test_a_folder_whose_graphs_are_gone_says_so(tmp_path):
    folder = align(small_task(), max_rounds=0).write(tmp_path / "run")
    with pytest.raises(
        DataError, match=r"no query and no entity of the candidate pool is called 'Atlantis'; the graphs cannot be read again"
    ):
        read_explanations(folder, "Atlantis")


@pytest.mark.slow
def test_explain_from_the_command_line(tmp_path):
    (tmp_path / "left.tsv").write_text("Rome\tcapital of\tItaly\nParis\tcapital of\tFrance\n")
    (tmp_path / "right.tsv").write_text("Roma\tcapitale\tItalia\nParis\tcapitale\tFrance\n")
    assert kgalign("align", "left.tsv", "right.tsv", "-o", "run", cwd=tmp_path).returncode == 0
    done = kgalign("explain", "run", "Paris", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "France (→ capital of) = France (→ capitale)" in done.stdout
    assert json.loads(kgalign("explain", "run", "Paris", "--json", cwd=tmp_path).stdout)[0]["link"]["target"] == "Paris"
    done = kgalign("explain", "run", "Atlantis", cwd=tmp_path)
    assert done.returncode == 2
    assert "no entity of either graph is called 'Atlantis'" in done.stderr
