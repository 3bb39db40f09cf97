"""How a graph matching network learns: from seeds alone, against hard negatives from both ends, judged by seeds that were held out."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from kgalign.reasoning.calibration import calibrated
from kgalign.data import Alignment, AlignmentTask, Candidates, Ints, hold_out
from kgalign.errors import OptionError
from kgalign.models.device import pick_device
from kgalign.models.gm.files import Progress, read_checkpoint, write_checkpoint
from kgalign.models.gm.network import GraphMatchingNetwork, Shape
from kgalign.models.gm.scoring import BUCKETS, Scene, Scorer, encode_graphs, score_pairs
from kgalign.models.gm.topic_graphs import UNKNOWN_WORD, vocabulary_of
from kgalign.features.text import read_word_vectors

if TYPE_CHECKING:
    from kgalign.models.gm.model import GraphMatching

MIN_SEEDS = 10
log = logging.getLogger("kgalign")


@dataclass(frozen=True, eq=False)
class Trained:
    """What training came to."""

    network: GraphMatchingNetwork
    vocabulary: list[str]
    calibration: dict[str, tuple[float, float]]  # temperature and nobody, where nothing is known ("plain") and where something is
    history: list[dict[str, float]]  # loss and development hits@1 of each epoch


def train(options: GraphMatching, task: AlignmentTask) -> Trained:
    """A network that knows the seeds but for those held out, at its best epoch on the ones held out."""
    if len(task.seeds) < MIN_SEEDS:
        raise OptionError(f"the model gm learns from seeds, but there are {len(task.seeds)}: expected {MIN_SEEDS} or more")
    asked, dev = hold_out(task, options.dev_fraction, options.seed)
    device = pick_device(options.device)
    vocabulary = vocabulary_of(task.source.names, task.target.names)
    network = make_network(options, vocabulary).to(device)
    scene = make_scene(options, asked, vocabulary, device)
    optimiser = torch.optim.Adam(network.parameters(), lr=options.learning_rate)
    progress = read_checkpoint(options, asked.seeds, network, optimiser) or Progress.start(network)
    lists = _negative_lists(options, asked)
    dev_lists = dev_candidates(options, asked, dev)
    while len(progress.history) < options.epochs and not progress.stale(options.patience):
        began = time.perf_counter()
        epoch = len(progress.history)
        loss = _run_epoch(options, network, optimiser, scene, asked.seeds, lists, epoch)
        evidence = asked.seeds if options.simulated and options.seeds_as_evidence else Alignment.empty()
        hits = _hits(rescored(Scorer(network, scene, options.scoring_batch(device)), dev_lists, evidence), dev)
        seconds = time.perf_counter() - began
        progress = progress.after(network, {"loss": loss, "dev_hits@1": hits, "seconds": seconds})
        write_checkpoint(options, asked.seeds, network, optimiser, progress)
        left = (options.epochs - epoch - 1) * np.mean([turn["seconds"] for turn in progress.history])
        message = "epoch %d of %d: loss %.4f, development hits@1 %.4f, %.0f s left if it goes on to the end"
        log.info(message, epoch + 1, options.epochs, loss, hits, left)
    network.load_state_dict(progress.best)
    scorer = Scorer(network, scene, options.scoring_batch(device))
    calibration = {}
    for label, known in (("plain", Alignment.empty()), ("evidence", asked.seeds)):
        fitted = calibrated(rescored(scorer, dev_lists, known), dev)
        calibration[label] = (fitted.temperature, fitted.no_match_score)
    return Trained(network, vocabulary, calibration, progress.history)


def make_network(options: GraphMatching, vocabulary: list[str]) -> GraphMatchingNetwork:
    """A network that has learnt nothing yet, but has the vectors of the words that a file knows."""
    vectors = None
    size = options.size
    if options.word_vectors is not None:
        places, vectors = read_word_vectors(options.word_vectors, set(vocabulary))
        size = vectors.shape[1]
    network = empty_network(options, len(vocabulary), size)
    if vectors is not None:
        known = [UNKNOWN_WORD + 1 + number for number, word in enumerate(vocabulary) if word in places]
        order = [places[word] for word in vocabulary if word in places]
        with torch.no_grad():
            network.words.weight[1:] *= float(vectors.std())  # words without a vector look like the others
            network.words.weight[known] = torch.from_numpy(vectors[order])
    return network


def empty_network(options: GraphMatching, words: int, word_size: int) -> GraphMatchingNetwork:
    """A network with random weights that depend on the seed alone."""
    shape = Shape(
        words=UNKNOWN_WORD + 1 + words,
        word_size=word_size,
        ngrams=options.ngrams,
        size=options.size,
        input_hops=options.input_hops,
        matching_hops=options.matching_hops,
        perspectives=options.perspectives,
        matching=options.matching,  # type: ignore[arg-type]
        readout=options.readout,  # type: ignore[arg-type]
        dropout=options.dropout,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        return GraphMatchingNetwork(shape)


def make_scene(options: GraphMatching, task: AlignmentTask, vocabulary: list[str], device: torch.device) -> Scene:
    numbers = {word: UNKNOWN_WORD + 1 + number for number, word in enumerate(vocabulary)}
    return Scene.of(task, numbers, options.ngrams, options.nodes, options.directions, device)  # type: ignore[arg-type]


def dev_candidates(options: GraphMatching, asked: AlignmentTask, dev: Alignment) -> Candidates:
    """The lists of the held-out sources as any query gets them: the right target is in them only if it was found."""
    found = options.find_lists(asked.source, asked.target, asked.seeds, asked.queries, asked.pool)
    rows = np.isin(found.queries, dev.sources)
    return Candidates(found.queries[rows], found.targets[rows], found.scores[rows])


def rescored(scorer: Scorer, lists: Candidates, known: Alignment) -> Candidates:
    """The same lists with the network's scores, best first."""
    rows, slots = lists.edges()
    partner = np.full(len(scorer.scene.source.nodes), -1, np.int64)
    partner[known.sources] = known.targets
    scores = np.full(lists.targets.shape, -np.inf, np.float32)
    scores[rows, slots] = scorer.score(lists.queries[rows], lists.targets[rows, slots].astype(np.int64), partner)
    order = np.argsort(-scores, axis=1, kind="stable")  # ties keep the order of the names
    return Candidates(lists.queries, np.take_along_axis(lists.targets, order, 1), np.take_along_axis(scores, order, 1))


