from dataclasses import dataclass, replace

import numpy as np
import pytest
from conftest import candidates_of, graph, task_of

from kgalign import Alignment, Candidates, Capabilities, OptionError, Rules, align, coordinate, demo, evaluate, make_model
from kgalign.decoding.decoders import greedy
from kgalign.features.text import ngram_vectors
from kgalign.reasoning.easy_to_hard import confident_links, enough_new
from kgalign.reasoning.state import State
from kgalign.search import pack

PLAIN = Rules(decoder="greedy", max_rounds=0)
CLASSIC = Rules(alpha=0.75, min_new=1, decoder_options={"unmatched": 0.01})


@dataclass(frozen=True)
class Neighbours:
    """Similar names, and neighbours that are known to be the same: the least that can reason over a graph."""

    capabilities = Capabilities()

    def predict(self, task, known):
        source, target = ngram_vectors(task.source.names, task.target.names)
        similarity = (source @ target.T).toarray()
        match = dict(known.pairs.tolist())
        around_source, around_target = neighbours(task.source), neighbours(task.target)
        for i, theirs in around_source.items():
            mapped = {match[j] for j in theirs if j in match}
            for t, others in around_target.items():
                similarity[i, t] += 2 * len(mapped & others) / len(mapped | others)
        rows, columns = (grid.ravel() for grid in np.meshgrid(task.queries, task.pool, indexing="ij"))
        candidates = pack(rows, columns, similarity[rows, columns], len(task.source.entities), len(task.pool))
        return replace(candidates.where(np.isin(candidates.queries, task.queries)), temperature=0.15)


def neighbours(graph):
    around = {}
    for head, _, tail in graph.triples.tolist():
        around.setdefault(head, set()).add(tail)
        around.setdefault(tail, set()).add(head)
    return around


@pytest.fixture
def bush():
    """The paper's Figures 1 and 2. The name points to the father, the universities to the son."""
    source = graph(
        ["George Bush", "Harvard University", "Yale University", "Republican Party"],
        [
            ("George Bush", "studied at", "Harvard University"),
            ("George Bush", "studied at", "Yale University"),
            ("George Bush", "member of", "Republican Party"),
        ],
    )
    father, son = "George Bush", "George W. Bush"
    target = graph(
        [father, son, "Harvard University", "Yale University", "Republican Party"],
        [
            (son, "studied at", "Harvard University"),
            (son, "studied at", "Yale University"),
            (son, "member of", "Republican Party"),
            (father, "studied at", "Yale University"),
            (father, "member of", "Republican Party"),
        ],
    )
    return task_of(source, target)


def test_george_bush_is_matched_rightly_in_the_second_round(bush):
    decisions = []
    plain = coordinate(Neighbours(), bush, PLAIN).alignment
    found = coordinate(Neighbours(), bush, CLASSIC, lambda _, decision: decisions.append(decision))
    assert plain.pairs[0].tolist() == [0, 0], "by its name alone, George Bush is taken for the father"
    confident = set(map(tuple, decisions[0].confident.pairs.tolist()))
    assert {(1, 2), (2, 3)} <= confident, "Harvard and Yale are confident"
    assert (0, 0) not in confident, "George Bush is not"
    assert found.alignment.pairs[0].tolist() == [0, 1], "with Harvard and Yale known, he is the son"
    assert found.rounds[1].changed == 1
    assert found.alignment.rounds[0] == 2
    assert found.alignment.targets.tolist() == [1, 2, 3, 4]


@dataclass(frozen=True)
class Scripted:
    """Gives the matrix of the round, which the number of known links tells apart."""

    matrices: dict
    capabilities = Capabilities()

    def predict(self, task, known):
        return candidates_of(self.matrices[len(known)])


NAMES = ["a", "b", "c"]
TASK = task_of(graph(NAMES), graph(NAMES))
FIRST = [[0.9, 0.05, 0.05], [0.05, 0.5, 0.45], [0.3, 0.3, 0.4]]
SECOND = [[0.3, 0.6, 0.1], [0.0, 0.1, 0.9], [0.4, 0.5, 0.1]]


