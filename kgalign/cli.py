"""The command line: each command reads, calls and writes. Progress goes to stderr, results to files or, with --json, to stdout."""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from kgalign import __version__
from kgalign.align import Run, align, check_storable, sort_options
from kgalign.bench import TABLES, Plan, check, planned_lines
from kgalign.bench.summary import summarise
from kgalign.coordinate import Round, check_options
from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph
from kgalign.datasets import DEMOS, PAIRS
from kgalign.datasets import demo as read_demo
from kgalign.datasets.download import LIGHTEA, download_dbp15k
from kgalign.decode import ALIASES, DECODERS, decoder_options, make_decoder
from kgalign.diagnose import explain_little, is_little
from kgalign.encoders import check_encoder
from kgalign.errors import DataError, KgalignError, OptionError
from kgalign.evaluate import evaluate as measure
from kgalign.explain import describe, read_explanations
from kgalign.merge import ENDINGS, find_conflicts, merged, read_links, single_links, write_conflicts, write_merged
from kgalign.models import MODELS, make_model, model_options
from kgalign.readers import is_dataset, read, read_graph
from kgalign.readers.scored import read_alignments, read_candidates
from kgalign.readers.tables import read_table
from kgalign.relations import relation_matches
from kgalign.text import fold
from kgalign.writers import write_run
from kgalign.writers.run import check_free

app = typer.Typer(
    help="Find which entities of two knowledge graphs are the same thing.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
INTERRUPTED = 130
KINDS: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
UsageProblem: type[Any] = typer.BadParameter.__mro__[2]  # what every complaint about the command line is; typer does not name it
console = Console(stderr=True, highlight=False, soft_wrap=True)


class Protocols(StrEnum):
    closed = "closed"
    open = "open"


class Scales(StrEnum):
    similarity = "similarity"
    probability = "probability"
    distance = "distance"


Output = Annotated[Path, typer.Option("-o", "--output", help="folder of the run; an earlier run there is replaced")]
AsJson = Annotated[bool, typer.Option("--json", help="print the result as JSON on stdout")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="an option of the model or of the decoder; may be repeated")
]
DecoderName = Annotated[
    str,
    typer.Option(
        "--decoder",
        help=f"one of {', '.join(DECODERS)}; or, as EntMatcher says, {', '.join(f'{alias} ({name})' for alias, name in ALIASES.items())}",
    ),
]
PLACES = "a table (tsv, csv, parquet), RDF (a file, a folder, a pattern in quotes), or sparql+http://host/path"
Labels = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="IRI", help="property that holds the names in RDF; may be repeated, best first"),
]
Languages = Annotated[
    str | None,
    typer.Option("--lang", help="language of the names in RDF, for instance zh,en: first the source's, then the target's"),
]
Strict = Annotated[bool, typer.Option("--strict", help="refuse broken RDF instead of leaving out what is broken")]
Seed = Annotated[int, typer.Option(min=0, help="the same seed gives the same result")]


@app.command()
def demo(
    pair: Annotated[str, typer.Option(help=f"one of {', '.join(PAIRS)}")] = "fr_en",
    output: Output = Path("kgalign-demo"),
    as_json: AsJson = False,
) -> None:
    """Align two bundled graphs of real facts: greedy, jointly, easy-to-hard, and both."""
    check_free(output)
    task, gold = read_demo(pair)
    console.print(f"World facts of Unicode CLDR, {pair.replace('_', '-')}: {_size(task.source)} and {_size(task.target)},")
    console.print(f"{len(task.seeds)} seeds, {len(gold)} test links, {task.protocol} protocol.")
    variants = (
        ("names alone", "names", "greedy", False),
        ("greedy", "fast", "greedy", False),
        ("easy-to-hard", "fast", "greedy", True),
        ("joint", "fast", "joint", False),
        ("both", "fast", "joint", True),
    )
    runs = {}
    for label, model, decoder, easy_to_hard in variants:
        with _working(label):
            runs[label] = align(task, gold, model=model, decoder=decoder, easy_to_hard=easy_to_hard)
    figures = {label: run.metrics or {} for label, run in runs.items()}
    _show_table(figures, task.protocol, console if as_json else Console(highlight=False))
    folder = write_run(runs["both"], output)
    if as_json:
        _print_json({label: run.report() for label, run in runs.items()})
    console.print(f"The links of the last row are in {folder}/alignment.tsv; see how they came about in {folder}/report.html")


