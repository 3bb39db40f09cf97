"""The paper's running example: which George Bush is George Bush?"""

import json

import numpy as np
import pytest
from conftest import candidates_of, graph, task_of
from test_cli import kgalign

from kgalign import Alignment, DataError, align, demo, write_run
from kgalign.explain.evidence import MOST_SHARED, gather_evidence, name_similarity
from kgalign.explain.explanations import explain, read_explanations

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


def test_linked_neighbours_speak_for_a_link():
    bush = explain(TASK, ALIGNMENT, CANDIDATES, 0)
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


def test_the_runner_up_lacks_what_speaks_for_the_link_alone():
    bush = explain(TASK, ALIGNMENT, CANDIDATES, 0)
    assert bush.runner_up.name == "George H W Bush"
    assert bush.runner_up.shared == 1
    assert {each.target for each in bush.lacking()} == {"Harvard_University", "Texas"}


def test_who_has_the_runner_up_is_told():
    harvard = explain(TASK, ALIGNMENT, CANDIDATES, 1)
    assert harvard.runner_up.taken_by == "Yale"


def test_an_entity_without_a_partner_shows_its_best_candidate():
    iraq = explain(TASK, ALIGNMENT, CANDIDATES, 4)
    assert iraq.link is None
    assert iraq.runner_up.name == "Maine"
    assert "has no partner" in str(iraq)


def test_the_text_names_everything():
    text = str(explain(TASK, ALIGNMENT, CANDIDATES, 0))
    for part in (
        "George W Bush",
        "0.600",
        "round 2",
        "Harvard (→ studied at) = Harvard University (→ alma mater), 0.900",
        "← governor",
        "It lacks",
    ):
        assert part in text


def test_pairs_that_nobody_asked_for_are_evidence_too():
    known = Alignment(np.array([[4, 5]]), np.array([0.7]))
    assert explain(TASK, ALIGNMENT, CANDIDATES, 0).runner_up.shared == 1
    assert explain(TASK, ALIGNMENT, CANDIDATES, 0, known=known).runner_up.shared == 2


def test_the_most_telling_neighbours_are_kept():
    many = [str(i) for i in range(50)]
    star = graph(["hub", *many], [("hub", "has", name) for name in many])
    pairs = Alignment(np.column_stack([np.arange(51), np.arange(51)]), np.linspace(0.5, 1, 51))
    evidence = gather_evidence(task_of(star, star), pairs, candidates_of(np.eye(51)), sources=np.array([0]))
    assert evidence.shared.tolist() == [50]
    assert evidence.neighbours[:, 0].tolist() == list(range(50, 50 - MOST_SHARED, -1))


@pytest.mark.parametrize(
    ("one", "other", "least", "most"), [("Köln", "koln", 1, 1), ("猫", "cat", 0, 0), ("Rome", "Roma", 0.4, 0.9), ("", "", 0, 0)]
)
def test_names_are_compared_by_their_letters(one, other, least, most):
    assert least <= name_similarity(one, other) <= most


def test_a_run_explains_itself_without_its_graphs(tmp_path):
    run = align(*demo("fr_en"))
    folder = write_run(run, tmp_path / "run")
    source = run.alignment.sources[5]
    iri, name = run.task.source.entities[source], run.task.source.names[source]
    from_disk = read_explanations(folder, iri)
    assert from_disk == [explain(run.task, run.alignment, run.candidates, source, known=run.known)]
    assert from_disk[0] in read_explanations(folder, name)
    assert from_disk[0] in read_explanations(folder, from_disk[0].link.target)


def test_what_is_not_in_a_run_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"evidence\.parquet: no such file"):
        read_explanations(tmp_path, "Rome")


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
    done = kgalign("align", "left.nt", "right.nt", "--seeds", "seeds.tsv", "-o", "run", "--model", "names", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.mark.parametrize("wanted", ["http://l/Rome", "<http://l/rome>", "rome", "ROME", "Rome"])
def test_an_entity_is_found_however_it_is_called(run_of_rdf, wanted):
    (found,) = read_explanations(run_of_rdf, wanted)
    assert (found.source, found.link.target) == ("http://l/Rome", "http://r/Rome")
    assert str(found).startswith("Rome  <http://l/Rome>, 1 neighbour\nis Rome  <http://r/Rome>")


def test_a_target_is_explained_by_the_source_that_it_was_given_to(run_of_rdf):
    assert [each.source for each in read_explanations(run_of_rdf, "http://r/oslo")] == ["http://l/Oslo"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("Atlantis", "no entity of either graph is called 'Atlantis'"),
        ("http://l/Italy", "Italy  <http://l/Italy> of the source was not asked: it is a seed.*its partner is <http://r/Italy>"),
        ("city", "City  <http://l/City> of the source was not asked: it is a class"),
        ("springfield", "2 entities of the source are called 'springfield': <http://l/1>, <http://l/2>; give the IRI of one"),
        ("猫", "<http://l/猫> of the source has no partner: it had no candidate"),
        ("łódź", "<http://r/Łódź> of the target has no partner: (it was a candidate of nobody|.* could have had it)"),
    ],
)
def test_each_cause_has_its_message(run_of_rdf, wanted, message):
    with pytest.raises(DataError, match=message):
        read_explanations(run_of_rdf, wanted)


def test_graphs_that_are_gone_are_told_of(tmp_path):
    folder = write_run(align(*demo("fr_en"), easy_to_hard=False), tmp_path / "run")
    with pytest.raises(
        DataError, match=r"nobody who was asked or on offer is called 'Atlantis'; the graphs themselves cannot be read again"
    ):
        read_explanations(folder, "Atlantis")


def test_why_there_is_no_partner_is_said():
    assert "has no partner: its best candidate is not probable enough." in str(explain(TASK, ALIGNMENT, CANDIDATES, 4))
    without = ALIGNMENT.where(np.array([0, 2]))
    assert "has no partner: its best candidate went to Bush." in str(
        explain(TASK, without, candidates_of([[0.6], [0.5], [0], [0], [0]]), 1)
    )
    no_match_score = str(explain(TASK, without, candidates_of(np.zeros((5, 6))), 4))
    assert no_match_score == "Iraq  <Iraq>, 1 neighbour\nhas no partner: there was no candidate for it."


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
