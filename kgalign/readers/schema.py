"""The schema of a graph: those of its entities that are classes and properties."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from kgalign.data import CLASS, PROPERTY, Ints, KnowledgeGraph
from kgalign.readers.vocabulary import OWL, RDF, RDFS, XSD

VOCABULARIES = (RDF, RDFS, OWL, XSD)
TYPE = f"{RDF}type"
ABOUT_ANYTHING = (
    f"{RDFS}seeAlso",
    f"{RDFS}member",
    f"{OWL}sameAs",
    f"{OWL}differentFrom",
)  # relations of RDFS and OWL that individuals have too
DECLARATION = re.compile(f"(?:{RDF}|{RDFS}|{OWL})(?:\\w*(?:Class|Property)|Datatype|Ontology|Restriction)")
BETWEEN_PROPERTIES = (f"{RDFS}subPropertyOf", f"{OWL}inverseOf", f"{OWL}equivalentProperty")


def schema_of(graph: KnowledgeGraph) -> Ints:
    """(n,) the ids of classes and properties, ascending."""
    return np.flatnonzero(np.isin(with_kinds(graph).kinds, (CLASS, PROPERTY)))


def with_kinds(graph: KnowledgeGraph) -> KnowledgeGraph:
    """The graph with the kinds of its entities; the same graph if it has them, as graphs of RDF do.

    In a table of triples an entity is a class or a property if it is the type of another, or if statements of RDFS or OWL declare it or
    arrange it in a hierarchy. A class with other triples counts as an individual; literals do not matter. The terms of RDF, RDFS and OWL
    themselves are always classes or properties.
    """
    if graph.kinds.any():
        return graph
    head, relation, tail = graph.triples.T
    is_type, arranges, of_properties = (
        np.array([is_such(name.strip("<>")) for name in graph.relations], bool)
        for is_such in (lambda name: name == TYPE, _arranges, _is_of_properties)
    )
    types = np.unique(tail[is_type[relation]])
    declarations = types[[DECLARATION.fullmatch(graph.entities[each].strip("<>")) is not None for each in types.tolist()]]
    is_schema = np.zeros(len(graph.entities), bool)
    is_schema[types] = True
    is_schema[head[is_type[relation] & np.isin(tail, declarations)]] = True
    is_schema[np.concatenate([head[arranges[relation]], tail[arranges[relation]]])] = True
    is_other = ~(is_type | arranges)[relation]
    is_schema[np.concatenate([head[is_other], tail[is_other]])] = False
    is_schema[terms_of(graph)] = True
    if not is_schema.any():
        return graph
    properties = [each for each in declarations.tolist() if graph.entities[each].strip("<>").endswith("Property")]
    is_property = np.zeros(len(graph.entities), bool)
    is_property[head[(is_type[relation] & np.isin(tail, properties)) | of_properties[relation]]] = True
    return replace(graph, kinds=np.where(is_schema, np.where(is_property, PROPERTY, CLASS), 0).astype(np.int8))


def terms_of(graph: KnowledgeGraph) -> Ints:
    """(n,) the ids of the terms of RDF, RDFS, OWL and XML Schema, which tables of triples may mention."""
    return np.flatnonzero([entity.strip("<>").startswith(VOCABULARIES) for entity in graph.entities])


def is_ontology(graph: KnowledgeGraph) -> bool:
    """Whether most subjects of a graph with kinds are classes and properties.

    An entity that nothing is said of is there because its kind is declared, so it was a subject too.
    """
    is_subject = is_subject_of(graph)
    is_subject[np.setdiff1d(np.arange(len(graph.entities)), graph.triples[:, 2])] = True
    return bool(np.isin(graph.kinds[is_subject], (CLASS, PROPERTY)).mean() > 0.5) if is_subject.any() else False


def is_subject_of(graph: KnowledgeGraph) -> Ints:
    """(n,) which entities are the subject of a triple or have a literal."""
    is_subject = np.zeros(len(graph.entities), bool)
    for subjects in (graph.triples[:, 0], graph.attributes.facts[:, 0], graph.labels.facts[:, 0]):
        is_subject[subjects] = True
    return is_subject


def _arranges(relation: str) -> bool:
    """Whether a relation holds between classes or properties, as rdfs:subClassOf does."""
    return relation.startswith((RDFS, OWL)) and relation not in ABOUT_ANYTHING


def _is_of_properties(relation: str) -> bool:
    """Whether the subject of a relation is a property."""
    return relation in (f"{RDFS}domain", f"{RDFS}range", *BETWEEN_PROPERTIES)
