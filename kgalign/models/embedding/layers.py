"""What the graph convolution models share: both graphs in one table, sums over neighbours, known pairs, steps of learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from kgalign.data import Alignment, AlignmentTask, Floats, Ints
from kgalign.models.embedding.frame import Metric, Network

BLOCK = 2**27  # differences that are in memory at a time, 4 bytes each
Normalisation = Literal["mean", "symmetric"]


class ConvolutionNetwork(Network):
    """Both graphs in one table, the target's entities after the source's; near is what has a small L1 distance, as in the margin loss."""

    metric: Metric = "manhattan"
    optimiser: torch.optim.Optimizer

    def __init__(self, task: AlignmentTask, device: torch.device) -> None:
        super().__init__()
        self.sources, self.targets = len(task.source.entities), len(task.target.entities)
        self.seeds = joint_pairs(task, task.seeds, device)

    def begin(self, device: torch.device, learning_rate: float) -> None:
        """Makes ready to learn, when all parameters are there."""
        self.to(device)
        self.optimiser = torch.optim.Adam(self.parameters(), lr=learning_rate)

    def learn(self, loss: Tensor) -> float:
        """Takes one step towards a smaller loss."""
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return loss.item()

    def sides(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """(n, d) and (m, d) the rows of the source and those of the target."""
        return states[: self.sources], states[self.sources :]


def joint_triples(task: AlignmentTask) -> Ints:
    """(t, 3) the triples of both graphs; entities and relations of the target are numbered after those of the source."""
    shift = len(task.source.entities), len(task.source.relations), len(task.source.entities)
    return np.concatenate([task.source.triples, task.target.triples + np.array(shift)])


def joint_pairs(task: AlignmentTask, pairs: Alignment, device: torch.device) -> Tensor:
    """(p, 2) the pairs in that numbering."""
    return torch.as_tensor(pairs.pairs + np.array([0, len(task.source.entities)]), device=device)


def share_rows(rows: Tensor, known: Alignment, sources: int) -> Tensor:
    """(n + m, d) the rows of both graphs, of which the first `sources` are the source's; the source of a known pair has its target's."""
    order = np.arange(len(rows))
    order[known.sources] = sources + known.targets
    return rows.index_select(0, torch.as_tensor(order, device=rows.device))


def neighbour_matrix(triples: Ints, count: int, forward: Floats | None = None, backward: Floats | None = None) -> sparse.csr_array:
    """(count, count) what each entity (row) hears from each neighbour (column) and from itself, which counts 1.

    forward, backward   (r,) what a triple of each relation carries from its head to its tail, and back, added up over the triples; without
                        them neighbours count 1, however many triples join them
    """
    head, relation, tail = triples[triples[:, 0] != triples[:, 2]].T
    weights = np.ones(2 * len(head))
    if forward is not None and backward is not None:
        weights = np.concatenate([forward[relation], backward[relation]])
    rows, columns = np.concatenate([tail, head]), np.concatenate([head, tail])
    matrix = sparse.csr_array((weights, (rows, columns)), shape=(count, count))
    if forward is None or backward is None:
        matrix.data[:] = 1
    return sparse.csr_array(matrix + sparse.eye_array(count))


def normalised(matrix: sparse.csr_array, normalisation: Normalisation) -> sparse.csr_array:
    """mean: rows that add up to 1. symmetric: each entry divided by the square roots of the sums of its row and of its column's row."""
    sums = matrix.sum(axis=1)
    if normalisation == "mean":
        return sparse.csr_array(sparse.diags_array(1 / sums) @ matrix)
    scale = sparse.diags_array(sums**-0.5)
    return sparse.csr_array(scale @ matrix @ scale)


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A sparse matrix on a device: its entries row by row, and their order column by column, which gradients need."""

    rows: Tensor  # (e,)
    columns: Tensor  # (e,)
    turned: Tensor  # (e,) positions of the entries, column by column
    values: Tensor  # (e,)
    shape: tuple[int, int]

    @classmethod
    def of(cls, matrix: sparse.csr_array, device: torch.device) -> SparseMatrix:
        matrix = sparse.csr_array(matrix)
        matrix.sum_duplicates()
        rows, columns = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices.astype(np.int64)
        arrays = rows, columns, np.lexsort((rows, columns)), matrix.data.astype(np.float32)
        first, second, turned, values = (torch.as_tensor(array, device=device) for array in arrays)
        return cls(first, second, turned, values, matrix.shape)

    def times(self, states: Tensor, values: Tensor | None = None) -> Tensor:
        """(n, d) this (n, m) matrix times the states (m, d); the entries (e,) may be others, which then have gradients too."""
        product: Tensor = _Product.apply(states, self.values if values is None else values, self)
        return product


def random_rows(first: int, last: int, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Random numbers from `first` up to but not including `last`, on the device of the generator."""
    return torch.randint(first, last, shape, generator=generator, device=generator.device)


