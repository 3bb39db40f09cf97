"""The report as text, and as a person meets it: in a browser, from disk, without a network."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from browser import Page, find_chromium
from conftest import candidates_of, graph, task_of

from kgalign import Alignment, Attributes, Run, align, demo, write_run
from kgalign.evaluate import reliability
from kgalign.explain.evidence import gather_evidence
from kgalign.explain.report import render

NAUGHTY = "</script><img src=x onerror=\"document.title='owned'\"><!--"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The run of the demo."""
    return write_run(align(*demo("fr_en")), tmp_path_factory.mktemp("report") / "run")


@pytest.fixture(scope="module")
def page():
    with Page(find_chromium()) as page:
        yield page


def small_run(names=("Rome", "Italy"), others=("Roma", "Italia"), gold=None):
    source = graph(list(names), [(names[0], "capital of", names[1])])
    target = graph(list(others), [(others[0], "capitale", others[1])])
    alignment = Alignment(np.array([[0, 0], [1, 1]]), np.array([0.95, 0.6]), np.array([1, 0]), {"decoder": "joint", "rounds": []})
    run = Run(task_of(source, target), alignment, candidates_of([[0.95, 0.05], [0.4, 0.6]]), None, {}, {"coordinate": 1.0})
    return run if gold is None else replace(run, gold=gold, reliability=reliability(alignment, gold))


def html(run):
    return render(run, gather_evidence(run.task, run.alignment, run.candidates, known=run.known))


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL).group(1))


def test_the_page_holds_links_names_and_evidence():
    data = data_of(html(small_run()))
    assert data["source"]["names"] == ["Rome", "Italy"]
    assert data["links"] == {"source": [0, 1], "pair": [0, 1], "runner": [2, 3]}
    assert data["pairs"]["p"][:2] == [950, 600]
    assert data["near"]["source"][0] == 1
    assert data["near"]["target"][0] == 1


def test_names_cannot_become_markup():
    run = small_run(names=(NAUGHTY, "Italy"), others=("Roma", NAUGHTY + "&amp;"))
    run = replace(run, inputs={NAUGHTY: "0"}, options={"model": NAUGHTY})
    text = html(run)
    assert "<img" not in text
    assert text.count("<script") == 2
    assert data_of(text)["source"]["names"][0] == NAUGHTY


def test_the_page_asks_nothing_of_the_network():
    text = html(small_run())
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//|@import|url\(|fetch\(|XMLHttpRequest""", text)
    assert "default-src 'none'" in text


def test_gold_marks_links_and_makes_a_curve():
    gold = Alignment(np.array([[0, 0], [1, 0]]))
    data = data_of(html(small_run(gold=gold)))
    assert data["links"]["right"] == [1, 0]
    assert data["reliability"] == [
        {"probability": pytest.approx(0.6), "right": 0.0, "count": 1},
        {"probability": pytest.approx(0.95), "right": 1.0, "count": 1},
    ]


def test_what_was_wrong_with_the_files_is_told():
    run = small_run()
    seen = {
        "broken": 2,
        "first broken": [f"left.nt:7: {NAUGHTY}"],
        "mended": 1,
        "first mended": ["left.nt:9: odd"],
        "classes not asked": 3,
    }
    text = html(replace(run, task=replace(run.task, source=replace(run.task.source, record=seen))))
    for part in (
        "what is broken was left out, 2 times",
        "left.nt:7: &lt;/script&gt;",
        "1 statement broke",
        "left.nt:9: odd",
        "were not asked: 3",
    ):
        assert part in text
    assert "what is broken" not in html(run)


def test_those_without_a_partner_are_counted():
    run = small_run()
    alignment = replace(run.alignment.where(np.array([0])), record=run.alignment.record)
    assert re.search(r"without a partner</th><td[^>]*>1</td><td[^>]*>1</td>", html(replace(run, alignment=alignment)))
    assert replace(run, alignment=alignment).report()["unmatched"] == {"source": 1, "target": 1}


def test_reliability_leaves_out_what_nobody_knows():
    assert reliability(Alignment(np.array([[0, 0]])), Alignment(np.array([[5, 5]]))) == []


def test_seeds_that_were_held_back_stand_in_for_gold():
    task, gold = demo("fr_en")
    measured, unmeasured = (align(task, links, max_rounds=2) for links in (gold, None))
    assert sum(point["count"] for point in measured.reliability) == len(measured.alignment)
    assert 20 <= sum(point["count"] for point in unmeasured.reliability) < len(task.seeds)
    assert "Measured by seeds" in html(unmeasured)


