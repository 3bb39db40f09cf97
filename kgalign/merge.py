"""Two graphs joined along their links: a linked entity goes by its target's name, and it is told which graph says what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph
from kgalign.errors import DataError, OptionError
from kgalign.files import read_rows
from kgalign.readers.names import LABEL_PROPERTIES, local_name
from kgalign.relations import RelationMatch
from kgalign.text import fold
from kgalign.writers.rdf import LABEL, literal
from kgalign.writers.sameas import SAME_AS, iri
from kgalign.writers.tsv import one_field

LINKS = "<urn:kgalign:links>"
ENDINGS = (".nt", ".nq")
FUNCTIONAL = 0.95  # of the subjects have one object: another one is then a contradiction
SAME_RELATION = 0.5
Quad = tuple[str, str, str, str]  # subject, predicate, object, and the graph that says so


@dataclass(frozen=True)
class Conflict:
    """Something that the two graphs say differently of one entity, or two links that cannot both be."""

    kind: str  # value: literals of one property; fact: ends of one relation; twice: two sources with one target
    entity: str
    property: str
    source: str
    target: str


def single_links(alignment: Alignment, task: AlignmentTask, least: float) -> tuple[Alignment, list[Conflict]]:
    """Seeds and the links of at least that probability, the surest for each target; what had to stand back is a conflict."""
    likely = alignment.where(alignment.scores >= least)
    links = task.seeds + likely.where(~np.isin(likely.sources, task.seeds.sources))
    order = np.lexsort((-links.scores, links.targets))
    first = np.ones(len(order), bool)
    first[1:] = np.diff(links.targets[order]) != 0
    conflicts = []
    winners = dict(links.pairs[order[first]][:, ::-1].tolist())
    for source, target in links.pairs[order[~first]].tolist():
        names = task.source.entities[source], task.source.entities[winners[target]]
        conflicts.append(Conflict("twice", task.target.entities[target], "", *names))
    return links.where(np.sort(order[first])), conflicts


def merged(task: AlignmentTask, links: Alignment) -> Iterator[Quad]:
    """Every statement of both graphs, and an owl:sameAs for each link; none twice."""
    partner = dict(links.pairs.tolist())
    targets = [iri(entity, "target") for entity in task.target.entities]
    sources = [
        targets[partner[number]] if number in partner else iri(entity, "source")
        for number, entity in enumerate(task.source.entities)
    ]
    for source, target in links.pairs.tolist():
        own = iri(task.source.entities[source], "source")
        if own != targets[target]:
            yield targets[target], SAME_AS, own, LINKS
    yield from _statements(task.source, sources, "source")
    yield from _statements(task.target, targets, "target")


def find_conflicts(task: AlignmentTask, links: Alignment, relations: Sequence[RelationMatch] = ()) -> list[Conflict]:
    """What the two graphs say differently of the same entity: values of a property, and ends of a relation that has one end only.

    Properties are the same if they are called the same, relations also if they match; names may differ.
    """
    return [*_value_conflicts(task, links), *_fact_conflicts(task, links, relations)]


def write_merged(quads: Iterator[Quad], path: Path) -> int:
    """Writes N-Triples (.nt), or N-Quads (.nq), which also tell the graph that says it, whole or not at all; how many lines there are."""
    if path.suffix not in ENDINGS:
        raise OptionError(f"{path}: expected a file ending in {' or '.join(ENDINGS)}")
    seen: set[Quad | tuple[str, ...]] = set()
    draft = path.with_name(f".{path.name}")
    with draft.open("w", encoding="utf-8", newline="\n") as file:
        for quad in quads:
            fields = quad if path.suffix == ".nq" else quad[:3]
            if fields not in seen:
                seen.add(fields)
                print(*fields, ".", file=file)
    draft.replace(path)
    return len(seen)


def write_conflicts(conflicts: Sequence[Conflict], path: Path) -> None:
    """Writes a conflict a line, with a header."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        print("kind", "entity", "property", "source", "target", sep="\t", file=file)
        for each in conflicts:
            fields = (each.kind, each.entity, each.property, each.source, each.target)
            print(*(one_field(field) for field in fields), sep="\t", file=file)


