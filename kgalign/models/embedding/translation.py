"""What the translation models share: one table of entities and one of relations, in which head + relation is near tail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from kgalign.data import Alignment, AlignmentTask, Ints
from kgalign.errors import check_at_least
from kgalign.models.embedding.frame import EmbeddingModel, Network
from kgalign.iri import local_name


@dataclass(frozen=True)
class TranslationModel(EmbeddingModel):
    """The options that every translation model has.

    size                width of the vectors
    batch               triples of both graphs in a step
    evidence_weight     what neighbours say of an entity counts for against its own vector, see told_by_neighbours; 0: nothing
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
    """A row for each entity and relation of either graph; where they are shared, seeds have one, and so have relations of one name."""

    def __init__(self, options: TranslationModel, task: AlignmentTask, device: torch.device, *, share: bool) -> None:
        super().__init__()
        self.task, self.evidence_weight, self.batch = task, options.evidence_weight, options.batch
        self.numbering = number(task, share_seeds=share, share_relations=share)
        start = torch.Generator().manual_seed(options.seed)
        self.entities = random_table(self.numbering.entities, options.size, start)
        self.relations = random_table(self.numbering.relations, options.size, start)
        self.sides = [torch.tensor(side, device=device) for side in (self.numbering.source_triples, self.numbering.target_triples)]
        self.offered = [torch.tensor(rows, device=device) for rows in (self.numbering.source, self.numbering.target)]
        self.generator = torch.Generator(device).manual_seed(options.seed)
        self.start = start  # draws what a model has beside the tables

    def vectors(self, known: Alignment) -> tuple[Tensor, Tensor]:
        return self.told(unit(self.entities), unit(self.relations), known)

    def told(self, entities: Tensor, relations: Tensor, known: Alignment) -> tuple[Tensor, Tensor]:
        """Vectors of all source and target entities out of tables with unit rows, in the light of the known pairs."""
        return told_by_neighbours(entities, relations, self.numbering, known, self.task.seeds, self.evidence_weight)

    def batches(self) -> list[tuple[Tensor, Tensor]]:
        """The triples of both graphs in random batches."""
        return list(paired_batches(self.sides[0], self.sides[1], self.batch, self.generator))

    def seed_rows(self) -> Tensor:
        """(s, 2) the rows of the two entities of each seed."""
        seeds = self.task.seeds
        rows = np.column_stack([self.numbering.source[seeds.sources], self.numbering.target[seeds.targets]])
        return torch.tensor(rows, device=self.generator.device)

    def apart(self, sides: Sequence[Tensor], margin: float, negatives: int) -> Tensor:
        """(b,) how far each triple is from being nearer than wrong ones by the margin, see ranking_losses."""
        entities, relations = unit(self.entities), unit(self.relations)
        return ranking_losses(
            entities, relations, sides, self.offered, margin=margin, negatives=negatives, generator=self.generator
        )

    def mean(self, losses: Sequence[Tensor]) -> float:
        """The loss of an epoch, for each triple of both graphs."""
        return float(torch.stack(list(losses)).sum()) / max(1, sum(map(len, self.sides)))


@dataclass(frozen=True, eq=False)
class Numbering:
    """The rows that the entities and relations of both graphs have in one table of entities and one of relations."""

    source: Ints  # (n,) row of each source entity
    target: Ints  # (m,) row of each target entity
    entities: int  # rows of the table of entities
    relations: int  # rows of the table of relations
    source_triples: Ints  # (t, 3) head, relation, tail, by row
    target_triples: Ints  # (u, 3)


