"""The common parts of the translation models: one table of entities and one of relations, in which head + relation is near tail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from kgalign.data import Alignment, AlignmentTask
from kgalign.errors import check_at_least
from kgalign.models.embedding.frame import EmbeddingModel
from kgalign.models.embedding.network import Network
from kgalign.models.embedding.numbering import Numbering, number
from kgalign.models.embedding.propagation import with_neighbour_evidence


@dataclass(frozen=True)
class TranslationModel(EmbeddingModel):
    """The options that every translation model has.

    Attributes:
        size: The width of the vectors.
        batch: Triples of both graphs in a step.
        learning_rate: Of the optimiser.
        evidence_weight: The weight of the neighbours' evidence against the entity's own vector, see `with_neighbour_evidence`; 0: none.
    """

    size: int = 75
    batch: int = 20000
    learning_rate: float = 0.1
    evidence_weight: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(size=(self.size, 1), batch=(self.batch, 1))
        check_at_least(learning_rate=(self.learning_rate, 0), evidence_weight=(self.evidence_weight, 0))


class TranslationNetwork(Network):
    """A row for each entity and relation of either graph. With `share`, the two entities of a seed have one row, and so have relations
    of the same name.

    Attributes:
        sides: (t, 3) and (u, 3) the triples of either graph, by row.
        rows: (n,) and (m,) the rows of all source and all target entities.
        generator: Draws random numbers in training.
        start: Draws the random numbers that the tables start with, and other parameters of a model.
    """

    def __init__(self, options: TranslationModel, task: AlignmentTask, device: torch.device, *, share: bool) -> None:
        super().__init__()
        self.task, self.evidence_weight, self.batch = task, options.evidence_weight, options.batch
        self.numbering = number(task, share_seeds=share, share_relations=share)
        self.start = torch.Generator().manual_seed(options.seed)
        self.entities = random_table(self.numbering.entities, options.size, self.start)
        self.relations = random_table(self.numbering.relations, options.size, self.start)
        self.sides = [torch.tensor(side, device=device) for side in (self.numbering.source_triples, self.numbering.target_triples)]
        self.rows = [torch.tensor(rows, device=device) for rows in (self.numbering.source, self.numbering.target)]
        self.generator = torch.Generator(device).manual_seed(options.seed)

    def vectors(self, known: Alignment) -> tuple[Tensor, Tensor]:
        return self.with_known(unit(self.entities), unit(self.relations), known)

    def with_known(self, entities: Tensor, relations: Tensor, known: Alignment) -> tuple[Tensor, Tensor]:
        """Vectors of all source and target entities from tables with unit rows, with these links known."""
        return with_neighbour_evidence(entities, relations, self.numbering, known, self.task.seeds, self.evidence_weight)

    def batches(self) -> list[tuple[Tensor, Tensor]]:
        """The triples of both graphs in random batches."""
        return list(paired_batches(self.sides[0], self.sides[1], self.batch, self.generator))

    def seed_rows(self) -> Tensor:
        """(s, 2) the rows of the two entities of each seed."""
        seeds = self.task.seeds
        rows = np.column_stack([self.numbering.source[seeds.sources], self.numbering.target[seeds.targets]])
        return torch.tensor(rows, device=self.generator.device)

    def triple_losses(self, sides: Sequence[Tensor], margin: float, negatives: int) -> Tensor:
        """(b,) the loss of each triple of either graph, see `ranking_losses`."""
        entities, relations = unit(self.entities), unit(self.relations)
        return ranking_losses(entities, relations, sides, self.rows, margin=margin, negatives=negatives, generator=self.generator)

    def mean(self, losses: Sequence[Tensor]) -> float:
        """The mean loss of an epoch for each triple of both graphs."""
        return float(torch.stack(list(losses)).sum()) / max(1, sum(map(len, self.sides)))


def random_table(rows: int, size: int, generator: torch.Generator) -> nn.Parameter:
    """(rows, size) numbers from a normal distribution with the standard deviation 1 / sqrt(size), cut at twice that."""
    deviation = size**-0.5
    table = torch.empty(rows, size)
    nn.init.trunc_normal_(table, std=deviation, a=-2 * deviation, b=2 * deviation, generator=generator)
    return nn.Parameter(table)


def unit(table: Tensor) -> Tensor:
    """The table with rows of length 1. Gradients pass through: the rows themselves are free, only their direction is used."""
    return functional.normalize(table, dim=1)


def translation_error(entities: Tensor, relations: Tensor, triples: Tensor) -> Tensor:
    """(...) the squared length of head + relation - tail of each of the (..., 3) triples; the tables have unit rows."""
    head, tail = functional.embedding(triples[..., ::2], entities).unbind(-2)  # one look-up: one gradient of the size of the table
    difference: Tensor = head + functional.embedding(triples[..., 1], relations) - tail
    return difference.square().sum(-1)


def ranking_losses(
    entities: Tensor,
    relations: Tensor,
    sides: Sequence[Tensor],
    rows: Sequence[Tensor],
    *,
    margin: float,
    negatives: int,
    generator: torch.Generator,
) -> Tensor:
    """(b,) by how much the error of each triple plus the margin exceeds the errors of wrong triples, on average.

    Args:
        entities: The table of entities, with unit rows.
        relations: The table of relations, with unit rows.
        sides: (c, 3) and (b - c, 3) triples of either graph.
        rows: The rows of either graph that may replace a head or a tail.
        margin: By how much a wrong triple should have the larger error.
        negatives: Wrong triples for each right one.
        generator: Draws them.
    """
    wrong = [corrupted(side, own, negatives, generator) for side, own in zip(sides, rows, strict=True)]
    triples = torch.cat([torch.cat(list(sides))[:, None], torch.cat(wrong)], dim=1)  # (b, 1 + negatives, 3)
    errors = translation_error(entities, relations, triples)
    return (margin + errors[:, :1] - errors[:, 1:]).relu().mean(dim=1)


def corrupted(triples: Tensor, rows: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """(b, count, 3) each of the (b, 3) triples with its head or its tail, at random, replaced by a random one of the rows."""
    shape = (len(triples), count)
    drawn = rows[torch.randint(len(rows), shape, generator=generator, device=triples.device)]
    at_head = torch.rand(shape, generator=generator, device=triples.device) < 0.5
    return with_one_end(triples, drawn, at_head)


def with_one_end(triples: Tensor, drawn: Tensor, at_head: Tensor) -> Tensor:
    """(b, k, 3) each of the (b, 3) triples with the (b, k) drawn rows in place of its head where `at_head` is true, else of its tail.

    Args:
        triples: (b, 3) rows.
        drawn: (b, k) rows.
        at_head: (b, k) or (b, 1) bool.
    """
    changed = triples[:, None, :].repeat(1, drawn.shape[1], 1)
    changed[..., 0] = torch.where(at_head, drawn, changed[..., 0])
    changed[..., 2] = torch.where(at_head, changed[..., 2], drawn)
    return changed


def swapped(triples: Tensor, matches: Tensor) -> tuple[Tensor, Tensor]:
    """(t, 3) the triples in which a match replaces the head or the tail, one of the two at a time, and (t,) the rows that it replaces.

    Args:
        triples: (u, 3) rows.
        matches: (entities,) the row of each row's match, -1: it has none.
    """
    new, old = [], []
    for end in (0, 2):
        changed = triples[matches[triples[:, end]] >= 0]
        old.append(changed[:, end].clone())
        changed[:, end] = matches[old[-1]]
        new.append(changed)
    return torch.cat(new), torch.cat(old)


def triple_keys(triples: Tensor, numbering: Numbering) -> Tensor:
    """(...) one number for each of the (..., 3) triples, the same for the same triple."""
    head, relation, tail = triples.unbind(-1)
    return (head * numbering.relations + relation) * numbering.entities + tail


def are_known(keys: Tensor, known: Tensor) -> Tensor:
    """(...) whether each key is among the known ones, which are ascending."""
    return known[torch.searchsorted(known, keys).clamp(max=len(known) - 1)] == keys


def paired_batches(source: Tensor, target: Tensor, size: int, generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Shuffled batches of about that size, each with its share of the triples of either graph."""
    steps = max(1, (len(source) + len(target)) // size)
    shuffled = [
        triples[torch.randperm(len(triples), generator=generator, device=triples.device)].tensor_split(steps)
        for triples in (source, target)
    ]
    yield from zip(*shuffled, strict=True)


def adagrad(parameters: Iterator[nn.Parameter] | list[nn.Parameter], rate: float) -> torch.optim.Optimizer:
    """Adagrad as in the original systems: its sums of squares start at 0.1, and nothing is added to their roots."""
    return torch.optim.Adagrad(parameters, lr=rate, initial_accumulator_value=0.1, eps=1e-30)


def step(optimizer: torch.optim.Optimizer, loss: Tensor) -> Tensor:
    """Learns from the loss and returns it on its device: reading its value after each step would take longer than the step."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()
