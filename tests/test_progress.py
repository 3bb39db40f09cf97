"""What is told while an alignment goes on: the step, how far it is, and how long it still takes."""

import logging
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

import kgalign
from kgalign import Progress, Round
from kgalign.cli.printing import working
from kgalign.pace import Pace, further_rounds
from kgalign.progress import shown_progress


def test_the_time_that_is_left_goes_by_the_rounds_so_far():
    def rounds(*new, is_wide=True):
        return [Round(at, 1000, 0, count, None, (0, 0), (0, 0), 0, 0, 1.0, None, is_wide) for at, count in enumerate(new, 1)]

    assert [further_rounds(each) for each in (rounds(500), rounds(500, 450), rounds(500, 50), rounds(500, 100, 30))] == [
        4,
        10 + 3,
        3,
        3,
    ]
    last = rounds(500, 50, is_wide=False)
    assert further_rounds(last) == 0
    assert further_rounds([replace(last[-1], stopped="enough")]) == 0
    heard = []
    pace = Pace(heard.append, 1000, expected=100.0)
    pace.stage("rounds")
    assert 99 < heard[-1].left <= 100
    tell = pace.after_round(None)
    for figures in rounds(500, 50):
        for step in ("searching by name", "predicting", "deciding"):
            pace.step(step)
            time.sleep(0.05)
        tell(figures, None)
    assert heard[-1].left == pytest.approx(0.1 * (1 + 3), rel=0.5), (
        "this round and those of the last phase, without what is done once"
    )
    pace.stage("done")
    pace.step("afterwards")
    assert (heard[-1].stage, heard[-1].left) == ("done", 0)


def test_progress_says_what_is_done_how_far_and_how_long_still():
    assert str(Progress("fit", 0, 0, 9, 1.0, "names", left=200)) == "fitting the model; names; about 3 min left"
    text = "1 round, 30 confident links of 40 queries; searching by the graph 25%; about 1.7 h left"
    assert str(Progress("rounds", 1, 30, 40, 1.0, "searching by the graph", 0.25, 6000)) == text


def test_a_bar_moves_inside_a_round():
    told = Progress("rounds", 1, 30, 40, 10.0, "searching by name", 0.25)
    assert told.share == 0.25, "nothing says how long the rest takes"
    assert replace(told, left=30.0).share == 0.25
    assert replace(told, part=0.5, seconds=20.0, left=20.0).share == 0.5
    assert replace(told, part=None).share is None
    assert replace(told, stage="done", left=0.0).share == 1


def test_the_bar_in_a_notebook_moves_with_the_blocks(monkeypatch):
    drawn = []
    monkeypatch.setattr("kgalign.progress.REDRAWN_EVERY", 0.0)
    monkeypatch.setattr("kgalign.progress._in_notebook", lambda: True)
    monkeypatch.setattr(
        "IPython.display.display", lambda *args, **options: SimpleNamespace(update=lambda html: drawn.append(html.data))
    )
    with shown_progress() as show:
        for part in (0.25, 0.5):
            show(Progress("rounds", 1, 30, 40, 10.0, "searching by name", part))
    assert ['value="0.250"' in drawn[0], 'value="0.500"' in drawn[1]] == [True, True]


def test_long_work_is_told_of_where_there_is_no_terminal(monkeypatch, capsys):
    monkeypatch.setattr("kgalign.cli.printing.LOG_EVERY", 0.02)
    with working("reading"):
        time.sleep(0.2)
    assert "reading, for 5 s so far\n" in capsys.readouterr().err
    time.sleep(0.1)
    assert not capsys.readouterr().err, "it is over"


def test_the_log_gets_a_line_now_and_then_where_there_is_no_terminal(caplog, monkeypatch):
    caplog.set_level(logging.INFO, "kgalign")
    for every, expected in ((1000.0, 0), (0.0, 4)):
        monkeypatch.setattr("kgalign.progress.LOG_EVERY", every)
        caplog.clear()
        kgalign.align(*kgalign.demo(), model="names", progress=True)
        lines = [record.getMessage() for record in caplog.records if record.name == "kgalign.progress"]
        assert len([line for line in lines if "searching by name" in line]) >= expected
        assert bool(lines) == bool(expected)
