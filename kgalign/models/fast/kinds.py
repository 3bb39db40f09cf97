"""The kinds of evidence of `fast`, in one list. To add one, add its object to the list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgalign.data import AlignmentTask, Floats, Ints
from kgalign.features.contradictions import contradicting_relations, contradicting_values
from kgalign.features.encoders import encoded_names
from kgalign.features.literals import literal_features
from kgalign.features.text import ngram_vectors, word_vectors
from kgalign.models.fast.evidence import EvidenceKind, NoMatchFeature, Similarity, View
from kgalign.models.fast.vectors import relation_features, roles, two_hops, weighted, without_weak
from kgalign.seams import Options
from kgalign.search import Vectors, pair_products


@dataclass(frozen=True, eq=False)
class Neighbours(Similarity):
    """Common known neighbours, with their number beside the similarity."""

    near: tuple[Vectors, Vectors]

    def count(self, sources: Ints, targets: Ints) -> Floats:
        """(n,) how many known neighbours both entities have, each counted by its probability."""
        return pair_products(*self.near, sources, targets)


def _name_vectors(task: AlignmentTask, options: Options) -> Similarity:
    return Similarity(*ngram_vectors(task.source.names, task.target.names))


def _word_vectors(task: AlignmentTask, options: Options) -> Similarity | None:
    if options["word_vectors"] is None:
        return None
    return Similarity(*word_vectors(task.source.names, task.target.names, options["word_vectors"]))


def _meanings(task: AlignmentTask, options: Options) -> Similarity | None:
    return None if options["encoder"] is None else Similarity(*encoded_names(task.source, task.target, options["encoder"]))


def _relations(view: View) -> Similarity | None:
    if not len(view.known):
        return None
    return Similarity(*weighted(*relation_features(view.edges, view.shared, view.relations)))


def _neighbours(view: View) -> Neighbours | None:
    return Neighbours(*weighted(*view.near), view.near) if len(view.known) else None


def _two_hops(view: View) -> Similarity | None:
    return Similarity(*weighted(*two_hops(view.edges, view.near, view.shared))) if len(view.known) else None


def _roles(view: View) -> Similarity | None:
    if not len(view.known):
        return None
    return Similarity(*weighted(roles(view.task.source) @ without_weak(view.relations), roles(view.task.target)))


def _values(view: View) -> Similarity | None:
    if not view.literals.comparable:
        return None
    return Similarity(*weighted(*literal_features(view.literals, view.properties), common_is_short=True))


KINDS: tuple[EvidenceKind, ...] = (
    EvidenceKind(
        name="names",
        description="character n-grams that the two names have in common",
        weight=12.0,
        prepare=_name_vectors,
        compute=lambda view: view.prepared["names"],
        searches="once",
        no_match=NoMatchFeature("names", 6.0, 6.0),
    ),
    EvidenceKind(
        name="words",
        description="similar words in the two names, by a file of word vectors",
        weight=6.0,
        prepare=_word_vectors,
        compute=lambda view: view.prepared["words"],
        searches="once",
        # Vectors of any two words have much in common.
        no_match=NoMatchFeature("names", 6.0, 6.0, lambda words, sources, targets: 2 * words.compare(sources, targets) - 1),
    ),
    EvidenceKind(
        name="meanings",
        description="similar meanings of the two names, by a sentence encoder",
        weight=9.0,
        prepare=_meanings,
        compute=lambda view: view.prepared["meanings"],
        searches="once",
        no_match=NoMatchFeature("names", 6.0, 6.0),
    ),
    EvidenceKind(
        name="relations",
        description="known links that matching relations lead to",
        weight=10.0,
        compute=_relations,
        searches="every round",
    ),
    EvidenceKind(
        name="neighbours",
        description="known links between neighbours, by any relation",
        weight=9.0,
        compute=_neighbours,
        searches="every round",
        no_match=NoMatchFeature(
            "known neighbours", 1.6, 2.0, lambda evidence, sources, targets: np.log1p(evidence.count(sources, targets))
        ),
    ),
    EvidenceKind(
        name="two hops",
        description="known links between neighbours of neighbours",
        weight=5.0,
        compute=_two_hops,
        searches="every round",
    ),
    EvidenceKind(
        name="roles",
        description="relations by which other entities point to the two",
        weight=2.0,
        compute=_roles,
    ),
    EvidenceKind(
        name="values",
        description="literals that are the same, or nearly: dates, numbers, identifiers",
        weight=10.0,
        compute=_values,
        searches="every round",
        no_match=NoMatchFeature("values", 8.0, 8.0),
    ),
    EvidenceKind(
        name="other relations",
        description="relations with one end as a rule that lead to different entities",
        weight=12.0,
        compute=lambda view: (
            contradicting_relations(view.edges, view.plausible, view.shared, view.relations) if len(view.known) else None
        ),
        no_match=NoMatchFeature("other relations", 5.0, 6.0),
        seed_discount=0.5,
    ),
    EvidenceKind(
        name="other values",
        description="properties with one value as a rule that have different values",
        weight=12.0,
        compute=lambda view: (
            contradicting_values(view.literals, view.plausible, view.properties)
            if len(view.known) and view.literals.comparable
            else None
        ),
        no_match=NoMatchFeature("other values", 8.0, 8.0),
    ),
)
