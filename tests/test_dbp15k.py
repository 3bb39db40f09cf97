"""The benchmark itself, where it is there: the figures that the names model must reach."""

import pytest

from kgalign import align, read

pytestmark = pytest.mark.slow
AT_LEAST = {"zh_en": 0.69, "ja_en": 0.80, "fr_en": 0.90}


@pytest.mark.parametrize("pair", AT_LEAST)
def test_names_reach_their_row_and_reasoning_adds_to_it(dbp15k, pair):
    task, gold = read(dbp15k / pair)
    assert (len(task.seeds), len(gold), task.protocol) == (4500, 10500, "closed")
    variants = (("greedy", 0), ("greedy", 10), ("joint", 0), ("joint", 10))
    runs = [
        align(task, gold, model="names", decoder=decoder, max_rounds=rounds, all_entities=False) for decoder, rounds in variants
    ]
    hits = [run.metrics["hits@1"] for run in runs]
    assert hits[0] >= AT_LEAST[pair]
    assert min(hits[1:]) > hits[0] + 0.01
