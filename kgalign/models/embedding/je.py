"""JE: both graphs are embedded by translation, and the two entities of a seed are drawn together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch.nn import functional

from kgalign.data import AlignmentTask
from kgalign.errors import check_at_least
from kgalign.models import Options, Systems
from kgalign.models.embedding.frame import Network
from kgalign.models.embedding.translation import TranslationModel, TranslationNetwork, adagrad, step, unit


@dataclass(frozen=True)
class JE(TranslationModel):
    """Learns vectors in which head + relation is near tail for triples and further away for wrong ones, and seeds are near each other.

    Hao et al., A Joint Embedding Method for Entity Alignment of Knowledge Bases (CCKS 2016). There is no code of the authors; the
    margin and the tie between seeds have the form of the paper, the optimiser is that of the systems that came after it.

    The source of a known pair takes the vector of its target, and the neighbours of both are told so, see told_by_neighbours.

    margin              how much further off than a triple a wrong one should be
    tie                 what the squared distance between the two of a seed counts for, against a triple
    """

    epochs: int = 500
    margin: float = 3.0
    tie: float = 30.0

    name: ClassVar[str] = "je"
    systems: ClassVar[Systems] = {"JE": {}}
    quick_options: ClassVar[Options] = {"size": 32, "batch": 2000, "epochs": 60}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(margin=(self.margin, 0), tie=(self.tie, 0))

    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        return JENetwork(self, task, device)


class JENetwork(TranslationNetwork):
    """Tables of which nothing is shared."""

    def __init__(self, options: JE, task: AlignmentTask, device: torch.device) -> None:
        super().__init__(options, task, device, share=False)
        self.options, self.seeds = options, self.seed_rows()
        self.to(device)
        self.optimizer = adagrad(self.parameters(), options.learning_rate)

    def run_epoch(self, epoch: int) -> float:
        batches = self.batches()
        order = torch.randperm(len(self.seeds), generator=self.generator, device=self.seeds.device)
        losses = []
        for sides, chosen in zip(batches, order.tensor_split(len(batches)), strict=True):
            apart = self.apart(sides, self.options.margin, negatives=1)
            one, other = functional.embedding(self.seeds[chosen], unit(self.entities)).unbind(1)
            losses.append(step(self.optimizer, apart.sum() + self.options.tie * (one - other).square().sum()))
        return self.mean(losses)
