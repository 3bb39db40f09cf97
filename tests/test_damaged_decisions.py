"""Damaged files of decisions: they are read or refused in one line, and what is no file of decisions is never changed."""

import json
from contextlib import suppress

import pytest

from kgalign import DataError
from kgalign.decisions import Decision, Undo, read_decisions
from kgalign.review.log import DecisionLog

LINES = [
    Decision("r1", "match", "http://l/1", "http://r/1", "ann", "2026-01-01T00:00:00Z", 0.9),
    Decision("r2", "no match", "http://l/2", "", "bob", probability=0.1, drawn="check", linked=True),
    Undo("u1", "r1", "ann"),
]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "run.decisions.jsonl"
    DecisionLog.open(path).add(LINES)
    return path


@pytest.mark.parametrize("new", [None, b"", b"\0", b"\xff", b"\n", b'"', b"}"])
def test_a_log_that_is_damaged_at_any_byte_is_read_or_refused_as_it_is(log, new):
    whole = log.read_bytes()
    for at in range(len(whole)):
        content = whole[:at] if new is None else whole[:at] + new + whole[at + 1 :]
        log.write_bytes(content)
        found = None
        with suppress(DataError):
            found = DecisionLog.open(log).entries
        if found is None:
            assert log.read_bytes() == content
            with pytest.raises(DataError):
                read_decisions(log)
        else:
            assert read_decisions(log) == found


@pytest.mark.parametrize(
    "content", [b"one,line", b"<a> <b> <c> .\n<d> <e> <f> .", b'{"id": 3', b'[{"id": "r1"}]', b'{"name": "Rome"}']
)
def test_another_file_that_is_given_for_a_log_stays_as_it_is(tmp_path, content):
    path = tmp_path / "mine.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"mine\.txt:1: expected a decision"):
        DecisionLog.open(path)
    with pytest.raises(DataError, match=r"mine\.txt:1: expected a decision"):
        read_decisions(path)
    assert path.read_bytes() == content


def test_a_match_without_a_target_is_refused(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text('{"id": "r1", "verdict": "match", "source": "http://l/1"}\n')
    with pytest.raises(DataError, match=r"d\.jsonl:1: .*a match without a `target`"):
        read_decisions(path)


def test_half_a_line_of_a_killed_process_is_cut_off(log):
    whole = log.read_bytes()
    for half in (b"{", b'{"id"', b'{"id": "r3", "verdict": "mat'):
        log.write_bytes(whole + half)
        assert DecisionLog.open(log).entries == LINES
        assert log.read_bytes() == whole


def test_half_characters_in_decisions_can_be_written(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps({**LINES[0].as_line(), "author": "\ud800"}) + "\n")
    assert read_decisions(path)[0].author == "\N{REPLACEMENT CHARACTER}"
