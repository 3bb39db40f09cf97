"""Cardinality: who competes, what the probabilities mean, and what everything that reads links makes of several links of an entity."""

import csv
import itertools
import json
import math

import numpy as np
import pytest
from conftest import candidates_of, graph
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from persons import make_persons
from test_cli import kgalign as run_command

import kgalign
from kgalign import DECODERS, Alignment, AlignmentTask, Candidates, DataError, OptionError, evaluate, make_decoder
from kgalign.data import CARDINALITIES, hold_out, one_link, turned_cardinality, turned_task
from kgalign.decoding.cardinality import with_cardinality, with_own_odds
from kgalign.explain.duplicates import hint_cardinality
from kgalign.features.literals import match_properties, read_literals
from kgalign.features.relations import Edges, group_links, match_relations
from kgalign.merge import find_conflicts, merged, single_links
from kgalign.reasoning.calibration import calibrated
from kgalign.reasoning.easy_to_hard import confident_links
from kgalign.writers import sssom

SEVERAL = CARDINALITIES[1:]
MATRICES = arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.sampled_from([0, 0.05, 0.2, 0.5001, 0.9]))
RECORDS = {"one-to-many": ((1, 1), (0, 5)), "many-to-one": ((0, 5), (1, 1)), "many-to-many": ((1, 3), (1, 3))}


def own_odds(matrix, cardinality):
    """Candidates whose probabilities are those of a matrix, under a cardinality."""
    plain = candidates_of(matrix)
    probabilities = np.take_along_axis(np.asarray(matrix, float), np.maximum(plain.targets, 0), axis=1)
    if one_link(cardinality)[0]:
        with np.errstate(divide="ignore"):
            return Candidates(plain.queries, plain.targets, np.log(probabilities), no_match_score=-np.inf, cardinality=cardinality)
    return with_own_odds(plain, probabilities, cardinality)


def pairs_of(alignment):
    return sorted(map(tuple, alignment.pairs.tolist()))


def respects(pairs, cardinality):
    single = one_link(cardinality)
    return all(not single[side] or len({pair[side] for pair in pairs}) == len(pairs) for side in (0, 1))


# ---- candidates and decoders


def test_candidates_of_a_source_with_several_links_do_not_share_a_probability():
    scores = [[2.0, 2.0, -1.0]]
    single = Candidates([0], [[0, 1, 2]], scores, no_match_score=0.0)
    several = Candidates([0], [[0, 1, 2]], scores, no_match_score=0.0, cardinality="one-to-many")
    assert single.probabilities().sum() < 1
    assert several.probabilities()[0] == pytest.approx([1 / (1 + math.exp(-score)) for score in scores[0]])


def test_sources_compete_for_a_target_where_only_sources_have_several_links():
    candidates = Candidates([0, 1], [[0, 1], [1, -1]], [[3.0, 1.0], [2.0, -np.inf]], no_match_score=0.0)
    found = with_cardinality(candidates, "one-to-many")
    first, second = math.exp(1), math.exp(2)
    expected = {
        (0, 0): math.exp(3) / (1 + math.exp(3)),
        (0, 1): first / (1 + first + second),
        (1, 1): second / (1 + first + second),
    }
    rows, slots = found.edges()
    got = dict(
        zip(zip(rows.tolist(), found.targets[rows, slots].tolist(), strict=True), found.probabilities()[rows, slots], strict=True)
    )
    assert got == pytest.approx(expected)
    assert found.where([1]).probabilities()[0, 0] == pytest.approx(expected[1, 1]), "no row depends on another one"


def test_pairs_without_a_no_match_option_are_as_probable_as_on_their_better_side():
    candidates = Candidates([0, 1], [[0, 1], [0, -1]], [[0.0, 0.0], [0.0, -np.inf]])
    found = with_cardinality(candidates, "many-to-many")
    got = {tuple(pair): p for pair, p in zip(*_pairs_and_probabilities(found), strict=True)}
    assert got == pytest.approx({(0, 0): 0.5, (0, 1): 1.0, (1, 0): 1.0}, abs=1e-6)


