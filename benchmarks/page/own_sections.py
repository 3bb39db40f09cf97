"""The sections about our own work: the default model, names alone, growth, reading, and the assignment solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.page.markdown import NAMES_OF_PAIRS, by_system, cells_by_pair, mean, name_of, percent, section, seeds_text, table
from benchmarks.page.plots import picture
from benchmarks.results import Results
from kgalign.bench.ablation import ablation_rows
from kgalign.bench.paper import PAIRS, TABLE2
from kgalign.bench.results import Line
from kgalign.bench.summary import mean_and_spread
from kgalign.models import BASELINE, DEFAULT, make_model


def default_model(results: Results) -> str:
    """The default model with and without seeds and names, between the row of names alone and the paper's best."""
    found = [line for line in results.of(DEFAULT) if line["protocol"] == "closed"]
    names = [line for line in results.of(BASELINE) if line["protocol"] == "closed" and line["system"] == BASELINE]
    rows = []
    for system, chosen in by_system([*names, *found]).items():
        cells = [system, *cells_by_pair(chosen)]
        everything = [line["metrics"] for line in chosen]
        alone = [line for line in chosen if line["peak_mb"]]  # the others compiled code, too
        cells += [
            f"{mean(metrics['ece'] for metrics in everything):.3f}",
            percent(mean(metrics["accuracy_above_0.9"] for metrics in everything)),
            f"{mean(line['seconds'] for line in alone):.0f}",
            f"{max(line['peak_mb'] for line in alone):,}",
        ]
        rows.append(cells)
    rows.append(["GM-EHD-JEA (paper)", *(f"{figure:.2f}" for figure in TABLE2["GM-EHD-JEA"]), "", "", "", ""])
    text = (
        "`fast` compares names and the known links around two entities, with Easy-to-Hard and joint decisions (`kgalign align FOLDER`, no "
        "option set). *No seeds*: the model gets no seed. *No names*: all names are empty. Closed protocol, hits@1 in percent, mean and "
        "spread over seeds. The other columns are means over the three pairs: the expected calibration error (ECE), the share of right links "
        "among those above a probability of 0.9, the seconds with reading; and the highest peak of memory in MiB. Each run has a process of "
        "its own. Runs of `fast` had one core each of a machine that did other work too, so that they would take less alone. Options were "
        "chosen on links held out of the seeds. The test "
        "figures of each version were seen before the next version was built, so these figures are not from a single evaluation on the test "
        "links."
    )
    header = ("", *NAMES_OF_PAIRS, "ECE", "right above p = 0.9", "seconds", "MiB")
    return section(f"## {DEFAULT}, the default model", text, table(header, rows))


def default_model_open(results: Results) -> str:
    """The default model where many queries have no match."""
    return (
        "The same in the open protocol. Precision counts the links that touch a gold link. *Plain threshold*: each query takes its best "
        "candidate if its probability is above 0.5, even if another query has taken it too. Links are listed from a probability of about 0.1. "
        f"That limit was chosen on links held out of the seeds, but after test figures at 0.3 had been seen. {_open_table(results, DEFAULT)}\n"
    )


def small_graphs(results: Results) -> str:
    """Small graphs without seeds; empty if they were not measured."""
    found = results.of("small")
    rows = []
    for line in found:
        metrics, options = line["metrics"], line["options"]
        shares = ("precision", "recall", "f1", "links_right", "links_probability", "links_above_0.9_right")
        about = [name_of(line["pair"].split(",")[0]), str(options["entities"]), f"{options['shared']:.0%}"]
        rows.append([*about, str(metrics["graphs"]), *(percent(metrics[name]) for name in shares)])
    text = (
        "Parts of DBP15K (`python -m benchmarks.measure.small`): entities around one another whose counterparts are known from the seeds. A "
        "share of the entities is in both graphs; each other entity is in one of them. The model gets no seed, and no test link is used. "
        "Precision, recall and F1 count the links above 0.5. *Links right* is the share of all listed links that are right, *expected* the "
        "mean of their probabilities, and *above 0.9 right* the share of right links among those above 0.9. The defaults that `fast` uses "
        "without seeds were chosen on such parts of ZH-EN and FR-EN, none on JA-EN."
    )
    header = ("", "entities", "in both", "graphs", "precision", "recall", "F1", "links right", "expected", "above 0.9 right")
    return section("### Small graphs without seeds", text, table(header, rows), earlier_version(found, results)) if found else ""