def _statements(graph: KnowledgeGraph, names: Sequence[str], side: str) -> Iterator[Quad]:
    origin = f"<urn:kgalign:{side}>"
    relations, properties = ([iri(each, "relation") for each in kind] for kind in (graph.relations, graph.attributes.properties))
    for head, relation, tail in graph.triples.tolist():
        yield names[head], relations[relation], names[tail], origin
    for (entity, kind), value in zip(graph.attributes.facts.tolist(), graph.attributes.values, strict=True):
        yield names[entity], properties[kind], literal(value), origin
    for number, (entity, name) in enumerate(zip(graph.entities, graph.names, strict=True)):
        if name and name != local_name(entity):  # it was read as a label, whatever property had it
            yield names[number], LABEL, literal(name), origin


def _value_conflicts(task: AlignmentTask, links: Alignment) -> Iterator[Conflict]:
    told = [_values(graph, set(ids.tolist())) for graph, ids in ((task.source, links.sources), (task.target, links.targets))]
    for source, target in links.pairs.tolist():
        mine, theirs = told[0].get(source, {}), told[1].get(target, {})
        for name in sorted(mine.keys() & theirs.keys()):
            if not {fold(value) for value in mine[name]} & {fold(value) for value in theirs[name]}:
                yield Conflict("value", task.target.entities[target], name, min(mine[name]), min(theirs[name]))


def _values(graph: KnowledgeGraph, wanted: set[int]) -> dict[int, dict[str, set[str]]]:
    """By entity and property the values of those entities, but for their names."""
    values: dict[int, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for (entity, kind), value in zip(graph.attributes.facts.tolist(), graph.attributes.values, strict=True):
        name = graph.attributes.properties[kind]
        if entity in wanted and name.strip("<>") not in LABEL_PROPERTIES:
            values[entity][name].add(value)
    return values


def _fact_conflicts(task: AlignmentTask, links: Alignment, relations: Sequence[RelationMatch]) -> Iterator[Conflict]:
    matches = {(match.source, match.target) for match in relations if not match.inverse and match.score >= SAME_RELATION}
    matches |= {(name, name) for name in set(task.source.relations) & set(task.target.relations)}
    partner = dict(links.pairs.tolist())
    ends = _single_ends(task.source), _single_ends(task.target)
    for name, other in sorted(matches):
        mine, theirs = ends[0].get(name, {}), ends[1].get(other, {})
        for source, target in links.pairs.tolist():
            if source in mine and target in theirs and partner.get(mine[source], theirs[target]) != theirs[target]:
                said, also = task.source.entities[mine[source]], task.target.entities[theirs[target]]
                yield Conflict("fact", task.target.entities[target], other, said, also)


def _single_ends(graph: KnowledgeGraph) -> dict[str, dict[int, int]]:
    """By relation, of those that nearly always have one end, the end for each entity."""
    order = np.argsort(graph.triples[:, 1], kind="stable")
    bounds = np.searchsorted(graph.triples[order, 1], np.arange(len(graph.relations) + 1))
    ends = {}
    for number, name in enumerate(graph.relations):
        facts = np.unique(graph.triples[order[bounds[number] : bounds[number + 1]]][:, [0, 2]], axis=0)
        heads, first, often = np.unique(facts[:, 0], return_index=True, return_counts=True)
        if len(heads) and (often == 1).mean() >= FUNCTIONAL:
            ends[name] = dict(facts[first[often == 1]].tolist())
    return ends


def read_links(path: Path, task: AlignmentTask) -> Alignment:
    """The links of an alignment.tsv between the entities of the task."""
    ids = [{entity: number for number, entity in enumerate(graph.entities)} for graph in (task.source, task.target)]
    pairs, scores = [], []
    rows = read_rows(path, 6)
    next(rows, None)
    for number, (source, target, _, _, score, _) in rows:
        if source not in ids[0] or target not in ids[1]:
            raise DataError(
                f"{path}:{number}: the graphs have no entities {source!r} and {target!r}; are they the ones of this run?"
            )
        pairs.append((ids[0][source], ids[1][target]))
        scores.append(float(score))
    return Alignment(np.array(pairs, np.int64).reshape(-1, 2), np.array(scores, np.float64))
