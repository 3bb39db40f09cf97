"""The options that every embedding model has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from kgalign.data import AlignmentTask
from kgalign.errors import OptionError, check_at_least
from kgalign.models.embedding.network import Network


@dataclass(frozen=True)
class EmbeddingOptions(ABC):
    """The options that every embedding model has, and the network that they describe.

    Attributes:
        k: Candidates for each query; targets that have the query among their own k best come on top.
        epochs: Passes over the graphs, at most.
        evaluate_every: Epochs between two evaluations on the development links.
        patience: Training ends after this many evaluations without a better result.
        dev_fraction: The share of the seeds that are held out as development links. They choose the epoch and calibrate the scores.
        all_seeds: Trains once more on all seeds, for as many epochs as were best without the development links.
        refit: Confident links become seeds of a new training. Otherwise the network uses them without learning from them.
        device: auto, cpu or cuda.
        seed: Makes everything that is random.
        name: The registered name of the model.
    """

    k: int = 50
    epochs: int = 1000
    evaluate_every: int = 10
    patience: int = 10
    dev_fraction: float = 0.1
    all_seeds: bool = True
    refit: bool = False
    device: str = "auto"
    seed: int = 0

    name: ClassVar[str]

    def __post_init__(self) -> None:
        whole = ("k", "epochs", "evaluate_every", "patience")
        check_at_least(**{name: (getattr(self, name), 1) for name in whole}, seed=(self.seed, 0))
        if not 0 < self.dev_fraction < 1:
            raise OptionError(f"dev_fraction={self.dev_fraction}: expected a share between 0 and 1")

    @abstractmethod
    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        """A network for the graphs and seeds of the task, before it learns."""

    def rebuild(self, task: AlignmentTask, device: torch.device, learnt: Mapping[str, Tensor]) -> Network:
        """A network for the graphs and seeds of the task, which is about to be given these learnt tensors."""
        return self.build(task, device)
