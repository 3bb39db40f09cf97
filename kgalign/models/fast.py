"""The aligner that needs no GPU and no training run: names, literals, and known pairs seen through the relations that lead to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from kgalign.contradictions import Contradictions, contradicting_relations, contradicting_values
from kgalign.data import Alignment, AlignmentTask, Candidates, Floats, Ints, KnowledgeGraph
from kgalign.decode import balance
from kgalign.encoders import encoded_names
from kgalign.errors import OptionError, check_at_least
from kgalign.features import capped, combinations
from kgalign.literals import literal_features, match_properties, read_literals
from kgalign.models import Systems
from kgalign.models.doubt import MOST_UNTAUGHT, UNTAUGHT, Doubt, fit_doubt, share_of_right
from kgalign.models.names import name_vectors
from kgalign.relations import adjacency, both_ways, match_relations
from kgalign.search import Vectors, find_candidates, pack, pair_products, unique_pairs
from kgalign.text import unit_rows, word_vectors

Evidence = dict[str, tuple[Vectors, Vectors]]  # vectors of all entities of either side, none longer than 1, by kind of evidence
Against = dict[str, Contradictions]
AnyEvidence = dict[str, tuple[Vectors, Vectors] | Contradictions]
Near = tuple[Vectors, Vectors] | None  # known neighbours of either side; None: they do not count

DEFAULT_WEIGHTS = {
    "names": 12.0,
    "words": 6.0,
    "meanings": 9.0,
    "relations": 10.0,
    "neighbours": 9.0,
    "two hops": 5.0,
    "values": 10.0,
    "roles": 2.0,
    "other relations": 12.0,
    "other values": 12.0,
}
FINDING_KINDS = ("relations", "neighbours", "two hops", "values")  # of which some are rare enough to search by
AGAINST_KINDS = ("other relations", "other values")
GRAPH_KINDS = (*FINDING_KINDS, "roles", *AGAINST_KINDS)
# Around seeds more is known, and rightly, than around others: what differs is less telling there than seeds make it look.
BELIEVED_OF_SEEDS = {"other relations": 0.5}
MIN_SEEDS = 150  # fewer do not teach weights
MIN_RELATION_MATCH = 0.05
MOST_TWO_HOPS = 64  # features for each entity, on average


@dataclass(frozen=True)
class Fast:
    """Scores a pair by the weighted sum of cosines of sparse vectors, one for each kind of evidence.

    names           character n-grams, means of word vectors where a file is given, and what a sentence encoder makes of them
    relations       which known pair is reached by which relation, in which direction; relations of the source are read as the
                    relations of the target that they match, and count for as much as they match
    neighbours      which known pairs are neighbours, by whatever relation
    two hops        which known pairs are neighbours of neighbours
    roles           by which relations others point to it, whoever they are
    values          dates, numbers, identifiers and other literals, the same or nearly, of properties that match; identifiers of any
    other relations where it leads to somebody else by a relation that has one end as a rule: this speaks against the pair
    other values    where such a property has another value: this too

    A known pair counts for as much as it is probable, and a rare feature for more than a frequent one. Weights are learnt on the seeds,
    so that the softmax over a row means what it says; with fewer than 150, defaults stand in. Then sources compete for targets
    (Sinkhorn), and what comes out are the probabilities.

    Known pairs are all the graph evidence there is but for literals, and a pair is never evidence for itself. Without seeds the first
    known pairs are those that names and identifiers suggest; where names tell nothing, enough seeds take their weight away.

    k               candidates for each query by name, and as many by the graph; targets that have it among their k best come on top
    word_vectors    a GloVe or word2vec text file
    encoder         a folder with a sentence encoder, see kgalign.encoders
    effort          how far the search for candidates by name goes, see find_candidates; by the graph a quarter of it, but in every round
    iterations      rounds of the competition
    training_links  seeds that weights are learnt from, at most
    weighs_doubt    whether pairs that may be right are evidence too, or easy ones alone
    without         kinds of graph evidence to leave out, comma between them: to see what each is worth
    """

    k: int = 20
    word_vectors: str | None = None
    encoder: str | None = None
    effort: int = 20_000
    iterations: int = 20
    training_links: int = 1000
    weighs_doubt: bool = True
    without: str = ""
    seed: int = 0

    systems: ClassVar[Systems] = {"fast": {"word_vectors": None}}  # as it is by default

    def __post_init__(self) -> None:
        check_at_least(
            k=(self.k, 1),
            effort=(self.effort, 1),
            iterations=(self.iterations, 1),
            training_links=(self.training_links, 1),
            seed=(self.seed, 0),
        )
        for kind in filter(None, self.without.split(",")):
            if kind not in GRAPH_KINDS:
                raise OptionError(f"without={self.without}: expected some of {','.join(GRAPH_KINDS)}")

    def fit(self, task: AlignmentTask) -> Self:
        return self

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        left_out = self.without.split(",")
        by_graph = {kind: sides for kind, sides in graph_evidence(task, known).items() if kind not in left_out}
        evidence: AnyEvidence = {
            **name_evidence(task, self.word_vectors, self.encoder),
            **by_graph,
            **evidence_against(task, known, left_out),
        }
        near = None if "neighbours" in left_out else _known_neighbours(task, known)
        weights, doubt = self._learn_weights(task, evidence, by_graph, near)
        rows, targets = self._pairs(task, by_graph, training=False)
        scores = np.zeros(len(rows), np.float32)
        for kind, what in evidence.items():
            scores += np.float32(weights[kind]) * _compared(what, task.queries[rows], targets)
        packed = pack(rows, targets, scores, len(task.queries), 4 * self.k)
        candidates = Candidates(task.queries, packed.targets, packed.scores)
        shares = balance(candidates, self.iterations)
        if task.protocol == "closed":
            return _rescored(candidates, shares)
        most = MOST_UNTAUGHT if len(task.seeds) < MIN_SEEDS else 1.0
        return _doubted(candidates, shares, doubt, most, evidence, near)

    def _learn_weights(
        self, task: AlignmentTask, evidence: AnyEvidence, by_graph: Evidence, near: Near
    ) -> tuple[dict[str, float], Doubt]:
        """The weights under which the seeds are most probable among their own candidates, and what tells their pairs from wrong ones."""
        weights = np.array([DEFAULT_WEIGHTS[kind] for kind in evidence])
        if not len(task.seeds):
            return dict(zip(evidence, weights.tolist(), strict=True)), UNTAUGHT
        links = _training_links(task, self.training_links, self.seed)
        rows, targets = self._pairs(task, by_graph, training=True)
        wrong = targets != links.targets[rows]
        rows = np.concatenate([np.arange(len(links)), rows[wrong]])
        targets = np.concatenate([links.targets, targets[wrong]])
        cosines = np.column_stack([_compared(what, links.sources[rows], targets) for what in evidence.values()])
        if len(task.seeds) >= MIN_SEEDS:
            weights = _fit_choice(rows, cosines, len(links), weights)
            weights *= [BELIEVED_OF_SEEDS.get(kind, 1.0) for kind in evidence]
        scores = cosines @ weights
        wrong = _best_wrong(rows, scores, len(links))
        signs = [
            _signs(evidence, near, links.sources[rows[some]], targets[some], scores[some]) for some in (slice(len(links)), wrong)
        ]
        return dict(zip(evidence, weights.tolist(), strict=True)), fit_doubt(*signs)

    def _pairs(self, task: AlignmentTask, by_graph: Evidence, *, training: bool) -> tuple[Ints, Ints]:
        """Position of the query and target of each candidate pair: those that names suggest and those that the graph does."""
        found = [_pairs_by_name(task, self, training)]
        if any(kind in by_graph for kind in FINDING_KINDS):
            source, target = (
                sparse.csr_array(
                    sparse.hstack(
                        [
                            np.float32(np.sqrt(DEFAULT_WEIGHTS[kind])) * by_graph[kind][side]
                            for kind in FINDING_KINDS
                            if kind in by_graph
                        ]
                    )
                )
                for side in (0, 1)
            )
            found.append(self._search(task, source, target, training, self.effort // 4))  # in every round, so it must be quick
        rows, targets = (np.concatenate(part) for part in zip(*found, strict=True))
        return unique_pairs(rows, targets, self.training_links if training else len(task.queries))

    def _search(self, task: AlignmentTask, source: Vectors, target: Vectors, training: bool, effort: int) -> tuple[Ints, Ints]:
        queries, pool = task.queries, task.pool
        if training:
            queries = _training_links(task, self.training_links, self.seed).sources
            pool = np.union1d(task.pool, task.seeds.targets)
        candidates = find_candidates(
            source, target, queries, pool, self.k, both_directions=not training, effort=max(1, effort), seed=self.seed
        )
        rows, slots = candidates.edges()
        return rows, candidates.targets[rows, slots]


@lru_cache(maxsize=2)
def _pairs_by_name(task: AlignmentTask, model: Fast, training: bool) -> tuple[Ints, Ints]:
    """Remembered: names do not change from round to round."""
    by_name = name_evidence(task, model.word_vectors, model.encoder).values()
    found = [model._search(task, *sides, training, model.effort) for sides in by_name]
    rows, targets = (np.concatenate(part) for part in zip(*found, strict=True))
    return rows, targets


@lru_cache(maxsize=2)
def _training_links(task: AlignmentTask, count: int, seed: int) -> Alignment:
    drawn = np.random.default_rng(seed).permutation(len(task.seeds))[:count]
    return task.seeds.where(drawn[np.argsort(task.seeds.sources[drawn])])


def name_evidence(task: AlignmentTask, vectors: str | None = None, encoder: str | None = None) -> Evidence:
    """What names are made of, what their words mean, and what they mean as a whole."""
    evidence: Evidence = {"names": name_vectors(task.source, task.target)}
    if vectors is not None:
        evidence["words"] = _word_vectors(task.source, task.target, vectors)
    if encoder is not None:
        evidence["meanings"] = encoded_names(task.source, task.target, encoder)
    return evidence


def graph_evidence(task: AlignmentTask, known: Alignment) -> Evidence:
    """Known pairs around each entity: by relation, by neighbourhood, and two steps away; its roles by relations that match; its literals.

    Features are entities of the target: one's own neighbours there, and on the source side what one's neighbours are known as.
    """
    evidence: Evidence = {}
    shared, relations, properties = _seen_through(task, known)
    if len(known):
        itself = sparse.eye_array(shared.shape[1], dtype=np.float32, format="csr")
        near = adjacency(task.source) @ shared, adjacency(task.target) @ itself
        evidence |= {"relations": _weighted(*_relation_features(task, shared, relations)), "neighbours": _weighted(*near)}
        evidence["two hops"] = _weighted(
            _two_hops(adjacency(task.source), near[0], shared), _two_hops(adjacency(task.target), near[1], itself)
        )
        evidence["roles"] = _weighted(_roles(task.source) @ _sure(relations), _roles(task.target))
    if _has_literals(task):
        evidence["values"] = _weighted(*literal_features(task, properties), common_is_short=True)
    return evidence


def _known_neighbours(task: AlignmentTask, known: Alignment) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Which entities of the target are the neighbours of each; on the source side, as far as it is known."""
    near = adjacency(task.source) @ _seen_through(task, known)[0]
    near.sort_indices()
    return near, adjacency(task.target)


