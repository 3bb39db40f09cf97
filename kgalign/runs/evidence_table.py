"""evidence.parquet: evidence as the columns of an Arrow table, and its rows as explanations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np

from kgalign.data import RANKS, AlignmentTask, Ints
from kgalign.explain.evidence import AGREEMENT, Evidence, relations_between
from kgalign.explain.explanations import Contribution, Explanation, MatchingName, Neighbour, OtherLink, Pair, Value

LINK, RUNNER_UP = "link", "runner-up"
SIDES = ("source", "target")


def evidence_table(evidence: Evidence, task: AlignmentTask, decoder: str) -> Any:
    """The evidence as an Arrow table, by IRI and name: one row for each link and one for each runner-up."""
    import pyarrow as pa

    sources, targets = evidence.pairs.T
    is_link = np.isin(np.arange(len(evidence.pairs)), evidence.links)
    decided_by = np.where(evidence.rounds > 0, "easy-to-hard", decoder)
    entities = _Entities(task)
    taken_by = entities.columns("source", evidence.taken_by)
    columns = {
        **entities.columns("source", sources),
        "source_neighbours": pa.array(evidence.edges[0].degrees[sources]),
        **entities.columns("target", targets),
        "target_neighbours": pa.array(evidence.edges[1].degrees[targets]),
        "role": pa.array(np.where(is_link, LINK, RUNNER_UP).tolist(), pa.string()),
        "probability": pa.array(np.round(evidence.probabilities, 4)),
        "name_similarity": pa.array(evidence.similarities),
        "matching_names": _matching_names(evidence, task),
        "shared": pa.array(evidence.shared),
        "round": pa.array(evidence.rounds),
        "decided_by": pa.array(np.where(is_link, decided_by, "").tolist(), pa.string()),
        "taken_by": taken_by["source"],
        "taken_by_name": taken_by["source_name"],
        "neighbours": _lists(evidence.starts, _neighbours(evidence, task, entities)),
        "values": _lists(evidence.value_starts, _values(evidence, task)),
        "contributions": _contributions(evidence),
    }
    order = np.lexsort((~is_link, sources))  # the links and the runner-up of one source are neighbouring rows
    return pa.table(columns).take(pa.array(order))


def explanations(rows: Iterable[Mapping[str, Any]]) -> Iterator[Explanation]:
    """The explanations that rows of the table hold, one for each link; rows of one source are neighbours."""
    for source, group in groupby(rows, key=lambda row: row["source"]):
        of_source = list(group)
        links, runners_up = ([row for row in of_source if row["role"] == role] for role in (LINK, RUNNER_UP))
        runner_up = _pair(runners_up[0]) if runners_up else None
        for row in links or runners_up:
            link = _pair(row) if links else None
            others = tuple(OtherLink(each["target"], each["target_name"], each["probability"]) for each in links if each is not row)
            about = source, row["source_name"], row["source_neighbours"]
            yield Explanation(*about, link, runner_up, row["round"], row["decided_by"], others)


class _Entities:
    """The IRIs and names of both graphs as Arrow arrays."""

    def __init__(self, task: AlignmentTask) -> None:
        import pyarrow as pa

        graphs = zip(SIDES, (task.source, task.target), strict=True)
        self.texts = {side: (pa.array(graph.entities, pa.string()), pa.array(graph.names, pa.string())) for side, graph in graphs}

    def columns(self, side: str, ids: Ints) -> dict[str, Any]:
        """The columns of IRI and name of some entities; -1: null."""
        import pyarrow as pa

        places = pa.array(ids, mask=ids < 0)
        iris, names = self.texts[side]
        return {side: iris.take(places), f"{side}_name": names.take(places)}


def _matching_names(evidence: Evidence, task: AlignmentTask) -> Any:
    """Text, language and rank of the most similar names of each pair, on either side; null where they have nothing in common."""
    import pyarrow as pa

    ranks = pa.array(RANKS, pa.string())
    missing = evidence.names[:, 0] < 0
    fields: dict[str, Any] = {}
    for column, (side, graph) in enumerate(zip(SIDES, (task.source, task.target), strict=True)):
        names, rows = graph.names, np.where(missing, 0, evidence.names[:, column])
        places = pa.array(rows, mask=missing)
        fields[side] = pa.array(names.text, pa.string()).take(places)
        fields[f"{side}_language"] = pa.array(names.language, pa.string()).take(places)
        fields[f"{side}_rank"] = ranks.take(pa.array(np.append(names.rank, 0)[rows], mask=missing))
    return pa.StructArray.from_arrays(list(fields.values()), list(fields), mask=pa.array(missing))


def _neighbours(evidence: Evidence, task: AlignmentTask, entities: _Entities) -> dict[str, Any]:
    import pyarrow as pa

    owners = np.repeat(np.arange(len(evidence.pairs)), np.diff(evidence.starts))
    fields: dict[str, Any] = {}
    for column, (side, graph) in enumerate(zip(SIDES, (task.source, task.target), strict=True)):
        ids = evidence.neighbours[:, column]
        names = pa.array([*graph.relations, *(f"^{relation}" for relation in graph.relations)], pa.string())
        starts, numbers = relations_between(evidence.edges[column], evidence.pairs[owners, column], ids)
        relations = pa.ListArray.from_arrays(pa.array(starts, pa.int32()), names.take(pa.array(numbers)))
        fields |= entities.columns(side, ids) | {f"{side}_relations": relations}
    return fields | {
        "probability": pa.array(np.round(evidence.neighbour_probabilities, 4)),
        "seed": pa.array(evidence.seeds),
        "lacking": pa.array(evidence.lacking),
    }


def _values(evidence: Evidence, task: AlignmentTask) -> dict[str, Any]:
    import pyarrow as pa

    fields: dict[str, Any] = {}
    for column, (side, graph) in enumerate(zip(SIDES, (task.source, task.target), strict=True)):
        facts, attributes = evidence.values[:, column].tolist(), graph.attributes
        fields[f"{side}_property"] = pa.array([attributes.properties[attributes.facts[fact, 1]] for fact in facts], pa.string())
        fields[f"{side}_value"] = pa.array([attributes.values[fact] for fact in facts], pa.string())
    return fields | {"agreement": pa.array([AGREEMENT[number] for number in evidence.agreement.tolist()], pa.string())}


def _contributions(evidence: Evidence) -> Any:
    """A list of kind, description and amount for each pair; kinds that add nothing are left out."""
    import pyarrow as pa

    given = evidence.contributions
    amounts = np.zeros((len(evidence.pairs), 0)) if given is None else np.round(given.amounts.astype(np.float64), 2)
    owners, kinds = np.nonzero(amounts)
    starts = np.searchsorted(owners, np.arange(len(evidence.pairs) + 1))
    names, descriptions = ((), ()) if given is None else (given.kinds, given.descriptions)
    fields = {
        "kind": pa.array(names, pa.string()).take(pa.array(kinds)),
        "description": pa.array(descriptions, pa.string()).take(pa.array(kinds)),
        "amount": pa.array(amounts[owners, kinds]),
    }
    return _lists(starts, fields)


def _lists(starts: Ints, fields: Mapping[str, Any]) -> Any:
    """A column of lists of records; `starts` says where each list begins."""
    import pyarrow as pa

    return pa.ListArray.from_arrays(pa.array(starts, pa.int32()), pa.StructArray.from_arrays(list(fields.values()), list(fields)))


def _names(row: Mapping[str, Any] | None) -> tuple[MatchingName, MatchingName] | None:
    if row is None:
        return None
    one, other = (MatchingName(row[side], row[f"{side}_language"], row[f"{side}_rank"]) for side in SIDES)
    return one, other


def _pair(row: Mapping[str, Any]) -> Pair:
    relations = ("source_relations", "target_relations")
    return Pair(
        target=row["target"],
        name=row["target_name"],
        probability=row["probability"],
        name_similarity=row["name_similarity"],
        matching_names=_names(row.get("matching_names")),  # an older run has none
        shared=row["shared"],
        neighbour_count=row["target_neighbours"],
        neighbours=tuple(Neighbour(**{**each, **{name: tuple(each[name]) for name in relations}}) for each in row["neighbours"]),
        taken_by=row["taken_by"],
        taken_by_name=row["taken_by_name"],
        values=tuple(Value(**each) for each in row["values"]),
        contributions=tuple(Contribution(**each) for each in row.get("contributions") or ()),  # an older run has none
    )
