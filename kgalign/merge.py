"""Two graphs merged along their links: linked entities get one IRI, as a rule that of the target, and each statement keeps its graph."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy  # which imports its parts on first use

from kgalign.data import Alignment, AlignmentTask, Ints, KnowledgeGraph, one_link
from kgalign.drafts import NEW, check_new, draft_of, put_in_place
from kgalign.errors import OptionError
from kgalign.features.relations import Edges, RelationMatch, group_links
from kgalign.iri import LABEL_PROPERTIES, as_name, local_name, normal_iri, readable_names
from kgalign.writers.kinds import link_kinds
from kgalign.writers.rdf import LABEL, literal
from kgalign.writers.sameas import PREDICATES, iri
from kgalign.writers.tsv import write_rows

LINKS = "<urn:kgalign:links>"
ENDINGS = (".nt", ".nq")
FUNCTIONAL = 0.95  # where this share of subjects has one object, another object is a contradiction
SAME_RELATION = 0.5  # score from which relations or properties count as the same
Quad = tuple[str, str, str, str]  # subject, predicate, object, and the graph that holds the statement


@dataclass(frozen=True)
class Conflict:
    """A contradiction between the two graphs about one entity, or two links that exclude each other.

    Attributes:
        kind: `value`: two literals of one property; `fact`: two ends of one relation; `twice`: two sources linked to one target.
        entity: The target entity.
        property: The property or relation. Where the graphs have different names for it, both; ^ marks a reversed relation.
        source: The value, end or source entity by the source graph.
        target: The value or end by the target graph; for `twice`, the source entity whose link is kept.
    """

    kind: str
    entity: str
    property: str
    source: str
    target: str


def single_links(alignment: Alignment, task: AlignmentTask, least: float) -> tuple[Alignment, list[Conflict]]:
    """The seeds and the links of at least that probability; each link that is left out is a conflict.

    Where a target has one link at most, its most probable one is kept.
    """
    kept = alignment.where(alignment.scores >= least)
    single_source, single_target = one_link(task.cardinality)
    if single_source:
        kept = kept.where(~np.isin(kept.sources, task.seeds.sources))
    links = task.seeds + kept.where(~kept.among(task.seeds))
    if not single_target:
        return links, []
    order = np.lexsort((-links.scores, links.targets))
    first = np.ones(len(order), bool)
    first[1:] = np.diff(links.targets[order]) != 0
    conflicts = []
    winners = dict(links.pairs[order[first]][:, ::-1].tolist())
    for source, target in links.pairs[order[~first]].tolist():
        names = task.source.entities[source], task.source.entities[winners[target]]
        conflicts.append(Conflict("twice", task.target.entities[target], "", *names))
    return links.where(np.sort(order[first])), conflicts


def merged(task: AlignmentTask, links: Alignment, whole: tuple[KnowledgeGraph, KnowledgeGraph] | None = None) -> Iterator[Quad]:
    """Every statement of both graphs, and a triple for each link: owl:sameAs, or what says the same of its kind.

    Args:
        task: The two graphs.
        links: Links between them. Entities that links join have one IRI: that of the target, or that of the source where only a source has
            several targets; where both may have several, that of the target with the most probable link.
        whole: The two graphs with the nodes that reading folds, see `kgalign.readers.folding`. None: those of the task are whole.
    """
    own = [[iri(entity, side) for entity in graph.entities] for side, graph in (("source", task.source), ("target", task.target))]
    sources, targets = _common_iris(task, links, own)
    said = set()
    for pair, kind in zip(links.pairs.tolist(), link_kinds(links, task).tolist(), strict=True):
        for names, common, number in zip(own, (sources, targets), pair, strict=True):
            statement = common[number], PREDICATES[kind], names[number], LINKS
            if names[number] != common[number] and statement not in said:
                said.add(statement)
                yield statement
    graphs, all_names = (task.source, task.target), (sources, targets)
    for graph, unfolded, names, side in zip(graphs, whole or graphs, all_names, ("source", "target"), strict=True):
        name_of = dict(zip(graph.entities, names, strict=True))
        yield from _statements(unfolded, [name_of.get(entity) or iri(entity, side) for entity in unfolded.entities], side)
        yield from _other_names(graph, names, side)


def _common_iris(task: AlignmentTask, links: Alignment, own: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """The IRI of each source and each target in the merged graph, from their own IRIs."""
    side = 0 if task.cardinality == "one-to-many" else 1
    sources, targets = list(own[0]), list(own[1])
    common: dict[int, str] = {}
    groups = group_links(links)
    for link in np.argsort(-links.scores, kind="stable").tolist():
        source, target = links.pairs[link].tolist()
        name = common.setdefault(int(groups[link]), own[side][(source, target)[side]])
        sources[source] = targets[target] = name
    return sources, targets


def find_conflicts(task: AlignmentTask, links: Alignment, relations: Sequence[RelationMatch] = ()) -> list[Conflict]:
    """The contradictions between the two graphs about linked entities.

    Only properties and relations that have one value or end as a rule can contradict. Two properties are the same if their names are
    equal or if most of their values agree, two relations if their names are equal or if they match. Values are compared in a normal
    form, see `kgalign.features.values.value_features`, and text only within one language. Names of entities may differ.

    Args:
        task: The two graphs.
        links: Links between them; each of several links of an entity is compared.
        relations: Relations that match.
    """
    return [*_value_conflicts(task, links), *_fact_conflicts(task, links, relations)]


def write_merged(quads: Iterator[Quad], path: Path, force: bool = False) -> int:
    """Writes N-Triples (.nt) or N-Quads (.nq), each line once, the whole file or none; returns the number of lines.

    N-Quads also name the graph that holds each statement.

    Args:
        quads: The statements.
        path: The file.
        force: Replace a file that is there. Otherwise it is refused.
    """
    if path.suffix not in ENDINGS:
        raise OptionError(f"{path}: expected a file ending in {' or '.join(ENDINGS)}")
    seen: set[bytes] = set()  # digests: the lines themselves would take as much memory as both graphs
    check_new(path, force)
    with draft_of(path) as draft:
        with (draft / NEW).open("w", encoding="utf-8", newline="\n") as file:
            for quad in quads:
                line = f"{' '.join(quad if path.suffix == '.nq' else quad[:3])} .\n"
                digest = hashlib.blake2b(line.encode(), digest_size=16).digest()
                if digest not in seen:
                    seen.add(digest)
                    file.write(line)
        check_new(path, force)
        put_in_place(draft / NEW, path)
    return len(seen)


def write_conflicts(conflicts: Sequence[Conflict], path: Path, force: bool = False) -> None:
    """Writes a header and one conflict on each line, the whole file or none; a file that is there is refused without `force`."""
    rows = ((each.kind, each.entity, each.property, each.source, each.target) for each in conflicts)
    check_new(path, force)
    with draft_of(path) as draft:
        write_rows(("kind", "entity", "property", "source", "target"), rows, draft / NEW)
        put_in_place(draft / NEW, path)


def _statements(graph: KnowledgeGraph, names: Sequence[str], side: str) -> Iterator[Quad]:
    """The triples and literals of a graph."""
    origin = f"<urn:kgalign:{side}>"
    relations = [iri(each, "relation") for each in graph.relations]
    for head, relation, tail in graph.triples.tolist():
        yield names[head], relations[relation], names[tail], origin
    for part in (graph.labels, graph.attributes):
        properties = [iri(each, "relation") for each in part.properties]
        for (entity, number), value, kind in zip(part.facts.tolist(), part.values, part.kinds, strict=True):
            yield names[entity], properties[number], literal(value, kind), origin


def _other_names(graph: KnowledgeGraph, names: Sequence[str], side: str) -> Iterator[Quad]:
    """The names that are neither among the literals nor from IRIs, such as those of a table of names."""
    written = np.zeros(len(names), bool)
    for part in (graph.labels, graph.attributes):
        for entity, value in zip(part.facts[:, 0].tolist(), part.values, strict=True):
            written[entity] |= as_name(value) == graph.names[entity]
    from_iris = readable_names(graph.entities)
    for number, (entity, name) in enumerate(zip(graph.entities, graph.names, strict=True)):
        if name and not written[number] and name not in (from_iris[number], local_name(normal_iri(entity))):
            yield names[number], LABEL, literal(name), f"<urn:kgalign:{side}>"


def _value_conflicts(task: AlignmentTask, links: Alignment) -> Iterator[Conflict]:
    """Different values, in one language or without one, of properties that have one value as a rule."""
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
        for one, two in zip(left[at[differ]].tolist(), right[other[differ]].tolist(), strict=True):
            entity = task.target.entities[links.targets[one[1] % len(links)]]
            yield Conflict("value", entity, name, mine.values[one[3]], theirs.values[two[3]])


def _single_values(graph: KnowledgeGraph, ids: Ints, numbers: dict[str, int], languages: dict[str, int]) -> Ints:
    """(n, 4) property, place (language and link), number of the value, and position of the literal, for places with one value.

    Only properties that have one value as a rule count, and no names. New values and languages are added to `numbers` and `languages`.
    """
    from kgalign.features.values import value_features

    literals = graph.attributes
    named = set(graph.labels.facts[:, 1].tolist())
    usable = [name.strip("<>") not in LABEL_PROPERTIES and number not in named for number, name in enumerate(literals.properties)]
    rows, of_links = _rows_of_links(literals.facts[:, 0], ids)
    is_usable = np.array(usable, bool)[literals.facts[rows, 1]]
    rows, of_links = rows[is_usable], of_links[is_usable]
    values = [numbers.setdefault(value_features(literals.values[row])[0], len(numbers)) for row in rows.tolist()]
    kinds = (literals.kinds[row] for row in rows.tolist())
    language_numbers = [languages.setdefault(kind if kind.startswith("@") else "", len(languages)) for kind in kinds]
    places = np.array(language_numbers, np.int64) * len(ids) + of_links
    facts = np.column_stack([literals.facts[rows, 1], places, np.array(values, np.int64)])
    facts, first = np.unique(facts, axis=0, return_index=True)
    _, begins, counts = np.unique(facts[:, :2], axis=0, return_index=True, return_counts=True)
    properties = facts[begins, 0]
    all_places, single_places = (np.bincount(part, minlength=len(usable)) for part in (properties, properties[counts == 1]))
    functional = single_places >= FUNCTIONAL * all_places
    single = begins[(counts == 1) & functional[properties]]
    return np.column_stack([facts[single], rows[first[single]]])


def _rows_of_links(entities: Ints, ids: Ints) -> tuple[Ints, Ints]:
    """The position of each fact once for each link of its entity, ascending, and that link; `ids` are the entities of the links."""
    order = np.argsort(ids, kind="stable")
    begins, ends = np.searchsorted(ids[order], entities, "left"), np.searchsorted(ids[order], entities, "right")
    counts = ends - begins
    rows = np.repeat(np.arange(len(entities)), counts)
    inner = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rows, order[begins[rows] + inner]


def _same_properties(source: Ints, target: Ints, names: Sequence[str], others: Sequence[str]) -> list[tuple[int, int]]:
    """Properties with the same name, and those with mostly the same values that are each other's best match."""
    ids = {name: number for number, name in enumerate(others)}
    same = {(number, ids[name]) for number, name in enumerate(names) if name in ids}
    together, places = _count_common(source[:, :2], target[:, :2], len(others))
    agreeing, agreed = _count_common(source[:, :3], target[:, :3], len(others))
    # Two more places: one common value is not yet a match.
    shares = agreed / (places[np.searchsorted(together, agreeing)] + 2)
    first, second = np.divmod(agreeing, max(1, len(others)))
    best, best_back = np.zeros(len(names)), np.zeros(len(others))
    np.maximum.at(best, first, shares)
    np.maximum.at(best_back, second, shares)
    mutual = (shares >= SAME_RELATION) & (shares == best[first]) & (shares == best_back[second])
    return sorted(same | set(zip(first[mutual].tolist(), second[mutual].tolist(), strict=True)))


