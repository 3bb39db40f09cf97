"""The evidence for and against links and their runners-up: names, linked neighbours, literals, and the parts of the score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates, Floats, Ints, one_link
from kgalign.explain.names import matching_names
from kgalign.features.relations import Edges, plausible_links
from kgalign.seams import Contributions

MOST_LINKS = 100_000  # of a larger run, the links with the lowest probability are explained
MOST_SHARED = 8  # linked neighbours of a pair
MOST_OTHERS = 4  # neighbours of either side that are not linked
MOST_RELATIONS = 3  # between two neighbours
MOST_HUB_NEIGHBOURS = 200  # of a target with more neighbours, only the first ones are considered where they are not linked
AGREEMENT = ("differs", "about the same", "the same")  # the text for DIFFERS, IS_NEAR and IS_SAME of kgalign.features.literals


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence for some pairs, as arrays: links first, then runners-up.

    A row of `neighbours` holds a neighbour of the source and the neighbour of the target that it is linked to. Where a neighbour has no
    such link, the other is -1. Only the strongest are kept: probable links before less probable ones, rare neighbours before hubs.

    Attributes:
        edges: The edges of the source and of the target.
        sources: (n,) the source entities that are explained, ascending; one with several links occurs once for each.
        links: (n,) the pair that is the link of each, -1: it is unmatched.
        runners_up: (n,) the pair that is the best candidate of each that is no link of it, -1: there is none.
        pairs: (p, 2) source id, target id.
        probabilities: (p,)
        names: (p, 2) the positions of the two most similar names in the names of source and target, -1: nothing in common.
        similarities: (p,) the similarity of these two names, see `matching_names`.
        shared: (p,) the number of linked neighbours, also those that are not kept.
        rounds: (p,) the round in which the link became confident, 0: in none.
        taken_by: (p,) another source that is linked to the target, -1: there is none; for a runner-up only if a target has one link at most.
        starts: (p + 1,) where the neighbours of each pair begin.
        neighbours: (m, 2) source id, target id.
        neighbour_probabilities: (m,) the probability of the link between the two.
        seeds: (m,) whether that link is a seed.
        lacking: (m,) whether it is evidence for the link and not for the runner-up.
        value_starts: (p + 1,) where the literals of each pair begin.
        values: (v, 2) positions in the attributes of source and target, of properties that match.
        agreement: (v,) DIFFERS, IS_NEAR or IS_SAME.
        contributions: How much each kind of evidence adds to the score of the p pairs, None: the model does not say.
    """

    edges: tuple[Edges, Edges]
    sources: Ints
    links: Ints
    runners_up: Ints
    pairs: Ints
    probabilities: Floats
    names: Ints
    similarities: Floats
    shared: Ints
    rounds: Ints
    taken_by: Ints
    starts: Ints
    neighbours: Ints
    neighbour_probabilities: Floats
    seeds: Ints
    lacking: Ints
    value_starts: Ints
    values: Ints
    agreement: Ints
    contributions: Contributions | None = None


def gather_evidence(
    task: AlignmentTask,
    alignment: Alignment,
    candidates: Candidates,
    *,
    known: Alignment | None = None,
    given: Alignment | None = None,
    sources: Ints | None = None,
    contributions: Callable[[Ints], Contributions | None] | None = None,
) -> Evidence:
    """The evidence for the links and the runners-up of some sources.

    Args:
        task: The task that was aligned.
        alignment: Its links.
        candidates: The candidates that the links were chosen from.
        known: Further links that were evidence, such as confident links of entities that are no queries.
        given: All links that the last prediction was given. Those of entities that are no queries, or not in the pool, join neighbours, too.
        sources: The sources to explain. Default: all with a link or a candidate, at most MOST_LINKS, least probable links first.
        contributions: Says how much each kind of evidence adds to the score of pairs (p, 2).
    """
    from kgalign.features.literals import compare_literals, read_literals  # imports sparse matrices, which is slow

    if sources is None:
        sources = _explained(alignment, candidates)
    all_links = (known if known is not None else Alignment.empty()) + alignment + task.seeds
    joining = all_links if given is None else all_links + _of_others(given, task, all_links)
    explained = np.unique(sources)
    sources, positions = _positions(alignment, explained)
    runners_up, shares = _runners_up(alignment, candidates, explained)
    linked, contested, owner = positions >= 0, runners_up >= 0, np.searchsorted(explained, sources)
    links = alignment.where(positions[linked])
    pairs = np.concatenate([links.pairs, np.column_stack([explained, runners_up])[contested]])
    rivals = np.full(len(pairs), -1)
    rivals[: len(links)] = runners_up[owner[linked]]
    taken_by = _taken_by(all_links, pairs)
    if not one_link(task.cardinality)[1]:
        taken_by[len(links) :] = -1
    names, similarities = matching_names(task, pairs)
    edges = Edges.of_task(task)
    around = _neighbours(edges, joining, pairs, rivals)
    literals = read_literals(task.source, task.target)
    owners, values, agreement = compare_literals(literals, plausible_links(task, alignment), pairs)
    return Evidence(
        edges=edges,
        sources=sources,
        links=_numbered(linked, 0),
        runners_up=_numbered(contested, len(links))[owner],
        pairs=pairs,
        probabilities=np.concatenate([links.scores, shares[contested]]),
        names=names,
        similarities=similarities,
        shared=around.shared,
        rounds=np.concatenate([links.rounds, np.zeros(int(contested.sum()), np.int64)]),
        taken_by=taken_by,
        starts=around.starts,
        neighbours=around.neighbours,
        neighbour_probabilities=around.probabilities,
        seeds=np.isin(Alignment(around.neighbours).keys, task.seeds.keys),
        lacking=around.lacking,
        value_starts=np.searchsorted(owners, np.arange(len(pairs) + 1)),
        values=values,
        agreement=agreement,
        contributions=contributions(pairs) if contributions is not None else None,
    )


