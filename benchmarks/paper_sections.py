"""The sections of the page of results that stand beside tables of the paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.markdown import (
    NAMES_OF_PAIRS,
    by_system,
    cells_by_pair,
    hits_of,
    mean,
    name_of,
    percent,
    section,
    seeds_text,
    table,
)
from benchmarks.plots import picture
from benchmarks.results import lines, lines_by_folder
from kgalign.bench.decisions import VARIANTS
from kgalign.bench.paper import PAIRS, TABLE3, TABLE4, printed
from kgalign.bench.results import CANONICAL, Line
from kgalign.bench.summary import gain_text, mean_and_spread

ORDER = ("JE", "MTransE", "JAPE", "IPTransE", "GCN", "AlignE", "BootEA", "RDGCN", "GM")  # about the paper's; others follow


def table2() -> str:
    """All systems, each plain, joint, easy-to-hard and both: ours, the paper's, and the difference."""
    found = _table2_lines()
    names = [line for line in lines("names") if line["protocol"] == "closed" and line["system"] == "names"]
    rows = [["names", *_beside_the_paper("names", names)]] if "names" not in by_system(found) else []
    rows += [[system, *_beside_the_paper(system, chosen)] for system, chosen in by_system(found).items() if "," not in system]
    header = [""] + [f"{name}{what}" for name in NAMES_OF_PAIRS for what in ("", ", paper", ", difference")]
    text = (
        "hits@1 in percent, closed, mean and spread (standard deviation) of the seeds that were run; alpha 0.75, unmatched sources take their "
        "best candidate. JEA: joint entity alignment; EHD: Easy-to-Hard decoding. One training for each system, pair and seed, from which "
        "all four rows come; GM has two, with simulated easy pairs for the rows with EHD and without for the others. Where a cell is "
        "empty, the paper has nothing. AlignE is BootEA without bootstrapping. `names` sees similar names and nothing else. "
        "Where ours is far above the paper it has more to go by: RDGCN and GM start from character n-grams beside GloVe, the translation "
        "models learn against several wrong triples at a time and have wider vectors."
    )
    return section("## The paper's Table 2", text, table(header, rows), _below(found), picture("rounds"))


def gains() -> str:
    """Whether reasoning helped, by a paired bootstrap over the test links."""
    told = [line for line in _table2_lines() if "gain" in line["metrics"]]
    if not told:
        return ""
    rows = [
        [system, *(gain_text([line for line in chosen if line["pair"] == pair]) for pair in PAIRS)]
        for system, chosen in by_system(told).items()
    ]
    text = (
        "How much hits@1 is above that of the same system without reasoning, in percent points: the mean over seeds, the widest of the "
        "seeds' 95 % intervals, and the largest of their p-values. Intervals and p-values are of a paired bootstrap: test links are drawn "
        "anew a thousand times, each with what both systems made of it. They tell how far chance in the test links may reach, not chance in "
        "training; that is what the spread over seeds is for."
    )
    return section("### What reasoning brings", text, table(("", *NAMES_OF_PAIRS), rows))


