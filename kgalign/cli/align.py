"""The commands that make a run: align, and decode for candidates that another tool has scored."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from kgalign.align import align, check_storage, choose_model
from kgalign.cli.options import (
    RULES,
    AsJson,
    Classes,
    DecoderName,
    Labels,
    Languages,
    Output,
    Protocols,
    Seed,
    Settings,
    Strict,
    parse_languages,
    parse_settings,
    places,
)
from kgalign.cli.printing import console, print_json, show_figures, show_hints, show_not_judged, size, working
from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph
from kgalign.decoding import DECODERS, decoder_options, make_decoder
from kgalign.errors import DataError
from kgalign.evaluate import evaluate
from kgalign.explain.diagnosis import diagnose, has_few_links
from kgalign.features.encoders import check_encoder
from kgalign.features.text import check_word_vectors
from kgalign.models import DEFAULT, MODELS, model_options
from kgalign.readers import read
from kgalign.readers.candidates import read_candidates
from kgalign.readers.tables import read_table
from kgalign.readers.triples import LIKE_VALUES
from kgalign.reasoning import Decision, Reasoning, Round, Rules
from kgalign.runs import Run, check_free


class Scales(StrEnum):
    similarity = "similarity"
    probability = "probability"
    distance = "distance"


def align_command(
    source: Annotated[str, typer.Argument(help=f"a dataset folder, or the source graph: {places()}")],
    target: Annotated[str | None, typer.Argument(help="the target graph, where SOURCE is a graph")] = None,
    seeds: Annotated[Path | None, typer.Option(help="table of links that are known to be right")] = None,
    gold: Annotated[Path | None, typer.Option(help="table of links to measure the result by; never shown to the model")] = None,
    output: Output = Path("run"),
    labels: Labels = None,
    languages: Languages = None,
    strict: Strict = False,
    classes: Classes = False,
    names_source: Annotated[
        Path | None,
        typer.Option(help="table of IRI and name that replaces names of the source, for instance by translations"),
    ] = None,
    names_target: Annotated[Path | None, typer.Option(help="the same for the target")] = None,
    encoder: Annotated[
        Path | None,
        typer.Option(help="folder of a sentence encoder (model2vec, sentence-transformers) that compares names by meaning"),
    ] = None,
    model: Annotated[str, typer.Option(help=f"one of {', '.join(MODELS)}")] = DEFAULT,
    decoder: DecoderName = RULES.decoder_name,
    alpha: Annotated[float, typer.Option(help="a link above this probability can be confident")] = RULES.alpha,
    min_new: Annotated[
        int | None,
        typer.Option(
            help="fewer new confident links than this end the rounds; by default 1 to 20 or more, by the number of queries"
        ),
    ] = RULES.min_new,
    max_rounds: Annotated[
        int, typer.Option(help="how often confident links are fed back at most; 0: decide once, without rounds")
    ] = RULES.max_rounds,
    freeze: Annotated[
        bool, typer.Option("--freeze/--no-freeze", help="a confident link stays confident for good, as in the paper")
    ] = RULES.freeze,
    all_entities: Annotated[
        bool, typer.Option("--all-entities/--only-queries", help="look for evidence among all entities, or among the queries alone")
    ] = RULES.all_entities,
    held_out: Annotated[
        float, typer.Option(help="share of the seeds that is held out at first, to check and calibrate probabilities")
    ] = RULES.held_out,
    protocol: Annotated[
        Protocols | None,
        typer.Option(
            help="closed: only entities of test links are aligned; open: all without a seed; by default open for two graphs"
        ),
    ] = None,
    seed_ratio: Annotated[
        float, typer.Option(help="share of the links that become seeds, where a folder has one file of links")
    ] = 0.3,
    fold_number: Annotated[int, typer.Option("--fold", help="which fold of an OpenEA folder")] = 1,
    settings: Settings = None,
    load: Annotated[Path | None, typer.Option(help="use the trained model in this folder")] = None,
    save: Annotated[Path | None, typer.Option(help="store the trained model in this folder")] = None,
    seed: Seed = RULES.seed,
    bootstrap: Annotated[int, typer.Option(min=0, help="draws for confidence intervals, 0: none")] = 0,
    as_json: AsJson = False,
) -> None:
    """Align two graphs, and measure the result where there are test links."""
    check_free(output)
    options, chosen_decoder_options = _sort_settings(settings, model, decoder)
    if encoder is not None:
        options["encoder"] = str(encoder)
    rules = Rules(decoder, chosen_decoder_options, alpha, min_new, max_rounds, freeze, all_entities, held_out, seed)
    _check_before_reading(model, options, load, save)
    how: dict[str, Any] = {
        "labels": labels or [],
        "languages": parse_languages(languages),
        "strict": strict,
        "classes": classes,
        "seed_ratio": seed_ratio,
        "split_seed": seed,
        "fold": fold_number,
    }
    files = {"source": source, "target": target, "seeds": seeds, "names_source": names_source, "names_target": names_target}
    began = time.perf_counter()
    console.print(f"reading {source}" + (f" and {target}" if target else ""))
    with working("reading"):
        task, gold_links = read(**files, gold=gold, protocol=protocol.value if protocol else None, **how)  # type: ignore[arg-type]
    seconds = {"read": time.perf_counter() - began}
    _show_task(task, seconds["read"])
    with working("aligning"):
        run = align(
            task,
            gold_links,
            model=model,
            options=options,
            rules=rules,
            load=load,
            save=save,
            bootstrap=bootstrap,
            on_round=_show_round,
        )
    given = {name: _whole_place(path) for name, path in files.items() if path is not None}
    run = replace(
        run,
        seconds={**seconds, **run.seconds},
        inputs=_hashes(Path(path) for path in (*files.values(), gold) if path is not None),
        options={**run.options, "read": {**given, **how}},
    )
    _finish(run, output, as_json)


def decode(
    candidates: Annotated[Path, typer.Argument(help="rows of source, target and score (tsv, csv, parquet), or arrays (npz)")],
    output: Output = Path("run"),
    decoder: DecoderName = RULES.decoder_name,
    scale: Annotated[Scales, typer.Option("--scores", help="the meaning of the scores")] = Scales.similarity,
    temperature: Annotated[float, typer.Option(help="scores / temperature are log-odds")] = 1.0,
    gold: Annotated[Path | None, typer.Option(help="table of links to measure the result by")] = None,
    settings: Settings = None,
    seed: Seed = RULES.seed,
    as_json: AsJson = False,
) -> None:
    """Decode candidates that another tool has scored."""
    check_free(output)
    decoder = DECODERS.check(decoder)
    options = {"seed": seed, **parse_settings(settings, decoder_options(decoder))}
    decoded = make_decoder(decoder, **options)
    with working("reading"):
        given, task = read_candidates(candidates, scale.value, temperature)
    began = time.perf_counter()
    alignment = decoded(given)
    seconds = {"decode": time.perf_counter() - began}
    run = Run(
        task,
        Reasoning(replace(alignment, record={**alignment.record, "decoder": decoder}), given),
        metrics=_measure_by_name(alignment, task, gold) if gold else None,
        options={
            "decoder": decoder,
            "decoder_options": {**decoder_options(decoder), **options},
            "temperature": temperature,
            "seed": seed,
        },
        seconds=seconds,
        inputs=_hashes(path for path in (candidates, gold) if path is not None),
    )
    _finish(run, output, as_json)


def _sort_settings(settings: list[str] | None, model: str, decoder: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of the model and those of the decoder."""
    for_model, for_decoder = model_options(model), decoder_options(decoder)
    given = parse_settings(settings, {**for_decoder, **for_model})
    return (
        {name: value for name, value in given.items() if name in for_model},
        {name: value for name, value in given.items() if name in for_decoder},
    )


