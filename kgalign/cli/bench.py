"""The commands for benchmarks: download and bench."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from kgalign.bench import TABLES, Plan, check, planned_lines
from kgalign.bench.real import REAL
from kgalign.bench.results import Line
from kgalign.bench.review import DEMO, REVIEW
from kgalign.cli.options import AsJson, Settings, parse_settings
from kgalign.cli.printing import INTERRUPTED, Screen, console, fail, is_interruption, print_json
from kgalign.datasets import DEMOS
from kgalign.datasets.download import LIGHTEA, download_dbp15k
from kgalign.drafts import check_folder, check_writable
from kgalign.errors import OptionError
from kgalign.models import MODELS, model_options

RESULTS = Path("benchmarks/results.jsonl")
OF_SETS = (REAL, REVIEW)  # tables that take a folder of sets
WIDE = 160  # columns for a table that goes to a file, or that no terminal may cut
TITLES = {
    "table2": "hits@1 in percent, in parentheses the paper's figure and the difference",
    REAL: "F1 of equal names and of the best peer beside ours",
    REVIEW: "F1 in percent after so many decisions of a simulated reviewer",
}


def download(
    dataset: Annotated[str, typer.Argument(help="dbp15k")],
    output: Annotated[Path, typer.Option("-o", "--output", help="a folder that does not exist yet")] = Path("dbp15k"),
    mirror: Annotated[str, typer.Option(help="another address with the same files")] = LIGHTEA,
) -> None:
    """Download a benchmark. Each file is checked against its SHA-256."""
    if dataset != "dbp15k":
        raise OptionError(f"unknown dataset {dataset!r}: expected dbp15k")
    check_writable(output)
    folder = download_dbp15k(output, base_url=mirror, on_file=lambda name: console.print(f"downloading {name}"))
    console.print(f"done: {folder}. Try: kgalign align {folder}/fr_en")


def bench(
    table: Annotated[str, typer.Argument(help=f"one of {', '.join(TABLES)}")],
    data: Annotated[
        Path | None,
        typer.Option(
            help="a dataset folder, or a folder of them; for real and review a folder of sets; quick uses the bundled demo"
        ),
    ] = None,
    models: Annotated[str, typer.Option(help="models, with commas between them; all models of the table if not given")] = "",
    pairs: Annotated[str, typer.Option(help="datasets in DATA, with commas between them; all if not given")] = "",
    sets: Annotated[
        str,
        typer.Option(
            help=f"for real and review: parts of the names of sets in DATA, or {DEMO}, with commas between them; all if not given"
        ),
    ] = "",
    swap: Annotated[bool, typer.Option("--swap", help="for real: align the target with the source")] = False,
    folds: Annotated[str, typer.Option(help="folds of OpenEA folders, with commas between them; all if not given")] = "",
    seeds: Annotated[
        str | None, typer.Option(help="random seeds, with commas between them; 0,1,2 if not given, for quick and real 0")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda")] = "auto",
    results: Annotated[Path | None, typer.Option(help=f"file to add lines to; {RESULTS} if not given, for quick none")] = None,
    again: Annotated[bool, typer.Option("--again", help="measure lines that the file already has, too")] = False,
    refit: Annotated[
        bool, typer.Option("--refit", help="add rows in which confident links become seeds of a new training")
    ] = False,
    development: Annotated[
        bool, typer.Option("--development", help="measure on links held out of the seeds, not on the test links")
    ] = False,
    settings: Settings = None,
    label: Annotated[str, typer.Option(help="a suffix for the names of systems, for rows with other settings")] = "",
    keep: Annotated[Path | None, typer.Option(help="folder for trained models; those that it already has are used")] = None,
    as_json: AsJson = False,
) -> None:
    """Make one of the paper's tables with our figures beside it, or measure kgalign on sets of real graphs.

    Lines that the file of results already has are not measured again. `real` takes a folder of sets. A set is a folder with `source.*`,
    `target.*` and `gold.tsv`, or with such folders in it. The file sets.json of DATA says how each set is judged.
    """
    if table not in TABLES:
        raise OptionError(f"unknown table {table!r}: expected one of {', '.join(TABLES)}")
    if data is None and table != "quick":
        wanted = "a folder of sets" if table in OF_SETS else "a folder with datasets, for instance dbp15k (kgalign download dbp15k)"
        raise OptionError(f"`data`: expected {wanted}")
    if table not in OF_SETS and sets:
        raise OptionError(f"--sets goes with the tables {' and '.join(OF_SETS)}, not with {table}: expected --pairs")
    if table != REAL and swap:
        raise OptionError(f"--swap goes with the table {REAL}, not with {table}: leave it out")
    if table in OF_SETS and (pairs or folds):
        raise OptionError(f"--pairs and --folds do not go with the table {table}: expected --sets")
    chosen = tuple(_parts(models)) or (_installed_models() if table == "quick" else ())
    plan = Plan(
        data=data or DEMOS / "fr_en",
        results=results or (None if table == "quick" else RESULTS),
        models=chosen,
        pairs=_parts(pairs),
        sets=_parts(sets),
        swap=swap,
        folds=_numbers("folds", folds),
        seeds=TABLES[table].seeds if seeds is None else _numbers("seeds", seeds),
        device=device,
        again=again,
        refit=refit,
        development=development,
        settings=parse_settings(settings, _options_of(chosen or TABLES[table].models)) if settings else {},
        label=label,
        keep=keep,
    )
    check(table, plan)
    if plan.results is not None:
        check_writable(plan.results)
    if keep is not None:
        check_folder(keep)
    if table not in OF_SETS:
        console.print(f"word vectors: {plan.word_vectors or f'none, since {plan.data} has no glove*.txt or glove*.txt.gz'}")
    measured = _measure(table, plan)
    lines = planned_lines(table, plan) if plan.results else measured
    console.print(f"{len(measured)} lines measured" + (f", {len(lines)} of this kind in {plan.results}" if plan.results else ""))
    if as_json:
        print_json(lines)
    else:
        _show(table, plan, lines)


def _measure(table: str, plan: Plan) -> list[Line]:
    """The missing lines, each printed as soon as it is measured."""
    measured = []
    try:
        for line in TABLES[table].measure(plan):
            measured.append(line)
            name = TABLES[table].figure
            figure = line["metrics"][name]
            console.print(f"{line['system']}, {line['pair']}, seed {line['seed']}: {name} {figure:.4f}, {line['seconds']:.1f} s")
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interruption(error):
            raise
        kept = (
            f"the lines measured so far are in {plan.results}; run the same command to go on" if plan.results else "nothing is kept"
        )
        sys.exit(fail(f"interrupted; {kept}", INTERRUPTED))
    return measured


def _show(table: str, plan: Plan, lines: list[Line]) -> None:
    header, rows = TABLES[table].summarise(lines, plan)
    shown = Table(*header, title=f"{table}: {TITLES.get(table, 'hits@1 in percent')}")
    for row in rows:
        shown.add_row(*row)
    fits = table != REAL and sys.stdout.isatty()  # figures in many columns would be cut off in a narrow terminal
    Screen(width=None if fits else WIDE).print(shown)
    for line in lines:
        if "error" in line["metrics"]:
            console.print(f"{line['pair']}, {line['system']}: {line['metrics']['error']}")


def _installed_models() -> tuple[str, ...]:
    """The models whose packages are installed. Prints which models are left out, and what they need."""
    installed, missing = [], {}
    for name in MODELS:
        try:
            model_options(name)
            installed.append(name)
        except OptionError as error:
            missing[name] = error
    if missing:
        console.print(f"left out: {', '.join(missing)}; {next(iter(missing.values()))}")
    return tuple(installed)


def _parts(text: str) -> list[str]:
    """The texts between the commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(option: str, text: str) -> list[int]:
    parts = _parts(text)
    if not all(part.isdecimal() for part in parts):
        raise OptionError(f"`{option}` {text}: expected whole numbers with commas between them, such as 0,1,2")
    return [int(part) for part in parts]


def _options_of(models: Iterable[str]) -> dict[str, Any]:
    """The options of all these models."""
    return {option: default for model in models for option, default in model_options(model).items()}
