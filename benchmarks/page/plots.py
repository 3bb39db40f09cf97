"""The plots of the page of results; the same lines give the same bytes.

The data of a plot is taken from the lines without matplotlib, so that the page knows which plots there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.page.markdown import by_system, mean, name_of
from benchmarks.results import ROOT, Results
from kgalign.bench.decisions import VARIANTS
from kgalign.bench.paper import PAIRS
from kgalign.bench.peers import DEFAULT_ROWS
from kgalign.bench.results import CANONICAL, Line
from kgalign.bench.review import POINTS, REVIEW, SYSTEMS
from kgalign.models import BASELINE, DEFAULT

FOLDER = ROOT / "docs" / "plots"
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "kgalign",  # ids that do not change from run to run
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "legend.fontsize": 7,
}
MARKS = "osD^v<>pP*Xh"


@dataclass(frozen=True)
class Plot:
    """A plot.

    Attributes:
        caption: The text under it.
        data: Takes its data from the lines; empty if no line has it.
        draw: Draws the data on a figure of matplotlib.
        size: Width and height in inches.
    """

    caption: str
    data: Callable[[Results], Any]
    draw: Callable[[Any, Any], None]
    size: tuple[float, float] = (9.0, 3.2)


def picture(name: str, results: Results) -> str:
    """The Markdown of a plot; empty if there is no data for it."""
    return f"![{PLOTS[name].caption}](plots/{name}.svg)" if PLOTS[name].data(results) else ""


def write_plots(results: Results, folder: Path = FOLDER) -> None:
    """Writes all plots that there is data for."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    for name, plot in PLOTS.items():
        data = plot.data(results)
        if not data:
            continue
        with matplotlib.rc_context(STYLE):
            figure = Figure(figsize=plot.size, layout="constrained")
            plot.draw(figure, data)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})


def rounds_data(results: Results) -> dict[str, dict[str, list[float]]]:
    """By pair and system: hits@1 after each round, of the lowest seed."""
    found: dict[str, dict[str, list[float]]] = {}
    for line in sorted(_table2(results, "round_hits@1"), key=lambda line: -line["seed"]):
        system, _, variant = line["system"].partition("-")
        if variant == "EHD-JEA":
            found.setdefault(line["pair"], {})[system] = line["metrics"]["round_hits@1"]
    return {pair: dict(sorted(found[pair].items())) for pair in PAIRS if pair in found}


def draw_rounds(figure: Any, data: dict[str, dict[str, list[float]]]) -> None:
    systems = sorted({system for curves in data.values() for system in curves})
    for axes, (pair, curves) in zip(_row_of_axes(figure, len(data)), data.items(), strict=True):
        for number, system in enumerate(systems):
            if system in curves:
                hits = [100 * value for value in curves[system]]
                axes.plot(range(1, len(hits) + 1), hits, marker=MARKS[number % len(MARKS)], markersize=3, label=system)
        axes.set(title=name_of(pair), xlabel="round")
        axes.xaxis.get_major_locator().set_params(integer=True)
    figure.axes[0].set_ylabel("hits@1, %")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right center")


def reliability_data(results: Results) -> dict[str, dict[str, list[dict[str, float]]]]:
    """Before and after calibration, by system: the bins of the lowest seed on the first pair that has them."""
    found = [line for line in _table2(results, "reliability") if line["system"] in plain_systems(results)]
    pairs = [pair for pair in PAIRS if any(line["pair"] == pair for line in found)]
    chosen = sorted((line for line in found if line["pair"] == pairs[0]), key=lambda line: -line["seed"]) if pairs else []
    curves = {
        when: {line["system"]: line["metrics"][name] for line in chosen}
        for when, name in (("before calibration", "reliability_before"), ("after calibration", "reliability"))
    }
    return {when: dict(sorted(bins.items())) for when, bins in curves.items() if bins}


def draw_reliability(figure: Any, data: dict[str, dict[str, list[dict[str, float]]]]) -> None:
    for axes, (when, curves) in zip(_row_of_axes(figure, len(data)), data.items(), strict=True):
        axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
        for number, (system, bins) in enumerate(curves.items()):
            probability, right = ([found[name] for found in bins] for name in ("probability", "right"))
            axes.plot(probability, right, marker=MARKS[number % len(MARKS)], markersize=3, label=system)
        axes.set(title=when, xlabel="probability of the best candidate", xlim=(0, 1), ylim=(0, 1))
    figure.axes[0].set_ylabel("share that is right")
    figure.legend(*figure.axes[-1].get_legend_handles_labels(), loc="outside right center")