def _check_before_reading(model: str, options: dict[str, Any], load: Path | None, save: Path | None) -> None:
    """Finds bad options at once and not after minutes."""
    check_storage(choose_model(model, options), load, save)
    check_word_vectors(options)
    if options.get("encoder") is not None:
        check_encoder(options["encoder"])
    if load is not None and not load.is_dir():
        raise DataError(f"{load}: no such folder; expected one with a trained model, as `save` writes it")


def _show_task(task: AlignmentTask, seconds: float) -> None:
    console.print(f"read {size(task.source)} and {size(task.target)} in {seconds:.1f} s")
    for side, graph in (("source", task.source), ("target", task.target)):
        _show_reading(side, graph)
    counts = f"{len(task.seeds):,} seeds, {len(task.queries):,} queries, {len(task.pool):,} targets in the candidate pool"
    console.print(f"{counts} ({task.protocol} protocol)")


def _show_reading(side: str, graph: KnowledgeGraph) -> None:
    """Where the names of a graph come from, and what was broken in it or looks wrong."""
    seen = graph.record
    if "names from" in seen:
        named = seen.get("subjects with a label")
        share = f", {named:.0%} of the subjects named" if named else ""
        console.print(f"{side}: names from {seen['names from']}; language {seen['language of the names']}{share}")
    if seen.get(LIKE_VALUES):
        console.print(f"{side}: {LIKE_VALUES}: {seen[LIKE_VALUES]:,}; in a table, put double quotes around literals")
    if seen.get("classes left out"):
        console.print(f"{side}: classes and properties that are left out: {seen['classes left out']:,}; --classes aligns them too")
    if seen.get("broken"):
        console.print(f"{side}: broken statements that are left out: {seen['broken']:,}; --strict refuses them. The first:")
        for problem in seen["first broken"]:
            console.print(f"  {problem}")
    if seen.get("mended"):
        console.print(f"{side}: statements that break the rules but could be read: {seen['mended']:,}. The first:")
        for problem in seen["first mended"]:
            console.print(f"  {problem}")


