"""The contract of a kind of evidence, and its input: the graphs, and the links known in a round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol

from scipy import sparse

from kgalign.data import INDIVIDUAL, Alignment, AlignmentTask, Floats, Ints
from kgalign.features.anchors import anchored_links
from kgalign.features.classes import entity_groups
from kgalign.features.copies import Copies
from kgalign.features.functionality import AnchoredEvidence
from kgalign.features.literals import LiteralPair, match_properties, read_literals
from kgalign.features.names import NameSimilarity, ngram_similarity, words_of_names
from kgalign.features.relations import Edges, match_relations
from kgalign.features.words import Words
from kgalign.matrices import product
from kgalign.seams import Options
from kgalign.search import Engine, LocalThreads

Pairs = tuple[Ints, Ints]  # position of the query, target id
PLAUSIBLE = 0.5  # links above this probability match relations and properties


class Evidence(Protocol):
    """One kind of evidence about any pair."""

    def compare(self, sources: Ints, targets: Ints) -> Floats:
        """(n,) -1 to 1: how far the evidence is for each pair; below 0: against it."""
        ...


Found = dict[str, Evidence]  # the evidence of a round, by kind


class Searching(Evidence, Protocol):
    """Evidence that retrieves candidates."""

    def search(
        self, queries: Ints, pool: Ints, k: int, *, both_directions: bool, effort: int, seed: int, engine: Engine | None = None
    ) -> Pairs:
        """The k best targets of each query; in both directions: also the targets that have it among their own k best."""
        ...


@dataclass(frozen=True)
class NoMatchFeature:
    """What a kind of evidence contributes to the no-match classifier.

    Attributes:
        name: Kinds with the same name share one feature, and the largest value counts.
        prior: The weight before any seed has taught one.
        range: How far a few seeds may move the weight.
        value: (n,) the feature of pairs, from the evidence; None: as `compare` says.
        in_hierarchy: How much it counts between classes, properties and concepts: siblings in a hierarchy have much in common.
    """

    name: str
    prior: float
    range: float
    value: Callable[[Any, Ints, Ints], Floats] | None = None
    in_hierarchy: float = 1.0

    def of(self, evidence: Evidence, sources: Ints, targets: Ints) -> Floats:
        return evidence.compare(sources, targets) if self.value is None else self.value(evidence, sources, targets)


@dataclass(frozen=True)
class EvidenceKind:
    """One kind of evidence: everything that `fast`, its ablation and its explanations need to know of it.

    Attributes:
        name: In options, tables and explanations.
        description: What it says of a pair, in words.
        weight: The default weight of its similarity in the score. Seeds teach others.
        compute: The evidence of a round; None where these graphs or links have none.
        prepare: Computes what never changes for two graphs. `compute` finds it in `View.prepared[name]`.
        searches: Whether it retrieves candidates: once for a task, in every round together with other kinds, only among the rest that is
            undecided, or never. A kind that searches once prepares `Searching` evidence; one that searches in rounds computes a `Similarity`.
        no_match: Its feature for the no-match classifier, if it has one.
        is_anchor: Whether it comes from names and values of the two entities, and not from links around them.
        is_decisive: Without enough seeds, relations alone do not overrule it where it is strong.
        seed_discount: Multiplies the weight that seeds teach: more links are known around seeds than around other entities.
    """

    name: str
    description: str
    weight: float
    compute: Callable[[View], Any | None]
    prepare: Callable[[Graphs], Any] | None = None
    searches: Literal["once", "every round", "the rest", "never"] = "never"
    no_match: NoMatchFeature | None = None
    is_anchor: bool = False
    is_decisive: bool = False
    seed_discount: float = 1.0

    def strength(self, evidence: Evidence, sources: Ints, targets: Ints) -> Floats:
        """(n,) how far the evidence says that pairs are right at all: as its feature of the no-match classifier, if it has one."""
        return evidence.compare(sources, targets) if self.no_match is None else self.no_match.of(evidence, sources, targets)


@dataclass(frozen=True, eq=False)
class Graphs:
    """Two graphs before any round, and what several kinds of evidence prepare from.

    Attributes:
        task: Any task with these graphs.
        options: Those of `fast`.
    """

    task: AlignmentTask
    options: Options

    @cached_property
    def words(self) -> Words:
        """The words of all names of both."""
        return words_of_names(self.task.source, self.task.target)

    @cached_property
    def ngrams(self) -> NameSimilarity:
        """The character n-grams that names have in common."""
        return ngram_similarity(self.task.source, self.task.target, self.words)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Everything about two graphs that is the same in every round.

    Attributes:
        task: Any task with these graphs.
        copies: The entities of each graph that nothing tells apart.
        groups: (n,) the group of each source entity: those of a class are more or less likely to have a match together.
        own: What each kind of evidence has prepared, by its name.
    """

    task: AlignmentTask
    edges: tuple[Edges, Edges]
    literals: LiteralPair
    copies: tuple[Copies, Copies]
    groups: Ints
    own: Mapping[str, Any]

    @classmethod
    def of(cls, task: AlignmentTask, kinds: Sequence[EvidenceKind], options: Options, engine: Engine | None = None) -> Prepared:
        own, begin = {}, (engine or LocalThreads()).begin
        graphs = Graphs(task, options)
        for kind in kinds:
            if kind.prepare is not None:
                begin(kind.name)
                own[kind.name] = kind.prepare(graphs)
        del graphs  # and the words of all names
        begin("relations and literals")
        copies = Copies.of(task.source), Copies.of(task.target)
        literals = read_literals(task.source, task.target)
        return cls(task, Edges.of_task(task), literals, copies, entity_groups(task.source), own)