def training_costs() -> str:
    """Epochs, seconds and memory of the trainings, side by side on a GPU and, by what an epoch takes, alone on a GPU and on a CPU."""
    plain = _plain(_table2_lines())
    found = [line for line in _table2_lines() if "epochs" in line["metrics"] and line["system"] in plain]
    on_gpu, on_cpu = (
        {line["system"]: line for line in lines(name) if line["pair"] == PAIRS[0]} for name in ("epochs_gpu", "epochs")
    )
    rows = []
    for system, chosen in by_system(found).items():
        metrics = [line["metrics"] for line in chosen]
        epochs, seconds = (mean(figures[name] for figures in metrics) for name in ("epochs", "training_seconds"))
        row = [system, f"{epochs:.0f}", f"{seconds:.0f}", f"{max(figures['training_peak_mb'] for figures in metrics):,}"]
        row += _reckoned(on_gpu.get(system), epochs, 1, 2)
        row += [
            *_reckoned(on_cpu.get(system), epochs, 3600, 1),
            f"{on_cpu[system]['metrics']['peak_mb']:,}" if system in on_cpu else "",
        ]
        rows.append(row)
    text = (
        "Epochs are picked on a tenth of the seeds. Those that give entities vectors are then trained on all seeds for as many, and seconds "
        "are of both trainings together. On the GPU four to sixteen ran side by side. What one takes alone is reckoned from ten epochs on "
        "ZH-EN (`python -m benchmarks.epochs`): the epochs to the best one, those until training gave up on a better one, and the same again "
        "with all seeds; looks at development links are not counted. MiB are of the GPU, or of the whole process on a CPU."
    )
    header = (
        "",
        "epochs",
        "GPU, side by side: seconds",
        "MiB",
        "GPU: seconds an epoch",
        "seconds, reckoned",
        "CPU: seconds an epoch",
        "hours, reckoned",
        "MiB of the process",
    )
    machines = f"Measured on {_machines([*found, *on_cpu.values()])}."
    return section("### What training takes", text, table(header, rows), machines, picture("costs")) if rows else ""


def _reckoned(line: Line | None, epochs: float, unit: int, digits: int) -> list[str]:
    """What an epoch takes, in seconds, and what a whole training does that is best after so many; empty where it was not measured."""
    if line is None:
        return ["", ""]
    seconds, options = line["metrics"]["seconds_an_epoch"], line["options"]
    tried = min(epochs + options["patience"] * options["look_every"], options["epochs"])
    return [f"{seconds:.{digits}f}", f"{seconds * (tried + epochs) / unit:.{0 if unit == 1 else 1}f}"]


def calibration() -> str:
    """The reliability curve, where lines have it."""
    shown = picture("reliability")
    text = (
        "A probability is to mean what it says: of the pairs with 0.8, eight in ten are to be right. Before: the softmax of the scores as they "
        'are. After: with the temperature and the score of "none of these" that were fitted on links held out of the seeds. ZH-EN, systems '
        "without reasoning, ten bins."
    )
    return section("### Probabilities before and after calibration", text, shown) if shown else ""


def refitted() -> str:
    """Easy pairs as seeds of a new training."""
    found = [line for line in _table2_lines() if line["system"].endswith(", refitted")]
    text = "Easy pairs become seeds of a new training, instead of sharing what the network knows of them; two such trainings."
    rows = [[system, *cells_by_pair(chosen)] for system, chosen in by_system(found).items()]
    return section("### Refitted", text, table(("", *NAMES_OF_PAIRS), rows)) if found else ""


def gm_details() -> str:
    """The paper's own model more closely, and under other settings."""
    found = [line for line in _table2_lines() if line["system"].startswith("GM")]
    rows = []
    for system, chosen in by_system(found).items():
        first = [line["metrics"] for line in chosen if line["pair"] == PAIRS[0]]
        told = ("hits@10", "candidate_recall", "many_to_one", "accuracy_above_0.9")
        figures = [percent(mean(metrics[name] for metrics in first)) if first else "" for name in told]
        rows.append([system, *cells_by_pair(chosen), *figures])
    text = (
        "12 epochs at most, the epoch picked on a tenth of the seeds. Ours has more to go by than the paper's: character n-grams beside "
        "words, neighbours that point to the topic, candidates by the graph too, a loss over lists, and, in the rows with EHD, the seeds as "
        "evidence. *As published* is without n-grams, graph candidates and the listwise loss. *Ids shuffled*: all target ids at random, to "
        "show that no order of files helps (6 epochs). The last four columns are of ZH-EN."
    )
    header = ("", *NAMES_OF_PAIRS, "hits@10", "recall of lists", "many-to-one", "right above p = 0.9")
    return section("## gm, the paper's own model", text, table(header, rows), f"Measured on {_machines(found)}.")


