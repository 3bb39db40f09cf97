"""What an update has changed: its links beside those of the earlier run, each with the reason why it was decided again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Ints
from kgalign.decisions import NO_MATCH, Decision
from kgalign.features.relations import Edges
from kgalign.runs.changes import LinkChange
from kgalign.runs.deciders import standing_of
from kgalign.runs.hashes import GraphChange
from kgalign.runs.tables import LinkRow, link_rows
from kgalign.update.carried import NO_LINE, Carried
from kgalign.update.earlier import Earlier

Row = tuple[LinkRow, int, int, bool]  # with the ids of its entities today, -1: it is gone, and whether people have decided on it


def in_earlier_order(links: Alignment, carried: Carried) -> Alignment:
    """The same links: those of an entity that had one before stand where it stood, those of others follow at the end."""
    line = carried.first_line[links.sources]
    known = dict(zip(carried.alignment.keys.tolist(), carried.lines.tolist(), strict=True))
    own = np.array([known.get(key, NO_LINE) for key in links.keys.tolist()], np.int64)
    return links.where(np.lexsort((-links.scores, own, links.sources, line)))


def link_changes(
    earlier: Earlier, carried: Carried, links: Alignment, task: AlignmentTask, decided: Mapping[tuple[int, int], str]
) -> list[LinkChange]:
    """The links that are new, gone or changed, in the order of the links; those that are gone stand where they stood.

    Args:
        earlier: The run before.
        carried: What could stay of it.
        links: The links now, without those that people have decided on.
        task: The graphs now.
        decided: What people have decided, in words, by source and target id. The target -1 stands for no match.
    """
    reasons = _Reasons.of(carried, task, decided)
    remembered = earlier.remembered
    past = earlier.alignment + earlier.decided
    ends = zip(carried.source.now[past.sources].tolist(), carried.target.now[past.targets].tolist(), strict=True)
    assert len(remembered.source.entities) == len(carried.source.now)
    before: dict[str, list[Row]] = {}
    for number, (row, (source, target)) in enumerate(zip((*earlier.rows, *earlier.decided_rows), ends, strict=True)):
        before.setdefault(row.source, []).append((row, source, target, number >= len(earlier.rows)))
    after: dict[str, list[Row]] = {}
    links = task.and_decided(links)
    by_people = links.among(task.decided).tolist()
    for row, (source, target), by_person in zip(link_rows(links, task), links.pairs.tolist(), by_people, strict=True):
        after.setdefault(row.source, []).append((row, source, target, by_person))
    found, seeds = [], set(map(tuple, task.seeds.pairs.tolist()))
    for source_iri in dict.fromkeys((*before, *after)):
        for old, new in _paired(before.get(source_iri, []), after.get(source_iri, [])):
            if old is None or new is None or _shown(old) != _shown(new):
                found.append(_change(old, new, reasons.of_links(old, new), seeds))
    return found


def _paired(before: list[Row], after: list[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    """The links of one source before and after, beside each other: those with the same target, and then the others in their order."""
    targets = {each[0].target: each for each in after}
    same = [(old, targets.pop(old[0].target)) for old in before if old[0].target in targets]
    yield from same
    rest = [old for old in before if all(old is not each for each, _ in same)]
    others = list(targets.values())
    for at in range(max(len(rest), len(others))):
        yield (rest[at] if at < len(rest) else None), (others[at] if at < len(others) else None)


def _shown(row: Row) -> tuple[str, str, bool]:
    return row[0].target, row[0].probability, row[3]


def _change(old: Row | None, new: Row | None, reason: str, seeds: set[tuple[int, int]]) -> LinkChange:
    either = (new or old)[0]  # type: ignore[index]
    if old is None:
        change = "new"
    elif new is None:
        change = "given" if old[1:3] in seeds else "gone"
    else:  # a link stays on its line when people have decided on it
        change = "given" if old[0].target == new[0].target and new[3] and not old[3] else "changed"
    now = (new[0].target, new[0].target_name, new[0].probability) if new else ("", "", "")
    then = (old[0].target, old[0].target_name, old[0].probability) if old else ("", "", "")
    return LinkChange(change, either.source, either.source_name, *now, *then, reason)


@dataclass(frozen=True, eq=False)
class _Reasons:
    """Why a link was decided again; the first reason that holds.

    Attributes:
        sides: How the graphs have changed.
        decided: What people have decided.
        near: (n,) and (m,) the entities with a neighbour that is new or of which something else is said.
        pairs: What has changed about a pair, by its key.
        seeds: The entities of seeds that are new.
    """

    sides: tuple[GraphChange, GraphChange]
    decided: Mapping[tuple[int, int], str]
    near: tuple[Ints, Ints]
    pairs: Mapping[int, str]
    seeds: tuple[set[int], set[int]]

    @classmethod
    def of(cls, carried: Carried, task: AlignmentTask, decided: Mapping[tuple[int, int], str]) -> _Reasons:
        near = []
        for edges, side in zip(Edges.of_task(task), (carried.source, carried.target), strict=True):
            near.append(edges.adjacency @ side.is_touched.astype(np.float32) > 0)
        (seeds, no_seeds), (rejected, no_longer) = carried.seeds, carried.rejected
        pairs: dict[int, str] = {}
        ends = seeds.sources, seeds.targets
        for links, text in (
            (no_longer, "pair no longer rejected"),
            (rejected, "pair rejected"),
            (no_seeds, "no seed any more"),
            (seeds, "given as a seed"),
        ):
            pairs |= dict.fromkeys(links.keys.tolist(), text)
        return cls(
            (carried.source, carried.target), decided, (near[0], near[1]), pairs, (set(ends[0].tolist()), set(ends[1].tolist()))
        )

    def of_links(self, old: Row | None, new: Row | None) -> str:
        """The reason for a change from one link of a source to another."""
        source = next(row[1] for row in (new, old) if row is not None)
        targets = [row[2] for row in (new, old) if row is not None]
        for target in (*targets, -1):
            if (text := self.decided.get((source, target))) is not None:
                return text
        for target in targets:
            if source >= 0 and target >= 0 and (text := self.pairs.get((source << 32) | target)) is not None:
                return text
        for ends, ids, name in ((self.seeds[0], [source], "source"), (self.seeds[1], targets, "target")):
            if any(each in ends for each in ids):
                return f"the {name} entity is in a seed now"
        for side, ids, name in ((self.sides[0], [source], "source"), (self.sides[1], targets, "target")):
            if any(each < 0 for each in ids):
                return f"{name} entity gone"
            if any(side.is_new[each] for each in ids):
                return f"{name} entity new"
        changed = [
            name
            for side, ids, name in ((self.sides[0], [source], "source"), (self.sides[1], targets, "target"))
            if any(side.is_changed[each] for each in ids)
        ]
        if changed:
            return "statements of both entities changed" if len(changed) == 2 else f"statements of the {changed[0]} entity changed"
        if self.near[0][source] or any(self.near[1][each] for each in targets):
            return "statements of a neighbour changed"
        return "links near it changed"


def decided_in_words(logs: Sequence[str], task: AlignmentTask) -> dict[tuple[int, int], str]:
    """What stands of the decisions in logs, in words, by source and target id; the target -1: the source has no counterpart."""
    standing = standing_of(logs, task.cardinality)
    decisions = [*standing.matches.values(), *standing.rejected.values(), *standing.alone.values()]
    named = [{each.source for each in decisions}, {each.target for each in decisions}]
    ids = [
        {iri: number for number, iri in enumerate(graph.entities) if iri in wanted}
        for graph, wanted in zip((task.source, task.target), named, strict=True)
    ]
    return {
        (
            ids[0][each.source],
            ids[1].get(each.target, -1),
        ): f"decided{f' by {each.author}' if each.author else ''}: {_verdict(each)}"
        for each in decisions
        if each.source in ids[0] and (each.target in ids[1] or not each.target)
    }


def _verdict(decision: Decision) -> str:
    """The verdict as the page of a review names it."""
    if decision.verdict != NO_MATCH:
        return decision.verdict
    return "not the same" if decision.target else "no match at all"


def changed_counts(change: GraphChange) -> str:
    """How a graph has changed, in words."""
    counts = change.counts()
    return ", ".join(f"{number:,} {name}" for name, number in counts.items() if number) or "nothing changed"