def relations_between(edges: Edges, entities: Ints, neighbours: Ints) -> tuple[Ints, Ints]:
    """The relations from each entity to its neighbour, MOST_RELATIONS at most: (n + 1,) where those of each begin, and their ids.

    The ids of reversed relations follow those of the relations, as in `Edges.triples`. The neighbour -1 has no relations.
    """
    triples, count = edges.triples, edges.adjacency.shape[0]
    keys = triples[:, 0].astype(np.int64) * count + triples[:, 2]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    wanted = np.where(neighbours < 0, -1, entities * count + neighbours)
    begins, ends = np.searchsorted(keys, wanted, "left"), np.searchsorted(keys, wanted, "right")
    counts = np.minimum(ends - begins, MOST_RELATIONS)
    starts = np.concatenate([[0], np.cumsum(counts)])
    places = np.repeat(begins - starts[:-1], counts) + np.arange(starts[-1])
    return starts, triples[order[places], 1]


def _explained(alignment: Alignment, candidates: Candidates) -> Ints:
    """The sources with a link or a candidate, ascending; those with the least probable links where there are too many."""
    rows = candidates.queries[(candidates.targets >= 0).any(axis=1)] if candidates.targets.size else np.empty(0, np.int64)
    sources = np.union1d(rows, alignment.sources)
    if len(sources) <= MOST_LINKS:
        return sources
    order = np.argsort(alignment.scores, kind="stable")[:MOST_LINKS]
    return np.unique(alignment.sources[order])


def _of_others(given: Alignment, task: AlignmentTask, known: Alignment) -> Alignment:
    """The links of entities that are no queries or not in the pool; known links are left out."""
    outside = ~np.isin(given.sources, task.queries) | ~np.isin(given.targets, task.pool)
    return given.where(outside & ~given.among(known))


def _positions(alignment: Alignment, sources: Ints) -> tuple[Ints, Ints]:
    """Each source once for each of its links, most probable first, and the position of that link; once and -1 where it has none."""
    order = np.lexsort((-alignment.scores, alignment.sources))
    ascending = alignment.sources[order]
    begins, ends = np.searchsorted(ascending, sources, "left"), np.searchsorted(ascending, sources, "right")
    counts = np.maximum(ends - begins, 1)
    inner = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.repeat(begins, counts) + inner
    return np.repeat(sources, counts), np.where(
        np.repeat(ends > begins, counts), np.append(order, -1)[np.minimum(places, len(order))], -1
    )


def _runners_up(alignment: Alignment, candidates: Candidates, sources: Ints) -> tuple[Ints, Floats]:
    """(n,) the best candidate of each source that is no link of it, -1: there is none, and its probability."""
    order = np.argsort(candidates.queries, kind="stable")
    rows = _look_up(candidates.queries[order], order, sources)
    if not candidates.targets.size or not len(sources):
        return np.full(len(sources), -1), np.zeros(len(sources))
    chosen = candidates.where(rows)
    queries = np.broadcast_to(sources[:, None], chosen.targets.shape)
    keys = Alignment(np.column_stack([queries.ravel(), chosen.targets.ravel()])).keys.reshape(chosen.targets.shape)
    eligible = (chosen.targets >= 0) & ~np.isin(keys, alignment.keys) & (rows >= 0)[:, None]
    slots = eligible.argmax(axis=1)
    lines = np.arange(len(sources))
    runners_up = np.where(eligible.any(axis=1), chosen.targets[lines, slots], -1)
    return runners_up, np.clip(chosen.probabilities()[lines, slots], 0, 1)


@dataclass(frozen=True, eq=False)
class _Around:
    """The neighbours of pairs, see `Evidence`."""

    shared: Ints
    starts: Ints
    neighbours: Ints
    probabilities: Floats
    lacking: Ints


