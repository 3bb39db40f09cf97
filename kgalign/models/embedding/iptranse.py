"""IPTransE: seeds share their vector, relations are composed along paths, and similar entities exchange their triples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from kgalign.data import AlignmentTask, Floats, Ints
from kgalign.errors import OptionError, check_at_least
from kgalign.features.constraints import allowed
from kgalign.models.embedding.network import Network
from kgalign.models.embedding.translation import TranslationModel, TranslationNetwork, adagrad, step, swapped, unit
from kgalign.seams import Capabilities
from kgalign.search import top_k

MOST_BRANCHES = 100  # a path with more ends says nothing about the relation between its first and its last entity
JOINED = 2**22  # rows of a join that are in memory at a time


@dataclass(frozen=True)
class IPTransE(TranslationModel):
    """Learns vectors in which head + relation is near tail, and the sum of the relations along a path is near the relation that leads
    there directly. Similar entities of the two graphs replace each other in their triples.

    Zhu et al., Iterative Entity Alignment via Joint Knowledge Embeddings (IJCAI 2017), with its soft alignment: every few epochs each query
    is compared with the pool, and a similar pair exchanges its triples until the next time, weighted by the similarity. Unlike in the paper,
    each of the two must be the nearest of the other. The two entities of a seed share their row, and so do relations whose IRIs end in the
    same name.

    The source of a known link takes the vector of its target, and the neighbours of both move, see `with_neighbour_evidence`.

    Attributes:
        margin: By how much a wrong triple, or a wrong path, should have the larger error.
        negatives: Wrong triples for each right one; the mean over them counts.
        path_weight: The weight of a path against a triple; 0: no paths.
        align_every: Epochs between two searches for similar pairs.
        alike: The cosine above which a pair is similar; 1: none is.
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

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(negatives=(self.negatives, 1), align_every=(self.align_every, 1))
        check_at_least(margin=(self.margin, 0), path_weight=(self.path_weight, 0))
        if not 0 < self.alike <= 1:
            raise OptionError(f"alike={self.alike}: expected a cosine above 0, 1 at most")

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, systems={"IPTransE": {}}, quick_options={"size": 32, "batch": 2000, "epochs": 60})

    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        return IPTransENetwork(self, task, device)


