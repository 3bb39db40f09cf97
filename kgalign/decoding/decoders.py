"""Candidates to links: one function for each decoder.

A decoder may leave a query unmatched; the score of a link is its probability. A seeded shuffle decides exact ties, never the order of
ids. Decoders differ in how they settle a competition for targets. Where entities may have several links there is none: each entity with
one link at most takes its best candidate, and where none is left so, every plausible pair is a link.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy  # which imports its parts when they are first used

from kgalign.blocks import by_blocks
from kgalign.data import Alignment, Candidates, Floats, Ints
from kgalign.decoding.cardinality import several_links
from kgalign.errors import OptionError, check_at_least

PLAUSIBLE = 0.5
LESS = 0.999  # of a probability: surely less, whatever the rounding


def greedy(candidates: Candidates, *, seed: int = 0) -> Alignment:
    """Each query takes its best candidate, even if another query has taken it too."""
    candidates = _shuffled(candidates, seed)
    if candidates.cardinality != "one-to-one":
        return _several_links(candidates)
    return _decided(candidates, np.zeros(len(candidates), np.int64), candidates.probabilities())


def mutual(candidates: Candidates, *, seed: int = 0) -> Alignment:
    """The pairs in which each is the best candidate of the other; one-to-one."""
    candidates = _shuffled(candidates, seed)
    if candidates.cardinality != "one-to-one":
        return _several_links(candidates)
    rows, slots = candidates.edges()
    targets, scores = candidates.targets[rows, slots], _comparable(candidates)[rows, slots]
    order = np.lexsort((-scores, targets))  # stable, and the rows are shuffled: a tied target picks at random
    _, first = np.unique(targets[order], return_index=True)
    best = order[first]
    chosen = np.full(len(candidates), -1)
    chosen[rows[best[slots[best] == 0]]] = 0
    return _decided(candidates, chosen, candidates.probabilities())


def stable(candidates: Candidates, *, seed: int = 0) -> Alignment:
    """A stable matching (Gale and Shapley): no query and target both prefer each other to their match; one-to-one."""
    from kgalign.decoding.stable_matching import propose  # compiled code, slow to import

    candidates = _shuffled(candidates, seed)
    if candidates.cardinality != "one-to-one":
        return _several_links(candidates)
    columns, count = _columns(candidates)
    chosen = propose(columns, _comparable(candidates), count)
    return _decided(candidates, chosen, candidates.probabilities())


def csls(candidates: Candidates, *, neighbours: int = 10, seed: int = 0) -> Alignment:
    """Each query takes its best candidate after hubs are penalised: twice the score, less the mean of the best scores of either side."""
    check_at_least(neighbours=(neighbours, 1))
    if candidates.cardinality != "one-to-one":
        return greedy(candidates, seed=seed)
    rows, slots = candidates.edges()
    columns, count = _columns(candidates)
    scores = _comparable(candidates)[rows, slots]
    row_means = _mean_of_best(rows, scores, len(candidates), neighbours)
    column_means = _mean_of_best(columns[rows, slots], scores, count, neighbours)
    corrected = np.full(candidates.scores.shape, -np.inf)
    corrected[rows, slots] = 2 * scores - row_means[rows] - column_means[columns[rows, slots]]
    return greedy(replace(candidates, scores=corrected, no_match_score=-np.inf), seed=seed)


def sinkhorn(candidates: Candidates, *, iterations: int = 50, seed: int = 0) -> Alignment:
    """Each query takes its best candidate after Sinkhorn normalisation: rows sum to 1, columns to 1 at most."""
    check_at_least(iterations=(iterations, 1))
    candidates = _shuffled(candidates, seed)
    if candidates.cardinality != "one-to-one":
        return _several_links(candidates)
    from kgalign.decoding.marginals import balance  # compiled code, slow to import

    shares = balance(candidates, iterations)
    best = shares.argmax(axis=1) if shares.size else np.full(len(candidates), -1)
    return _decided(candidates, best, shares)


def joint(candidates: Candidates, *, tau: float = 0.0, unmatched: float = 0.01, fill: bool = False, seed: int = 0) -> Alignment:
    """The one-to-one alignment with the highest total log-probability: the exact optimum over all candidates.

    This is the paper's joint entity alignment. Candidates with a probability below tau are dropped, which splits the search into
    independent sub-spaces, and each is solved exactly. `record` has their number and the size of the largest, in queries.

    Args:
        candidates: The candidates of all queries.
        tau: Larger values make smaller sub-spaces and drop candidates that might be right.
        unmatched: A query stays unmatched rather than take a candidate below this probability.
        fill: Gives unmatched queries their best candidate all the same, as the paper does; no longer one-to-one. Where a source may have
            several targets, unmatched targets.
        seed: Decides exact ties.
    """
    if not 0 <= tau < 1:
        raise OptionError(f"tau={tau}: expected a probability from 0 to below 1")
    if not 0 < unmatched < 1:
        raise OptionError(f"unmatched={unmatched}: expected a probability between 0 and 1")
    from kgalign.decoding.assignment import assign  # compiled code, slow to import

    candidates = _shuffled(candidates, seed)
    if candidates.cardinality != "one-to-one":
        return replace(several_links(candidates, max(tau, unmatched), fill=fill), record={"decoder": "joint"})
    probabilities = candidates.probabilities()
    # The solver considers no candidate that is less probable than no match; most are.
    rows, slots = np.nonzero((candidates.targets >= 0) & (probabilities >= max(tau, LESS * unmatched)))
    columns, count = _numbered(candidates.targets[rows, slots])
    starts = np.searchsorted(rows, np.arange(len(candidates) + 1))
    price = np.full(len(candidates), -np.log(unmatched))
    solution = assign(starts, columns, -np.log(probabilities[rows, slots]), count, price)
    matched = np.flatnonzero(solution.columns[rows] == columns)
    chosen = np.full(len(candidates), 0 if fill else -1)
    chosen[rows[matched]] = slots[matched]
    worthwhile = probabilities[rows, slots] > unmatched
    spaces, largest = _sub_spaces(rows[worthwhile], columns[worthwhile], len(candidates), count)
    return replace(
        _decided(candidates, chosen, probabilities), record={"decoder": "joint", "sub_spaces": spaces, "largest_sub_space": largest}
    )


def _comparable(candidates: Candidates) -> Floats:
    """(n, k) scores that compare between queries: beside a no-match option, scores are odds within each query."""
    if np.isfinite(candidates.no_match_score):
        return np.log(np.maximum(candidates.probabilities(), 1e-300))
    return candidates.scores.astype(np.float64)


def _several_links(candidates: Candidates) -> Alignment:
    """The best links without a least probability, or the plausible ones where there is no best one."""
    return several_links(candidates, PLAUSIBLE if candidates.cardinality == "many-to-many" else 0.0)


def _shuffled(candidates: Candidates, seed: int) -> Candidates:
    """The same candidates with their rows in random order and ties within a row in random order."""
    random = np.random.default_rng(seed)
    rows = random.permutation(len(candidates))
    targets, scores = candidates.targets[rows], candidates.scores[rows]
    tied = np.flatnonzero(by_blocks(_has_ties, scores))
    order = np.lexsort((random.random((len(tied), scores.shape[1]), np.float32), -scores[tied]), axis=1)
    targets[tied], scores[tied] = (np.take_along_axis(array[tied], order, axis=1) for array in (targets, scores))
    return replace(candidates, queries=candidates.queries[rows], targets=targets, scores=scores)


def _has_ties(scores: Floats) -> Ints:
    """(n,) whether a row has two candidates that are equal, or out of order."""
    found: Ints = np.any((scores[:, 1:] >= scores[:, :-1]) & (scores[:, 1:] > -np.inf), axis=1)
    return found


def _decided(candidates: Candidates, chosen: Ints, probabilities: Floats) -> Alignment:
    """The alignment in which row i takes its candidate number chosen[i], or none where that is -1; sources ascending."""
    rows = np.flatnonzero(chosen >= 0) if candidates.targets.shape[1] else np.empty(0, np.int64)
    rows = rows[candidates.targets[rows, chosen[rows]] >= 0]
    rows = rows[np.argsort(candidates.queries[rows])]
    slots = chosen[rows]
    pairs = np.column_stack([candidates.queries[rows], candidates.targets[rows, slots]])
    return Alignment(pairs, np.clip(probabilities[rows, slots], 0, 1))


def _columns(candidates: Candidates) -> tuple[Ints, int]:
    """The targets numbered 0..m-1 without gaps, -1 where there is none, and m."""
    there = candidates.targets >= 0
    columns = np.full(candidates.targets.shape, -1, np.int64)
    columns[there], count = _numbered(candidates.targets[there])
    return columns, count


def _numbered(targets: Ints) -> tuple[Ints, int]:
    """The targets numbered 0..m-1 without gaps, ascending, and m."""
    numbers = np.cumsum(np.bincount(targets) > 0) - 1
    return numbers[targets], int(numbers[-1]) + 1 if len(targets) else 0


def _mean_of_best(owners: Ints, scores: Floats, count: int, k: int) -> Floats:
    """(count,) the mean of the k largest scores of each owner."""
    order = np.lexsort((-scores, owners))
    owners, scores = owners[order], scores[order]
    best = np.arange(len(owners)) - np.searchsorted(owners, owners) < k
    sums = np.bincount(owners[best], scores[best], count)
    return sums / np.maximum(np.bincount(owners[best], minlength=count), 1)


def _sub_spaces(rows: Ints, columns: Ints, row_count: int, column_count: int) -> tuple[int, int]:
    """How many groups of queries share no candidate with each other, and the size of the largest; queries without any do not count."""
    if not len(rows):
        return 0, 0
    size = row_count + column_count
    graph = scipy.sparse.coo_array((np.ones(len(rows), np.int8), (rows, row_count + columns)), shape=(size, size))
    _, labels = scipy.sparse.csgraph.connected_components(graph, directed=False)
    sizes = np.bincount(labels[np.unique(rows)])
    return int((sizes > 0).sum()), int(sizes.max())
