"""The sections with the paper's tables and our figures beside them."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.page.markdown import NAMES_OF_PAIRS, by_system, cells_by_pair, hits_of, mean, name_of, section, seeds_text, table
from benchmarks.page.plots import picture
from benchmarks.results import Results
from kgalign.bench.decisions import VARIANTS
from kgalign.bench.paper import PAIRS, TABLE3, TABLE4, printed
from kgalign.bench.results import CANONICAL, Line
from kgalign.bench.summary import gain_text, mean_and_spread
from kgalign.models import BASELINE

ORDER = ("JE", "MTransE", "JAPE", "IPTransE", "GCN", "AlignE", "BootEA", "RDGCN", "GM")  # nearly the paper's; others follow
CHOICES = {
    "gm_options_dev": "Option 1 (the baseline gets the evidence without training on it) and option 2 (trained with up to k simulated links), "
    "on development links. The paper finds that option 2 is better, and that two simulated links are enough.",
    "gm_options": "The same on test links.",
    "gm_all_entities": "Confident links among the test entities alone, and among all entities; test links. The paper finds that all entities "
    "help, and that more than two simulated links then help too.",
    "gm_choice": "Both readings of the matching layer, on development links.",
}


def table2(results: Results) -> str:
    """All systems, each plain, joint, with Easy-to-Hard and with both: ours, the paper's, and the difference."""
    found = table2_lines(results)
    names = [line for line in results.of(BASELINE) if line["protocol"] == "closed" and line["system"] == BASELINE]
    rows = [[BASELINE, *_beside_the_paper(BASELINE, names)]] if BASELINE not in by_system(found) else []
    rows += [[system, *_beside_the_paper(system, chosen)] for system, chosen in by_system(found).items() if "," not in system]
    header = [""] + [f"{name}{what}" for name in NAMES_OF_PAIRS for what in ("", ", paper", ", difference")]
    text = (
        "hits@1 in percent, closed protocol, mean and spread (standard deviation) over seeds; alpha is 0.75, and unmatched queries take their "
        "best candidate. JEA is joint entity alignment, EHD is Easy-to-Hard decoding. The four rows of a system come from one training for "
        "each pair and seed. GM has two trainings: with simulated links for the rows with EHD, without for the others. An empty cell means "
        "that the paper has no figure. AlignE is BootEA without bootstrapping. `names` compares names and nothing else. Where our figures are "
        "far above the paper's, our systems have more input: RDGCN and GM start from character n-grams beside GloVe, and the translation "
        "models learn against several wrong triples at a time and have wider vectors."
    )
    return section("## The paper's Table 2", text, table(header, rows), _below(found), picture("rounds", results))


def gains(results: Results) -> str:
    """Whether reasoning helped, by a paired bootstrap over the test links; empty if no line has it."""
    found = [line for line in table2_lines(results) if "gain" in line["metrics"]]
    rows = [
        [system, *(gain_text([line for line in chosen if line["pair"] == pair]) for pair in PAIRS)]
        for system, chosen in by_system(found).items()
    ]
    text = (
        "How much higher hits@1 is than without reasoning, for the same system, in percentage points: the mean over seeds, the widest 95 % "
        "interval of a seed, and the largest p-value of a seed. Intervals and p-values come from a paired bootstrap: the test links are drawn "
        "anew a thousand times, and both decisions are measured on the same draw. They show the influence of chance in the test links. The "
        "spread over seeds shows the influence of chance in training."
    )
    return section("### What reasoning brings", text, table(("", *NAMES_OF_PAIRS), rows)) if found else ""