def _count_common(left: Ints, right: Ints, width: int) -> tuple[Ints, Ints]:
    """The pairs of properties whose rows agree apart from the property, as first * width + second, ascending; and how many rows do."""
    rows, columns = np.unique(np.concatenate([left[:, 1:], right[:, 1:]]), axis=0, return_inverse=True)
    one, other = (
        scipy.sparse.csr_array((np.ones(len(part)), (part[:, 0], column)), shape=(part[:, 0].max(initial=0) + 1, len(rows)))
        for part, column in zip((left, right), np.split(columns.ravel(), [len(left)]), strict=True)
    )
    common = scipy.sparse.coo_array(one @ other.T)
    order = np.argsort(keys := common.row.astype(np.int64) * width + common.col)
    return keys[order], common.data[order]


def _fact_conflicts(task: AlignmentTask, links: Alignment, relations: Sequence[RelationMatch]) -> Iterator[Conflict]:
    """Different ends of relations that match, perhaps reversed, and that have one end as a rule."""
    matches = {(match.source, match.target, match.inverse) for match in relations if match.score >= SAME_RELATION}
    matches |= {(name, name, False) for name in set(task.source.relations) & set(task.target.relations)}
    numbers, other_numbers = ({name: i for i, name in enumerate(graph.relations)} for graph in (task.source, task.target))
    groups = group_links(links)
    group_of = [np.full(len(graph.entities) + 1, -1, np.int64) for graph in (task.source, task.target)]  # the last one: no end
    group_of[0][links.sources], group_of[1][links.targets] = groups, groups
    source, target = Edges.of_task(task)
    for name, other, inverse in sorted(matches):
        mine = _single_ends(source, numbers[name])[links.sources]
        theirs = _single_ends(target, other_numbers[other] + inverse * target.relations)[links.targets]
        differ = (group_of[0][mine] >= 0) & (theirs >= 0) & (group_of[0][mine] != group_of[1][theirs])
        both = _both_names(name, f"^{other}" if inverse else other)
        for entity, one, two in zip(links.targets[differ].tolist(), mine[differ].tolist(), theirs[differ].tolist(), strict=True):
            yield Conflict("fact", task.target.entities[entity], both, task.source.entities[one], task.target.entities[two])


def _single_ends(edges: Edges, relation: int) -> Ints:
    """(n,) the end that each entity has in a relation of `Edges.triples`; -1 where it has none, or where several are common."""
    heads, tails = edges.triples[edges.triples[:, 1] == relation][:, [0, 2]].T
    ends = np.full(edges.adjacency.shape[0], -1, np.int64)
    heads, first, counts = np.unique(heads, return_index=True, return_counts=True)
    if len(heads) and (counts == 1).mean() >= FUNCTIONAL:
        ends[heads[counts == 1]] = tails[first[counts == 1]]
    return ends


def _both_names(name: str, other: str) -> str:
    return name if name == other else f"{name} = {other}"