@app.command(name="align")
def align_command(
    source: Annotated[str, typer.Argument(help=f"a dataset folder, or the source graph: {PLACES}")],
    target: Annotated[str | None, typer.Argument(help="the target graph, where SOURCE is a graph")] = None,
    seeds: Annotated[Path | None, typer.Option(help="links that are known")] = None,
    gold: Annotated[Path | None, typer.Option(help="links to measure the result by; never shown to the model")] = None,
    output: Output = Path("run"),
    labels: Labels = None,
    languages: Languages = None,
    strict: Strict = False,
    names_source: Annotated[
        Path | None,
        typer.Option(help="table of IRI and name: names of the source that come before its own, translations for instance"),
    ] = None,
    names_target: Annotated[Path | None, typer.Option(help="the same for the target")] = None,
    encoder: Annotated[
        Path | None,
        typer.Option(
            help="folder of a sentence encoder (model2vec, sentence-transformers): names that mean the same are evidence too"
        ),
    ] = None,
    model: Annotated[str, typer.Option(help=f"one of {', '.join(MODELS)}")] = "fast",
    decoder: DecoderName = "joint",
    easy_to_hard: Annotated[bool, typer.Option(help="feed sure decisions back as evidence, round after round")] = True,
    alpha: Annotated[float, typer.Option(help="a pair above this probability is easy")] = 0.5,
    min_new: Annotated[
        int | None, typer.Option(help="fewer new easy pairs than this in a round end it; 1 to 20 or more by the size of the graphs")
    ] = None,
    max_rounds: Annotated[int, typer.Option(help="how often easy pairs are fed back at most")] = 10,
    everyone: Annotated[
        bool, typer.Option("--everyone/--only-queries", help="look for evidence among all entities, also those not asked")
    ] = True,
    protocol: Annotated[
        Protocols | None, typer.Option(help="who is asked and on offer; closed for a dataset folder with test links, else open")
    ] = None,
    seed_ratio: Annotated[
        float, typer.Option(help="share of the links that become seeds, where a folder has one file of links")
    ] = 0.3,
    fold_number: Annotated[int, typer.Option("--fold", help="which fold of an OpenEA folder")] = 1,
    settings: Settings = None,
    load: Annotated[Path | None, typer.Option(help="use the trained model in this folder")] = None,
    save: Annotated[Path | None, typer.Option(help="keep the trained model in this folder")] = None,
    seed: Seed = 0,
    bootstrap: Annotated[int, typer.Option(min=0, help="draws for confidence intervals, 0: none")] = 0,
    as_json: AsJson = False,
) -> None:
    """Align two graphs, and measure the result where test links are there."""
    check_free(output)
    options = _parse_settings(settings, {**decoder_options(decoder), **model_options(model)})
    if encoder is not None:
        options["encoder"] = str(encoder)
    _check_before_reading(model, decoder, options, alpha, min_new, max_rounds)
    check_storable(model, load, save)
    if load is not None and not load.is_dir():
        raise DataError(f"{load}: no such folder; expected one that --save has written")
    began = time.perf_counter()
    console.print(f"reading {source}" + (f" and {target}" if target else ""))
    with _working("reading"):
        task, gold_links = read(
            source,
            target,
            seeds=seeds,
            gold=gold,
            protocol=protocol.value if protocol else None,
            seed_ratio=seed_ratio,
            split_seed=seed,
            fold=fold_number,
            labels=labels or (),
            languages=_parse_languages(languages),
            strict=strict,
            names_source=names_source,
            names_target=names_target,
        )
    read_seconds = time.perf_counter() - began
    console.print(f"read {_size(task.source)} and {_size(task.target)} in {read_seconds:.1f} s")
    for side, graph in (("source", task.source), ("target", task.target)):
        _show_reading(side, graph)
    console.print(f"{len(task.seeds)} seeds, {len(task.queries)} queries, {len(task.pool)} on offer ({task.protocol} protocol)")
    with _working("aligning"):
        run = align(
            task,
            gold_links,
            model=model,
            decoder=decoder,
            easy_to_hard=easy_to_hard,
            alpha=alpha,
            min_new=min_new,
            max_rounds=max_rounds,
            everyone=everyone,
            options=options,
            load=load,
            save=save,
            seed=seed,
            bootstrap=bootstrap,
            on_round=_show_round,
        )
    files = {"source": source, "target": target, "seeds": seeds, "names_source": names_source, "names_target": names_target}
    inputs = _hashes(Path(path) for path in (*files.values(), gold) if path is not None)
    places = {name: _whole_place(path) for name, path in files.items() if path is not None}
    how = {"labels": labels or [], "languages": _parse_languages(languages), "strict": strict}
    reading = {**places, **how, "seed_ratio": seed_ratio, "split_seed": seed, "fold": fold_number}
    run = replace(run, seconds={"read": read_seconds, **run.seconds}, inputs=inputs, options={**run.options, "read": reading})
    _finish(run, output, as_json)