def evidence_against(task: AlignmentTask, known: Alignment, without: Sequence[str] = ()) -> Against:
    """Where entities differ in what known pairs agree on."""
    against: Against = {}
    shared, relations, properties = _seen_through(task, known)
    likely = known.where(known.scores > 0.5)
    if len(known) and "other relations" not in without:
        against["other relations"] = contradicting_relations(task, likely, shared, relations)
    if len(known) and "other values" not in without and _has_literals(task):
        against["other values"] = contradicting_values(task, likely, properties)
    return against


@lru_cache(maxsize=1)
def _seen_through(task: AlignmentTask, known: Alignment) -> tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array]:
    """How probable each pair is, and how far relations and properties match by what is known; remembered within a round."""
    sizes = len(task.source.entities), len(task.target.entities)
    shared = sparse.csr_array((known.scores.astype(np.float32), (known.sources, known.targets)), shape=sizes)
    likely = known.where(known.scores > 0.5)
    return shared, match_relations(task, likely), match_properties(task, likely)


def _has_literals(task: AlignmentTask) -> bool:
    return all(len(side.facts) > 0 for side in read_literals(task.source, task.target))


def _compared(what: tuple[Vectors, Vectors] | Contradictions, sources: Ints, targets: Ints) -> Floats:
    """(n,) how far one kind of evidence speaks for each pair, -1 to 1."""
    return -what.amounts(sources, targets) if isinstance(what, Contradictions) else pair_products(*what, sources, targets)


