"""One epoch of GM: seeds against hard negatives at both ends, with simulated known links around them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from kgalign.data import Alignment, Ints
from kgalign.models.gm.network import GraphMatchingNetwork
from kgalign.models.gm.options import GraphMatchingOptions
from kgalign.models.gm.scene import Scene
from kgalign.models.gm.scoring import BUCKETS, encode_graphs, score_pairs


def run_epoch(
    options: GraphMatchingOptions,
    network: GraphMatchingNetwork,
    optimiser: torch.optim.Optimizer,
    scene: Scene,
    seeds: Alignment,
    negatives: tuple[Ints, Ints],
    epoch: int,
) -> float:
    """The mean loss of one pass over the seeds. Random numbers depend on the seed of the options and the epoch alone.

    Args:
        options: How to learn.
        network: The network that learns.
        optimiser: Takes its steps.
        scene: Both graphs.
        seeds: The training seeds.
        negatives: (seeds, k) the targets that the negatives of each seed are drawn from, and the sources, best first; -1: none.
        epoch: Counted from 0.
    """
    device = scene.words.device
    random = np.random.default_rng([options.seed, epoch])
    generator = torch.Generator(device).manual_seed(int(random.integers(2**31)))
    targets, sources = (
        np.column_stack([own, _draw_negatives(near, options.negatives, random)])
        for own, near in zip((seeds.targets, seeds.sources), negatives, strict=True)
    )
    drawn = [torch.as_tensor(side, device=device) for side in (sources, targets)]
    match = torch.full((len(scene.source.nodes),), -1, device=device)
    match[torch.tensor(seeds.sources, device=device)] = torch.tensor(seeds.targets, device=device)
    batches = torch.as_tensor(random.permutation(len(seeds)), device=device).split(options.batch)
    network.train()
    total = torch.zeros((), device=device)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(int(random.integers(2**31)))  # dropout
        for number, rows in enumerate(batches):
            done = (epoch + number / len(batches)) / options.epochs
            for group in optimiser.param_groups:
                group["lr"] = options.learning_rate * (1 - 0.9 * done)
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
                row, column = score_seeds(network, scene, drawn[0][rows], drawn[1][rows], match, options.simulated, generator)
                loss = _loss(options.loss, row, column)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            total += loss.detach() * len(rows)
    return float(total) / max(1, len(seeds))


def score_seeds(
    network: GraphMatchingNetwork,
    scene: Scene,
    sources: Tensor,
    targets: Tensor,
    match: Tensor,
    simulated: int,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor]:
    """(B, 1 + negatives) scores of the source with each target, and of each source with the target; the right one first.

    Args:
        network: The network.
        scene: Both graphs.
        sources: (B, 1 + negatives) the source of each seed, then its negatives; -1: none.
        targets: (B, 1 + negatives) the target of each seed, then its negatives; -1: none.
        match: (n,) the target of each training seed's source, -1 for entities without a seed.
        simulated: How many known links are simulated at most in each source graph.
        generator: Draws them.
    """
    count, size = sources.shape
    buckets = () if sources.is_cuda else BUCKETS  # few large steps are faster on a GPU
    lefts, rights = sources.clamp(min=0).reshape(-1), targets.clamp(min=0).reshape(-1)
    matches = simulate(scene, lefts, match, simulated, generator)
    names = [scene.source_names(lefts, matches), scene.target_names(rights)]
    distinct, where = torch.unique(torch.cat([side.reshape(-1) for side in names]), return_inverse=True)
    vectors = network.encode_names(scene.words[distinct], scene.ngrams[distinct])
    rows = where.split([side.numel() for side in names])
    encoded = [
        encode_graphs(network, side, ids, row.reshape(name.shape), vectors, buckets)
        for side, ids, row, name in zip((scene.source, scene.target), (lefts, rights), rows, names, strict=True)
    ]
    first = np.arange(count)[:, None] * size  # (B, 1)
    every = first + np.arange(size)  # (B, size)
    left = np.column_stack([np.repeat(first, size, axis=1), every[:, 1:]]).ravel()
    right = np.column_stack([every, np.repeat(first, size - 1, axis=1)]).ravel()
    logits = score_pairs(network, scene, encoded[0], encoded[1], left, right, matches, buckets).reshape(count, -1)
    row = logits[:, :size].masked_fill(targets < 0, -torch.inf)
    column = torch.cat([logits[:, :1], logits[:, size:]], dim=1).masked_fill(sources < 0, -torch.inf)
    return row, column


def simulate(scene: Scene, graphs: Tensor, match: Tensor, most: int, generator: torch.Generator) -> Tensor:
    """(G, size) the matches of some nodes of each source graph, up to `most`, as if their links were known; -1: not known.

    They are drawn from the training seeds around the topic, whatever it is compared with, so that their presence says nothing about the
    right answer. The topic itself is never among them.

    Args:
        scene: Both graphs.
        graphs: (G,) the topics of the source graphs.
        match: (n,) the target of each training seed's source, -1 for entities without a seed.
        most: How many nodes at most.
        generator: Draws them.
    """
    matches = torch.where(scene.source.mask[graphs], match[scene.source.nodes[graphs]], -1)
    matches[:, 0] = -1
    if not most:
        return torch.full_like(matches, -1)
    device = matches.device
    draws = torch.rand(matches.shape, generator=generator, device=device) + (matches < 0)
    places = draws.argsort(dim=1).argsort(dim=1)
    available = (matches >= 0).sum(dim=1).clamp(max=most)
    count = (torch.rand(len(graphs), generator=generator, device=device) * (available + 1)).long()
    return torch.where(places < count[:, None], matches, -1)


def _draw_negatives(lists: Ints, count: int, random: np.random.Generator) -> Ints:
    """(seeds, count) a draw from each list, in which the most similar entities are the most probable; -1: there are too few."""
    chances = -np.log(np.arange(1, lists.shape[1] + 1)) + random.gumbel(size=lists.shape)
    chances[lists < 0] = -np.inf
    chosen = np.argsort(-chances, axis=1)[:, :count]
    drawn = np.full((len(lists), count), -1, lists.dtype)
    drawn[:, : chosen.shape[1]] = np.take_along_axis(lists, chosen, axis=1)
    return drawn


def _loss(kind: str, row: Tensor, column: Tensor) -> Tensor:
    """`list`: the right entity among all, at either end. `pair`: each pair by itself, right or wrong, as in the paper."""
    if kind == "list":
        right = torch.zeros(len(row), dtype=torch.long, device=row.device)
        return functional.cross_entropy(row, right) + functional.cross_entropy(column, right)
    logits = torch.cat([row, column[:, 1:]], dim=1)
    there = torch.isfinite(logits)
    labels = torch.zeros_like(logits)
    labels[:, 0] = 1
    return functional.binary_cross_entropy_with_logits(logits[there], labels[there])
