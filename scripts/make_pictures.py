"""Draws the pictures of the report and of the review in docs/: python scripts/make_pictures.py (needs a Chromium, and the extra web).

What decisions change is shown with a run by names alone, which leaves something to change. The gold links of the bundled graphs answer there.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from browser import Page, find_chromium  # noqa: E402

from kgalign import align, datasets, demo  # noqa: E402
from kgalign.cli import run as command  # noqa: E402
from kgalign.serve.opening import Review, open_review  # noqa: E402

OPEN = """
document.getElementById("search").value = "pays-bas";
refresh();
document.querySelector("tr.link").click();
"""
PICTURES = {
    "report-top": (1200, 1000, False, "scrollTo(0, 0)"),
    "report-list": (1200, 900, False, "document.getElementById('links').scrollIntoView()"),
    "report-link": (1200, 1120, False, f"{OPEN} document.getElementById('links').scrollIntoView()"),
    "report-dark": (1200, 1120, True, f"{OPEN} document.getElementById('links').scrollIntoView()"),
    "report-phone": (390, 1120, False, f"{OPEN} document.getElementById('links').scrollIntoView()"),
}


REVIEW = {"review-link": (1200, 1240, False), "review-dark": (1200, 900, True), "review-phone": (390, 844, False)}
SHOWN = "pays-bas"
ANSWERS = 12  # decisions in the picture of their effect


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        report = align(*demo("fr_en")).write(Path(folder, "run")) / "report.html"
        for name, (width, height, dark, script) in PICTURES.items():
            with Page(find_chromium(), width, height, dark) as page:
                page.open(report)
                page.run(script)
                picture(page, name)
        draw_review(Path(folder))


def draw_review(folder: Path) -> None:
    """The pictures of the review: a link, a decision, and the effect of decisions."""
    graphs = shutil.copytree(Path(datasets.__file__).parent / "demo" / "fr_en", folder / "world")
    command(["align", str(graphs), "-o", str(folder / "world-facts")])
    with open_review(folder / "world-facts", browser=False) as review:
        for name, (width, height, dark) in REVIEW.items():
            with Page(find_chromium(), width, height, dark) as page:
                sign_in(page, review)
                page.press("/")
                for letter in SHOWN:
                    page.press(letter)
                page.run_until("document.querySelectorAll('#found button').length > 0")
                page.press("Enter")
                page.run_until("document.querySelector('#item .title').textContent === 'Pays-Bas'")
                picture(page, name)
        with Page(find_chromium(), 1200, 760) as page:
            sign_in(page, review)
            for key in "yyn":
                before = page.run("document.getElementById('question').textContent")
                page.press(key)
                page.run_until(f"document.getElementById('question').textContent !== {before!r}")
            page.run("scrollTo(0, document.body.scrollHeight - innerHeight - 60)")  # without the place of the decisions
            picture(page, "review-decision")
    command(["align", str(graphs), "--model", "names", "-o", str(folder / "names-alone")])
    with open_review(folder / "names-alone", browser=False) as review:
        answer(review)
        with Page(find_chromium(), 1200, 900) as page:
            sign_in(page, review)
            page.run("document.querySelector('[data-view=effect]').click()")
            picture(page, "review-effect")


def answer(review: Review) -> None:
    """Decides on the first links of the queue as the gold links say, and lets the run go on."""
    task, gold = demo("fr_en")
    right = {(task.source.entities[source], task.target.entities[target]) for source, target in gold.pairs.tolist()}
    for number in range(ANSWERS):
        item = review.session.next("ann")
        assert item is not None
        verdict = "match" if item.pair in right else "no match"
        review.session.decide("ann", *item.pair, verdict, request=str(number), drawn=item.drawn, probability=item.probability)
    review.session.go_on()
    review.session.wait()


def sign_in(page: Page, review: Review) -> None:
    page.open(review.address)
    page.run_until("document.getElementById('author-dialog').open")
    page.run("document.getElementById('author-name').value = 'ann'")
    page.press("Enter")
    page.run_until("!!document.getElementById('item').dataset.source")


def picture(page: Page, name: str) -> None:
    time.sleep(0.5)  # until it is drawn
    page.picture(ROOT / "docs" / f"{name}.png")


if __name__ == "__main__":
    main()