def _pairs_and_probabilities(candidates):
    rows, slots = candidates.edges()
    return np.column_stack([candidates.queries[rows], candidates.targets[rows, slots]]).tolist(), candidates.probabilities()[
        rows, slots
    ]


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("cardinality", SEVERAL)
@settings(max_examples=40, deadline=None)
@given(matrix=MATRICES)
def test_every_decoder_keeps_to_the_cardinality_and_lets_nobody_compete(name, cardinality, matrix):
    candidates = own_odds(matrix, cardinality)
    alignment = make_decoder(name)(candidates)
    found = pairs_of(alignment)
    assert respects(found, cardinality)
    matched = {pair[0] for pair in found} if one_link(cardinality)[0] else {pair[1] for pair in found}
    if cardinality == "many-to-one":
        plausible = np.flatnonzero((matrix > 0.1).any(axis=1))
    elif cardinality == "one-to-many":
        plausible = np.flatnonzero((matrix > 0.1).any(axis=0))
    else:
        plausible = np.flatnonzero((matrix > 0.6).any(axis=0))
    assert set(plausible.tolist()) <= matched


@pytest.mark.parametrize("cardinality", SEVERAL)
@settings(max_examples=60, deadline=None)
@given(matrix=arrays(float, (3, 2), elements=st.sampled_from([0, 0.05, 0.2, 0.5001, 0.9])))
def test_joint_is_the_best_of_all_sets_of_links_that_keep_to_the_cardinality(cardinality, matrix):
    candidates = own_odds(matrix, cardinality)
    pairs, probabilities = _pairs_and_probabilities(candidates)
    gains = {tuple(pair): math.log(p / 0.1) for pair, p in zip(pairs, probabilities, strict=True) if p > 0}
    best = max(
        sum(gains[pair] for pair in chosen)
        for count in range(len(gains) + 1)
        for chosen in itertools.combinations(gains, count)
        if respects(chosen, cardinality)
    )
    found = make_decoder("joint", unmatched=0.1)(candidates)
    assert sum(gains[pair] for pair in pairs_of(found)) == pytest.approx(best)


@pytest.mark.parametrize("cardinality", SEVERAL)
def test_a_closed_decoder_leaves_no_entity_unmatched_that_has_one_link(cardinality):
    found = make_decoder("joint", unmatched=0.1, fill=True)(own_odds([[0.05, 0.03], [0.02, 0.04]], cardinality))
    assert len(found) == 2
    assert respects(pairs_of(found), cardinality)


def test_confident_links_need_no_mutual_best_on_the_side_of_several_links():
    matrix = [[0.9, 0.8, 0.3], [0.0, 0.7, 0.0]]
    confident = {name: pairs_of(confident_links(own_odds(matrix, name), 0.5)) for name in ("one-to-many", "many-to-many")}
    assert confident == {"one-to-many": [(0, 0), (0, 1)], "many-to-many": [(0, 0), (0, 1), (1, 1)]}
    turned = Candidates([0, 1, 2], [[0], [0], [1]], [[3.0], [2.0], [3.0]], no_match_score=0.0, cardinality="many-to-one")
    assert pairs_of(confident_links(turned, 0.5)) == [(0, 0), (1, 0), (2, 1)]


def test_calibration_judges_the_side_with_one_link():
    random = np.random.default_rng(0)
    targets = np.array([[2 * row, 2 * row + 1] for row in range(40)])
    candidates = Candidates(np.arange(40), targets, random.random((40, 2)) + 1)
    dev = Alignment(np.column_stack([np.arange(40), 2 * np.arange(40) + 1]))
    rows, columns = (calibrated(candidates, dev, name) for name in ("one-to-one", "one-to-many"))
    assert with_cardinality(columns, "one-to-many").probabilities().min() > 0.8, "both targets of a source are right"
    assert rows.probabilities().max() < 0.99