def number(task: AlignmentTask, *, share_seeds: bool, share_relations: bool) -> Numbering:
    """A row for each entity and relation. Seeds may share theirs, and so may relations whose IRIs end in the same name."""
    source, target = task.source, task.target
    source_rows = np.arange(len(source.entities))
    target_rows = len(source.entities) + np.arange(len(target.entities))
    if share_seeds:
        target_rows[task.seeds.targets] = source_rows[task.seeds.sources]
    _, rows = np.unique(np.concatenate([source_rows, target_rows]), return_inverse=True)
    source_rows, target_rows = np.split(rows, [len(source.entities)])
    numbers: dict[str, int] = {}
    relation_rows = []
    for side, graph in enumerate((source, target)):
        names = [local_name(iri) if share_relations else f"{side} {iri}" for iri in graph.relations]
        relation_rows.append(np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64))
    triples = [
        np.column_stack([rows[graph.triples[:, 0]], relations[graph.triples[:, 1]], rows[graph.triples[:, 2]]])
        for graph, rows, relations in zip((source, target), (source_rows, target_rows), relation_rows, strict=True)
    ]
    return Numbering(source_rows, target_rows, int(rows.max(initial=-1)) + 1, len(numbers), *triples)


def random_table(rows: int, size: int, generator: torch.Generator) -> nn.Parameter:
    """(rows, size) numbers from a normal distribution of standard deviation 1 / sqrt(size), cut at twice that."""
    deviation = size**-0.5
    table = torch.empty(rows, size)
    nn.init.trunc_normal_(table, std=deviation, a=-2 * deviation, b=2 * deviation, generator=generator)
    return nn.Parameter(table)


def translation_error(entities: Tensor, relations: Tensor, triples: Tensor) -> Tensor:
    """(...) squared length of head + relation - tail of each of the (..., 3) triples; the tables have unit rows."""
    head, tail = functional.embedding(triples[..., ::2], entities).unbind(-2)  # looked up at once: one gradient of the table's size
    difference: Tensor = head + functional.embedding(triples[..., 1], relations) - tail
    return difference.square().sum(-1)


def unit(table: Tensor) -> Tensor:
    """The table with each row of length 1. Gradients flow through it: rows are free, only what is seen of them has unit length."""
    return functional.normalize(table, dim=1)


def adagrad(parameters: Iterator[nn.Parameter] | list[nn.Parameter], rate: float) -> torch.optim.Optimizer:
    """Adagrad as the original systems had it: what it divides by starts at 0.1, with nothing added."""
    return torch.optim.Adagrad(parameters, lr=rate, initial_accumulator_value=0.1, eps=1e-30)


