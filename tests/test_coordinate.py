from dataclasses import dataclass, replace

import numpy as np
import pytest
from conftest import candidates_of, graph, task_of

from kgalign import Alignment, Candidates, OptionError, coordinate
from kgalign.reasoning.easy_to_hard import _enough, confident_links
from kgalign.decoding.decoders import greedy, joint
from kgalign.search import pack
from kgalign.features.text import ngram_vectors


@dataclass(frozen=True)
class Neighbours:
    """Similar names, and neighbours that are known to be the same: the least that can reason over a graph."""

    def fit(self, task):
        return self

    def predict(self, task, known):
        source, target = ngram_vectors(task.source.names, task.target.names)
        similarity = (source @ target.T).toarray()
        partner = dict(known.pairs.tolist())
        around_source, around_target = neighbours(task.source), neighbours(task.target)
        for i, theirs in around_source.items():
            mapped = {partner[j] for j in theirs if j in partner}
            for t, others in around_target.items():
                similarity[i, t] += 2 * len(mapped & others) / len(mapped | others)
        rows, columns = (grid.ravel() for grid in np.meshgrid(task.queries, task.pool, indexing="ij"))
        candidates = pack(rows, columns, similarity[rows, columns], len(task.source.entities), len(task.pool))
        asked = np.isin(candidates.queries, task.queries)
        return replace(
            candidates,
            queries=candidates.queries[asked],
            targets=candidates.targets[asked],
            scores=candidates.scores[asked],
            temperature=0.15,
        )


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


def test_george_bush_is_turned_right_by_the_second_round(bush):
    rounds = []
    alone = coordinate(Neighbours(), bush, decode=greedy, max_rounds=0)
    together = coordinate(Neighbours(), bush, decode=joint, alpha=0.75, min_new=1, on_round=rounds.append)
    assert alone.pairs[0].tolist() == [0, 0], "by its name alone, George Bush is taken for the father"
    easy = set(map(tuple, rounds[0].easy.pairs.tolist()))
    assert {(1, 2), (2, 3)} <= easy, "Harvard and Yale are easy"
    assert (0, 0) not in easy, "George Bush is not: nobody is sure of him"
    assert together.pairs[0].tolist() == [0, 1], "with Harvard and Yale known, he is the son"
    assert rounds[1].changed == 1
    assert together.rounds[0] == 2
    assert together.targets.tolist() == [1, 2, 3, 4]


@dataclass(frozen=True)
class Scripted:
    """Gives the matrix of the round, told by the number of known pairs."""

    matrices: dict

    def fit(self, task):
        return self

    def predict(self, task, known):
        return candidates_of(self.matrices[len(known)])


NAMES = ["a", "b", "c"]
TASK = task_of(graph(NAMES), graph(NAMES))
FIRST = [[0.9, 0.05, 0.05], [0.05, 0.5, 0.45], [0.3, 0.3, 0.4]]
SECOND = [[0.3, 0.6, 0.1], [0.0, 0.1, 0.9], [0.4, 0.5, 0.1]]


def test_no_rounds_is_plain_decoding():
    alignment = coordinate(Scripted({0: FIRST}), TASK, decode=greedy, max_rounds=0)
    expected = greedy(candidates_of(FIRST))
    assert alignment.pairs.tolist() == expected.pairs.tolist()
    assert alignment.scores.tolist() == expected.scores.tolist()
    assert alignment.record["rounds"][0]["stopped"] == "plain decoding"


def test_each_round_decides_anew_and_may_take_an_easy_pair_back():
    script = Scripted({0: FIRST, 1: SECOND})
    alignment = coordinate(script, TASK, decode=joint, alpha=0.75, min_new=1, max_rounds=2)
    assert [line["easy"] for line in alignment.record["rounds"]] == [1, 1, 1]
    assert [0, 0] not in alignment.where(alignment.rounds > 0).pairs.tolist()
    assert [1, 2] in alignment.where(alignment.rounds == 2).pairs.tolist()


def test_freeze_keeps_an_easy_pair_for_good():
    script = Scripted({0: FIRST, 1: SECOND, 2: SECOND})
    alignment = coordinate(script, TASK, decode=joint, alpha=0.75, min_new=1, freeze=True)
    assert alignment.pairs.tolist() == [[0, 0], [1, 2], [2, 1]]
    assert alignment.rounds.tolist() == [1, 2, 0]


def test_what_an_easy_pair_took_is_not_on_offer():
    matrix = [[0.9, 0.1], [0.6, 0.4]]
    task = task_of(graph(["a", "b"]), graph(["a", "b"]))
    script = Scripted({0: matrix, 1: matrix})
    assert coordinate(script, task, decode=greedy, max_rounds=0).targets.tolist() == [0, 0]
    assert coordinate(script, task, decode=greedy, alpha=0.75, min_new=1).targets.tolist() == [0, 1]