# ---- tasks and links


def test_turning_a_task_turns_its_cardinality():
    task = AlignmentTask(graph(["a"]), graph(["b", "c"]), Alignment.empty(), [0], [0, 1], cardinality="one-to-many")
    assert turned_task(task).cardinality == "many-to-one"
    assert [turned_cardinality(name) for name in CARDINALITIES] == ["one-to-one", "many-to-one", "one-to-many", "many-to-many"]


def test_seeds_keep_to_the_cardinality():
    sides = graph(["a", "b"]), graph(["c", "d"])
    seeds = Alignment([[0, 0], [0, 1]])
    assert len(AlignmentTask(*sides, seeds, [1], [], cardinality="one-to-many").seeds) == 2
    for name in ("one-to-one", "many-to-one"):
        with pytest.raises(DataError, match=f"two seeds share a source entity.*`cardinality` is {name}"):
            AlignmentTask(*sides, seeds, [1], [], cardinality=name)
    with pytest.raises(OptionError, match="cardinality='1:n': expected one-to-one, one-to-many, many-to-one or many-to-many"):
        AlignmentTask(*sides, Alignment.empty(), [0], [0], cardinality="1:n")


LEFT = "".join(
    f'<http://s/{name}> <http://www.w3.org/2000/01/rdf-schema#label> "{name} city" .\n' for name in ("rome", "oslo", "lima")
)
RIGHT = "".join(
    f'<http://t/{name}{number}> <http://www.w3.org/2000/01/rdf-schema#label> "{name} city" .\n'
    for name, count in (("rome", 3), ("oslo", 1), ("bonn", 1))
    for number in range(count)
)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "left.nt").write_text(LEFT, "utf-8")
    (tmp_path / "right.nt").write_text(RIGHT, "utf-8")
    gold = [("rome", "rome0"), ("rome", "rome1"), ("rome", "rome2"), ("oslo", "oslo0")]
    (tmp_path / "gold.tsv").write_text("".join(f"http://s/{one}\thttp://t/{other}\n" for one, other in gold), "utf-8")
    (tmp_path / "seeds.tsv").write_text("http://s/rome\thttp://t/rome0\nhttp://s/rome\thttp://t/rome1\n", "utf-8")
    (tmp_path / "rest.tsv").write_text("http://s/rome\thttp://t/rome2\nhttp://s/oslo\thttp://t/oslo0\n", "utf-8")
    return tmp_path


def read_files(folder, **options):
    return kgalign.read(folder / "left.nt", folder / "right.nt", **options)


def test_entities_of_seeds_that_may_have_more_links_are_still_aligned(files):
    task, gold = read_files(files, seeds=files / "seeds.tsv", gold=files / "rest.tsv", cardinality="one-to-many")
    assert len(task.queries) == 3
    assert len(task.pool) == 3
    run = kgalign.align(task, gold)
    assert run.metrics["recall"] == 1
    assert not np.isin(run.alignment.keys, task.seeds.keys).any()


def test_seeds_of_many_to_many_are_no_links_of_the_result(files):
    task, _ = read_files(files, seeds=files / "seeds.tsv", cardinality="many-to-many")
    assert (len(task.queries), len(task.pool)) == (3, 5)
    run = kgalign.align(task, max_rounds=2)
    assert not np.isin(run.alignment.keys, task.seeds.keys).any()
    assert ("http://s/rome", "http://t/rome2") in named_links(run)


def named_links(run):
    return [(run.task.source.entities[one], run.task.target.entities[other]) for one, other in run.alignment.pairs.tolist()]


