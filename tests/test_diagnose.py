import numpy as np

from kgalign import Alignment, AlignmentTask, KnowledgeGraph
from kgalign.explain.diagnosis import diagnose, has_few_links


def task_of(source_names, target_names, triples=((0, 0, 1),), seeds=()):
    graphs = [
        KnowledgeGraph([f"{side}{i}" for i in range(len(names))], ["r"], np.array(triples).reshape(-1, 3), names)
        for side, names in (("s", source_names), ("t", target_names))
    ]
    seeds = Alignment(np.array(seeds, np.int64).reshape(-1, 2))
    return AlignmentTask(*graphs, seeds, np.arange(len(source_names)), np.arange(len(target_names)))


def hints(task):
    return [line for line in diagnose(task, Alignment.empty()) if line.startswith("hint: ")]


def test_few_links_are_fewer_than_two_in_a_hundred_entities():
    task = task_of(["a"] * 200, ["a"] * 100)
    pairs = np.array([[i, i] for i in range(3)])
    assert has_few_links(task, Alignment.empty())
    assert has_few_links(task, Alignment(pairs, np.array([0.9, 0.4, 0.3])))
    assert not has_few_links(task, Alignment(pairs))


def test_every_stage_says_what_it_had_to_work_with():
    lines = diagnose(task_of(["Rome", "Oslo"], ["Rome", "Paris"]), Alignment.empty())
    assert [line.split(":")[0] for line in lines[:5]] == ["task", "names", "scripts", "triples", "links"]
    assert "names in both: 1" in lines[1]


def test_names_that_are_codes_give_a_hint():
    found = hints(task_of(["Q42", "Q17"], ["Rome", "Oslo"]))
    assert "the names of the source are codes" in found[0]
    assert "`names_source`" in found[0]


def test_names_in_two_scripts_give_a_hint():
    assert any("different scripts" in hint and "`languages`" in hint for hint in hints(task_of(["猫", "狗"], ["cat", "dog"])))


def test_missing_seeds_and_triples_give_a_hint():
    found = " ".join(hints(task_of(["Rome", "Oslo"], ["Kiew", "Lyon"], triples=())))
    assert "no name is in both graphs" in found
    assert "0 seeds" in found
    assert "the source has few triples" in found
