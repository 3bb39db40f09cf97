"""The vocabularies that describe graphs rather than things: RDF, RDFS, OWL, XML Schema and SKOS, and what relations say by their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgalign.iri import is_blank

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
OBO = "http://www.geneontology.org/formats/oboInOwl#"
SWRL = "http://www.w3.org/2003/11/swrl"  # rules, and their functions: swrl# and swrlb#
# Their terms are no entities of a graph that uses them.
VOCABULARIES = (RDF, RDFS, OWL, XSD, SKOS, SKOSXL, OBO, SWRL)
# Graphs often declare annotation properties of these before they use them.
WELL_KNOWN = (
    *VOCABULARIES,
    "http://purl.org/dc/elements/1.1/",
    "http://purl.org/dc/terms/",
    "http://xmlns.com/foaf/0.1/",
)
TYPES = (f"{RDF}type", f"{RDFS}type")  # the second one does not exist, but thesauri use it
LABEL = f"{RDFS}label"
SUBCLASS = f"{RDFS}subClassOf"
EQUIVALENT = f"{OWL}equivalentClass"
DISJOINT = f"{OWL}disjointWith"
UNION, INTERSECTION, ONE_OF, COMPLEMENT = (f"{OWL}{name}" for name in ("unionOf", "intersectionOf", "oneOf", "complementOf"))
DISJOINT_UNION = f"{OWL}disjointUnionOf"
DEPRECATED = f"{OWL}deprecated"
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
GENERATED = re.compile(r"[/#](?:genid|bnode|anon)[-_]?[^/#]*\d[^/#]*$|/\.well-known/genid/")
NAMING = frozenset({"synonym", "label", "title", "name", "appellation", "term", "designation"})
REMARKING = frozenset({"definition", "comment", "note", "annotation", "description", "remark", "xref"})
# Relations between things of which one has such a word in its name: broaderTerm, recordLabel, isTitleOf.
NOT_NAMING = frozenset({"broader", "narrower", "parent", "child", "top", "sub", "super", "record", "of", "for", "holder"})


def is_term(entity: str) -> bool:
    """Whether an entity is a term of a vocabulary that describes graphs."""
    return entity.startswith(VOCABULARIES)


def is_anonymous(entity: str) -> bool:
    """Whether an entity is a blank node, or has an IRI that a program made up for one, such as `http://x/onto#genid12`."""
    return is_blank(entity) or GENERATED.search(entity) is not None


def words_of(iri: str) -> list[str]:
    """The words of the last part of an IRI in small letters, plurals without their s: `hasAltLabels` gives has, alt, label."""
    words = [word.lower() for word in WORD.findall(re.split(r"[/#]", iri.rstrip("/#"))[-1])]
    return [word[:-1] if word.endswith("s") and word[:-1] in NAMING | REMARKING else word for word in words]


def says_name(iri: str) -> bool:
    """Whether a relation or property gives a name, such as skosxl:altLabel or crm:P102_has_title."""
    words = words_of(iri)
    if words[-3:] == ["is", "identified", "by"]:
        return True
    named = any(word in NAMING or word.endswith(("label", "synonym")) for word in words)
    related_terms = {"related", "term"} <= set(words)
    return named and not related_terms and not NOT_NAMING.intersection(words)


def says_remark(iri: str) -> bool:
    """Whether a relation or property gives a text about its subject, such as oboInOwl:hasDefinition or skos:scopeNote."""
    words = words_of(iri)
    return bool(REMARKING.intersection(words)) and not NOT_NAMING.intersection(words)


def mask_of(names: Sequence[str], wanted: Collection[str]) -> NDArray[Any]:
    """(n,) which of the names are wanted."""
    return np.fromiter((name in wanted for name in names), bool, len(names))
