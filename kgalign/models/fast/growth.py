"""The first links from few seeds, where names say nothing: reach finds candidates, anchored evidence decides."""

from __future__ import annotations

import logging
from itertools import count

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates
from kgalign.decoding.marginals import balance
from kgalign.features.constraints import allowed
from kgalign.features.functionality import AnchoredEvidence
from kgalign.features.reach import reach_vectors
from kgalign.features.relations import Edges
from kgalign.search import Engine, find_candidates, pack

logger = logging.getLogger(__name__)
CANDIDATES = 50  # for each query
REACH = 50.0  # the weight of the cosine of two vectors in the score of a pair
AMOUNT = 5.0  # the weight of anchored evidence
ANCHORED = 3.0  # how fast anchored evidence makes a link confident
ITERATIONS = 15  # rounds of Sinkhorn normalisation
LEAST_CONFIDENT = 0.3
LEAST_GROWTH = 0.04  # a round that adds a smaller share than this is the last one


def grow(task: AlignmentTask, edges: tuple[Edges, Edges], seed: int = 0, engine: Engine | None = None) -> Alignment:
    """Links that seeds lead to, over several hops and in several rounds, with their confidence; the seeds are not among them.

    A pair wins by what is known within three hops of both its entities and by the known links next to it. It is confident only as far as
    there are such known links: two links that support only each other never start. Every round decides anew. Growth goes on as long as
    known links anchor more and more others.

    Args:
        task: Nothing grows where entities may have several links.
        edges: Those of both graphs.
        seed: Draws the vectors of each round.
        engine: Where searches work on their blocks; None: on this machine.
    """
    found = Alignment.empty()
    if not len(task.seeds) or task.cardinality != "one-to-one":
        return found
    for number in count():
        grown = _round(task, edges, task.seeds + found, seed + number, engine)
        logger.info("growth, round %d: %d links", number + 1, len(grown))
        enough = len(grown) - len(found) <= LEAST_GROWTH * len(grown)  # also where nothing grows
        found = grown
        if enough:
            break
    return found


def _round(task: AlignmentTask, edges: tuple[Edges, Edges], known: Alignment, seed: int, engine: Engine | None) -> Alignment:
    """The links of one round: the best candidate of each query that no other query is as confident of."""
    vectors = reach_vectors(edges, known, seed)
    near = find_candidates(*vectors, task.queries, task.pool, CANDIDATES, seed=seed, engine=engine)
    rows, slots = near.edges()
    sources, targets = task.queries[rows], near.targets[rows, slots].astype(np.int64)
    may = allowed(task, sources, targets)
    rows, slots, sources, targets = rows[may], slots[may], sources[may], targets[may]
    evidence = AnchoredEvidence.of(edges, known)
    amounts = evidence.amount(sources, targets)
    scores = REACH * near.scores[rows, slots] + AMOUNT * amounts
    packed = pack(rows, targets, scores, len(task.queries), CANDIDATES)
    candidates = Candidates(task.queries, packed.targets, packed.scores)
    shares = balance(candidates, ITERATIONS)
    best = shares.argmax(axis=1)
    at = np.arange(len(candidates))
    chosen = candidates.targets[at, best] >= 0
    pairs = np.column_stack([candidates.queries, candidates.targets[at, best]])[chosen].astype(np.int64)
    anchored = -np.expm1(-ANCHORED * evidence.amount(pairs[:, 0], pairs[:, 1]))
    links = Alignment(pairs, np.clip(shares[at, best][chosen] * anchored, 0, 1))
    return _uncontested(links.where(links.scores > LEAST_CONFIDENT))


def _uncontested(links: Alignment) -> Alignment:
    """The most confident link of each target; none where two are as confident."""
    order = np.lexsort((-links.scores, links.targets))
    targets, scores = links.targets[order], links.scores[order]
    first = np.ones(len(order), bool)
    first[1:] = targets[1:] != targets[:-1]
    tied = np.zeros(len(order), bool)
    tied[:-1] = ~first[1:] & (scores[1:] == scores[:-1])
    return links.where(np.sort(order[first & ~tied]))
