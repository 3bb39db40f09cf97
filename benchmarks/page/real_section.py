"""The section about real graphs and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.page.markdown import mean, section, table
from benchmarks.results import Results
from kgalign.bench.equal_names import EQUAL_NAMES
from kgalign.bench.real import OPEN, REAL, SWAPPED
from kgalign.bench.results import Line
from kgalign.models import DEFAULT, make_model

INTRODUCTION = (
    "Sets of two graphs or tables that people have published, with gold links (`kgalign bench real --data FOLDER`): records, ontologies, "
    "thesauri, web directories and tables. They are read as they are, and aligned without seeds and with the default options, except for the "
    "cardinality of sets that say that theirs is one-to-many. Default weights were chosen on small graphs without seeds (below) and on links "
    "held out of the seeds of DBP15K. Figures and errors of earlier versions were seen on these sets, and decided between variants of the "
    "method, such as how equal names, copies and shared neighbours count. So they are not figures of unseen sets.\n\n"
    "A link counts if its probability is above 0.5. Gold links are often only a part of what is true, so each set says which links are judged. "
    "**C**: all links. **K**: links with an end of a type that gold entities have; all links for tables. **T**: links with an end in a gold "
    "link. A set of several pairs has the sum of their counts. A set that cannot be read has an F1 of 0.\n\n"
    "*Equal names* is the baseline: it links entities with an equal label, or an equal end of the IRI where there is no label, and for tables "
    "the rows with the most similar words. *Best peer* is a published F1 of another system, where we know of one; "
    "it was often measured under other conditions, for instance on pairs that were chosen beforehand. "
    "*Right above 0.9*: how many of the links above 0.9 are right. *Expected and right*: the sum of the probabilities of all judged links, and "
    "how many of them are right; the two are close if the probabilities mean what they say. *Swapped*: the F1 if the target is the source. "
    "Runs had one core of a machine that did other work too, so that they would take less alone."
)
HEADER = (
    "set",
    "what it is",
    "judged",
    EQUAL_NAMES,
    "best peer",
    "precision",
    "recall",
    "F1",
    "right above 0.9",
    "expected and right",
    "seconds",
    "MiB",
    "F1 swapped",
)
NOT_MEASURED = "not measured"
NOTICEABLE = 0.0005


def real_graphs(results: Results) -> str:
    """Real graphs and tables, one row a set; empty if none was measured."""
    found = results.of_other_datasets(REAL)
    if not found:
        return ""
    baseline, ours, swapped = (_by_set(found, *kind) for kind in ((EQUAL_NAMES, OPEN), (DEFAULT, OPEN), (DEFAULT, SWAPPED)))
    sets = list(dict.fromkeys(line["pair"] for line in found))
    rows = [_row(name, baseline.get(name), ours.get(name), swapped.get(name)) for name in sets]
    means = [_mean_f1(lines.values()) for lines in (baseline, ours, swapped)]
    rows.append(["mean", "", "", means[0], "", "", "", means[1], "", "", "", "", means[2]])
    errors = [f"- {name}: {line['metrics']['error']}" for name, line in ours.items() if "error" in line["metrics"]]
    return section(
        "## Real graphs",
        INTRODUCTION,
        table(HEADER, rows),
        _beside_names(baseline, ours),
        "\n".join(["Sets that could not be read, or only in part:\n", *errors]) if errors else "",
        f"Measured on {' and '.join(sorted({line['hardware'] for line in ours.values()}))}." if ours else "",
    )


def negative_evidence(results: Results) -> str:
    """What the default model is without a kind of negative evidence on real graphs; empty if it was not measured."""
    found = results.of_other_datasets(REAL)
    whole = _by_set(found, DEFAULT, OPEN)
    rows = []
    for system in (DEFAULT, *(f"{DEFAULT}, without {part}" for part in make_model(DEFAULT).capabilities.parts)):
        lines = _by_set(found, system, OPEN)
        if len(lines) == len(whole) > 0:
            rows.append([system, *_summary(lines, whole)])
    text = (
        "The same sets without one kind of negative evidence (`kgalign bench real --set without=...`): means over the sets, "
        "the links above 0.9 of all sets together, and the sets whose F1 is higher or lower by more than 0.0005 than with everything. "
        "Different codes and values cost links of records that are full of mistakes. They stay because few of these sets have namesakes: "
        "two films of one title that differ in year, length and identifier are linked for certain without them, and not with them "
        "(`tests/test_literals.py`)."
    )
    header = ("", "precision", "recall", "F1", "right above 0.9", "sets higher", "sets lower")
    return section("### Negative evidence on real graphs", text, table(header, rows)) if len(rows) > 1 else ""


def _summary(lines: dict[str, Line], whole: dict[str, Line]) -> list[str]:
    """Means over the sets, and how many sets are better or worse than with everything."""
    figures = [line["metrics"] for line in lines.values()]
    gains = [line["metrics"]["f1"] - whole[name]["metrics"]["f1"] for name, line in lines.items()]
    right, above = (sum(one[name] for one in figures) for name in ("right_above_0.9", "links_above_0.9"))
    return [
        *(f"{mean(one[name] for one in figures):.4f}" for name in ("precision", "recall", "f1")),
        f"{right:,} of {above:,}",
        str(sum(gain > NOTICEABLE for gain in gains)),
        str(sum(gain < -NOTICEABLE for gain in gains)),
    ]


def _row(name: str, baseline: Line | None, ours: Line | None, swapped: Line | None) -> list[str]:
    about = next(line for line in (ours, swapped, baseline) if line is not None)["options"]["set"]
    peer = "" if about["peer"] is None else f"{about['peer']:.3f} ({about['peer_name']})".removesuffix(" ()")
    cells = [name, about["kind"], about["judged"], _f1(baseline), peer]
    if ours is None:
        cells += [NOT_MEASURED, *[""] * 6]
    else:
        metrics = ours["metrics"]
        cells += [f"{metrics[figure]:.3f}" for figure in ("precision", "recall", "f1")]
        cells += [
            f"{metrics['right_above_0.9']:,} of {metrics['links_above_0.9']:,}",
            f"{metrics['expected_right']:,.0f} and {metrics['right']:,}",
            f"{ours['seconds']:.1f}",
            f"{ours['peak_mb'] or 0:,}",
        ]
    return [cell.replace("|", "\\|") for cell in (*cells, _f1(swapped))]


def _beside_names(baseline: dict[str, Line], ours: dict[str, Line]) -> str:
    """The sentence on sets where equal names are better."""
    both = [name for name in ours if name in baseline]
    below = [name for name in both if ours[name]["metrics"]["f1"] < baseline[name]["metrics"]["f1"]]
    if not both:
        return ""
    if not below:
        return f"The F1 is at or above that of equal names on all {len(both)} sets."
    return f"The F1 is below that of equal names on {len(below)} of {len(both)} sets: {', '.join(below)}."


def _by_set(lines: Sequence[Line], system: str, protocol: str) -> dict[str, Line]:
    """The lines of a system in a protocol; of several seeds the lowest."""
    chosen = [line for line in lines if (line["system"], line["protocol"]) == (system, protocol)]
    return {line["pair"]: line for line in sorted(chosen, key=lambda line: -line["seed"])}


def _f1(line: Line | None) -> str:
    return NOT_MEASURED if line is None else f"{line['metrics']['f1']:.3f}"


def _mean_f1(lines: Iterable[Line]) -> str:
    figures = [line["metrics"]["f1"] for line in lines]
    return f"{mean(figures):.3f}" if figures else NOT_MEASURED
