"""The systems that tables have rows of: every model there is, trained once for each pair and seed."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from kgalign.align import peak_mb
from kgalign.bench.plan import Dataset, Plan
from kgalign.data import AlignmentTask
from kgalign.models import MODELS, make_model, model_class, model_options

PLACES = ("word_vectors", "encoder", "checkpoint", "device")  # options that say where things are and not what is done


@dataclass(frozen=True)
class System:
    """A model with options, under the name that tables give it."""

    name: str
    model: str
    options: Mapping[str, Any]

    @property
    def plain(self) -> System:
        """The form of it that is measured where nothing is fed back."""
        own = getattr(model_class(self.model), "plain_options", {})
        return replace(self, options={**self.options, **own})

    def has(self, option: str) -> bool:
        return option in model_options(self.model)

    def with_options(self, **options: Any) -> System:
        """The same with other options, as far as the model has them."""
        return replace(self, options={**self.options, **{name: value for name, value in options.items() if self.has(name)}})


def find_systems(plan: Plan, models: Iterable[str] = MODELS, seed: int = 0) -> list[System]:
    """The systems of the models that are planned, else of those given. An option has what is set for all, else what its class says for
    tables, else what the plan offers: seed, device, word vectors of the data."""
    systems = []
    for model in plan.models or models:
        offered = {"seed": seed, "device": plan.device, "word_vectors": plan.word_vectors}
        for name, own in getattr(model_class(model), "systems", {model: {}}).items():
            known = model_options(model)
            options = {**offered, **own, **plan.settings}
            systems.append(System(name, model, {option: value for option, value in options.items() if option in known}))
    return systems


@dataclass(frozen=True)
class Case:
    """A system on a dataset with a seed; rows of a table are its variants."""

    plan: Plan
    dataset: Dataset
    seed: int
    system: System

    def row(self, suffix: str) -> str:
        """What a table calls a variant."""
        return f"{self.system.name}{suffix}{self.plan.label}"

    def missing(self, experiment: str, rows: Iterable[str], protocol: str = "closed", split: str | None = None) -> list[str]:
        """The rows that have no line yet."""
        where = self.dataset.pair, self.seed, protocol, split or self.dataset.split
        return [row for row in rows if not self.plan.is_finished(experiment, row, *where)]


def find_cases(plan: Plan, models: Iterable[str] = MODELS) -> Iterator[Case]:
    """All that is planned, dataset by dataset."""
    for dataset in plan.datasets:
        for seed in plan.seeds:
            for system in find_systems(plan, models, seed):
                yield Case(plan, dataset, seed, system)


class Trainings:
    """The fitted models of a case, with what their training took; each is trained when it is first asked for, and no second time."""

    def __init__(self, case: Case, task: AlignmentTask) -> None:
        self.case, self.task = case, task
        self.models: dict[str, tuple[Any, dict[str, Any]]] = {}

    def get(self, system: System) -> tuple[Any, dict[str, Any]]:
        options = json.dumps(dict(system.options), sort_keys=True)
        if options not in self.models:
            self.models[options] = _kept(system, self.task, self.case.dataset, self.case.plan.keep)
        return self.models[options]


def _kept(system: System, task: AlignmentTask, dataset: Dataset, keep: Path | None) -> tuple[Any, dict[str, Any]]:
    """The fitted model, and what its training took; a model that is kept in the folder is not trained again."""
    unfitted = make_model(system.model, **system.options)
    if keep is None or not hasattr(unfitted, "save"):
        return _fit(unfitted, task)
    folder = keep / _label(system.model, unfitted, dataset)
    notes = folder / "bench.json"
    if notes.is_file():
        where = {name: value for name, value in system.options.items() if name in PLACES}
        return type(unfitted).load(folder, **where), json.loads(notes.read_text("utf-8"))
    if system.has("checkpoint"):
        unfitted = replace(unfitted, checkpoint=str(folder))
    fitted, figures = _fit(unfitted, task)
    fitted.save(folder)
    notes.write_text(json.dumps(figures) + "\n", encoding="utf-8")
    return fitted, figures


def told_options(model: Any) -> dict[str, Any]:
    """The options of a model as lines have them: what is done and not where; word vectors and encoders by their names."""
    told = {option.name: getattr(model, option.name) for option in fields(model) if option.init and option.name not in PLACES}
    given = {name: place for name in ("word_vectors", "encoder") if (place := getattr(model, name, None)) is not None}
    return {**told, **{name: Path(place).name for name, place in given.items()}}


def changed(model: Any, **options: Any) -> Any:
    """The same fitted model with other options, which do not touch what it has learnt."""
    return model.changed(**options) if hasattr(model, "changed") else replace(model, **options)


def _fit(unfitted: Any, task: AlignmentTask) -> tuple[Any, dict[str, Any]]:
    torch = sys.modules.get("torch")
    on_gpu = torch is not None and torch.cuda.is_available()
    if torch is not None and on_gpu:
        torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    fitted = unfitted.fit(task)
    figures: dict[str, Any] = {"training_seconds": round(time.perf_counter() - began, 1)}
    used = torch.cuda.max_memory_allocated() / 2**20 if torch is not None and on_gpu else 0
    figures["training_peak_mb"] = round(used) or peak_mb()
    looks = getattr(fitted, "history", [])
    if looks:
        best = max(range(len(looks)), key=lambda look: looks[look]["dev_hits@1"])
        figures |= {"dev_hits@1": looks[best]["dev_hits@1"], "epochs": looks[best].get("epoch", best + 1)}
    return fitted, figures


def _label(name: str, unfitted: Any, dataset: Dataset) -> str:
    """A folder's name that says what it is of; other options give another name."""
    options = told_options(unfitted)
    mark = hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()[:8]
    return f"{name}-{dataset.pair}-{dataset.split.replace(' ', '-')}-{options.get('seed', 0)}-{mark}"