def ablation(results: Results) -> str:
    """How much each part of the default model brings."""
    found = results.of("ablation")
    text = (
        f"Closed protocol, hits@1 in percent. {seeds_text(found)} "
        "The first rows add one part after another: kinds of evidence in the order in "
        "which the model declares them, then joint decisions, then Easy-to-Hard. *Confident links only*: only confident links are fed back. "
        "*+ soft evidence*: all plausible links are fed back, with their probabilities. *+ all entities*: links between all entities are "
        "evidence, not only those between queries and candidates. The rows below take one part out of the whole. *No names*: all names are "
        "empty; the whole stands in the table of `fast` above. Kinds of evidence that DBP15K does not have have no row. "
        "With many seeds, anchors and the search among the rest bring little or nothing; anchors are there for few seeds, where they "
        "keep islands out (above). Cells that are empty were not measured with this version."
    )
    measured = by_system(found)
    declared = ablation_rows(DEFAULT, make_model(DEFAULT).capabilities.parts)
    rows = [[system, *cells_by_pair(measured[system]), *_trusted(measured[system])] for system in declared if system in measured]
    header = ("", *NAMES_OF_PAIRS, "ECE (ZH)", "right above p = 0.9 (ZH)")
    return section("### What each part brings", text, table(header, rows), earlier_version(found, results))


def _trusted(lines: Sequence[Line]) -> list[str]:
    """How far the probabilities on the first pair can be trusted: the ECE, and the share of right links above 0.9."""
    figures = [line["metrics"] for line in lines if line["pair"] == PAIRS[0]]
    return (
        [f"{mean(one['ece'] for one in figures):.3f}", percent(mean(one["accuracy_above_0.9"] for one in figures))]
        if figures
        else ["", ""]
    )


def earlier_version(found: Sequence[Line], results: Results) -> str:
    """A sentence where lines were measured with another version than all those of the default model on DBP15K; else empty."""
    present = {line["commit"] for line in results.of(DEFAULT)}
    others = sorted({line["commit"] for line in found} - present)
    return (
        f"Measured with another version of the engine than `fast` on DBP15K above (commit {', '.join(others)})."
        if others and present
        else ""
    )


def growth(results: Results) -> str:
    """Time and memory by size."""
    rows = []
    for line in results.of("scale"):
        metrics = line["metrics"]
        if not metrics["finished"]:
            rows.append([line["pair"], "", "", "", f"not in {line['seconds']:,.0f}", *[""] * 7])
            continue
        sizes = [" and ".join(f"{size:,}" for size in metrics[what]) for what in ("entities", "triples")]
        figures = [percent(metrics[name]) for name in ("hits@1", "f1")]
        rounds = str(len(metrics["seconds_rounds"]))
        checked = ("links_right", "links_probability", "links_above_0.9_right")
        shares = [percent(metrics[name]) if name in metrics else "" for name in checked]
        cores = line["hardware"].partition(" cores")[0].rpartition(" ")[2]
        rows.append([line["pair"], *sizes, cores, f"{line['seconds']:,.0f}", rounds, f"{metrics['peak_mb']:,}", *figures, *shares])
    text = (
        "Generated graphs (`benchmarks/measure/generated.py`) with degrees, relations, names and missing facts similar to DBP15K. Open "
        "protocol, 30 % seeds, confident links fed back once. "
        "Seconds and MiB do not contain the generation. A quarter of the "
        "entities has no counterpart. The gold links are complete here, so the last three columns judge all links; hits@1 and F1 do not "
        "see a link between two entities without counterparts. *Links right* is the share of all links that are right, *expected* the mean "
        "of their probabilities, and *above 0.9 right* the share of right links among those above 0.9."
    )
    header = (
        "",
        "entities",
        "triples",
        "cores",
        "seconds",
        "rounds",
        "MiB",
        "hits@1",
        "F1",
        "links right",
        "expected",
        "above 0.9 right",
    )
    return section(
        "### Growth", text, table(header, rows), earlier_version(results.of("scale"), results), picture("growth", results)
    )


def swapped(results: Results) -> str:
    """Whether source and target can change places; empty if it was not measured."""
    rows = [
        [
            line["pair"],
            line["protocol"],
            f"{line['metrics']['links']:,}",
            percent(line["metrics"]["same"] / max(line["metrics"]["links"], 1)),
            f"{line['metrics']['apart']:.4f}",
        ]
        for line in results.of("swapped")
    ]
    text = (
        "The default model without seeds, with source and target in either order (`python -m benchmarks.measure.swapped`): the share of links "
        "that are the same, in percent, and how far the probabilities of the same link are apart at most."
    )
    return section("### Either order", text, table(("", "protocol", "links", "the same", "apart"), rows)) if rows else ""


def updates(results: Results) -> str:
    """Updates beside whole runs; empty if they were not measured."""
    rows = []
    for line in results.of("update"):
        metrics = line["metrics"]
        stages = metrics["stages"]
        deciding = sum(stages["update"][name] for name in ("compare", "decide")) / sum(
            stages["whole"][name] for name in ("fit", "coordinate")
        )
        rows.append(
            [
                line["pair"],
                f"{metrics['statements_changed']:,}",
                f"{metrics['entities_changed']:,}",
                f"{metrics['decided_again']:,} of {metrics['queries']:,}",
                f"{metrics['whole_cpu']:,.0f}",
                f"{metrics['update_cpu']:,.0f}",
                percent(metrics["ratio_cpu"]),
                percent(deciding),
                percent(metrics["f1_whole"]),
                percent(metrics["f1_update"]),
            ]
        )
    text = (
        "Generated graphs of which one in a hundred statements has changed, in both: triples that are gone, new or have another tail, and "
        "names with two letters in each other's place (`python -m benchmarks.measure.update`). `kgalign align` on the changed graphs "
        "stands beside `kgalign update` of the run before the change. Both are measured as commands, with reading and writing, in seconds "
        "of the processor; *share* is their ratio in percent, and *deciding* the ratio of the times for comparing, fitting and deciding alone. "
        "F1 is that of the whole run and of the update, on the same gold links. Every link that the update does not list as changed has "
        "the same line as before."
    )
    header = (
        "",
        "statements changed",
        "entities changed",
        "decided again",
        "whole run",
        "update",
        "share",
        "deciding",
        "F1 whole",
        "F1",
    )
    return section("### Updates", text, table(header, rows)) if rows else ""


