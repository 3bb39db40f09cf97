"""JE: both graphs are embedded by translation, and the two entities of a seed are drawn together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from kgalign.data import Alignment, AlignmentTask
from kgalign.errors import check_at_least
from kgalign.models import Options, Systems
from kgalign.models.embedding import EmbeddingModel, Network
from kgalign.models.translation import (
    adagrad,
    number,
    paired_batches,
    random_table,
    ranking_losses,
    step,
    told_by_neighbours,
    unit,
)


@dataclass(frozen=True)
class JE(EmbeddingModel):
    """Learns vectors in which head + relation is near tail for triples and further away for wrong ones, and seeds are near each other.

    Hao et al., A Joint Embedding Method for Entity Alignment of Knowledge Bases (CCKS 2016). There is no code of the authors; the margin
    and the tie between seeds are those of the paper, the optimiser is that of the systems that came after it.

    The source of a known pair takes the vector of its target, and the neighbours of both are told so, see told_by_neighbours.

    size                width of the vectors
    margin              how much further off than a triple a wrong one should be
    tie                 what the squared distance between the two of a seed counts for, against a triple
    batch               triples of both graphs in a step
    evidence_weight     what neighbours say of an entity counts for against its own vector; 0: nothing
    """

    epochs: int = 500
    size: int = 75
    margin: float = 3.0
    tie: float = 30.0
    batch: int = 20000
    learning_rate: float = 0.1
    evidence_weight: float = 2.0

    name: ClassVar[str] = "je"
    systems: ClassVar[Systems] = {"JE": {}}
    quick_options: ClassVar[Options] = {"size": 32, "batch": 2000, "epochs": 60}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(
            size=(self.size, 1),
            margin=(self.margin, 0),
            tie=(self.tie, 0),
            batch=(self.batch, 1),
            learning_rate=(self.learning_rate, 0),
            evidence_weight=(self.evidence_weight, 0),
        )

    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        return JENetwork(self, task, device)


class JENetwork(Network):
    """A row for each entity and relation of either graph; none is shared."""

    def __init__(self, options: JE, task: AlignmentTask, device: torch.device) -> None:
        super().__init__()
        self.options, self.known_seeds = options, task.seeds
        self.numbering = number(task, share_seeds=False, share_relations=False)
        start = torch.Generator().manual_seed(options.seed)
        self.entities = random_table(self.numbering.entities, options.size, start)
        self.relations = random_table(self.numbering.relations, options.size, start)
        rows = np.column_stack([self.numbering.source[task.seeds.sources], self.numbering.target[task.seeds.targets]])
        self.seeds = torch.tensor(rows, device=device)  # (s, 2)
        self.triples = [
            torch.tensor(triples, device=device) for triples in (self.numbering.source_triples, self.numbering.target_triples)
        ]
        self.offered = [torch.tensor(rows, device=device) for rows in (self.numbering.source, self.numbering.target)]
        self.generator = torch.Generator(device).manual_seed(options.seed)
        self.to(device)
        self.optimizer = adagrad(self.parameters(), options.learning_rate)

    def run_epoch(self, epoch: int) -> float:
        batches = list(paired_batches(self.triples[0], self.triples[1], self.options.batch, self.generator))
        order = torch.randperm(len(self.seeds), generator=self.generator, device=self.seeds.device)
        losses = []
        for sides, chosen in zip(batches, order.tensor_split(len(batches)), strict=True):
            losses.append(self._step(sides, self.seeds[chosen]))
        return float(torch.stack(losses).sum()) / sum(map(len, self.triples))

    def vectors(self, known: Alignment) -> tuple[Tensor, Tensor]:
        weight = self.options.evidence_weight
        return told_by_neighbours(unit(self.entities), unit(self.relations), self.numbering, known, self.known_seeds, weight)

    def _step(self, sides: tuple[Tensor, Tensor], seeds: Tensor) -> Tensor:
        entities, relations = unit(self.entities), unit(self.relations)
        apart = ranking_losses(
            entities, relations, sides, self.offered, margin=self.options.margin, negatives=1, generator=self.generator
        )
        one, other = functional.embedding(seeds, entities).unbind(1)
        return step(self.optimizer, apart.sum() + self.options.tie * (one - other).square().sum())