def _negative_lists(options: GraphMatching, asked: AlignmentTask) -> tuple[Ints, Ints]:
    """(seeds, k) the targets most like each seed's source, and the sources most like its target, nearest first; -1: none.

    The seed itself is never among them. All come from what is asked and on offer, and from the training seeds.
    """
    seeds = asked.seeds
    swapped = Alignment(seeds.pairs[:, ::-1])
    lists = []
    for near, far, known, offered in (
        (asked.source, asked.target, seeds, asked.pool),
        (asked.target, asked.source, swapped, asked.queries),
    ):
        pool = np.union1d(offered, known.targets)
        found = options.find_lists(near, far, known, np.sort(known.sources), pool, both_directions=False)
        targets = found.targets[np.searchsorted(found.queries, known.sources)]
        lists.append(np.where(targets == known.targets[:, None], -1, targets))
    return lists[0], lists[1]


def _draw_negatives(lists: Ints, count: int, random: np.random.Generator) -> Ints:
    """(seeds, count) some of each list, the nearest the most likely; -1 where there are too few."""
    chances = -np.log(np.arange(1, lists.shape[1] + 1)) + random.gumbel(size=lists.shape)
    chances[lists < 0] = -np.inf
    chosen = np.argsort(-chances, axis=1)[:, :count]
    drawn = np.full((len(lists), count), -1, lists.dtype)
    drawn[:, : chosen.shape[1]] = np.take_along_axis(lists, chosen, axis=1)
    return drawn


