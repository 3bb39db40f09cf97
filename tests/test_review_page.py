"""The page of the review, as people meet it: in a browser, with keys, a mouse or a phone, and with servers that die."""

import json
import re
import shutil
import signal
import stat
import time
from pathlib import Path

import pytest
from browser import Page, find_chromium
from served import Served, aligned

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytestmark = pytest.mark.slow

IMAGE = "<img src=x onerror=\"document.title='owned'\">"
SYLLABLES = ("ka", "lo", "mi", "ru", "se", "to", "va", "né", "dor", "pel")
PAIR = "(({ source, target }) => [source, target])(document.getElementById('item').dataset)"
SETTLED = "!document.getElementById('item').classList.contains('waiting') && !!document.getElementById('item').dataset.source"


def write_graphs(folder, count=150):
    """Two graphs of cities in regions; the names of a city differ in a letter or two. One name is an attack, and so is one IRI."""
    for side, letter in (("left", "a"), ("right", "o")):
        lines = []
        for number in range(count):
            digits = f"{number * 7919 % 1000:03d}"
            name = (
                "".join(SYLLABLES[int(digit)] for digit in digits).title() + ("" if number % 3 else letter) + SYLLABLES[number % 10]
            )
            name = f"{IMAGE} {name}" if number == 7 else name
            city = "javascript:alert(7)" if number == 7 and side == "left" else f"http://{side}/city{number}"
            text = json.dumps(name, ensure_ascii=False)
            lines += [f"<{city}> <http://www.w3.org/2000/01/rdf-schema#label> {text} ."]
            lines += [
                f"<{city}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://{side}/{'Town' if number % 5 else 'Port'}> ."
            ]
            lines += [f"<{city}> <http://{side}/in> <http://{side}/city{number % 12}> ."]
            lines += [f'<{city}> <http://{side}/founded> "{1000 + number}" .']
        (folder / f"{side}.nt").write_text("\n".join(lines) + "\n", "utf-8")
    return folder / "left.nt", folder / "right.nt"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The run of two small graphs."""
    folder = tmp_path_factory.mktemp("review")
    return aligned(folder / "run", write_graphs(folder))


@pytest.fixture
def decisions(tmp_path):
    return tmp_path / "decisions.jsonl"


@pytest.fixture
def served(run, decisions):
    with Served(run, "--decisions", str(decisions)) as served:
        yield served


@pytest.fixture
def page(served):
    with Page(find_chromium()) as page:
        sign_in(page, served)
        yield page


def sign_in(page, served, author="ann"):
    """Opens the address as a person would, and gives a name; returns the pair that is shown first."""
    page.open("about:blank")
    page.open(served.address)
    page.run_until("document.getElementById('author-dialog').open")
    assert text(page, "author") in ("your name", author)
    page.run("localStorage.setItem('kgalign-every', '0')")  # runs go on when a test asks for it
    page.run(f"document.getElementById('author-name').value = '{author}'")
    page.press("Enter")
    page.run_until(SETTLED)
    return page.run(PAIR)


def text(page, identity):
    return page.run(f"document.getElementById('{identity}').innerText")


def press(page, key):
    """Presses a key that leads to another pair, and returns that pair."""
    before = page.run(PAIR)
    page.press(key)
    page.run_until(f"{SETTLED} && {PAIR}.join(' ') !== {json.dumps(' '.join(before))}")
    return page.run(PAIR)


def kept(decisions):
    """What the log holds: decisions that nobody took back as (source, target, verdict), and the ids of all its lines."""
    lines = [json.loads(line) for line in decisions.read_text("utf-8").splitlines()]
    undone = {line["undo"] for line in lines if "undo" in line}
    stand = [(line["source"], line["target"], line["verdict"]) for line in lines if "undo" not in line and line["id"] not in undone]
    return stand, [line["id"] for line in lines]


def test_a_hundred_links_are_decided_by_keys_while_the_server_dies(page, served, decisions):
    verdicts, expected = {"y": "match", "n": "no match", "u": "unsure"}, []
    pair = page.run(PAIR)

    def decide(key):
        expected.append((*pair, verdicts[key]))
        return press(page, key)

    def undo():
        page.press("z")
        source, target, _ = expected.pop()
        page.run_until(f"{SETTLED} && {PAIR}.join(' ') === {json.dumps(f'{source} {target}')}")
        return [source, target]

    for number in range(50):
        pair = decide("ynyu"[number % 4])
    for _ in range(10):
        pair = undo()
    for number in range(10):
        pair = decide("yyn"[number % 3])
    # The server dies with a decision on its way to it. The page keeps the decision, and sends it to the next server.
    served.process.send_signal(signal.SIGSTOP)
    expected.append((*pair, "match"))
    page.press("y")
    page.run_until("document.getElementById('item').classList.contains('waiting')")
    served.kill()
    page.run_until("!document.getElementById('unsaved').hidden")
    assert "1 not saved yet" in text(page, "unsaved")
    before = served.port
    served.start()
    assert served.port == before, "the page would not find it"
    page.run(f"location.hash = '#{served.token}'")  # whoever opens the address in another tab of the browser does the same
    page.run_until(f"document.getElementById('unsaved').hidden && {SETTLED} && {PAIR}[0] !== {json.dumps(pair[0])}")
    pair = page.run(PAIR)
    # It dies once more, and the page is closed with a decision that nobody has heard of: the next page sends it.
    served.kill()
    expected.append((*pair, "no match"))
    page.press("n")
    page.run_until("!document.getElementById('unsaved').hidden")
    served.start()
    page.open("about:blank")
    page.open(served.address)
    page.run_until(SETTLED)
    pair = page.run(PAIR)
    while len(expected) < 100:
        pair = decide("ynuy"[len(expected) % 4])
    for _ in range(5):
        pair = undo()
    stand, ids = kept(decisions)
    assert stand == expected
    assert len(ids) == len(set(ids)) == 110 + 15, "decisions and undos"
    assert [error for error in page.errors if "Failed to load resource" not in error] == []


def test_names_from_graphs_are_text(page):
    page.press("/")
    page.run_until("document.getElementById('search-dialog').open")
    page.run("document.getElementById('search-text').value = 'onerror'")
    page.run("document.getElementById('search-text').dispatchEvent(new Event('input'))")
    page.run_until("document.querySelectorAll('#found button').length > 0")
    page.press("Enter")
    page.run_until(f"{SETTLED} && {PAIR}[0] === 'javascript:alert(7)'")
    assert IMAGE in text(page, "question")
    press(page, "y")
    page.run("document.querySelector('[data-view=links]').click()")
    page.run_until("document.getElementById('rows').innerText.length > 100")
    assert page.run("document.title") == "run · review · kgalign"
    assert page.run("document.images.length") == 0
    assert page.run("[...document.links].filter((link) => !/^https?:/.test(link.href)).length") == 0
    assert page.errors == []


def test_the_address_gives_its_token_away_to_nobody(page, served):
    assert page.run("location.href") == f"http://{served.host}:{served.port}/"
    assert served.token not in page.run("document.documentElement.outerHTML")
    links = page.run("[...document.querySelectorAll('a[target=_blank]')].map((link) => link.rel)")
    assert links
    assert set(links) == {"noopener noreferrer"}


def test_the_browser_is_led_to_the_address_by_a_file_that_nobody_else_can_read(run, decisions, monkeypatch):
    from kgalign.serve.opening import open_review

    opened, place = [], decisions.with_name("decisions.open.html")
    monkeypatch.setattr("webbrowser.open", opened.append)
    with open_review(run, decisions), Page(find_chromium()) as page:
        assert opened == [place.as_uri()], "others can read the command line of a browser"
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        page.open(opened[0])
        page.run_until("document.getElementById('author-dialog')?.open")
    assert not place.exists()


def test_a_page_without_the_token_says_what_to_do(served):
    with Page(find_chromium()) as page:
        page.open(f"http://{served.host}:{served.port}/#{'x' * 43}")
        page.run_until("document.getElementById('item').innerText.includes('open the address that the command has printed')")
        assert "Kala" not in page.run("document.body.innerText")


def test_a_decision_that_the_next_server_refuses_is_shown_until_it_is_given_up(page, served, decisions):
    """The page that has made it is gone, so that nobody waits for the answer."""
    log = served.ask("/api/start")[1]["log"]
    source, target = page.run(PAIR)
    for number, first in enumerate(("http://gone/", source)):
        body = {"author": "ann", "source": first, "target": target, "verdict": "match", "request": f"r{number}"}
        change = json.dumps({"path": "decide", "body": body})
        page.run(f"localStorage.setItem('kgalign-unsent {log} 0000{number} 000000 r{number}', {json.dumps(change)})")
    page.open("about:blank")
    page.open(served.address)
    page.run_until(f"{SETTLED} && !document.getElementById('unsaved').hidden")
    said = text(page, "unsaved")
    assert "1 not saved: match, http://gone/ and " in said
    assert "the source graph has no entity 'http://gone/'" in said
    assert kept(decisions)[0] == [(source, target, "match")]
    press(page, "y")
    assert len(kept(decisions)[0]) == 2
    page.run("[...document.querySelectorAll('#unsaved button')].at(-1).click()")
    page.run_until("document.getElementById('unsaved').hidden")
    assert page.run("Object.keys(localStorage).filter((key) => key.startsWith('kgalign-unsent')).length") == 0


def test_two_authors_get_different_links(page, served):
    with Page(find_chromium()) as other:
        theirs = sign_in(other, served, "bob")
        ours = page.run(PAIR)
        for _ in range(5):
            assert ours[0] != theirs[0]
            ours, theirs = press(page, "y"), press(other, "n")
    assert served.ask("/api/summary")[1]["authors"] == {"ann": 5, "bob": 5}


def test_candidates_search_and_help_work_with_keys_alone(page, decisions):
    source, target = page.run(PAIR)
    press(page, "2")
    second = page.run(PAIR)[1]
    assert page.run(PAIR)[0] == source
    assert second != target
    assert page.run("document.querySelector('.choices [aria-pressed=true] kbd').textContent") == "2"
    press(page, "2")  # once more: accepted
    assert kept(decisions)[0] == [(source, second, "match")]
    source = page.run(PAIR)[0]
    press(page, "0")
    assert kept(decisions)[0][1] == (source, "", "no match")
    page.press("?")
    page.run_until("document.getElementById('help-dialog').open")
    page.press("y")  # is no decision there
    page.press("Escape")
    page.run_until("!document.getElementById('help-dialog').open")
    page.press("/")
    page.run_until("document.activeElement.id === 'search-text'")
    for letter in "city14":
        page.press(letter)
    page.run_until("document.querySelectorAll('#found button').length > 3")
    page.press("ArrowDown")
    page.press("ArrowDown")
    assert page.run("document.activeElement.textContent") == "compare"
    chosen = page.run("document.activeElement.getAttribute('aria-label')")
    assert re.fullmatch("Is .+ the same as .+[?]", chosen), "a target can be compared with the source that was shown"
    assert "compare puts one beside" in text(page, "search-said")
    page.press("Enter")
    page.run_until(f"!document.getElementById('search-dialog').open && {SETTLED}")
    assert chosen.split()[1] in text(page, "question")
    assert len(kept(decisions)[0]) == 2
    assert page.errors == []


def test_a_rejected_pair_and_a_source_without_a_match_have_a_term_each(page):
    press(page, "n")
    assert text(page, "said").startswith("Saved. Not the same: ")
    rejected = page.run("document.getElementById('last').firstChild.textContent")
    assert " = " not in rejected
    assert " not the same, ann" in rejected
    press(page, "0")
    assert text(page, "said").startswith("Saved. No match at all: ")
    assert " no match at all, ann" in page.run("document.getElementById('last').firstChild.textContent")
    page.run("document.querySelector('[data-view=effect]').click()")
    page.run_until("document.getElementById('effect-text').textContent.includes('not the same 1, no match at all 1')")
    assert page.errors == []


def test_names_that_are_not_equal_are_called_the_closest(tmp_path):
    books = {"Krieg und Frieden": "War and Peace", "Die Elenden": "Les Miserables", "Der Fremde": "The Stranger"}
    label, other = ("<http://www.w3.org/2004/02/skos/core#prefLabel>", "<http://www.w3.org/2004/02/skos/core#altLabel>")
    left = [f'<http://l/{n}> {label} "{one}" .\n<http://l/{n}> {other} "{two}" .' for n, (one, two) in enumerate(books.items())]
    right = [
        f'<http://r/{n}> {label} "{name}" .' for n, name in enumerate(("War and Peace", "Les Misérables, a novel", "The Strangers"))
    ]
    for name, lines in (("left.nt", left), ("right.nt", right)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", "utf-8")
    run = aligned(tmp_path / "run", (tmp_path / "left.nt", tmp_path / "right.nt"))
    with Served(run) as served, Page(find_chromium()) as page:
        sign_in(page, served)
        found = {}
        for _ in books:
            found[page.run("document.querySelector('#question b').textContent")] = page.run(
                "document.querySelector('.matching')?.textContent ?? ''"
            )
            page.press("s")
            page.run_until("!document.getElementById('item').classList.contains('waiting')")
    assert found["Krieg und Frieden"].startswith("Names that match: War and Peace")
    assert found["Die Elenden"].startswith("Closest names: Les Miserables")


def test_hidden_scores_are_nowhere_on_the_page(page):
    assert re.search(r"0\.\d\d", text(page, "item"))
    page.press("h")
    assert not re.search(r"\b0\.\d\d|\b1\.00", text(page, "item"))
    press(page, "u")
    assert not re.search(r"\b0\.\d\d|\b1\.00", text(page, "item"))
    page.run("document.querySelector('[data-view=links]').click()")
    page.run_until("document.querySelectorAll('#rows tr.link').length > 10")
    assert not re.search(r"0\.\d\d", text(page, "table"))


def test_names_turn_into_latin_letters_and_back(page):
    page.run("document.querySelector('#filters [name=text]').value = 'né'")
    page.run("document.getElementById('filters').dispatchEvent(new Event('input'))")
    page.run_until(f"{SETTLED} && document.querySelector('#item .title').textContent.toLowerCase().includes('né')")
    page.press("l")
    assert "né" not in text(page, "question").lower()
    page.press("l")
    assert "né" in text(page, "question").lower()


def test_filters_choose_what_is_asked(page):
    page.run("document.querySelector('#filters [name=class]').value = 'Port'")
    page.run("document.getElementById('filters').dispatchEvent(new Event('input'))")
    page.run_until(f"{SETTLED} && document.querySelector('.about').textContent.startsWith('Port')")
    for _ in range(4):
        press(page, "y")
        assert page.run("document.querySelector('.about').textContent").startswith("Port")


def test_links_above_a_line_are_accepted_together_and_taken_back_together(page, decisions):
    page.run("document.querySelector('[data-view=links]').click()")
    page.run("document.getElementById('accept-line').value = '0.6'")
    page.run("document.getElementById('accept-line').dispatchEvent(new Event('input'))")
    said = page.run_until("document.getElementById('accept-said').textContent")
    count = int(re.match(r"(\d+) undecided links; ", said)[1])
    page.run("document.querySelector('#accept button').click()")
    page.run_until("document.getElementById('confirm-dialog').open")
    assert f"{count} links become matches" in text(page, "confirm-text")
    page.run("document.querySelector('#confirm-dialog [value=yes]').click()")
    page.run_until(f"document.getElementById('said').textContent.includes('{count} links accepted together')")
    assert len(kept(decisions)[0]) == count
    page.press("z")
    page.run_until("document.getElementById('said').textContent.startsWith('Taken back')")
    assert page.run_until("document.getElementById('last').textContent") == "none yet"


def test_decisions_are_downloaded_as_sssom(page, tmp_path):
    page.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    source = page.run(PAIR)[0]
    press(page, "y")
    page.run("document.getElementById('download').click()")
    page.run_until("document.getElementById('said').textContent.startsWith('The decisions that stand are in decisions.sssom.tsv')")
    place = tmp_path / "decisions.sssom.tsv"
    began = time.monotonic()
    while not place.exists() and time.monotonic() - began < 20:
        time.sleep(0.1)
    text = place.read_text("utf-8")
    assert text.startswith("#sssom_version")
    assert source.rpartition("/")[2] in text
    assert "semapv:ManualMappingCuration\tauthor:ann\tann" in text
    assert page.errors == []


def test_decisions_change_links_and_the_page_says_how(run, tmp_path):
    own = shutil.copytree(run, tmp_path / "run")  # it is replaced
    with Served(own) as served, Page(find_chromium()) as page:
        sign_in(page, served)
        for key in "nnnnnn":
            press(page, key)
        page.press("g")
        page.run_until("document.getElementById('said').textContent.startsWith('The run has gone on: 6 decisions, ')")
        page.run("document.querySelector('[data-view=effect]').click()")
        page.run_until("document.querySelectorAll('#effect-text table.changed tbody tr').length > 3")
        assert "expected precision" in text(page, "effect-text")
        assert "what the run's own probabilities promise" in text(page, "effect-text")
        assert page.errors == []
    assert (tmp_path / "run.decisions.jsonl").exists()
    assert json.loads((own / "run.json").read_text("utf-8"))["rejected"] >= 6


def test_ctrl_c_does_not_wait_for_a_run_that_goes_on(run, tmp_path):
    own = shutil.copytree(run, tmp_path / "run")
    before = (own / "alignment.tsv").read_bytes()
    with Served(own) as served:
        item = served.ask("/api/next?author=ann")[1]
        body = {
            "author": "ann",
            "source": item["source"]["iri"],
            "target": item["target"]["iri"],
            "verdict": "no match",
            "request": "1",
        }
        assert served.ask("/api/decide", body)[0] == 200
        assert served.ask("/api/go-on", {"request": "2"})[1]["running"]
        status, said, seconds = served.interrupt()
    assert status == 0
    assert "Traceback" not in said
    assert seconds < 20
    assert "is given up; the run folder is as it was before" not in said or (own / "alignment.tsv").read_bytes() == before
    assert len(kept(tmp_path / "run.decisions.jsonl")[0]) == 1


def test_people_who_disagree_are_listed(page, served):
    source, target = page.run(PAIR)
    press(page, "y")
    body = {"author": "bob", "source": source, "target": target, "verdict": "no match", "request": "1"}
    assert served.ask("/api/decide", body)[0] == 200
    press(page, "u")
    page.run_until("document.getElementById('conflict-count').textContent.trim() === '1'")
    page.run("document.querySelector('[data-view=conflicts]').click()")
    listed = text(page, "conflict-list")
    assert "ann" in listed
    assert re.search(r"bob.*stands", listed, re.DOTALL)


def test_the_page_fits_a_phone_and_a_thumb(served):
    with Page(find_chromium(), 390, 844) as page:
        sign_in(page, served)
        assert page.run("document.documentElement.scrollWidth") <= 390
        heights = page.run(
            "[...document.querySelectorAll('#actions button')].map((button) => button.getBoundingClientRect().height)"
        )
        assert min(heights) >= 44
        bottom = page.run("document.getElementById('actions').getBoundingClientRect().bottom")
        assert bottom <= 844, "the buttons are always in reach"
        before = page.run(PAIR)
        page.run("document.querySelector('#actions button').click()")
        page.run_until(f"{SETTLED} && {PAIR}[0] !== {json.dumps(before[0])}")
        for view in ("links", "effect", "conflicts"):
            page.run(f"document.querySelector('[data-view={view}]').click()")
            page.run_until(f"!document.getElementById('{view}').hidden")
            assert page.run("document.documentElement.scrollWidth") <= 390
        page.run("document.querySelector('[data-view=links]').click()")
        page.run_until("document.querySelectorAll('#rows tr.link').length > 10")
        ends = page.run(
            "['[data-sort=probability]', 'th.score'].map((each) => document.querySelector('#table ' + each).getBoundingClientRect())"
            ".flatMap((box) => [box.left, box.right])"
        )
        assert ends[2] <= ends[0] < ends[1] <= ends[3], "the word stays in its column"
        shown = page.run("[...document.querySelectorAll('#rows .score')].map((each) => each.textContent)")
        assert all(re.fullmatch(r"[01][.][0-9]{3}", each) for each in shown)


def test_whatever_can_be_used_has_a_name_for_a_screen_reader(page):
    page.run("document.querySelector('#filters-box').open = true")
    page.ask("Accessibility.enable")
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    roles = {node["role"]["value"] for node in nodes if "role" in node and not node["ignored"]}
    assert {"banner", "main", "navigation", "status", "heading"} <= roles
    used = [
        node
        for node in nodes
        if node.get("role", {}).get("value") in ("button", "link", "combobox", "textbox", "searchbox", "spinbutton")
    ]
    assert len(used) > 20
    assert [node for node in used if not node["name"]["value"].strip()] == []
    assert page.run("document.activeElement.id") == "question", "a screen reader reads the next question"


def test_colours_are_easy_to_read_in_light_and_dark():
    style = Path(__file__).parents[1].joinpath("kgalign/explain/report/report.css").read_text("utf-8")
    for block in re.findall(r"\{([^{}]*--ground:[^{}]*)\}", style):
        colours = dict(re.findall(r"--([\w-]+): (#\w{6})", block))
        pairs = [(ink, ground) for ink in ("ink", "muted", "accent", "negative") for ground in ("ground", "card", "soft")]
        for ink, ground in (*pairs, ("on-accent", "accent"), ("ink", "accent-faint")):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def contrast(one, other):
    """The contrast of two colours as WCAG has it."""

    def light(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lights = sorted((light(one), light(other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def test_the_switch_between_light_and_dark_is_remembered(page, served):
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.run(ground)
    page.run("document.getElementById('theme').click()")
    dark = page.run(ground)
    assert light != dark
    page.open("about:blank")
    page.open(served.address)
    page.run_until(SETTLED)
    assert page.run(ground) == dark
