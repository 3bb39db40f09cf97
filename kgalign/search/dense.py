"""Similarities of dense vectors, numpy arrays or torch tensors, a block of rows at a time: never a full n x m matrix in memory."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from kgalign.blocks import row_blocks
from kgalign.data import Floats, Ints

Metric = Literal["inner", "cosine", "manhattan"]
MEMORY_MB = 512


def similarities(block: slice, left: Any, right: Any, metric: Metric = "inner") -> Any:
    """(b, m) similarities of a block of rows of `left` to all rows of `right`; cosines take unit rows, see `comparable_rows`."""
    if metric != "manhattan":
        return left[block] @ right.T
    if isinstance(left, np.ndarray):
        from scipy.spatial.distance import cdist

        return -cdist(left[block], right, "cityblock")
    import torch

    return -torch.cdist(left[block], right, p=1)


def comparable_rows(vectors: Any, metric: Metric) -> Any:
    """The vectors as `similarities` takes them: unit rows for cosines, as they are for other metrics."""
    if metric != "cosine":
        return vectors
    if isinstance(vectors, np.ndarray):
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    from torch.nn.functional import normalize

    return normalize(vectors)


def dense_blocks(left: Any, right: Any, memory_mb: int = MEMORY_MB) -> list[slice]:
    """Blocks of rows whose similarities, with what it takes to sort them, fit into that much memory."""
    bytes_a_cell = 24 if isinstance(left, np.ndarray) else 4
    return row_blocks(len(left), max(1, memory_mb * 2**20 // (bytes_a_cell * max(1, len(right)))))


def dense_top_k(block: slice, left: Any, right: Any, k: int, metric: Metric) -> tuple[Ints, Floats]:
    """(b, k) positions and similarities of the k best rows of `right` for each row of the block, best first."""
    similarity = similarities(block, left, right, metric)
    if not isinstance(similarity, np.ndarray):
        best = similarity.topk(k, dim=1)
        return best.indices.cpu().numpy(), best.values.cpu().numpy()
    if k < similarity.shape[1]:
        columns = np.argpartition(-similarity, k - 1, axis=1)[:, :k]
    else:
        columns = np.broadcast_to(np.arange(k), (len(similarity), k))
    scores = np.take_along_axis(similarity, columns, axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1), np.take_along_axis(scores, order, axis=1)
