"""The commands that make a run: align, and decode for candidates that another tool has scored."""

from __future__ import annotations

import time
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kgalign.align import align, check_storage, choose_model
from kgalign.cli.compiling import tell_of_compiling
from kgalign.cli.engines import check_engine, opened_engine, work_as_part
from kgalign.cli.options import (
    RULES,
    AsJson,
    AsTable,
    AsTriples,
    Bootstrap,
    Cardinalities,
    CardinalityName,
    Classes,
    DecoderName,
    IdSource,
    IdTarget,
    Labels,
    Languages,
    LimitSettings,
    NoNames,
    OnlySource,
    OnlyTarget,
    Output,
    Protocols,
    Query,
    Seed,
    Settings,
    Strict,
    Types,
    parse_form,
    parse_languages,
    parse_limits,
    parse_only,
    parse_settings,
    parse_types,
    places,
)
from kgalign.cli.printing import console, count, print_json, show_figures, show_hints, show_not_judged, working
from kgalign.cli.progress import show_round, show_task
from kgalign.data import Alignment, AlignmentTask
from kgalign.decoding import DECODERS, decoder_options, make_decoder
from kgalign.drafts import check_folder
from kgalign.engines import ENGINES
from kgalign.errors import DataError
from kgalign.evaluate import evaluate
from kgalign.explain.diagnosis import diagnose, has_few_links
from kgalign.explain.duplicates import hint_cardinality
from kgalign.features.encoders import check_encoder
from kgalign.features.text import check_word_vectors
from kgalign.limits import Limits
from kgalign.models import DEFAULT, MODELS, model_options
from kgalign.progress import shown_progress
from kgalign.readers import LINK_READERS, read
from kgalign.readers.candidates import read_candidates, read_gold
from kgalign.readers.decisions import last_lines
from kgalign.readers.places import expected
from kgalign.reasoning import Reasoning, Rules
from kgalign.runs import LONG, KeptRounds, Run, check_free, file_hashes
from kgalign.runs.report import DECIDED


class Scales(StrEnum):
    similarity = "similarity"
    probability = "probability"
    distance = "distance"


