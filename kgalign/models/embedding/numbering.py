"""The rows of entities and relations of two graphs in one table of entities and one of relations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgalign.data import AlignmentTask, Ints
from kgalign.iri import local_name


@dataclass(frozen=True, eq=False)
class Numbering:
    """The rows that the entities and relations of both graphs have.

    Attributes:
        source: (n,) the row of each source entity.
        target: (m,) the row of each target entity.
        entities: How many rows the table of entities has.
        relations: How many rows the table of relations has.
        source_triples: (t, 3) head, relation and tail by row.
        target_triples: (u, 3) the same for the target.
    """

    source: Ints
    target: Ints
    entities: int
    relations: int
    source_triples: Ints
    target_triples: Ints


def number(task: AlignmentTask, *, share_seeds: bool, share_relations: bool) -> Numbering:
    """A row for each entity and relation.

    Args:
        task: The graphs and the seeds.
        share_seeds: The two entities of a seed have one row.
        share_relations: Relations whose IRIs end in the same name have one row.
    """
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