def test_links_that_break_the_cardinality_are_refused_in_one_line(files):
    with pytest.raises(DataError, match=r"seeds.tsv:2: the source entity .* is linked on line 1 already.*set `cardinality`"):
        read_files(files, seeds=files / "seeds.tsv")
    (files / "one.tsv").write_text("http://s/rome\thttp://t/rome0\n", "utf-8")
    with pytest.raises(DataError, match="1 source entities are in the seeds and in the test links"):
        read_files(files, seeds=files / "one.tsv", gold=files / "rest.tsv")
    with pytest.raises(DataError, match="2 links are in the seeds and in the test links"):
        read_files(files, seeds=files / "seeds.tsv", gold=files / "gold.tsv", cardinality="many-to-many")
    _, gold = read_files(files, gold=files / "gold.tsv")
    assert len(gold) == 4, "gold links may be of any cardinality"


# ---- known links of entities that have several


def test_relations_and_properties_match_by_several_links_of_an_entity():
    left = graph(["Rome", "Italy"], [("Rome", "in", "Italy")])
    right = graph(["Rome 1", "Rome 2", "Italia"], [("Rome 1", "part", "Italia"), ("Rome 2", "part", "Italia")])
    task = AlignmentTask(left, right, Alignment.empty(), [0, 1], [0, 1, 2])
    known = Alignment([[0, 0], [0, 1], [1, 2]])
    assert group_links(known).tolist() in ([0, 0, 1], [1, 1, 0])
    one = match_relations(Edges.of_task(task), Alignment([[0, 0], [1, 2]]))
    assert match_relations(Edges.of_task(task), known).toarray().tolist() == one.toarray().tolist(), "two records state one fact"
    task, gold = make_persons(RECORDS["one-to-many"])
    literals = read_literals(task.source, task.target)
    single = gold.where(np.unique(gold.sources, return_index=True)[1])
    several, one = (match_properties(literals, links).toarray() for links in (gold, single))
    assert several.max() <= 1
    assert np.diag(several).min() > 0.6, "each link counts"
    assert np.diag(several) == pytest.approx(np.diag(one), abs=0.15)


# ---- models


@pytest.fixture(scope="module")
def people():
    """A run of `fast` for each cardinality with several links, with its gold links."""
    runs = {}
    for name in SEVERAL:
        task, gold = make_persons(RECORDS[name], cardinality=name)
        runs[name] = kgalign.align(task, gold)
    return runs


@pytest.mark.parametrize("cardinality", SEVERAL)
def test_probabilities_say_how_many_links_are_right(cardinality):
    gold_links, right, probabilities = 0, [], []
    for seed in range(3):
        task, gold = make_persons(RECORDS[cardinality], cardinality=cardinality, seed=seed)
        found = kgalign.align(task).alignment
        links = found.where(found.scores > 0.5)
        assert respects(pairs_of(links), cardinality)
        right += np.isin(links.keys, gold.keys).tolist()
        probabilities += links.scores.tolist()
        gold_links += len(gold)
    assert np.mean(right) > 0.9
    assert sum(right) / gold_links > 0.85
    assert sum(probabilities) == pytest.approx(sum(right), rel=0.08)


def test_several_links_find_what_one_to_one_cannot(people):
    task, gold = make_persons(RECORDS["one-to-many"])
    one = kgalign.align(task, gold)
    assert one.metrics["recall"] < 0.5
    assert people["one-to-many"].metrics["recall"] > 0.85


def test_the_order_of_the_graphs_does_not_matter(people):
    run = people["one-to-many"]
    turned = kgalign.align(turned_task(run.task))
    assert turned.task.cardinality == "many-to-one"
    ours, theirs = (
        dict(zip(links.keys.tolist(), links.scores.tolist(), strict=True)) for links in (run.alignment, turned.alignment.turned())
    )
    assert ours == pytest.approx(theirs, abs=1e-3)


