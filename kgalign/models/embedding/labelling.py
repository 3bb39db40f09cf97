"""How BootEA labels pairs in training: similar pairs, one to one, that stay until better ones are found."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.nn import functional

from kgalign.data import AlignmentTask, Floats, Ints, KnowledgeGraph
from kgalign.decoding.assignment import assign
from kgalign.search.dense import dense_blocks, similarities


def find_labels(source: Tensor, target: Tensor, bonus: sparse.csr_array, held: Ints, k: int, threshold: float) -> Ints:
    """(n,) the position of the target that each source is labelled with, -1: none; no target twice.

    Args:
        source: (n, d) unit vectors; the cosine with a target is the similarity.
        target: (m, d) unit vectors.
        bonus: (n, m) an addition to the similarities.
        held: (n,) the labels so far.
        k: A new label is among the k most similar targets.
        threshold: New labels are more similar than this.
    """
    columns, best, held_similarity = [], [], []
    labelled = torch.as_tensor(held, device=source.device)
    for block in dense_blocks(source, target):
        similarity = similarities(block, source, target)  # (b, m)
        extra = bonus[block].tocoo()
        at = torch.as_tensor(np.stack([extra.row, extra.col]).astype(np.int64), device=source.device)
        similarity[at[0], at[1]] += torch.as_tensor(extra.data, device=source.device)
        highest = similarity.topk(min(k, len(target)), dim=1)
        columns.append(highest.indices.cpu())
        best.append(highest.values.cpu())
        held_similarity.append(similarity.gather(1, labelled[block, None].clamp(min=0))[:, 0].cpu())
    candidates, values = torch.cat(columns).numpy(), torch.cat(best).numpy()  # (n, k)
    matched = match(candidates, values, threshold, len(target))
    value = np.where(candidates == matched[:, None], values, -np.inf).max(axis=1)
    return edit_labels(held, torch.cat(held_similarity).numpy(), matched, value)


def match(columns: Ints, values: Floats, threshold: float, column_count: int) -> Ints:
    """(n,) the one-to-one choice of columns with the largest sum of values, among values above the threshold; -1: none."""
    rows, slots = np.nonzero(values > threshold)
    starts = np.searchsorted(rows, np.arange(len(columns) + 1))
    price = np.zeros(len(columns))
    return assign(starts, columns[rows, slots], -values[rows, slots].astype(np.float64), column_count, price).columns


def edit_labels(held: Ints, held_values: Floats, found: Ints, found_values: Floats) -> Ints:
    """(n,) the labels after an edit: a new label replaces a less similar one; of sources with the same label the most similar keeps it."""
    better = (found >= 0) & ((held < 0) | (found_values >= held_values))
    labels, values = np.where(better, found, held), np.where(better, found_values, held_values)
    order = np.lexsort((-values, labels))
    _, first = np.unique(labels[order], return_index=True)
    edited = np.full(len(labels), -1)
    edited[order[first]] = labels[order[first]]
    return edited


def unlikelihood(left: Tensor, right: Tensor, unlabelled: Tensor, pool: Tensor) -> Tensor:
    """The negative log-likelihood of the alignment, in which the probability of a pair is the sigmoid of its inner product.

    The part of the unlabelled sources has u x m terms -log sigmoid(x) = log 2 - x / 2 + x^2 / 8 - ... The sums over x and x^2 need only
    the sum and the moments of either side; the terms that are left out are below x^4 / 192.

    Args:
        left: (p, d) unit vectors of the sources of seeds and labelled pairs.
        right: (p, d) unit vectors of their targets.
        unlabelled: (u, d) unit vectors of sources without a label, which are spread evenly over the pool.
        pool: (m, d) unit vectors.
    """
    pairs = functional.softplus(-(left * right).sum(-1)).sum()
    products = unlabelled.sum(0) @ pool.sum(0)
    squares = ((unlabelled.T @ unlabelled) * (pool.T @ pool)).sum()
    even = len(unlabelled) * np.log(2) + (squares / 8 - products / 2) / max(1, len(pool))
    return pairs + even


def shared_neighbours(task: AlignmentTask, queries: Ints, pool: Ints) -> sparse.csr_array:
    """(n, m) how many seeds a query and a pool entity both point to."""
    source = _points_to(task.source, queries, task.seeds.sources)
    target = _points_to(task.target, pool, task.seeds.targets)
    return sparse.csr_array(source @ target.T)


def _points_to(graph: KnowledgeGraph, heads: Ints, tails: Ints) -> sparse.csr_array:
    """(n, s) 1 where the head has a triple with the tail."""
    pairs = np.unique(graph.triples[:, [0, 2]], axis=0)
    shape = len(graph.entities), len(graph.entities)
    return sparse.csr_array((np.ones(len(pairs), np.float32), tuple(pairs.T)), shape=shape)[heads][:, tails]