def reading(results: Results) -> str:
    """Time and memory of reading RDF; empty if it was not measured."""
    found = results.of("reading")
    if not found:
        return ""
    rows = []
    for line in found:
        metrics = line["metrics"]
        sizes = [f"{metrics[what]:,}" for what in ("file_mb", "entities", "triples", "literals")]
        seconds = f"{line['seconds']:.1f}", f"{metrics['cpu_seconds']:.1f}"
        rows.append([line["pair"], *sizes, *seconds, f"{metrics['peak_mb']:,}", f"{metrics['peak_mb_before']:,}"])
    text = (
        "Generated graphs (`python -m benchmarks.measure.reading`), each read in a process of its own: the seconds, those of the processor, "
        "which other processes change less, the peak of memory, and the memory before reading began."
    )
    header = ("", "MiB of the file", "entities", "triples", "literals", "seconds", "CPU seconds", "MiB", "MiB before")
    return section("### Reading RDF", text, table(header, rows), f"Measured on {found[0]['hardware']}.")


def names_closed(results: Results) -> str:
    """The row of names alone, and how much coordinated reasoning adds to it."""
    found = [line for line in results.of(BASELINE) if line["protocol"] == "closed"]
    rows = []
    for system, chosen in by_system(found).items():
        cells = [system, *cells_by_pair(chosen)]
        first = [line["metrics"] for line in chosen if line["pair"] == PAIRS[0]]
        cells += [percent(mean(metrics[name] for metrics in first)) for name in ("precision", "many_to_one", "accuracy_above_0.9")]
        cells.append(f"{mean(line['seconds'] for line in chosen):.1f}")
        rows.append(cells)
    text = (
        "The model that compares names and nothing else (character 1- to 3-grams, no word vectors), with the paper's two kinds of reasoning: "
        "Easy-to-Hard decoding (EHD) and joint entity alignment (JEA). Closed protocol, hits@1 in percent, mean and spread over three seeds. "
        "A seed only decides ties and draws the links that calibrate the probabilities. An unmatched query counts as wrong."
    )
    header = ("", *NAMES_OF_PAIRS, "precision (ZH)", "many-to-one (ZH)", "right above p = 0.9 (ZH)", "seconds")
    return section("## Names alone", text, table(header, rows))


def names_open(results: Results) -> str:
    return f"The same in the open protocol. {_open_table(results, BASELINE)}\n"


def solvers(results: Results) -> str:
    """Seconds of each solver on each instance."""
    found = results.of("solvers")
    instances = list(dict.fromkeys(line["pair"] for line in found))
    rows = []
    for solver, chosen in by_system(found).items():
        by_instance = {line["pair"]: line for line in chosen}
        rows.append([solver, *(_solved(by_instance.get(instance)) for instance in instances)])
    difference = max(line["metrics"]["apart"] or 0 for line in found)
    text = (
        "Exact one-to-one assignment in which a row may stay unmatched at a price (-log 0.01). The instances are real candidate lists of "
        "ZH-EN, and the same lists tiled and perturbed until one component holds nearly all rows. Seconds of one run on one machine. All "
        f"objectives agree to {difference:.0e} relative (ortools rounds costs to whole numbers)."
    )
    measured = f"Measured on {found[0]['hardware']}."
    return section("## The assignment solver", text, table(("", *instances), rows), measured)


def _open_table(results: Results, experiment: str) -> str:
    """Figures of the open protocol, and their seeds."""
    found = [line for line in results.of(experiment) if line["protocol"] == "open"]
    rows = [
        [
            system,
            name_of(pair),
            *(mean_and_spread([line["metrics"][name] for line in chosen]) for name in ("hits@1", "precision", "recall", "f1")),
        ]
        for pair in PAIRS
        for system, chosen in by_system([line for line in found if line["pair"] == pair]).items()
    ]
    return f"{seeds_text(found)}\n\n{table(('', 'pair', 'hits@1', 'precision', 'recall', 'F1'), rows)}"


def _solved(line: dict[str, Any] | None) -> str:
    if line is None:
        return "not tried"
    if not line["metrics"]["solved"]:
        return f"not in {line['options']['limit']} s" if line["seconds"] >= line["options"]["limit"] else "failed"
    return f"{line['seconds']:.2f}"
