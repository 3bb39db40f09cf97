"""The page of results is what its generator makes of results.jsonl."""

import json

from benchmarks.pages import PAGE, page
from benchmarks.results import RESULTS

KEYS = {
    "experiment", "system", "pair", "seed", "protocol", "split", "metrics", "seconds", "peak_mb", "hardware", "commit", "options",
}  # fmt: skip


def test_every_line_has_its_keys():
    for text in RESULTS.read_text("utf-8").splitlines():
        assert set(json.loads(text)) == KEYS


def test_page_is_made_from_the_lines():
    assert PAGE.read_text("utf-8") == page()
