"""Seconds and memory of an epoch of each embedding model on this machine, in a process of its own.

    python -m benchmarks.measure.epochs [model ...] [--pair zh_en] [--device cpu]

A whole training has some hundred epochs, which takes hours on a CPU for some models, so the first ten are measured. They contain the steps
that a model does once in several epochs, such as the search for near negatives. Memory is that of the GPU, if there is one.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from benchmarks.results import DATA, add
from kgalign.bench.plan import Plan
from kgalign.bench.results import hardware
from kgalign.bench.runs import in_own_process
from kgalign.bench.systems import System, find_systems
from kgalign.bench.trainings import named_options
from kgalign.models import MODELS, make_model
from kgalign.runs import peak_mb

EPOCHS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--pair", default="zh_en")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    plan = Plan(DATA, models=given.models or embedding_models(), pairs=[given.pair], device=given.device)
    for system in find_systems(plan):
        device, seconds, metrics, options = in_own_process(_measure, plan, system)
        experiment = "epochs" if device == "cpu" else "epochs_gpu"
        add(experiment, system.name, given.pair, metrics, seconds=seconds, options=options, machine=hardware(device))


def embedding_models() -> list[str]:
    """The registered models that train a vector for each entity."""
    from kgalign.models.embedding.frame import EmbeddingModel

    return [name for name in MODELS if issubclass(MODELS[name], EmbeddingModel)]


def _measure(plan: Plan, system: System) -> tuple[str, float, dict[str, Any], dict[str, Any]]:
    """The kind of device, seconds of set-up and epochs, figures, and the model's options."""
    import torch

    from kgalign.models.device import pick_device

    task, _ = plan.datasets[0].read()
    model, device = make_model(system.model, **system.options), pick_device(plan.device)
    on_gpu = device.type == "cuda"
    began = time.perf_counter()
    network = model.build(task, device)
    built = time.perf_counter()
    for epoch in range(EPOCHS):
        network.run_epoch(epoch)
    if on_gpu:
        torch.cuda.synchronize()
    done = time.perf_counter()
    metrics = {
        "seconds_set_up": built - began,
        "seconds_an_epoch": (done - built) / EPOCHS,
        "measured_epochs": EPOCHS,
        "peak_mb": round(torch.cuda.max_memory_allocated() / 2**20) if on_gpu else peak_mb(),
    }
    return device.type, done - began, metrics, {"model": system.model, **named_options(model)}


if __name__ == "__main__":
    main()