def test_everyone_is_asked_for_evidence_but_only_queries_are_answered(bush):
    hard = replace(bush, queries=np.array([0]), pool=np.array([0, 1]), protocol="closed")
    alone = coordinate(Neighbours(), hard, alpha=0.75, min_new=1)
    helped = coordinate(Neighbours(), hard, alpha=0.75, min_new=1, all_entities=True)
    assert alone.pairs.tolist() == [[0, 0]], "nobody knows of Harvard and Yale"
    assert helped.pairs.tolist() == [[0, 1]]
    assert [turn["stopped"] for turn in helped.record["rounds"]].count(None) < len(helped.record["rounds"]) - 1, "two stops"


def test_the_record_says_why_it_stopped():
    script = Scripted({0: FIRST, 1: FIRST})
    few = coordinate(script, TASK, alpha=0.75, min_new=1).record["rounds"]
    assert [line["new"] for line in few] == [1, 0]
    assert few[-1]["stopped"] == "0 new easy pairs, fewer than 1"
    assert coordinate(script, TASK, alpha=0.75, min_new=20).record["rounds"][0]["stopped"] == "1 new easy pairs, fewer than 20"
    assert coordinate(script, TASK, alpha=0.75, min_new=1, max_rounds=1).record["rounds"][-1]["stopped"] == "1 rounds done"


@pytest.mark.parametrize(("asked", "enough"), [(1, 1), (99, 1), (500, 10), (10_500, 20), (1_000_000, 1000)])
def test_how_many_new_pairs_are_enough_suits_the_size(asked, enough):
    assert _enough(asked) == enough


def test_a_round_that_is_mostly_wrong_is_not_believed():
    told = []

    @dataclass(frozen=True)
    class Mistaken:
        """Sure of everything, and always wrong."""

        def predict(self, task, known):
            told.append(known)
            return Candidates(task.queries, (task.queries + 100)[:, None], np.zeros((len(task.queries), 1)))

    names = [str(number) for number in range(300)]
    task = task_of(graph(names[:101]), graph(names), seeds=[(i, i) for i in range(100)])
    alignment = coordinate(Mistaken(), task, held_out=0.5, max_rounds=1)
    assert alignment.record["rounds"][0]["stopped"] == "0 of 50 new easy pairs of held-out seeds are right"
    assert len(told[1]) == 100, "the seeds and nothing else"


def test_what_is_left_of_a_row_is_no_surer_for_what_was_taken_out():
    certain = [[0.95, 0.05, 0.0], [0.8, 0.15, 0.05]]
    task = task_of(graph(["a", "b"]), graph(["x", "y", "z"]))
    found = coordinate(Scripted({0: certain, 1: certain}), task, decode=greedy, alpha=0.9, min_new=1)
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


def test_easy_is_sure_mutual_and_not_contested():
    matrix = [[0.8, 0.2, 0], [0.8, 0.0, 0.2], [0.1, 0.9, 0.0], [0.0, 0.05, 0.95]]
    assert confident_links(candidates_of(matrix), 0.75).pairs.tolist() == [[2, 1], [3, 2]]
    assert confident_links(candidates_of(matrix), 0.92).pairs.tolist() == [[3, 2]]
    assert len(confident_links(candidates_of([[0.4, 0.4, 0.2]]), 0.3)) == 0, "torn between two"


@pytest.mark.parametrize("options", [{"alpha": 0.0}, {"alpha": 1.0}, {"min_new": 0}, {"max_rounds": -1}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        coordinate(Scripted({0: FIRST}), TASK, **options)


def test_alignment_is_the_same_bytes_for_the_same_input():
    script = Scripted({0: FIRST, 1: SECOND})
    first, second = (coordinate(script, TASK, alpha=0.75, min_new=1, max_rounds=2) for _ in range(2))
    assert first.pairs.tobytes() + first.scores.tobytes() == second.pairs.tobytes() + second.scores.tobytes()
    assert isinstance(first, Alignment)


def test_held_out_seeds_show_how_many_confident_links_are_right():
    @dataclass(frozen=True)
    class Scripted:
        """Sure of everything, and wrong about every fourth source."""

        def predict(self, task, known):
            targets = np.where(task.queries % 4, task.queries, task.queries + 100)
            return Candidates(task.queries, targets[:, None], np.zeros((len(targets), 1)))

    names = [str(number) for number in range(300)]
    task = task_of(graph(names[:101]), graph(names), seeds=[(i, i) for i in range(100)])
    rounds = []
    coordinate(Scripted(), task, held_out=0.5, min_new=1, on_round=rounds.append)
    held = rounds[0].easy.sources[rounds[0].easy.sources < 100]
    assert rounds[0].held_out == (np.count_nonzero(held % 4), 50)
    assert rounds[-1].held_out == (0, 0), "in the end all seeds are told"
    assert rounds[-1].alignment.sources.tolist() == [100]
    assert rounds[-1].alignment.scores[0] < 0.9, "it has learnt how often it is wrong"


def test_a_model_that_soft_evidence_is_told_of_doubtful_pairs(bush):
    told = []

    @dataclass(frozen=True)
    class Doubting(Neighbours):
        soft_evidence = True

        def predict(self, task, known):
            told.append(known)
            return super().predict(task, known)

    coordinate(Doubting(), bush, min_new=1, max_rounds=1)
    assert len(told[0]) == 0
    assert 0 < told[1].scores.min() < 0.5
    assert len(np.unique(told[1].sources)) < len(told[1])
