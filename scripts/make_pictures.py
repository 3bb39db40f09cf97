"""Draws the pictures of the report in docs/: python scripts/make_pictures.py (needs a Chromium)."""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from browser import Page, find_chromium  # noqa: E402

from kgalign import align, demo  # noqa: E402

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


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        report = align(*demo("fr_en")).write(Path(folder, "run")) / "report.html"
        for name, (width, height, dark, script) in PICTURES.items():
            with Page(find_chromium(), width, height, dark) as page:
                page.open(report)
                page.run(script)
                page.run("new Promise((done) => setTimeout(done, 300))")
                page.picture(ROOT / "docs" / f"{name}.png")


if __name__ == "__main__":
    main()
