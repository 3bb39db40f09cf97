"""GM on disk: trained networks, and checkpoints of a training. Weights are safetensors; each file is written whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from kgalign.data import Alignment
from kgalign.drafts import NEW, clean_up, draft_of, put_in_place
from kgalign.errors import OptionError
from kgalign.models.gm.network import GraphMatchingNetwork
from kgalign.models.gm.options import NOT_OF_TRAINING, GraphMatchingOptions
from kgalign.models.saved import check_shapes, content_of, read_saved, read_tensors, write_saved, write_tensors

CHECKPOINT = "checkpoint.safetensors"


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a training has come.

    Attributes:
        history: Loss, development hits@1 and seconds of each epoch.
        best: The weights with the highest development hits@1 so far.
        best_epoch: Their epoch, counted from 1.
    """

    history: list[dict[str, float]]
    best: Mapping[str, Tensor]
    best_epoch: int = 0

    @classmethod
    def start(cls, network: GraphMatchingNetwork) -> Self:
        return cls([], _copy(network))

    def after(self, network: GraphMatchingNetwork, epoch: dict[str, float]) -> Progress:
        """The progress one epoch later. Of two equally good epochs the later one is the best: it has learnt more."""
        history = [*self.history, epoch]
        if epoch["dev_hits@1"] >= max(each["dev_hits@1"] for each in history):
            return Progress(history, _copy(network), len(history))
        return Progress(history, self.best, self.best_epoch)

    def stale(self, patience: int) -> bool:
        """Whether no epoch was better for this many epochs."""
        return len(self.history) - self.best_epoch >= patience


def write_checkpoint(
    options: GraphMatchingOptions,
    seeds: Alignment,
    network: GraphMatchingNetwork,
    optimiser: torch.optim.Optimizer,
    progress: Progress,
) -> None:
    """Stores everything that the next epoch depends on, where the options name a folder for it."""
    if options.checkpoint is None:
        return
    tensors = {f"now.{name}": tensor for name, tensor in network.state_dict().items()}
    tensors |= {f"best.{name}": tensor for name, tensor in progress.best.items()}
    for name, parameter in network.named_parameters():
        tensors |= {f"adam.{name}.{part}": value for part, value in optimiser.state.get(parameter, {}).items()}
    notes = {"history": progress.history, "best_epoch": progress.best_epoch, "options": training_options(options)}
    notes["seeds"] = _fingerprint(seeds)
    path = Path(options.checkpoint) / CHECKPOINT
    with draft_of(path) as draft:
        write_tensors(draft / NEW, tensors, notes)
        put_in_place(draft / NEW, path)


def read_checkpoint(
    options: GraphMatchingOptions, seeds: Alignment, network: GraphMatchingNetwork, optimiser: torch.optim.Optimizer
) -> Progress | None:
    """The progress of an interrupted training, None where there is none. The network and the optimiser are put back to that state.

    Raises:
        OptionError: The training had other options or other seeds.
    """
    path = Path(options.checkpoint or "") / CHECKPOINT
    if options.checkpoint is None or not path.parent.is_dir():
        return None
    clean_up(path)  # after the last epoch nothing is written again, so what a killed process left would stay
    if not path.is_file():
        return None
    tensors, notes = read_tensors(path)
    with content_of(path):
        history, best_epoch, trained = [dict(epoch) for epoch in notes["history"]], int(notes["best_epoch"]), dict(notes["options"])
    for name, value in training_options(options).items():
        if trained.get(name) != value:
            raise OptionError(
                f"{path}: was trained with {name}={trained.get(name)}, not {value}: give the same options or another checkpoint folder"
            )
    if notes.get("seeds") != _fingerprint(seeds):
        raise OptionError(f"{path}: was trained on other seeds: give another checkpoint folder")
    device = next(network.parameters()).device
    fill(path, network, {name.removeprefix("now."): tensor for name, tensor in tensors.items() if name.startswith("now.")})
    for name, parameter in network.named_parameters():
        head = f"adam.{name}."
        state = {key.removeprefix(head): tensor for key, tensor in tensors.items() if key.startswith(head)}
        with content_of(path):
            check_shapes(state, {part: () if part == "step" else parameter.shape for part in state})
        optimiser.state[parameter] = {part: value if part == "step" else value.to(device) for part, value in state.items()}
    best = {name.removeprefix("best."): tensor for name, tensor in tensors.items() if name.startswith("best.")}
    with content_of(path):
        check_shapes(best, {name: tensor.shape for name, tensor in network.state_dict().items()})
    return Progress(history, best, best_epoch)


def training_options(options: GraphMatchingOptions) -> dict[str, Any]:
    """The options that the weights depend on."""
    return {name: value for name, value in asdict(options).items() if name not in NOT_OF_TRAINING}


def write_model(folder: Path, network: GraphMatchingNetwork, notes: Mapping[str, Any]) -> None:
    """Writes gm.safetensors and gm.json in place of an earlier model there."""
    write_saved(folder, "gm", network.state_dict(), notes)


def read_model(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The weights and the notes that `write_model` has written."""
    return read_saved(folder, "gm", ("options", "vocabulary", "word_size", "calibration", "history"))


def fill(path: Path, network: GraphMatchingNetwork, weights: Mapping[str, Tensor]) -> None:
    """Puts the weights of a file into the network."""
    with content_of(path):
        network.load_state_dict(weights)


def _fingerprint(seeds: Alignment) -> str:
    return hashlib.sha256(seeds.pairs.tobytes()).hexdigest()


def _copy(network: GraphMatchingNetwork) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu().clone() for name, tensor in network.state_dict().items()}
