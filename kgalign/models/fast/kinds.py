"""The kinds of evidence of `fast`, in one list. To add one, add its object to the list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kgalign.data import Floats, Ints, one_link
from kgalign.features.codes import Codes, OtherCodes, shared_codes
from kgalign.features.contradictions import contradicting_relations, contradicting_values
from kgalign.features.encoders import encoded_names
from kgalign.features.hops import two_hops
from kgalign.features.literals import literal_features
from kgalign.features.names import NameSimilarity, equal_names, other_languages, word_similarity
from kgalign.features.profiles import profile_vectors
from kgalign.features.text import word_vectors
from kgalign.features.texts import text_vectors
from kgalign.iri import is_iri, normal_iri
from kgalign.matrices import product
from kgalign.models.fast.evidence import Evidence, EvidenceKind, Graphs, NoMatchFeature, View
from kgalign.models.fast.vectors import feature_rarity, relation_features, roles, weighted, without_weak
from kgalign.search import Similarity, Vectors, pair_products

IN_HIERARCHY = 0.3  # how much common neighbours and differences of classes, properties and concepts count for


@dataclass(frozen=True, eq=False)
class Neighbours(Similarity):
    """Common known neighbours, with their number beside the similarity."""

    near: tuple[Vectors, Vectors]

    def amount(self, sources: Ints, targets: Ints) -> Floats:
        """(n,) the logarithm of how many known neighbours both entities have, each counted by its probability and its rarity."""
        return np.log1p(pair_products(*self.near, sources, targets))


@dataclass(frozen=True, eq=False)
class Differences:
    """Negative evidence that counts for less between classes, properties and concepts: every ontology arranges and defines its own."""

    evidence: Evidence
    in_hierarchy: tuple[Ints, Ints]

    def compare(self, sources: Ints, targets: Ints) -> Floats:
        amounts = self.evidence.compare(sources, targets)
        if not all(map(np.any, self.in_hierarchy)):
            return amounts
        return np.where(self.in_hierarchy[0][sources] & self.in_hierarchy[1][targets], IN_HIERARCHY, 1) * amounts


def _other_relations(view: View) -> Differences | None:
    if not len(view.known):
        return None
    single = one_link(view.task.cardinality)
    found = contradicting_relations(view.edges, view.plausible, view.shared, view.relations, single)
    return Differences(found, view.in_hierarchy)


def _other_values(view: View) -> Differences | None:
    if not len(view.known) or not view.literals.comparable:
        return None
    return Differences(contradicting_values(view.literals, view.plausible, view.properties), view.in_hierarchy)


def _other_codes(view: View) -> OtherCodes | None:
    codes: Codes | None = view.prepared.get("codes")  # which can be left out
    return None if codes is None or not len(view.known) else OtherCodes.of(codes, view.plausible)


def _equal_names(graphs: Graphs) -> NameSimilarity:
    task = graphs.task
    # Sources that share a name do not compete for a target that may have them all, and the other way round.
    return equal_names(task.source, task.target, one_link(task.cardinality)[::-1], graphs.words)


def _texts(graphs: Graphs) -> Similarity | None:
    vectors = text_vectors(graphs.task.source, graphs.task.target)
    return None if vectors is None else Similarity(*vectors)


def _shared_iris(graphs: Graphs) -> Similarity | None:
    """One feature for each IRI that both graphs have.

    Blank nodes have none, and neither have the ids and names of tables: each table numbers its own entities.
    """
    source, target = graphs.task.source, graphs.task.target
    numbers = {iri: number for number, entity in enumerate(source.entities) if is_iri(iri := normal_iri(entity.strip("<>")))}
    pairs = np.array(
        [(numbers[iri], at) for at, entity in enumerate(target.entities) if (iri := normal_iri(entity.strip("<>"))) in numbers],
        np.int64,
    ).reshape(-1, 2)
    if not len(pairs):
        return None
    columns, ones = np.arange(len(pairs)), np.ones(len(pairs), np.float32)
    sides = [
        sparse.csr_array((ones, (pairs[:, side], columns)), shape=(len(graph.entities), len(pairs)))
        for side, graph in enumerate((source, target))
    ]
    return Similarity(*sides)


def _word_vectors(graphs: Graphs) -> Similarity | None:
    task, path = graphs.task, graphs.options["word_vectors"]
    return None if path is None else Similarity(*word_vectors(task.source.names, task.target.names, path))


def _meanings(graphs: Graphs) -> Similarity | None:
    task, folder = graphs.task, graphs.options["encoder"]
    return None if folder is None else Similarity(*encoded_names(task.source, task.target, folder))


def _relations(view: View) -> Similarity | None:
    if not len(view.known):
        return None
    return Similarity(*weighted(*relation_features(view.edges, view.shared, view.relations)))


def _neighbours(view: View) -> Neighbours | None:
    if not len(view.known):
        return None
    near = view.near
    rare = near[0].copy()
    rare.data *= feature_rarity(*near)[rare.indices]
    return Neighbours(*weighted(*near), (rare, near[1]))


def _two_hops(view: View) -> Similarity | None:
    if not len(view.known):
        return None
    return Similarity(*weighted(two_hops(view.edges[0].adjacency, view.near[0], view.shared), view.edges[1].two_hops))


def _roles(view: View) -> Similarity | None:
    if not len(view.known):
        return None
    return Similarity(
        *weighted(product(roles(view.task.source), without_weak(view.relations)), roles(view.task.target), short=False)
    )


def _profiles(view: View) -> Similarity | None:
    vectors = profile_vectors(view.edges, view.unlearnt)
    return None if vectors is None else Similarity(*vectors)


def _values(view: View) -> Similarity | None:
    if not view.literals.comparable:
        return None
    return Similarity(*weighted(*literal_features(view.literals, view.properties)))


KINDS: tuple[EvidenceKind, ...] = (
    EvidenceKind(
        name="names",
        description="character n-grams that the two most similar names have in common",
        weight=12.0,
        prepare=lambda graphs: graphs.ngrams,
        compute=lambda view: view.prepared["names"],
        searches="once",
        no_match=NoMatchFeature("names", 6.0, 6.0, in_hierarchy=0.8),
        is_anchor=True,
    ),
    EvidenceKind(
        name="name words",
        description="words that two names have in common, in any order, without plural endings",
        weight=4.0,
        prepare=lambda graphs: word_similarity(graphs.task.source, graphs.task.target, graphs.words),
        compute=lambda view: view.prepared["name words"],
        is_anchor=True,
    ),
    EvidenceKind(
        name="equal names",
        description="a name that both have; it counts for less the more entities share it",
        weight=10.0,
        prepare=_equal_names,
        compute=lambda view: view.prepared["equal names"],
        no_match=NoMatchFeature("equal names", 3.0, 3.0, in_hierarchy=0.7),
        is_decisive=True,
        is_anchor=True,
    ),
    EvidenceKind(
        name="other languages",
        description="languages in which the two have names that differ",
        weight=6.0,
        prepare=lambda graphs: other_languages(graphs.ngrams),
        compute=lambda view: view.prepared["other languages"],
        no_match=NoMatchFeature("other languages", 5.0, 3.0),
    ),
    EvidenceKind(
        name="same IRI",
        description="the same IRI in both graphs",
        weight=12.0,
        prepare=_shared_iris,
        compute=lambda view: view.prepared["same IRI"],
        searches="once",
        no_match=NoMatchFeature("same IRI", 5.0, 5.0),
        is_anchor=True,
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
        is_anchor=True,
    ),
    EvidenceKind(
        name="meanings",
        description="similar meanings of the two names, by a sentence encoder",
        weight=9.0,
        prepare=_meanings,
        compute=lambda view: view.prepared["meanings"],
        searches="once",
        # Meanings of unrelated names are at right angles, so that less is more than with letters.
        no_match=NoMatchFeature(
            "names", 6.0, 6.0, lambda meanings, sources, targets: np.minimum(1.4 * meanings.compare(sources, targets), 1)
        ),
        is_anchor=True,
    ),
    EvidenceKind(
        name="relations",
        description="known links that matching relations lead to",
        weight=11.0,
        compute=_relations,
        searches="every round",
    ),
    EvidenceKind(
        name="neighbours",
        description="known links between neighbours, by any relation",
        weight=10.0,
        compute=_neighbours,
        searches="every round",
        no_match=NoMatchFeature(
            "known neighbours", 2.6, 3.0, lambda evidence, sources, targets: evidence.amount(sources, targets), IN_HIERARCHY
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
        searches="the rest",
    ),
    EvidenceKind(
        name="profiles",
        description="relations of the two that go together, as known links show",
        weight=2.0,
        compute=_profiles,
    ),
    EvidenceKind(
        name="values",
        description="literals that are the same, or nearly: dates, numbers, identifiers",
        weight=10.0,
        compute=_values,
        searches="every round",
        no_match=NoMatchFeature("values", 8.0, 8.0),
        is_anchor=True,
    ),
    EvidenceKind(
        name="texts",
        description="words in all names and literals of the two",
        weight=8.0,
        prepare=_texts,
        compute=lambda view: view.prepared["texts"],
        searches="once",
        no_match=NoMatchFeature("texts", 3.0, 3.0, in_hierarchy=0.5),
        is_anchor=True,
    ),
    EvidenceKind(
        name="codes",
        description="codes inside names and texts, such as model numbers",
        weight=10.0,
        prepare=lambda graphs: shared_codes(graphs.task.source, graphs.task.target),
        compute=lambda view: view.prepared["codes"],
        searches="once",
        no_match=NoMatchFeature("codes", 4.0, 4.0),
        is_anchor=True,
    ),
    EvidenceKind(
        name="other codes",
        description="different codes inside the names",
        weight=12.0,
        compute=_other_codes,
        no_match=NoMatchFeature("other codes", 12.0, 8.0),
    ),
    EvidenceKind(
        name="other relations",
        description="relations with one end as a rule that lead to different entities",
        weight=12.0,
        compute=_other_relations,
        no_match=NoMatchFeature("other relations", 5.0, 6.0),
        seed_discount=0.5,
    ),
    EvidenceKind(
        name="other values",
        description="properties with one value as a rule that have different values",
        weight=12.0,
        compute=_other_values,
        no_match=NoMatchFeature("other values", 12.0, 8.0),
    ),
)
