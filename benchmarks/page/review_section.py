"""The section about reviews: what decisions of a simulated reviewer are worth, for each order of questions."""

from __future__ import annotations

from benchmarks.page.markdown import mean, section, table
from benchmarks.page.plots import picture
from benchmarks.results import Results
from kgalign.bench.results import Line
from kgalign.bench.review import POINTS, REVIEW, SYSTEMS

INTRODUCTION = (
    "What decisions in `kgalign review` are worth (`kgalign bench review`). A simulated reviewer answers by the gold links. It "
    "says whether the pair that is shown is a match; if not, it chooses the right target where that is among the nine candidates "
    "that the page shows, and else rejects the pair. It passes over pairs of which the gold knows neither entity; those do not "
    "count. After 20, 50, 100 and 200 decisions the run goes on with them, without any other seed. The table has F1 over all gold "
    "links in percent, decided ones included in the same way for every order, and judged as in the table of real graphs. A link "
    "counts if its probability is above 0.5.\n\n"
    "*Our queue* is what `kgalign review` asks, with one question in twenty drawn at random for the estimates of precision and "
    "recall. *Least confident first*: the probability nearest to 0.5, of links and of the best candidates of unmatched entities "
    "alike. *At random*: any of these. Each order was drawn anew for each random seed; figures are means, with the lowest and the "
    "highest draw in parentheses where they differ. The settings of the queue were chosen on the demo and on anatomy, with this "
    "reviewer and this gold, so their rows flatter it; the other sets were measured afterwards, with these settings."
)
CHOSEN_ON = ("demo", "anatomy")


def reviews(results: Results) -> str:
    """F1 after so many decisions; empty if it was not measured."""
    found = results.of_other_datasets(REVIEW)
    if not found:
        return ""
    rows = []
    for pair in dict.fromkeys(line["pair"] for line in found):
        for system in SYSTEMS.values():
            own = [line for line in found if (line["pair"], line["system"]) == (pair, system)]
            if own:
                cells = [_cell(own, point) for point in POINTS]
                rows.append([pair + (" (settings)" if pair in CHOSEN_ON else ""), system, str(len(own)), *cells])
    header = ("set", "order", "draws", *(f"{point} decisions" for point in POINTS))
    return section("## Review", INTRODUCTION, table(header, rows), picture("review", results))


def _cell(lines: list[Line], point: int) -> str:
    """The mean, and the lowest and the highest figure where they differ."""
    figures = [100 * line["metrics"]["f1_after"][str(point)] for line in lines]
    shown = [f"{value:.2f}" for value in (mean(figures), min(figures), max(figures))]
    return shown[0] if shown[1] == shown[2] else f"{shown[0]} ({shown[1]} to {shown[2]})"