def _roles(graph: KnowledgeGraph) -> sparse.csr_array:
    """(n, 2 r) how often each relation points to an entity, on a scale of logarithms; relations that are read backwards are empty."""
    _, relations, tails = graph.triples.T
    shape = len(graph.entities), 2 * len(graph.relations)
    often = sparse.csr_array((np.ones(len(tails), np.float32), (tails, relations)), shape=shape)
    often.data = np.log1p(often.data)
    return often


def _sure(matches: sparse.csr_array) -> sparse.csr_array:
    """The matches of relations without those that are hardly any."""
    matches = sparse.csr_array(matches.multiply(matches > MIN_RELATION_MATCH), dtype=np.float32)
    matches.eliminate_zeros()
    return matches


def _relation_features(
    task: AlignmentTask, shared: sparse.csr_array, matches: sparse.csr_array
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Features (relation of the target, entity of the target); a source edge has one for each match of its relation and its end."""
    source, target = both_ways(task.source), both_ways(task.target)
    matches = _sure(matches)
    source = source[(np.diff(shared.indptr)[source[:, 2]] > 0) & (np.diff(matches.indptr)[source[:, 1]] > 0)]
    edge, relation, end, values = combinations(matches[source[:, 1]], shared[source[:, 2]])
    width = shared.shape[1]
    keys = relation.astype(np.int64) * width + end
    features, columns = np.unique(keys, return_inverse=True)
    target_keys = target[:, 1] * width + target[:, 2]
    places = np.searchsorted(features, target_keys)
    there = features[np.minimum(places, len(features) - 1)] == target_keys if len(features) else np.zeros(len(places), bool)
    return (
        capped(sparse.csr_array((values, (source[edge, 0], columns)), shape=(shared.shape[0], len(features)))),
        capped(
            sparse.csr_array(
                (np.ones(there.sum(), np.float32), (target[there, 0], places[there])), shape=(shared.shape[1], len(features))
            )
        ),
    )


def _two_hops(edges: sparse.csr_array, near: sparse.csr_array, own: sparse.csr_array) -> sparse.csr_array:
    """The mean of what is near one's neighbours, without one's own pair: two steps lead back to where one started.

    Hubs lead anywhere, and to so much that memory would not hold it: those with the least around them go first, as far as it lasts.
    """
    degrees, reach = np.diff(edges.indptr), np.diff(near.indptr)
    order = np.argsort(reach, kind="stable")
    passable = np.zeros(len(reach), np.float32)
    passable[order] = np.cumsum(degrees[order].astype(np.int64) * reach[order]) <= MOST_TWO_HOPS * len(reach)
    mean = sparse.diags_array(1 / np.maximum(degrees, 1).astype(np.float32))
    features = sparse.csr_array(mean @ edges @ (sparse.diags_array(passable) @ near))
    features = sparse.csr_array(features - features.multiply(own > 0))
    features.eliminate_zeros()
    return features


def _weighted(
    source: sparse.csr_array, target: sparse.csr_array, *, common_is_short: bool = False
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Unit rows in which a feature counts by its rarity on both sides; one that no source has is left out.

    common_is_short     rows with less in them than a feature that one pair alone has stay shorter than 1: two who have nothing but
                        a frequent value in common are not the same for that
    """
    often = np.bincount(source.indices, source.data, source.shape[1])
    everyone = source.shape[0] + target.shape[0]
    rarity = np.log(everyone / (1 + often + np.bincount(target.indices, minlength=target.shape[1])))
    rarity = np.where(often > 0, rarity, 0).clip(0).astype(np.float32)
    weighted = []
    for side in (source, target):
        matrix = side.copy()  # its indices would be sorted in place otherwise
        matrix.data *= rarity[matrix.indices]
        matrix.eliminate_zeros()
        matrix.sort_indices()
        unit = unit_rows(matrix)
        if common_is_short:
            lengths = np.sqrt(matrix.multiply(matrix).sum(axis=1)) / max(np.log(everyone / 3), 1)
            unit.data *= np.repeat(np.minimum(lengths, 1), np.diff(unit.indptr)).astype(np.float32)
        weighted.append(unit)
    return weighted[0], weighted[1]


@lru_cache(maxsize=2)
def _word_vectors(source: KnowledgeGraph, target: KnowledgeGraph, path: str) -> tuple[Floats, Floats]:
    return word_vectors(source.names, target.names, path)


def _rescored(candidates: Candidates, shares: Floats) -> Candidates:
    """The same candidates with the logarithms of their shares as scores, best first."""
    scores = np.where(candidates.targets >= 0, np.log(np.maximum(shares, 1e-30)), -np.inf).astype(np.float32)
    order = np.argsort(-scores, axis=1, kind="stable")
    targets, scores = (np.take_along_axis(array, order, axis=1) for array in (candidates.targets, scores))
    return Candidates(candidates.queries, targets, scores)


def _doubted(candidates: Candidates, shares: Floats, doubt: Doubt, most: float, evidence: AnyEvidence, near: Near) -> Candidates:
    """The same for those who may have no counterpart.

    Winning against others is not enough: all shares of a source count by how probably its best candidate is right. Of all that won, so many
    are right as their signs tell, and `most` at most.
    """
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-30)
    best = shares.argmax(axis=1)[:, None]
    targets, scores, won = (
        np.take_along_axis(array, best, axis=1)[:, 0] for array in (candidates.targets, candidates.scores, shares)
    )
    there = targets >= 0
    log_odds = np.zeros(len(there))
    log_odds[there] = doubt.log_odds(_signs(evidence, near, candidates.queries[there], targets[there], scores[there]))
    right = min(share_of_right(log_odds, won), most)
    log_odds += np.log(right / (1 - right))
    shares /= 1 + np.exp(-log_odds[:, None])
    odds = shares / np.maximum(1 - shares.sum(axis=1, keepdims=True), 1e-9)
    return replace(_rescored(candidates, odds), nobody=0.0)


