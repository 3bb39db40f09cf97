"""The order in which a review asks: questions whose answer is worth most come first.

An answer is worth what it changes in the links: a wrong link goes, a missing one comes. It is worth more if it also moves other doubtful links:
those of neighbours, as far as relations determine an entity, and those that compete for the same target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # which imports its parts when they are first used
from numpy.typing import NDArray

from kgalign.data import Floats, Ints
from kgalign.errors import OptionError
from kgalign.features.relations import Edges
from kgalign.review.doubt import Answer, chance_of_yes, features_of
from kgalign.review.reviewed_run import ReviewedRun

ORDERS = VALUE, DOUBTFUL, RANDOM = "value", "doubtful", "random"
PLAUSIBLE = 0.5  # links above count as found
WRONG_GOES, RIGHT_COMES = 0.9, 1.1  # what F1 gains, in units: 2 together
MISSING = 0.5  # of the sources without a link whose best candidate is wrong, as many have another match as of wrong links
PRIOR_OTHER = 0.5, 2.5  # wrong pairs whose source has another match, and wrong pairs, that are counted beside the observed ones
NEIGHBOUR, RIVAL = 0.1, 0.3  # how far an answer moves a link that it determines, and one that wants the same target
FELT = 0.05  # how far an answer must move a link to be said to help to decide it
LEAST_WANTED = 0.02  # probability at which a source wants a target
MOST_RIVALS = 50  # of a target
ASKED_NEAR, LEAST_LEFT = 0.15, 0.3  # what a question loses if one was answered that moves it, and what it keeps


@dataclass(frozen=True, eq=False)
class Questions:
    """What can be asked of a run: each link, and each source without a link together with its best candidate.

    Attributes:
        sources: (n,)
        targets: (n,)
        probabilities: (n,)
        rounds: (n,) the round in which the link became confident.
        is_link: (n,) whether it is a link of the run.
        features: (n, features) see `kgalign.review.doubt`.
        moves: (n, n) how far an answer to one question moves another one.
    """

    sources: Ints
    targets: Ints
    probabilities: Floats
    rounds: Ints
    is_link: NDArray[np.bool_]
    features: Floats
    moves: scipy.sparse.csr_array

    def __len__(self) -> int:
        return len(self.sources)

    @classmethod
    def of(cls, run: ReviewedRun, edges: tuple[Edges, Edges]) -> Questions:
        lists, links = run.candidates, run.links
        begins = lists.starts[:-1]
        has = np.flatnonzero((np.diff(lists.starts) > 0) & np.isin(np.arange(len(begins)), run.task.queries))
        has = np.setdiff1d(has, links.sources)
        sources = np.concatenate([links.sources, has])
        targets = np.concatenate([links.targets, lists.targets[begins[has]]])
        probabilities = np.concatenate([links.scores, lists.probabilities[begins[has]]])
        rounds = np.concatenate([links.rounds, np.zeros(len(has), np.int64)])
        is_link = np.arange(len(sources)) < len(links)
        features = features_of(run, sources, targets, probabilities, is_link)
        return cls(sources, targets, probabilities, rounds, is_link, features, _moves(run, edges, sources, targets))

    def worth(self, answers: Sequence[Answer]) -> Floats:
        """(n,) what an answer to each question is worth, after some answers."""
        yes = chance_of_yes(self.features, answers)
        wrong = [each for each in answers if not each.right]
        other = (sum(each.has_other for each in wrong) + PRIOR_OTHER[0]) / (len(wrong) + PRIOR_OTHER[1])
        counts = self.is_link & (self.probabilities > PLAUSIBLE)
        own = np.where(counts, (1 - yes) * (WRONG_GOES + other * RIGHT_COMES), RIGHT_COMES * (yes + (1 - yes) * other * MISSING))
        found: Floats = own + self.moves @ own
        return found

    def left_of(self, place: int) -> tuple[Ints, Floats]:
        """The questions that an answer to one of them moves, and the share of their worth that is left after it."""
        own = slice(self.moves.indptr[place], self.moves.indptr[place + 1])
        strongest = max(NEIGHBOUR, RIVAL)
        return self.moves.indices[own], np.maximum(LEAST_LEFT, 1 - ASKED_NEAR * np.minimum(1, self.moves.data[own] / strongest))

    def decides(self, place: int) -> int:
        """How many other links an answer to a question moves by more than a little."""
        own = slice(self.moves.indptr[place], self.moves.indptr[place + 1])
        return int((self.moves.data[own] >= FELT).sum())


def check_order(order: str) -> None:
    """Refuses what is no order."""
    if order not in ORDERS:
        raise OptionError(f"order={order!r}: expected one of {', '.join(ORDERS)}")


def order_of(order: str, questions: Questions, answers: Sequence[Answer], random: np.random.Generator) -> Floats:
    """(n,) numbers that are highest for the questions that come first; equal ones are put in a random order.

    Args:
        order: `value`: what is worth most first. `doubtful`: what is nearest to a probability of 0.5 first. `random`: any order.
        questions: The questions.
        answers: The answers so far.
        random: Decides among equals.
    """
    shuffled = random.random(len(questions))
    if order == RANDOM:
        return shuffled
    doubt = np.minimum(questions.probabilities, 1 - questions.probabilities)
    return (questions.worth(answers) if order == VALUE else doubt) + 1e-9 * shuffled


def _moves(run: ReviewedRun, edges: tuple[Edges, Edges], sources: Ints, targets: Ints) -> scipy.sparse.csr_array:
    """(n, n) how far an answer to one question moves another one, see `Questions`."""
    count = len(sources)
    places, neighbours = [], []
    sides = [_determined(side) for side in edges]
    of_source = scipy.sparse.csr_array((np.ones(count), (np.arange(count), sources)), shape=(count, sides[0].shape[0]))
    near = scipy.sparse.coo_array(of_source @ sides[0] @ of_source.T)
    others = np.asarray(sides[1][targets[near.row], targets[near.col]]).ravel() if near.nnz else np.zeros(0)
    places.append(np.column_stack([near.row, near.col]))
    neighbours.append(NEIGHBOUR * np.sqrt(np.minimum(near.data, 1) * np.minimum(others, 1)))
    lists = run.candidates
    wanted = np.flatnonzero(lists.probabilities > LEAST_WANTED)
    order = wanted[np.lexsort((-lists.probabilities[wanted], lists.targets[wanted]))]
    ranked = lists.targets[order]
    order = order[np.arange(len(order)) - np.searchsorted(ranked, ranked) < MOST_RIVALS]
    shape = len(lists.starts) - 1, len(run.task.target.entities)
    want = scipy.sparse.csr_array((lists.probabilities[order], (lists.sources[order], lists.targets[order])), shape=shape)
    of_target = scipy.sparse.csr_array((np.ones(count), (targets, np.arange(count))), shape=(shape[1], count))
    rivals = scipy.sparse.coo_array((of_source @ want @ of_target).T)
    places.append(np.column_stack([rivals.row, rivals.col]))
    neighbours.append(RIVAL * rivals.data)
    rows, columns = np.concatenate(places).T
    amounts = np.where(rows == columns, 0, np.concatenate(neighbours))
    kept = amounts > 0
    return scipy.sparse.csr_array((amounts[kept], (rows[kept], columns[kept])), shape=(count, count))


def _determined(side: Edges) -> scipy.sparse.csr_array:
    """(n, n) how far each entity, at the end of a relation, determines another one at its beginning."""
    beginnings, relations, ends = side.triples.T
    size = side.adjacency.shape[0]
    return scipy.sparse.csr_array((side.inverse_functionality[relations], (ends, beginnings)), shape=(size, size))