class IPTransENetwork(TranslationNetwork):
    """Tables in which the two entities of a seed share a row, and so do relations of the same name.

    Attributes:
        queries: (q,) the rows of the queries.
        pool: (p,) the rows of the pool.
        paths: (p, 3) for either graph, see `find_paths`.
        path_weights: (p,) for either graph; a path with many branches counts for less.
        path_relations: The relations of either graph.
        exchanged: (t, 3) triples of either graph in which a similar entity replaces one end, and (t,) their weights.
    """

    def __init__(self, options: IPTransE, task: AlignmentTask, device: torch.device) -> None:
        super().__init__(options, task, device, share=True)
        self.options = options
        paths = [find_paths(triples) for triples in (self.numbering.source_triples, self.numbering.target_triples)]
        self.queries = torch.tensor(self.numbering.source[task.queries], device=device)
        self.pool = torch.tensor(self.numbering.target[task.pool], device=device)
        self.paths = [torch.tensor(relations, device=device) for relations, _ in paths]
        self.path_weights = [torch.tensor(1 / branches, dtype=torch.float32, device=device) for _, branches in paths]
        self.path_relations = [triples[:, 1].unique() for triples in self.sides]
        self.exchanged = [(triples[:0], self.path_weights[0][:0]) for triples in self.sides]
        self.to(device)
        self.optimizer = adagrad(self.parameters(), options.learning_rate)
        self.exchange_optimizer = adagrad(self.parameters(), options.learning_rate)

    def run_epoch(self, epoch: int) -> float:
        losses = []
        batches = self.batches()
        for sides in batches:
            loss = self.triple_losses(sides, self.options.margin, self.options.negatives).sum()
            if self.options.path_weight:
                loss = loss + self.options.path_weight * self._path_loss(unit(self.relations), len(batches))
            losses.append(step(self.optimizer, loss))
        if (epoch + 1) % self.options.align_every == 0 and self.options.alike < 1 and len(self.queries) and len(self.pool):
            self.exchanged = self.exchange()
        self._learn_exchanged()
        return self.mean(losses)

    def exchange(self) -> list[tuple[Tensor, Tensor]]:
        """For either graph (t, 3) triples in which a similar entity of the other graph replaces one end, and (t,) how similar it is."""
        with torch.no_grad():
            entities = unit(self.entities)
        left, right = entities[self.queries], entities[self.pool]
        best, back = (
            torch.as_tensor(top_k(*sides, 1, metric="cosine")[0][:, 0], device=left.device)
            for sides in ((left, right), (right, left))
        )
        mutual = torch.arange(len(best), device=best.device) == back[best]
        mutual &= torch.as_tensor(allowed(self.task, self.task.queries, self.task.pool[best.cpu().numpy()]), device=best.device)
        source, target = self.queries[mutual], self.pool[best[mutual]]
        cosine = (entities[source] * entities[target]).sum(1)
        kept = cosine > self.options.alike
        source, target, cosine = source[kept], target[kept], cosine[kept]
        exchanged = []
        for own, other, triples in ((source, target, self.sides[0]), (target, source, self.sides[1])):
            matches = torch.full_like(entities[:, 0], -1, dtype=torch.long).index_copy(0, own, other)
            weights = torch.zeros_like(entities[:, 0]).index_copy(0, own, cosine)
            new, old = swapped(triples, matches)
            exchanged.append((new, weights[old]))
        return exchanged

    def _path_loss(self, relations: Tensor, steps: int) -> Tensor:
        """The loss of a random share of the paths, against wrong relations in place of the direct one."""
        loss = relations.new_zeros(())
        for paths, weights, own in zip(self.paths, self.path_weights, self.path_relations, strict=True):
            if not len(paths):
                continue
            drawn = self._random(len(paths), -(-len(paths) // steps))
            wrong = own[self._random(len(own), len(drawn))]
            rows = torch.cat([paths[drawn], wrong[:, None]], dim=1)
            first, second, direct, other = functional.embedding(rows, relations).unbind(1)
            along = first + second
            errors = (along - direct).square().sum(1) - (along - other).square().sum(1)
            loss = loss + (weights[drawn] * (self.options.margin + errors).relu()).sum()
        return loss

    def _learn_exchanged(self) -> None:
        """Takes one pass over the triples that similar entities exchange."""
        steps = -(-sum(len(triples) for triples, _ in self.exchanged) // self.options.batch)
        order = [self._random_order(len(triples)) for triples, _ in self.exchanged]
        for chosen in zip(*(rows.tensor_split(steps) for rows in order if steps), strict=True):
            batch = [triples[rows] for (triples, _), rows in zip(self.exchanged, chosen, strict=True)]
            weights = torch.cat([weights[rows] for (_, weights), rows in zip(self.exchanged, chosen, strict=True)])
            losses = self.triple_losses(batch, self.options.margin, self.options.negatives)
            step(self.exchange_optimizer, (weights * losses).sum())

    def _random(self, below: int, count: int) -> Tensor:
        return torch.randint(below, (count,), generator=self.generator, device=self.generator.device)

    def _random_order(self, count: int) -> Tensor:
        return torch.randperm(count, generator=self.generator, device=self.generator.device)


def find_paths(triples: Ints, most: float = MOST_BRANCHES) -> tuple[Ints, Floats]:
    """(p, 3) the first, the second and the direct relation of each path of two triples beside a direct triple, and (p,) its branches.

    The branches of a path are the number of tails of its first entity and relation times that of the second. Paths with more than `most`
    branches are left out.
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
        direct, first = _expand(part, begins[part], outgoing[part])  # all triples of the same head
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
    """Each item as often as its count, and beside it the positions that follow its beginning."""
    repeated = np.repeat(np.arange(len(items)), counts)
    offset = np.arange(len(repeated)) - np.repeat(np.cumsum(counts) - counts, counts)
    return items[repeated], begins[repeated] + offset
