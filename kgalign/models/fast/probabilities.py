"""How probable the scored candidates of `fast` are: they compete, and the no-match classifier judges the winners."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kgalign.data import INDIVIDUAL, Candidates, Cardinality, Floats, Ints, one_link
from kgalign.decoding.marginals import FARTHEST, balance, matching_marginals, share_among, share_rows
from kgalign.features.anchors import anchored
from kgalign.features.copies import one_to_one_copies
from kgalign.features.functionality import AnchoredEvidence
from kgalign.models.fast.evidence import EvidenceKind, Found, Prepared
from kgalign.reasoning.no_match import (
    MOST_RIGHT_UNTAUGHT,
    SCORE,
    Feature,
    NoMatchClassifier,
    careful_shares,
    probability,
    share_of_right,
)

DECISIVE = 0.75  # of decisive evidence: a preferred and an alternative name that are equal reach it
LEAST_RECALL = 0.5  # of the seeds that have taught the classifier: one that accepts fewer is not believed
MUTUAL = 0.7  # of the share of right links, for the best pair of two entities that may have several links


@dataclass(frozen=True, eq=False)
class PairFeatures:
    """The evidence of a round as features of the no-match classifier.

    Attributes:
        kinds: The kinds of evidence of the model, also those that are left out.
        prepared: The two graphs.
        found: The evidence of the round, by kind.
    """

    kinds: tuple[EvidenceKind, ...]
    prepared: Prepared
    found: Found

    @property
    def features(self) -> list[Feature]:
        """The features of the no-match classifier: the score, and one for each name of a kind's feature."""
        own = {kind.no_match.name: kind.no_match for kind in reversed(self.kinds) if kind.no_match is not None}
        return [SCORE, *(Feature(feature.name, feature.prior, feature.range) for feature in reversed(own.values()))]

    def values(self, sources: Ints, targets: Ints, scores: Floats) -> Floats:
        """(n, features) the features of pairs; 0 where there is no such evidence."""
        values: dict[str, Floats] = {}
        graphs = self.prepared.task.source, self.prepared.task.target
        in_hierarchy = (graphs[0].kinds[sources] != INDIVIDUAL) & (graphs[1].kinds[targets] != INDIVIDUAL)
        for kind in self.kinds:
            if kind.no_match is not None and kind.name in self.found:
                value = kind.no_match.of(self.found[kind.name], sources, targets)
                value = np.where(in_hierarchy, kind.no_match.in_hierarchy, 1) * value
                earlier = values.get(kind.no_match.name)
                values[kind.no_match.name] = value if earlier is None else np.maximum(earlier, value)
        none = np.zeros(len(sources))
        return np.column_stack([scores, *(values.get(feature.name, none) for feature in self.features[1:])])


