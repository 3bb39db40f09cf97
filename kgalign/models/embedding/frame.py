"""What all models share that give each entity a vector: training, candidates, Easy-to-Hard, files."""

from __future__ import annotations

import hashlib
import logging
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from torch import Tensor, nn

from kgalign.reasoning.calibration import calibrated
from kgalign.data import Alignment, AlignmentTask, Candidates, Ints, KnowledgeGraph, hold_out
from kgalign.errors import DataError, OptionError, check_at_least
from kgalign.models.device import pick_device
from kgalign.models.saved import read_saved, write_saved
from kgalign.search import pack

MIN_SEEDS = 10
BLOCK = 2**27  # distances that are in memory at a time, 4 bytes each
Metric = Literal["cosine", "manhattan"]
log = logging.getLogger("kgalign")


class Network(nn.Module, ABC):
    """The weights of a model for two graphs and their seeds, and how they learn.

    Parameters and persistent buffers are kept and stored; what can be made again from the graphs and the seeds is a buffer that is not
    persistent. Randomness comes from the seed that it was built with alone.
    """

    metric: Metric = "cosine"

    @abstractmethod
    def run_epoch(self, epoch: int) -> float:
        """Learns for one epoch, counted from 0, and returns the loss."""

    @abstractmethod
    def vectors(self, known: Alignment) -> tuple[Tensor, Tensor]:
        """(n, d) and (m, d) vectors of all source and all target entities, in the light of the known pairs."""


@dataclass(frozen=True, eq=False)
class Learnt:
    """What training came to."""

    tensors: dict[str, Tensor]  # the network's state, on the CPU
    seeds: Alignment  # that it learnt from
    graphs: str  # a fingerprint of the two graphs that it belongs to
    temperature: float
    nobody: float
    history: list[dict[str, float]]  # epoch, loss, development hits@1 and seconds of each look


