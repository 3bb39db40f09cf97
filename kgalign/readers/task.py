"""Tasks out of two graphs and their links: the protocol, the queries and the candidate pool."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Ints, KnowledgeGraph, Protocol
from kgalign.errors import DataError, OptionError
from kgalign.iri import is_blank
from kgalign.readers.schema import is_ontology, schema_of, terms_of


def make_task(
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    seeds: Alignment,
    gold: Alignment,
    protocol: Protocol | None = None,
    classes: bool = False,
) -> tuple[AlignmentTask, Alignment]:
    """The task with its queries and its candidate pool, and the gold links.

    Args:
        source: The graph whose entities are queries.
        target: The graph whose entities are candidates.
        seeds: The links that are given to the model.
        gold: The test links.
        protocol: `closed`: only entities of the test links are queries and candidates. `open`: all entities without a seed are. None: closed
            if there are test links.
        classes: Align classes and properties too, in the open protocol. They are aligned anyway if a graph is an ontology, or if a seed
            links one.
    """
    for side, graph in (("source", source), ("target", target)):
        if not graph.entities:
            raise DataError(f"the {side} graph is empty: expected at least one triple")
    protocol = protocol or ("closed" if len(gold) else "open")
    if protocol == "closed" and not len(gold):
        raise OptionError(
            "the closed protocol takes its queries from the test links, but there are no test links; set `protocol` to open"
        )
    queries, pool = gold.sources, gold.targets
    if protocol == "open":
        schemas = [schema_of(graph) for graph in (source, target)]
        linked = np.isin(seeds.sources, schemas[0]).any() or np.isin(seeds.targets, schemas[1]).any()
        if classes or linked or is_ontology(source, schemas[0]) or is_ontology(target, schemas[1]):
            schemas = [terms_of(graph) for graph in (source, target)]
        else:
            source, target = (_record_classes(graph, len(schema)) for graph, schema in zip((source, target), schemas, strict=True))
        queries = np.setdiff1d(_alignable(source, schemas[0]), seeds.sources)
        pool = np.setdiff1d(_alignable(target, schemas[1]), seeds.targets)
    return AlignmentTask(source, target, seeds, queries, pool, protocol), gold


def _record_classes(graph: KnowledgeGraph, count: int) -> KnowledgeGraph:
    """The graph, with a record of its classes and properties that are left out."""
    return replace(graph, record={**graph.record, "classes left out": count}) if count else graph


def _alignable(graph: KnowledgeGraph, schema: Ints) -> Ints:
    """(n,) all entities but those of the schema and blank nodes without a name, which a link could not tell apart.

    If nothing is left, the schema counts too, and then all entities do.
    """
    names = zip(graph.entities, graph.names, strict=True)
    named = np.flatnonzero([name != "" or not is_blank(entity) for entity, name in names])
    found = (each for each in (np.setdiff1d(named, schema), named) if len(each))
    return next(found, np.arange(len(graph.entities)))
