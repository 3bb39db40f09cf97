"""The sections about the models that train: time and memory, calibration, and GM more closely."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.page.markdown import NAMES_OF_PAIRS, by_system, cells_by_pair, mean, name_of, percent, section, table
from benchmarks.page.paper_tables import table2_lines
from benchmarks.page.plots import picture, plain_systems
from benchmarks.results import Results
from kgalign.bench.paper import PAIRS
from kgalign.bench.results import Line


def training_costs(results: Results) -> str:
    """Epochs, seconds and memory of the trainings: side by side on a GPU and, by the seconds of an epoch, alone on a GPU and on a CPU."""
    plain = {system for system in plain_systems(results) if "," not in system}
    found = [line for line in table2_lines(results) if "epochs" in line["metrics"] and line["system"] in plain]
    on_gpu, on_cpu = (
        {line["system"]: line for line in results.of(name) if line["pair"] == PAIRS[0]} for name in ("epochs_gpu", "epochs")
    )
    rows = []
    for system, chosen in by_system(found).items():
        metrics = [line["metrics"] for line in chosen]
        epochs, seconds = (mean(figures[name] for figures in metrics) for name in ("epochs", "training_seconds"))
        row = [system, f"{epochs:.0f}", f"{seconds:.0f}", f"{max(figures['training_peak_mb'] for figures in metrics):,}"]
        row += _estimated(on_gpu.get(system), epochs, 1, 2)
        row += [
            *_estimated(on_cpu.get(system), epochs, 3600, 1),
            f"{on_cpu[system]['metrics']['peak_mb']:,}" if system in on_cpu else "",
        ]
        rows.append(row)
    text = (
        "A tenth of the seeds picks the epoch. Models that give entities vectors are then trained on all seeds for as many epochs, and the "
        "seconds are those of both trainings. Four to sixteen trainings ran side by side on the GPU. The time of one training alone is "
        "estimated from ten epochs on ZH-EN (`python -m benchmarks.measure.epochs`): the epochs up to the best one, those after it until "
        "training stopped, and the same number again with all seeds. Evaluations on development links are not counted. MiB are those of the "
        "GPU, or those of the whole process on a CPU."
    )
    header = (
        "",
        "epochs",
        "GPU, side by side: seconds",
        "MiB",
        "GPU: seconds an epoch",
        "seconds, estimated",
        "CPU: seconds an epoch",
        "hours, estimated",
        "MiB of the process",
    )
    machines = f"Measured on {_machines([*found, *on_cpu.values()])}."
    return section("### What training takes", text, table(header, rows), machines, picture("costs", results)) if rows else ""


def calibration(results: Results) -> str:
    """The reliability curve; empty if no line has one."""
    shown = picture("reliability", results)
    text = (
        "A probability should mean what it says: eight of ten links with a probability of 0.8 should be right. Before calibration, "
        "probabilities are the softmax of the scores. After it, they have the temperature and the no-match score that were fitted on links "
        "held out of the seeds. ZH-EN, systems without reasoning, ten bins."
    )
    return section("### Probabilities before and after calibration", text, shown) if shown else ""


def refitted(results: Results) -> str:
    """Confident links as seeds of a new training; empty if no line has it."""
    found = [line for line in table2_lines(results) if line["system"].endswith(", refitted")]
    text = (
        "Confident links become seeds of a new training, instead of changing the input of the trained network; two new trainings."
    )
    rows = [[system, *cells_by_pair(chosen)] for system, chosen in by_system(found).items()]
    return section("### Refitted", text, table(("", *NAMES_OF_PAIRS), rows)) if found else ""


def gm_details(results: Results) -> str:
    """The paper's own model more closely, and with other settings."""
    found = [line for line in table2_lines(results) if line["system"].startswith("GM")]
    rows = []
    for system, chosen in by_system(found).items():
        first = [line["metrics"] for line in chosen if line["pair"] == PAIRS[0]]
        names = ("hits@10", "candidate_recall", "many_to_one", "accuracy_above_0.9")
        figures = [percent(mean(metrics[name] for metrics in first)) if first else "" for name in names]
        rows.append([system, *cells_by_pair(chosen), *figures])
    text = (
        "12 epochs at most; a tenth of the seeds picks the epoch. Our GM has more input than the paper's: character n-grams beside words, "
        "neighbours that point to the topic entity, candidates from the graph, a listwise loss and, in the rows with EHD, the seeds as "
        "evidence. *As published* has no n-grams, no candidates from the graph and no listwise loss. *Ids shuffled*: all target ids are in "
        "random order, which shows that the order of files does not help (6 epochs). The last four columns are for ZH-EN."
    )
    header = ("", *NAMES_OF_PAIRS, "hits@10", "recall of lists", "many-to-one", "right above p = 0.9")
    return section("## gm, the paper's own model", text, table(header, rows), f"Measured on {_machines(found)}.")


def gm_speed(results: Results) -> str:
    """Seconds of training and of each round; empty if they were not measured."""
    rows = [
        [
            name_of(line["pair"]),
            "GPU" if "NVIDIA" in line["hardware"] else line["hardware"].split(",")[0],
            f"{line['metrics']['training_seconds']:.0f} for {line['metrics']['epochs']} epochs",
            f"{line['metrics']['pairs_per_second']:,.0f}",
            ", ".join(f"{seconds:.1f}" for seconds in line["metrics"]["round_seconds"]),
            ", ".join(f"{pairs:,}" for pairs in line["metrics"]["round_pairs"]),
        ]
        for line in results.of("gm_speed")
    ]
    header = (
        "pair",
        "on",
        "seconds of training",
        "pairs scored in a second",
        "seconds of each round",
        "pairs scored in each round",
    )
    text = "The speed of gm; the GPU was shared with other trainings. Later rounds score only pairs with new evidence."
    return f"{text}\n\n{table(header, rows)}\n" if rows else ""


def _estimated(line: Line | None, epochs: float, unit: int, digits: int) -> list[str]:
    """The seconds of an epoch, and the time of a whole training with that many epochs to the best one; empty without a line."""
    if line is None:
        return ["", ""]
    seconds, options = line["metrics"]["seconds_an_epoch"], line["options"]
    tried = min(epochs + options["patience"] * options["evaluate_every"], options["epochs"])
    return [f"{seconds:.{digits}f}", f"{seconds * (tried + epochs) / unit:.{0 if unit == 1 else 1}f}"]


def _machines(found: Sequence[Line]) -> str:
    return "; ".join(dict.fromkeys(line["hardware"] for line in found))
