"""Statements without the nodes that only carry a value: name nodes, remarks, pages, restrictions, lists, headers and terms of vocabularies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgalign.iri import local_name
from kgalign.readers.expressions import disjoint_triples, fold_expressions
from kgalign.readers.kinds import kinds_of
from kgalign.readers.lists import unroll_lists
from kgalign.readers.pages import fold_pages
from kgalign.readers.rewriting import Additions, add_texts, compact, rewrite
from kgalign.readers.value_nodes import fold_value_nodes
from kgalign.readers.vocabulary import (
    DEPRECATED,
    OBO,
    OWL,
    RDF,
    RDFS,
    SKOS,
    SUBCLASS,
    SWRL,
    TYPES,
    WELL_KNOWN,
    XSD,
    is_anonymous,
    is_term,
    mask_of,
)
from kgalign.seams import Statements

ANNOTATIONS = tuple(
    [f"{RDF}Statement"]
    + [f"{OWL}{name}" for name in ("Axiom", "Annotation", "NegativePropertyAssertion", "AllDifferent")]
    + [f"{OWL}{name}" for name in ("AllDisjointClasses", "AllDisjointProperties")]
    + [
        f"{SWRL}#{name}"
        for name in ("Imp", "Variable", "AtomList", "ClassAtom", "IndividualPropertyAtom", "DatavaluedPropertyAtom")
    ]
    + [f"{SWRL}#{name}" for name in ("BuiltinAtom", "SameIndividualAtom", "DifferentIndividualsAtom", "DataRangeAtom")]
)
DISJOINT_CLASSES = f"{OWL}AllDisjointClasses"
HEADERS = (f"{OWL}Ontology", f"{SKOS}ConceptScheme")
OF_HEADERS = tuple(
    [f"{OWL}{name}" for name in ("imports", "versionIRI", "priorVersion")]
    + [f"{SKOS}{name}" for name in ("inScheme", "hasTopConcept", "topConceptOf")]
)
TRUE = ("true", "1")


def fold_nodes(side: Statements) -> Statements:
    """The same graph with the kinds of its entities, and without nodes that only carry a value.

    The values stay: names, remarks and addresses of pages become literals of the entity that they describe, and restrictions become triples.
    Terms of RDF, RDFS, OWL, XML Schema and SKOS, the headers of ontologies and thesauri, and statements about statements vanish. The record
    counts what was folded. A graph that consists of nothing else stays as it is.
    """
    unfolded = side
    side, in_lists = unroll_lists(side)
    terms = _terms(side)
    annotations, headers = (
        _of_types(side, ANNOTATIONS),
        _of_types(side, HEADERS) & ~_of_types(side, (f"{SKOS}Concept", f"{OWL}Class")),
    )
    disjoint = disjoint_triples(side, np.flatnonzero(_of_types(side, (DISJOINT_CLASSES,))).tolist()) if annotations.any() else []
    kinds = kinds_of(side)
    side, expressions, restrictions = fold_expressions(rewrite(side, new=Additions(disjoint)) if disjoint else side)
    gone = in_lists | annotations | headers | expressions | _of_types(side, (f"{OWL}Restriction",)) | _well_known_annotations(side)
    values = fold_value_nodes(side, gone, terms)
    side = _keep_values_of_terms(values.side, terms)
    gone |= values.gone
    side, pages = fold_pages(side, gone | terms)
    gone |= pages
    counts = {
        "restriction": restrictions,
        "name node": values.names,
        "remark": int(values.gone.sum()) - values.names,
        "web page": int(pages.sum()),
        "list node": int(in_lists.sum()),
        "annotation": int(annotations.sum()),
    }
    gone |= terms
    changed = mask_of(side.relations, OF_HEADERS)[side.triples[:, 1]]
    if not gone.any() and not changed.any() and side is unfolded:
        return replace(side, kinds=kinds, record=_record(side, counts))
    gone |= _left_over(unfolded, rewrite(side, ~changed), gone)
    if gone.all():
        return replace(unfolded, kinds=kinds)
    folded = compact(replace(rewrite(side, ~changed), kinds=kinds), gone)
    return replace(folded, record=_record(folded, counts))


def _record(side: Statements, counts: dict[str, int]) -> dict[str, Any]:
    """The record of the statements, with what was folded and how many entities are deprecated."""
    parts = [
        f"{count:,} {name}{'' if count == 1 else 's'}" for name, count in sorted(counts.items(), key=lambda item: -item[1]) if count
    ]
    deprecated = mask_of(side.properties, (DEPRECATED,))
    rows = np.flatnonzero(deprecated[side.facts[:, 1]]) if deprecated.any() else np.empty(0, np.int64)
    count = len({int(side.facts[row, 0]) for row in rows.tolist() if side.values[row].strip().lower() in TRUE})
    return {
        **side.record,
        **({"folded nodes": ", ".join(parts)} if parts else {}),
        **({"deprecated": count} if count else {}),
    }


def _terms(side: Statements) -> NDArray[Any]:
    """(n,) which entities are terms of vocabularies."""
    near = ("http://www.w3.org/", OBO)  # one quick test for all entities
    return np.fromiter((entity.startswith(near) and is_term(entity) for entity in side.entities), bool, len(side.entities))


def _of_types(side: Statements, types: tuple[str, ...]) -> NDArray[Any]:
    """(n,) which entities have one of the types."""
    found = np.zeros(len(side.entities), bool)
    ids = [side.ids[iri] for iri in types if iri in side.ids]
    if ids:
        is_type = mask_of(side.relations, TYPES)[side.triples[:, 1]]
        found[side.triples[is_type & np.isin(side.triples[:, 2], ids), 0]] = True
    return found


def _well_known_annotations(side: Statements) -> NDArray[Any]:
    """(n,) which entities are annotation properties of well-known vocabularies, which many ontologies declare."""
    found = _of_types(side, (f"{OWL}AnnotationProperty",))
    for entity in np.flatnonzero(found).tolist():
        found[entity] = side.entities[entity].startswith(WELL_KNOWN)
    return found


def _keep_values_of_terms(side: Statements, terms: NDArray[Any]) -> Statements:
    """The statements with literals for what terms of vocabularies say: the datatype of a range, and that a class is obsolete."""
    if not terms.any():
        return side
    head, relation, tail = side.triples.T
    of_term = terms[tail] & ~terms[head]
    ranges = np.flatnonzero(of_term & mask_of(side.relations, (f"{RDFS}range",))[relation])
    texts = [
        (int(head[row]), f"{RDFS}range", local_name(side.entities[tail[row]]))
        for row in ranges.tolist()
        if side.entities[tail[row]].startswith(XSD)
    ]
    obsolete = [side.ids[iri] for iri in (f"{OBO}ObsoleteClass", f"{OBO}ObsoleteProperty") if iri in side.ids]
    below = mask_of(side.relations, (SUBCLASS, f"{RDFS}subPropertyOf"))[relation] & np.isin(tail, obsolete)
    return add_texts(side, texts + [(int(entity), DEPRECATED, "true") for entity in np.unique(head[below & of_term]).tolist()])


def _left_over(unfolded: Statements, side: Statements, gone: NDArray[Any]) -> NDArray[Any]:
    """(n,) which entities nothing is said of any more, now that others are gone.

    These are entities that were never subjects, such as the licence of an ontology, blank nodes to which only entities that are gone
    pointed, and blank nodes of which only a type was said.
    """
    was_head, had_edges, has_literals = (np.zeros(len(gone), bool) for _ in range(3))
    was_head[unfolded.triples[:, 0]] = was_head[unfolded.facts[:, 0]] = True
    had_edges[unfolded.triples[:, 2]] = True
    has_literals[side.facts[:, 0]] = True
    left = np.zeros(len(gone), bool)
    head, _, tail = side.triples.T
    while True:
        live = ~(gone | left)[head] & ~(gone | left)[tail]
        pointed_at, points = np.zeros(len(gone), bool), np.zeros(len(gone), bool)
        pointed_at[tail[live]] = points[head[live]] = True
        lost = ~(gone | left) & had_edges & ~pointed_at & ~points
        lost[was_head] = False
        lonely = ~(gone | left) & ~pointed_at & was_head & (had_edges | ~(points | has_literals))
        for entity in np.flatnonzero(lonely).tolist():
            lost[entity] = is_anonymous(side.entities[entity])
        if not lost.any():
            return left
        left |= lost