@app.command()
def decode(
    candidates: Annotated[Path, typer.Argument(help="rows of source, target and score (tsv, csv, parquet), or arrays (npz)")],
    output: Output = Path("run"),
    decoder: DecoderName = "joint",
    scale: Annotated[Scales, typer.Option("--scores", help="what the scores are")] = Scales.similarity,
    temperature: Annotated[float, typer.Option(help="scores / temperature are log-odds")] = 1.0,
    gold: Annotated[Path | None, typer.Option(help="links to measure the result by")] = None,
    settings: Settings = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Decide on candidates that another tool has scored."""
    check_free(output)
    options = {"seed": seed, **_parse_settings(settings, decoder_options(decoder))}
    decide = make_decoder(decoder, **options)
    with _working("reading"):
        given, task = read_candidates(candidates, scale.value, temperature)
    began = time.perf_counter()
    alignment = decide(given)
    seconds = {"decode": time.perf_counter() - began}
    run = Run(
        task,
        replace(alignment, record={"rounds": [], **alignment.record, "decoder": decoder}),
        given,
        _measure_by_name(alignment, task, gold) if gold else None,
        {"decoder": decoder, "decoder_options": {**decoder_options(decoder), **options}, "temperature": temperature, "seed": seed},
        seconds,
        _hashes(path for path in (candidates, gold) if path is not None),
    )
    _finish(run, output, as_json)


@app.command()
def evaluate(
    alignment: Annotated[Path, typer.Argument(help="a run's folder, or a table of source and target")],
    gold: Annotated[Path, typer.Option(help="a table of source and target")],
    protocol: Annotated[
        Protocols | None, typer.Option(help="under which the links were found; a run's folder says it itself")
    ] = None,
    bootstrap: Annotated[int, typer.Option(min=0, help="draws for confidence intervals, 0: none")] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure links against gold links."""
    links, gold_links = read_alignments(alignment, gold)
    report = alignment / "run.json"
    named: Any = protocol.value if protocol else json.loads(report.read_text("utf-8"))["protocol"] if report.is_file() else "open"
    if not np.isin(links.sources, gold_links.sources).any():
        console.print("no link begins at an entity of the gold links: are they of the same graphs, and the right way round?")
    figures = measure(links, gold_links, protocol=named, bootstrap=bootstrap)
    if as_json:
        _print_json(figures)
    else:
        _show_figures(figures)


@app.command()
def explain(
    run: Annotated[Path, typer.Argument(help="the folder of a run")],
    entity: Annotated[str, typer.Argument(metavar="IRI", help="an entity of either graph: its IRI, or its name")],
    as_json: AsJson = False,
) -> None:
    """Say why an entity got its partner: names, linked neighbours, and what the runner-up lacks."""
    found = read_explanations(run, entity)
    if as_json:
        _print_json([asdict(explanation) for explanation in found])
    else:
        print("\n\n".join(describe(explanation) for explanation in found))


@app.command()
def merge(
    run: Annotated[Path, typer.Argument(help="the folder of a run of kgalign align")],
    output: Annotated[Path, typer.Option("-o", "--output", help="the merged graph: .nt, or .nq, which tells who says what")],
    least: Annotated[float, typer.Option(min=0, max=1, help="links below this probability do not count")] = 0.5,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="count, and show conflicts; write nothing")] = False,
) -> None:
    """Join the two graphs of a run along its links, and list what they say differently."""
    if output.suffix not in ENDINGS:
        raise OptionError(f"{output}: expected a file ending in {' or '.join(ENDINGS)}")
    with _working("reading"):
        task, _ = read(**_how_it_was_read(run))
    links, conflicts = single_links(read_links(run / "alignment.tsv", task), task, least)
    conflicts += find_conflicts(task, links, relation_matches(task, links))
    console.print(f"{len(links):,} links join {_size(task.source)} and {_size(task.target)}; {len(conflicts):,} conflicts")
    if dry_run:
        for each in conflicts[:20]:
            console.print(f"{each.kind}: {each.entity} {each.property}: {each.source} or {each.target}", markup=False)
        if len(conflicts) > 20:
            console.print(f"and {len(conflicts) - 20:,} more; without --dry-run all of them are written to a table")
        return
    count = write_merged(merged(task, links), output)
    beside = output.with_suffix(".conflicts.tsv")
    write_conflicts(conflicts, beside)
    console.print(f"{count:,} statements in {output}, conflicts in {beside}")


