"""The schema of a graph: those of its entities that are classes and properties."""

from __future__ import annotations

import re

import numpy as np

from kgalign.data import Ints, KnowledgeGraph

RDF, RDFS, OWL = (
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://www.w3.org/2000/01/rdf-schema#",
    "http://www.w3.org/2002/07/owl#",
)
VOCABULARIES = (RDF, RDFS, OWL, "http://www.w3.org/2001/XMLSchema#")
TYPE = f"{RDF}type"
ABOUT_ANYTHING = (
    f"{RDFS}seeAlso",
    f"{RDFS}member",
    f"{OWL}sameAs",
    f"{OWL}differentFrom",
)  # relations of RDFS and OWL that individuals have too
DECLARATION = re.compile(f"(?:{RDF}|{RDFS}|{OWL})(?:\\w*(?:Class|Property)|Datatype|Ontology|Restriction)")


def schema_of(graph: KnowledgeGraph) -> Ints:
    """(n,) the ids of classes and properties, ascending.

    An entity is one if it is the type of another, or if statements of RDFS or OWL declare it or arrange it in a hierarchy. A class with other
    triples counts as an individual; literals do not matter. The terms of RDF, RDFS and OWL themselves are always classes or properties.
    """
    head, relation, tail = graph.triples.T
    is_type, arranges = (
        np.array([is_such(name.strip("<>")) for name in graph.relations], bool)
        for is_such in (lambda name: name == TYPE, _arranges)
    )
    kinds = np.unique(tail[is_type[relation]])
    declarations = kinds[[DECLARATION.fullmatch(graph.entities[kind].strip("<>")) is not None for kind in kinds.tolist()]]
    is_schema = np.zeros(len(graph.entities), bool)
    is_schema[kinds] = True
    is_schema[head[is_type[relation] & np.isin(tail, declarations)]] = True
    is_schema[np.concatenate([head[arranges[relation]], tail[arranges[relation]]])] = True
    is_other = ~(is_type | arranges)[relation]
    is_schema[np.concatenate([head[is_other], tail[is_other]])] = False
    is_schema[terms_of(graph)] = True
    return np.flatnonzero(is_schema)


def terms_of(graph: KnowledgeGraph) -> Ints:
    """(n,) the ids of the terms of RDF, RDFS, OWL and XML Schema, which all graphs share."""
    return np.flatnonzero([entity.strip("<>").startswith(VOCABULARIES) for entity in graph.entities])


def is_ontology(graph: KnowledgeGraph, schema: Ints) -> bool:
    """Whether most subjects of a graph are classes and properties.

    Args:
        graph: The graph.
        schema: (n,) its classes and properties, see `schema_of`.
    """
    subjects = np.unique(np.concatenate([graph.triples[:, 0], graph.attributes.facts[:, 0], graph.labels.facts[:, 0]]))
    return bool(np.isin(subjects, schema).mean() > 0.5) if len(subjects) else False


def _arranges(relation: str) -> bool:
    """Whether a relation holds between classes or properties, as rdfs:subClassOf does."""
    return relation.startswith((RDFS, OWL)) and relation not in ABOUT_ANYTHING