@dataclass(frozen=True)
class EmbeddingModel(ABC):
    """Options and verbs of every model that gives each entity a vector; a model adds its own options and its network.

    k               candidates for each query; targets that have it among their own k best come on top
    epochs          at most; training ends when `patience` looks at development links, one every `look_every` epochs, brought nothing better
    dev_fraction    the share of the seeds that is held out as development links; they also make probabilities of scores
    all_seeds       trains once more on all seeds, for as many epochs as were best without the development links
    refit           known pairs become seeds of a new training, instead of sharing what the network knows of them
    device          auto, cpu, cuda
    """

    k: int = 50
    epochs: int = 1000
    look_every: int = 10
    patience: int = 10
    dev_fraction: float = 0.1
    all_seeds: bool = True
    refit: bool = False
    device: str = "auto"
    seed: int = 0
    _learnt: Learnt | None = field(default=None, init=False, repr=False, compare=False)
    _memory: list[tuple[KnowledgeGraph, KnowledgeGraph, Network]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    name: ClassVar[str]  # as in MODELS

    def __post_init__(self) -> None:
        check_at_least(
            **{name: (getattr(self, name), 1) for name in ("k", "epochs", "look_every", "patience")}, seed=(self.seed, 0)
        )
        if not 0 < self.dev_fraction < 1:
            raise OptionError(f"dev_fraction={self.dev_fraction}: expected a share between 0 and 1")

    @abstractmethod
    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        """A network for the graphs and seeds of the task, before it learns or takes over what was learnt."""

    def fit(self, task: AlignmentTask) -> Self:
        return replace(self)._fit(task, Alignment.empty())  # whatever it had learnt before is forgotten

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        if self._learnt is None:
            raise OptionError(f"the model {self.name} has learnt nothing yet: fit it first, or load a trained one")
        if self.refit and len(easy := _beside(task.seeds, known)):
            told = replace(task, seeds=task.seeds + easy)
            return replace(self, refit=False)._fit(task, easy).predict(told, task.seeds)
        candidates = self._candidates(self._network(task), task, task.queries, known)
        return replace(candidates, temperature=self._learnt.temperature, no_match_score=self._learnt.no_match_score)

    def save(self, folder: str | Path) -> None:
        """Writes the trained model into a folder."""
        if self._learnt is None:
            raise OptionError(f"the model {self.name} has learnt nothing yet: fit it before it is saved")
        notes = {
            "options": {name: value for name, value in self.options().items() if name != "device"},
            "graphs": self._learnt.graphs,
            "calibration": [self._learnt.temperature, self._learnt.no_match_score],
            "history": self._learnt.history,
        }
        tensors = {**self._learnt.tensors, "seeds": torch.tensor(self._learnt.seeds.pairs)}
        write_saved(Path(folder), self.name, tensors, notes)

    @classmethod
    def load(cls, folder: str | Path, **options: Any) -> Self:
        """A model that was saved. It keeps the options of its training; how it predicts may be set anew."""
        tensors, notes = read_saved(Path(folder), cls.name, ("options", "graphs", "calibration", "history"))
        for name, value in options.items():
            if name not in ("k", "refit", "device", "word_vectors") and value != notes["options"].get(name):
                raise OptionError(f"{name}={value}: the model in {folder} was trained with {notes['options'].get(name)}")
        seeds = Alignment(tensors.pop("seeds").numpy())
        try:
            model = cls(**{**notes["options"], **options})
        except TypeError as error:
            raise DataError(f"{folder}: was written by another version of kgalign, {error}; train the model again") from None
        temperature, no_match_score = notes["calibration"]
        return model._with(Learnt(tensors, seeds, notes["graphs"], temperature, nobody, notes["history"]))

    def options(self) -> dict[str, Any]:
        """The options by name."""
        return {option.name: getattr(self, option.name) for option in fields(self) if option.init}

    def changed(self, **options: Any) -> Self:
        """The same trained model with other options, of those that do not touch what it has learnt."""
        return replace(self, **options)._with(self._learnt)

    @property
    def history(self) -> list[dict[str, float]]:
        """Epoch, loss, development hits@1 and seconds of each look at the development links."""
        return self._learnt.history if self._learnt else []

    def _fit(self, task: AlignmentTask, easy: Alignment) -> Self:
        """The model trained on the seeds and on easy pairs. Development links are seeds: an easy pair may be wrong, and cannot judge."""
        if len(task.seeds) < MIN_SEEDS:
            raise OptionError(
                f"the model {self.name} learns from seeds, but there are {len(task.seeds)}: expected {MIN_SEEDS} or more"
            )
        device = pick_device(self.device)
        asked, dev = hold_out(task, self.dev_fraction, self.seed)
        if not len(dev) or not len(asked.seeds):
            raise OptionError(
                f"dev_fraction={self.dev_fraction}: of {len(task.seeds)} seeds that leaves {len(asked.seeds)} to learn from "
                f"and {len(dev)} to judge by; expected some of both"
            )
        task, asked = (replace(each, seeds=each.seeds + easy) for each in (task, asked))
        network = self.build(asked, device)
        history, best = self._train(network, asked, dev)
        fitted = calibrated(self._candidates(network, asked, asked.queries, asked.seeds), dev)
        seeds = asked.seeds
        if self.all_seeds:
            network, seeds = self.build(task, device), task.seeds
            began = time.perf_counter()
            for epoch in range(best):
                network.run_epoch(epoch)
                if (epoch + 1) % (10 * self.look_every) == 0:
                    left = (time.perf_counter() - began) / (epoch + 1) * (best - epoch - 1)
                    log.info("epoch %d of %d with all seeds, %.0f s left", epoch + 1, best, left)
        graphs = fingerprint(task.source, task.target)
        return self._with(Learnt(_copy(network), seeds, graphs, fitted.temperature, fitted.no_match_score, history))

    def _train(self, network: Network, asked: AlignmentTask, dev: Alignment) -> tuple[list[dict[str, float]], int]:
        """Trains until development links stop getting better, leaves the network at its best epoch; the looks, and that epoch."""
        history: list[dict[str, float]] = []
        best, best_state, began = 0, _copy(network), time.perf_counter()
        for epoch in range(self.epochs):
            loss = network.run_epoch(epoch)
            if (epoch + 1) % self.look_every and epoch + 1 < self.epochs:
                continue
            hits = self._hits(network, asked, dev)
            seconds = time.perf_counter() - began
            history.append({"epoch": epoch + 1, "loss": loss, "dev_hits@1": hits, "seconds": round(seconds, 3)})
            left = seconds / (epoch + 1) * (self.epochs - epoch - 1)
            message = "epoch %d of %d: loss %.4f, development hits@1 %.4f, %.0f s left if it goes on to the end"
            log.info(message, epoch + 1, self.epochs, loss, hits, left)
            if hits >= max(look["dev_hits@1"] for look in history):  # of two that are equally good the later has learnt more
                best, best_state = epoch + 1, _copy(network)
            elif epoch + 1 - best >= self.patience * self.look_every:
                break
        network.load_state_dict(best_state)
        return history, best

    def _hits(self, network: Network, asked: AlignmentTask, dev: Alignment) -> float:
        with torch.no_grad():
            source, target = network.vectors(asked.seeds)
            best, _ = nearest(source[_tensor(dev.sources, source)], target[_tensor(asked.pool, target)], 1, network.metric)
        return float(np.mean(asked.pool[best[:, 0]] == dev.targets))

    def _candidates(self, network: Network, task: AlignmentTask, queries: Ints, known: Alignment) -> Candidates:
        with torch.no_grad():
            source, target = network.vectors(known)
            return find_nearest(source, target, queries, task.pool, self.k, network.metric, self.seed)

    def _network(self, task: AlignmentTask) -> Network:
        """The trained network for these two graphs, remembered from call to call."""
        assert self._learnt is not None
        remembered = [network for source, target, network in self._memory if source is task.source and target is task.target]
        if not remembered and fingerprint(task.source, task.target) != self._learnt.graphs:
            raise OptionError(
                f"the model {self.name} was trained on other graphs: its vectors belong to their entities; train it on these"
            )
        unknown = np.count_nonzero(~np.isin(self._learnt.seeds.keys, task.seeds.keys))
        if unknown:
            raise OptionError(
                f"the model {self.name} was trained on {unknown} links that are no seeds here: it would be asked what it was told; "
                "give the same seeds, or train it on these"
            )
        if remembered:
            return remembered[0]
        network = self.build(replace(task, seeds=self._learnt.seeds), pick_device(self.device))
        try:
            network.load_state_dict(self._learnt.tensors)
        except RuntimeError as error:
            raise DataError(f"the weights of {self.name} do not fit its options: {str(error).splitlines()[-1].strip()}") from None
        self._memory[:] = [(task.source, task.target, network)]
        return network

    def _with(self, learnt: Learnt | None) -> Self:
        fitted = replace(self)
        object.__setattr__(fitted, "_learnt", learnt)
        return fitted


def find_nearest(source: Tensor, target: Tensor, queries: Ints, pool: Ints, k: int, metric: Metric, seed: int = 0) -> Candidates:
    """For each query the k nearest targets of the pool, and those of which it is among the k nearest, up to 4 k in all; best first.

    source, target      (n, d) and (m, d) vectors of all entities
    metric              cosine: scores are cosines; manhattan: minus the L1 distance
    seed                shuffles what is exactly tied, so that no order of ids decides
    """
    if not len(queries) or not len(pool):
        return Candidates(queries, np.full((len(queries), 1), -1), np.full((len(queries), 1), -np.inf))
    shuffle = np.random.default_rng(seed)
    asked, offered = queries[shuffle.permutation(len(queries))], pool[shuffle.permutation(len(pool))]
    left, right = source[_tensor(asked, source)], target[_tensor(offered, target)]
    columns, scores = nearest(left, right, k, metric)
    rows, back_scores = nearest(right, left, k, metric)
    packed = pack(
        np.concatenate([np.repeat(np.arange(len(asked)), columns.shape[1]), rows.ravel()]),
        np.concatenate([columns.ravel(), np.repeat(np.arange(len(offered)), rows.shape[1])]),
        np.concatenate([scores.ravel(), back_scores.ravel()]),
        len(asked),
        4 * k,
    )
    targets = np.where(packed.targets >= 0, offered[packed.targets], -1)
    order = np.argsort(asked)
    return Candidates(asked[order], targets[order], packed.scores[order])


def nearest(left: Tensor, right: Tensor, k: int, metric: Metric) -> tuple[Ints, Ints]:
    """(n, k) positions in `right` of the k nearest to each row of `left`, and their scores, best first; block by block."""
    k = min(k, len(right))
    if metric == "cosine":
        left, right = nn.functional.normalize(left), nn.functional.normalize(right)
    positions, scores = [], []
    for block in left.split(max(1, BLOCK // max(1, len(right)))):
        similarity = block @ right.T if metric == "cosine" else -torch.cdist(block, right, p=1)
        best = similarity.topk(k, dim=1)
        positions.append(best.indices.cpu())
        scores.append(best.values.cpu())
    return torch.cat(positions).numpy(), torch.cat(scores).numpy()


def fingerprint(source: KnowledgeGraph, target: KnowledgeGraph) -> str:
    """The same for the same graphs, numbered in the same way."""
    digest = hashlib.sha256()
    for graph in (source, target):
        digest.update("\n".join([*graph.entities, "", *graph.relations, "", *graph.attributes.properties, ""]).encode())
        digest.update(np.ascontiguousarray(graph.triples).tobytes() + np.ascontiguousarray(graph.attributes.facts).tobytes())
    return digest.hexdigest()


def _beside(seeds: Alignment, known: Alignment) -> Alignment:
    """The known pairs of entities that no seed has, each entity in the first that it is in."""
    easy = known.where(~np.isin(known.sources, seeds.sources) & ~np.isin(known.targets, seeds.targets))
    for side in (0, 1):
        _, first = np.unique(easy.pairs[:, side], return_index=True)
        easy = easy.where(np.sort(first))
    return easy


def _tensor(ids: Ints, beside: Tensor) -> Tensor:
    return torch.as_tensor(np.array(ids), device=beside.device)


def _copy(network: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu().clone() for name, tensor in network.state_dict().items()}
