"""What speaks for links and for their runners-up: neighbours that are linked to each other; and literals, for and against."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates, Floats, Ints
from kgalign.features.relations import Edges, plausible_links
from kgalign.features.text import fold

MOST_LINKS = 100_000  # of a larger run the least sure ones are kept
MOST_SHARED = 8  # neighbours of a pair that are linked to each other
MOST_OTHERS = 4  # neighbours of either side that are not
MOST_RELATIONS = 3  # between two neighbours
MOST_LOOKED_AT = 200  # neighbours of a hub, when it comes to those that are not linked
LINK, RUNNER_UP = "link", "runner-up"
AGREEMENT = ("differs", "about the same", "the same")  # DIFFERS, IS_NEAR, IS_SAME of literals


@dataclass(frozen=True, eq=False)
class Evidence:
    """Pairs, the neighbours of both sides around each, and their literals, as arrays: explanations, evidence.parquet and the report are
    made of it.

    A neighbour is of both sides (they are linked to each other), of the source alone or of the target alone; the other is -1 then.
    Only the most telling are kept: certain ones before doubtful ones, and rare before those that everybody has.
    """

    edges: tuple[Edges, Edges]
    sources: Ints  # (n,) whose links are explained
    links: Ints  # (n,) the pair that is the link, -1: there is none
    runners_up: Ints  # (n,) the pair that came second, -1: there is none
    pairs: Ints  # (p, 2) source id, target id
    probabilities: Floats  # (p,)
    similarities: Floats  # (p,) how far the names are the same
    shared: Ints  # (p,) how many neighbours are linked to each other, also those not kept
    rounds: Ints  # (p,) of Easy-to-Hard, 0: none
    holders: Ints  # (p,) the other source that has the target, -1: nobody else has it
    starts: Ints  # (p + 1,) where the neighbours of each pair begin
    neighbours: Ints  # (m, 2) source id, target id
    certainties: Floats  # (m,) probability of the link between the two
    seeds: Ints  # (m,) whether that link is a seed
    lacking: Ints  # (m,) whether it speaks for the link and not for the runner-up
    value_starts: Ints  # (p + 1,) where the literals of each pair begin
    values: Ints  # (v, 2) positions in the attributes of source and target, of properties that match
    agreement: Ints  # (v,) DIFFERS, IS_NEAR or IS_SAME


def gather_evidence(
    task: AlignmentTask,
    alignment: Alignment,
    candidates: Candidates,
    *,
    known: Alignment | None = None,
    sources: Ints | None = None,
) -> Evidence:
    """The evidence for and against the links of those sources.

    known       other pairs that were evidence, such as easy pairs among entities that nobody asked for
    sources     the queries with a link or a candidate, the least sure MOST_LINKS of them, unless said otherwise
    """
    from kgalign.features.literals import compare_literals, read_literals  # which take sparse matrices, slow to import

    if sources is None:
        sources = _doubtful(alignment, candidates)
    everything = alignment + task.seeds if known is None else known + alignment + task.seeds
    links, (runners, shares) = _linked(alignment, sources), _runners_up(alignment, candidates, sources)
    there, second = links >= 0, runners >= 0
    pairs = np.concatenate([alignment.pairs[links[there]], np.column_stack([sources, runners])[second]])
    linked = int(there.sum())
    rivals = np.full(len(pairs), -1)
    rivals[_numbered(there, 0)[there & second]] = runners[there & second]
    edges = Edges.of_task(task)
    around = _neighbours(edges, everything, pairs, rivals)
    literals = read_literals(task.source, task.target)
    owners, values, agreement = compare_literals(literals, plausible_links(task, alignment), pairs)
    return Evidence(
        edges,
        sources,
        _numbered(there, 0),
        _numbered(second, linked),
        pairs,
        np.concatenate([alignment.scores[links[there]], shares[second]]),
        _name_similarities(task, pairs),
        around.shared,
        np.concatenate([alignment.rounds[links[there]], np.zeros(int(second.sum()), np.int64)]),
        _holders(everything, pairs),
        around.starts,
        around.neighbours,
        around.certainties,
        np.isin(_keys(around.neighbours), task.seeds.keys),
        around.lacking,
        np.searchsorted(owners, np.arange(len(pairs) + 1)),
        values,
        agreement,
    )


def name_similarity(one: str, other: str) -> float:
    """The share of letter pairs that two names have in common (Dice), 0 to 1; upper case and accents do not count."""
    return _in_common(_letter_pairs(one), _letter_pairs(other))


def relations_between(edges: Edges, entities: Ints, neighbours: Ints) -> tuple[Ints, Ints]:
    """The relations from each entity to its neighbour, MOST_RELATIONS at most: (n + 1,) where those of each begin, and their numbers.

    Those that lead back are numbered on from the number of relations, as in `both_ways`. To the neighbour -1 there are none.
    """
    triples, count = edges.triples, edges.adjacency.shape[0]
    keys = triples[:, 0] * count + triples[:, 2]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    wanted = np.where(neighbours < 0, -1, entities * count + neighbours)
    begins, ends = np.searchsorted(keys, wanted, "left"), np.searchsorted(keys, wanted, "right")
    counts = np.minimum(ends - begins, MOST_RELATIONS)
    starts = np.concatenate([[0], np.cumsum(counts)])
    places = np.repeat(begins - starts[:-1], counts) + np.arange(starts[-1])
    return starts, triples[order[places], 1]


def evidence_table(evidence: Evidence, task: AlignmentTask, decoder: str) -> Any:
    """The evidence as an Arrow table, by IRI and name: one row for each link and one for each runner-up."""
    import pyarrow as pa

    texts = {
        side: (pa.array(graph.entities, pa.string()), pa.array(graph.names, pa.string()))
        for side, graph in (("source", task.source), ("target", task.target))
    }

    def named(side: str, ids: Ints) -> dict[str, Any]:
        places = pa.array(ids, mask=ids < 0)
        return {side: texts[side][0].take(places), f"{side}_name": texts[side][1].take(places)}

    sources, targets = evidence.pairs.T
    owners = np.repeat(np.arange(len(evidence.pairs)), np.diff(evidence.starts))
    inner: dict[str, Any] = {}
    for side, graph, column in (("source", task.source, 0), ("target", task.target, 1)):
        ids = evidence.neighbours[:, column]
        names = pa.array([*graph.relations, *(f"^{relation}" for relation in graph.relations)], pa.string())
        begins, numbers = relations_between(evidence.edges[column], evidence.pairs[owners, column], ids)
        relations = pa.ListArray.from_arrays(pa.array(begins, pa.int32()), names.take(pa.array(numbers)))
        inner |= named(side, ids) | {f"{side}_relations": relations}
    inner |= {"probability": pa.array(np.round(evidence.certainties, 4))}
    inner |= {"seed": pa.array(evidence.seeds), "lacking": pa.array(evidence.lacking)}
    around = pa.StructArray.from_arrays(list(inner.values()), list(inner))
    literals: dict[str, Any] = {}
    for side, graph, column in (("source", task.source, 0), ("target", task.target, 1)):
        facts, attributes = evidence.values[:, column].tolist(), graph.attributes
        literals[f"{side}_property"] = pa.array([attributes.properties[attributes.facts[fact, 1]] for fact in facts], pa.string())
        literals[f"{side}_value"] = pa.array([attributes.values[fact] for fact in facts], pa.string())
    literals["agreement"] = pa.array([AGREEMENT[number] for number in evidence.agreement.tolist()], pa.string())
    compared = pa.StructArray.from_arrays(list(literals.values()), list(literals))
    is_link = np.isin(np.arange(len(evidence.pairs)), evidence.links)
    decided = np.where(evidence.rounds > 0, "easy-to-hard", decoder)
    holder = named("source", evidence.holders)
    columns = {
        **named("source", sources),
        "source_neighbours": pa.array(evidence.edges[0].degrees[sources]),
        **named("target", targets),
        "target_neighbours": pa.array(evidence.edges[1].degrees[targets]),
        "role": pa.array(np.where(is_link, LINK, RUNNER_UP).tolist(), pa.string()),
        "probability": pa.array(np.round(evidence.probabilities, 4)),
        "name_similarity": pa.array(evidence.similarities),
        "shared": pa.array(evidence.shared),
        "round": pa.array(evidence.rounds),
        "decided_by": pa.array(np.where(is_link, decided, "").tolist(), pa.string()),
        "taken_by": holder["source"],
        "taken_by_name": holder["source_name"],
        "neighbours": pa.ListArray.from_arrays(pa.array(evidence.starts, pa.int32()), around),
        "values": pa.ListArray.from_arrays(pa.array(evidence.value_starts, pa.int32()), compared),
    }
    order = np.lexsort((~is_link, sources))  # link and runner-up of one source stand together
    return pa.table(columns).take(pa.array(order))


def _name_similarities(task: AlignmentTask, pairs: Ints) -> Floats:
    left, right = (
        {number: _letter_pairs(graph.names[number]) for number in np.unique(ids).tolist()}
        for graph, ids in ((task.source, pairs[:, 0]), (task.target, pairs[:, 1]))
    )
    return np.array([_in_common(left[source], right[target]) for source, target in pairs.tolist()], np.float64)


def _letter_pairs(name: str) -> frozenset[str]:
    folded = f" {fold(name)} "
    return frozenset(map("".join, itertools.pairwise(folded))) if folded.strip() else frozenset()


def _in_common(one: frozenset[str], other: frozenset[str]) -> float:
    return round(2 * len(one & other) / max(1, len(one) + len(other)), 4)


@dataclass(frozen=True, eq=False)
class _Around:
    shared: Ints
    starts: Ints
    neighbours: Ints
    certainties: Floats
    lacking: Ints


def _doubtful(alignment: Alignment, candidates: Candidates) -> Ints:
    """Everybody who has a link or could have had one, ascending; the least sure of them if there are too many."""
    rows = candidates.queries[(candidates.targets >= 0).any(axis=1)] if candidates.targets.size else np.empty(0, np.int64)
    sources = np.union1d(rows, alignment.sources)
    if len(sources) <= MOST_LINKS:
        return sources
    order = np.argsort(alignment.scores, kind="stable")[:MOST_LINKS]
    return np.sort(alignment.sources[order])


def _linked(alignment: Alignment, sources: Ints) -> Ints:
    """(n,) where the link of each source stands in the alignment, -1 where it has none."""
    order = np.argsort(alignment.sources, kind="stable")
    return _look_up(alignment.sources[order], order, sources)


def _runners_up(alignment: Alignment, candidates: Candidates, sources: Ints) -> tuple[Ints, Floats]:
    """(n,) the best candidate of each source but for its link, -1 where there is none, and its probability."""
    order = np.argsort(candidates.queries, kind="stable")
    rows = _look_up(candidates.queries[order], order, sources)
    if not candidates.targets.size or not len(sources):
        return np.full(len(sources), -1), np.zeros(len(sources))
    asked = replace(candidates, queries=sources, targets=candidates.targets[rows], scores=candidates.scores[rows])
    places = _linked(alignment, sources)
    chosen = np.where(places >= 0, np.append(alignment.targets, -1)[places], -1)
    open_to = (asked.targets >= 0) & (asked.targets != chosen[:, None]) & (rows >= 0)[:, None]
    slots = open_to.argmax(axis=1)
    lines = np.arange(len(sources))
    runners = np.where(open_to.any(axis=1), asked.targets[lines, slots], -1)
    return runners, np.clip(asked.probabilities()[lines, slots], 0, 1)


def _neighbours(sides: tuple[Edges, Edges], known: Alignment, pairs: Ints, rivals: Ints) -> _Around:
    """The most telling neighbours of each pair; `rivals` are the targets that came second, -1: none."""
    source, target = (side.adjacency for side in sides)
    partner, certainty = np.full(source.shape[0], -1), np.zeros(source.shape[0])
    partner[known.sources], certainty[known.sources] = known.targets, known.scores
    width = max(1, target.shape[0])
    degree = [side.degrees for side in sides]

    owners, near = _expand(source, pairs[:, 0], None)
    other = partner[near]
    edges = np.sort(np.repeat(np.arange(target.shape[0]), np.diff(target.indptr)) * width + target.indices)
    both = (other >= 0) & _holds(edges, pairs[owners, 1] * width + other)
    shared = np.bincount(owners[both], minlength=len(pairs))
    rarity = 1 / np.log(3 + degree[0][near] + np.where(other >= 0, degree[1][other], 0))
    taken = owners[both] * width + other[both]
    weights = certainty[near] * rarity

    target_owners, target_near = _expand(target, pairs[:, 1], MOST_LOOKED_AT)
    alone = ~np.isin(target_owners * width + target_near, taken)
    target_owners, target_near = target_owners[alone], target_near[alone]
    target_rarity = 1 / np.log(3 + degree[1][target_near])

    blocks = []
    for kind, (owner, left, right, weight, most) in enumerate(
        (
            (owners[both], near[both], other[both], weights[both], MOST_SHARED),
            (owners[~both], near[~both], np.full(int((~both).sum()), -1), rarity[~both], MOST_OTHERS),
            (target_owners, np.full(len(target_near), -1), target_near, target_rarity, MOST_OTHERS),
        )
    ):
        kept = _best_of_each(owner, weight, most)
        blocks.append(np.column_stack([owner[kept], np.full(len(kept), kind), left[kept], right[kept]]))
    rows = np.concatenate(blocks)
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]  # stable, so that the most telling stay first
    starts = np.searchsorted(rows[:, 0], np.arange(len(pairs) + 1))
    joined = rows[:, 1] == 0
    rival = rivals[rows[:, 0]]
    lacking = joined & (rival >= 0) & ~_holds(edges, rival * width + rows[:, 3])
    return _Around(shared, starts, rows[:, 2:], np.where(joined, certainty[rows[:, 2]], 0.0), lacking)


def _holds(ascending: Ints, wanted: Ints) -> Ints:
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


def _holders(known: Alignment, pairs: Ints) -> Ints:
    """(p,) who has the target of each pair, if it is not the source itself; -1: nobody."""
    order = np.argsort(known.targets, kind="stable")
    places = _look_up(known.targets[order], order, pairs[:, 1])
    holders = np.where(places >= 0, np.append(known.sources, -1)[places], -1)
    return np.where(holders == pairs[:, 0], -1, holders)


def _look_up(ascending: Ints, positions: Ints, wanted: Ints) -> Ints:
    """The position of each wanted number, -1 where it does not occur."""
    if not len(ascending):
        return np.full(len(wanted), -1)
    places = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return np.where(_holds(ascending, wanted), positions[places], -1)


def _numbered(there: Ints, first: int) -> Ints:
    """Numbers from `first` on for those who are there, -1 for the others."""
    return np.where(there, first + np.cumsum(there) - 1, -1)


def _keys(pairs: Ints) -> Ints:
    return (pairs[:, 0] << 32) | pairs[:, 1]