def test_no_rounds_is_plain_decoding():
    found = coordinate(Scripted({0: FIRST}), TASK, PLAIN)
    expected = greedy(candidates_of(FIRST))
    assert found.alignment.pairs.tolist() == expected.pairs.tolist()
    assert found.alignment.scores.tolist() == expected.scores.tolist()
    assert [figures.stopped for figures in found.rounds] == ["plain decoding"]


def test_each_round_decides_anew_and_may_drop_a_confident_link():
    script = Scripted({0: FIRST, 1: SECOND})
    found = coordinate(script, TASK, replace(CLASSIC, max_rounds=2))
    alignment = found.alignment
    assert [figures.confident for figures in found.rounds] == [1, 1, 1]
    assert [0, 0] not in alignment.where(alignment.rounds > 0).pairs.tolist()
    assert [1, 2] in alignment.where(alignment.rounds == 2).pairs.tolist()


def test_freeze_keeps_a_confident_link_for_good():
    script = Scripted({0: FIRST, 1: SECOND, 2: SECOND})
    alignment = coordinate(script, TASK, replace(CLASSIC, freeze=True)).alignment
    assert alignment.pairs.tolist() == [[0, 0], [1, 2], [2, 1]]
    assert alignment.rounds.tolist() == [1, 2, 0]


def test_targets_of_confident_links_are_withdrawn_from_other_queries():
    matrix = [[0.9, 0.1], [0.6, 0.4]]
    task = task_of(graph(["a", "b"]), graph(["a", "b"]))
    script = Scripted({0: matrix, 1: matrix})
    assert coordinate(script, task, PLAIN).alignment.targets.tolist() == [0, 0]
    assert coordinate(script, task, Rules("greedy", alpha=0.75, min_new=1)).alignment.targets.tolist() == [0, 1]


def test_evidence_comes_from_all_entities_but_only_queries_are_aligned(bush):
    hard = replace(bush, queries=np.array([0]), pool=np.array([0, 1]), protocol="closed")
    rules = Rules(alpha=0.75, min_new=1)
    queries_only = coordinate(Neighbours(), hard, replace(rules, all_entities=False))
    found = coordinate(Neighbours(), hard, rules)
    assert queries_only.alignment.pairs.tolist() == [[0, 0]], "Harvard and Yale are not known"
    assert found.alignment.pairs.tolist() == [[0, 1]]
    assert [figures.stopped is not None for figures in found.rounds].count(True) == 2, "two phases"
    assert [1, 2] in found.known.pairs.tolist(), "Harvard is known, and no query"


def test_the_last_round_says_why_it_stopped():
    script = Scripted({0: FIRST, 1: FIRST})
    few = coordinate(script, TASK, Rules(alpha=0.75, min_new=1)).rounds
    assert [figures.new for figures in few] == [1, 0]
    assert few[-1].stopped == "0 new confident links, fewer than 1"
    assert coordinate(script, TASK, Rules(alpha=0.75, min_new=20)).rounds[0].stopped == "1 new confident link, fewer than 20"
    assert coordinate(script, TASK, Rules(alpha=0.75, min_new=1, max_rounds=1)).rounds[-1].stopped == "1 round done"


@pytest.mark.parametrize(("queries", "enough"), [(1, 1), (99, 1), (500, 10), (10_500, 20), (1_000_000, 1000)])
def test_how_many_new_links_are_enough_suits_the_number_of_queries(queries, enough):
    assert enough_new(queries) == enough


def test_a_round_that_is_mostly_wrong_is_discarded():
    given = []

    @dataclass(frozen=True)
    class Mistaken:
        """Certain of everything, and always wrong."""

        capabilities = Capabilities()

        def predict(self, task, known):
            given.append(known)
            return Candidates(task.queries, (task.queries + 100)[:, None], np.zeros((len(task.queries), 1)))

    names = [str(number) for number in range(300)]
    task = task_of(graph(names[:101]), graph(names), seeds=[(i, i) for i in range(100)])
    rounds = coordinate(Mistaken(), task, Rules(held_out=0.5, max_rounds=1)).rounds
    assert rounds[0].stopped == "0 of 50 new confident links of held-out seeds are right"
    assert len(given[1]) == 100, "the seeds and nothing else"


