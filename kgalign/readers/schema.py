"""Which entities of a graph are its schema: classes and properties, which tell what kind of thing the others are."""

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
ABOUT_ANYTHING = (f"{RDFS}seeAlso", f"{RDFS}member", f"{OWL}sameAs", f"{OWL}differentFrom")  # said of individuals as well
DECLARATION = re.compile(f"(?:{RDF}|{RDFS}|{OWL})(?:\\w*(?:Class|Property)|Datatype|Ontology|Restriction)")


def schema_of(graph: KnowledgeGraph) -> Ints:
    """(n,) the ids of classes and properties, ascending.

    They are the types of something, or declared or arranged by RDFS or OWL, and nothing else is said of them but literals: a class that has
    facts of its own is as good as any other entity. The terms of RDF, RDFS and OWL themselves are always among them.
    """
    head, relation, tail = graph.triples.T
    is_type, arranges = (
        np.array([is_such(name.strip("<>")) for name in graph.relations], bool)
        for is_such in (lambda name: name == TYPE, _arranges)
    )
    kinds = np.unique(tail[is_type[relation]])
    declarations = kinds[[DECLARATION.fullmatch(graph.entities[kind].strip("<>")) is not None for kind in kinds.tolist()]]
    telling = np.zeros(len(graph.entities), bool)
    telling[kinds] = True
    telling[head[is_type[relation] & np.isin(tail, declarations)]] = True
    telling[np.concatenate([head[arranges[relation]], tail[arranges[relation]]])] = True
    has_facts = ~(is_type | arranges)[relation]
    telling[np.concatenate([head[has_facts], tail[has_facts]])] = False
    telling[terms_of(graph)] = True
    return np.flatnonzero(telling)


def terms_of(graph: KnowledgeGraph) -> Ints:
    """(n,) the ids of the terms of RDF, RDFS, OWL and XML Schema, which are the same in all graphs."""
    return np.flatnonzero([entity.strip("<>").startswith(VOCABULARIES) for entity in graph.entities])


def is_ontology(graph: KnowledgeGraph, schema: Ints) -> bool:
    """Whether a graph speaks of classes and properties more than of anything else."""
    subjects = np.unique(np.concatenate([graph.triples[:, 0], graph.attributes.facts[:, 0], graph.labels.facts[:, 0]]))
    return bool(np.isin(subjects, schema).mean() > 0.5) if len(subjects) else False


def _arranges(relation: str) -> bool:
    """Whether a relation holds between classes or properties, as rdfs:subClassOf does."""
    return relation.startswith((RDFS, OWL)) and relation not in ABOUT_ANYTHING
