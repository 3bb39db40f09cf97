import numpy as np

from kgalign import Alignment, AlignmentTask, KnowledgeGraph
from kgalign.explain.diagnosis import explain_little, is_little


def task_of(source_names, target_names, triples=((0, 0, 1),), seeds=()):
    graphs = [
        KnowledgeGraph([f"{side}{i}" for i in range(len(names))], ["r"], np.array(triples).reshape(-1, 3), names)
        for side, names in (("s", source_names), ("t", target_names))
    ]
    seeds = Alignment(np.array(seeds, np.int64).reshape(-1, 2))
    return AlignmentTask(*graphs, seeds, np.arange(len(source_names)), np.arange(len(target_names)))


def hints(task):
    return [line for line in explain_little(task, Alignment.empty()) if line.startswith("hint: ")]


def test_little_is_less_than_a_user_expects():
    task = task_of(["a"] * 200, ["a"] * 100)
    pairs = np.array([[i, i] for i in range(3)])
    assert is_little(task, Alignment.empty())
    assert is_little(task, Alignment(pairs, np.array([0.9, 0.4, 0.3])))
    assert not is_little(task, Alignment(pairs))


def test_every_stage_says_what_it_had():
    lines = explain_little(task_of(["Rome", "Oslo"], ["Rome", "Paris"]), Alignment.empty())
    assert [line.split(":")[0] for line in lines[:5]] == ["asked", "names", "scripts", "triples", "decided"]
    assert "1 are the same on both sides" in lines[1]


def test_codes_for_names_are_pointed_out():
    found = hints(task_of(["Q42", "Q17"], ["Rome", "Oslo"]))
    assert "the names of the source are codes" in found[0]
    assert "--names-source" in found[0]


def test_two_scripts_are_pointed_out():
    assert any("different scripts" in hint and "--lang" in hint for hint in hints(task_of(["猫", "狗"], ["cat", "dog"])))


def test_missing_seeds_and_triples_are_pointed_out():
    found = " ".join(hints(task_of(["Rome", "Oslo"], ["Kiew", "Lyon"], triples=())))
    assert "no name is the same" in found
    assert "0 seeds" in found
    assert "the source has few triples" in found