@app.command()
def info(
    source: Annotated[str, typer.Argument(help=f"a dataset folder, or a graph: {PLACES}")],
    target: Annotated[str | None, typer.Argument(help="the other graph")] = None,
    labels: Labels = None,
    languages: Languages = None,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Say what the reader sees: sizes, names and where they come from, links, and what is missing."""
    given = _parse_languages(languages)
    links = {"seeds": 0, "test links": 0}
    with _working("reading"):
        if target is None and not is_dataset(source):
            seen = {"graph": _describe(read_graph(source, labels=labels or (), languages=given, strict=strict))}
        else:
            task, gold = read(source, target, labels=labels or (), languages=given, strict=strict)
            seen = {"source": _describe(task.source), "target": _describe(task.target)}
            links = {"seeds": len(task.seeds), "test links": len(gold)}
    if as_json:
        _print_json({**seen, **links})
        return
    table = Table("", *seen)
    for key in dict.fromkeys(key for side in seen.values() for key in side):
        table.add_row(key, *(_plain_text(side.get(key, "")) for side in seen.values()))
    out = Console(highlight=False)
    out.print(table)
    if "graph" not in seen:
        out.print(", ".join(f"{count} {what}" for what, count in links.items()))


@app.command()
def download(
    dataset: Annotated[str, typer.Argument(help="dbp15k")],
    output: Annotated[Path, typer.Option("-o", "--output", help="a folder that does not exist yet")] = Path("dbp15k"),
    mirror: Annotated[str, typer.Option(help="another place with the same files")] = LIGHTEA,
) -> None:
    """Fetch a benchmark; each file is checked against its SHA-256."""
    if dataset != "dbp15k":
        raise OptionError(f"unknown dataset {dataset!r}: expected dbp15k")
    folder = download_dbp15k(output, base_url=mirror, on_file=lambda name: console.print(f"fetching {name}"))
    console.print(f"done: {folder}. Try: kgalign align {folder}/fr_en")


@app.command()
def bench(
    table: Annotated[str, typer.Argument(help=f"one of {', '.join(TABLES)}")],
    data: Annotated[Path | None, typer.Option(help="a dataset folder, or a folder of them; quick has its own")] = None,
    models: Annotated[str, typer.Option(help="some of the models, comma between them; all that the table has")] = "",
    pairs: Annotated[str, typer.Option(help="some of the datasets in DATA, comma between them")] = "",
    folds: Annotated[str, typer.Option(help="some of the folds of OpenEA folders, comma between them")] = "",
    seeds: Annotated[str | None, typer.Option(help="comma between them; 0,1,2, for quick 0")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda")] = "auto",
    results: Annotated[
        Path | None, typer.Option(help="file that lines are added to; benchmarks/results.jsonl, for quick none")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="measure also what has its line")] = False,
    refit: Annotated[bool, typer.Option("--refit", help="add rows in which easy pairs become seeds of a new training")] = False,
    development: Annotated[bool, typer.Option("--development", help="ask links held out of the seeds, not test links")] = False,
    settings: Settings = None,
    label: Annotated[str, typer.Option(help="is added to the names of systems, for rows with other settings")] = "",
    keep: Annotated[Path | None, typer.Option(help="folder for trained models; those that are there are used")] = None,
    as_json: AsJson = False,
) -> None:
    """Make one of the paper's tables, ours beside it. What has its line in the file of results is not measured again."""
    if table not in TABLES:
        raise OptionError(f"unknown table {table!r}: expected one of {', '.join(TABLES)}")
    if data is None and table != "quick":
        raise OptionError("--data: expected a folder with datasets, for instance dbp15k (kgalign download dbp15k)")
    chosen = tuple(_parts(models)) or (_models_that_are_there() if table == "quick" else ())
    plan = Plan(
        data=data or DEMOS / "fr_en",
        results=results or (None if table == "quick" else Path("benchmarks/results.jsonl")),
        models=chosen,
        pairs=_parts(pairs),
        folds=_numbers("--folds", folds),
        seeds=_numbers("--seeds", seeds if seeds is not None else "0" if table == "quick" else "0,1,2"),
        device=device,
        again=again,
        refit=refit,
        development=development,
        settings=_parse_settings(
            settings, {k: v for name in chosen or TABLES[table].models for k, v in model_options(name).items()}
        ),
        label=label,
        keep=keep,
    )
    check(table, plan)
    console.print(f"word vectors: {plan.word_vectors or f'none, for there is no glove*.txt or glove*.txt.gz in {plan.data}'}")
    measured = []
    try:
        for line in TABLES[table].measure(plan):
            measured.append(line)
            hits = line["metrics"]["hits@1"]
            console.print(f"{line['system']}, {line['pair']}, seed {line['seed']}: hits@1 {hits:.4f}, {line['seconds']:.1f} s")
    except (KeyboardInterrupt, SystemError) as error:
        _check_interrupted(error)
        kept = f"what was measured is in {plan.results}: the same command goes on from there" if plan.results else "nothing is kept"
        sys.exit(_fail(f"interrupted; {kept}", INTERRUPTED))
    lines = planned_lines(table, plan) if plan.results else measured
    console.print(f"{len(measured)} lines measured" + (f", {len(lines)} of this kind in {plan.results}" if plan.results else ""))
    if as_json:
        _print_json(lines)
        return
    header, rows = summarise(lines)
    beside = ", in parentheses the paper's and the difference" if table == "table2" else ""
    shown = Table(*header, title=f"{table}: hits@1 in percent{beside}")
    for row in rows:
        shown.add_row(*row)
    Console(highlight=False).print(shown)


@app.callback(invoke_without_command=True)
def start(context: typer.Context, version: Annotated[bool, typer.Option("--version", help="print the version")] = False) -> None:
    if version:
        print(__version__)
    elif context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    """Runs the command line; a user's mistake is one line on stderr and exit 2."""
    _show_log()
    try:
        status = app(standalone_mode=False)
        if status == INTERRUPTED:
            raise KeyboardInterrupt
    except (KgalignError, OSError) as error:
        status = _fail(str(error))
    except UsageProblem as error:
        status = _fail(error.format_message())
    except (KeyboardInterrupt, typer.Abort):
        status = _fail("interrupted; nothing was written", INTERRUPTED)
    except SystemError as error:
        _check_interrupted(error)
        status = _fail("interrupted; nothing was written", INTERRUPTED)
    sys.exit(status if isinstance(status, int) else 0)


def _check_interrupted(error: BaseException) -> None:
    """Lets all pass on but interruptions, and what compiled code makes of them."""
    if isinstance(error, SystemError) and "exception set" not in str(error):
        raise error


def _fail(message: str, status: int = 2) -> int:
    print(f"kgalign: {' '.join(message.split())}", file=sys.stderr)
    return status


def _parse_languages(text: str | None) -> list[str]:
    languages = [part.strip() for part in text.split(",")] if text else []
    if not all(languages) or len(languages) > 2:
        raise OptionError(f"--lang {text}: expected a language such as en, or two such as zh,en")
    return languages


def _show_reading(side: str, graph: KnowledgeGraph) -> None:
    """Where the names of an RDF graph come from, and what was broken in it."""
    seen = graph.record
    if "names from" in seen:
        share = f", {seen['subjects with a label']:.0%} of the subjects named" if seen["subjects with a label"] else ""
        console.print(f"{side}: names from {seen['names from']}; language {seen['language taken']}{share}", markup=False)
    if seen.get("broken"):
        console.print(f"{side}: left out what is broken, {seen['broken']:,} times; --strict refuses it. The first:", markup=False)
        for problem in seen["first broken"]:
            console.print(f"  {problem}", markup=False)


def _check_before_reading(
    model: str, decoder: str, options: Mapping[str, Any], alpha: float, min_new: int | None, max_rounds: int
) -> None:
    """Finds bad options at once and not after minutes."""
    for_model, for_decoder = sort_options(model, decoder, options)
    make_model(model, **for_model)
    make_decoder(decoder, **for_decoder)
    check_options(alpha, min_new, max_rounds)
    vectors = options.get("word_vectors")
    if vectors is not None and not Path(vectors).is_file():
        raise DataError(f"{vectors}: no such file; expected word vectors, a GloVe or word2vec text file")
    if options.get("encoder") is not None:
        check_encoder(options["encoder"])


def _finish(run: Run, output: Path, as_json: bool) -> None:
    """Writes the run's folder and says what came out; exit 1 where nothing was found."""
    folder = write_run(run, output)
    if as_json:
        _print_json({"run": str(folder), **run.report()})
    elif run.metrics:
        _show_figures(run.metrics)
    sure, likely = ((run.alignment.scores > least).sum() for least in (0.9, 0.5))
    console.print(f"{len(run.alignment):,} links in {folder}/alignment.tsv; {likely:,} of them above 0.5, {sure:,} above 0.9")
    console.print(f"the report: {folder}/report.html")
    if "model" in run.options and is_little(run.task, run.alignment):
        console.print(f"{'few' if len(run.alignment) else 'no'} links found; what each stage had to work with:")
        for line in explain_little(run.task, run.alignment):
            console.print(f"  {line}", markup=False)
    if not len(run.alignment):
        raise typer.Exit(1)


def _whole_place(place: str | Path) -> str:
    """Where a graph is, whatever folder one is in later."""
    return str(place) if "://" in str(place) else str(Path(place).resolve())


def _models_that_are_there() -> tuple[str, ...]:
    """The models that nothing is missing for; says which are left out."""
    if all(find_spec(package) for package in ("torch", "safetensors")):
        return tuple(MODELS)
    console.print("without PyTorch, only names and fast; pip install torch safetensors, and all models are tried")
    return "names", "fast"


def _how_it_was_read(run: Path) -> dict[str, Any]:
    """The arguments of `read` that give the graphs of a run again."""
    path = run / "run.json"
    if not path.is_file():
        raise DataError(f"{path}: no such file; expected the folder of a run, as kgalign align writes it")
    arguments = json.loads(path.read_text("utf-8"))["options"].get("read")
    if arguments is None:
        raise DataError(f"{path}: does not say where its graphs are; expected a run of kgalign align")
    return arguments


def _measure_by_name(alignment: Alignment, task: AlignmentTask, gold: Path) -> dict[str, Any]:
    """The figures of an alignment by gold links that may name entities without candidates."""
    ids = [{name: position for position, name in enumerate(graph.entities)} for graph in (task.source, task.target)]
    pairs = [
        [side.setdefault(name, len(side)) for side, name in zip(ids, fields, strict=True)] for _, fields in read_table(gold, 2)
    ]
    return measure(alignment, Alignment(np.array(pairs)), protocol="open")


def _parts(text: str) -> list[str]:
    """What stands between the commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(option: str, text: str) -> list[int]:
    parts = _parts(text)
    if not all(part.isdecimal() for part in parts):
        raise OptionError(f"{option} {text}: expected whole numbers with commas between them, such as 0,1,2")
    return [int(part) for part in parts]


def _options_of(models: Iterable[str]) -> dict[str, Any]:
    """The options of all these models."""
    return {option: default for model in models for option, default in model_options(model).items()}


def _parse_settings(settings: list[str] | None, known: Mapping[str, Any]) -> dict[str, Any]:
    """Options by name, each with the type of its default."""
    options = {}
    for setting in settings or ():
        name, equals, text = setting.partition("=")
        if not equals or name not in known:
            raise OptionError(f"--set {setting}: expected NAME=VALUE with one of the names {', '.join(known)}")
        options[name] = _parse_value(setting, text, known[name])
    return options


def _parse_value(setting: str, text: str, default: Any) -> Any:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = text
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if default is None:
        value = text  # only paths have no default
    elif type(value) is not type(default):
        raise OptionError(f"--set {setting}: expected {KINDS[type(default)]}, such as {json.dumps(default)}")
    return value


@contextmanager
def _working(what: str) -> Iterator[None]:
    """A moving sign that something goes on, on a terminal only."""
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def _show_round(turn: Round) -> None:
    if turn.stopped == "plain decoding":
        return
    right, checked = turn.held_out
    sure = f", {right} of {checked} right among held-out seeds" if checked else ""
    console.print(
        f"round {turn.number}, {turn.asked:,} asked: {len(turn.easy):,} easy pairs ({turn.new:,} never seen before{sure}), "
        f"{turn.changed:,} changed their mind, {turn.seconds:.1f} s" + (f"; enough: {turn.stopped}" if turn.stopped else "")
    )


def _show_log() -> None:
    """What a model tells while it trains goes to stderr, line by line."""
    handler = logging.Handler()
    handler.emit = lambda record: console.print(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("kgalign").addHandler(handler)
    logging.getLogger("kgalign").setLevel(logging.INFO)


def _show_table(rows: Mapping[str, Mapping[str, Any]], protocol: str, out: Console) -> None:
    columns = ("hits@1", "precision", "recall", "f1", "many_to_one")
    table = Table(protocol, *(column.replace("_", " ") for column in columns))
    for label, figures in rows.items():
        table.add_row(label, *(f"{figures[column]:.3f}" for column in columns))
    out.print(table)


def _show_figures(figures: Mapping[str, Any]) -> None:
    table = Table("figure", "value")
    for name, value in figures.items():
        table.add_row(name.replace("_", " "), _plain_text(value))
    Console(highlight=False).print(table)


def _describe(graph: KnowledgeGraph) -> dict[str, Any]:
    """What a person wants to know of a graph before aligning it."""
    linked = set(graph.triples[:, [0, 2]].ravel().tolist())
    names = [fold(name) for name in graph.names]
    return {
        "entities": len(graph.entities),
        "relations": len(graph.relations),
        "triples": len(graph.triples),
        "literals": len(graph.attributes.values),
        "entities without triples": len(graph.entities) - len(linked),
        "entities without a name": sum(not name for name in names),
        "names that several share": len(names) - len(set(names)),
        "names in Latin letters": f"{sum(name.isascii() and name != '' for name in names) / max(1, len(names)):.0%}",
        "for instance": "; ".join([name for name in graph.names if name][:3]),
        **{key: f"{value:.0%}" if isinstance(value, float) else value for key, value in graph.record.items()},
    }


def _hashes(paths: Iterator[Path]) -> dict[str, str]:
    """The SHA-256 of each file, also of those in folders or of a pattern."""
    found = (
        [path]
        if path.is_file()
        else path.rglob("*")
        if path.is_dir()
        else path.parent.glob(path.name)
        if path.parent.is_dir()
        else ()
        for path in paths
    )
    files = sorted(file for part in found for file in part if file.is_file())
    return {str(file): _hash(file) for file in files}


def _hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _size(graph: KnowledgeGraph) -> str:
    return f"{len(graph.entities):,} entities with {len(graph.triples):,} triples"


def _plain_text(value: Any) -> str:
    if isinstance(value, list):
        return (" to " if all(isinstance(item, float) for item in value) else "\n").join(_plain_text(item) for item in value)
    return f"{value:.4f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


if __name__ == "__main__":
    main()
