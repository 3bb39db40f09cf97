"""MTransE: each graph is embedded by translation in a space of its own, and a linear map leads from one space to the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from kgalign.data import Alignment, AlignmentTask
from kgalign.errors import check_at_least
from kgalign.models.embedding.network import Network
from kgalign.models.embedding.translation import TranslationModel, TranslationNetwork, adagrad, step, translation_error, unit
from kgalign.seams import Capabilities


@dataclass(frozen=True)
class MTransE(TranslationModel):
    """Learns vectors in which head + relation is near tail, for each graph apart. A linear map takes the source of a seed to its target.

    Chen et al., Multilingual Knowledge Graph Embeddings for Cross-lingual Knowledge Alignment (IJCAI 2017), the fourth of its variants: a
    linear map, here with a term that keeps it near a rotation. Triples are learnt against wrong ones, as in the authors' code. The paper has
    no wrong triples (`negatives=0`), and then all vectors become similar.

    The source of a known link takes the vector of its target, and the neighbours of both move, see `with_neighbour_evidence`. Vectors of
    the source graph are mapped first.

    Attributes:
        negatives: Wrong triples for each right one; the mean over them counts. 0: none.
        margin: By how much a wrong triple should have the larger error.
        pull: The weight of the squared distance between the mapped source of a seed and its target, against a triple.
    """

    epochs: int = 500
    evaluate_every: int = 5
    size: int = 100
    negatives: int = 5
    margin: float = 2.0
    pull: float = 30.0

    name: ClassVar[str] = "mtranse"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(negatives=(self.negatives, 0), margin=(self.margin, 0), pull=(self.pull, 0))

    @property
    def capabilities(self) -> Capabilities:
        quick = {"size": 32, "batch": 2000, "epochs": 30, "learning_rate": 0.1}
        return replace(super().capabilities, systems={"MTransE": {}}, quick_options=quick)

    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        return MTransENetwork(self, task, device)


class MTransENetwork(TranslationNetwork):
    """Tables in which no rows are shared, and the map between the two spaces."""

    def __init__(self, options: MTransE, task: AlignmentTask, device: torch.device) -> None:
        super().__init__(options, task, device, share=False)
        self.options, self.seeds = options, self.seed_rows()
        self.map = nn.Parameter(nn.init.orthogonal_(torch.empty(options.size, options.size), generator=self.start))
        self.to(device)
        self.triple_optimizer = adagrad([self.entities, self.relations], options.learning_rate)
        self.map_optimizer = adagrad([self.entities, self.map], options.learning_rate)

    def run_epoch(self, epoch: int) -> float:
        batches = self.batches()
        order = torch.randperm(len(self.seeds), generator=self.generator, device=self.seeds.device)
        losses = [step(self.triple_optimizer, self._triple_loss(sides)) for sides in batches]
        losses += [step(self.map_optimizer, self._map_loss(self.seeds[chosen])) for chosen in order.tensor_split(len(batches))]
        return self.mean(losses)

    def vectors(self, known: Alignment) -> tuple[Tensor, Tensor]:
        entities, relations = unit(self.entities), unit(self.relations)
        source, source_relations = self.rows[0], self.sides[0][:, 1].unique()
        entities = entities.index_copy(0, source, unit(entities[source] @ self.map))
        relations = relations.index_copy(0, source_relations, unit(relations[source_relations] @ self.map))
        return self.with_known(entities, relations, known)

    def _triple_loss(self, sides: tuple[Tensor, Tensor]) -> Tensor:
        if not self.options.negatives:
            return translation_error(unit(self.entities), unit(self.relations), torch.cat(sides)).sum()
        return self.triple_losses(sides, self.options.margin, self.options.negatives).sum()

    def _map_loss(self, seeds: Tensor) -> Tensor:
        one, other = functional.normalize(functional.embedding(seeds, self.entities), dim=2).unbind(1)
        distance = (one @ self.map - other).square().sum()
        distortion = (self.map @ self.map.T - torch.eye(len(self.map), device=self.map.device)).square().sum()
        return self.options.pull * (distance + distortion)