def _run_epoch(
    options: GraphMatching,
    network: GraphMatchingNetwork,
    optimiser: torch.optim.Optimizer,
    scene: Scene,
    seeds: Alignment,
    lists: tuple[Ints, Ints],
    epoch: int,
) -> float:
    """One look at every seed; the mean loss. All that is random depends on the seed and the epoch only."""
    device = scene.words.device
    random = np.random.default_rng([options.seed, epoch])
    generator = torch.Generator(device).manual_seed(int(random.integers(2**31)))
    targets, sources = (
        np.column_stack([own, _draw_negatives(near, options.negatives, random)])
        for own, near in zip((seeds.targets, seeds.sources), lists, strict=True)
    )
    drawn = [torch.as_tensor(side, device=device) for side in (sources, targets)]
    partner = torch.full((len(scene.source.nodes),), -1, device=device)
    partner[torch.tensor(seeds.sources, device=device)] = torch.tensor(seeds.targets, device=device)
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
                row, column = _logits(network, scene, drawn[0][rows], drawn[1][rows], partner, options.simulated, generator)
                loss = _loss(options.loss, row, column)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            total += loss.detach() * len(rows)
    return float(total) / max(1, len(seeds))


def _logits(
    network: GraphMatchingNetwork,
    scene: Scene,
    sources: Tensor,  # (B, 1 + negatives) the seed's source, then those like its target; -1: none
    targets: Tensor,  # (B, 1 + negatives) the seed's target, then those like its source
    partner: Tensor,  # (n,) target of each training seed's source
    simulated: int,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor]:
    """(B, 1 + negatives) scores of the source with each target, and of each source with the target; the right one first."""
    count, size = sources.shape
    buckets = () if sources.is_cuda else BUCKETS  # a GPU would rather have few large steps
    lefts, rights = sources.clamp(min=0).reshape(-1), targets.clamp(min=0).reshape(-1)
    partners = _simulate(scene, lefts, partner, simulated, generator)
    names = [scene.source_names(lefts, partners), scene.target_names(rights)]
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
    logits = score_pairs(network, scene, encoded[0], encoded[1], left, right, partners, buckets).reshape(count, -1)
    row = logits[:, :size].masked_fill(targets < 0, -torch.inf)
    column = torch.cat([logits[:, :1], logits[:, size:]], dim=1).masked_fill(sources < 0, -torch.inf)
    return row, column


def _simulate(scene: Scene, graphs: Tensor, partner: Tensor, most: int, generator: torch.Generator) -> Tensor:
    """(G, size) partners of a few nodes of each source graph, up to `most`, as if they were easy pairs; -1: not known.

    They are drawn from the training seeds around the topic whatever it is going to be compared with, so that their presence says nothing
    about the answer; the topic itself is never among them.
    """
    partners = torch.where(scene.source.mask[graphs], partner[scene.source.nodes[graphs]], -1)
    partners[:, 0] = -1
    if not most:
        return torch.full_like(partners, -1)
    device = partners.device
    draws = torch.rand(partners.shape, generator=generator, device=device) + (partners < 0)
    places = draws.argsort(dim=1).argsort(dim=1)
    available = (partners >= 0).sum(dim=1).clamp(max=most)
    count = (torch.rand(len(graphs), generator=generator, device=device) * (available + 1)).long()
    return torch.where(places < count[:, None], partners, -1)


def _loss(kind: str, row: Tensor, column: Tensor) -> Tensor:
    """list: the right one among all, from either end. pair: each pair by itself, right or wrong, as in the paper."""
    if kind == "list":
        right = torch.zeros(len(row), dtype=torch.long, device=row.device)
        return functional.cross_entropy(row, right) + functional.cross_entropy(column, right)
    logits = torch.cat([row, column[:, 1:]], dim=1)
    there = torch.isfinite(logits)
    labels = torch.zeros_like(logits)
    labels[:, 0] = 1
    return functional.binary_cross_entropy_with_logits(logits[there], labels[there])


def _hits(candidates: Candidates, dev: Alignment) -> float:
    gold: dict[Any, Any] = dict(dev.pairs.tolist())
    best = candidates.targets[:, 0] if candidates.targets.shape[1] else np.full(len(candidates), -1)
    return float(np.mean(best == [gold[query] for query in candidates.queries.tolist()])) if len(candidates) else 0.0
