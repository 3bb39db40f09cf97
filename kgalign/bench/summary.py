"""Lines of results as rows of a table: mean and spread over seeds and folds, beside the paper's figures."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from kgalign.bench import paper
from kgalign.bench.results import CANONICAL, DEVELOPMENT, Line


def summarise(lines: Sequence[Line]) -> tuple[list[str], list[list[str]]]:
    """The header, and one row for each system: hits@1 in percent for each pair, in parentheses the paper's figure and the difference."""
    found = {line["pair"] for line in lines}
    pairs = [*(pair for pair in paper.PAIRS if pair in found), *sorted(found.difference(paper.PAIRS))]
    has_gains = any("gain" in line["metrics"] for line in lines)
    kinds = list(dict.fromkeys(_kind(line) for line in lines))
    several = len({links for _, links, _ in kinds}) > 1
    rows = []
    for kind in kinds:
        system, links, _ = kind
        chosen = [line for line in lines if _kind(line) == kind]
        cells = [_cell([line for line in chosen if line["pair"] == pair], pair) for pair in pairs]
        name = f"{system}, {links}" if several else system
        gain = [gain_text(chosen)] if has_gains else []
        rows.append([name, *cells, *gain, f"{_mean(line['seconds'] for line in chosen):.1f}"])
    return ["", *pairs, *(["gain by reasoning"] if has_gains else []), "seconds"], rows


def mean_and_spread(values: Sequence[float]) -> str:
    """The mean of fractions in percent, with the standard deviation if there are several."""
    spread = f" ± {100 * statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{100 * _mean(values):.2f}{spread}"


def gain_text(lines: Sequence[Line]) -> str:
    """The mean gain over plain decoding, the widest of its 95 % intervals and the largest p; empty if no line has a gain."""
    gains = [line["metrics"] for line in lines if "gain" in line["metrics"]]
    if not gains:
        return ""
    lows, highs = zip(*(metrics["gain_interval"] for metrics in gains), strict=True)
    p = max(metrics["gain_p"] for metrics in gains)
    return (
        f"{100 * _mean(metrics['gain'] for metrics in gains):+.2f} [{100 * min(lows):+.2f}, {100 * max(highs):+.2f}], {p_text(p)}"
    )


def p_text(p: float) -> str:
    """A p-value; a thousand draws cannot show a smaller one than the bound."""
    return "p < 0.01" if p < 0.01 else f"p = {p:.2f}"


def _cell(lines: Sequence[Line], pair: str) -> str:
    if not lines:
        return ""
    hits = [line["metrics"]["hits@1"] for line in lines]
    theirs = (
        paper.printed(lines[0]["system"], pair) if (lines[0]["experiment"], lines[0]["split"]) == ("table2", CANONICAL) else None
    )
    beside = f" ({theirs:.2f}, {100 * _mean(hits) - theirs:+.2f})" if theirs is not None else ""
    return mean_and_spread(hits) + beside


def _kind(line: Line) -> tuple[str, str, str]:
    """System, kind of test links and experiment: lines with the same kind are one row."""
    return line["system"], DEVELOPMENT if line["split"] == DEVELOPMENT else line["protocol"], line["experiment"]


def _mean(values: Iterable[float]) -> float:
    return statistics.fmean(values)