def test_seeds_teach_and_check_where_sources_have_several_links():
    task, gold = make_persons(RECORDS["one-to-many"], persons=300, cardinality="one-to-many", seed=3)
    order = np.random.default_rng(0).permutation(len(gold))
    seeds, test = gold.where(order[:300]), gold.where(order[300:])
    task = AlignmentTask(
        task.source, task.target, seeds, task.queries, np.setdiff1d(task.pool, seeds.targets), cardinality="one-to-many"
    )
    without, dev = hold_out(task, 0.1)
    assert np.isin(dev.targets, without.pool).all()
    run = kgalign.align(task, test)
    assert run.reasoning.held_out is not None
    assert run.metrics["f1"] > 0.93
    checked = [figures.held_out for figures in run.reasoning.rounds if figures.held_out[1]]
    assert all(right > 0.9 * seen for right, seen in checked)
    assert kgalign.align(task).reliability, "held-out seeds judge the links of their targets"


@pytest.mark.parametrize("cardinality", SEVERAL)
@pytest.mark.parametrize("model", ["names", pytest.param("gcn_align", marks=pytest.mark.slow)])
def test_models_that_compare_the_candidates_of_a_query_take_any_cardinality(model, cardinality):
    if model != "names":
        pytest.importorskip("torch")
    task, gold = make_persons(RECORDS[cardinality], persons=60, alone=20, errors=0.02, cardinality=cardinality)
    cut = len(gold) // 2
    seeds = gold.where(np.arange(len(gold)) < cut)
    task = AlignmentTask(task.source, task.target, seeds, task.queries, task.pool, cardinality=cardinality)
    options = dict(kgalign.make_model(model).capabilities.quick_options)
    run = kgalign.align(task, model=model, options=options)
    assert respects(pairs_of(run.alignment), cardinality)
    if model == "names":
        single = one_link(cardinality).index(True) if any(one_link(cardinality)) else 0
        assert len(run.alignment) > len(np.unique(run.alignment.pairs[:, 1 - single])), "some entities have several"


@pytest.mark.parametrize("cardinality", SEVERAL)
def test_the_closed_protocol_takes_any_cardinality(cardinality):
    task, gold = make_persons(RECORDS[cardinality], persons=50, alone=0, errors=0.02, cardinality=cardinality)
    task = AlignmentTask(
        task.source, task.target, Alignment.empty(), gold.sources, gold.targets, protocol="closed", cardinality=cardinality
    )
    run = kgalign.align(task, gold, held_out=0)
    assert respects(pairs_of(run.alignment), cardinality)
    assert run.metrics["precision"] > 0.9


def test_freezing_keeps_all_links_of_an_entity():
    task, gold = make_persons(RECORDS["one-to-many"], persons=60, alone=20, cardinality="one-to-many")
    run = kgalign.align(task, gold, freeze=True)
    assert respects(pairs_of(run.alignment), "one-to-many")
    assert run.metrics["recall"] > 0.8


# ---- what reads links


def test_metrics_count_each_link_and_rank_the_best_target_of_a_query():
    gold = Alignment([[0, 0], [0, 1], [1, 2]])
    links = Alignment([[0, 0], [0, 1], [0, 3], [1, 4]], [0.9, 0.8, 0.4, 0.7])
    candidates = Candidates([0, 1], [[3, 0, 1], [4, 2, -1]], [[3.0, 2.0, 1.0], [2.0, 1.0, -np.inf]])
    figures = evaluate(links, gold, protocol="open", candidates=candidates)
    assert figures["precision"] == 0.5
    assert figures["recall"] == pytest.approx(2 / 3)
    assert figures["hits@1"] == 0.5, "of two sources, the most probable link of one is right"
    assert figures["mrr"] == 0.5, "the best gold target of either source is second"
    assert figures["candidate_recall"] == 1
    assert figures["one_to_many"] == 0.75
    assert evaluate(links, gold, protocol="open", cardinality="one-to-one")["matched"] == 2, (
        "of several links, the most probable counts"
    )


