"""The section about Splink and the default model on the same tables."""

from __future__ import annotations

from benchmarks.measure.splink_tables import SPLINK, SPLINK_WORDS, TABLES
from benchmarks.page.markdown import mean, section, table
from benchmarks.page.own_sections import earlier_version
from benchmarks.results import Results
from kgalign.bench.equal_names import EQUAL_NAMES
from kgalign.bench.results import Line
from kgalign.models import DEFAULT

INTRODUCTION = (
    "[Splink](https://github.com/moj-analytical-services/splink) links tables without labels, too: it learns by expectation maximisation how "
    "much each comparison of two columns says. Here it links the tables of the section above "
    "(`python -m benchmarks.measure.splink_tables`). All systems get the same files in one run, each in a process of its own, without seeds "
    "and with the same settings for all sets. The seconds are from the files to the links, without compilation. The links are judged as "
    "above: above 0.5, and by the same gold links, which no system sees.\n\n"
    f"*{SPLINK}* has the comparisons of its library. Columns of the same name are compared, in lower case: texts as names (Jaro-Winkler at "
    "three thresholds, with term frequencies), codes by Levenshtein distance, dates as dates of birth. For numbers it has levels, but no "
    "comparison: they are compared at 1, 3, 10 and 30 percent of difference, years exactly or one apart. Rows are compared if a column, or "
    "the first word of a text, is equal; a rule with more than 20 million pairs is left out. Rows that share a nearly unique value make the "
    "prior, with a recall of 0.7; ten million random pairs make the u probabilities; the m probabilities are trained on rows that are equal "
    "in one column. Its clustering with single best links makes the links one-to-one. "
    f"*{SPLINK_WORDS}* is the same, but with a comparison of our own for texts: the share of the words of the shorter text that both have. "
    "Splink's authors [say](https://github.com/moj-analytical-services/splink/discussions/781) that it is not intended for a column that "
    "holds a bag of words, as names of products do. Its figures vary a little from run to run, also with a seed.\n\n"
    f"*{EQUAL_NAMES}* is the baseline of the section above: rows that are each other's most similar one by TF-IDF of all words."
)
HEADER = ("set", "system", "precision", "recall", "F1", "right above 0.9", "seconds", "MiB")
ORDER = (EQUAL_NAMES, SPLINK, SPLINK_WORDS, DEFAULT)


def tables_beside_splink(results: Results) -> str:
    """Tables, one row for each set and system; empty if Splink was not measured."""
    found = results.of_other_datasets(TABLES)
    if not any(line["system"] == SPLINK for line in found):
        return ""
    lines = {(line["pair"], line["system"]): line for line in found}
    sets = list(dict.fromkeys(line["pair"] for line in found))
    rows = [_row(lines[name, system]) for name in sets for system in ORDER if (name, system) in lines]
    rows += [_means([lines[name, system] for name in sets if (name, system) in lines], system, len(sets)) for system in ORDER]
    errors = [f"- {line['pair']}, {line['system']}: {line['metrics']['error']}" for line in found if "error" in line["metrics"]]
    versions = sorted(
        {
            f"Splink {line['options']['splink']} with DuckDB {line['options']['duckdb']}"
            for line in found
            if "splink" in line["options"]
        }
    )
    measured = f"Measured on {' and '.join(sorted({line['hardware'] for line in found}))}"
    return section(
        "### Tables, beside Splink",
        INTRODUCTION,
        table(HEADER, rows),
        "\n".join(["Failed; an F1 of 0:\n", *errors]) if errors else "",
        f"{', '.join([measured, *versions])}.",
        earlier_version(found, results),
    )


def _row(line: Line) -> list[str]:
    metrics = line["metrics"]
    return [
        line["pair"],
        line["system"],
        *(f"{metrics[figure]:.3f}" for figure in ("precision", "recall", "f1")),
        f"{metrics['right_above_0.9']:,} of {metrics['links_above_0.9']:,}",
        f"{line['seconds']:.1f}",
        f"{line['peak_mb'] or 0:,}",
    ]


def _means(lines: list[Line], system: str, sets: int) -> list[str]:
    """The row of the means of a system; without figures if it was not measured on all sets."""
    if len(lines) < sets:
        return ["mean", system, *[""] * 6]
    figures = [f"{mean(line['metrics'][figure] for line in lines):.3f}" for figure in ("precision", "recall", "f1")]
    costs = mean(line["seconds"] for line in lines), mean(line["peak_mb"] or 0 for line in lines)
    return ["mean", system, *figures, "", f"{costs[0]:.1f}", f"{costs[1]:,.0f}"]
