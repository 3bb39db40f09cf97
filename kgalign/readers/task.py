"""Tasks out of two graphs and their links: the protocol, the queries and the candidate pool."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from kgalign.data import CLASS, PROPERTY, Alignment, AlignmentTask, Cardinality, Ints, KnowledgeGraph, Protocol, one_link
from kgalign.errors import DataError, OptionError
from kgalign.iri import is_blank
from kgalign.readers.folding import TRUE
from kgalign.readers.restrictions import Only, Types, find_restrictions
from kgalign.readers.schema import is_ontology, is_subject_of, schema_of, terms_of, with_kinds
from kgalign.readers.vocabulary import DEPRECATED, OWL, RDFS, SKOS

logger = logging.getLogger(__name__)
MANY = 5  # classes and properties that are described, so that they are worth aligning
FOAF = "http://xmlns.com/foaf/0.1/"
# Relations to pages and pictures, and to the same thing in another graph.
REFERENCES = frozenset(
    [f"{OWL}sameAs", f"{RDFS}seeAlso", f"{RDFS}isDefinedBy", "http://www.w3.org/ns/prov#wasDerivedFrom"]
    + [f"{SKOS}{name}Match" for name in ("exact", "close", "broad", "narrow", "related")]
    + [f"{FOAF}{name}" for name in ("page", "homepage", "isPrimaryTopicOf", "depiction", "img", "thumbnail", "logo")]
    + [f"http://purl.org/dc/terms/{name}" for name in ("license", "rights", "source")]
    + [f"{scheme}://schema.org/{name}" for scheme in ("http", "https") for name in ("sameAs", "url", "image", "logo")]
)


def make_task(
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    seeds: Alignment,
    gold: Alignment,
    protocol: Protocol | None = None,
    classes: bool = False,
    *,
    cardinality: Cardinality = "one-to-one",
    rejected: Alignment | None = None,
    types: Types | None = None,
    only_source: Only = (),
    only_target: Only = (),
    strict: bool = False,
) -> tuple[AlignmentTask, Alignment]:
    """The task with its queries and its candidate pool, and the gold links.

    Args:
        source: The graph whose entities are queries.
        target: The graph whose entities are candidates.
        seeds: The links that are given to the model.
        gold: The test links.
        protocol: `closed`: only entities of the test links are queries and candidates. `open`: all entities without a seed are. None: closed
            if there are test links.
        classes: Align classes and properties too, in the open protocol. They are aligned anyway if a graph is an ontology, if both
            graphs describe theirs, or if a seed links one. Concepts and individuals are always aligned.
        cardinality: How many links an entity may have, see `AlignmentTask`. In the open protocol, entities of seeds that may have more links
            are queries and candidates too.
        rejected: Pairs that are known to be wrong.
        types: Classes of the source, each with a class of the target. Only entities of these classes are aligned, and only with each other;
            gold links of others do not count. All other entities stay evidence.
        only_source: IRIs or classes of the source, or files with one IRI a line: only these entities are queries.
        only_target: The same for the candidate pool.
        strict: Refuse IRIs in such files that the graph does not have, instead of leaving them out.
    """
    for side, graph in (("source", source), ("target", target)):
        if not graph.entities:
            raise DataError(f"the {side} graph is empty: expected at least one triple")
    protocol = protocol or ("closed" if len(gold) else "open")
    if protocol == "closed" and not len(gold):
        raise OptionError(
            "the closed protocol takes its queries from the test links, but there are no test links; set `protocol` to open"
        )
    restrictions = find_restrictions((with_kinds(source), with_kinds(target)), types, (only_source, only_target), strict)
    if restrictions.exist:
        gold = _record_outside(restrictions.within(gold), len(gold))
    queries, pool = gold.sources, gold.targets
    if protocol == "open":
        source, target = with_kinds(source), with_kinds(target)
        schemas = [schema_of(graph) for graph in (source, target)]
        linked = np.isin(seeds.sources, schemas[0]).any() or np.isin(seeds.targets, schemas[1]).any()
        linked |= any(
            named is not None and np.isin(named, schema).any() for named, schema in zip(restrictions.named, schemas, strict=True)
        )
        described = all(_describes_schema(graph) for graph in (source, target))
        if classes or linked or described or is_ontology(source) or is_ontology(target):
            schemas = [terms_of(graph) for graph in (source, target)]
        else:
            source, target = (_record_classes(graph, len(schema)) for graph, schema in zip((source, target), schemas, strict=True))
        single_source, single_target = one_link(cardinality)
        given = seeds.sources if single_source else seeds.sources[:0], seeds.targets if single_target else seeds.targets[:0]
        queries = np.setdiff1d(_alignable(source, schemas[0]), given[0])
        pool = np.setdiff1d(_alignable(target, schemas[1]), given[1])
        if restrictions.exist:
            queries, pool = restrictions.chosen(0, queries, given[0]), restrictions.chosen(1, pool, given[1])
    constraints: dict[str, Any] = {
        "rejected": rejected or Alignment.empty(),
        "types": restrictions.types,
        "cardinality": cardinality,
    }
    return AlignmentTask(source, target, seeds, queries, pool, protocol, **constraints), gold


def _record_outside(gold: Alignment, before: int) -> Alignment:
    """The gold links, with a record of those that are left out since their entities are not to be aligned."""
    outside = before - len(gold)
    if outside:
        logger.info(
            "%d of %d gold links are not measured, since `types`, `only_source` or `only_target` leave their entities out",
            outside,
            before,
        )
    return replace(gold, record={**gold.record, "outside": outside})


def _describes_schema(graph: KnowledgeGraph) -> bool:
    """Whether a graph says something of several of its classes and properties, besides using them."""
    return bool(np.isin(graph.kinds[is_subject_of(graph)], (CLASS, PROPERTY)).sum() >= MANY)


def _record_classes(graph: KnowledgeGraph, count: int) -> KnowledgeGraph:
    """The graph, with a record of its classes and properties that are left out."""
    return replace(graph, record={**graph.record, "classes left out": count}) if count else graph


def _alignable(graph: KnowledgeGraph, schema: Ints) -> Ints:
    """(n,) all entities but those of the schema, deprecated ones, addresses, and nameless ones that are blank or only mentioned.

    A link could not tell such nameless entities apart. If nothing is left, the schema and all others that have a name count too, and
    then all entities do.
    """
    has_name = np.array([name != "" for name in graph.names], bool)
    blank = np.array([is_blank(entity) for entity in graph.entities], bool)
    subjects = is_subject_of(graph)
    mentioned = ~subjects if 2 * has_name[subjects].sum() > subjects.sum() else np.zeros(len(blank), bool)
    named = np.flatnonzero(has_name | ~(blank | mentioned))
    others = np.setdiff1d(named, np.concatenate([_deprecated(graph), _addresses(graph)]))
    found = (each for each in (np.setdiff1d(others, schema), others, named) if len(each))
    return next(found, np.arange(len(graph.entities)))


def _deprecated(graph: KnowledgeGraph) -> Ints:
    """(n,) the ids of entities that the graph itself calls deprecated."""
    literals = graph.attributes
    numbers = [number for number, name in enumerate(literals.properties) if name.strip("<>") == DEPRECATED]
    rows = np.flatnonzero(np.isin(literals.facts[:, 1], numbers))
    return np.array([literals.facts[row, 0] for row in rows.tolist() if literals.values[row].strip().lower() in TRUE], np.int64)


def _addresses(graph: KnowledgeGraph) -> Ints:
    """(n,) the ids of entities of which nothing is said, and which others only refer to: pages, pictures, entities of other graphs."""
    refers = np.array([name.strip("<>") in REFERENCES for name in graph.relations], bool)
    _, relation, tail = graph.triples.T
    is_address = np.zeros(len(graph.entities), bool)
    is_address[tail[refers[relation]]] = True
    is_address[tail[~refers[relation]]] = False
    return np.flatnonzero(is_address & ~is_subject_of(graph))