def table3() -> str:
    """The paper's Table 3 beside ours."""
    found = lines("table3")
    rows = []
    for pair in PAIRS:
        for system, chosen in by_system([line for line in found if line["pair"] == pair]).items():
            tau = chosen[0]["options"]["tau"]
            sizes = [f"{mean(line['metrics'][name] for line in chosen):,.0f}" for name in ("sub_spaces", "largest_sub_space")]
            figures = [f"{mean(line['seconds'] for line in chosen):.2f}", mean_and_spread(hits_of(chosen, pair))]
            paper = TABLE3.get(tau, ("", "", "")) if pair == "fr_en" else ("", "", "")
            rows.append([name_of(pair), system.partition("-")[0], f"{tau:.2f}", *sizes, *figures, *paper])
    text = (
        "Joint entity alignment after candidates below tau are dropped; sources that stay unmatched take their best candidate, as in the "
        "paper, which has the scores of GM, FR-EN only. The optimum over everything, tau 0, is the best row and takes hardly longer than the "
        f"others: there is no need to forget candidates. {seeds_text(found)}"
    )
    header = (
        "pair",
        "scores of",
        "tau",
        "sub-spaces",
        "largest",
        "seconds",
        "hits@1",
        "paper: largest",
        "paper: time",
        "paper: hits@1",
    )
    return section("## The paper's Table 3: sub-spaces by tau", text, table(header, rows))


def table4() -> str:
    """The paper's Table 4 beside ours."""
    found = lines("table4")
    rows = []
    for system, chosen in sorted(by_system(found).items(), key=lambda item: _alpha(item[0]) or 1, reverse=True):
        paper = TABLE4.get(_alpha(system), ("", "", "")) if system.startswith("GM") else ("", "", "")
        cells = [cell for ours, theirs in zip(cells_by_pair(chosen), paper, strict=True) for cell in (ours, _two_digits(theirs))]
        rows.append([system, *cells, f"{mean(line['metrics']['rounds'] for line in chosen):.1f}"])
    header = [""] + [f"{name}{what}" for name in NAMES_OF_PAIRS for what in ("", ", paper")] + ["looks"]
    text = (
        "hits@1 on development links (450 of the seeds, which also pick the epoch), by the probability above which a pair is easy. The paper "
        "does not say which links its development set has; its best alpha is 0.75, and below it wrong pairs pull others along. Ours does not "
        "fall there; it decides anew in each round and can take a pair back, which the paper's does not. "
        f"{seeds_text(found)}"
    )
    return section("## The paper's Table 4: what alpha does", text, table(header, rows)) if found else ""


def choices() -> str:
    """The two options, simulated easy pairs, all entities, both readings of the matching layer."""
    parts = []
    for experiment, text in (
        (
            "gm_options_dev",
            "Option 1 (evidence plugged into the baseline) and option 2 (trained with up to k simulated easy pairs), on development links. "
            "The paper finds option 2 better, and two pairs enough.",
        ),
        ("gm_options", "The same on test links."),
        (
            "gm_all_entities",
            "Easy pairs among the test entities alone, and among all entities; test links. The paper finds that all entities help, and then "
            "more than two simulated pairs too.",
        ),
        ("gm_choice", "Both readings of the matching layer, on development links."),
    ):
        found = lines(experiment)
        if found:
            parts += [f"{text} {seeds_text(found)}", _by_system_and_pair(found)]
    return section("## What the paper tried besides", *parts) if parts else ""


def gm_speed() -> str:
    rows = [
        [
            name_of(line["pair"]),
            "GPU" if "NVIDIA" in line["hardware"] else line["hardware"].split(",")[0],
            f"{line['metrics']['training_seconds']:.0f} for {line['metrics']['epochs']} epochs",
            f"{line['metrics']['pairs_per_second']:,.0f}",
            ", ".join(f"{seconds:.1f}" for seconds in line["metrics"]["round_seconds"]),
            ", ".join(f"{pairs:,}" for pairs in line["metrics"]["round_pairs"]),
        ]
        for line in lines("gm_speed")
    ]
    header = ("pair", "on", "seconds of training", "pairs scored a second", "seconds of each look", "pairs scored in each look")
    text = "How fast gm is; the GPU was shared with other trainings. Later looks score what has changed."
    return f"{text}\n\n{table(header, rows)}\n" if rows else ""