def _neighbours(sides: tuple[Edges, Edges], known: Alignment, pairs: Ints, rivals: Ints) -> _Around:
    """The strongest neighbours of each pair. `rivals` are the targets of the runners-up, -1: none."""
    source, target = (side.adjacency for side in sides)
    width = max(1, target.shape[0])
    degrees = [side.degrees for side in sides]

    owners, near = _expand(source, pairs[:, 0], None)
    edges = np.sort(np.repeat(np.arange(target.shape[0]), np.diff(target.indptr)) * width + target.indices)
    other, probability, both = _matches_of(near, known, lambda at, ids: _contains(edges, pairs[owners[at], 1] * width + ids))
    shared = np.bincount(owners[both], minlength=len(pairs))
    rarity = 1 / np.log(3 + degrees[0][near] + np.where(other >= 0, degrees[1][other], 0))
    weights = probability * rarity

    target_owners, target_near = _expand(target, pairs[:, 1], MOST_HUB_NEIGHBOURS)
    alone = ~np.isin(target_owners * width + target_near, owners[both] * width + other[both])
    target_owners, target_near = target_owners[alone], target_near[alone]
    target_rarity = 1 / np.log(3 + degrees[1][target_near])

    blocks, values = [], []
    nothing = np.zeros(len(target_near))
    for kind, (owner, left, right, weight, value, most) in enumerate(
        (
            (owners[both], near[both], other[both], weights[both], probability[both], MOST_SHARED),
            (owners[~both], near[~both], np.full(int((~both).sum()), -1), rarity[~both], 0 * probability[~both], MOST_OTHERS),
            (target_owners, np.full(len(target_near), -1), target_near, target_rarity, nothing, MOST_OTHERS),
        )
    ):
        kept = _best_of_each(owner, weight, most)
        blocks.append(np.column_stack([owner[kept], np.full(len(kept), kind), left[kept], right[kept]]))
        values.append(value[kept])
    rows = np.concatenate(blocks)
    order = np.lexsort((rows[:, 1], rows[:, 0]))  # stable, so that the strongest stay first
    rows = rows[order]
    starts = np.searchsorted(rows[:, 0], np.arange(len(pairs) + 1))
    joined = rows[:, 1] == 0
    rival = rivals[rows[:, 0]]
    lacking = joined & (rival >= 0) & ~_contains(edges, rival * width + rows[:, 3])
    return _Around(shared, starts, rows[:, 2:], np.concatenate(values)[order], lacking)


def _matches_of(near: Ints, known: Alignment, fits: Callable[[Ints, Ints], Ints]) -> tuple[Ints, Floats, Ints]:
    """(n,) the target that each source is linked to, -1: none, the probability of that link, and whether the target fits.

    Of several links of a source, one whose target fits comes first, and then the most probable one.

    Args:
        near: (n,) sources.
        known: Links.
        fits: Whether targets fit, by the positions of their sources.
    """
    sources, positions = _positions(known, np.unique(near))
    begins, ends = np.searchsorted(sources, near, "left"), np.searchsorted(sources, near, "right")
    at = np.repeat(np.arange(len(near)), ends - begins)
    places = positions[np.repeat(begins - np.cumsum(ends - begins) + (ends - begins), ends - begins) + np.arange(len(at))]
    targets, values = np.append(known.targets, -1)[places], np.append(known.scores, 0.0)[places]
    fitting = (targets >= 0) & fits(at, targets)
    order = np.lexsort((-values, ~fitting, at))
    first = order[np.searchsorted(at, np.arange(len(near)))]
    return targets[first], values[first], fitting[first]


def _contains(ascending: Ints, wanted: Ints) -> Ints:
    """(n,) whether each wanted number occurs."""
    if not len(ascending):
        return np.zeros(len(wanted), bool)
    return ascending[np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)] == wanted


def _expand(edges: Any, entities: Ints, most: int | None) -> tuple[Ints, Ints]:
    """The position of each entity, once for each neighbour, and that neighbour; the first `most` neighbours of each."""
    begins, counts = edges.indptr[entities].astype(np.int64), np.diff(edges.indptr)[entities].astype(np.int64)
    counts = counts if most is None else np.minimum(counts, most)
    owners = np.repeat(np.arange(len(entities)), counts)
    inner = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owners, edges.indices[begins[owners] + inner].astype(np.int64)


def _best_of_each(owners: Ints, weights: Floats, most: int) -> Ints:
    """Positions of the heaviest few of each owner, heaviest first."""
    order = np.lexsort((-weights, owners))
    ranked = owners[order]
    return order[np.arange(len(order)) - np.searchsorted(ranked, ranked) < most]


def _taken_by(known: Alignment, pairs: Ints) -> Ints:
    """(p,) the source that is linked to the target of each pair, -1: none but the pair's own."""
    order = np.argsort(known.targets, kind="stable")
    places = _look_up(known.targets[order], order, pairs[:, 1])
    sources = np.where(places >= 0, np.append(known.sources, -1)[places], -1)
    return np.where(sources == pairs[:, 0], -1, sources)


def _look_up(ascending: Ints, positions: Ints, wanted: Ints) -> Ints:
    """The position of each wanted number, -1 where it does not occur."""
    if not len(ascending):
        return np.full(len(wanted), -1)
    places = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return np.where(_contains(ascending, wanted), positions[places], -1)


def _numbered(chosen: Ints, first: int) -> Ints:
    """Numbers from `first` on for the chosen ones, -1 for the others."""
    return np.where(chosen, first + np.cumsum(chosen) - 1, -1)
