"""What an epoch of each model that trains vectors takes on this machine, in a process of its own: seconds and memory.

    python -m benchmarks.epochs [model ...] [--pair zh_en] [--device cpu]

A whole training is some hundred epochs; on a CPU that is hours for some models, so the first ten stand for all. What is done once in so
many epochs, such as looking for near negatives, is among them. Memory is the GPU's where there is one.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from benchmarks.results import DATA, add
from kgalign.align import peak_mb
from kgalign.bench.plan import Plan
from kgalign.bench.results import hardware
from kgalign.bench.runs import in_own_process
from kgalign.bench.systems import System, find_systems, told_options
from kgalign.models import make_model

MODELS = ("je", "mtranse", "jape", "iptranse", "gcn_align", "bootea", "rdgcn")
EPOCHS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--pair", default="zh_en")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    plan = Plan(DATA, models=given.models, pairs=[given.pair], device=given.device)
    for system in find_systems(plan):
        device, seconds, metrics, options = in_own_process(_measure, plan, system)
        experiment = "epochs" if device == "cpu" else "epochs_gpu"
        add(experiment, system.name, given.pair, metrics, seconds=seconds, options=options, machine=hardware(device))


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
    return device.type, done - began, metrics, {"model": system.model, **told_options(model)}


if __name__ == "__main__":
    main()