def align_command(
    source: Annotated[str, typer.Argument(help=f"a dataset folder, or the source graph: {places()}")],
    target: Annotated[str | None, typer.Argument(help="the target graph, where SOURCE is a graph")] = None,
    seeds: Annotated[Path | None, typer.Option(help=f"links that are known to be right: {expected(LINK_READERS)}")] = None,
    gold: Annotated[Path | None, typer.Option(help="links to measure the result by; never shown to the model")] = None,
    rejected: Annotated[Path | None, typer.Option(help="pairs that are known to be wrong and must not be linked")] = None,
    decisions: Annotated[
        list[Path] | None,
        typer.Option(
            help="decisions of people, as `kgalign review` keeps or exports them; may be repeated, the last file counts most"
        ),
    ] = None,
    output: Output = Path("run"),
    labels: Labels = None,
    languages: Languages = None,
    id_source: IdSource = None,
    id_target: IdTarget = None,
    table: AsTable = False,
    triples: AsTriples = False,
    strict: Strict = False,
    query: Query = None,
    limits: LimitSettings = None,
    classes: Classes = False,
    types: Types = None,
    only_source: OnlySource = None,
    only_target: OnlyTarget = None,
    no_names: NoNames = False,
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
    cardinality: CardinalityName = Cardinalities.one_to_one,
    seed_ratio: Annotated[
        float, typer.Option(help="share of the links that become seeds, where a folder has one file of links")
    ] = 0.3,
    fold_number: Annotated[int, typer.Option("--fold", help="which fold of an OpenEA folder")] = 1,
    settings: Settings = None,
    load: Annotated[Path | None, typer.Option(help="use the trained model in this folder")] = None,
    save: Annotated[Path | None, typer.Option(help="store the trained model in this folder")] = None,
    resume: Annotated[
        bool | None,
        typer.Option(
            "--resume/--no-resume",
            help="keep each round beside the output until the run is written, and go on from the rounds that an earlier process has kept; "
            "by default after a minute, and rounds of another run are replaced instead of refused",
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help=f"where searches work on their blocks: one of {', '.join(ENGINES)}")] = "local",
    address: Annotated[
        str | None, typer.Option(help="a cluster of Ray that runs, such as auto; by default one is started on this machine")
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="work on blocks for the `--join` with the same output, such as 3/16, instead of aligning"),
    ] = None,
    join: Annotated[
        bool, typer.Option("--join", help="align together with the processes that run with --part and the same output")
    ] = False,
    seed: Seed = RULES.seed,
    bootstrap: Bootstrap = 0,
    as_json: AsJson = False,
) -> None:
    """Align two graphs, and measure the result where there are test links."""
    check_engine(engine, address, part, join)
    if part is not None:
        work_as_part(output, part)
        return
    check_free(output)
    options, chosen_decoder_options = _sort_settings(settings, model, decoder)
    if encoder is not None:
        options["encoder"] = str(encoder)
    rules = Rules(decoder, chosen_decoder_options, alpha, min_new, max_rounds, freeze, all_entities, held_out, seed)
    _check_before_reading(model, options, load, save)
    how: dict[str, Any] = {
        "labels": labels or [],
        "languages": parse_languages(languages),
        "form": parse_form(table, triples),
        "id_source": id_source,
        "id_target": id_target,
        "strict": strict,
        "query": str(query.resolve()) if query else None,
        "limits": parse_limits(limits),
        "classes": classes,
        "cardinality": cardinality.value,
        "names": not no_names,
        "seed_ratio": seed_ratio,
        "split_seed": seed,
        "fold": fold_number,
        "types": parse_types(types),
        "only_source": parse_only(only_source),
        "only_target": parse_only(only_target),
        "decisions": [str(place.resolve()) for place in decisions or ()],
    }
    files = {
        "source": source,
        "target": target,
        "seeds": seeds,
        "rejected": rejected,
        "names_source": names_source,
        "names_target": names_target,
    }
    lists = [each for side in ("only_source", "only_target") for each in how[side] if Path(each).is_file()]
    began = time.perf_counter()
    console.print(f"reading {source}" + (f" and {target}" if target else ""))
    with opened_engine(engine, address, output if join else None) as chosen:  # before reading: parts wait for a sign of the join
        with working("reading"):
            inputs = file_hashes((*files.values(), gold, query, *lists, *(decisions or ())))
            decided = last_lines(how["decisions"], Limits.of(how["limits"]))  # first: what is added meanwhile is not known for sure
            task, gold_links = read(**files, gold=gold, protocol=protocol.value if protocol else None, **how)  # type: ignore[arg-type]
        seconds = {"read": time.perf_counter() - began}
        show_task(task, seconds["read"])
        tell_of_compiling()
        with shown_progress(console) as progress:
            run = align(
                task,
                gold_links,
                model=model,
                options=options,
                rules=rules,
                load=load,
                save=save,
                resume=None if resume is False else KeptRounds(output) if resume else KeptRounds(output, LONG, must_fit=False),
                bootstrap=bootstrap,
                engine=chosen,
                on_round=show_round,
                progress=progress,
            )
    given = {name: _whole_place(path) for name, path in files.items() if path is not None}
    run = replace(
        run,
        seconds={**seconds, **run.seconds},
        inputs=inputs,
        options={**run.options, "read": {**given, **how}, DECIDED: decided},
    )
    _finish(run, output, as_json)


