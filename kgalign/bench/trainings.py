"""Fitted models of a benchmark, and what their training took. A plan can keep them in a folder."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kgalign.bench.plan import Dataset
from kgalign.bench.systems import Case, System
from kgalign.data import AlignmentTask
from kgalign.models import make_model, options_of
from kgalign.runs import peak_mb
from kgalign.seams import Model

PLACES = ("word_vectors", "encoder", "checkpoint", "device")  # options that say where things are, not what a model does


@dataclass(frozen=True, eq=False)
class Training:
    """A fitted model.

    Attributes:
        model: The options that it was fitted with.
        fitted: The fitted model.
        figures: Seconds, memory and, where the model has them, epochs of the training.
    """

    model: Model
    fitted: Any
    figures: dict[str, Any]

    def changed(self, **options: Any) -> Training:
        """The same training with other options, which do not touch what was learnt."""
        model: Any = self.model
        return replace(self, model=replace(model, **options), fitted=self.fitted.changed(**options))


class Trainings:
    """The trainings of a case. Each is run when it is first needed, and once only."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.done: dict[str, Training] = {}

    def get(self, system: System) -> Training:
        options = json.dumps(dict(system.options), sort_keys=True)
        if options not in self.done:
            self.done[options] = _train(system, self.case.data.task, self.case.dataset, self.case.plan.keep)
        return self.done[options]


def named_options(model: Model) -> dict[str, Any]:
    """The options of a model as lines have them, without the places of files; word vectors and encoders by their names."""
    options = options_of(model)
    files = {name: Path(options[name]).name for name in ("word_vectors", "encoder") if options.get(name) is not None}
    return {**{name: value for name, value in options.items() if name not in PLACES}, **files}


def device_of(model: Model) -> str:
    """The device in the options of a model; cpu for a model without that option."""
    return str(options_of(model).get("device", "cpu"))


def dev_fraction(model: Model) -> float:
    """The share of the seeds that a model holds out as development links."""
    return float(options_of(model).get("dev_fraction", 0.1))


def _train(system: System, task: AlignmentTask, dataset: Dataset, keep: Path | None) -> Training:
    """A new training, or the one that the folder has."""
    model: Any = make_model(system.model, **system.options)
    if keep is None or not model.capabilities.stores:
        return _fit(model, task)
    folder = keep / _folder_name(system.model, model, dataset)
    notes = folder / "bench.json"
    if notes.is_file():
        places = {name: value for name, value in system.options.items() if name in PLACES}
        return Training(model, type(model).load(folder, **places), json.loads(notes.read_text("utf-8")))
    training = _fit(replace(model, checkpoint=str(folder)) if system.has("checkpoint") else model, task)
    training.fitted.save(folder)
    notes.write_text(json.dumps(training.figures) + "\n", encoding="utf-8")
    return training


def _fit(model: Model, task: AlignmentTask) -> Training:
    torch = sys.modules.get("torch")
    on_gpu = torch is not None and torch.cuda.is_available()
    if torch is not None and on_gpu:
        torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    fitted = model.fit(task)
    figures: dict[str, Any] = {"training_seconds": round(time.perf_counter() - began, 1)}
    used = torch.cuda.max_memory_allocated() / 2**20 if torch is not None and on_gpu else 0
    figures["training_peak_mb"] = round(used) or peak_mb()
    history = fitted.history if model.capabilities.stores else []  # evaluations on development links
    if history:
        best = max(range(len(history)), key=lambda number: history[number]["dev_hits@1"])
        figures |= {"dev_hits@1": history[best]["dev_hits@1"], "epochs": history[best].get("epoch", best + 1)}
    return Training(model, fitted, figures)


def _folder_name(name: str, model: Model, dataset: Dataset) -> str:
    """A folder name with model, dataset and seed; other options give another name."""
    options = named_options(model)
    mark = hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()[:8]
    return f"{name}-{dataset.pair}-{dataset.split.replace(' ', '-')}-{options.get('seed', 0)}-{mark}"
