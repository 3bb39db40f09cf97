"""The common parts of the graph convolution models: both graphs in one table, sums over neighbours, known links, the margin loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from kgalign.data import Alignment, AlignmentTask, Floats, Ints
from kgalign.models.embedding.network import Network
from kgalign.search import Metric

BLOCK = 2**27  # differences that are in memory at a time, 4 bytes each
Normalisation = Literal["mean", "symmetric"]


class ConvolutionNetwork(Network):
    """Both graphs in one table, the entities of the target after those of the source. Vectors are compared by their L1 distance, as in
    the margin loss.
    """

    metric: Metric = "manhattan"
    optimiser: torch.optim.Optimizer

    def __init__(self, task: AlignmentTask, device: torch.device) -> None:
        super().__init__()
        self.sources, self.targets = len(task.source.entities), len(task.target.entities)
        self.seeds = joint_pairs(task, task.seeds, device)

    def begin(self, device: torch.device, learning_rate: float) -> None:
        """Moves the parameters to the device and makes their optimiser, when all of them are there."""
        self.to(device)
        self.optimiser = torch.optim.Adam(self.parameters(), lr=learning_rate)

    def learn(self, loss: Tensor) -> float:
        """Takes one step towards a smaller loss, and returns the loss."""
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return loss.item()

    def sides(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """(n, d) and (m, d) the rows of the source and those of the target, from (n + m, d)."""
        return states[: self.sources], states[self.sources :]


def joint_triples(task: AlignmentTask) -> Ints:
    """(t, 3) the triples of both graphs; entities and relations of the target are numbered after those of the source."""
    shift = len(task.source.entities), len(task.source.relations), len(task.source.entities)
    return np.concatenate([task.source.triples, task.target.triples + np.array(shift)])


def joint_pairs(task: AlignmentTask, pairs: Alignment, device: torch.device) -> Tensor:
    """(p, 2) the links, numbered like `joint_triples`."""
    return torch.as_tensor(pairs.pairs + np.array([0, len(task.source.entities)]), device=device)


def share_rows(rows: Tensor, known: Alignment, sources: int) -> Tensor:
    """(n + m, d) the rows of both graphs, in which the source of a known link has the row of its target.

    Args:
        rows: (n + m, d) the rows of both graphs.
        known: Links.
        sources: The number n of source entities.
    """
    order = np.arange(len(rows))
    order[known.sources] = sources + known.targets
    return rows.index_select(0, torch.as_tensor(order, device=rows.device))


def neighbour_matrix(triples: Ints, count: int, forward: Floats | None = None, backward: Floats | None = None) -> sparse.csr_array:
    """(count, count) the weight of each neighbour (column) for each entity (row), and 1 on the diagonal.

    Args:
        triples: (t, 3) head, relation, tail.
        count: The number of entities.
        forward: (r,) the weight of the head for the tail in a triple of each relation; the weights of several triples are added. None:
            neighbours have the weight 1, however many triples join them.
        backward: (r,) the weight of the tail for the head.
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
    """`mean`: rows that add up to 1. `symmetric`: each entry divided by the square roots of the sums of its row and of its column's row."""
    sums = matrix.sum(axis=1)
    if normalisation == "mean":
        return sorted_rows(sparse.diags_array(1 / sums) @ matrix)
    scale = sparse.diags_array(sums**-0.5)
    return sorted_rows(scale @ matrix @ scale)


def sorted_rows(matrix: sparse.sparray) -> sparse.csr_array:
    """The same matrix with the columns of each row ascending, so that sums are always computed in the same order."""
    matrix = sparse.csr_array(matrix)
    matrix.sum_duplicates()
    return matrix


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A sparse matrix on a device.

    Attributes:
        rows: (e,) the row of each entry, ascending.
        columns: (e,) the column of each entry.
        by_column: (e,) the positions of the entries, ordered by column, then row: gradients need this order.
        values: (e,) the entries.
    """

    rows: Tensor
    columns: Tensor
    by_column: Tensor
    values: Tensor
    shape: tuple[int, int]

    @classmethod
    def of(cls, matrix: sparse.csr_array, device: torch.device) -> SparseMatrix:
        matrix = sparse.csr_array(matrix)
        rows, columns = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices.astype(np.int64)
        arrays = rows, columns, np.lexsort((rows, columns)), matrix.data.astype(np.float32)
        first, second, by_column, values = (torch.as_tensor(array, device=device) for array in arrays)
        return cls(first, second, by_column, values, matrix.shape)

    def times(self, states: Tensor, values: Tensor | None = None) -> Tensor:
        """(n, d) this (n, m) matrix times the states (m, d). Other values (e,) may replace its own, and have gradients too."""
        product: Tensor = _Product.apply(states, self.values if values is None else values, self)
        return product


def random_rows(first: int, last: int, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Random whole numbers from `first` to before `last`, on the device of the generator."""
    return torch.randint(first, last, shape, generator=generator, device=generator.device)


def l1_distances(vectors: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """(p, k) the distances of each of the (p,) rows `left` to its (p, k) rows `right`."""
    others = vectors.index_select(0, right.flatten()).view(*right.shape, -1)  # (p, k, d)
    return (vectors.index_select(0, left)[:, None] - others).abs().sum(-1)


def margin_loss(vectors: Tensor, pairs: Tensor, wrong_sources: Tensor, wrong_targets: Tensor, margin: float) -> Tensor:
    """The mean, over links and negatives, of how much a link's L1 distance plus the margin exceeds that of a wrong pair.

    Args:
        vectors: (n + m, d) vectors of both graphs.
        pairs: (p, 2) the rows of the two entities of each link.
        wrong_sources: (p, k) rows that replace the source.
        wrong_targets: (p, k) rows that replace the target.
        margin: The margin.
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
        # Differences are computed again for the gradient, which saves their memory.
        total = total + checkpoint(part, vectors, *parts, use_reentrant=False)
    return total / (wrong_sources.numel() + wrong_targets.numel())


class _Product(torch.autograd.Function):
    """A sparse matrix times a dense one. The product of PyTorch would sort the entries again for each gradient."""

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
            order = matrix.by_column
            to_states = _multiply(matrix.columns[order], matrix.rows[order], values[order], matrix.shape[::-1], gradient)
        if context.needs_input_grad[1]:
            size = max(1, BLOCK // states.shape[1])
            both = zip(matrix.rows.split(size), matrix.columns.split(size), strict=True)
            to_values = torch.cat([(gradient[rows] * states[columns]).sum(1) for rows, columns in both])
        return to_states, to_values, None


def _multiply(rows: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int], states: Tensor) -> Tensor:
    places = torch.stack([rows, columns])
    # The indices are valid by construction. Without this choice PyTorch warns, on a GPU, that it does not check them.
    with torch.sparse.check_sparse_tensor_invariants(enable=False):
        matrix = torch.sparse_coo_tensor(places, values, shape, is_coalesced=True)
        return matrix @ states.contiguous()
