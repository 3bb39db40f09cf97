"""The data of the report page: links and their evidence as plain lists, kept small."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from kgalign.data import KINDS, RANKS, Alignment, AlignmentTask, Ints, KnowledgeGraph, Name
from kgalign.explain.evidence import AGREEMENT, Evidence, relations_between
from kgalign.features.relations import Edges
from kgalign.iri import local_name
from kgalign.seams import Contributions

LONGEST_VALUE = 80  # characters of a name or a literal
MOST_NAMES = 12  # of an entity
MOST_DRAWN = 20_000  # links whose evidence the page holds, those with the lowest probability; the others are only listed


def link_tables(task: AlignmentTask, evidence: Evidence, gold: Alignment | None = None) -> dict[str, Any]:
    """The tables that report.js reads, by name. Numbers stand for positions in other tables, -1 for none.

    - `source`, `target`: the entities that occur, with IRIs, names, degrees and kinds (absent where all are individuals). `all_names`:
      by entity, for those of pairs with more to say than one name: text (0: the shown one), language and rank of each. `more_names`: how
      many more an entity has.
    - `kinds`, `ranks`: their names.
    - `relations`: the names of the relations of both sides.
    - `links`: source, pair (the link), runner (the runner-up), right (1, 0, or -1: not judged).
    - `pairs`: target, p (in thousandths), similarity (per cent), shared, round, taken_by (another source with the same target). `names`: by
      pair, where the two most similar names are not both the shown ones: text, language and rank of the one and of the other.
    - `starts`: where the neighbours of each pair begin.
    - `near`: source, target, p, flags (1: a seed, 2: the runner-up lacks it), relations of either side.
    - `values`: starts (where the literals of each pair begin), property, the values of both sides, and their agreement, all as text.
    - `contributions`: kinds, descriptions, and for each pair the amounts in hundredths, 0 where the page does not hold them.
    """
    drawn = _drawn(evidence)
    kept = np.repeat(drawn, np.diff(evidence.starts))
    owners = np.repeat(np.arange(len(evidence.pairs)), np.diff(evidence.starts))[kept]
    neighbours = evidence.neighbours[kept]
    source, source_numbers = _entities(task.source, evidence.edges[0], evidence.sources, evidence.taken_by, neighbours[:, 0])
    target, target_numbers = _entities(task.target, evidence.edges[1], evidence.pairs[:, 1], neighbours[:, 1])
    source |= _all_names(task.source, source_numbers, evidence.pairs[drawn, 0])
    target |= _all_names(task.target, target_numbers, evidence.pairs[drawn, 1])
    tables: dict[str, Any] = {
        "source": source,
        "target": target,
        "kinds": KINDS,
        "ranks": RANKS,
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
            "taken_by": source_numbers[evidence.taken_by].tolist(),
            "names": _matching_names(task, evidence, drawn),
        },
        "starts": np.searchsorted(owners, np.arange(len(evidence.pairs) + 1)).tolist(),
        "near": {
            "source": source_numbers[neighbours[:, 0]].tolist(),
            "target": target_numbers[neighbours[:, 1]].tolist(),
            "p": _parts(evidence.neighbour_probabilities[kept], 1000),
            "flags": (evidence.seeds[kept] + 2 * evidence.lacking[kept].astype(np.int64)).tolist(),
            "source_relations": _relations(evidence.edges[0], evidence.pairs[owners, 0], neighbours[:, 0]),
            "target_relations": _relations(evidence.edges[1], evidence.pairs[owners, 1], neighbours[:, 1]),
        },
    }
    if len(evidence.values):
        tables["values"] = _values(task, evidence, drawn)
    if evidence.contributions is not None:
        tables["contributions"] = _contributions(evidence.contributions, drawn)
    if gold is not None:
        tables["links"]["right"] = _right(evidence, gold)
    return tables


def _all_names(graph: KnowledgeGraph, numbers: Ints, ids: Ints) -> dict[str, dict[int, Any]]:
    """The names of entities and how many more there are, by positions in the table; the shown name of an entity is 0 there."""
    kept: dict[int, Any] = {}
    more: dict[int, Any] = {}
    for entity in np.unique(ids).tolist():
        shown, names, number = graph.names[entity], graph.names.of_entity(entity), int(numbers[entity])
        if names and names != [Name(shown)]:
            kept[number] = [_plain_name(name, shown) for name in names[:MOST_NAMES]]
        if len(names) > MOST_NAMES:
            more[number] = len(names) - MOST_NAMES
    return {"all_names": kept, "more_names": more}


def _matching_names(task: AlignmentTask, evidence: Evidence, drawn: Ints) -> dict[int, list[Any]]:
    """The most similar names of the pairs that are drawn, where they are not both the shown ones."""
    sides = task.source.names, task.target.names
    found: dict[int, list[Any]] = {}
    for pair in np.flatnonzero(drawn & (evidence.names[:, 0] >= 0)).tolist():
        places = list(zip(sides, evidence.names[pair].tolist(), evidence.pairs[pair].tolist(), strict=True))
        if any(names.text[at] != names[entity] for names, at, entity in places):
            found[pair] = [_plain_name(Name(names.text[at], names.language[at], int(names.rank[at]))) for names, at, _ in places]
    return found


def _plain_name(name: Name, shown: str = "") -> list[Any]:
    """Text (0 for the shown name), language and rank, without what is empty at the end."""
    parts: list[Any] = [0 if name.text == shown else name.text[:LONGEST_VALUE], name.language, name.rank]
    while not parts[-1] and len(parts) > 1:
        parts.pop()
    return parts


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


def _contributions(contributions: Contributions, drawn: Ints) -> dict[str, Any]:
    """Kinds that add something to some pair, and the amounts of the pairs that are drawn."""
    amounts = np.round(contributions.amounts * 100).astype(np.int64)
    used = np.flatnonzero(amounts.any(axis=0)).tolist()
    return {
        "kinds": [contributions.kinds[kind] for kind in used],
        "descriptions": [contributions.descriptions[kind] for kind in used],
        "amounts": [row if kept else 0 for row, kept in zip(amounts[:, used].tolist(), drawn.tolist(), strict=True)],
    }


def _drawn(evidence: Evidence) -> Ints:
    """(p,) the pairs whose evidence the page holds: all of them, or those of the links with the lowest probability."""
    wanted = np.ones(len(evidence.pairs), bool)
    if len(evidence.sources) > MOST_DRAWN:
        probabilities = np.where(evidence.links >= 0, np.append(evidence.probabilities, 0.0)[evidence.links], 0.0)
        chosen = np.argsort(probabilities, kind="stable")[:MOST_DRAWN]
        wanted[:] = False
        for pairs in (evidence.links[chosen], evidence.runners_up[chosen]):
            wanted[pairs[pairs >= 0]] = True
    return wanted


def _entities(graph: KnowledgeGraph, edges: Edges, *ids: Ints) -> tuple[dict[str, Any], Ints]:
    """The entities that occur, and (n + 1,) their positions in that table; the last one is that of the id -1."""
    used = np.unique(np.concatenate(ids))
    used = used[used >= 0]
    numbers = np.full(len(graph.entities) + 1, -1)
    numbers[used] = np.arange(len(used))
    iris = [graph.entities[i] for i in used.tolist()]
    prefix = _common_start(iris)
    table: dict[str, Any] = {
        "prefix": prefix,
        "iris": [iri[len(prefix) :] for iri in iris],
        "names": [graph.names[i] for i in used.tolist()],
        "degrees": edges.degrees[used].tolist(),
    }
    if graph.kinds[used].any():
        table["kinds"] = graph.kinds[used].tolist()
    return table, numbers


def _common_start(texts: list[str]) -> str:
    """The common beginning of all texts."""
    first, last = min(texts, default=""), max(texts, default="")
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]


def _relations(edges: Edges, entities: Ints, neighbours: Ints) -> list[Any]:
    """The numbers of the relations to each neighbour; one number alone where there is only one, -1 where there is none."""
    starts, numbers = (each.tolist() for each in relations_between(edges, entities, neighbours))
    return [
        -1 if begin == end else numbers[begin] if begin + 1 == end else numbers[begin:end]
        for begin, end in itertools.pairwise(starts)
    ]


def _right(evidence: Evidence, gold: Alignment) -> list[int]:
    """Whether each link is a gold link: 1 yes, 0 no, -1: not judged, since no gold link touches it."""
    pairs = np.append(evidence.pairs, [[-1, -1]], axis=0)[evidence.links]
    right = np.isin((pairs[:, 0] << 32) | pairs[:, 1], gold.keys)
    judged = np.isin(pairs[:, 0], gold.sources) | np.isin(pairs[:, 1], gold.targets)
    return np.where(evidence.links < 0, -1, np.where(judged, right, -1)).tolist()


def _parts(values: Any, whole: int) -> list[int]:
    return np.round(np.asarray(values) * whole).astype(np.int64).tolist()
