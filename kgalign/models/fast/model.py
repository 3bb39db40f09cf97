"""The options of `fast`, and how it scores candidates once it is fitted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kgalign.data import (
    Alignment,
    AlignmentTask,
    Candidates,
    Floats,
    Ints,
    KnowledgeGraph,
    one_link,
    same_graphs,
    turned_task,
)
from kgalign.decoding.cardinality import MOST_SEVERAL, with_cardinality, with_odds, with_own_odds
from kgalign.decoding.marginals import balance
from kgalign.errors import OptionError, check_at_least
from kgalign.features.anchors import most_probable
from kgalign.features.constraints import allowed
from kgalign.features.functionality import AnchoredEvidence
from kgalign.matrices import Beside
from kgalign.models import options_of
from kgalign.models.fast.evidence import EvidenceKind, Found, Pairs, Prepared, Searching, View
from kgalign.models.fast.growth import grow
from kgalign.models.fast.kinds import KINDS
from kgalign.models.fast.learning import best_wrong, fit_choice
from kgalign.models.fast.probabilities import LinkProbabilities, PairFeatures
from kgalign.parallel import add_scaled, is_among, taken
from kgalign.reasoning.no_match import NoMatchClassifier, fit_no_match
from kgalign.seams import Capabilities, Contributions
from kgalign.search import Engine, LocalThreads, Similarity, pack, unique_pairs

STEPS = ANCHORS, REST, GROWTH = "anchors", "search among the rest", "growth"
MIN_SEEDS = 150  # fewer do not teach weights
MIN_GROWING = 20  # seeds: fewer do not show whether names find them
FEW_SEEDS = 0.1  # of the smaller graph: more seeds have known links around most entities
MIN_CHECKED = 200  # seeds: from fewer none are held out, so nothing would show that the rounds find little
NAMES_FIND = 0.5  # of the seeds: fewer, and names say little
ANCHOR = 0.3, 0.7  # similarities of names and values that say nothing, and everything
COMPETING = 0.65  # the temperature at which queries compete: weights that compare the candidates of one query do not know of others
DECIDED = 0.8  # links above this probability are out of the search among the rest
LARGEST_REST = 0.5  # of the queries: more are no rest yet
NEARLY_ALL = 0.9  # of the queries and of the pool: a search for all of them serves these, too
NEGLIGIBLE = 0.01  # candidates below this probability are kept only as far as there is room
NOTHING = np.empty(0, np.int32)


@dataclass(frozen=True)
class Fast:
    """Scores a pair by the weighted sum of its evidence, one similarity for each kind, see `kgalign.models.fast.KINDS`.

    A known link counts by its probability, and a rare feature counts for more than a frequent one. Weights are learnt on the seeds, so
    that the softmax over a row gives probabilities; with fewer than 150 seeds, defaults are used. Then queries compete for targets, by
    Sinkhorn normalisation with learnt weights and else by `matching_marginals`. A no-match classifier decides how many of the best
    candidates are right.

    Where only targets may have several links, queries do not compete. Where only sources may, targets are the queries inside. Where all
    entities may have several links, each pair is judged by itself.

    All evidence from the graph except literals comes from known links, and a link is never evidence for itself. Without seeds, names
    and identifiers suggest the first known links; where names say nothing, enough seeds take their weight away.

    Attributes:
        k: Candidates for each query by name, and as many by the graph; targets that have it among their own k best come on top. In the
            search among the rest, four times as many.
        word_vectors: A GloVe or word2vec text file.
        encoder: A folder with a sentence encoder, see `kgalign.features.encoders`.
        effort: How far the search for candidates by name goes, see `find_candidates`, and that among the rest; by the graph a quarter of it,
            in every round.
        iterations: Rounds of Sinkhorn normalisation or belief propagation.
        training_links: Seeds that weights are learnt from, at most.
        soft_evidence: Whether plausible links are evidence too, or confident ones alone.
        without: Kinds of evidence, and steps of the method, to leave out, comma between them: to see what each is worth. The steps are
            `anchors`, `search among the rest` and `growth`.
        seed: Draws training links, and decides exact ties.
        kinds: The kinds of evidence.
        engine: Where searches work on their blocks.
    """

    k: int = 20
    word_vectors: str | None = None
    encoder: str | None = None
    effort: int = 20_000
    iterations: int = 20
    training_links: int = 1000
    soft_evidence: bool = True
    without: str = ""
    seed: int = 0
    kinds: tuple[EvidenceKind, ...] = field(default=KINDS, repr=False, metadata={"option": False})
    engine: Engine = field(default=LocalThreads(), repr=False, metadata={"option": False})

    def __post_init__(self) -> None:
        check_at_least(
            k=(self.k, 1),
            effort=(self.effort, 1),
            iterations=(self.iterations, 1),
            training_links=(self.training_links, 1),
            seed=(self.seed, 0),
        )
        names = [kind.name for kind in self.kinds]
        if len(set(names)) < len(names):
            raise OptionError(f"kinds: two kinds of evidence have the same name: {', '.join(names)}; expected each name once")
        for kind in self.kinds:
            if kind.searches == "once" and kind.prepare is None:
                raise OptionError(
                    f"the evidence {kind.name} is searched once for a task: expected `prepare`, which makes its vectors"
                )
        for name in filter(None, self.without.split(",")):
            if name not in (*names, *STEPS):
                raise OptionError(f"without={self.without}: expected some of {','.join((*names, *STEPS))}")
        if not self.used_kinds:
            raise OptionError(f"without={self.without}: no evidence is left; expected some of {','.join(names)}, not all")

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            soft_evidence=self.soft_evidence,
            prepares=True,
            grows=True,
            explains=True,
            engines=True,
            looks=True,
            parts=tuple(kind.name for kind in self.kinds),
            steps=STEPS,
            systems={"fast": {"word_vectors": None}},
        )

    @property
    def used_kinds(self) -> tuple[EvidenceKind, ...]:
        """The kinds of evidence that are not left out."""
        left_out = self.without.split(",")
        return tuple(kind for kind in self.kinds if kind.name not in left_out)

    def has_step(self, step: str) -> bool:
        """Whether a step of the method is not left out."""
        return step not in self.without.split(",")

    def with_engine(self, engine: Engine) -> Fast:
        """The same model with another engine."""
        return replace(self, engine=engine)

    def fit(self, task: AlignmentTask) -> FittedFast | TurnedFast:
        """The fitted model. The graph with fewer entities is the source inside, so that the order of the two does not matter.

        Where only the entities of one side have one link at most, that side is the source: each of them chooses among its candidates.
        """
        if _is_turned(task):
            return TurnedFast(self._fit(turned_task(task)))
        return self._fit(task)

    def _fit(self, task: AlignmentTask) -> FittedFast:
        return FittedFast(self, Prepared.of(task, self.used_kinds, options_of(self), self.engine))


@dataclass(frozen=True, eq=False)
class Searched:
    """The pairs that names retrieve for a task, and the links that weights are learnt from; None where nothing is to be learnt.

    Attributes:
        task: The task.
        base: The task whose queries and pool were searched: the same, or a slightly larger one.
        by_name: The positions of its queries, and the targets that names retrieve for them.
        training: The links that weights are learnt from.
        training_pairs: The positions of training links, and the targets that names retrieve for their sources.
    """

    task: AlignmentTask
    base: AlignmentTask
    by_name: Pairs = (NOTHING, NOTHING)
    training: Alignment | None = None
    training_pairs: Pairs = (NOTHING, NOTHING)

    @property
    def pairs(self) -> Pairs:
        """The positions of the queries of the task, and the targets that names retrieve for them."""
        return self.by_name if self.base is self.task else _within(self.by_name, self.base, self.task)

    def serves(self, task: AlignmentTask) -> bool:
        """Whether that task asks for nearly the same, and nothing else."""
        sides = (self.base.queries, task.queries), (self.base.pool, task.pool)
        return all(len(other) >= NEARLY_ALL * len(own) and is_among(other, own).all() for own, other in sides)

    def fits(self, task: AlignmentTask) -> bool:
        """Whether they were searched for these queries, this pool and these seeds."""
        own, other = ((each.queries, each.pool, each.seeds.pairs, each.lessons.pairs) for each in (self.task, task))
        return all(map(np.array_equal, own, other))


@dataclass(frozen=True, eq=False)
class Looked:
    """What some known links say, and what the seeds teach about it: the same for all queries."""

    seeds: Alignment
    known: Alignment
    found: Found
    around: AnchoredEvidence
    weights: dict[str, float]
    classifier: NoMatchClassifier

    def fits(self, task: AlignmentTask, known: Alignment) -> bool:
        """Whether it is about these seeds and these known links."""
        sides = (self.seeds, task.seeds), (self.known, known)
        return all(np.array_equal(own.pairs, other.pairs) and np.array_equal(own.scores, other.scores) for own, other in sides)


@dataclass(frozen=True, eq=False)
class FittedFast:
    """`fast` with the vectors of two graphs. Weights depend on the known links, so `predict` learns them in each round."""

    options: Fast
    prepared: Prepared
    searched: Searched | None = None
    looked: Looked | None = None

    @property
    def capabilities(self) -> Capabilities:
        return self.options.capabilities

    def for_task(self, task: AlignmentTask) -> FittedFast:
        """The same with the pairs that names retrieve for that task, which are the same in every round.

        After a slightly larger task, they are taken from its search: so for the same bytes, tasks must come in the same order.
        """
        ready = self._for_graphs(task)
        if ready.searched is not None and ready.searched.fits(task):
            return ready
        self.options.engine.begin("searching by name")
        # What has looked at the known links has learnt from them, too.
        searched = ready._search_training(task) if ready.looked is None else Searched(task, task)
        before = ready.searched
        if before is not None and before.serves(task):
            return replace(ready, searched=replace(searched, base=before.base, by_name=before.by_name))
        return replace(ready, searched=replace(searched, by_name=ready._search_once(task.queries, task.pool)))

    def with_known(self, task: AlignmentTask, known: Alignment) -> FittedFast:
        """The same with all that these known links say: for predictions for other queries and pools of the same graphs and seeds."""
        ready = self._for_graphs(task)
        if ready.looked is not None and ready.looked.fits(task, known):
            return ready
        looking = replace(ready, searched=None, looked=None)  # which searches for the links of seeds alone
        return replace(ready, looked=looking._look(task, known))

    def _look(self, task: AlignmentTask, known: Alignment) -> Looked:
        if self.looked is not None and self.looked.fits(task, known):
            return self.looked
        if self.searched is None or self.searched.training is None:
            return replace(self, searched=self._search_training(task))._look(task, known)
        self.options.engine.begin("evidence")
        found, around = self._evidence(task, known)
        self.options.engine.begin("weights")
        return Looked(task.seeds, known, found, around, *self._learn(task, found))

    def _for_graphs(self, task: AlignmentTask) -> FittedFast:
        fits = same_graphs(self.prepared.task, task) and self.prepared.task.cardinality == task.cardinality
        return self if fits else self.options._fit(task)

    def _search_training(self, task: AlignmentTask) -> Searched:
        """The links that weights are learnt from, and the pairs that names retrieve for them; no pairs for the queries."""
        lessons = task.lessons
        drawn = np.random.default_rng(self.options.seed).permutation(len(lessons))[: self.options.training_links]
        training = lessons.where(drawn[np.argsort(lessons.sources[drawn])])
        pairs = _joined([])
        if len(training):
            pairs = self._search_once(training.sources, _pool_with_seeds(task), both_directions=False)
        return Searched(task, task, training=training, training_pairs=pairs)

    def _search_once(self, queries: Ints, pool: Ints, both_directions: bool = True) -> Pairs:
        """The pairs that the kinds of evidence retrieve that are the same in every round."""
        once = [self.prepared.own[kind.name] for kind in self.options.used_kinds if kind.searches == "once"]
        found = [self._search(each, queries, pool, self.options.effort, both_directions) for each in once if each is not None]
        return _joined(found)

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        ready = self.for_task(task)
        begin = self.options.engine.begin
        looked = ready._look(task, known)
        found, around, weights, classifier = looked.found, looked.around, looked.weights, looked.classifier
        begin("searching by the graph")
        rows, targets = ready._pairs(task, found, rest=_undecided(task, known) if self.options.has_step(REST) else None)
        begin("scores")
        sources, scores = taken(task.queries.astype(np.int32), rows), np.zeros(len(rows), np.float32)
        for name, evidence in found.items():
            add_scaled(scores, evidence.compare(sources, targets), weights[name])
        begin("competition")
        widest = 4 if one_link(task.cardinality)[0] else 20
        candidates = _packed(task.queries, rows, targets, scores, widest * self.options.k)
        del rows, targets, sources, scores  # as large as the candidates
        if task.protocol == "closed":
            if task.cardinality != "one-to-one":
                return with_cardinality(candidates, task.cardinality)
            return with_odds(candidates, ready._shares(candidates, found, around))
        is_taught = len(task.lessons) >= MIN_SEEDS
        judged = LinkProbabilities(ready._features(found), classifier, is_taught, around, self.options.iterations)
        if one_link(task.cardinality)[1]:
            return with_odds(candidates, judged.one_to_one(candidates))
        probabilities = judged.several(candidates, task.cardinality)
        if task.cardinality == "many-to-many":
            return with_own_odds(candidates, probabilities, task.cardinality)
        return replace(with_odds(candidates, probabilities), cardinality=task.cardinality)

    def _shares(self, candidates: Candidates, found: Found, around: AnchoredEvidence) -> Floats:
        """(n, k) the probability of each candidate in the closed protocol: queries compete, and a pair is anchored or less probable."""
        shares = balance(replace(candidates, temperature=COMPETING), self.options.iterations)
        if self.options.has_step(ANCHORS):
            rows, slots = candidates.edges()
            sources, targets = candidates.queries[rows], candidates.targets[rows, slots]
            most = most_probable(self._own(found, sources, targets), around.amount(sources, targets))
            shares[rows, slots] = np.minimum(shares[rows, slots], most)
        return shares

    def first_links(self, task: AlignmentTask, always: bool = False) -> Alignment:
        """What grows from the seeds where names say little: links that are evidence in the first round.

        Args:
            task: The seeds are its own.
            always: Also where there are so many seeds that most entities have known links around them, or where names find them.
        """
        few = max(FEW_SEEDS * min(len(task.source.entities), len(task.target.entities)), MIN_CHECKED)
        if not self.options.has_step(GROWTH) or task.cardinality != "one-to-one" or len(task.lessons) < MIN_GROWING:
            return Alignment.empty()
        ready = self._for_graphs(task)
        if not always and (len(task.seeds) >= few or ready._names_find_seeds(task)):
            return Alignment.empty()
        return grow(task, ready.prepared.edges, self.options.seed, self.options.engine)

    def _names_find_seeds(self, task: AlignmentTask) -> bool:
        """Whether names retrieve most of the links that weights are learnt from."""
        searched = self._search_training(task)
        rows, targets = searched.training_pairs
        assert searched.training is not None
        found = np.unique(rows[targets == searched.training.targets[rows]])
        return len(found) > NAMES_FIND * len(searched.training)

    def contributions(self, task: AlignmentTask, known: Alignment, pairs: Ints) -> Contributions:
        """How much each kind of evidence adds to the score of pairs (n, 2), with these links known."""
        looked = self.with_known(task, known).looked
        assert looked is not None
        found, weights = looked.found, looked.weights
        amounts = [weights[name] * evidence.compare(pairs[:, 0], pairs[:, 1]) for name, evidence in found.items()]
        kinds = [kind for kind in self.options.used_kinds if kind.name in found]
        return Contributions(
            tuple(kind.name for kind in kinds),
            tuple(kind.description for kind in kinds),
            np.column_stack(amounts) if amounts else np.zeros((len(pairs), 0)),
        )

    def _evidence(self, task: AlignmentTask, known: Alignment) -> tuple[Found, AnchoredEvidence]:
        """The evidence of each kind that these graphs and links have, in the order of the kinds; and that of anchored links alone."""
        assert self.searched is not None
        training = None if task.cardinality == "many-to-many" else self.searched.training  # which learns no weights
        view, kinds = View.of(task, known, self.prepared, training), self.options.used_kinds
        computed = {kind.name: kind.compute(view) for kind in kinds if kind.is_anchor}
        own = self._own(_present(computed), known.sources, known.targets)
        if self.options.has_step(ANCHORS):
            view = view.anchored(np.where(known.among(task.seeds), 1.0, own))
        computed |= {kind.name: kind.compute(view) for kind in kinds if not kind.is_anchor}
        found = _present(computed)
        return {kind.name: found[kind.name] for kind in kinds if kind.name in found}, view.around

    def _own(self, found: Found, sources: Ints, targets: Ints) -> Floats:
        """(n,) 0 to 1: how far pairs are anchors: names or values, and not known links, say that the two are the same."""
        own = np.zeros(len(sources))
        for kind in self.options.used_kinds:
            if kind.is_anchor and kind.name in found:
                own = np.maximum(own, kind.strength(found[kind.name], sources, targets))
        low, high = ANCHOR
        return np.clip((own - low) / (high - low), 0, 1)

    def _features(self, found: Found) -> PairFeatures:
        return PairFeatures(self.options.kinds, self.prepared, found)

    def _learn(self, task: AlignmentTask, found: Found) -> tuple[dict[str, float], NoMatchClassifier]:
        """The weights under which the seeds are most probable among their own candidates, and the classifier that they teach."""
        kinds = [kind for kind in self.options.used_kinds if kind.name in found]
        weights, features = np.array([kind.weight for kind in kinds]), self._features(found)
        # Where entities may have several links, other candidates of a seed may be right too: there is no wrong one to learn from.
        if not len(task.lessons) or task.cardinality == "many-to-many":
            return dict(zip(found, weights.tolist(), strict=True)), NoMatchClassifier.untaught(features.features)
        assert self.searched is not None
        assert self.searched.training is not None
        links = self.searched.training
        rows, targets = self._pairs(task, found, links)
        wrong = targets != links.targets[rows]
        rows = np.concatenate([np.arange(len(links)), rows[wrong]])
        targets = np.concatenate([links.targets, targets[wrong]])
        similarities = np.column_stack([evidence.compare(links.sources[rows], targets) for evidence in found.values()])
        if len(task.lessons) >= MIN_SEEDS:
            weights = fit_choice(rows, similarities, len(links), weights)
            weights *= [kind.seed_discount for kind in kinds]
        scores = similarities @ weights
        right, wrong = (
            features.values(links.sources[rows[some]], targets[some], scores[some])
            for some in (slice(len(links)), best_wrong(rows, scores, len(links)))
        )
        return dict(zip(found, weights.tolist(), strict=True)), fit_no_match(features.features, right, wrong)

    def _pairs(
        self, task: AlignmentTask, found: Found, training: Alignment | None = None, rest: tuple[Ints, Ints] | None = None
    ) -> Pairs:
        """All candidate pairs: those that names retrieve, and those that the graph does. For training links: theirs.

        Args:
            task: What to align.
            found: The evidence of the round.
            training: The links to find pairs for, instead of the queries.
            rest: Queries and targets that are searched once more, among themselves.
        """
        assert self.searched is not None
        pairs, effort = [], self.options.effort // 4  # in every round, so it must be quick
        stacked = self._stacked(found, ("every round",))
        if stacked is not None:
            asked = (task.queries, task.pool) if training is None else (training.sources, _pool_with_seeds(task))
            pairs.append(self._search(stacked, *asked, effort, both_directions=training is None))
        stacked = self._stacked(found, ("every round", "the rest")) if rest is not None else None
        if rest is not None and stacked is not None:
            rows, targets = stacked.search(
                *rest,
                4 * self.options.k,
                both_directions=False,
                effort=self.options.effort,
                seed=self.options.seed,
                engine=self.options.engine,
            )
            pairs.append((np.searchsorted(task.queries, rest[0])[rows], targets))
        del stacked  # the pairs by name take room, and come last
        pairs.append(self.searched.pairs if training is None else self.searched.training_pairs)
        rows, targets = unique_pairs(*_joined(pairs), self.options.training_links if training is not None else len(task.queries))
        sources = task.queries[rows] if training is None else training.sources[rows]
        may = allowed(task, sources, targets)
        return (rows, targets) if may.all() else (rows[may], targets[may])

    def _stacked(self, found: Found, searches: tuple[str, ...]) -> Similarity | None:
        """The vectors of all kinds that search so, beside each other, so that their inner product is the weighted sum."""
        kinds = [kind for kind in self.options.used_kinds if kind.searches in searches and kind.name in found]
        if not kinds:
            return None
        sides = (
            Beside([getattr(found[kind.name], side) for kind in kinds], [np.sqrt(kind.weight) for kind in kinds])
            for side in ("source", "target")
        )
        return Similarity(*sides)

    def _search(self, vectors: Searching, queries: Ints, pool: Ints, effort: int, both_directions: bool) -> Pairs:
        """The positions of queries, and the targets of the pool that some vectors retrieve for them."""
        options = self.options
        return vectors.search(
            queries,
            pool,
            options.k,
            both_directions=both_directions,
            effort=max(1, effort),
            seed=options.seed,
            engine=options.engine,
        )


@dataclass(frozen=True, eq=False)
class TurnedFast:
    """`fast` fitted to a task whose source and target have changed places."""

    fitted: FittedFast

    @property
    def options(self) -> Fast:
        return self.fitted.options

    @property
    def capabilities(self) -> Capabilities:
        return self.fitted.capabilities

    def for_task(self, task: AlignmentTask) -> TurnedFast:
        return TurnedFast(self.fitted.for_task(turned_task(task)))

    def with_known(self, task: AlignmentTask, known: Alignment) -> TurnedFast:
        return TurnedFast(self.fitted.with_known(turned_task(task), known.turned()))

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        found = self.fitted.predict(turned_task(task), known.turned())
        at, slots = found.edges()
        rows, probabilities = np.searchsorted(task.queries, found.targets[at, slots]), found.probabilities()[at, slots]
        if one_link(task.cardinality)[0]:
            turned = _packed(task.queries, rows, found.queries[at], probabilities, 4 * self.options.k)
            return replace(with_odds(turned, np.maximum(turned.scores, 0)), cardinality=task.cardinality)
        often = int(np.bincount(rows[probabilities > NEGLIGIBLE]).max(initial=0))
        widest = max(4 * self.options.k, min(often, MOST_SEVERAL))
        turned = _packed(task.queries, rows, found.queries[at], probabilities, widest)
        return with_own_odds(turned, np.maximum(turned.scores, 0), task.cardinality)

    def first_links(self, task: AlignmentTask, always: bool = False) -> Alignment:
        return self.fitted.first_links(turned_task(task), always).turned()

    def contributions(self, task: AlignmentTask, known: Alignment, pairs: Ints) -> Contributions:
        return self.fitted.contributions(turned_task(task), known.turned(), pairs[:, ::-1])


def _is_turned(task: AlignmentTask) -> bool:
    if one_link(task.cardinality)[0] != one_link(task.cardinality)[1]:
        return task.cardinality == "one-to-many"
    return _size(task.source) > _size(task.target)


def _size(graph: KnowledgeGraph) -> tuple[Any, ...]:
    """How large a graph is; whatever else is in it tells two graphs of the same number of entities apart."""
    return len(graph.entities), len(graph.triples), len(graph.names.text), list(graph.names.text), list(graph.entities)


def _undecided(task: AlignmentTask, known: Alignment) -> tuple[Ints, Ints] | None:
    """The queries and the targets without a nearly certain link, where they are the smaller part; in the closed protocol."""
    if task.protocol != "closed" or task.cardinality != "one-to-one":
        return None
    decided = known.where(known.scores > DECIDED)
    queries, pool = np.setdiff1d(task.queries, decided.sources), np.setdiff1d(task.pool, decided.targets)
    return (queries, pool) if 0 < len(queries) < LARGEST_REST * len(task.queries) else None


def _pool_with_seeds(task: AlignmentTask) -> Ints:
    """(p,) the pool and the targets of the seeds."""
    is_there = np.zeros(len(task.target.entities), bool)
    is_there[task.pool] = is_there[task.seeds.targets] = True
    return np.flatnonzero(is_there)


def _within(pairs: Pairs, base: AlignmentTask, task: AlignmentTask) -> Pairs:
    """The pairs of a larger task with the queries and the pool of a smaller one: its positions of queries, and targets."""
    position, in_pool = np.full(len(task.source.entities), -1, np.int32), np.zeros(len(task.target.entities), bool)
    position[task.queries], in_pool[task.pool] = np.arange(len(task.queries)), True
    rows = taken(position[base.queries], pairs[0])
    kept = np.flatnonzero((rows >= 0) & taken(in_pool, pairs[1]))
    return taken(rows, kept), taken(pairs[1], kept)


def _packed(queries: Ints, rows: Ints, targets: Ints, scores: Floats, most: int) -> Candidates:
    """Candidates from scored pairs, the best of each query first, up to so many."""
    packed = pack(rows, targets, scores, len(queries), most)
    return Candidates(queries, packed.targets, packed.scores)


def _present(computed: dict[str, Any]) -> Found:
    return {name: evidence for name, evidence in computed.items() if evidence is not None}


def _joined(pairs: list[Pairs]) -> Pairs:
    rows, targets = (np.concatenate(part) for part in zip((NOTHING, NOTHING), *pairs, strict=True))
    return rows, targets
