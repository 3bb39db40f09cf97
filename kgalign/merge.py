"""Two graphs joined along their links: a linked entity goes by its target's name, and it is told which graph says what."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy  # which imports its parts when they are first used

from kgalign.data import Alignment, AlignmentTask, Ints, KnowledgeGraph
from kgalign.errors import DataError, OptionError
from kgalign.files import read_rows
from kgalign.iri import LABEL_PROPERTIES, as_name, local_name, normal_iri
from kgalign.features.relations import Edges, RelationMatch
from kgalign.writers.rdf import LABEL, literal
from kgalign.writers.sameas import SAME_AS, iri
from kgalign.writers.tsv import one_field

LINKS = "<urn:kgalign:links>"
ENDINGS = (".nt", ".nq")
PROBABILITY = re.compile(r"0(?:\.\d*)?|1(?:\.0*)?")
FUNCTIONAL = 0.95  # of the subjects have one object: another one is then a contradiction
SAME_RELATION = 0.5
Quad = tuple[str, str, str, str]  # subject, predicate, object, and the graph that says so


@dataclass(frozen=True)
class Conflict:
    """Something that the two graphs say differently of one entity, or two links that cannot both be."""

    kind: str  # value: literals of one property; fact: ends of one relation; twice: two sources with one target
    entity: str
    property: str  # or relation; where the two graphs have a name each for it, both, and ^ before one that leads back
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
    """What the two graphs say differently of the same entity: values and ends of properties and relations that have one only as a rule.

    Properties are the same if they are called the same or if their values mostly agree, relations if they are called the same or match.
    Values are the same if they say the same, see value_features; text is compared only within one language; names may differ.
    """
    return [*_value_conflicts(task, links), *_fact_conflicts(task, links, relations)]


def write_merged(quads: Iterator[Quad], path: Path) -> int:
    """Writes N-Triples (.nt), or N-Quads (.nq), which also tell the graph that says it, whole or not at all; how many lines there are."""
    if path.suffix not in ENDINGS:
        raise OptionError(f"{path}: expected a file ending in {' or '.join(ENDINGS)}")
    seen: set[bytes] = set()  # digests: the lines themselves would be as much again as both graphs
    draft = path.with_name(f".{path.name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with draft.open("w", encoding="utf-8", newline="\n") as file:
        for quad in quads:
            line = f"{' '.join(quad if path.suffix == '.nq' else quad[:3])} .\n"
            digest = hashlib.blake2b(line.encode(), digest_size=16).digest()
            if digest not in seen:
                seen.add(digest)
                file.write(line)
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
    relations = [iri(each, "relation") for each in graph.relations]
    for head, relation, tail in graph.triples.tolist():
        yield names[head], relations[relation], names[tail], origin
    written = np.zeros(len(names), bool)  # whose name is among the literals
    for part in (graph.labels, graph.attributes):
        properties = [iri(each, "relation") for each in part.properties]
        for (entity, number), value, kind in zip(part.facts.tolist(), part.values, part.kinds, strict=True):
            yield names[entity], properties[number], literal(value, kind), origin
            written[entity] |= as_name(value) == graph.names[entity]
    for number, (entity, name) in enumerate(zip(graph.entities, graph.names, strict=True)):
        if name and not written[number] and name != local_name(normal_iri(entity)):  # from a table of names, for instance
            yield names[number], LABEL, literal(name), origin


def _value_conflicts(task: AlignmentTask, links: Alignment) -> Iterator[Conflict]:
    """Values in one language, or without one, of properties that have one value as a rule."""
    numbers: dict[str, int] = {}
    languages: dict[str, int] = {}
    source, target = (
        _single_values(graph, ids, numbers, languages)
        for graph, ids in ((task.source, links.sources), (task.target, links.targets))
    )
    mine, theirs = task.source.attributes, task.target.attributes
    for first, second in _same_properties(source, target, mine.properties, theirs.properties):
        left, right = source[source[:, 0] == first], target[target[:, 0] == second]
        _, at, other = np.intersect1d(left[:, 1], right[:, 1], assume_unique=True, return_indices=True)
        differ = left[at, 2] != right[other, 2]
        name = _both_names(mine.properties[first], theirs.properties[second])
        for told, also in zip(left[at[differ]].tolist(), right[other[differ]].tolist(), strict=True):
            entity = task.target.entities[links.targets[told[1] % len(links)]]
            yield Conflict("value", entity, name, mine.values[told[3]], theirs.values[also[3]])


def _single_values(graph: KnowledgeGraph, ids: Ints, numbers: dict[str, int], languages: dict[str, int]) -> Ints:
    """(n, 4) property, place (language and link), number of the value, and which literal it is, where a place has one value only.

    Only of properties that nearly always have one; names may differ. `numbers` and `languages` take up what they do not hold yet.
    """
    from kgalign.features.literals import value_features  # which takes sparse matrices, slow to import

    literals = graph.attributes
    link_of = np.full(len(graph.entities), -1, np.int64)
    link_of[ids] = np.arange(len(ids))
    named = set(graph.labels.facts[:, 1].tolist())
    telling = [name.strip("<>") not in LABEL_PROPERTIES and number not in named for number, name in enumerate(literals.properties)]
    rows = np.flatnonzero((link_of[literals.facts[:, 0]] >= 0) & np.array(telling, bool)[literals.facts[:, 1]])
    values = [numbers.setdefault(value_features(literals.values[row])[0], len(numbers)) for row in rows.tolist()]
    kinds = (literals.kinds[row] for row in rows.tolist())
    spoken = [languages.setdefault(kind if kind.startswith("@") else "", len(languages)) for kind in kinds]
    places = np.array(spoken, np.int64) * len(ids) + link_of[literals.facts[rows, 0]]
    told = np.column_stack([literals.facts[rows, 1], places, np.array(values, np.int64)])
    told, first = np.unique(told, axis=0, return_index=True)
    _, begins, often = np.unique(told[:, :2], axis=0, return_index=True, return_counts=True)
    properties = told[begins, 0]
    all_places, single_places = (np.bincount(part, minlength=len(telling)) for part in (properties, properties[often == 1]))
    functional = single_places >= FUNCTIONAL * all_places
    single = begins[(often == 1) & functional[properties]]
    return np.column_stack([told[single], rows[first[single]]])


def _same_properties(source: Ints, target: Ints, names: Sequence[str], others: Sequence[str]) -> list[tuple[int, int]]:
    """Properties that are called the same, and those whose values agree more often than not, each the other's best."""
    called = {name: number for number, name in enumerate(others)}
    same = {(number, called[name]) for number, name in enumerate(names) if name in called}
    together, places = _count_common(source[:, :2], target[:, :2], len(others))
    agreeing, agreed = _count_common(source[:, :3], target[:, :3], len(others))
    # Two more places: a property that was seen once is not yet sure of its match.
    shares = agreed / (places[np.searchsorted(together, agreeing)] + 2)
    first, second = np.divmod(agreeing, max(1, len(others)))
    best, best_back = np.zeros(len(names)), np.zeros(len(others))
    np.maximum.at(best, first, shares)
    np.maximum.at(best_back, second, shares)
    likely = (shares >= SAME_RELATION) & (shares == best[first]) & (shares == best_back[second])
    return sorted(same | set(zip(first[likely].tolist(), second[likely].tolist(), strict=True)))


