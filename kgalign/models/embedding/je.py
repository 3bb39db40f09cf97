"""JE: both graphs are embedded by translation, and the two entities of a seed are pulled together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch.nn import functional

from kgalign.data import AlignmentTask
from kgalign.errors import check_at_least
from kgalign.models.embedding.network import Network
from kgalign.models.embedding.translation import TranslationModel, TranslationNetwork, adagrad, step, unit
from kgalign.seams import Capabilities


@dataclass(frozen=True)
class JE(TranslationModel):
    """Learns vectors in which head + relation is nearer to the tail for triples than for wrong triples. The two entities of a seed have
    vectors near each other.

    Hao et al., A Joint Embedding Method for Entity Alignment of Knowledge Bases (CCKS 2016). The authors published no code: the margin and
    the tie between the entities of a seed have the form of the paper, the optimiser is that of the systems that followed.

    The source of a known link takes the vector of its target, and the neighbours of both move, see `with_neighbour_evidence`.

    Attributes:
        margin: By how much a wrong triple should have the larger error.
        tie: The weight of the squared distance between the two entities of a seed, against a triple.
    """

    epochs: int = 500
    margin: float = 3.0
    tie: float = 30.0

    name: ClassVar[str] = "je"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(margin=(self.margin, 0), tie=(self.tie, 0))

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, systems={"JE": {}}, quick_options={"size": 32, "batch": 2000, "epochs": 60})

    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        return JENetwork(self, task, device)


class JENetwork(TranslationNetwork):
    """Tables in which no rows are shared."""

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
            triple_loss = self.triple_losses(sides, self.options.margin, negatives=1).sum()
            one, other = functional.embedding(self.seeds[chosen], unit(self.entities)).unbind(1)
            losses.append(step(self.optimizer, triple_loss + self.options.tie * (one - other).square().sum()))
        return self.mean(losses)
