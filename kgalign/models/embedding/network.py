"""The contract of every network of an embedding model, and the candidates that its vectors give."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from kgalign.data import Alignment, AlignmentTask, Candidates
from kgalign.search import Metric, find_candidates


class Network(nn.Module, ABC):
    """The weights of a model for two graphs and their seeds, and how they learn.

    Parameters and persistent buffers are what a training learns and what is stored. Anything that can be computed again from the graphs
    and the seeds is a buffer that is not persistent. All randomness comes from the seed in the options.

    Attributes:
        metric: How near two vectors are.
    """

    metric: Metric = "cosine"

    @abstractmethod
    def run_epoch(self, epoch: int) -> float:
        """Learns for one epoch, counted from 0, and returns the loss."""

    @abstractmethod
    def vectors(self, known: Alignment) -> tuple[Tensor, Tensor]:
        """(n, d) and (m, d) vectors of all source and all target entities, with these links known."""


def nearest_candidates(network: Network, task: AlignmentTask, known: Alignment, k: int, seed: int) -> Candidates:
    """For each query the k nearest targets, and the targets that have it among their own k nearest; up to 4 k, best first."""
    with torch.no_grad():
        source, target = network.vectors(known)
        return find_candidates(source, target, task.queries, task.pool, k, metric=network.metric, both_directions=True, seed=seed)


def copied_state(network: nn.Module) -> dict[str, Tensor]:
    """A copy of everything that the network has learnt, on the CPU."""
    return {name: tensor.detach().cpu().clone() for name, tensor in network.state_dict().items()}