@dataclass(frozen=True, eq=False)
class View:
    """The graphs in the light of the links known in a round.

    Attributes:
        known: The known links, each with its probability.
        plausible: The links with a probability above 0.5, anchored or not: they match relations and properties.
        unlearnt: The plausible links that weights are not learnt from. What is fitted to links must be fitted to these: it would say
            more about the links of its own than about others.
        relations: How far relations match, see `match_relations`.
        properties: How far properties match, see `match_properties`.
        around: The evidence of the known links around a pair that adds up.
    """

    task: AlignmentTask
    known: Alignment
    edges: tuple[Edges, Edges]
    literals: LiteralPair
    prepared: Mapping[str, Any]
    plausible: Alignment
    unlearnt: Alignment
    relations: sparse.csr_array
    properties: sparse.csr_array
    around: AnchoredEvidence

    @property
    def in_hierarchy(self) -> tuple[Ints, Ints]:
        """(n,) and (m,) the classes, properties and concepts: their neighbours are mostly those of their siblings, too."""
        return self.task.source.kinds != INDIVIDUAL, self.task.target.kinds != INDIVIDUAL

    @property
    def shared(self) -> sparse.csr_array:
        """(n, m) the probability of each known link."""
        return self.around.shared

    @cached_property
    def near(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """(n, m) and (m, m) the entities of the target that are neighbours of each entity; for the source, through known links."""
        return product(self.edges[0].adjacency, self.shared), self.edges[1].adjacency

    @classmethod
    def of(cls, task: AlignmentTask, known: Alignment, prepared: Prepared, training: Alignment | None = None) -> View:
        """The view before anchors are known.

        Args:
            task: Any task with these graphs.
            known: The links known in the round.
            prepared: The two graphs.
            training: The links that weights are learnt from, if any are.
        """
        plausible = known.where(known.scores > PLAUSIBLE)
        return cls(
            task,
            known,
            prepared.edges,
            prepared.literals,
            prepared.own,
            plausible,
            plausible if training is None else plausible.where(~plausible.among(training)),
            match_relations(prepared.edges, plausible),
            match_properties(prepared.literals, plausible),
            AnchoredEvidence.of(prepared.edges, known),
        )

    def anchored(self, own: Floats) -> View:
        """The same view, in which known links count only as far as they are anchored.

        Args:
            own: (n,) how far each known link is an anchor itself.
        """
        known = anchored_links(self.around, self.known, own)
        return replace(self, known=known, around=self.around.with_links(known))
