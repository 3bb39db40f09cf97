"""Makes the pages of results: python -m benchmarks.page."""

from __future__ import annotations

from benchmarks.page import PAGE, page
from benchmarks.page.plots import FOLDER, write_plots
from benchmarks.page.web_page import WEB_PAGE, web_page
from benchmarks.results import Results


def main() -> None:
    results = Results.read()
    PAGE.write_text(page(results), encoding="utf-8", newline="\n")
    WEB_PAGE.write_text(web_page(results), encoding="utf-8", newline="\n")
    write_plots(results)
    print(f"{PAGE}, {WEB_PAGE} and {FOLDER} written")


if __name__ == "__main__":
    main()