def test_sssom_says_how_many_links_the_entities_have(tmp_path):
    task = AlignmentTask(
        graph(list("abcd")), graph(list("stuvw")), Alignment.empty(), range(4), range(5), cardinality="many-to-many"
    )
    links = Alignment([[0, 0], [0, 1], [1, 2], [2, 2], [3, 3], [3, 2]])
    sssom.write(links, task, tmp_path / "links.tsv")
    lines = [line for line in (tmp_path / "links.tsv").read_text("utf-8").splitlines() if not line.startswith("#")]
    rows = csv.DictReader(lines, delimiter="\t")
    found = {(row["subject_label"], row["object_label"]): row["mapping_cardinality"] for row in rows}
    expected = {("a", "s"): "1:n", ("a", "t"): "1:n", ("b", "u"): "n:1", ("d", "v"): "1:n", ("d", "u"): "n:n", ("", "w"): "0:1"}
    assert expected.items() <= found.items()


def test_each_link_of_an_entity_is_explained(people, tmp_path):
    run = people["one-to-many"]
    sources, counts = np.unique(run.alignment.sources, return_counts=True)
    source = int(sources[counts.argmax()])
    found = run.explain(source)
    links = run.alignment.where(run.alignment.sources == source)
    assert [each.link.target for each in found] == [run.task.target.entities[target] for target in links.targets.tolist()]
    assert all(len(each.other_links) == len(links) - 1 for each in found)
    assert f"It has {len(links) - 1} other links:" in str(found[0])
    assert found[0].runner_up is None or found[0].runner_up.target not in {each.link.target for each in found}
    (one,) = run.explain(found[1].link.target)
    assert one.link.target == found[1].link.target
    folder = run.write(tmp_path / "run")
    assert kgalign.runs.read_explanations(folder, run.task.source.entities[source]) == found
    report = json.loads((folder / "run.json").read_text("utf-8"))
    assert report["cardinality"] == "one-to-many"
    page = (folder / "report.html").read_text("utf-8")
    matched = len(np.unique(run.alignment.sources))
    assert f"{matched:,} of {len(run.task.queries):,} queries matched, by {len(run.alignment):,} links" in page


def test_neighbours_are_linked_by_any_of_their_links():
    left = graph(["Rome", "Italy"], [("Rome", "in", "Italy")])
    right = graph(["Roma", "Italia", "Italien"], [("Roma", "in", "Italien")])
    task = AlignmentTask(left, right, Alignment.empty(), [0, 1], [0, 1, 2], cardinality="one-to-many")
    links = Alignment([[0, 0], [1, 1], [1, 2]], [0.9, 0.9, 0.8])
    candidates = with_own_odds(
        Candidates([0, 1], [[0, -1], [1, 2]], np.zeros((2, 2))), np.array([[0.9, 0], [0.9, 0.8]]), "one-to-many"
    )
    evidence = kgalign.explain.evidence.gather_evidence(task, links, candidates)
    assert evidence.sources.tolist() == [0, 1, 1]
    assert evidence.shared[0] == 1
    assert evidence.neighbours[0].tolist() == [1, 2]
    assert evidence.neighbour_probabilities[0] == 0.8


def test_merged_graphs_have_one_iri_for_a_group_of_links():
    left = graph(["Rome", "Italy"], [("Rome", "in", "Italy")])
    right = graph(["Roma", "Roma 2", "Italia"], [("Roma 2", "in", "Italia"), ("Roma", "near", "Italia")])
    tasks = {
        name: AlignmentTask(left, right, Alignment.empty(), [0, 1], [0, 1, 2], cardinality=name)
        for name in ("one-to-one", "one-to-many", "many-to-many")
    }
    links, conflicts = single_links(Alignment([[0, 0], [0, 1], [1, 2]], [0.7, 0.9, 0.8]), tasks["one-to-many"], 0.5)
    assert len(links) == 3
    assert not conflicts
    assert not find_conflicts(tasks["one-to-many"], links)
    source = {quad[:3] for quad in merged(tasks["one-to-many"], links)}
    rome, italy = "<urn:kgalign:source:Rome>", "<urn:kgalign:source:Italy>"
    assert {subject for subject, *_ in source} == {rome, italy}
    assert {quad[2] for quad in source if "sameAs" in quad[1]} == {
        f"<urn:kgalign:target:{name}>" for name in ("Roma", "Roma_2", "Italia")
    }
    target = {quad[0] for quad in merged(tasks["many-to-many"], links)}
    assert target == {"<urn:kgalign:target:Roma_2>", "<urn:kgalign:target:Italia>"}, "the most probable link names the group"


