from dataclasses import replace

import numpy as np

from kgalign import Alignment, AlignmentTask, Candidates, KnowledgeGraph
from kgalign.data import ALTERNATIVE, Name, Names
from kgalign.explain.diagnosis import diagnose, has_few_links
from kgalign.reasoning import HeldOut


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


def test_all_names_of_an_entity_count():
    source = Names.of([[Name("猫", "ja"), Name("cat", "en", ALTERNATIVE)], [Name("Q42"), Name("dog", "en", ALTERNATIVE)]])
    task = task_of(source, ["cat", "dog"])
    lines = diagnose(task, Alignment.empty())
    assert "names: 100% readable" in lines[1]
    assert "names in both: 2" in lines[1]
    assert not any("scripts" in hint or "codes" in hint for hint in hints(task))


def test_individuals_without_a_label_give_a_hint_that_lists_their_literals():
    named = {"class": "http://x/Country", "subjects": 3, "names": ["rdfs:label on 100% (well known)"], "no names": []}
    unnamed = {"class": "http://x/City", "subjects": 1200, "names": [], "no names": ["x:note on 80% (long)"]}
    task = task_of(["Rome", "Oslo"], ["Rome", "Oslo"])
    record = {"subjects with a label": 0.9, "individuals with a label": 0.1, "names by class": [named, unnamed]}
    (hint,) = [each for each in hints(replace(task, source=replace(task.source, record=record))) if "no label" in each]
    assert "`labels`; 1,200 entities (City) have x:note on 80% (long)" in hint
    assert not any("no label" in each for each in hints(task))


def test_more_seeds_are_not_asked_for_where_most_entities_have_one():
    names = [f"city {number}" for number in range(18)]
    task = task_of(names, names, seeds=[(number, number) for number in range(16)])
    assert any("16 seeds" in hint for hint in hints(task))
    assert not any("seeds" in hint for hint in hints(replace(task, queries=np.array([16, 17]))))
    (hint,) = hints(replace(task, queries=np.array([], np.int64)))
    assert hint == "hint: no entity of the source is left to be aligned: `seeds` give the matches of all"


def test_missing_seeds_and_triples_give_a_hint():
    found = " ".join(hints(task_of(["Rome", "Oslo"], ["Kiew", "Lyon"], triples=())))
    assert "no name is in both graphs" in found
    assert "0 seeds" in found
    assert "the source has few triples" in found


def test_held_out_seeds_that_were_not_found_again_are_told():
    task = task_of(["Rome", "Oslo"] * 20, ["Rome", "Paris"] * 20)
    links = Alignment(np.column_stack([np.arange(30)] * 2))
    right = np.arange(30) < 4
    scores = np.where(right, 3.0, -3.0)[:, None]
    held_out = HeldOut(links, Candidates(np.arange(30), np.arange(30)[:, None], scores, no_match_score=0.0))
    lines = diagnose(task, Alignment.empty(), held_out)
    assert "check: 4 of 30 held-out seeds were found again, with a probability above 0.5" in lines
    assert any("give seeds of all kinds of entities" in line for line in lines)
    enough = replace(held_out, candidates=replace(held_out.candidates, scores=np.full((30, 1), 3.0)))
    assert not any("of all kinds" in line for line in diagnose(task, Alignment.empty(), enough))
