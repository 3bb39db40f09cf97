"""IPTransE: seeds share their vector, relations are composed along paths, and likely pairs lend each other their triples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from kgalign.data import AlignmentTask, Floats, Ints
from kgalign.errors import OptionError, check_at_least
from kgalign.models import Options, Systems
from kgalign.models.embedding.frame import Network, nearest
from kgalign.models.embedding.translation import TranslationModel, TranslationNetwork, adagrad, step, unit

MOST_BRANCHES = 100  # a path with more ends says nothing of the relation between its first and its last entity
JOINED = 2**22  # rows of a join that are in memory at a time


@dataclass(frozen=True)
class IPTransE(TranslationModel):
    """Learns vectors in which head + relation is near tail, and first + second relation near the one that leads there directly.

    Zhu et al., Iterative Entity Alignment via Joint Knowledge Embeddings (IJCAI 2017): every so many epochs each query is compared with
    the pool, and two that are alike lend each other their triples until the next time, for as much as they are alike (soft alignment);
    each time the pairs are found anew. Here they must also be nearest to each other, which the paper does not ask. Seeds share their row,
    as do relations whose IRIs end in the same name.

    The source of a known pair takes the vector of its target, and the neighbours of both are told so, see told_by_neighbours.

    margin              how much further off than a triple, or a path, a wrong one should be
    negatives           wrong triples for each right one, the mean of which counts
    path_weight         what a path counts for against a triple; 0: no paths
    align_every         epochs between two looks for pairs that are alike
    alike               the cosine from which on a pair is alike; 1: none is
    """

    epochs: int = 300
    size: int = 150
    margin: float = 2.0
    negatives: int = 5
    path_weight: float = 0.1
    align_every: int = 10
    alike: float = 0.7
    learning_rate: float = 0.05

    name: ClassVar[str] = "iptranse"
    systems: ClassVar[Systems] = {"IPTransE": {}}
    quick_options: ClassVar[Options] = {"size": 32, "batch": 2000, "epochs": 60}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(negatives=(self.negatives, 1), align_every=(self.align_every, 1))
        check_at_least(margin=(self.margin, 0), path_weight=(self.path_weight, 0))
        if not 0 < self.alike <= 1:
            raise OptionError(f"alike={self.alike}: expected a cosine above 0, 1 at most")

    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        return IPTransENetwork(self, task, device)


class IPTransENetwork(TranslationNetwork):
    """Tables in which the two of a seed share a row, and so do relations of one name."""

    def __init__(self, options: IPTransE, task: AlignmentTask, device: torch.device) -> None:
        super().__init__(options, task, device, share=True)
        self.options = options
        paths = [find_paths(triples) for triples in (self.numbering.source_triples, self.numbering.target_triples)]
        self.asked = torch.tensor(self.numbering.source[task.queries], device=device)
        self.pool = torch.tensor(self.numbering.target[task.pool], device=device)
        self.paths = [torch.tensor(relations, device=device) for relations, _ in paths]  # (p, 3) each
        self.path_weights = [torch.tensor(1 / branches, dtype=torch.float32, device=device) for _, branches in paths]  # (p,) each
        self.path_relations = [triples[:, 1].unique() for triples in self.sides]
        nothing = [triples[:0] for triples in self.sides]
        self.lent = nothing, [self.path_weights[0][:0]] * 2  # triples of either graph, and their weights
        self.to(device)
        self.optimizer = adagrad(self.parameters(), options.learning_rate)
        self.lent_optimizer = adagrad(self.parameters(), options.learning_rate)

    def run_epoch(self, epoch: int) -> float:
        losses = []
        batches = self.batches()
        for sides in batches:
            loss = self.apart(sides, self.options.margin, self.options.negatives).sum()
            if self.options.path_weight:
                loss = loss + self.options.path_weight * self._path_loss(unit(self.relations), len(batches))
            losses.append(step(self.optimizer, loss))
        if (epoch + 1) % self.options.align_every == 0 and self.options.alike < 1 and len(self.asked) and len(self.pool):
            self.lent = self._lend()
        self._learn_lent_triples()
        return self.mean(losses)

    def _path_loss(self, relations: Tensor, steps: int) -> Tensor:
        """The same of a share of the paths, drawn at random, with wrong relations in place of the direct one; few branches count more."""
        loss = relations.new_zeros(())
        for paths, weights, offered in zip(self.paths, self.path_weights, self.path_relations, strict=True):
            if not len(paths):
                continue
            drawn = self._random(len(paths), -(-len(paths) // steps))
            wrong = offered[self._random(len(offered), len(drawn))]
            rows = torch.cat([paths[drawn], wrong[:, None]], dim=1)
            first, second, direct, other = functional.embedding(rows, relations).unbind(1)
            along = first + second
            errors = (along - direct).square().sum(1) - (along - other).square().sum(1)
            loss = loss + (weights[drawn] * (self.options.margin + errors).relu()).sum()
        return loss

    def _learn_lent_triples(self) -> None:
        """One pass over the triples that pairs which are alike lend each other."""
        sides, weights = self.lent
        steps = -(-sum(map(len, sides)) // self.options.batch)
        order = [self._random_order(len(side)) for side in sides]
        for chosen in zip(*(rows.tensor_split(steps) for rows in order if steps), strict=True):
            batch = [side[rows] for side, rows in zip(sides, chosen, strict=True)]
            sure = torch.cat([weight[rows] for weight, rows in zip(weights, chosen, strict=True)])
            losses = self.apart(batch, self.options.margin, self.options.negatives)
            step(self.lent_optimizer, (sure * losses).sum())

    def _lend(self) -> tuple[list[Tensor], list[Tensor]]:
        """(t, 3) triples of either graph in which one end is replaced by an entity of the other that is alike, and (t,) how alike."""
        with torch.no_grad():
            entities = unit(self.entities)
        left, right = entities[self.asked], entities[self.pool]
        best, back = (
            torch.as_tensor(nearest(*sides, 1, "cosine")[0][:, 0], device=left.device) for sides in ((left, right), (right, left))
        )
        mutual = torch.arange(len(best), device=best.device) == back[best]
        source, target = self.asked[mutual], self.pool[best[mutual]]
        cosine = (entities[source] * entities[target]).sum(1)
        kept = cosine > self.options.alike
        source, target, cosine = source[kept], target[kept], cosine[kept]
        lent = []
        for own, other, triples in ((source, target, self.sides[0]), (target, source, self.sides[1])):
            partner = torch.full_like(entities[:, 0], -1, dtype=torch.long).index_copy(0, own, other)
            sure = torch.zeros_like(entities[:, 0]).index_copy(0, own, cosine)
            lent.append(replaced(triples, partner, sure))
        return [triples for triples, _ in lent], [weights for _, weights in lent]

    def _random(self, below: int, count: int) -> Tensor:
        return torch.randint(below, (count,), generator=self.generator, device=self.generator.device)

    def _random_order(self, count: int) -> Tensor:
        return torch.randperm(count, generator=self.generator, device=self.generator.device)


def replaced(triples: Tensor, partner: Tensor, sure: Tensor) -> tuple[Tensor, Tensor]:
    """The triples of entities that have a partner, with the partner at one end, and how sure it is of each.

    triples             (t, 3) rows
    partner, sure       (entities,) the row that may stand for it, -1: none, and its weight
    """
    found, weights = [], []
    for end in (0, 2):
        own = triples[partner[triples[:, end]] >= 0]
        lent = own.clone()
        lent[:, end] = partner[own[:, end]]
        found.append(lent)
        weights.append(sure[own[:, end]])
    return torch.cat(found), torch.cat(weights)


def find_paths(triples: Ints, most: float = MOST_BRANCHES) -> tuple[Ints, Floats]:
    """(p, 3) first, second and direct relation of each path of two triples beside a direct one, and (p,) its branches.

    The branches of a path are the tails of its first entity and relation times those of the second; those with more than `most` are
    left out.
    """
    if not len(triples):
        return np.empty((0, 3), np.int64), np.empty(0)
    triples = np.unique(triples, axis=0)  # by head
    head, relation, tail = triples.T
    _, same, tails = np.unique(head * (relation.max() + 1) + relation, return_inverse=True, return_counts=True)
    width = int(triples.max()) + 1
    by_ends = np.argsort(head * width + tail, kind="stable")
    ends = (head * width + tail)[by_ends]
    outgoing = np.searchsorted(head, head, "right") - np.searchsorted(head, head)
    begins = np.searchsorted(head, head)
    found = []
    for part in np.array_split(np.arange(len(triples)), max(1, int(outgoing.sum()) // JOINED)):
        direct, first = _expand(part, begins[part], outgoing[part])  # all triples that leave the same head
        wanted = tail[first] * width + tail[direct]
        low, high = np.searchsorted(ends, wanted), np.searchsorted(ends, wanted, "right")
        pair, second = _expand(np.arange(len(wanted)), low, high - low)
        direct, first, second = direct[pair], first[pair], by_ends[second]
        branches = tails[same[first]] * tails[same[second]]
        kept = branches <= most
        found.append(np.column_stack([relation[first], relation[second], relation[direct], branches])[kept])
    paths = np.concatenate(found)
    return paths[:, :3], paths[:, 3].astype(np.float64)


def _expand(items: Ints, begins: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Each item as often as its count, and beside it the positions from where it begins."""
    repeated = np.repeat(np.arange(len(items)), counts)
    offset = np.arange(len(repeated)) - np.repeat(np.cumsum(counts) - counts, counts)
    return items[repeated], begins[repeated] + offset