def table3(results: Results) -> str:
    """The paper's Table 3 beside ours."""
    found = results.of("table3")
    rows = []
    for pair in PAIRS:
        for system, chosen in by_system([line for line in found if line["pair"] == pair]).items():
            tau = chosen[0]["options"]["tau"]
            sizes = [f"{mean(line['metrics'][name] for line in chosen):,.0f}" for name in ("sub_spaces", "largest_sub_space")]
            figures = [f"{mean(line['seconds'] for line in chosen):.2f}", mean_and_spread(hits_of(chosen, pair))]
            paper = TABLE3.get(tau, ("", "", "")) if pair == "fr_en" else ("", "", "")
            rows.append([name_of(pair), system.partition("-")[0], f"{tau:.2f}", *sizes, *figures, *paper])
    text = (
        "Joint entity alignment after candidates below tau are removed. As in the paper, unmatched queries take their best candidate. The "
        "paper uses the scores of GM, on FR-EN only. The optimum over all candidates, tau 0, is the best row and takes hardly longer than the "
        f"others, so no candidate needs to be removed. {seeds_text(found)}"
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


def table4(results: Results) -> str:
    """The paper's Table 4 beside ours; empty if it was not measured."""
    found = results.of("table4")
    rows = []
    for system, chosen in sorted(by_system(found).items(), key=lambda item: _alpha(item[0]) or 1, reverse=True):
        paper = TABLE4.get(_alpha(system), ("", "", "")) if system.startswith("GM") else ("", "", "")
        cells = [cell for ours, theirs in zip(cells_by_pair(chosen), paper, strict=True) for cell in (ours, _two_digits(theirs))]
        rows.append([system, *cells, f"{mean(line['metrics']['rounds'] for line in chosen):.1f}"])
    header = [""] + [f"{name}{what}" for name in NAMES_OF_PAIRS for what in ("", ", paper")] + ["rounds"]
    if not found:
        return ""
    text = (
        "hits@1 on development links (450 of the seeds, which also pick the epoch), by alpha, the probability above which a link can be "
        "confident. The paper does not say which development links it uses. Its best alpha is 0.75; below, wrong links mislead others. Our "
        "figures do not fall there: each round decides anew and can drop a confident link, which the paper's method cannot. "
        f"{seeds_text(found)}"
    )
    return section("## The paper's Table 4: the influence of alpha", text, table(header, rows))


def choices(results: Results) -> str:
    """The two options, simulated links, all entities, both readings of the matching layer."""
    parts = []
    for experiment, text in CHOICES.items():
        found = results.of(experiment)
        if found:
            parts += [f"{text} {seeds_text(found)}", _by_system_and_pair(found)]
    return section("## Other choices that the paper tried", *parts) if parts else ""


def other_datasets(results: Results) -> str:
    """Systems on datasets with folds; empty if there are none."""
    found = results.of_other_datasets("table2")
    pairs = list(dict.fromkeys(line["pair"] for line in found))
    rows = [
        [system, *(mean_and_spread(hits) if (hits := hits_of(chosen, pair)) else "" for pair in pairs)]
        for system, chosen in by_system(found).items()
    ]
    text = (
        "Folders in the format of OpenEA (`kgalign bench table2 --data FOLDER`): hits@1 in percent, closed protocol, mean and spread over "
        "folds and seeds. The training links of a fold are the seeds; its validation links are not used."
    )
    return section("## Other datasets", text, table(("", *pairs), rows)) if found else ""


def table2_lines(results: Results) -> list[Line]:
    """All lines of Table 2 on DBP15K, in the order of the paper's systems; each plain, joint, with Easy-to-Hard, with both, then others."""
    found = [line for line in results.of("table2") if line["split"] == CANONICAL]
    return sorted(found, key=lambda line: _place(line["system"]))


def _place(system: str) -> tuple[bool, int, str, str, int]:
    row, _, setting = system.partition(",")
    base, _, variant = row.partition("-")
    suffixes = [suffix.removeprefix("-") for suffix in VARIANTS]
    at = suffixes.index(variant) if variant in suffixes else len(suffixes)
    return base not in ORDER, ORDER.index(base) if base in ORDER else 0, base, setting, at


def _beside_the_paper(system: str, chosen: Sequence[Line]) -> list[str]:
    """Our figure, the paper's and the difference, for each pair."""
    cells = []
    for pair, ours in zip(PAIRS, cells_by_pair(chosen), strict=True):
        theirs = printed(system, pair)
        difference = f"{100 * mean(hits_of(chosen, pair)) - theirs:+.2f}" if ours and theirs is not None else ""
        cells += [ours, _two_digits(theirs), difference]
    return cells


def _below(found: Sequence[Line]) -> str:
    """The sentence on figures that are below the paper's."""
    differences = {
        f"{system} on {name_of(pair)}": 100 * mean(hits_of(chosen, pair)) - theirs
        for system, chosen in by_system(found).items()
        for pair in PAIRS
        if (theirs := printed(system, pair)) is not None and hits_of(chosen, pair)
    }
    below = [f"{what} ({difference:+.2f})" for what, difference in differences.items() if difference < 0]
    if not below:
        return f"None of the {len(differences)} figures that can be compared is below the paper's."
    return f"Below the paper's figure: {', '.join(below)}; {len(differences) - len(below)} others are above."


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
    return table(("", "pair", "hits@1", "rounds", "seconds"), rows)


def _alpha(system: str) -> float | None:
    _, equals, value = system.partition("alpha=")
    return float(value) if equals else None


def _two_digits(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else ""
