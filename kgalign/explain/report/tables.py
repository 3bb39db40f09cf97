"""The links of a run with their evidence as plain lists, as small as they can be: what the page's script reads."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Ints, KnowledgeGraph
from kgalign.features.relations import Edges
from kgalign.explain.evidence import AGREEMENT, Evidence, relations_between
from kgalign.iri import local_name

LONGEST_VALUE = 80  # characters of a literal
MOST_DRAWN = 20_000  # of more links, the least sure ones are drawn; the others are in the list


def link_tables(task: AlignmentTask, evidence: Evidence, gold: Alignment | None = None) -> dict[str, Any]:
    """Columns of numbers, and the entities that they number.

    links       source, pair (its link, -1: none), runner (the pair that came second), right (1, 0, or -1: nobody knows)
    pairs       target, p (thousandths), similarity (per cent), shared, round, holder (the source that has the target)
    starts      where the neighbours of each pair begin
    near        source, target (-1: none), p, flags (1: a seed, 2: the runner-up lacks it), relations of either side
    values      starts (where those of each pair begin), property, and what source and target have, and how far it agrees: all as text
    """
    drawn = _drawn(evidence)
    kept = np.repeat(drawn, np.diff(evidence.starts))
    owners = np.repeat(np.arange(len(evidence.pairs)), np.diff(evidence.starts))[kept]
    neighbours = evidence.neighbours[kept]
    source, source_numbers = _entities(task.source, evidence.edges[0], evidence.sources, evidence.holders, neighbours[:, 0])
    target, target_numbers = _entities(task.target, evidence.edges[1], evidence.pairs[:, 1], neighbours[:, 1])
    tables: dict[str, Any] = {
        "source": source,
        "target": target,
        "relations": {
            "source": [local_name(relation) for relation in task.source.relations],
            "target": [local_name(relation) for relation in task.target.relations],
        },
        "links": {
            "source": source_numbers[evidence.sources].tolist(),
            "pair": evidence.links.tolist(),
            "runner": evidence.runners_up.tolist(),
        },
        "pairs": {
            "target": target_numbers[evidence.pairs[:, 1]].tolist(),
            "p": _parts(evidence.probabilities, 1000),
            "similarity": _parts(evidence.similarities, 100),
            "shared": evidence.shared.tolist(),
            "round": evidence.rounds.tolist(),
            "holder": source_numbers[evidence.holders].tolist(),
        },
        "starts": np.searchsorted(owners, np.arange(len(evidence.pairs) + 1)).tolist(),
        "near": {
            "source": source_numbers[neighbours[:, 0]].tolist(),
            "target": target_numbers[neighbours[:, 1]].tolist(),
            "p": _parts(evidence.certainties[kept], 1000),
            "flags": (evidence.seeds[kept] + 2 * evidence.lacking[kept].astype(np.int64)).tolist(),
            "source_relations": _relations(evidence.edges[0], evidence.pairs[owners, 0], neighbours[:, 0]),
            "target_relations": _relations(evidence.edges[1], evidence.pairs[owners, 1], neighbours[:, 1]),
        },
    }
    if len(evidence.values):
        tables["values"] = _values(task, evidence, drawn)
    if gold is not None:
        tables["links"]["right"] = _right(evidence, gold)
    return tables


def _values(task: AlignmentTask, evidence: Evidence, drawn: Ints) -> dict[str, Any]:
    ours, theirs = task.source.attributes, task.target.attributes
    counts = np.diff(evidence.value_starts)
    kept = np.repeat(drawn, counts)
    rows = evidence.values[kept].tolist()
    return {
        "starts": np.cumsum([0, *np.where(drawn, counts, 0)]).tolist(),
        "property": [local_name(theirs.properties[theirs.facts[fact, 1]]) for _, fact in rows],
        "source": [ours.values[fact][:LONGEST_VALUE] for fact, _ in rows],
        "target": [theirs.values[fact][:LONGEST_VALUE] for _, fact in rows],
        "agreement": [AGREEMENT[number] for number in evidence.agreement[kept].tolist()],
    }


def _drawn(evidence: Evidence) -> Ints:
    """(p,) the pairs whose neighbours are drawn and whose literals are told: all of them, or those of the least sure links."""
    wanted = np.ones(len(evidence.pairs), bool)
    if len(evidence.sources) > MOST_DRAWN:
        sure = np.where(evidence.links >= 0, np.append(evidence.probabilities, 0.0)[evidence.links], 0.0)
        chosen = np.argsort(sure, kind="stable")[:MOST_DRAWN]
        wanted[:] = False
        for pairs in (evidence.links[chosen], evidence.runners_up[chosen]):
            wanted[pairs[pairs >= 0]] = True
    return wanted


def _entities(graph: KnowledgeGraph, edges: Edges, *ids: Ints) -> tuple[dict[str, Any], Ints]:
    """The entities that occur, and (n + 1,) the number of each; the last one is that of nobody, -1."""
    used = np.unique(np.concatenate(ids))
    used = used[used >= 0]
    numbers = np.full(len(graph.entities) + 1, -1)
    numbers[used] = np.arange(len(used))
    iris = [graph.entities[i] for i in used.tolist()]
    prefix = _common_start(iris)
    table = {
        "prefix": prefix,
        "iris": [iri[len(prefix) :] for iri in iris],
        "names": [graph.names[i] for i in used.tolist()],
        "degrees": edges.degrees[used].tolist(),
    }
    return table, numbers


def _common_start(texts: list[str]) -> str:
    """What all texts begin with."""
    first, last = min(texts, default=""), max(texts, default="")
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]


def _relations(edges: Edges, entities: Ints, neighbours: Ints) -> list[Any]:
    """The numbers of the relations to each neighbour; one number alone where there is only one, -1 for nobody."""
    starts, numbers = (each.tolist() for each in relations_between(edges, entities, neighbours))
    return [
        -1 if begin == end else numbers[begin] if begin + 1 == end else numbers[begin:end]
        for begin, end in itertools.pairwise(starts)
    ]


def _right(evidence: Evidence, gold: Alignment) -> list[int]:
    """Whether each link is a gold link: 1 yes, 0 no, -1 where no gold link touches it."""
    pairs = np.append(evidence.pairs, [[-1, -1]], axis=0)[evidence.links]
    right = np.isin((pairs[:, 0] << 32) | pairs[:, 1], gold.keys)
    judged = np.isin(pairs[:, 0], gold.sources) | np.isin(pairs[:, 1], gold.targets)
    return np.where(evidence.links < 0, -1, np.where(judged, right, -1)).tolist()


def _parts(values: Any, whole: int) -> list[int]:
    return np.round(np.asarray(values) * whole).astype(np.int64).tolist()
