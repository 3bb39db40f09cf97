"""evidence.parquet: evidence as the columns of an Arrow table, and its rows as explanations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import RANKS, AlignmentTask, Ints
from kgalign.errors import DataError
from kgalign.explain.evidence import AGREEMENT, Evidence, relations_between
from kgalign.explain.explanations import Contribution, Explanation, MatchingName, Neighbour, OtherLink, Pair, Value
from kgalign.readers.parquet import read_own_table

LINK, RUNNER_UP = "link", "runner-up"
SIDES = ("source", "target")
ADDED_LATER = ("matching_names", "contributions")  # columns that an older run does not have
NULLS = frozenset(("taken_by", "taken_by_name", "matching_names"))  # columns in which a value may be missing
NULLS_OF_NEIGHBOURS = frozenset(f"{side}{part}" for side in SIDES for part in ("", "_name"))
MOST_SHOWN = 120  # characters of a problem in a message


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


def read_evidence(path: Path, sources: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of an evidence.parquet for some sources."""
    return _checked_rows(path, _read_table(path, sources))


@dataclass(frozen=True, eq=False)
class EvidenceRows:
    """All rows of an evidence table, looked up by source.

    Attributes:
        table: The table, in which the rows of a source are neighbours.
        places: The first row of each source, and how many it has.
        path: The file that it was read from, for errors.
    """

    table: Any
    places: Mapping[str, tuple[int, int]]
    path: Path

    @classmethod
    def of(cls, table: Any, path: Path = Path()) -> EvidenceRows:
        places: dict[str, tuple[int, int]] = {}
        number = 0
        for source, group in groupby(table["source"].to_pylist()):
            count = sum(1 for _ in group)
            places[source] = number, count
            number += count
        return cls(table, places, path)

    @classmethod
    def read(cls, path: Path) -> EvidenceRows:
        """Those of an evidence.parquet."""
        return cls.of(_read_table(path), path)

    def of_source(self, source: str) -> list[dict[str, Any]]:
        """The rows of one source; none where its evidence is not stored."""
        first, count = self.places.get(source, (0, 0))
        return _checked_rows(self.path, self.table.slice(first, count))


def _read_table(path: Path, sources: Sequence[str] | None = None) -> Any:
    """The columns of an evidence.parquet, as this version has them: the rows of some sources, or all."""
    import pyarrow as pa
    import pyarrow.compute

    def of_sources(batch: Any) -> Any:
        return batch.filter(pa.compute.is_in(batch["source"], pa.array(sources, pa.string())))

    try:
        table = read_own_table(path, keep=None if sources is None else of_sources)
        schema = pa.schema([field for field in _schema() if field.name in table.column_names or field.name not in ADDED_LATER])
        if missing := set(schema.names) - set(table.column_names):
            raise ValueError(f"the column {min(missing)} is missing")
        return table.select(schema.names).cast(schema)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, LookupError, TypeError, ValueError) as error:
        raise _damaged(path, error) from None


def _checked_rows(path: Path, table: Any) -> list[dict[str, Any]]:
    """The rows of a table, in which no value may be missing."""
    import pyarrow as pa

    try:
        rows: list[dict[str, Any]] = table.to_pylist()
        if not all(map(_is_whole, rows)):
            raise ValueError("a value is missing")
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise _damaged(path, error) from None
    return rows


def _damaged(path: Path, error: BaseException) -> DataError:
    reason = str(error).splitlines()[0][:MOST_SHOWN]
    return DataError(f"{path}: expected the evidence of a run, but {reason}; the file is damaged, so align again")


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


def _schema() -> Any:
    """The columns that are read back, and their types."""
    import pyarrow as pa

    text, number, whole, flag = pa.string(), pa.float64(), pa.int64(), pa.bool_()
    named = [(f"{side}{part}", text) for side in SIDES for part in ("", "_language", "_rank")]
    neighbour = [
        (f"{side}{part}", pa.list_(text) if "rel" in part else text) for side in SIDES for part in ("", "_name", "_relations")
    ]
    neighbour += [("probability", number), ("seed", flag), ("lacking", flag)]
    values = [(f"{side}_{part}", text) for side in SIDES for part in ("property", "value")] + [("agreement", text)]
    contribution = [("kind", text), ("description", text), ("amount", number)]
    columns = dict.fromkeys(("source", "source_name", "target", "target_name", "role", "decided_by"), text)
    columns |= dict.fromkeys(("source_neighbours", "target_neighbours", "shared", "round"), whole)
    columns |= dict.fromkeys(("probability", "name_similarity"), number) | dict.fromkeys(("taken_by", "taken_by_name"), text)
    columns |= {"matching_names": pa.struct(named), "neighbours": pa.list_(pa.struct(neighbour))}
    columns |= {"values": pa.list_(pa.struct(values)), "contributions": pa.list_(pa.struct(contribution))}
    return pa.schema([pa.field(name, kind) for name, kind in columns.items()])


def _is_whole(row: Mapping[str, Any], may_be_null: Set[str] = NULLS) -> bool:
    """Whether a row has a value wherever it needs one; neighbours need none on either side."""
    for name, value in row.items():
        within = value if isinstance(value, list) else [value]
        if any(each is None for each in within) and name not in may_be_null:
            return False
        if not all(_is_whole(each, NULLS | NULLS_OF_NEIGHBOURS) for each in within if isinstance(each, dict)):
            return False
    return True


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