def _best_wrong(rows: Ints, scores: Floats, count: int) -> Ints:
    """Positions of the best candidate of each row but for the right ones, which are the first `count`; some have none."""
    order = count + np.lexsort((-scores[count:], rows[count:]))
    return order[np.unique(rows[order], return_index=True)[1]]


def _signs(evidence: AnyEvidence, near: Near, sources: Ints, targets: Ints, scores: Floats) -> Floats:
    """(n, signs) what tells whether a pair is one at all, see SIGNS."""

    def of(kind: str) -> Floats:
        return _compared(evidence[kind], sources, targets) if kind in evidence else np.zeros(len(sources))

    alike = np.maximum.reduce([of("names"), of("meanings"), 2 * of("words") - 1])  # vectors of any two words have much in common
    common = np.zeros(len(sources)) if near is None else np.log1p(pair_products(*near, sources, targets))
    return np.column_stack([scores, alike, common, of("values"), of("other values"), of("other relations")])


def _fit_choice(rows: Ints, cosines: Floats, count: int, start: Floats) -> Floats:
    """Weights, none below 0, that make the right candidate of each row the most probable: a conditional logit.

    rows        (n,) the link that a candidate belongs to; the first `count` candidates are the right ones
    cosines     (n, kinds)
    """

    def loss(weights: Floats) -> tuple[float, Floats]:
        logits = cosines @ weights
        highest = np.full(count, -np.inf)
        np.maximum.at(highest, rows, logits)
        shares = np.exp(logits - highest[rows])
        shares /= np.bincount(rows, shares, count)[rows]
        surprise = -np.log(np.maximum(shares[:count], 1e-12)).mean()
        gradient = (shares @ cosines - cosines[:count].sum(axis=0)) / count
        pull = 1e-4 * (weights - start)
        return surprise + 0.5 * float((pull * (weights - start)).sum()), gradient + pull

    return minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.01, 200)] * len(start)).x
