"""MTransE: each graph is embedded by translation in a space of its own, and a linear map leads from one to the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
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
    translation_error,
    unit,
)


@dataclass(frozen=True)
class MTransE(EmbeddingModel):
    """Learns vectors in which head + relation is near tail, for each graph apart, and a map that takes the source of a seed to its target.

    Chen et al., Multilingual Knowledge Graph Embeddings for Cross-lingual Knowledge Alignment (IJCAI 2017), the fourth of its variants: a
    linear map, here with a term that keeps it near a rotation. Triples are learnt beside wrong ones, as in the authors' code; the paper
    has none (negatives=0), with which vectors soon run together.

    The source of a known pair takes the vector of its target, and the neighbours of both are told so, see told_by_neighbours; what is
    said in the source graph is mapped first.

    size                width of the vectors
    negatives           wrong triples for each right one, the mean of which counts; 0: none
    margin              how much further off than a triple a wrong one should be
    pull                what the squared distance between the mapped source of a seed and its target counts for, against a triple
    batch               triples of both graphs in a step
    evidence_weight     what neighbours say of an entity counts for against its own vector; 0: nothing
    """

    epochs: int = 500
    look_every: int = 5
    size: int = 100
    negatives: int = 5
    margin: float = 2.0
    pull: float = 30.0
    batch: int = 20000
    learning_rate: float = 0.1
    evidence_weight: float = 2.0

    name: ClassVar[str] = "mtranse"
    systems: ClassVar[Systems] = {"MTransE": {}}
    quick_options: ClassVar[Options] = {"size": 32, "batch": 2000, "epochs": 30, "learning_rate": 0.1}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(
            size=(self.size, 1),
            negatives=(self.negatives, 0),
            margin=(self.margin, 0),
            pull=(self.pull, 0),
            batch=(self.batch, 1),
            learning_rate=(self.learning_rate, 0),
            evidence_weight=(self.evidence_weight, 0),
        )

    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        return MTransENetwork(self, task, device)


class MTransENetwork(Network):
    """A row for each entity and relation of either graph, and the map between the two spaces."""

    def __init__(self, options: MTransE, task: AlignmentTask, device: torch.device) -> None:
        super().__init__()
        self.options, self.known_seeds = options, task.seeds
        self.numbering = number(task, share_seeds=False, share_relations=False)
        start = torch.Generator().manual_seed(options.seed)
        self.entities = random_table(self.numbering.entities, options.size, start)
        self.relations = random_table(self.numbering.relations, options.size, start)
        self.map = nn.Parameter(nn.init.orthogonal_(torch.empty(options.size, options.size), generator=start))
        rows = np.column_stack([self.numbering.source[task.seeds.sources], self.numbering.target[task.seeds.targets]])
        self.seeds = torch.tensor(rows, device=device)  # (s, 2)
        self.triples = [
            torch.tensor(triples, device=device) for triples in (self.numbering.source_triples, self.numbering.target_triples)
        ]
        self.offered = [torch.tensor(rows, device=device) for rows in (self.numbering.source, self.numbering.target)]
        self.generator = torch.Generator(device).manual_seed(options.seed)
        self.to(device)
        self.triple_optimizer = adagrad([self.entities, self.relations], options.learning_rate)
        self.map_optimizer = adagrad([self.entities, self.map], options.learning_rate)

    def run_epoch(self, epoch: int) -> float:
        batches = list(paired_batches(self.triples[0], self.triples[1], self.options.batch, self.generator))
        order = torch.randperm(len(self.seeds), generator=self.generator, device=self.seeds.device)
        losses = [step(self.triple_optimizer, self._triple_loss(sides)) for sides in batches]
        losses += [step(self.map_optimizer, self._map_loss(self.seeds[chosen])) for chosen in order.tensor_split(len(batches))]
        return float(torch.stack(losses).sum()) / sum(map(len, self.triples))

    def vectors(self, known: Alignment) -> tuple[Tensor, Tensor]:
        entities, relations = unit(self.entities), unit(self.relations)
        source = torch.tensor(self.numbering.source, device=entities.device)
        source_relations = self.triples[0][:, 1].unique()
        entities = entities.index_copy(0, source, unit(entities[source] @ self.map))
        relations = relations.index_copy(0, source_relations, unit(relations[source_relations] @ self.map))
        return told_by_neighbours(entities, relations, self.numbering, known, self.known_seeds, self.options.evidence_weight)

    def _triple_loss(self, sides: tuple[Tensor, Tensor]) -> Tensor:
        entities, relations, options = unit(self.entities), unit(self.relations), self.options
        if not options.negatives:
            return translation_error(entities, relations, torch.cat(sides)).sum()
        return ranking_losses(
            entities,
            relations,
            sides,
            self.offered,
            margin=options.margin,
            negatives=options.negatives,
            generator=self.generator,
        ).sum()

    def _map_loss(self, seeds: Tensor) -> Tensor:
        one, other = functional.normalize(functional.embedding(seeds, self.entities), dim=2).unbind(1)
        apart = (one @ self.map - other).square().sum()
        bent = (self.map @ self.map.T - torch.eye(len(self.map), device=self.map.device)).square().sum()
        return self.options.pull * (apart + bent)
