"""How GM is trained: on seeds alone. Held-out seeds choose the epoch and calibrate the scores."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

import numpy as np
import torch

from kgalign.data import Alignment, AlignmentTask, Candidates, Ints, hold_out
from kgalign.drafts import check_folder
from kgalign.errors import OptionError
from kgalign.features.text import read_word_vectors
from kgalign.models.device import pick_device
from kgalign.models.gm.candidate_lists import SearchSpace, lists_by_name, with_lists_by_graph
from kgalign.models.gm.epochs import run_epoch
from kgalign.models.gm.files import Progress, read_checkpoint, write_checkpoint
from kgalign.models.gm.network import GraphMatchingNetwork, Shape
from kgalign.models.gm.options import GraphMatchingOptions
from kgalign.models.gm.scene import Scene
from kgalign.models.gm.scoring import Scorer, pairs_at_once
from kgalign.models.gm.topic_graphs import UNKNOWN_WORD, vocabulary_of
from kgalign.reasoning.calibration import calibrated

MIN_SEEDS = 10
log = logging.getLogger("kgalign")


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of a training.

    Attributes:
        network: The network at its best epoch.
        vocabulary: The words that it has vectors for.
        calibration: Temperature and no-match score, without known links (`plain`) and with some (`evidence`).
        history: Loss, development hits@1 and seconds of each epoch.
    """

    network: GraphMatchingNetwork
    vocabulary: list[str]
    calibration: dict[str, tuple[float, float]]
    history: list[dict[str, float]]


def train(options: GraphMatchingOptions, task: AlignmentTask) -> Trained:
    """A network that has learnt from the seeds except the held-out ones, at its best epoch on those."""
    if len(task.seeds) < MIN_SEEDS:
        raise OptionError(f"the model gm learns from seeds, but there are {len(task.seeds)}: expected {MIN_SEEDS} or more")
    if options.checkpoint is not None:
        check_folder(options.checkpoint)
    without, dev = hold_out(task, options.dev_fraction, options.seed)
    device = pick_device(options.device)
    vocabulary = vocabulary_of(task.source.names, task.target.names)
    network = make_network(options, vocabulary).to(device)
    scene = make_scene(options, without, vocabulary, device)
    optimiser = torch.optim.Adam(network.parameters(), lr=options.learning_rate)
    progress = read_checkpoint(options, without.seeds, network, optimiser) or Progress.start(network)
    space = SearchSpace.of(without, options.word_vectors)
    negatives = _negative_lists(options, space, without)
    dev_lists = _dev_candidates(options, space, without, dev)
    evidence = without.seeds if options.simulated and options.seeds_as_evidence else Alignment.empty()
    while len(progress.history) < options.epochs and not progress.stale(options.patience):
        began = time.perf_counter()
        loss = run_epoch(options, network, optimiser, scene, without.seeds, negatives, len(progress.history))
        hits = _hits(rescored(Scorer(network, scene, pairs_at_once(device)), dev_lists, evidence), dev)
        seconds = time.perf_counter() - began
        progress = progress.after(network, {"loss": loss, "dev_hits@1": hits, "seconds": seconds})
        write_checkpoint(options, without.seeds, network, optimiser, progress)
        _report(progress, options.epochs)
    network.load_state_dict(progress.best)
    scorer = Scorer(network, scene, pairs_at_once(device))
    calibration = {}
    for label, known in (("plain", Alignment.empty()), ("evidence", without.seeds)):
        fitted = calibrated(rescored(scorer, dev_lists, known), dev)
        calibration[label] = (fitted.temperature, fitted.no_match_score)
    return Trained(network, vocabulary, calibration, progress.history)


def make_network(options: GraphMatchingOptions, vocabulary: list[str]) -> GraphMatchingNetwork:
    """An untrained network, with the vectors of the words that a file of word vectors has."""
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
            network.words.weight[1:] *= float(vectors.std())  # words without a vector get one of about the same length
            network.words.weight[known] = torch.from_numpy(vectors[order])
    return network


def empty_network(options: GraphMatchingOptions, words: int, word_size: int) -> GraphMatchingNetwork:
    """An untrained network, with random weights that depend on the seed alone."""
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


def make_scene(options: GraphMatchingOptions, task: AlignmentTask, vocabulary: list[str], device: torch.device) -> Scene:
    """Both graphs of a task as the network sees them."""
    numbers = {word: UNKNOWN_WORD + 1 + number for number, word in enumerate(vocabulary)}
    return Scene.of(task, numbers, options.ngrams, options.nodes, options.directions, device)  # type: ignore[arg-type]


def rescored(scorer: Scorer, lists: Candidates, known: Alignment) -> Candidates:
    """The same candidates with the scores of the network, best first."""
    rows, slots = lists.edges()
    match = np.full(len(scorer.scene.source.nodes), -1, np.int64)
    match[known.sources] = known.targets
    scores = np.full(lists.targets.shape, -np.inf, np.float32)
    scores[rows, slots] = scorer.score(lists.queries[rows], lists.targets[rows, slots].astype(np.int64), match)
    order = np.argsort(-scores, axis=1, kind="stable")  # ties keep the order by name
    return Candidates(lists.queries, np.take_along_axis(lists.targets, order, 1), np.take_along_axis(scores, order, 1))


def _dev_candidates(options: GraphMatchingOptions, space: SearchSpace, task: AlignmentTask, dev: Alignment) -> Candidates:
    """The candidates of the development links, found as for any query: the right target is among them only if it was found."""
    by_name = lists_by_name(space, options, task.queries, task.pool)
    found = with_lists_by_graph(by_name, space, options, task.seeds, task.pool)
    return found.where(np.isin(found.queries, dev.sources))


def _negative_lists(options: GraphMatchingOptions, space: SearchSpace, task: AlignmentTask) -> tuple[Ints, Ints]:
    """(seeds, k) the targets most similar to each seed's source, and the sources most similar to its target, best first; -1: none.

    Seeds are never among them. All of them are queries, in the pool, or entities of the training seeds.
    """
    seeds = task.seeds
    lists = []
    for side, known, others in (
        (space, seeds, task.pool),
        (space.swapped, Alignment(seeds.pairs[:, ::-1]), task.queries),
    ):
        pool = np.union1d(others, known.targets)
        by_name = lists_by_name(side, options, np.sort(known.sources), pool, both_directions=False)
        found = with_lists_by_graph(by_name, side, options, known, pool, both_directions=False)
        targets = found.targets[np.searchsorted(found.queries, known.sources)]
        sources = np.broadcast_to(known.sources[:, None], targets.shape)
        pairs = Alignment(np.column_stack([sources.ravel(), targets.ravel()]))
        lists.append(np.where(pairs.among(known).reshape(targets.shape), -1, targets))
    return lists[0], lists[1]


def _hits(candidates: Candidates, dev: Alignment) -> float:
    best = candidates.targets[:, 0] if candidates.targets.shape[1] else np.full(len(candidates), -1)
    links = Alignment(np.column_stack([candidates.queries, best]))
    return float(links.among(dev).mean()) if len(candidates) else 0.0


def _report(progress: Progress, epochs: int) -> None:
    """Logs the last epoch, and how long the training takes at most."""
    done, last = len(progress.history), progress.history[-1]
    left = (epochs - done) * np.mean([epoch["seconds"] for epoch in progress.history])
    message = "epoch %d of %d: loss %.4f, development hits@1 %.4f, at most %.0f s left"
    log.info(message, done, epochs, last["loss"], last["dev_hits@1"], left)
