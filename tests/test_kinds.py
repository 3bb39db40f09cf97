"""`fast` on small RDF graphs, from the file to the links: names against structure, kinds of entities, IRIs, and both directions."""

from dataclasses import replace

import numpy as np
import pytest

import kgalign
from benchmarks.measure.generated import generate
from kgalign.data import CLASS, CONCEPT, INDIVIDUAL, KINDS, PROPERTY
from kgalign.features.constraints import compatible_kinds

HEAD = """@prefix x: <http://left/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""
WORDS = (
    "Alder",
    "Birch",
    "Cedar",
    "Damson",
    "Elder",
    "Fir",
    "Gorse",
    "Hazel",
    "Ivory",
    "Juniper",
    "Kapok",
    "Larch",
    "Maple",
    "Nutmeg",
)


def task_of_turtle(folder, source, target, **options):
    """The task of two texts in Turtle; `x:` is a namespace of its own in each."""
    for side, text in (("left", source), ("right", target)):
        (folder / f"{side}.ttl").write_text(HEAD.replace("//left/", f"//{side}/") + text, "utf-8")
    return kgalign.read(folder / "left.ttl", folder / "right.ttl", **options)[0]


def links_of(run, least=0.5):
    """The local names of linked entities, with the probability of each link above the least."""
    task, found = run.task, run.alignment
    return {
        tuple(graph.entities[each].rpartition("/")[2] for graph, each in zip((task.source, task.target), pair, strict=True)): score
        for pair, score in zip(found.pairs.tolist(), found.scores.tolist(), strict=True)
        if score > least
    }


def labelled(names, others=""):
    """Individuals in Turtle with labels, by their local names."""
    return "".join(f'x:{local} rdfs:label "{name}" .\n' for local, name in names.items()) + others


def test_a_unique_equal_name_wins_against_structure(tmp_path):
    """The inn has all neighbours of the castle and nearly its name, but another entity has the name itself."""
    towns = {f"t{number}": f"{word} town" for number, word in enumerate(WORDS[:6])}
    near = "".join(f"x:{{}} x:near x:{town} .\n" for town in towns)
    source = labelled(towns | {"a": "Windermere Castle"}, near.format(*["a"] * 6))
    target = labelled(towns | {"same": "Windermere Castle", "like": "Windermere Castle Inn"}, near.format(*["like"] * 6))
    task = task_of_turtle(tmp_path, source, target + "x:same x:near x:z .\n")
    links = links_of(kgalign.align(task))
    assert ("a", "same") in links
    assert ("a", "like") not in links
    assert ("a", "like") in links_of(kgalign.align(task, options={"without": "equal names"})), (
        "structure wins without that evidence"
    )


def test_a_class_is_never_linked_to_a_property_or_an_individual(tmp_path):
    """`Author` is a class here and a property and an individual there; the class there has another name."""
    own = "".join(f'x:c{number} a owl:Class ; rdfs:label "{word} plant" .\n' for number, word in enumerate(WORDS[:6]))
    source = own + 'x:author a owl:Class ; rdfs:label "author" .\n'
    target = own + 'x:p a owl:ObjectProperty ; rdfs:label "author" .\nx:i a x:c0 ; rdfs:label "author" .\n'
    task = task_of_turtle(tmp_path, source, target, classes=True)
    kinds = {entity.rpartition("/")[2]: KINDS[kind] for entity, kind in zip(task.target.entities, task.target.kinds, strict=True)}
    assert (kinds["p"], kinds["i"], kinds["c0"]) == ("property", "individual", "class")
    run = kgalign.align(task, decoder_options={"unmatched": 1e-6})
    assert {source for source, _ in links_of(run)} == {f"c{number}" for number in range(6)}
    rows, slots = run.reasoning.candidates.edges()
    pairs = run.reasoning.candidates.queries[rows], run.reasoning.candidates.targets[rows, slots]
    assert (task.source.kinds[pairs[0]] == task.target.kinds[pairs[1]]).all()


def test_concepts_are_linked_to_classes_where_the_graphs_have_only_those(tmp_path):
    source = "".join(f'x:c{number} a skos:Concept ; skos:prefLabel "{word} wood"@en .\n' for number, word in enumerate(WORDS))
    target = "".join(f'x:k{number} a owl:Class ; rdfs:label "{word} wood"@en .\n' for number, word in enumerate(WORDS))
    links = links_of(kgalign.align(task_of_turtle(tmp_path, source, target)))
    assert set(links) == {(f"c{number}", f"k{number}") for number in range(len(WORDS))}


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ([INDIVIDUAL, CLASS], [INDIVIDUAL, CLASS], set()),
        ([CONCEPT], [CLASS], {(CONCEPT, CLASS)}),
        ([CONCEPT], [CLASS, PROPERTY], {(CONCEPT, CLASS)}),
        ([CONCEPT], [CLASS, CONCEPT], set()),
        ([INDIVIDUAL], [PROPERTY], set()),
        ([INDIVIDUAL, CONCEPT], [INDIVIDUAL, CLASS], {(CONCEPT, CLASS)}),
    ],
)
def test_different_kinds_are_compatible_only_where_the_other_graph_lacks_them(source, target, expected):
    graphs = [
        kgalign.KnowledgeGraph(
            [f"e{each}" for each in kinds], [], np.empty((0, 3)), [""] * len(kinds), kinds=np.array(kinds, np.int8)
        )
        for kinds in (source, target)
    ]
    task = kgalign.AlignmentTask(*graphs, kgalign.Alignment.empty(), np.arange(len(source)), np.arange(len(target)))
    found = compatible_kinds(task)
    assert found.diagonal().all()
    assert {(int(one), int(other)) for one, other in np.argwhere(found) if one != other} == expected


def test_the_same_iri_is_evidence(tmp_path):
    """Names are unlike each other; only the IRIs of the first graph's entities return in the second."""
    shared = [f"<http://shared/Q{number}>" for number in range(6)]
    source, target = (
        "".join(f'{iri} rdfs:label "{word} {kind}" .\n' for iri, word in zip(shared, words, strict=True))
        for kind, words in (("tree", WORDS[:6]), ("plant", WORDS[6:12]))
    )
    task = task_of_turtle(tmp_path, source, target)
    links = links_of(kgalign.align(task), 0)
    assert set(links) == {(f"Q{number}", f"Q{number}") for number in range(6)}
    without = kgalign.align(task, options={"without": "same IRI"})
    assert links["Q0", "Q0"] > links_of(without, 0).get(("Q0", "Q0"), 0) + 0.2