# ---- the hint, and the command line


def command(folder, *arguments):
    done = run_command(*arguments, cwd=folder)
    return done.returncode, done.stdout, done.stderr


def test_duplicates_of_one_side_are_hinted_at():
    hints = {}
    for name, records in RECORDS.items() | {("one-to-one", ((1, 1), (1, 1)))}:
        task, _ = make_persons(records, errors=0.05)
        run = kgalign.align(task)
        hints[name] = hint_cardinality(task, run.alignment, run.candidates)
    assert hints["one-to-one"] is None
    assert hints["one-to-many"].endswith("set `cardinality` to one-to-many")
    assert hints["many-to-one"].endswith("set `cardinality` to many-to-one")
    assert hints["many-to-many"] is not None


def test_no_hint_where_another_cardinality_is_set(people):
    run = people["one-to-many"]
    assert hint_cardinality(run.task, run.alignment, run.candidates) is None


@pytest.mark.slow
def test_the_command_aligns_measures_and_merges_with_a_cardinality(files):
    places = [files / "left.nt", files / "right.nt"]
    status, out, _ = command(
        files, "align", *places, "--cardinality", "one-to-many", "--gold", files / "gold.tsv", "-o", files / "run"
    )
    assert status == 0
    report = json.loads((files / "run" / "run.json").read_text("utf-8"))
    assert report["cardinality"] == report["options"]["read"]["cardinality"] == "one-to-many"
    assert report["metrics"]["recall"] == 1
    assert kgalign.runs.read_task(files / "run")[0].cardinality == "one-to-many"
    status, out, _ = command(files, "evaluate", files / "run", "--gold", files / "gold.tsv", "--json")
    assert json.loads(out)["recall"] == 1
    status, out, _ = command(
        files, "evaluate", files / "run", "--gold", files / "gold.tsv", "--json", "--cardinality", "one-to-one"
    )
    assert json.loads(out)["recall"] == 0.5
    assert command(files, "merge", files / "run", "-o", files / "merged.nt")[0] == 0
    assert "<http://t/rome1> <http://www.w3.org/2000/01/rdf-schema#label>" not in (files / "merged.nt").read_text("utf-8")


@pytest.mark.slow
def test_the_command_decodes_candidates_of_another_tool_with_a_cardinality(tmp_path):
    (tmp_path / "scored.tsv").write_text("a\tx\t0.9\na\ty\t0.8\nb\tx\t0.2\nb\tz\t0.1\n", "utf-8")
    found = {}
    for name in CARDINALITIES:
        status, *_ = command(
            tmp_path, "decode", tmp_path / "scored.tsv", "--scores", "probability", "--cardinality", name, "-o", tmp_path / name
        )
        assert status == 0
        with (tmp_path / name / "alignment.tsv").open(encoding="utf-8") as file:
            found[name] = [
                (row["source"], row["target"], float(row["probability"])) for row in csv.DictReader(file, delimiter="\t")
            ]
    assert [link[:2] for link in found["one-to-many"]] == [("a", "y"), ("a", "x"), ("b", "z")]
    assert found["many-to-many"] == [("a", "x", 0.9), ("a", "y", 0.8), ("b", "x", 0.2), ("b", "z", 0.1)]
    assert [link[:2] for link in found["many-to-one"]] == [("a", "x"), ("b", "x")]


@pytest.mark.slow
def test_a_wrong_cardinality_is_refused_with_those_that_would_work(files):
    status, _, error = command(files, "align", files / "left.nt", files / "right.nt", "--cardinality", "1:n", "-o", files / "run")
    assert status == 2
    assert "one-to-many" in error
