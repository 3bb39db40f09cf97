from dataclasses import replace

import numpy as np
import pytest

from kgalign import Alignment, Candidates
from kgalign.calibrate import fit_temperature


def test_fit_temperature_finds_the_one_that_made_the_data():
    random = np.random.default_rng(0)
    scores = -np.sort(-random.normal(size=(20_000, 5)), axis=1)
    candidates = Candidates(np.arange(20_000), np.tile(np.arange(5), (20_000, 1)), scores)
    truth = replace(candidates, temperature=0.4).probabilities()
    gold = (truth.cumsum(axis=1) > random.random((20_000, 1))).argmax(axis=1)
    temperature = fit_temperature(candidates, Alignment(np.column_stack([np.arange(20_000), gold])))
    assert temperature == pytest.approx(0.4, rel=0.05)


def test_fit_temperature_without_links_changes_nothing():
    candidates = Candidates(np.array([0]), np.array([[1]]), np.array([[0.5]]), 0.7)
    assert fit_temperature(candidates, Alignment.empty()) == 0.7