def step(optimizer: torch.optim.Optimizer, loss: Tensor) -> Tensor:
    """Learns from the loss and returns it, on its device: to wait for its value after each step would cost more than the step."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def corrupted(triples: Tensor, offered: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """(b, count, 3) each of the (b, 3) triples with its head or its tail, by a coin, replaced by a random one of the offered rows."""
    shape = (len(triples), count)
    wrong = triples[:, None, :].repeat(1, count, 1)
    drawn = offered[torch.randint(len(offered), shape, generator=generator, device=triples.device)]
    at_head = torch.rand(shape, generator=generator, device=triples.device) < 0.5
    wrong[..., 0] = torch.where(at_head, drawn, wrong[..., 0])
    wrong[..., 2] = torch.where(at_head, wrong[..., 2], drawn)
    return wrong


def ranking_losses(
    entities: Tensor,
    relations: Tensor,
    sides: Sequence[Tensor],
    offered: Sequence[Tensor],
    *,
    margin: float,
    negatives: int,
    generator: torch.Generator,
) -> Tensor:
    """(b,) how far each triple is from being nearer than wrong ones by the margin, on average.

    sides, offered      triples of either graph, (c, 3) and (b - c, 3), and the rows that may take the place of one of its ends
    """
    wrong = [corrupted(side, rows, negatives, generator) for side, rows in zip(sides, offered, strict=True)]
    triples = torch.cat([torch.cat(list(sides))[:, None], torch.cat(wrong)], dim=1)  # (b, 1 + negatives, 3)
    errors = translation_error(entities, relations, triples)
    return (margin + errors[:, :1] - errors[:, 1:]).relu().mean(dim=1)


def swapped(triples: Tensor, partners: Tensor) -> Tensor:
    """(t, 3) the triples that come about when a head or a tail that has a partner is replaced by it, one of the two at a time.

    partners    (entities,) the row of its partner for each row, -1: it has none
    """
    new = []
    for end in (0, 2):
        partner = partners[triples[:, end]]
        changed = triples[partner >= 0]
        changed[:, end] = partner[partner >= 0]
        new.append(changed)
    return torch.cat(new)


def triple_keys(triples: Tensor, numbering: Numbering) -> Tensor:
    """(...) one number for each of the (..., 3) triples, the same for the same triple."""
    head, relation, tail = triples.unbind(-1)
    return (head * numbering.relations + relation) * numbering.entities + tail


def are_known(keys: Tensor, known: Tensor) -> Tensor:
    """(...) whether each of the keys is one of the known ones, which are sorted."""
    return known[torch.searchsorted(known, keys).clamp(max=len(known) - 1)] == keys


def paired_batches(source: Tensor, target: Tensor, size: int, generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Shuffled batches of about that size, each with its share of the triples of either graph."""
    steps = max(1, (len(source) + len(target)) // size)
    shuffled = [
        triples[torch.randperm(len(triples), generator=generator, device=triples.device)].tensor_split(steps)
        for triples in (source, target)
    ]
    yield from zip(*shuffled, strict=True)


def known_rows(table: Tensor, numbering: Numbering, known: Alignment) -> tuple[Tensor, Tensor]:
    """(n, d), (m, d) the rows of all source and target entities, in which the source of each known pair has the row of its target."""
    target = table[torch.as_tensor(numbering.target, device=table.device)]
    source = table[torch.as_tensor(numbering.source, device=table.device)].clone()
    source[torch.tensor(known.sources, device=table.device)] = target[torch.tensor(known.targets, device=table.device)]
    return source, target


def told_by_neighbours(
    table: Tensor, relations: Tensor, numbering: Numbering, known: Alignment, seeds: Alignment, weight: float
) -> tuple[Tensor, Tensor]:
    """(n, d), (m, d) the rows of all source and target entities in the light of the known pairs.

    The source of each known pair has the row of its target. If more pairs are known than the seeds that were trained with, that would
    change nothing for anyone else; so each entity is also told by its neighbours where it should be, and its own row is mixed with
    `weight` times the mean of what they say: tail - relation where it is the head, head + relation where it is the tail.

    table, relations    (entities, d) and (relations, d), of unit rows, in a space in which both graphs can be compared
    """
    source, target = known_rows(table, numbering, known)
    if weight == 0 or np.isin(known.keys, seeds.keys).all():
        return source, target
    source_said, target_said = (
        said_by_neighbours(vectors, relations, _by_entity(triples, rows, numbering.entities, table.device))
        for vectors, triples, rows in (
            (source, numbering.source_triples, numbering.source),
            (target, numbering.target_triples, numbering.target),
        )
    )
    return unit(source + weight * source_said), unit(target + weight * target_said)


def said_by_neighbours(vectors: Tensor, relations: Tensor, triples: Tensor) -> Tensor:
    """(n, d) the mean of where its (t, 3) triples place each entity; 0 for one that has no triples."""
    head, relation, tail = triples.unbind(-1)
    said = torch.zeros_like(vectors)
    said.index_add_(0, head, vectors[tail] - relations[relation])
    said.index_add_(0, tail, vectors[head] + relations[relation])
    often = torch.bincount(torch.cat([head, tail]), minlength=len(vectors))
    return said / often.clamp(min=1)[:, None]


def _by_entity(triples: Ints, rows: Ints, count: int, device: torch.device) -> Tensor:
    """(t, 3) the triples with the ids of entities in place of their rows."""
    ids = np.full(count, -1, np.int64)
    ids[rows] = np.arange(len(rows))
    return torch.tensor(np.column_stack([ids[triples[:, 0]], triples[:, 1], ids[triples[:, 2]]]), device=device)
