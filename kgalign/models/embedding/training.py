"""How embedding models are trained: on the seeds, until held-out seeds stop getting better, then once more on all seeds."""

from __future__ import annotations

import hashlib
import logging
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph, hold_out
from kgalign.errors import OptionError
from kgalign.models.device import pick_device
from kgalign.models.embedding.network import Network, copied_state, nearest_candidates
from kgalign.models.embedding.options import EmbeddingOptions
from kgalign.reasoning.calibration import calibrated
from kgalign.search import top_k

MIN_SEEDS = 10
log = logging.getLogger("kgalign")


@dataclass(frozen=True, eq=False)
class Learnt:
    """The result of a training.

    Attributes:
        tensors: The state of the network, on the CPU.
        seeds: The links that it learnt from.
        graphs: The fingerprint of the two graphs.
        temperature: See `Candidates`.
        no_match_score: See `Candidates`.
        history: Epoch, loss, development hits@1 and seconds of each evaluation.
        file: The file that the tensors were read from; None: they were learnt in this process.
    """

    tensors: dict[str, Tensor]
    seeds: Alignment
    graphs: str
    temperature: float
    no_match_score: float
    history: list[dict[str, float]]
    file: Path | None = None


def train(options: EmbeddingOptions, task: AlignmentTask, confident: Alignment | None = None) -> tuple[Learnt, Network]:
    """The result of a training on the seeds, and the trained network.

    Args:
        options: How to learn.
        task: The graphs and the seeds.
        confident: Links to learn from beside the seeds. They may be wrong, so development links are drawn from the seeds alone.
    """
    if len(task.seeds) < MIN_SEEDS:
        raise OptionError(
            f"the model {options.name} learns from seeds, but there are {len(task.seeds)}: expected {MIN_SEEDS} or more"
        )
    device = pick_device(options.device)
    without, dev = hold_out(task, options.dev_fraction, options.seed)
    if not len(dev) or not len(without.seeds):
        raise OptionError(
            f"dev_fraction={options.dev_fraction}: of {len(task.seeds)} seeds that leaves {len(without.seeds)} to learn from "
            f"and {len(dev)} to judge by; expected some of both"
        )
    if confident is not None:
        task, without = (replace(each, seeds=each.seeds + confident) for each in (task, without))
    network = options.build(without, device)
    history, best = _train_to_best(options, network, without, dev)
    fitted = calibrated(nearest_candidates(network, without, without.seeds, options.k, options.seed), dev, task.cardinality)
    seeds = without.seeds
    if options.all_seeds:
        network, seeds = options.build(task, device), task.seeds
        _train_epochs(options, network, best)
    graphs = fingerprint(task.source, task.target)
    learnt = Learnt(copied_state(network), seeds, graphs, fitted.temperature, fitted.no_match_score, history)
    return learnt, network


def fingerprint(source: KnowledgeGraph, target: KnowledgeGraph) -> str:
    """The same text for the same graphs, numbered in the same way."""
    digest = hashlib.sha256()
    for graph in (source, target):
        digest.update("\n".join([*graph.entities, "", *graph.relations, "", *graph.attributes.properties, ""]).encode())
        digest.update(np.ascontiguousarray(graph.triples).tobytes() + np.ascontiguousarray(graph.attributes.facts).tobytes())
    return digest.hexdigest()


def _train_to_best(
    options: EmbeddingOptions, network: Network, task: AlignmentTask, dev: Alignment
) -> tuple[list[dict[str, float]], int]:
    """The evaluations and the best epoch of a training that ends when development links stop getting better.

    The network is left as it was at the best epoch.
    """
    history: list[dict[str, float]] = []
    best, best_state, began = 0, copied_state(network), time.perf_counter()
    for epoch in range(options.epochs):
        loss = network.run_epoch(epoch)
        if (epoch + 1) % options.evaluate_every and epoch + 1 < options.epochs:
            continue
        hits = _dev_hits(network, task, dev)
        seconds = time.perf_counter() - began
        history.append({"epoch": epoch + 1, "loss": loss, "dev_hits@1": hits, "seconds": round(seconds, 3)})
        left = seconds / (epoch + 1) * (options.epochs - epoch - 1)
        message = "epoch %d of %d: loss %.4f, development hits@1 %.4f, at most %.0f s left"
        log.info(message, epoch + 1, options.epochs, loss, hits, left)
        if hits >= max(evaluation["dev_hits@1"] for evaluation in history):  # of two equal ones, the later has learnt more
            best, best_state = epoch + 1, copied_state(network)
        elif epoch + 1 - best >= options.patience * options.evaluate_every:
            break
    network.load_state_dict(best_state)
    return history, best


def _train_epochs(options: EmbeddingOptions, network: Network, epochs: int) -> None:
    """Trains for a fixed number of epochs."""
    began = time.perf_counter()
    for epoch in range(epochs):
        network.run_epoch(epoch)
        if (epoch + 1) % (10 * options.evaluate_every) == 0:
            left = (time.perf_counter() - began) / (epoch + 1) * (epochs - epoch - 1)
            log.info("epoch %d of %d with all seeds, %.0f s left", epoch + 1, epochs, left)


def _dev_hits(network: Network, task: AlignmentTask, dev: Alignment) -> float:
    """The share of development links whose target is the nearest in the pool."""
    with torch.no_grad():
        source, target = network.vectors(task.seeds)
        rows, columns = (torch.tensor(ids, device=source.device) for ids in (dev.sources, task.pool))
        best, _ = top_k(source[rows], target[columns], 1, metric=network.metric)
    return float(np.mean(task.pool[best[:, 0]] == dev.targets))
