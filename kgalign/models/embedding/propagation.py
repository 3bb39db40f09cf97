"""How known links change the vectors of a translation model: the two entities share a vector, and their neighbours move towards it."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from kgalign.data import Alignment, Ints
from kgalign.models.embedding.numbering import Numbering


def with_neighbour_evidence(
    table: Tensor, relations: Tensor, numbering: Numbering, known: Alignment, seeds: Alignment, weight: float
) -> tuple[Tensor, Tensor]:
    """(n, d), (m, d) the vectors of all source and target entities, with these links known.

    The source of each known link has the vector of its target. By itself this would change nothing for other entities. So where more links
    are known than the seeds, each vector is mixed with `weight` times the mean position that its neighbours predict: tail - relation
    where the entity is the head, head + relation where it is the tail.

    Args:
        table: (entities, d) unit rows, in a space in which both graphs can be compared.
        relations: (relations, d) unit rows, in the same space.
        numbering: The rows of entities and relations.
        known: The links that are known.
        seeds: The links that the table was trained on.
        weight: The weight of the predicted position against the entity's own vector.
    """
    source, target = known_rows(table, numbering, known)
    if weight == 0 or known.among(seeds).all():
        return source, target
    source_positions, target_positions = (
        predicted_positions(vectors, relations, _by_entity(triples, rows, numbering.entities, table.device))
        for vectors, triples, rows in (
            (source, numbering.source_triples, numbering.source),
            (target, numbering.target_triples, numbering.target),
        )
    )
    return functional.normalize(source + weight * source_positions), functional.normalize(target + weight * target_positions)


def known_rows(table: Tensor, numbering: Numbering, known: Alignment) -> tuple[Tensor, Tensor]:
    """(n, d), (m, d) the rows of all source and target entities, in which the source of each known link has the row of its target."""
    target = table[torch.as_tensor(numbering.target, device=table.device)]
    source = table[torch.as_tensor(numbering.source, device=table.device)].clone()
    source[torch.tensor(known.sources, device=table.device)] = target[torch.tensor(known.targets, device=table.device)]
    return source, target


def predicted_positions(vectors: Tensor, relations: Tensor, triples: Tensor) -> Tensor:
    """(n, d) the mean position that the (t, 3) triples of each entity predict for it; 0 for an entity without triples."""
    head, relation, tail = triples.unbind(-1)
    positions = torch.zeros_like(vectors)
    positions.index_add_(0, head, vectors[tail] - relations[relation])
    positions.index_add_(0, tail, vectors[head] + relations[relation])
    often = torch.bincount(torch.cat([head, tail]), minlength=len(vectors))
    return positions / often.clamp(min=1)[:, None]


def _by_entity(triples: Ints, rows: Ints, count: int, device: torch.device) -> Tensor:
    """(t, 3) the triples with the ids of entities in place of their rows."""
    ids = np.full(count, -1, np.int64)
    ids[rows] = np.arange(len(rows))
    return torch.tensor(np.column_stack([ids[triples[:, 0]], triples[:, 1], ids[triples[:, 2]]]), device=device)