def test_blank_nodes_of_the_same_label_are_no_evidence():
    graphs = [
        kgalign.KnowledgeGraph(["_:b0", "http://x/a"], ["r"], np.array([[0, 0, 1]]), [name, "Anna"]) for name in ("Birch", "Maple")
    ]
    task = kgalign.AlignmentTask(*graphs, kgalign.Alignment.empty(), np.arange(2), np.arange(2))
    fitted = kgalign.make_model("fast").fit(task)
    found = fitted.contributions(task, kgalign.Alignment.empty(), np.array([[0, 0], [1, 1]]))
    same = found.amounts[:, found.kinds.index("same IRI")]
    assert same[0] == 0
    assert same[1] > 0


@pytest.mark.parametrize("count", [(14, 12), (12, 12), (10, 200)])
def test_swapping_source_and_target_gives_the_same_links_and_probabilities(tmp_path, count):
    def text(names):
        rows = [f'x:e{number} rdfs:label "{name}" ; x:next x:e{(number + 1) % len(names)} .\n' for number, name in enumerate(names)]
        return "".join(rows)

    every = [f"{one} {other}" for one in WORDS for other in ("tree", "leaf", "root", *(word.lower() for word in WORDS))]
    source, target = text(every[: count[0]]), text([name + "s" for name in every[3 : 3 + count[1]]])
    forth, back = (links_of(kgalign.align(task_of_turtle(tmp_path, *sides)), 0) for sides in ((source, target), (target, source)))
    assert forth
    assert {(one, other): probability for (other, one), probability in back.items()} == pytest.approx(forth, abs=1e-6)


