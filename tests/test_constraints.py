"""Pairs, classes and entities that a user rules out are never linked, in any model; everything else stays evidence."""

import json
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from conftest import candidates_of, graph, task_of

import kgalign
from kgalign import Alignment, AlignmentTask, Capabilities, DataError, OptionError, Rules, hold_out, read
from kgalign.data import turned_task
from kgalign.features.constraints import allowed, allowed_candidates
from kgalign.models import MODELS

NAMES = ["Rome", "Oslo", "Bonn", "Cairo", "Lima"]
NEURAL = pytest.mark.skipif(not find_spec("torch"), reason="needs torch")


def cities(**constraints):
    """The same five cities in both graphs, in one ring; the first is a seed."""
    ring = [(NAMES[i], "next", NAMES[(i + 1) % 5]) for i in range(5)]
    task = task_of(graph(NAMES, ring), graph(NAMES, ring), seeds=[(0, 0)])
    return AlignmentTask(task.source, task.target, task.seeds, task.queries, task.pool, **constraints)


def test_a_pair_may_be_linked_unless_it_is_rejected_or_its_types_differ():
    types = np.array([1, 1, 2, 3, 0]), np.array([1, 2, 2, 0, 0])
    task = cities(rejected=Alignment([[1, 2], [3, 1]]), types=types)
    sources, targets = np.divmod(np.arange(25), 5)
    may = allowed(task, sources, targets).reshape(5, 5)
    common = (types[0][:, None] & types[1][None, :]) != 0
    common[4, 3:] = True  # neither has a type
    common[1, 2] = common[3, 1] = False
    assert np.array_equal(may, common)
    back = turned_task(task)
    assert np.array_equal(allowed(back, targets, sources).reshape(5, 5), common)
    held, _ = hold_out(cities(rejected=task.rejected, types=types), 0.9)
    assert (held.rejected, held.types) == (task.rejected, held.types)
    assert held.types[0].tolist() == types[0].tolist()


def test_candidates_that_must_not_be_linked_are_dropped_and_the_rest_keeps_its_order():
    task = cities(rejected=Alignment([[1, 1], [2, 3]]))
    found = candidates_of([[0.5, 0.3, 0.2, 0, 0], [0.1, 0.6, 0.3, 0, 0], [0.1, 0.2, 0.3, 0.4, 0]])
    left = allowed_candidates(task, found)
    assert left.targets[:, :3].tolist() == [[0, 1, 2], [2, 0, -1], [2, 1, 0]]
    assert left.probabilities()[1, :2].tolist() == pytest.approx([0.75, 0.25])
    assert allowed_candidates(cities(), found) is found


def test_a_pair_that_is_a_seed_and_rejected_is_refused():
    with pytest.raises(DataError, match="1 pairs are seeds and rejected at the same time, such as 'Rome' and 'Rome'"):
        cities(rejected=Alignment([[0, 0]]))
    with pytest.raises(DataError, match="a rejected pair's target has the id 9"):
        cities(rejected=Alignment([[0, 9]]))
    with pytest.raises(DataError, match="types of 2 and 5 entities"):
        cities(types=(np.zeros(2), np.zeros(5)))


class Scripted:
    """A model that says what it is told to, whatever is rejected, and remembers what was known."""

    capabilities = Capabilities(soft_evidence=True)

    def __init__(self, candidates):
        self.candidates, self.known = candidates, []

    def fit(self, task):
        return self

    def predict(self, task, known):
        self.known.append(set(map(tuple, known.pairs.tolist())))
        rows = np.isin(self.candidates.queries, task.queries)
        return self.candidates.where(rows)


@pytest.mark.parametrize("decoder", list(kgalign.DECODERS))
@pytest.mark.parametrize("freeze", [False, True])
def test_a_rejected_pair_is_neither_a_link_nor_evidence_in_any_decoder(decoder, freeze):
    matrix = np.full((5, 5), 0.005) + 0.975 * np.eye(5)
    model = Scripted(candidates_of(matrix))
    task = cities(rejected=Alignment([[2, 2]]))
    reasoning = kgalign.coordinate(model, task, Rules(decoder=decoder, freeze=freeze, max_rounds=3, min_new=1))
    assert (2, 2) not in {tuple(pair) for pair in reasoning.alignment.pairs.tolist()}
    assert not any((2, 2) in known for known in model.known)
    assert any((1, 1) in known for known in model.known)
    assert 2 not in reasoning.candidates.targets[reasoning.candidates.queries == 2]


