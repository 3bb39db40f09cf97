"""GCN-Align: graph convolutions over neighbours and attributes give matching entities similar vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from kgalign.data import Alignment, AlignmentTask, Floats, Ints
from kgalign.errors import OptionError, check_at_least
from kgalign.iri import local_name
from kgalign.models.embedding.frame import EmbeddingModel
from kgalign.models.embedding.layers import (
    ConvolutionNetwork,
    SparseMatrix,
    joint_triples,
    margin_loss,
    neighbour_matrix,
    normalised,
    random_rows,
    share_rows,
    sorted_rows,
)
from kgalign.models.embedding.network import Network
from kgalign.models.embedding.translation import random_table, unit
from kgalign.seams import Capabilities

LEAST_WEIGHT = 0.3  # of a triple, however many entities its relation joins to the same one


@dataclass(frozen=True)
class GCNAlign(EmbeddingModel):
    """Learns a vector for each entity and each attribute, which two layers of graph convolution without weights average over neighbours.
    The two entities of a seed come near each other, and wrong pairs stay a margin away.

    Wang et al., Cross-lingual Knowledge Graph Alignment via Graph Convolutional Networks (EMNLP 2018). Attributes with the same IRI are one
    attribute; where the graphs have no IRI in common, attributes with the same local name are. Their values do not count.

    The source of a known link has the input vector of its target, and the layers carry it to the neighbours in both graphs.

    Attributes:
        edges: `plain`: each entity has the mean of its neighbours and itself; `functional`: a triple counts by how well its relation
            determines one end from the other, and sums are normalised on both sides, as in the paper.
        size: The width of the vectors of entities.
        attributes: How many of the most frequent attributes are used; 0: none.
        attribute_size: The width of the vectors of attributes.
        structure_share: The weight of entities against attributes in distances, 0 to 1.
        negatives: Wrong entities for each seed, at either end, drawn anew for each epoch.
        margin: By how much wrong pairs should be farther apart.
        learning_rate: Of the optimiser.
    """

    epochs: int = 2000
    evaluate_every: int = 25
    edges: str = "plain"
    size: int = 200
    attributes: int = 2000
    attribute_size: int = 100
    structure_share: float = 0.9
    negatives: int = 50
    margin: float = 3.0
    learning_rate: float = 0.02

    name: ClassVar[str] = "gcn_align"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(**{name: (getattr(self, name), 1) for name in ("size", "attribute_size", "negatives")})
        check_at_least(attributes=(self.attributes, 0), margin=(self.margin, 0))
        if self.edges not in ("functional", "plain"):
            raise OptionError(f"edges={self.edges}: expected functional or plain")
        if not (0 <= self.structure_share <= 1 and self.learning_rate > 0):
            raise OptionError(
                f"structure_share={self.structure_share}, learning_rate={self.learning_rate}: expected a share and a rate above 0"
            )

    @property
    def capabilities(self) -> Capabilities:
        quick = {"size": 64, "attribute_size": 16, "negatives": 5, "epochs": 60, "evaluate_every": 20}
        return replace(super().capabilities, systems={"GCN": {}}, quick_options=quick)

    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        return GCNAlignNetwork(self, task, device)


class GCNAlignNetwork(ConvolutionNetwork):
    """One table for the entities of both graphs and one for their attributes, each with a loss of its own."""

    def __init__(self, options: GCNAlign, task: AlignmentTask, device: torch.device) -> None:
        super().__init__(task, device)
        self.options = options
        self.neighbours = SparseMatrix.of(edge_matrix(task, options.edges), device)
        matrix = attribute_matrix(task, options.attributes) if options.attributes else None
        self.features = None if matrix is None else SparseMatrix.of(matrix, device)
        start = torch.Generator().manual_seed(options.seed)
        self.structure = random_table(self.sources + self.targets, options.size, start)
        if matrix is not None:
            self.attributes = random_table(matrix.shape[1], options.attribute_size, start)
        self.generator = torch.Generator(device).manual_seed(options.seed)
        self.begin(device, options.learning_rate)

    def run_epoch(self, epoch: int) -> float:
        shape = len(self.seeds), self.options.negatives
        wrong_sources = random_rows(0, self.sources, shape, self.generator)
        wrong_targets = random_rows(self.sources, self.sources + self.targets, shape, self.generator)
        loss = self.seeds.new_zeros((), dtype=torch.float32)
        for states in self._encode(Alignment.empty()):
            loss = loss + margin_loss(states, self.seeds, wrong_sources, wrong_targets, self.options.margin)
        return self.learn(loss)

    def vectors(self, known: Alignment) -> tuple[Tensor, Tensor]:
        share = self.options.structure_share
        parts = self._encode(known)
        states = torch.cat([weight * part for weight, part in zip((share, 1 - share), parts, strict=False)], dim=1)
        return self.sides(states)

    def _encode(self, known: Alignment) -> list[Tensor]:
        """(n + m, d) the states of all entities by their structure and, where there are attributes, (n + m, e) by those."""
        inputs = [unit(self.structure)]
        if self.features is not None:
            inputs.append(self.features.times(unit(self.attributes)))
        states = []
        for rows in inputs:
            first = torch.relu(self.neighbours.times(share_rows(rows, known, self.sources)))
            states.append(self.neighbours.times(first))
        return states


def edge_matrix(task: AlignmentTask, edges: str) -> sparse.csr_array:
    """(n + m, n + m) the normalised weights of the neighbours of each entity and of itself, over both graphs."""
    count = len(task.source.entities) + len(task.target.entities)
    triples = joint_triples(task)
    if edges == "plain":
        return normalised(neighbour_matrix(triples, count), "mean")
    # The head of a triple says more about the tail, the fewer triples of the relation end in that tail.
    forward, backward = (functionality(triples, end) for end in (2, 0))
    return normalised(neighbour_matrix(triples, count, forward, backward), "symmetric")


def functionality(triples: Ints, end: int) -> Floats:
    """(r,) the number of distinct entities at one end (0: head, 2: tail) of each relation for each of its triples, 0.3 at least."""
    count = int(triples[:, 1].max(initial=-1)) + 1
    often = np.bincount(triples[:, 1], minlength=count)
    distinct = np.bincount(np.unique(triples[:, [1, end]], axis=0)[:, 0], minlength=count)
    return np.maximum(distinct / np.maximum(often, 1), LEAST_WEIGHT)


def attribute_matrix(task: AlignmentTask, most: int) -> sparse.csr_array | None:
    """(n + m, f) 1 where an entity has an attribute, for the most frequent attributes of both graphs; None where there are none."""
    graphs = task.source, task.target
    sides = [list(graph.attributes.properties) for graph in graphs]
    if not set(sides[0]) & set(sides[1]):
        sides = [[local_name(iri) for iri in side] for side in sides]
    numbers: dict[str, int] = {}
    facts = []
    for graph, side, shift in zip(graphs, sides, (0, len(task.source.entities)), strict=True):
        columns = np.array([numbers.setdefault(iri, len(numbers)) for iri in side], np.int64)
        facts.append(np.column_stack([graph.attributes.facts[:, 0] + shift, columns[graph.attributes.facts[:, 1]]]))
    rows, columns = np.unique(np.concatenate(facts), axis=0).T
    if not len(rows):
        return None
    shape = len(task.source.entities) + len(task.target.entities), len(numbers)
    matrix = sparse.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)
    frequent = np.argsort(-np.bincount(columns, minlength=len(numbers)), kind="stable")[:most]
    return sorted_rows(matrix[:, np.sort(frequent)])
