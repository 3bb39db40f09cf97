"""The kind of each entity of some statements: individual, class, property or concept."""

from __future__ import annotations

import re

import numpy as np

from kgalign.data import CLASS, CONCEPT, PROPERTY, Ints
from kgalign.readers.vocabulary import OWL, RDF, RDFS, SKOS, TYPES, is_term, mask_of, words_of
from kgalign.seams import Statements

DECLARATION = re.compile(f"(?:{RDF}|{RDFS}|{OWL})(?:\\w*(?P<property>Property)|(?:\\w*Class|Datatype|DataRange))")
BETWEEN_CLASSES = tuple(
    [f"{RDFS}subClassOf"]
    + [
        f"{OWL}{name}"
        for name in ("equivalentClass", "disjointWith", "complementOf", "unionOf", "intersectionOf", "disjointUnionOf")
    ]
)
TO_CLASSES = tuple(f"{OWL}{name}" for name in ("someValuesFrom", "allValuesFrom", "onClass"))
BETWEEN_PROPERTIES = tuple(
    [f"{RDFS}subPropertyOf"]
    + [f"{OWL}{name}" for name in ("inverseOf", "equivalentProperty", "propertyDisjointWith", "propertyChainAxiom")]
)
OF_PROPERTIES = (["domain"], ["range"], ["domain", "includes"], ["range", "includes"])  # as words
BETWEEN_CONCEPTS = tuple(f"{SKOS}{name}" for name in ("broader", "narrower", "related", "broaderTransitive", "narrowerTransitive"))


def kinds_of(side: Statements) -> Ints:
    """(n,) the position of each entity's kind in `kgalign.data.KINDS`.

    A type of RDFS, OWL or SKOS declares the kind. Relations of these vocabularies tell it too, such as rdfs:subClassOf and skos:broader. The
    type of another entity is a class, unless it is declared nowhere and has facts of its own. An entity that is both a class and a concept is
    what most such entities of the graph are.
    """
    head, relation, tail = side.triples.T
    size = len(side.entities)
    kinds = np.zeros(size, np.int8)
    is_type = mask_of(side.relations, TYPES)
    types = np.zeros(size, bool)
    types[tail[is_type[relation]]] = True
    declared = np.zeros((4, size), bool)
    told = np.zeros((4, size), bool)
    kind_of_type = np.zeros(size, np.int8)
    for entity in np.flatnonzero(types).tolist():
        kind_of_type[entity] = _declared_kind(side.entities[entity])
    for kind in (CLASS, PROPERTY, CONCEPT):
        declared[kind, head[is_type[relation] & (kind_of_type[tail] == kind)]] = True
    of_properties = np.fromiter((words_of(name) in OF_PROPERTIES for name in side.relations), bool, len(side.relations))
    for kind, names in ((CLASS, BETWEEN_CLASSES), (PROPERTY, BETWEEN_PROPERTIES), (CONCEPT, BETWEEN_CONCEPTS)):
        rows = mask_of(side.relations, names)[relation]
        told[kind, head[rows]] = told[kind, tail[rows]] = True
    told[CLASS, tail[(mask_of(side.relations, TO_CLASSES) | of_properties)[relation]]] = True
    told[PROPERTY, head[of_properties[relation]]] = True
    told[PROPERTY, tail[mask_of(side.relations, (f"{OWL}onProperty",))[relation]]] = True
    told[CONCEPT, head[mask_of(side.relations, (f"{SKOS}topConceptOf",))[relation]]] = True
    told[CONCEPT, tail[mask_of(side.relations, (f"{SKOS}hasTopConcept",))[relation]]] = True
    used = [side.ids[name] for name in (*side.relations, *side.properties) if name in side.ids]
    told[PROPERTY, used] = True
    about_anything = ~is_type & np.fromiter((not is_term(name) for name in side.relations), bool, len(side.relations))
    has_facts = np.zeros(size, bool)
    has_facts[head[about_anything[relation]]] = has_facts[tail[about_anything[relation]]] = True
    told[CLASS] |= types & ~has_facts
    classes, concepts = declared[CLASS] | told[CLASS], declared[CONCEPT] | told[CONCEPT]
    kinds[classes] = CLASS
    kinds[concepts & (~classes | bool(concepts.sum() >= classes.sum()))] = CONCEPT
    kinds[declared[PROPERTY] | (told[PROPERTY] & ~declared[CLASS] & ~declared[CONCEPT])] = PROPERTY
    return kinds


def _declared_kind(entity: str) -> int:
    """The kind of the entities that have this type; 0 where it does not say."""
    if entity == f"{SKOS}Concept":
        return CONCEPT
    found = DECLARATION.fullmatch(entity)
    return 0 if found is None else PROPERTY if found["property"] else CLASS