def small_pair():
    """Two graphs that agree but for one name, large enough to train on; with the pair that names suggest most strongly."""
    names = [
        f"{first}{last}"
        for first in ("Bel", "Nor", "Sta", "Wei", "Kol")
        for last in ("grad", "burg", "ville", "mar", "dorf", "ton")
    ]
    triples = [(names[i], "near", names[(i * 7 + 1) % 30]) for i in range(30)] + [
        (names[i], "of", names[i // 6]) for i in range(30)
    ]
    seeds = [(i, i) for i in range(20)]
    return task_of(graph(names, triples), graph(names, triples), seeds)


def quick_options(name):
    """Options under which a model runs in seconds on a small graph; those of the neural models need torch."""
    return dict(kgalign.make_model(name).capabilities.quick_options)


@pytest.mark.parametrize(
    "name", [name if name in ("fast", "names") else pytest.param(name, marks=NEURAL) for name in MODELS.built_in]
)
def test_no_model_links_a_rejected_pair(name):
    task = small_pair()
    rejected = Alignment([[25, 25], [26, 26]])
    with_rejected = AlignmentTask(task.source, task.target, task.seeds, task.queries, task.pool, task.protocol, rejected=rejected)
    options = quick_options(name)
    if name in ("fast", "names"):
        free = kgalign.align(task, model=name, options=options).alignment
        assert np.isin(rejected.keys, free.keys).all()
    run = kgalign.align(with_rejected, model=name, options=options)
    assert not np.isin(rejected.keys, run.alignment.keys).any()
    assert not np.isin(rejected.keys, run.reasoning.evidence.keys).any()
    rows, slots = run.candidates.edges()
    pairs = Alignment(np.column_stack([run.candidates.queries[rows], run.candidates.targets[rows, slots]]))
    assert not np.isin(rejected.keys, pairs.keys).any()


def test_fast_lets_the_others_compete_without_a_rejected_pair():
    """Two cities of the source have the name of one target; once the wrong pair is rejected, the right one is certain."""
    names = ["Springfield", "Springfield", "Lima", "Cairo"]
    others = ["Springfield", "Lima", "Cairo"]
    graphs = [
        kgalign.KnowledgeGraph([f"{side}{i}" for i in range(len(own))], [], np.empty((0, 3)), own)
        for side, own in (("s", names), ("t", others))
    ]
    free = AlignmentTask(*graphs, Alignment.empty(), np.arange(4), np.arange(3))
    told = AlignmentTask(*graphs, Alignment.empty(), np.arange(4), np.arange(3), rejected=Alignment([[0, 0]]))
    before, after = (kgalign.align(task).alignment for task in (free, told))
    chance = {tuple(pair): score for pair, score in zip(after.pairs.tolist(), after.scores.tolist(), strict=True)}
    assert (0, 0) not in chance
    assert chance[1, 0] > max(
        score for pair, score in zip(before.pairs.tolist(), before.scores.tolist(), strict=True) if pair[1] == 0
    )


PREFIXES = """@prefix : <http://%s/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
LEFT = """:f1 a :Film ; rdfs:label "Dune" ; :by :p1 .
:f2 a :Short ; rdfs:label "La Luna" ; :by :p1 . :b1 a :Book ; rdfs:label "Dune" ; :by :p2 .
:p1 rdfs:label "Ann Lee" . :p2 rdfs:label "Bo Ek" . :Short rdfs:subClassOf :Film ; rdfs:label "short film" .
"""
RIGHT = """:m1 a :Movie ; rdfs:label "Dune" ; :of :q1 .
:m2 a :Movie ; rdfs:label "La Luna" ; :of :q1 . :n1 a :Novel ; rdfs:label "Dune" ; :of :q2 .
:q1 rdfs:label "Ann Lee" . :q2 rdfs:label "Bo Ek" .
"""


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "left.ttl").write_text(PREFIXES % "x" + LEFT, "utf-8")
    (tmp_path / "right.ttl").write_text(PREFIXES % "y" + RIGHT, "utf-8")
    return tmp_path


def names_of(side, ids):
    return {side.entities[each].rpartition("/")[2] for each in ids}


def task_with(folder, **options):
    task, gold = read(folder / "left.ttl", folder / "right.ttl", **options)
    return task, gold, names_of(task.source, task.queries), names_of(task.target, task.pool)


def links_of(task):
    found = kgalign.align(task).alignment
    return {(*names_of(task.source, [source]), *names_of(task.target, [target])) for source, target in found.pairs.tolist()}


@pytest.mark.parametrize(
    ("film", "movie"),
    [("Film", "Movie"), ("http://x/Film", "<http://y/Movie>"), ("film", "movie"), ("dbo:Film", "schema:Movie")],
)
def test_only_entities_of_the_types_are_aligned_and_only_with_each_other(shop, film, movie):
    task, _, queries, pool = task_with(shop, types={film: movie})
    assert (queries, pool) == ({"f1", "f2"}, {"m1", "m2"})  # a short film is a film
    assert links_of(task) == {("f1", "m1"), ("f2", "m2")}
    task, _, queries, pool = task_with(shop, types=[("Film", "Movie"), ("Book", "Novel")])
    assert (queries, pool) == ({"f1", "f2", "b1"}, {"m1", "m2", "n1"})
    assert links_of(task) == {("f1", "m1"), ("f2", "m2"), ("b1", "n1")}


def test_a_class_goes_by_its_label_too(shop):
    assert task_with(shop, types={"Short film": "Movie"})[2] == {"f2"}


def test_several_classes_may_match_one(shop):
    task, _, queries, pool = task_with(shop, types=[("Film", "Movie"), ("Book", "Movie")])
    assert (queries, pool) == ({"f1", "f2", "b1"}, {"m1", "m2"})
    sources = {name: task.source.entities.index(f"http://x/{name}") for name in ("f1", "b1", "p1")}
    target = task.target.entities.index("http://y/m1")
    may = [bool(allowed(task, np.array([source]), np.array([target]))[0]) for source in sources.values()]
    assert may == [True, True, False]


def test_entities_without_the_types_stay_evidence(shop):
    task, *_ = task_with(shop, types={"Film": "Movie"})
    person, other = task.source.entities.index("http://x/p1"), task.target.entities.index("http://y/q1")
    run = kgalign.align(task)
    assert (person, other) in {tuple(pair) for pair in run.reasoning.evidence.pairs.tolist()}
    assert person not in run.alignment.sources


def test_an_unknown_class_is_refused_with_the_classes_that_there_are(shop):
    with pytest.raises(
        OptionError, match=r"`types`: the source graph has no class 'Song'; expected one of its classes: Film \(1\), "
    ):
        task_with(shop, types={"Song": "Movie"})
    with pytest.raises(
        OptionError, match=r"`types`: the target graph has no class 'Film'; expected one of its classes: Movie \(2\), Novel"
    ):
        task_with(shop, types={"Film": "Film"})
    (shop / "plain.tsv").write_text("a\tr\tb\n")
    with pytest.raises(OptionError, match="none: no entity of this graph has a class"):
        read(shop / "plain.tsv", shop / "plain.tsv", types={"Film": "Film"})


def test_classes_of_tables_come_from_a_column_called_type(tmp_path):
    rows = "a\ttype\tfilm\nb\ttype\tbook\na\tby\tc\n"
    (tmp_path / "g.tsv").write_text(rows)
    task, _ = read(tmp_path / "g.tsv", tmp_path / "g.tsv", types={"film": "film"})
    assert [task.source.entities[each] for each in task.queries] == ["a"]


@pytest.mark.parametrize(
    ("only", "queries"),
    [
        (["http://x/f1"], {"f1"}),
        (["<http://x/f1>", "Bo Ek"], {"f1", "p2"}),
        (["Film"], {"f1", "f2"}),
        (["Film", "http://x/b1"], {"f1", "f2", "b1"}),
        (["list.txt"], {"f1", "b1"}),
        (["http://x/Book"], {"b1"}),
    ],
)
def test_only_chosen_entities_are_queries(shop, monkeypatch, only, queries):
    monkeypatch.chdir(shop)
    (shop / "list.txt").write_text("http://x/f1\n<http://x/b1>\nhttp://x/gone\n")
    _, _, found, pool = task_with(shop, only_source=only)
    assert (found, pool) == (queries, {"m1", "m2", "n1", "q1", "q2"})
    turned, _ = read(shop / "right.ttl", shop / "left.ttl", only_target=only)
    assert names_of(turned.target, turned.pool) == queries


def test_a_class_that_is_chosen_by_itself_is_aligned_though_classes_are_not(shop):
    assert task_with(shop, only_source=["http://x/Short"])[2] == {"f2"}
    (shop / "list.txt").write_text("http://x/Short\n")
    _, _, queries, pool = task_with(shop, only_source=[str(shop / "list.txt")])
    assert queries == {"Short"}
    assert "Movie" in pool


def test_chosen_entities_that_do_not_exist_are_refused(shop, caplog):
    with pytest.raises(OptionError, match=r"`only_source`: the source graph has no entity 'Song', and no such class or file"):
        task_with(shop, only_source=["Song"])
    (shop / "list.txt").write_text("http://x/gone\nhttp://x/f1\n")
    assert task_with(shop, only_source=[str(shop / "list.txt")])[2] == {"f1"}
    assert "list.txt: 1 of 2 lines are left out" in caplog.text
    with pytest.raises(DataError, match=r"list\.txt:1: the source graph has no entity 'http://x/gone'; expected one IRI"):
        task_with(shop, only_source=[str(shop / "list.txt")], strict=True)
    with pytest.raises(OptionError, match="`types`: no entity of the source is left to be aligned"):
        task_with(shop, types={"Film": "Movie"}, seeds=write_seeds(shop))


def write_seeds(folder):
    (folder / "seeds.tsv").write_text("http://x/f1\thttp://y/m1\nhttp://x/f2\thttp://y/m2\n")
    return folder / "seeds.tsv"


def test_gold_links_of_entities_that_are_not_aligned_are_not_measured(shop, caplog):
    (shop / "gold.tsv").write_text("http://x/f1\thttp://y/m1\nhttp://x/b1\thttp://y/n1\nhttp://x/p1\thttp://y/q1\n")
    with caplog.at_level("INFO", "kgalign"):
        _, gold, *_ = task_with(shop, types={"Film": "Movie"}, gold=shop / "gold.tsv")
    assert len(gold) == 1
    assert "2 of 3 gold links are not measured" in caplog.text
    _, gold, queries, pool = task_with(shop, only_source=["Book"], gold=shop / "gold.tsv", protocol="closed")
    assert (len(gold), queries, pool) == (1, {"b1"}, {"n1"})


def kgalign_command(folder, *arguments):
    command = [sys.executable, "-m", "kgalign", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_a_run_with_constraints_can_be_explained_and_merged(shop):
    (shop / "rejected.csv").write_text("source,target\nhttp://x/f2,http://y/m2\n")
    (shop / "list.txt").write_text("http://y/m1\nhttp://y/m2\nhttp://y/n1\n")
    arguments = [
        "--types",
        "Film=Movie,Book=Novel",
        "--only-target",
        "list.txt",
        "--rejected",
        "rejected.csv",
        "--only-source",
        "Film",
    ]
    done = kgalign_command(shop, "align", "left.ttl", "right.ttl", *arguments)
    assert done.returncode == 0, done.stderr
    assert "0 seeds, 1 rejected pair, 2 queries" in done.stderr
    report = json.loads((shop / "run" / "run.json").read_text("utf-8"))
    read_again = report["options"]["read"]
    assert read_again["types"] == [["Film", "Movie"], ["Book", "Novel"]]
    assert read_again["only_target"] == [str((shop / "list.txt").resolve())]
    assert read_again["rejected"] == str((shop / "rejected.csv").resolve())
    assert {"list.txt", "rejected.csv"} <= {path.rpartition("/")[2] for path in report["inputs"]}
    rows = (shop / "run" / "alignment.tsv").read_text("utf-8").splitlines()[1:]
    assert [row.split("\t")[:2] for row in rows] == [["http://x/f1", "http://y/m1"]]
    (shop / "elsewhere").mkdir()
    for command in (
        ["explain", "../run", "http://x/f1"],
        ["merge", "../run", "-o", "all.nt"],
        ["evaluate", "../run", "--gold", "../run/alignment.tsv"],
    ):
        done = kgalign_command(shop / "elsewhere", *command)
        assert done.returncode == 0, done.stderr
    done = kgalign_command(shop, "explain", "run", "http://x/p1")
    assert "it is of none of the classes that --types names" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--types", "Film"], "--types Film: expected a class of the source, = and a class of the target"),
        (
            ["--types", "Film=Song"],
            "--types: the target graph has no class 'Song'; expected one of its classes: Movie (2), Novel (1)",
        ),
        (["--only-source", "Song"], "--only-source: the source graph has no entity 'Song'"),
        (["--rejected", "nowhere.tsv"], "nowhere.tsv: no such file; expected links"),
        (["--rejected", "seeds.tsv", "--seeds", "seeds.tsv"], "2 pairs are seeds and rejected at the same time"),
    ],
)
def test_wrong_constraints_are_one_line_and_exit_two(shop, arguments, message):
    write_seeds(shop)
    done = kgalign_command(shop, "align", "left.ttl", "right.ttl", *arguments)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert not (shop / "run").exists()


def test_rejected_pairs_go_with_a_dataset_folder(tmp_path):
    for name, text in {"triples_1.tsv": "a\tr\tb\n", "triples_2.tsv": "a\tr\tb\n", "rejected.tsv": "a\tb\n"}.items():
        (tmp_path / name).write_text(text)
    task, _ = read(tmp_path, rejected=tmp_path / "rejected.tsv")
    assert task.rejected.pairs.tolist() == [[0, 1]]
