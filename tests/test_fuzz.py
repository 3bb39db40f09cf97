"""A short run of the attack with damaged files; `make fuzz SECONDS=600` is a long one."""

import os

import pytest
from fuzz import fuzz


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="there is no limit of memory")
def test_damaged_files_of_every_family_are_read_or_refused(tmp_path):
    count, failures = fuzz(
        seconds=100, seed=1, keep=tmp_path, count=50
    )  # numbers and seed make the inputs: it is the same test every time
    assert count == 50
    assert failures == []