def l1_distances(vectors: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """(p, k) how far each of the (p,) rows `left` is from its (p, k) rows `right`."""
    others = vectors.index_select(0, right.flatten()).view(*right.shape, -1)  # (p, k, d)
    return (vectors.index_select(0, left)[:, None] - others).abs().sum(-1)


def margin_loss(vectors: Tensor, pairs: Tensor, wrong_sources: Tensor, wrong_targets: Tensor, margin: float) -> Tensor:
    """The mean, over pairs and negatives, of how much a pair's L1 distance plus the margin exceeds that of a wrong pair.

    pairs                           (p, 2) rows of `vectors` that belong together
    wrong_sources, wrong_targets    (p, k) rows that stand in for the one end and for the other
    """

    def part(states: Tensor, chosen: Tensor, sources: Tensor, targets: Tensor) -> Tensor:
        left, right = chosen.unbind(1)
        allowed = l1_distances(states, left, right[:, None]) + margin  # (p, 1)
        one = torch.relu(allowed - l1_distances(states, left, targets)).sum()
        other = torch.relu(allowed - l1_distances(states, right, sources)).sum()
        return one + other

    size = max(1, BLOCK // max(1, wrong_targets.shape[1] * vectors.shape[1]))
    total = vectors.new_zeros(())
    for parts in zip(pairs.split(size), wrong_sources.split(size), wrong_targets.split(size), strict=True):
        total = total + checkpoint(
            part, vectors, *parts, use_reentrant=False
        )  # differences are made again for the gradient, not kept
    return total / (wrong_sources.numel() + wrong_targets.numel())


class _Product(torch.autograd.Function):
    """A sparse matrix times a dense one. PyTorch's own would sort the entries anew for each gradient."""

    @staticmethod
    def forward(context: Any, states: Tensor, values: Tensor, matrix: SparseMatrix) -> Tensor:
        context.save_for_backward(states, values)
        context.matrix = matrix
        return _multiply(matrix.rows, matrix.columns, values, matrix.shape, states)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        states, values = context.saved_tensors
        matrix: SparseMatrix = context.matrix
        to_states = to_values = None
        if context.needs_input_grad[0]:
            turned = matrix.turned
            to_states = _multiply(matrix.columns[turned], matrix.rows[turned], values[turned], matrix.shape[::-1], gradient)
        if context.needs_input_grad[1]:
            size = max(1, BLOCK // states.shape[1])
            both = zip(matrix.rows.split(size), matrix.columns.split(size), strict=True)
            to_values = torch.cat([(gradient[rows] * states[columns]).sum(1) for rows, columns in both])
        return to_states, to_values, None


def _multiply(rows: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int], states: Tensor) -> Tensor:
    places = torch.stack([rows, columns])
    matrix = torch.sparse_coo_tensor(places, values, shape, is_coalesced=True, check_invariants=False)
    return matrix @ states.contiguous()