def _show_round(figures: Round, decision: Decision) -> None:
    if figures.stopped == "plain decoding":
        return
    right, checked = figures.held_out
    held_out = f", {right:,} of {checked:,} held-out seeds right" if checked else ""
    console.print(
        f"round {figures.number}, {figures.queries:,} queries: {figures.confident:,} confident links ({figures.new:,} new{held_out}), "
        f"{figures.changed:,} changed, {figures.seconds:.1f} s" + (f"; stopped: {figures.stopped}" if figures.stopped else "")
    )


def _finish(run: Run, output: Path, as_json: bool) -> None:
    """Writes the run folder and says what came out; exit 1 where nothing was found."""
    folder = run.write(output)
    if as_json:
        print_json({"run": str(folder), **run.report()})
    elif run.metrics:
        show_not_judged(run.metrics)
        show_figures(run.metrics)
    confident, plausible = ((run.alignment.scores > least).sum() for least in (0.9, 0.5))
    console.print(
        f"{len(run.alignment):,} links in {folder}/alignment.tsv; {plausible:,} of them above 0.5, {confident:,} above 0.9"
    )
    unmatched = [len(ids) for ids in run.task.unmatched(run.alignment)]
    if any(unmatched):
        console.print(f"unmatched: {unmatched[0]:,} of the source, {unmatched[1]:,} of the target; see {folder}/unmatched.tsv")
    if run.model is not None and not run.model.capabilities.learns_from_seeds and not run.reliability:
        show_hints(
            ["no links checked the probabilities: give test links (`gold`), or 200 seeds or more, so that some can be held out"]
        )
    console.print(f"the report: {folder}/report.html")
    if run.model is not None and has_few_links(run.task, run.alignment):
        console.print(f"{'few' if len(run.alignment) else 'no'} links found; what each stage had to work with:")
        show_hints(f"  {line}" for line in diagnose(run.task, run.alignment))
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
    """Where a graph is, whatever the working folder is later."""
    return str(place) if "://" in str(place) else str(Path(place).resolve())


def _hashes(paths: Iterator[Path]) -> dict[str, str]:
    """The SHA-256 of each file, also of those in folders or of a pattern."""
    files = sorted(file for path in paths for file in _files_at(path) if file.is_file())
    return {str(file): _hash(file) for file in files}


def _files_at(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if path.is_dir():
        return list(path.rglob("*"))
    return list(path.parent.glob(path.name)) if path.parent.is_dir() else []


def _hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
