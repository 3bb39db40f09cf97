"""All stages in one call: fit, coordinate, evaluate."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Cardinality, one_link
from kgalign.decoding.decoders import greedy
from kgalign.drafts import check_folder
from kgalign.engines import ENGINES
from kgalign.errors import OptionError
from kgalign.evaluate import evaluate, reliability
from kgalign.features.relations import relation_matches
from kgalign.models import DEFAULT, changed_options, make_model, model_options, options_of
from kgalign.pace import Pace
from kgalign.plan import plan_run
from kgalign.progress import OnProgress, watched
from kgalign.reasoning import KeepsRounds, Reasoning, Rules, coordinate
from kgalign.reasoning.easy_to_hard import OnRound
from kgalign.runs import KeptRounds, Run, file_hashes, run_key, task_hashes, value_hash
from kgalign.seams import Model, Options, check_contract

if TYPE_CHECKING:
    from kgalign.search.engine import Engine

logger = logging.getLogger(__name__)
LARGE = 40_000  # entities of both graphs: with fewer, the first round is soon over


def align(
    task: AlignmentTask,
    gold: Alignment | None = None,
    *,
    model: str | Model = DEFAULT,
    options: Options | None = None,
    rules: Rules | None = None,
    load: str | Path | None = None,
    save: str | Path | None = None,
    resume: str | Path | KeptRounds | None = None,
    bootstrap: int = 0,
    engine: str | Engine | None = None,
    on_round: OnRound | None = None,
    progress: bool | OnProgress = False,
    **changes: Any,
) -> Run:
    """Fits a model, reasons from easy to hard, and measures the result where gold links are given.

    It is `coordinate(make_model("fast").fit(task), task)` and `evaluate`, with the same defaults.

    Args:
        task: What to align.
        gold: Links to measure the result by. No model sees them.
        model: A registered name, or a model.
        options: Options of a model that is given by name.
        rules: How to reason.
        load: A folder with a trained model to use again.
        save: A folder to store the trained model in.
        resume: The folder that the run will be written to. Each round is kept beside it until then, and if an earlier process has kept rounds
            of the same run there, this one goes on from them. Rounds of another run are refused. None: rounds are not kept.
        bootstrap: Draws for confidence intervals, 0: none.
        engine: Where searches work on their blocks: a registered name such as `ray`, or an engine. None: threads of this process. It
            changes nothing in the result.
        on_round: Is called after each round, with its figures and what was decided.
        progress: True: show a bar on a terminal or in a notebook, and elsewhere a line in the log every half minute. A function: it is
            called with a `Progress` at each stage, round, step and block.
        **changes: Fields of `Rules` by name, such as `decoder="greedy"` or `max_rounds=0`.
    """
    rules = changed_rules(rules or Rules(), changes)
    chosen = choose_model(model, options or {}, rules.seed)
    check_storage(chosen, load, save)
    gold = gold if gold is not None and len(gold) else None
    kept = KeptRounds(Path(resume)) if isinstance(resume, str | Path) else resume
    with watched(progress) as tell, _opened(kept, lambda: _known_by(task, chosen, rules, load)) as keeper:
        told = Pace(tell, len(task.queries), _expected(task, model) if progress else None)
        told.stage("fit")
        chosen = _with_engine(chosen, engine, told)
        fitted: Any = chosen.fit(task) if load is None else type(chosen).load(load, **_given(model, options, rules.seed))
        if save is not None:
            fitted.save(save)
        seconds = {"fit": told.seconds}
        logger.info("%s: fitted in %.1f s", type(chosen).__name__, seconds["fit"])
        told.stage("rounds")
        reasoning = coordinate(fitted, task, rules, told.after_round(on_round), kept=keeper, on_step=told.step)
        seconds["coordinate"] = told.seconds - seconds["fit"]
        told.stage("evaluate")
        metrics = None
        if gold is not None:
            metrics = evaluate(
                reasoning.alignment,
                gold,
                protocol=task.protocol,
                cardinality=task.cardinality,
                candidates=reasoning.candidates,
                bootstrap=bootstrap,
                seed=rules.seed,
            )
        told.stage("done")
    logger.info("%s links of %s queries in %.1f s", f"{len(reasoning.alignment):,}", f"{len(task.queries):,}", told.seconds)
    return Run(
        task,
        reasoning,
        metrics,
        options=_used_options(model, chosen if load is None else fitted.options, rules, task, reasoning, load),
        seconds=seconds,
        relations=relation_matches(task, reasoning.alignment),
        gold=gold,
        reliability=_reliability(reasoning, gold, task.cardinality),
        model=fitted,
    )


def _expected(task: AlignmentTask, model: str | Model) -> float | None:
    """About how many seconds the alignment takes, where it takes long and the sizes of the graphs say so."""
    if model != DEFAULT or len(task.source.entities) + len(task.target.entities) < LARGE:
        return None
    return sum(plan_run(task).seconds) / 2


def _with_engine(model: Any, engine: str | Engine | None, pace: Pace) -> Any:
    """The model, whose searches work with that engine and tell how far they are, where it can."""
    if not model.capabilities.engines:
        return model
    from kgalign.search.engine import LocalThreads, Watched  # which imports numba

    chosen = ENGINES[engine]() if isinstance(engine, str) else engine or LocalThreads()
    return model.with_engine(Watched(chosen, pace.step, pace.block))


def _opened(kept: KeptRounds | None, key: Callable[[], dict[str, str]]) -> AbstractContextManager[KeepsRounds | None]:
    return nullcontext() if kept is None else kept.open(key)


def _known_by(task: AlignmentTask, model: Model, rules: Rules, load: str | Path | None) -> dict[str, str]:
    """What tells a run from all others that do not have the same result, part by part."""
    from kgalign.search.engine import LocalThreads  # which imports numba

    options: dict[str, Any] = options_of(model) if is_dataclass(model) else {}
    decoder = rules.decoder_name if isinstance(rules.decoder, str) else rules.decoder
    decoding = {"decoder": decoder, "decoder_options": rules.all_decoder_options(task.protocol)}
    plain: Any = model
    if model.capabilities.engines:
        plain = plain.with_engine(LocalThreads())  # an engine changes nothing in the result
    # Paths have no default; what is in a folder of checkpoints changes while the model is fitted.
    defaults: dict[str, Any] = {option.name: option.default for option in fields(model)} if is_dataclass(model) else {}
    given = [value for name, value in options.items() if defaults[name] is None and name != "checkpoint"]
    files = file_hashes(path for path in (*given, load) if isinstance(path, str | Path))
    parts = {
        "model": value_hash((type(model), str(load))),
        "options of the model": value_hash(plain),
        "files of the model": value_hash(files),
        "rules": value_hash({rule.name: getattr(rules, rule.name) for rule in fields(rules)} | decoding),
    }
    return run_key({**task_hashes(task), **parts})


def changed_rules(rules: Rules, changes: Options) -> Rules:
    """The rules with some fields changed; a name that is no field is refused."""
    known = [rule.name for rule in fields(Rules)]
    for name in changes:
        if name not in known:
            raise OptionError(f"unknown option {name!r}: expected one of {', '.join(known)}; options of a model go into `options`")
    return replace(rules, **changes)


def choose_model(model: str | Model, options: Options, seed: int = 0) -> Model:
    """The model of that name with its options, or the model itself."""
    if isinstance(model, str):
        return make_model(model, **_given(model, options, seed))
    if options:
        raise OptionError("`options` go with the name of a model; a model that is an object has its options already")
    check_contract(model, "fit")
    return model


def check_storage(model: Model, load: str | Path | None, save: str | Path | None) -> None:
    """Refuses to load or save a model that does not train, and to save one where nothing can be written."""
    if save is not None and Path(save).is_file():
        raise OptionError(f"{save}: is a file; expected a folder to store the trained model in")
    if save is not None:
        check_folder(save)
    if (load is not None or save is not None) and not model.capabilities.stores:
        raise OptionError(
            f"the model {type(model).__name__} does not train, so there is nothing to load or save: expected one that does"
        )


def _given(model: str | Model, options: Options | None, seed: int) -> dict[str, Any]:
    """The options that a model is given: by name, the seed too, where it has one; as an object, those that are not its defaults."""
    if not isinstance(model, str):
        return changed_options(model)
    return {**({"seed": seed} if "seed" in model_options(model) else {}), **(options or {})}


def _used_options(
    model: str | Model, used: Model, rules: Rules, task: AlignmentTask, reasoning: Reasoning, load: str | Path | None
) -> dict[str, Any]:
    """What run.json says of the options, defaults included."""
    decoder = {"decoder": rules.decoder_name, "decoder_options": rules.all_decoder_options(task.protocol)}
    return {
        "model": model if isinstance(model, str) else type(model).__name__,
        "model_options": options_of(used) if is_dataclass(used) else {},
        **({"load": str(load)} if load is not None else {}),
        "temperature": reasoning.candidates.temperature,
        **{rule.name: getattr(rules, rule.name) for rule in fields(rules)},
        **decoder,
        "held_out": rules.held_out if reasoning.held_out is not None else 0.0,
    }


def _reliability(reasoning: Reasoning, gold: Alignment | None, cardinality: Cardinality) -> Sequence[dict[str, float]]:
    """How often links are right, by probability: those of gold links, else the best candidates of held-out seeds.

    Held-out seeds judge the links of an entity that has one link at most.
    """
    if gold is not None:
        return reliability(reasoning.alignment, gold, cardinality)
    single_source, single_target = one_link(cardinality)
    if reasoning.held_out is None or not (single_source or single_target):
        return []
    links, best = reasoning.held_out.links, greedy(reasoning.held_out.candidates)
    if not single_source:
        best = best.where(np.isin(best.targets, links.targets))
    return reliability(best, links, cardinality)