def test_the_rest_of_a_row_is_no_more_probable_for_what_was_withdrawn():
    certain = [[0.95, 0.05, 0.0], [0.8, 0.15, 0.05]]
    task = task_of(graph(["a", "b"]), graph(["x", "y", "z"]))
    found = coordinate(Scripted({0: certain, 1: certain}), task, Rules("greedy", alpha=0.9, min_new=1)).alignment
    assert dict(zip(found.sources.tolist(), found.targets.tolist(), strict=True)) == {0: 0, 1: 1}
    assert found.scores[1] == pytest.approx(0.15)


def test_seeds_are_known_from_the_start():
    seen = []

    class Watching(Scripted):
        def predict(self, task, known):
            seen.append(known.pairs.tolist())
            return candidates_of(np.zeros((0, 0)))

    coordinate(Watching({}), task_of(graph(["a"]), graph(["a"]), [(0, 0)]))
    assert seen == [[[0, 0]]]


def test_a_confident_link_is_probable_mutual_and_not_contested():
    matrix = [[0.8, 0.2, 0], [0.8, 0.0, 0.2], [0.1, 0.9, 0.0], [0.0, 0.05, 0.95]]
    assert confident_links(candidates_of(matrix), 0.75).pairs.tolist() == [[2, 1], [3, 2]]
    assert confident_links(candidates_of(matrix), 0.92).pairs.tolist() == [[3, 2]]
    assert len(confident_links(candidates_of([[0.4, 0.4, 0.2]]), 0.3)) == 0, "two equal candidates"