@dataclass(frozen=True, eq=False)
class LinkProbabilities:
    """The probabilities of scored candidates in the open protocol.

    Attributes:
        features: The features of the pairs.
        classifier: The no-match classifier.
        is_taught: Whether enough seeds have taught the weights of the scores.
        around: The evidence of anchored links around a pair.
        iterations: Rounds of Sinkhorn normalisation or belief propagation.
    """

    features: PairFeatures
    classifier: NoMatchClassifier
    is_taught: bool
    around: AnchoredEvidence
    iterations: int

    def one_to_one(self, candidates: Candidates) -> Floats:
        """(n, k) the probability of each candidate, where a query may have no match; those of a target sum to 1 at most.

        Two things must be true of a link: it wins against the other links of its two entities, copies of them apart, and the winner of the
        query is right at all. Without enough seeds, no more than two thirds of the winners of a class are taken for right. A classifier
        that rejects most of the seeds that have taught it is not believed: then winners are right as far as they are anchored.
        """
        won = self._won_rows(candidates) if self.is_taught else self._won(candidates)
        won = self._among_copies(won, candidates)
        winners, best = won.argmax(axis=1), won.max(axis=1, initial=0)
        log_odds = self._log_odds(candidates, winners)
        groups = self.features.prepared.groups[candidates.queries]
        right = share_of_right(log_odds, best) if self.is_taught else careful_shares(log_odds, best, groups)
        if self.is_taught and self.classifier.recall(right) < LEAST_RECALL:
            believed = anchored(self.around.amount(candidates.queries, candidates.targets[np.arange(len(candidates)), winners]))
        else:
            believed = probability(log_odds, right)
        won *= believed[:, None]
        share_among(won, candidates.targets, as_odds=self.is_taught)
        return won

    def several(self, candidates: Candidates, cardinality: Cardinality) -> Floats:
        """(n, k) the probability of each candidate, where a target may have several links.

        Of a query with one link at most, the best candidate may be right, and the others have a share of its probability; else each
        candidate may be right by itself. Where no seed has taught the classifier, no more of them are taken for right than if each entity
        had one link: a target that all queries may have says nothing against any of them. Only the best pair of two entities that may both
        have several links is more probable.
        """
        single_source = one_link(cardinality)[0]
        won = candidates.probabilities() if single_source else np.ones(candidates.scores.shape)
        rows, slots = candidates.edges()
        if single_source:
            rows, slots = rows[slots == 0], slots[slots == 0]
        targets, scores, shares = candidates.targets[rows, slots], candidates.scores[rows, slots], won[rows, slots]
        if not len(rows):
            return np.zeros(candidates.scores.shape)
        log_odds = self.classifier.log_odds(self.features.values(candidates.queries[rows], targets, scores))
        if single_source and self.is_taught:
            right = np.full(len(rows), share_of_right(log_odds, shares))
        else:
            best_of = _is_largest(rows, scores) & (not single_source), _is_largest(targets, scores)
            is_best = best_of[0] | best_of[1]
            among = np.where(best_of[0] & best_of[1], MUTUAL, is_best.mean())
            right = min(share_of_right(log_odds[is_best], shares[is_best]), MOST_RIGHT_UNTAUGHT) * among
        own = np.zeros(candidates.scores.shape)
        own[rows, slots] = probability(log_odds, right)
        return won * (own[:, :1] if single_source else own)

    def _among_copies(self, won: Floats, candidates: Candidates) -> Floats:
        """(n, k) the same shares, where copies do not compete with each other."""
        ours, theirs = self.features.prepared.copies
        if not (ours.size[candidates.queries] > 1).any() and not (theirs.size > 1).any():
            return won
        rows, slots = candidates.edges()
        pairs = candidates.queries[rows], candidates.targets[rows, slots]
        won[rows, slots] = one_to_one_copies((ours, theirs), *pairs, won[rows, slots])
        return won

    def _won_rows(self, candidates: Candidates) -> Floats:
        """(n, k) how far each candidate wins, by Sinkhorn normalisation: taught weights compare the candidates of one query only."""
        shares = balance(candidates, self.iterations)
        share_rows(shares)
        return shares

    def _won(self, candidates: Candidates) -> Floats:
        """(n, k) how far each candidate wins among all one-to-one alignments; 1 where nothing else is plausible for either entity."""
        log_odds = self._log_odds(candidates, np.zeros(len(candidates), np.int64))
        there = candidates.targets[:, 0] >= 0
        no_match = _no_match_score(candidates.scores[there, 0].astype(np.float64), log_odds[there])
        scores = self.with_decisive(candidates.scores - no_match, candidates)
        marginals = matching_marginals(replace(candidates, scores=scores), 0.0, self.iterations)
        alone = np.exp(np.clip(scores, -FARTHEST, FARTHEST)).sum(axis=1, keepdims=True)
        return np.minimum(marginals * (1 + 1 / np.maximum(alone, 1e-30)), 1)

    def with_decisive(self, scores: Floats, candidates: Candidates) -> Floats:
        """(n, k) the scores, where those of pairs with decisive evidence are not below their log-odds: structure does not overrule them.

        Args:
            scores: (n, k) the scores of the candidates; that of no match is 0.
        """
        rows, slots = candidates.edges()
        sources, targets = candidates.queries[rows], candidates.targets[rows, slots]
        chosen = np.zeros(len(rows), bool)
        for kind in self.features.kinds:
            if kind.is_decisive and kind.name in self.features.found:
                chosen |= self.features.found[kind.name].compare(sources, targets) > DECISIVE
        rows, slots = rows[chosen], slots[chosen]
        values = self.features.values(sources[chosen], targets[chosen], candidates.scores[rows, slots])
        result = scores.astype(np.float64)
        result[rows, slots] = np.maximum(result[rows, slots], self.classifier.log_odds(values))
        return result

    def _log_odds(self, candidates: Candidates, slots: Ints) -> Floats:
        """(n,) the log-odds that the chosen candidate of each query is right, 0 where it has none."""
        rows = np.arange(len(candidates))
        targets, scores = candidates.targets[rows, slots], candidates.scores[rows, slots]
        there = targets >= 0
        log_odds = np.zeros(len(candidates))
        values = self.features.values(candidates.queries[there], targets[there], scores[there])
        log_odds[there] = self.classifier.log_odds(values)
        return log_odds


def _is_largest(ids: Ints, values: Floats) -> Ints:
    """(n,) whether each value is the largest of those with its id."""
    largest = np.full(int(ids.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(largest, ids, values)
    return values >= largest[ids]


def _no_match_score(scores: Floats, log_odds: Floats) -> float:
    """The score at which a pair is as probable as no match: that of the pairs whose log-odds are nearest to 0."""
    if not len(scores):
        return 0.0
    nearest = np.argsort(np.abs(log_odds), kind="stable")[: max(20, len(scores) // 20)]
    return float(np.median(scores[nearest] - log_odds[nearest]))