def test_class_links_of_graphs_of_instances_are_in_classes_tsv(tmp_path):
    """Classes are not aligned themselves, but they are neighbours of linked individuals, and their IRIs give them names."""
    people = "".join(f'x:p{number} a x:Tree ; rdfs:label "{word} garden" .\n' for number, word in enumerate(WORDS))
    places = "".join(f'x:q{number} a x:River ; rdfs:label "{word} water" .\n' for number, word in enumerate(WORDS))
    task = task_of_turtle(tmp_path, people + places, people + places)
    run = kgalign.align(task)
    assert {task.source.kinds[source] for source in run.alignment.sources.tolist()} == {INDIVIDUAL}
    rows = [line.split("\t") for line in (run.write(tmp_path / "run") / "classes.tsv").read_text("utf-8").splitlines()]
    linked = {tuple(dict(zip(rows[0], row, strict=True))[side] for side in ("source", "target")) for row in rows[1:]}
    assert linked == {(f"http://left/{name}", f"http://right/{name}") for name in ("Tree", "River")}


def test_a_code_is_no_name(tmp_path):
    """Codes in the IRIs and in a property differ by one character, which would make them the most similar names of all."""
    rows = [
        "".join(
            f'x:MA_000{start + number} rdfs:label "{word} bone" ; x:code "MA:000{start + number}" .\n'
            for number, word in enumerate(own)
        )
        for start, own in ((1000, WORDS), (1001, WORDS))
    ]
    task = task_of_turtle(tmp_path, *rows)
    assert set(task.source.names.text) == {f"{word} bone" for word in WORDS}
    expected = {(f"MA_000{1000 + number}", f"MA_000{1001 + number}") for number in range(len(WORDS))}
    assert set(links_of(kgalign.align(task))) == expected


def test_codes_alone_leave_entities_without_names(tmp_path):
    text = "".join(f"x:MA_000{1000 + number} x:part x:MA_000{1000 + number // 2} .\n" for number in range(2, 14))
    task = task_of_turtle(tmp_path, text, text)
    assert not task.source.names.text


def test_ids_of_two_tables_are_no_iris():
    """Both tables number their entities, and no two entities have anything in common but a number."""
    graphs = [
        kgalign.KnowledgeGraph([str(number) for number in range(6)], [], np.empty((0, 3)), [f"{word} wood" for word in words])
        for words in (WORDS[:6], WORDS[6:12])
    ]
    task = kgalign.AlignmentTask(*graphs, kgalign.Alignment.empty(), np.arange(6), np.arange(6))
    assert "same IRI" not in kgalign.make_model("fast").fit(task).contributions(task, task.seeds, np.array([[0, 0]])).kinds


def test_probabilities_of_a_target_sum_to_one_at_most():
    task, _ = generate(300, seed=0)
    task = replace(task, seeds=kgalign.Alignment.empty())
    candidates = kgalign.make_model("fast").fit(task).predict(task, task.seeds)
    rows, slots = candidates.edges()
    sums = np.bincount(candidates.targets[rows, slots], candidates.probabilities()[rows, slots])
    assert sums.max() <= 1 + 1e-6


def test_a_candidate_list_stays_short_where_the_larger_graph_has_the_queries():
    """One name of the larger graph is similar to all names of the smaller one."""
    small = kgalign.KnowledgeGraph(
        [f"s{n}" for n in range(150)], [], np.empty((0, 3)), [f"oak {chr(97 + n % 26) * 3}" for n in range(150)]
    )
    large = replace(
        small, entities=[f"t{n}" for n in range(151)], names=kgalign.Names.of(["oak"] * 151), kinds=np.zeros(151, np.int8)
    )
    task = kgalign.AlignmentTask(large, small, kgalign.Alignment.empty(), np.arange(151), np.arange(150))
    model = kgalign.make_model("fast", k=5)
    assert model.fit(task).predict(task, task.seeds).targets.shape[1] <= 4 * 5


def test_the_order_of_two_graphs_of_the_same_size_does_not_matter():
    words = ("alder", "birch", "cedar", "hazel", "maple", "larch")
    every, random = [f"{one} {other}" for one in words for other in words], np.random.default_rng(0)
    circle = np.array([(number, 0, (number + 1) % 20) for number in range(20)])
    one, other = (
        kgalign.KnowledgeGraph(
            [f"{side}{number}" for number in range(20)], ["r"], circle, random.choice(every, 20, replace=False).tolist()
        )
        for side in "st"
    )
    runs = (
        kgalign.align(kgalign.AlignmentTask(*sides, kgalign.Alignment.empty(), np.arange(20), np.arange(20)))
        for sides in ((one, other), (other, one))
    )
    forth, back = (links_of(run, 0) for run in runs)
    assert forth
    assert {pair[::-1]: probability for pair, probability in back.items()} == pytest.approx(forth, abs=1e-5)