@pytest.mark.parametrize(
    "options",
    [{"alpha": 0.0}, {"alpha": 1.0}, {"min_new": 0}, {"max_rounds": -1}, {"held_out": 1.0}, {"decoder": "best"}, {"seed": -1}],
)
def test_rules_out_of_range_are_refused(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        Rules(**options)
    with pytest.raises(OptionError, match=next(iter(options))):
        align(TASK, **options)


def test_a_rule_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(OptionError, match="unknown option 'everyone': expected one of decoder, decoder_options, alpha, "):
        align(TASK, everyone=True)


def test_align_is_the_line_of_its_parts():
    task, gold = demo()
    run = align(task, gold)
    reasoning = coordinate(make_model("fast").fit(task), task)
    assert run.alignment.pairs.tobytes() + run.alignment.scores.tobytes() == (
        reasoning.alignment.pairs.tobytes() + reasoning.alignment.scores.tobytes()
    )
    assert run.metrics == evaluate(reasoning.alignment, gold, protocol=task.protocol, candidates=reasoning.candidates)


def test_a_run_says_how_many_seeds_were_really_held_out():
    task, gold = demo()
    assert align(task, gold, max_rounds=1).options["held_out"] == 0.1
    assert align(task, gold, max_rounds=0).options["held_out"] == 0
    assert align(task, gold, model="names", max_rounds=1).options["held_out"] == 0


def test_a_model_that_does_not_keep_the_contract_is_refused_with_what_is_missing():
    class Bare:
        def fit(self, task):
            return self

    class Declared(Bare):
        capabilities = Capabilities()

    class Silent(Declared):
        def predict(self, task, known):
            return None

    for model, message in (
        (Bare(), "declares no capabilities"),
        (Declared(), "has no method `predict`"),
        (Silent(), "returned NoneType"),
    ):
        with pytest.raises(OptionError, match=message):
            align(TASK, model=model)


def test_align_takes_a_model_and_a_decoder_as_objects():
    def last(candidates):
        rows = np.arange(len(candidates))
        return Alignment(np.column_stack([candidates.queries, candidates.targets[rows, -1]]))

    @dataclass(frozen=True)
    class Fixed:
        capabilities = Capabilities()

        def fit(self, task):
            return Scripted({0: FIRST})

    run = align(TASK, model=Fixed(), decoder=last, max_rounds=0)
    assert run.alignment.pairs.tolist() == [[0, 2], [1, 0], [2, 1]]
    assert (run.options["model"], run.options["decoder"]) == ("Fixed", "last")
    with pytest.raises(OptionError, match="go with the name of a model"):
        align(TASK, model=Fixed(), options={"k": 3})


def test_alignment_is_the_same_bytes_for_the_same_input():
    script = Scripted({0: FIRST, 1: SECOND})
    rules = Rules(alpha=0.75, min_new=1, max_rounds=2)
    first, second = (coordinate(script, TASK, rules).alignment for _ in range(2))
    assert first.pairs.tobytes() + first.scores.tobytes() == second.pairs.tobytes() + second.scores.tobytes()
    assert isinstance(first, Alignment)


def test_held_out_seeds_show_how_many_confident_links_are_right():
    @dataclass(frozen=True)
    class Scripted:
        """Certain of everything, and wrong about every fourth source."""

        capabilities = Capabilities()

        def predict(self, task, known):
            targets = np.where(task.queries % 4, task.queries, task.queries + 100)
            return Candidates(task.queries, targets[:, None], np.zeros((len(targets), 1)))

    names = [str(number) for number in range(300)]
    task = task_of(graph(names[:101]), graph(names), seeds=[(i, i) for i in range(100)])
    decisions = []
    found = coordinate(Scripted(), task, Rules(held_out=0.5, min_new=1), lambda _, decision: decisions.append(decision))
    sources = decisions[0].confident.sources
    assert found.rounds[0].held_out == (np.count_nonzero(sources[sources < 100] % 4), 50)
    assert found.rounds[-1].held_out == (0, 0), "in the end all seeds are known"
    assert found.alignment.sources.tolist() == [100]
    assert found.alignment.scores[0] < 0.9, "held-out seeds have shown how often it is wrong"
    assert found.held_out.candidates.queries.tolist() == sorted(found.held_out.links.sources.tolist())


def test_no_seeds_are_held_out_of_a_model_that_has_learnt_from_them():
    @dataclass(frozen=True)
    class Learning(Neighbours):
        capabilities = Capabilities(learns_from_seeds=True)

    names = [str(number) for number in range(60)]
    task = task_of(graph(names), graph(names), seeds=[(i, i) for i in range(50)])
    found = [coordinate(model, task, Rules(held_out=0.5, min_new=1)) for model in (Learning(), Neighbours())]
    assert found[0].held_out is None
    assert len(found[1].held_out.links) == 25


def test_a_model_with_soft_evidence_gets_plausible_links(bush):
    given = []

    @dataclass(frozen=True)
    class Soft(Neighbours):
        capabilities = Capabilities(soft_evidence=True)

        def predict(self, task, known):
            given.append(known)
            return super().predict(task, known)

    coordinate(Soft(), bush, Rules(min_new=1, max_rounds=1))
    assert len(given[0]) == 0
    assert 0 < given[1].scores.min() < 0.5
    assert len(np.unique(given[1].sources)) < len(given[1])


def test_a_model_that_prepares_does_so_once_for_each_phase(bush):
    prepared = []

    @dataclass(frozen=True)
    class Preparing(Neighbours):
        capabilities = Capabilities(prepares=True)

        def for_task(self, task):
            prepared.append(len(task.queries))
            return self

    hard = replace(bush, queries=np.array([0]), pool=np.array([0, 1]), protocol="closed")
    coordinate(Preparing(), hard, Rules(min_new=1))
    assert prepared == [4, 1]

    class Kept:
        def load(self):
            return State(phase="last")

        def keep(self, state):
            pass

    coordinate(Preparing(), hard, Rules(min_new=1), kept=Kept())
    assert prepared == [4, 1, 4, 1]  # both where a run goes on: what is prepared for the second may come from the first


@pytest.mark.parametrize("options", [{"seed": []}, {"alpha": []}, {"held_out": "a"}, {"max_rounds": None}, {"decoder": []}])
def test_rules_of_the_wrong_type_are_refused(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        Rules(**options)