def other_datasets() -> str:
    """Systems on datasets with folds."""
    found = lines_by_folder("table2")
    if not found:
        return ""
    pairs = list(dict.fromkeys(line["pair"] for line in found))
    rows = [
        [system, *(mean_and_spread(hits) if (hits := hits_of(chosen, pair)) else "" for pair in pairs)]
        for system, chosen in by_system(found).items()
    ]
    text = (
        "Folders in the format of OpenEA (`kgalign bench table2 --data FOLDER`): hits@1 in percent, closed, mean and spread over folds and "
        "seeds. Seeds are the training links of a fold; its validation links are left alone."
    )
    return section("## Other datasets", text, table(("", *pairs), rows))


def _table2_lines() -> list[Line]:
    """All lines of Table 2, in the order of the paper's systems, and each plain, joint, easy-to-hard, both, and what is left."""
    found = [line for line in lines("table2") if line["split"] == CANONICAL]
    return sorted(found, key=lambda line: _place(line["system"]))


def _place(system: str) -> tuple[bool, int, str, str, int]:
    row, _, setting = system.partition(",")
    base, _, variant = row.partition("-")
    suffixes = [suffix.removeprefix("-") for suffix in VARIANTS]
    at = suffixes.index(variant) if variant in suffixes else len(suffixes)
    return base not in ORDER, ORDER.index(base) if base in ORDER else 0, base, setting, at


def _plain(found: Sequence[Line]) -> set[str]:
    suffixes = tuple(suffix for suffix in VARIANTS if suffix)
    return {line["system"] for line in found if not line["system"].endswith(suffixes) and "," not in line["system"]}


def _beside_the_paper(system: str, chosen: Sequence[Line]) -> list[str]:
    """For each pair ours, the paper's and the difference."""
    cells = []
    for pair, ours in zip(PAIRS, cells_by_pair(chosen), strict=True):
        theirs = printed(system, pair)
        difference = f"{100 * mean(hits_of(chosen, pair)) - theirs:+.2f}" if ours and theirs is not None else ""
        cells += [ours, _two_digits(theirs), difference]
    return cells


def _below(found: Sequence[Line]) -> str:
    """Says where ours is below the paper."""
    apart = {
        f"{system} on {name_of(pair)}": 100 * mean(hits_of(chosen, pair)) - theirs
        for system, chosen in by_system(found).items()
        for pair in PAIRS
        if (theirs := printed(system, pair)) is not None and hits_of(chosen, pair)
    }
    below = [f"{what} ({difference:+.2f})" for what, difference in apart.items() if difference < 0]
    if not below:
        return f"None of the {len(apart)} figures that can be compared is below the paper's."
    return f"Below the paper's figure: {', '.join(below)}; {len(apart) - len(below)} others are above."


def _by_system_and_pair(found: Sequence[Line]) -> str:
    rows = [
        [
            system,
            name_of(pair),
            mean_and_spread(hits_of(chosen, pair)),
            f"{mean(line['metrics']['rounds'] for line in chosen if line['pair'] == pair):.1f}".removesuffix(".0"),
            f"{mean(line['seconds'] for line in chosen if line['pair'] == pair):.0f}",
        ]
        for pair in PAIRS
        for system, chosen in by_system(found).items()
        if hits_of(chosen, pair)
    ]
    return table(("", "pair", "hits@1", "looks", "seconds"), rows)


def _alpha(system: str) -> float | None:
    _, equals, value = system.partition("alpha=")
    return float(value) if equals else None


def _two_digits(value: float | str | None) -> str:
    return f"{value:.2f}" if isinstance(value, float) else ""


def _machines(found: Sequence[Line]) -> str:
    return "; ".join(dict.fromkeys(line["hardware"] for line in found))


SECTIONS: tuple[Callable[[], str], ...] = (
    table2,
    gains,
    training_costs,
    calibration,
    refitted,
    gm_details,
    gm_speed,
    table3,
    table4,
    choices,
    other_datasets,
)
