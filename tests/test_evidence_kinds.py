"""A kind of evidence is one object: `fast` weighs it, leaves it out, explains it, and the ablation has its row."""

from dataclasses import replace

import numpy as np
import pytest

from kgalign import OptionError, Rules, align, coordinate, demo
from kgalign.bench.ablation import ablation_rows
from kgalign.models.fast import KINDS, EvidenceKind, Fast, NoMatchFeature, Similarity
from kgalign.models.fast.evidence import Prepared
from kgalign.models.fast.probabilities import PairFeatures


def initials(graphs):
    """(n, 26) the first letter of each name, as unit rows."""

    def rows(names):
        letters = np.zeros((len(names), 26), np.float32)
        for row, name in enumerate(names):
            if name and "a" <= name[0].lower() <= "z":
                letters[row, ord(name[0].lower()) - ord("a")] = 1
        return letters

    return Similarity(rows(graphs.task.source.names), rows(graphs.task.target.names))


INITIALS = EvidenceKind(
    name="initials",
    description="the same first letter",
    weight=3.0,
    prepare=initials,
    compute=lambda view: view.prepared["initials"],
    no_match=NoMatchFeature("initials", 1.0, 2.0),
)
MODEL = Fast(kinds=(*KINDS, INITIALS))


@pytest.fixture(scope="module")
def pair():
    return demo("fr_en")


def amounts_of(model, task, pairs):
    found = model.fit(task).contributions(task, task.seeds, pairs)
    return dict(zip(found.kinds, found.amounts.T, strict=True))


def test_a_new_kind_is_weighed_with_its_default_where_seeds_are_few_and_by_seeds_where_they_are_many(pair):
    task, gold = pair
    few = replace(task, seeds=task.seeds.where(np.arange(20)))
    same = [list(map(str.lower, (task.source.names[s][:1], task.target.names[t][:1]))) for s, t in gold.pairs]
    same = np.array([one == other and "a" <= one <= "z" for one, other in same])
    assert amounts_of(MODEL, few, gold.pairs)["initials"].tolist() == np.where(same, 3.0, 0.0).tolist()
    taught = amounts_of(MODEL, task, gold.pairs)["initials"]
    assert set(np.round(taught[~same], 6)) == {0.0}
    assert len(set(np.round(taught[same], 6))) == 1
    assert taught[same][0] not in (0.0, 3.0)


def test_every_kind_can_be_left_out(pair):
    task, gold = pair
    for kind in MODEL.kinds:
        left = amounts_of(replace(MODEL, without=kind.name), task, gold.pairs[:5])
        assert kind.name not in left


def test_the_amounts_of_all_kinds_add_up_to_what_ranks_the_candidates(pair):
    """In the first round of plain decoding, the pair with the largest sum wins where no other query wants the target."""
    task, _ = pair
    found = coordinate(MODEL.fit(task), task, Rules(max_rounds=0, decoder="greedy"))
    best = {query: targets[:2] for query, targets in zip(found.candidates.queries, found.candidates.targets, strict=True)}
    pairs = np.array([(query, target) for query, targets in best.items() for target in targets if target >= 0])
    totals = np.sum(list(amounts_of(MODEL, task, pairs).values()), axis=0)
    ranked = dict(zip(map(tuple, pairs.tolist()), totals, strict=True))
    two = [(query, *targets) for query, targets in best.items() if targets[1] >= 0]
    assert np.mean([ranked[query, first] >= ranked[query, second] for query, first, second in two]) > 0.95


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": (*KINDS, KINDS[0])}, "the same name"),
        ({"kinds": (*KINDS, replace(INITIALS, prepare=None, searches="once"))}, "expected `prepare`"),
        ({"without": ",".join(kind.name for kind in KINDS)}, "no evidence is left"),
    ],
)
def test_kinds_that_cannot_work_are_refused_at_once(options, message):
    with pytest.raises(OptionError, match=message):
        Fast(**options)


def test_a_new_kind_is_a_feature_of_the_no_match_classifier(pair):
    task, _ = pair
    features = PairFeatures(MODEL.kinds, Prepared.of(task, (), {}), {})
    assert [feature.name for feature in features.features][-1] == "initials"


def test_a_new_kind_is_explained(pair, tmp_path):
    task, gold = pair
    run = align(task, gold, model=MODEL)
    shown = str(run.explain(task.source.entities[gold.sources[0]])[0])
    assert "initials" in shown
    folder = run.write(tmp_path / "run")
    page = (folder / "report.html").read_text("utf-8")
    assert "initials" in page
    assert "the same first letter" in page


def test_the_ablation_has_a_row_for_a_new_kind():
    rows = ablation_rows("fast", MODEL.capabilities.parts)
    assert {"+ initials", "everything without initials"} <= rows.keys()
    assert rows["everything without initials"].options == {"without": "initials"}
