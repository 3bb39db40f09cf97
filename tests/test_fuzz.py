"""A short run of the attack with damaged files; `make fuzz SECONDS=600` is a long one."""

import os

import pytest
from fuzz import fuzz

# What runs and links are read by. Numbers and seed make the inputs, so that this is the same test every time.
ENTRIES = ["align -", "align over", "evaluate", "explain", "merge", "update"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="there is no limit of memory")
def test_damaged_runs_and_links_are_read_or_refused(tmp_path):
    count, failures = fuzz(seconds=100, seed=1, keep=tmp_path, only=ENTRIES, count=40)
    assert count == 40
    assert failures == []