def decode(
    candidates: Annotated[Path, typer.Argument(help="rows of source, target and score (tsv, csv, parquet), or arrays (npz)")],
    output: Output = Path("run"),
    decoder: DecoderName = RULES.decoder_name,
    scale: Annotated[Scales, typer.Option("--scores", help="the meaning of the scores")] = Scales.similarity,
    temperature: Annotated[float, typer.Option(help="scores / temperature are log-odds")] = 1.0,
    cardinality: CardinalityName = Cardinalities.one_to_one,
    gold: Annotated[Path | None, typer.Option(help="links to measure the result by")] = None,
    settings: Settings = None,
    limits: LimitSettings = None,
    seed: Seed = RULES.seed,
    as_json: AsJson = False,
) -> None:
    """Decode candidates that another tool has scored."""
    check_free(output)
    decoder = DECODERS.check(decoder)
    options = {"seed": seed, **parse_settings(settings, decoder_options(decoder))}
    decoded = make_decoder(decoder, **options)
    with working("reading"):
        inputs = file_hashes((candidates, gold))
        bounded = Limits.of(parse_limits(limits))
        given, task = read_candidates(candidates, scale.value, temperature, cardinality.value, bounded)
    began = time.perf_counter()
    alignment = decoded(given)
    seconds = {"decode": time.perf_counter() - began}
    run = Run(
        task,
        Reasoning(replace(alignment, record={**alignment.record, "decoder": decoder}), given),
        metrics=_measure_by_name(alignment, task, gold, bounded) if gold else None,
        options={
            "decoder": decoder,
            "decoder_options": {**decoder_options(decoder), **options},
            "temperature": temperature,
            "seed": seed,
        },
        seconds=seconds,
        inputs=inputs,
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
    if options.get("checkpoint") is not None:
        check_folder(options["checkpoint"])
    if load is not None and not load.is_dir():
        raise DataError(f"{load}: no such folder; expected one with a trained model, as `save` writes it")


def _finish(run: Run, output: Path, as_json: bool) -> None:
    """Writes the run folder and says what came out; exit 1 where nothing was found."""
    with working("writing the run"):
        folder = run.write(output)
    if as_json:
        print_json({"run": str(folder), **run.report()})
    elif run.metrics:
        show_not_judged(run.metrics)
        show_figures(run.metrics)
    links = run.links.alignment
    confident, plausible = ((links.scores > least).sum() for least in (0.9, 0.5))
    decided = f"{len(links) - len(run.alignment):,} of them decided by people, " if len(links) > len(run.alignment) else ""
    console.print(
        f"{count(len(links), 'link')} in {folder}/alignment.tsv; {decided}{plausible:,} of them above 0.5, {confident:,} above 0.9"
    )
    unmatched = [len(ids) for ids in run.task.unmatched(links)]
    if any(unmatched):
        console.print(f"unmatched: {unmatched[0]:,} of the source, {unmatched[1]:,} of the target; see {folder}/unmatched.tsv")
    if run.model is not None and not run.model.capabilities.learns_from_seeds and not run.reliability:
        show_hints(
            ["no links checked the probabilities: give test links (`gold`), or 200 seeds or more, so that some can be held out"]
        )
    if run.model is not None and (hint := hint_cardinality(run.task, run.alignment, run.candidates)):
        show_hints([f"hint: {hint}"])
    console.print(f"the report: {folder}/report.html")
    if run.model is not None and has_few_links(run.task, run.alignment):
        console.print(f"{'few' if len(run.alignment) else 'no'} links found; what each stage had to work with:")
        show_hints(f"  {line}" for line in diagnose(run.task, run.alignment, run.reasoning.held_out))
    if not len(links):
        raise typer.Exit(1)


def _measure_by_name(alignment: Alignment, task: AlignmentTask, gold: Path, limits: Limits) -> dict[str, Any]:
    """The figures of an alignment by gold links that may name entities without candidates."""
    return evaluate(alignment, read_gold(gold, task, limits), protocol="open", cardinality=task.cardinality)


def _whole_place(place: str | Path) -> str:
    """Where a graph is, whatever the working folder is later."""
    return str(place) if "://" in str(place) else str(Path(place).resolve())
