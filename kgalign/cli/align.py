"""The commands that make a run: align, and decode for what another tool has scored."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from kgalign.align import Run, align, check_storable, sort_options
from kgalign.cli.options import (
    PLACES,
    AsJson,
    Classes,
    Labels,
    Languages,
    Output,
    Protocols,
    Settings,
    Strict,
    parse_languages,
    parse_settings,
)
from kgalign.cli.printing import console, print_json, show_figures, show_not_judged, size, working
from kgalign.reasoning.easy_to_hard import Round, check_options
from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph
from kgalign.decoding.decoders import ALIASES, DECODERS, decoder_options, make_decoder
from kgalign.explain.diagnosis import explain_little, is_little
from kgalign.features.encoders import check_encoder
from kgalign.errors import DataError
from kgalign.evaluate import evaluate
from kgalign.models import MODELS, make_model, model_options
from kgalign.readers import read
from kgalign.readers.candidates import read_candidates
from kgalign.readers.triples import LIKE_VALUES, read_table
from kgalign.features.text import check_word_vectors
from kgalign.writers import write_run
from kgalign.runs.folder import check_free


class Scales(StrEnum):
    similarity = "similarity"
    probability = "probability"
    distance = "distance"


DecoderName = Annotated[
    str,
    typer.Option(
        "--decoder",
        help=f"one of {', '.join(DECODERS)}; or, as EntMatcher says, {', '.join(f'{alias} ({name})' for alias, name in ALIASES.items())}",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="the same seed gives the same result")]


def align_command(
    source: Annotated[str, typer.Argument(help=f"a dataset folder, or the source graph: {PLACES}")],
    target: Annotated[str | None, typer.Argument(help="the target graph, where SOURCE is a graph")] = None,
    seeds: Annotated[Path | None, typer.Option(help="links that are known")] = None,
    gold: Annotated[Path | None, typer.Option(help="links to measure the result by; never shown to the model")] = None,
    output: Output = Path("run"),
    labels: Labels = None,
    languages: Languages = None,
    strict: Strict = False,
    classes: Classes = False,
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
    all_entities: Annotated[
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
    options = parse_settings(settings, {**decoder_options(decoder), **model_options(model)})
    if encoder is not None:
        options["encoder"] = str(encoder)
    _check_before_reading(model, decoder, options, alpha, min_new, max_rounds)
    check_storable(model, load, save)
    if load is not None and not load.is_dir():
        raise DataError(f"{load}: no such folder; expected one that --save has written")
    began = time.perf_counter()
    console.print(f"reading {source}" + (f" and {target}" if target else ""))
    with working("reading"):
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
            languages=parse_languages(languages),
            strict=strict,
            classes=classes,
            names_source=names_source,
            names_target=names_target,
        )
    read_seconds = time.perf_counter() - began
    console.print(f"read {size(task.source)} and {size(task.target)} in {read_seconds:.1f} s")
    for side, graph in (("source", task.source), ("target", task.target)):
        _show_reading(side, graph)
    console.print(f"{len(task.seeds)} seeds, {len(task.queries)} queries, {len(task.pool)} on offer ({task.protocol} protocol)")
    with working("aligning"):
        run = align(
            task,
            gold_links,
            model=model,
            decoder=decoder,
            easy_to_hard=easy_to_hard,
            alpha=alpha,
            min_new=min_new,
            max_rounds=max_rounds,
            all_entities=all_entities,
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
    how = {"labels": labels or [], "languages": parse_languages(languages), "strict": strict, "classes": classes}
    reading = {**places, **how, "seed_ratio": seed_ratio, "split_seed": seed, "fold": fold_number}
    run = replace(run, seconds={"read": read_seconds, **run.seconds}, inputs=inputs, options={**run.options, "read": reading})
    _finish(run, output, as_json)


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
    options = {"seed": seed, **parse_settings(settings, decoder_options(decoder))}
    decide = make_decoder(decoder, **options)
    with working("reading"):
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


def _check_before_reading(
    model: str, decoder: str, options: Mapping[str, Any], alpha: float, min_new: int | None, max_rounds: int
) -> None:
    """Finds bad options at once and not after minutes."""
    for_model, for_decoder = sort_options(model, decoder, options)
    make_model(model, **for_model)
    make_decoder(decoder, **for_decoder)
    check_options(alpha, min_new, max_rounds)
    check_word_vectors(options)
    if options.get("encoder") is not None:
        check_encoder(options["encoder"])


def _show_reading(side: str, graph: KnowledgeGraph) -> None:
    """Where the names of a graph come from, and what was broken in it or looks wrong."""
    seen = graph.record
    if "names from" in seen:
        share = f", {seen['subjects with a label']:.0%} of the subjects named" if seen["subjects with a label"] else ""
        console.print(f"{side}: names from {seen['names from']}; language {seen['language taken']}{share}")
    if seen.get(LIKE_VALUES):
        console.print(f"{side}: {LIKE_VALUES}: {seen[LIKE_VALUES]:,}; in a table what is no entity stands in double quotes")
    if seen.get("classes not asked"):
        console.print(f"{side}: classes and properties that are not asked: {seen['classes not asked']:,}; --classes asks them too")
    if seen.get("broken"):
        console.print(f"{side}: left out what is broken, {seen['broken']:,} times; --strict refuses it. The first:")
        for problem in seen["first broken"]:
            console.print(f"  {problem}")
    if seen.get("mended"):
        console.print(f"{side}: statements that break the rules but could be read: {seen['mended']:,}. The first:")
        for problem in seen["first mended"]:
            console.print(f"  {problem}")


def _show_round(turn: Round) -> None:
    if turn.stopped == "plain decoding":
        return
    right, checked = turn.held_out
    sure = f", {right} of {checked} right among held-out seeds" if checked else ""
    console.print(
        f"round {turn.number}, {turn.asked:,} asked: {len(turn.easy):,} easy pairs ({turn.new:,} never seen before{sure}), "
        f"{turn.changed:,} changed their mind, {turn.seconds:.1f} s" + (f"; enough: {turn.stopped}" if turn.stopped else "")
    )


def _finish(run: Run, output: Path, as_json: bool) -> None:
    """Writes the run's folder and says what came out; exit 1 where nothing was found."""
    folder = write_run(run, output)
    if as_json:
        print_json({"run": str(folder), **run.report()})
    elif run.metrics:
        show_not_judged(run.metrics)
        show_figures(run.metrics)
    sure, likely = ((run.alignment.scores > least).sum() for least in (0.9, 0.5))
    console.print(f"{len(run.alignment):,} links in {folder}/alignment.tsv; {likely:,} of them above 0.5, {sure:,} above 0.9")
    alone, alone_too = map(len, run.task.unmatched(run.alignment))
    if alone or alone_too:
        console.print(
            f"without a partner: {alone:,} of the source, {alone_too:,} of the target; they are in {folder}/unmatched.tsv"
        )
    if run.options.get("model") == "fast" and not run.reliability:
        console.print(
            "nothing has checked the probabilities: give test links (--gold), or 200 seeds or more, of which some are held back"
        )
    console.print(f"the report: {folder}/report.html")
    if "model" in run.options and is_little(run.task, run.alignment):
        console.print(f"{'few' if len(run.alignment) else 'no'} links found; what each stage had to work with:")
        for line in explain_little(run.task, run.alignment):
            console.print(f"  {line}")
    if not len(run.alignment):
        raise typer.Exit(1)


def _measure_by_name(alignment: Alignment, task: AlignmentTask, gold: Path) -> dict[str, Any]:
    """The figures of an alignment by gold links that may name entities without candidates."""
    ids = [{name: position for position, name in enumerate(graph.entities)} for graph in (task.source, task.target)]
    pairs = [
        [side.setdefault(name, len(side)) for side, name in zip(ids, fields, strict=True)] for _, fields in read_table(gold, 2)
    ]
    return evaluate(alignment, Alignment(np.array(pairs)), protocol="open")


def _whole_place(place: str | Path) -> str:
    """Where a graph is, whatever folder one is in later."""
    return str(place) if "://" in str(place) else str(Path(place).resolve())


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
