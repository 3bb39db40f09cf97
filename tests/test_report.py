"""The report as text, and as a person meets it: in a browser, from disk, without a network."""

import json
import re
import shlex
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser import Page, find_chromium
from conftest import candidates_of, graph, task_of

from kgalign import Alignment, Attributes, Reasoning, Round, Run, align, demo
from kgalign.data import ALTERNATIVE, CLASS, FROM_IRI, Name, Names
from kgalign.decoding.cardinality import with_own_odds
from kgalign.evaluate import reliability

NAUGHTY = "</script><img src=x onerror=\"document.title='owned'\"><!--"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The run of the demo."""
    return align(*demo("fr_en")).write(tmp_path_factory.mktemp("report") / "run")


@pytest.fixture(scope="module")
def page():
    with Page(find_chromium()) as page:
        yield page


def small_run(names=("Rome", "Italy"), others=("Roma", "Italia"), gold=None):
    source = graph(list(names), [(names[0], "capital of", names[1])])
    target = graph(list(others), [(others[0], "capitale", others[1])])
    alignment = Alignment(np.array([[0, 0], [1, 1]]), np.array([0.95, 0.6]), np.array([1, 0]), {"decoder": "joint"})
    run = Run(task_of(source, target), Reasoning(alignment, candidates_of([[0.95, 0.05], [0.4, 0.6]])), seconds={"coordinate": 1.0})
    return run if gold is None else replace(run, gold=gold, reliability=reliability(alignment, gold))


def with_links(run, alignment):
    return replace(run, reasoning=replace(run.reasoning, alignment=alignment))


def html(run):
    """The page of a run, as its folder has it."""
    with tempfile.TemporaryDirectory() as folder:
        return (run.write(Path(folder, "run")) / "report.html").read_text("utf-8")


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


def test_the_page_loads_nothing_from_the_network():
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


def test_the_page_says_what_was_wrong_with_the_files():
    run = small_run()
    seen = {
        "broken": 2,
        "first broken": [f"left.nt:7: {NAUGHTY}"],
        "mended": 1,
        "first mended": ["left.nt:9: odd"],
        "classes left out": 3,
    }
    text = html(replace(run, task=replace(run.task, source=replace(run.task.source, record=seen))))
    for part in (
        "Broken statements of the source, left out: 2.",
        "left.nt:7: &lt;/script&gt;",
        "Statements of the source that break the rules but could be read: 1.",
        "left.nt:9: odd",
        "Classes and properties of the source that were not aligned: 3.",
    ):
        assert part in text
    assert "Broken statements" not in html(run)


def round_of(number, queries, confident, new, stopped=None):
    return Round(number, queries, confident, new, 0.9, (0, 0), (0, 0), 0, confident, 0.1, stopped)


def test_the_page_says_how_many_links_are_confident_in_the_end():
    run = small_run()
    rounds = (round_of(1, 20, 12, 12), round_of(2, 20, 13, 1, "few"), round_of(3, 2, 1, 0, "0 new"))
    text = html(replace(run, reasoning=replace(run.reasoning, rounds=rounds)))
    assert "The first round found 12 confident links among 20 queries, those that are only evidence included." in text
    assert "2 more rounds found 1 that was not confident before. In the last one, 1 link of 2 queries is confident." in text
    assert "Rounds ended after round 3: 0 new." in text


@pytest.mark.parametrize(
    ("scores", "lead"),
    [
        ([0.95, 0.4], "1 link with a probability of 0.9 or more; 1 is below 0.5 and needs a review."),
        ([0.3, 0.4], "0 links with a probability of 0.9 or more; 2 are below 0.5 and need a review."),
    ],
)
def test_the_page_counts_links_that_need_a_review(scores, lead):
    run = small_run()
    assert lead in html(with_links(run, replace(run.alignment, scores=np.array(scores))))


def test_unmatched_entities_are_counted():
    run = with_links(small_run(), small_run().alignment.where(np.array([0])))
    assert re.search(r"unmatched</th><td[^>]*>1</td><td[^>]*>1</td>", html(run))
    assert run.report()["unmatched"] == {"source": 1, "target": 1}


def test_reliability_leaves_out_links_that_are_not_judged():
    assert reliability(Alignment(np.array([[0, 0]])), Alignment(np.array([[5, 5]]))) == []


@pytest.mark.slow
def test_held_out_seeds_measure_probabilities_where_there_is_no_gold():
    task, gold = demo("fr_en")
    measured, unmeasured = (align(task, links, max_rounds=2) for links in (gold, None))
    assert sum(point["count"] for point in measured.reliability) == len(measured.alignment)
    assert 20 <= sum(point["count"] for point in unmeasured.reliability) < len(task.seeds)
    assert "Measured by held-out seeds" in html(unmeasured)


def test_a_run_without_links_has_a_page_too():
    empty = with_links(small_run(), Alignment(np.empty((0, 2)), record={"decoder": "joint"}))
    assert data_of(html(empty))["links"]["pair"] == [-1, -1]


def test_a_large_run_keeps_the_links_with_the_lowest_probability(monkeypatch):
    monkeypatch.setattr("kgalign.explain.report.tables.MOST_DRAWN", 1)
    data = data_of(html(small_run()))
    assert data["starts"][1] == 0
    assert data["starts"][2] > 0
    monkeypatch.setattr("kgalign.explain.evidence.MOST_LINKS", 1)
    text = html(small_run())
    assert [data_of(text)["source"]["names"][i] for i in data_of(text)["links"]["source"]] == ["Italy"]
    assert "alignment.tsv has 1 more." in text


def test_a_large_run_keeps_the_literals_of_the_same_links(monkeypatch):
    run = small_run()
    literals = Attributes(["people"], np.array([[0, 0], [1, 0]]), ["12", "34"])
    sides = (replace(side, attributes=literals) for side in (run.task.source, run.task.target))
    run = replace(run, task=task_of(*sides))
    assert data_of(html(run))["values"]["source"] == ["12", "34", "12", "34"], "two links, two runners-up"
    monkeypatch.setattr("kgalign.explain.report.tables.MOST_DRAWN", 1)
    values = data_of(html(run))["values"]
    assert (values["starts"], values["source"], values["target"]) == ([0, 0, 1, 1, 2], ["34", "34"], ["34", "12"])


def explained_run():
    """A run of a model that explains: four cities whose countries are seeds."""
    names = ["Rome", "Milan", "Paris", "Lyon", "Italy", "France"]
    triples = [("Rome", "in", "Italy"), ("Milan", "in", "Italy"), ("Paris", "in", "France"), ("Lyon", "in", "France")]
    cities = graph(names, triples)
    return align(task_of(cities, cities, [(4, 4), (5, 5)]), max_rounds=0)


def test_the_page_holds_how_much_each_kind_of_evidence_adds(monkeypatch):
    run = explained_run()
    given, data = run.contributions(run.alignment.pairs), data_of(html(run))
    shown = data["contributions"]
    assert set(shown["kinds"]) <= set(given.kinds)
    assert set(shown["descriptions"]) <= set(given.descriptions)
    names = shown["kinds"].index("names")
    assert [row[names] for row in shown["amounts"][:4]] == np.round(100 * given.amounts[:, given.kinds.index("names")]).tolist()
    monkeypatch.setattr("kgalign.explain.report.tables.MOST_DRAWN", 1)
    assert sum(row != 0 for row in data_of(html(run))["contributions"]["amounts"]) == 2, "one link and its runner-up"
    assert "contributions" not in data_of(html(small_run()))


def test_an_opened_link_shows_how_much_each_kind_of_evidence_adds(page, tmp_path):
    (tmp_path / "report.html").write_text(html(explained_run()), "utf-8")
    page.open(tmp_path / "report.html")
    page.run("document.getElementById('search').value = 'rome'; refresh(); document.querySelector('tr.link').click()")
    heads = page.run("[...document.querySelectorAll('.contributions thead th')].map((cell) => cell.textContent)")
    assert heads == ["evidence, in points", "link", "runner-up"]
    rows = page.run(
        "[...document.querySelectorAll('.contributions tbody tr')].map((row) => [row.title, row.children[1].textContent])"
    )
    assert [title for title, _ in rows if "n-grams" in title] == [
        "character n-grams that the two most similar names have in common"
    ]
    assert all(re.fullmatch(r"[+−]?\d+\.\d\d", amount) for _, amount in rows)
    assert page.run("document.querySelectorAll('.contributions .signed i').length") == 2 * (len(rows) - 1)


def test_an_opened_link_of_a_model_that_does_not_explain_shows_no_contributions(page, tmp_path):
    (tmp_path / "report.html").write_text(html(small_run()), "utf-8")
    page.open(tmp_path / "report.html")
    page.run("document.querySelector('tr.link').click()")
    assert page.run("document.querySelectorAll('tr.detail .against').length") == 1
    assert page.run("document.querySelectorAll('.contributions').length") == 0


def test_the_page_says_how_its_run_is_reviewed(page, tmp_path):
    assert "kgalign review RUN" in html(small_run())
    for name in ("run", "it's été", "a %41"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "report.html").write_text(html(small_run()), "utf-8")
        page.open(folder / "report.html")
        command = page.run("document.getElementById('review-command').textContent")
        assert shlex.split(command) == ["kgalign", "review", str(folder)]


def named_run(*more):
    """A run whose first link is between two classes whose shown names differ; the second is between entities without a name."""
    run = small_run()
    source = replace(
        run.task.source, names=Names.of([[Name("Gehege", "de"), Name("pen", "en", ALTERNATIVE), *more], []]), kinds=[CLASS, 0]
    )
    target = replace(run.task.target, names=Names.of([[Name("enclos", "fr"), Name("pen", "", FROM_IRI)], []]), kinds=[CLASS, 0])
    return replace(run, task=task_of(source, target))


def opened(page, folder, run, row):
    """The text of the opened card of a link, part by part."""
    (folder / "report.html").write_text(html(run), "utf-8")
    page.errors.clear()
    page.open(folder / "report.html")
    page.run(f"document.querySelectorAll('tr.link')[{row}].click()")
    assert page.errors == []
    return lambda selector: page.run(f"[...document.querySelectorAll('tr.detail {selector}')].map((part) => part.textContent)")


def test_the_page_holds_names_of_entities_that_are_shown_only():
    data = data_of(html(named_run(*(Name(f"pen {number}", "en", ALTERNATIVE) for number in range(20)))))
    names = data["source"]["all_names"]["0"]
    assert names[:2] == [[0, "de"], ["pen", "en", ALTERNATIVE]], "0 stands for the shown name"
    assert (len(names), data["source"]["more_names"]) == (12, {"0": 10})
    assert data["pairs"]["names"] == {"0": [["pen", "en", ALTERNATIVE], ["pen", "", FROM_IRI]]}
    assert data["source"]["kinds"] == [CLASS, 0]
    plain = data_of(html(small_run()))
    assert plain["source"]["all_names"] == plain["pairs"]["names"] == {}, "one plain name for each entity says nothing more"
    assert "kinds" not in plain["source"]


def test_an_opened_link_shows_the_names_that_match_and_all_names(page, tmp_path):
    part = opened(page, tmp_path, named_run(), 1)
    assert part(".matching") == ["Names that match: pen en, alternative and pen from the IRI"]
    assert part(".names li") == ["Gehege de", "pen en, alternative", "enclos fr", "pen from the IRI"]
    assert part(".badge") == ["class", "class"]


def test_several_links_of_an_entity_are_counted_listed_and_named_in_its_card(page, tmp_path):
    run = small_run(others=("Roma", "Italia"))
    target = graph(["Roma", "Italia", "Rome (city)"])
    task = replace(task_of(run.task.source, target), cardinality="one-to-many")
    candidates = with_own_odds(
        candidates_of([[0.9, 0.1, 0.8], [0.2, 0.6, 0.1]]), np.array([[0.9, 0.8, 0.1], [0.6, 0.2, 0.1]]), "one-to-many"
    )
    links = Alignment(np.array([[0, 0], [0, 2], [1, 1]]), np.array([0.9, 0.8, 0.6]))
    part = opened(page, tmp_path, Run(task, Reasoning(links, candidates)), 1)
    assert part(".against p")[1] == "The source has 1 more link: Roma (0.900)."
    listed = "[...document.querySelectorAll('tr.link')].map((row) => row.querySelectorAll('td')[1].textContent)"
    assert page.run(listed) == ["Italia", "Rome (city)", "Roma"]
    page.run("document.querySelector('.several').click()")
    assert page.run(listed) == ["Rome (city)", "Roma"], "a click lists the links of the entity"
    assert page.run("document.querySelector('h1').textContent") == "2 of 2 queries matched, by 3 links"
    assert page.errors == []


def test_an_entity_without_a_name_is_shown_by_its_iri(page, tmp_path):
    part = opened(page, tmp_path, named_run(), 0)
    assert part(".title") == ["Italy", "Italia"]
    assert part(".matching") == part(".names") == part(".badge") == []
    assert page.run("document.querySelector('tr.link').textContent").startswith("ItalyItalia")


def test_the_search_finds_names_that_are_not_shown(page, tmp_path):
    opened(page, tmp_path, named_run(), 0)
    page.run("document.getElementById('search').value = 'PEN'; refresh()")
    assert page.run("[...document.querySelectorAll('tr.link button')].map((button) => button.textContent)") == ["Gehege"]


def test_alternative_names_cannot_become_markup(page, tmp_path):
    part = opened(page, tmp_path, named_run(Name(NAUGHTY, NAUGHTY, ALTERNATIVE)), 1)
    assert part(".names li")[2] == f"{NAUGHTY} {NAUGHTY}, alternative"
    assert page.run("document.images.length") == 0


@pytest.mark.slow
def test_it_opens_without_errors(page, folder):
    page.errors.clear()
    page.open(folder / "report.html")
    assert page.run("document.querySelectorAll('tr.link').length") == 50
    assert page.run("document.querySelectorAll('#rounds rect').length") > 2
    assert page.run("document.querySelectorAll('#reliability circle').length") >= 1
    assert page.errors == []


@pytest.mark.slow
def test_the_search_finds_names(page, folder):
    page.open(folder / "report.html")
    page.run("document.getElementById('search').value = 'espagn'; refresh()")
    names = page.run("[...document.querySelectorAll('tr.link button')].map((button) => button.textContent)")
    assert names
    assert all("espagn" in name.lower() for name in names)


@pytest.mark.slow
def test_a_row_opens_the_neighbours_of_both_entities(page, folder):
    page.open(folder / "report.html")
    page.run("document.getElementById('search').value = 'espagne'; refresh(); document.querySelector('tr.link').click()")
    assert page.run("document.querySelectorAll('.graphs circle.centre').length") == 2
    assert page.run("document.querySelectorAll('.graphs .bridge').length") >= 1
    assert "Spain" in page.run("document.querySelector('tr.detail').textContent")
    page.run("document.querySelectorAll('.choices button')[1].click()")
    assert page.run("document.querySelectorAll('.choices button')[1].getAttribute('aria-pressed')") == "true"


@pytest.mark.slow
def test_the_keyboard_is_enough(page, folder):
    page.open(folder / "report.html")
    page.press("/")
    assert page.run("document.activeElement.id") == "search"
    page.press("ArrowDown")
    page.press("ArrowDown")
    page.press("Enter")
    assert page.run("document.querySelectorAll('tr.link')[1].classList.contains('open')") is True
    page.press("Escape")
    assert page.run("document.querySelectorAll('tr.detail').length") == 0


@pytest.mark.slow
def test_a_lower_threshold_accepts_more_links(page, folder):
    page.open(folder / "report.html")
    move = "const slider = document.getElementById('accept'); slider.value = {}; slider.dispatchEvent(new Event('input'));"
    accepted = "Number(document.querySelector('.band.accepted b').textContent.replaceAll(',', ''))"
    few = page.run(f"(() => {{ {move.format(0.99)} return {accepted}; }})()")
    many = page.run(f"(() => {{ {move.format(0.2)} return {accepted}; }})()")
    assert few < many


def test_naughty_names_do_nothing_in_a_browser(page, tmp_path):
    (tmp_path / "report.html").write_text(html(small_run(names=(NAUGHTY, "Italy"), others=("Roma", NAUGHTY))), "utf-8")
    page.errors.clear()
    page.open(tmp_path / "report.html")
    page.run("document.querySelectorAll('tr.link').forEach((row) => row.click())")
    assert page.run("document.images.length") == 0
    assert page.run("document.title") != "owned"
    assert NAUGHTY in page.run("document.querySelector('tbody#rows').textContent")
    assert page.errors == []