def test_a_run_without_graphs_or_links_has_a_page_too():
    empty = replace(small_run(), alignment=Alignment(np.empty((0, 2)), record={"rounds": [], "decoder": "joint"}))
    assert data_of(html(empty))["links"]["pair"] == [-1, -1]


def test_a_large_run_draws_and_keeps_the_least_sure(monkeypatch):
    monkeypatch.setattr("kgalign.explain.report.tables.MOST_DRAWN", 1)
    data = data_of(html(small_run()))
    assert data["starts"][1] == 0
    assert data["starts"][2] > 0
    monkeypatch.setattr("kgalign.explain.evidence.MOST_LINKS", 1)
    text = html(small_run())
    assert [data_of(text)["source"]["names"][i] for i in data_of(text)["links"]["source"]] == ["Italy"]
    assert "1 more are in alignment.tsv" in text


def test_literals_of_a_large_run_are_those_of_the_links_that_are_drawn(monkeypatch):
    run = small_run()
    literals = Attributes(["people"], np.array([[0, 0], [1, 0]]), ["12", "34"])
    sides = (replace(side, attributes=literals) for side in (run.task.source, run.task.target))
    run = replace(run, task=task_of(*sides))
    told = ("12", "34", "12", "34")  # two links, two runners-up
    assert data_of(html(run))["values"]["source"] == list(told)
    monkeypatch.setattr("kgalign.explain.report.tables.MOST_DRAWN", 1)
    values = data_of(html(run))["values"]
    assert (values["starts"], values["source"], values["target"]) == ([0, 0, 1, 1, 2], ["34", "34"], ["34", "12"])


def test_it_opens_without_complaints(page, folder):
    page.complaints.clear()
    page.open(folder / "report.html")
    assert page.run("document.querySelectorAll('tr.link').length") == 50
    assert page.run("document.querySelectorAll('#rounds rect').length") > 2
    assert page.run("document.querySelectorAll('#reliability circle').length") >= 1
    assert page.complaints == []


def test_search_finds(page, folder):
    page.open(folder / "report.html")
    page.run("document.getElementById('search').value = 'espagn'; refresh()")
    names = page.run("[...document.querySelectorAll('tr.link button')].map((button) => button.textContent)")
    assert names
    assert all("espagn" in name.lower() for name in names)


def test_a_row_opens_its_graphs(page, folder):
    page.open(folder / "report.html")
    page.run("document.getElementById('search').value = 'espagne'; refresh(); document.querySelector('tr.link').click()")
    assert page.run("document.querySelectorAll('.graphs circle.centre').length") == 2
    assert page.run("document.querySelectorAll('.graphs .bridge').length") >= 1
    assert "Spain" in page.run("document.querySelector('tr.detail').textContent")
    page.run("document.querySelectorAll('.choices button')[1].click()")
    assert page.run("document.querySelectorAll('.choices button')[1].getAttribute('aria-pressed')") == "true"


def test_keys_are_enough(page, folder):
    page.open(folder / "report.html")
    page.press("/")
    assert page.run("document.activeElement.id") == "search"
    page.press("ArrowDown")
    page.press("ArrowDown")
    page.press("Enter")
    assert page.run("document.querySelectorAll('tr.link')[1].classList.contains('open')") is True
    page.press("Escape")
    assert page.run("document.querySelectorAll('tr.detail').length") == 0


def test_the_line_can_be_moved(page, folder):
    page.open(folder / "report.html")
    move = "const slider = document.getElementById('accept'); slider.value = {}; slider.dispatchEvent(new Event('input'));"
    accepted = "Number(document.querySelector('.band.accepted b').textContent.replaceAll(',', ''))"
    few = page.run(f"(() => {{ {move.format(0.99)} return {accepted}; }})()")
    many = page.run(f"(() => {{ {move.format(0.2)} return {accepted}; }})()")
    assert few < many


def test_naughty_names_do_nothing_in_a_browser(page, tmp_path):
    (tmp_path / "report.html").write_text(html(small_run(names=(NAUGHTY, "Italy"), others=("Roma", NAUGHTY))), "utf-8")
    page.complaints.clear()
    page.open(tmp_path / "report.html")
    page.run("document.querySelectorAll('tr.link').forEach((row) => row.click())")
    assert page.run("document.images.length") == 0
    assert page.run("document.title") != "owned"
    assert NAUGHTY in page.run("document.querySelector('tbody#rows').textContent")
    assert page.complaints == []
