"""The paper's running example: which George Bush is George Bush?"""

import json

import numpy as np
import pytest
from conftest import candidates_of, graph, task_of
from test_cli import kgalign

from kgalign import Alignment, DataError, align, demo, write_run
from kgalign.evidence import MOST_SHARED, gather_evidence, name_similarity
from kgalign.explain import describe, explain, read_explanations

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
    assert "has no partner" in describe(iraq)


def test_the_text_names_everything():
    text = describe(explain(TASK, ALIGNMENT, CANDIDATES, 0))
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
    assert "nothing about 'Atlantis'" in done.stderr