def _count_common(left: Ints, right: Ints, width: int) -> tuple[Ints, Ints]:
    """Which properties, the first column, have rows in common but for that, as first * width + second, ascending; and how many."""
    rows, columns = np.unique(np.concatenate([left[:, 1:], right[:, 1:]]), axis=0, return_inverse=True)
    one, other = (
        scipy.sparse.csr_array((np.ones(len(part)), (part[:, 0], column)), shape=(part[:, 0].max(initial=0) + 1, len(rows)))
        for part, column in zip((left, right), np.split(columns.ravel(), [len(left)]), strict=True)
    )
    common = scipy.sparse.coo_array(one @ other.T)
    order = np.argsort(keys := common.row.astype(np.int64) * width + common.col)
    return keys[order], common.data[order]


def _fact_conflicts(task: AlignmentTask, links: Alignment, relations: Sequence[RelationMatch]) -> Iterator[Conflict]:
    """Ends of relations that match, one of them perhaps turned round, and that have one end as a rule."""
    matches = {(match.source, match.target, match.inverse) for match in relations if match.score >= SAME_RELATION}
    matches |= {(name, name, False) for name in set(task.source.relations) & set(task.target.relations)}
    numbers, other_numbers = ({name: i for i, name in enumerate(graph.relations)} for graph in (task.source, task.target))
    partner = np.full(len(task.source.entities) + 1, -1, np.int64)  # the last one is that of nobody, -1
    partner[links.sources] = links.targets
    for name, other, inverse in sorted(matches):
        mine = _single_ends(task.source, numbers[name])[links.sources]
        theirs = _single_ends(task.target, other_numbers[other] + inverse * len(task.target.relations))[links.targets]
        differ = (partner[mine] >= 0) & (theirs >= 0) & (partner[mine] != theirs)
        called = _both_names(name, f"^{other}" if inverse else other)
        for target, said, also in zip(links.targets[differ].tolist(), mine[differ].tolist(), theirs[differ].tolist(), strict=True):
            yield Conflict("fact", task.target.entities[target], called, task.source.entities[said], task.target.entities[also])


def _single_ends(graph: KnowledgeGraph, relation: int) -> Ints:
    """(n,) the end that each entity has in a relation, numbered as by both_ways; -1 where it has none, or where several are common."""
    edges = Edges.of(graph).triples
    heads, tails = edges[edges[:, 1] == relation][:, [0, 2]].T
    ends = np.full(len(graph.entities), -1, np.int64)
    heads, first, often = np.unique(heads, return_index=True, return_counts=True)
    if len(heads) and (often == 1).mean() >= FUNCTIONAL:
        ends[heads[often == 1]] = tails[first[often == 1]]
    return ends


def _both_names(name: str, other: str) -> str:
    return name if name == other else f"{name} = {other}"


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
        if not PROBABILITY.fullmatch(score):
            raise DataError(
                f"{path}:{number}: expected a probability from 0 to 1 in the fifth column, found {score!r}; put it right"
            )
        pairs.append((ids[0][source], ids[1][target]))
        scores.append(float(score))
    return Alignment(np.array(pairs, np.int64).reshape(-1, 2), np.array(scores, np.float64))
