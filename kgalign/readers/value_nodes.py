"""Nodes that only carry a name or a text: the text becomes a literal of the entity that points to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgalign.data import Ints
from kgalign.readers.rewriting import Additions, rewrite
from kgalign.readers.vocabulary import (
    LABEL,
    OWL,
    RDF,
    RDFS,
    SKOS,
    SKOSXL,
    TYPES,
    is_anonymous,
    mask_of,
    says_name,
    says_remark,
    words_of,
)
from kgalign.seams import Statements

TEXTS = (LABEL, f"{SKOSXL}literalForm", f"{RDF}value")  # the best first; then names, then any other text
TEXT_WORDS = frozenset({"value", "text", "content", "string", "form"})
OF_THINGS = frozenset({"title", "name", "label", "appellation", "synonym"})  # relations whose end may be a thing and a name at once
NO_TEXT = 9  # the rank of properties that hold no text
SHARED = 3  # entities that may point to a node with an IRI that only carries a name
THINGS = frozenset(
    [f"{RDFS}Class", f"{OWL}Class", f"{SKOS}Concept", f"{RDF}Property"]
    + [f"{OWL}{name}Property" for name in ("Object", "Datatype", "Annotation")]
)


@dataclass(frozen=True, eq=False)
class ValueNodes:
    """The statements after the texts have moved.

    Attributes:
        side: The statements, in which entities have the texts of the nodes they point to.
        gone: (n,) the nodes that only carried a text.
        names: How many of these carried a name; the others carried a remark.
    """

    side: Statements
    gone: NDArray[Any]
    names: int


def fold_value_nodes(side: Statements, gone: NDArray[Any], is_term: NDArray[Any]) -> ValueNodes:
    """The statements with the texts of name nodes and remark nodes as literals of the entities that point to them.

    The relation becomes the property of the literal. A node with an IRI carries a name only if nothing but names and remarks is said with it.

    Args:
        side: The statements.
        gone: (n,) entities that count no more.
        is_term: (n,) the terms of vocabularies.
    """
    names = np.fromiter(map(says_name, side.relations), bool, len(side.relations))
    remarks = np.fromiter(map(says_remark, side.relations), bool, len(side.relations)) & ~names
    may_be_things = np.fromiter((not OF_THINGS.isdisjoint(words_of(name)) for name in side.relations), bool, len(side.relations))
    is_type = mask_of(side.relations, TYPES)
    vanished, name_nodes = np.zeros(len(side.entities), bool), 0
    if not (names | remarks).any():
        return ValueNodes(side, vanished, 0)
    own_edges = _OwnEdges.of(side, gone, is_term, names | remarks, is_type)
    for _ in range(2):  # the text may be two steps away
        head, relation, tail = side.triples.T
        live = (names | remarks)[relation] & ~(gone | vanished)[head] & ~(gone | vanished)[tail] & ~is_term[tail] & (head != tail)
        rows = np.flatnonzero(live)
        best = _best_texts(side, np.unique(tail[rows]))
        rows = rows[np.isin(tail[rows], side.facts[best, 0])]
        carries = own_edges.only_carry(side, tail[rows])
        shown = carries | ((names & may_be_things)[relation[rows]] & own_edges.is_leaf(tail[rows]))
        if not shown.any():
            break
        ends = rows[carries & ~own_edges.others_in[tail[rows]]]
        name_nodes += len(np.unique(tail[ends[names[relation[ends]]]]))
        vanished[tail[ends]] = True
        side = _move_texts(side, rows[shown], best)
    return ValueNodes(side, vanished, name_nodes)


def _move_texts(side: Statements, rows: Ints, best: Ints) -> Statements:
    """The statements with the best texts of the tails of some triples as literals of their heads."""
    order = best[np.argsort(side.facts[best, 0], kind="stable")]
    owners = side.facts[order, 0]
    tails = side.triples[rows, 2]
    first, last = np.searchsorted(owners, tails), np.searchsorted(owners, tails, "right")
    literals = [
        (head, side.relations[relation], text)
        for (head, relation, _), begin, end in zip(side.triples[rows].tolist(), first.tolist(), last.tolist(), strict=True)
        for text in order[begin:end].tolist()
    ]
    return rewrite(side, new=Additions((), literals))


def _points_back(side: Statements, is_value: NDArray[Any], heads: Ints, tails: Ints) -> NDArray[Any]:
    """(n,) which pairs lead from a node back to an entity that points to it for a name or a remark, as crm:P1i_identifies does."""
    size = len(side.entities)
    pointing = side.triples[is_value[side.triples[:, 1]]]
    back = np.zeros(len(heads), bool)
    is_node = np.zeros(size, bool)
    is_node[pointing[:, 2]] = True
    rows = np.flatnonzero(is_node[heads])
    back[rows] = np.isin(heads[rows] * size + tails[rows], pointing[:, 2] * size + pointing[:, 0])
    return back


def _best_texts(side: Statements, nodes: Ints) -> Ints:
    """(n,) the positions of the literals with the text of some nodes: those of the best property that each has."""
    is_node = np.zeros(len(side.entities), bool)
    is_node[nodes] = True
    ranks = np.fromiter(map(_text_rank, side.properties), np.int8, len(side.properties))
    rows = np.flatnonzero(is_node[side.facts[:, 0]])
    rank, owner = ranks[side.facts[rows, 1]], side.facts[rows, 0]
    best = np.full(len(side.entities), NO_TEXT, np.int8)
    np.minimum.at(best, owner, rank)
    return rows[(rank == best[owner]) & (rank < NO_TEXT)]


def _text_rank(iri: str) -> int:
    """The rank of a property among those that hold the text of a node."""
    if iri in TEXTS:
        return TEXTS.index(iri)
    if says_name(iri):
        return len(TEXTS)
    return len(TEXTS) + 1 if says_remark(iri) or TEXT_WORDS.intersection(words_of(iri)) else NO_TEXT


@dataclass(frozen=True, eq=False)
class _OwnEdges:
    """What makes a node more than the carrier of a text.

    Attributes:
        others_in: (n,) whether a relation that gives no name or remark points to the entity.
        others_out: (n,) whether it points to other entities than its type, with such a relation.
        shared: (n,) whether many entities point to it.
        is_thing: (n,) whether it is declared to be a class, a property or a concept.
        is_label: (n,) whether it is declared to be a label.
    """

    others_in: NDArray[Any]
    others_out: NDArray[Any]
    shared: NDArray[Any]
    is_thing: NDArray[Any]
    is_label: NDArray[Any]

    @classmethod
    def of(
        cls, side: Statements, gone: NDArray[Any], is_term: NDArray[Any], is_value: NDArray[Any], is_type: NDArray[Any]
    ) -> _OwnEdges:
        head, relation, tail = side.triples[~gone[side.triples[:, 0]] & ~gone[side.triples[:, 2]]].T
        others_in, others_out, is_thing, is_label = (np.zeros(len(side.entities), bool) for _ in range(4))
        others_in[tail[~is_value[relation]]] = True
        others_out[head[~is_value[relation] & ~is_type[relation] & ~is_term[tail] & ~_points_back(side, is_value, head, tail)]] = (
            True
        )
        shared = np.bincount(tail[is_value[relation]], minlength=len(side.entities)) > SHARED
        for mask, types in ((is_thing, THINGS), (is_label, {f"{SKOSXL}Label"})):
            ids = [side.ids[iri] for iri in types if iri in side.ids]
            mask[head[is_type[relation] & np.isin(tail, ids)]] = True
        return cls(others_in, others_out, shared, is_thing, is_label)

    def only_carry(self, side: Statements, nodes: Ints) -> NDArray[Any]:
        """(n,) which of the nodes are nothing but carriers of a text."""
        anonymous = np.fromiter((is_anonymous(side.entities[node]) for node in nodes.tolist()), bool, len(nodes))
        alone = ~(self.others_in | self.others_out | (self.shared & ~self.is_label))[nodes]
        return (anonymous | alone) & ~self.is_thing[nodes]

    def is_leaf(self, nodes: Ints) -> NDArray[Any]:
        """(n,) which of the nodes are declared to be labels, or point to nothing."""
        return (self.is_label | ~self.others_out)[nodes] & ~self.is_thing[nodes]