def costs_data(results: Results) -> list[tuple[str, float, float, bool]]:
    """System, seconds of training and deciding, hits@1, whether on a GPU; ZH-EN, means over seeds."""
    own = [line for line in [*results.of(DEFAULT), *results.of(BASELINE)] if line["protocol"] == "closed"]
    others = [line for line in _table2(results, "training_seconds") if line["options"]["model"] not in (DEFAULT, BASELINE)]
    found = by_system([line for line in [*own, *others] if line["pair"] == PAIRS[0]])
    return [
        (
            system,
            mean(line["seconds"] + line["metrics"].get("training_seconds", 0) for line in chosen),
            mean(line["metrics"]["hits@1"] for line in chosen),
            "NVIDIA" in chosen[0]["hardware"],
        )
        for system, chosen in sorted(found.items())
        if system.endswith("-EHD-JEA") or system in {*DEFAULT_ROWS, *plain_systems(results)}
    ]


def draw_costs(figure: Any, data: list[tuple[str, float, float, bool]]) -> None:
    axes = figure.subplots()
    for on_gpu, colour, where in ((True, "tab:green", "GPU"), (False, "tab:blue", "CPU")):
        chosen = [point for point in data if point[3] == on_gpu]
        seconds, hits = [point[1] for point in chosen], [100 * point[2] for point in chosen]
        axes.scatter(seconds, hits, s=14, color=colour, label=where)
        for system, took, share, _ in chosen:
            axes.annotate(system, (took, 100 * share), textcoords="offset points", xytext=(4, 2), fontsize=6)
    axes.set(xscale="log", xlabel="seconds of training and deciding", ylabel="hits@1, %")
    axes.legend(loc="lower right")


def growth_data(results: Results) -> list[tuple[int, float, float]]:
    """Entities of both graphs, seconds and MiB of each size that finished."""
    reached = [line for line in results.of("scale") if line["metrics"]["finished"]]
    return sorted((sum(line["metrics"]["entities"]), line["seconds"], line["metrics"]["peak_mb"]) for line in reached)


def draw_growth(figure: Any, data: list[tuple[int, float, float]]) -> None:
    entities, *columns = zip(*data, strict=True)
    for axes, values, label in zip(_row_of_axes(figure, 2), columns, ("seconds", "peak of memory, MiB"), strict=True):
        axes.plot(entities, values, marker="o", markersize=4)
        axes.set(xscale="log", yscale="log", xlabel="entities of both graphs", ylabel=label)


def review_data(results: Results) -> dict[str, dict[str, list[float]]]:
    """By set and order of questions: F1 after each of POINTS, means over the draws."""
    found: dict[str, dict[str, list[float]]] = {}
    lines = results.of_other_datasets(REVIEW)
    for pair in dict.fromkeys(line["pair"] for line in lines):
        for system in SYSTEMS.values():
            own = [line["metrics"]["f1_after"] for line in lines if (line["pair"], line["system"]) == (pair, system)]
            if own:
                found.setdefault(pair, {})[system] = [mean(figures[str(point)] for figures in own) for point in POINTS]
    return found


def draw_review(figure: Any, data: dict[str, dict[str, list[float]]]) -> None:
    for axes, (pair, curves) in zip(_row_of_axes(figure, len(data)), data.items(), strict=True):
        for number, (system, figures) in enumerate(curves.items()):
            axes.plot(POINTS, [100 * value for value in figures], marker=MARKS[number], markersize=3, label=system)
        axes.set(title=pair, xlabel="decisions")
    figure.axes[0].set_ylabel("F1, %")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right center")


PLOTS = {
    "rounds": Plot("hits@1 after each round of Easy-to-Hard with joint decisions", rounds_data, draw_rounds),
    "reliability": Plot("share of best candidates that are right, by their probability", reliability_data, draw_reliability),
    "costs": Plot("hits@1 against seconds, ZH-EN", costs_data, draw_costs, (7.0, 4.5)),
    "review": Plot("F1 after so many decisions of a simulated reviewer", review_data, draw_review, (10.0, 2.8)),
    "growth": Plot("seconds and memory against size", growth_data, draw_growth, (7.0, 2.8)),
}


def _table2(results: Results, metric: str) -> list[Line]:
    """The lines of Table 2 that have a figure, without rows of other settings."""
    ours = [line for line in results.of("table2") if line["split"] == CANONICAL and metric in line["metrics"]]
    return [line for line in ours if "," not in line["system"]]


def plain_systems(results: Results) -> set[str]:
    """The systems without reasoning."""
    suffixes = tuple(suffix for suffix in VARIANTS if suffix)
    return {line["system"] for line in [*results.of("table2"), *results.of(BASELINE)] if not line["system"].endswith(suffixes)}


def _row_of_axes(figure: Any, count: int) -> list[Any]:
    return list(figure.subplots(1, count, squeeze=False)[0])
