"""BootEA: translation with limits, in which pairs that look alike are labelled on the way and learnt from in their turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.nn import functional

from kgalign.decoding.assignment import assign
from kgalign.data import AlignmentTask, Floats, Ints, KnowledgeGraph
from kgalign.errors import OptionError, check_at_least
from kgalign.models import Options, Systems
from kgalign.models.embedding.frame import BLOCK, Network
from kgalign.models.embedding.translation import (
    Numbering,
    TranslationModel,
    TranslationNetwork,
    adagrad,
    are_known,
    step,
    swapped,
    translation_error,
    triple_keys,
    unit,
)


@dataclass(frozen=True)
class BootEA(TranslationModel):
    """Learns vectors in which triples hold within a limit and wrong triples beyond another, and labels the likeliest pairs as it goes.

    Sun et al., Bootstrapping Entity Alignment with Knowledge Graph Embedding (IJCAI 2018). Seeds tie the graphs together by triples in
    which one of the two stands for the other. Where the released code has an approximate matching, labels come from the exact one-to-one
    optimum; vectors are wider and near misses nearer than there. Without `bootstrap` it is AlignE of the same paper.

    The source of a known pair takes the vector of its target, and the neighbours of both are told so, see told_by_neighbours.

    right_limit         a triple's error is of no concern below it
    wrong_limit         nor is a wrong triple's above this
    wrong_weight        what a wrong triple counts for against a right one
    negatives           wrong triples for each right one
    near                wrong triples take an entity's place by one of this share of its graph, those nearest to it
    near_every          so many epochs pass before the nearest are looked for again
    bootstrap           whether pairs are labelled
    label_every         so many epochs pass before pairs are labelled again
    label_k             a label is among the nearest so many of its source
    label_threshold     labels are more similar than this
    neighbour_weight    what a seed that two entities both point to adds to their similarity when they are labelled
    """

    epochs: int = 500
    look_every: int = 10
    patience: int = 10
    size: int = 200
    learning_rate: float = 0.01
    right_limit: float = 0.01
    wrong_limit: float = 2.0
    wrong_weight: float = 0.2
    negatives: int = 10
    near: float = 0.02
    near_every: int = 5
    bootstrap: bool = True
    label_every: int = 10
    label_k: int = 20
    label_threshold: float = 0.7
    neighbour_weight: float = 0.1
    evidence_weight: float = 1.0

    name: ClassVar[str] = "bootea"
    systems: ClassVar[Systems] = {"AlignE": {"bootstrap": False}, "BootEA": {}}
    quick_options: ClassVar[Options] = {"size": 32, "batch": 2000, "epochs": 30, "negatives": 5, "learning_rate": 0.1}

    def __post_init__(self) -> None:
        super().__post_init__()
        whole = ("negatives", "near_every", "label_every", "label_k")
        weights = ("right_limit", "wrong_limit", "wrong_weight", "neighbour_weight")
        least = dict.fromkeys(whole, 1) | dict.fromkeys(weights, 0)
        check_at_least(**{name: (getattr(self, name), value) for name, value in least.items()})
        if not (0 < self.near <= 1 and self.label_threshold >= 0):
            raise OptionError(
                f"near={self.near}, label_threshold={self.label_threshold}: expected a share above 0 and a similarity of 0 or more"
            )

    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        return BootEANetwork(self, task, device)


class BootEANetwork(TranslationNetwork):
    """Tables of which nothing is shared."""

    labels: Tensor  # (n,) the target that each source entity is labelled with, -1: none
    triples: Tensor  # (t, 3) of both graphs, with those in which one of a seed stands for the other
    keys: Tensor  # (t,) the key of each, ascending

    def __init__(self, options: BootEA, task: AlignmentTask, device: torch.device) -> None:
        super().__init__(options, task, device, share=False)
        self.options, self.seeds = options, task.seeds
        self.queries = np.setdiff1d(task.queries, task.seeds.sources)
        self.pool = np.setdiff1d(task.pool, task.seeds.targets)
        self.register_buffer("labels", torch.full((len(task.source.entities),), -1))
        told = torch.tensor(np.concatenate([self.numbering.source_triples, self.numbering.target_triples]))
        triples = torch.cat([told, swapped(told, self._partners(task.seeds.sources, task.seeds.targets, torch.device("cpu")))])
        keys, once = np.unique(triple_keys(triples, self.numbering).numpy(), return_index=True)
        self.register_buffer("triples", triples[torch.from_numpy(once)], persistent=False)
        self.register_buffer("keys", torch.from_numpy(keys), persistent=False)
        self.near = NearRows(self.numbering, self.triples, options.near, device)
        self.shared_neighbours = shared_neighbours(task, self.queries, self.pool)
        self.to(device)
        # Each loss has its own memory of how large its gradients are.
        self.triple_steps, self.label_steps, self.likelihood_steps = (
            adagrad(self.parameters(), options.learning_rate) for _ in range(3)
        )

    def run_epoch(self, epoch: int) -> float:
        if epoch % self.options.near_every == 0:
            with torch.no_grad():
                self.near.refresh(unit(self.entities))
        loss = self._learn_triples()
        if self.options.bootstrap and len(self.queries) and len(self.pool):
            since = (epoch + 1) % self.options.label_every
            if since == 0:
                self._label()
            if since in (0, self.options.label_every // 2):
                self._learn_labels()
            if since == 0:
                self._raise_likelihood()
        return loss

    def _learn_triples(self) -> float:
        losses = []
        order = torch.randperm(len(self.triples), generator=self.generator, device=self.triples.device)
        for chosen in order.split(self.options.batch):
            right = self.triples[chosen]
            at_head, drawn = self.near.draw(right, self.options.negatives, self.generator)
            wrong = replaced(right, at_head, drawn)
            right_error, wrong_error = errors(unit(self.entities), unit(self.relations), right, at_head, drawn)
            allowed = ~are_known(triple_keys(wrong, self.numbering), self.keys)
            too_near = (self.options.wrong_limit - wrong_error).relu() * allowed
            loss = (right_error - self.options.right_limit).relu().sum() + self.options.wrong_weight * too_near.sum()
            losses.append(step(self.triple_steps, loss))
        return float(torch.stack(losses).sum()) / max(1, len(self.triples))

    def _label(self) -> None:
        """Labels pairs that are similar and fit together one to one; earlier labels stay where nothing better was found."""
        places = np.full(self.numbering.entities, -1)
        places[self.pool] = np.arange(len(self.pool))
        before = self.labels.cpu().numpy()[self.queries]
        held = np.where(before >= 0, places[before], -1)
        with torch.no_grad():
            source, target = self._rows(self.queries, self.pool)
            found = find_labels(
                source,
                target,
                self.shared_neighbours * np.float32(self.options.neighbour_weight),
                held,
                self.options.label_k,
                self.options.label_threshold,
            )
        labels = np.full(len(self.labels), -1)
        labels[self.queries] = np.where(found >= 0, self.pool[found], -1)
        self.labels.copy_(torch.from_numpy(labels))

    def _learn_labels(self) -> None:
        """Learns once that triples hold in which one of a labelled pair stands for the other."""
        sources, targets = self._labelled()
        if not len(sources):
            return
        new = swapped(self.triples, self._partners(sources, targets, self.triples.device))
        order = torch.randperm(len(new), generator=self.generator, device=new.device)
        for chosen in order.split(self.options.batch):
            error = translation_error(unit(self.entities), unit(self.relations), new[chosen])
            step(self.label_steps, functional.softplus(error).sum())

    def _raise_likelihood(self) -> None:
        sources, targets = self._labelled()
        pairs = np.concatenate([self.seeds.sources, sources]), np.concatenate([self.seeds.targets, targets])
        open_rows, pool_rows = self._rows(np.setdiff1d(self.queries, sources), self.pool)
        step(self.likelihood_steps, unlikelihood(*self._rows(*pairs), open_rows, pool_rows))

    def _labelled(self) -> tuple[Ints, Ints]:
        labels = self.labels.cpu().numpy()
        sources = np.flatnonzero(labels >= 0)
        return sources, labels[sources]

    def _rows(self, sources: Ints, targets: Ints) -> tuple[Tensor, Tensor]:
        """(n, d) and (m, d) unit vectors of source and target entities."""
        table = unit(self.entities)
        rows = self.numbering.source[sources], self.numbering.target[targets]
        left, right = (functional.embedding(torch.as_tensor(row, device=table.device), table) for row in rows)
        return left, right

    def _partners(self, sources: Ints, targets: Ints, device: torch.device) -> Tensor:
        """(entities,) the row of the other of its pair, for each row; -1: it has none."""
        partners = np.full(self.numbering.entities, -1)
        partners[self.numbering.source[sources]] = self.numbering.target[targets]
        partners[self.numbering.target[targets]] = self.numbering.source[sources]
        return torch.tensor(partners, device=device)


class NearRows:
    """For each row of the table the rows of its own graph that are nearest to it, to draw wrong entities from.

    An entity that stands for another one in a triple of the other graph has no neighbours there: anyone in that graph may take its place.
    """

    def __init__(self, numbering: Numbering, triples: Tensor, share: float, device: torch.device) -> None:
        self.rows = [torch.tensor(rows, device=device) for rows in (numbering.source, numbering.target)]
        self.count = min(*map(len, self.rows), int(share * len(self.rows[0])) + 1)  # the entity itself is among them
        is_target = torch.zeros(numbering.entities, dtype=torch.bool)
        is_target[numbering.target] = True
        of_target = torch.zeros(numbering.relations, dtype=torch.bool)
        of_target[numbering.target_triples[:, 1]] = True
        self.is_target, self.of_target = is_target.to(device), of_target.to(device)  # whose an entity is, and whose a relation
        within = of_target[triples[:, 1]]
        members = [triples[within == side][:, [0, 2]].unique() for side in (False, True)]
        self.members = torch.cat(members).to(device)
        self.starts = torch.tensor([0, len(members[0])], device=device)
        self.sizes = torch.tensor([len(rows) for rows in members], device=device)
        self.lists = torch.empty(0, 0, device=device)  # (entities, count) rows

    def refresh(self, table: Tensor) -> None:
        """Finds the nearest again, by inner product in the (entities, d) table; block by block."""
        self.lists = torch.empty(len(table), self.count, dtype=torch.int32, device=table.device)
        for rows in self.rows:
            candidates = table[rows]
            for block in rows.split(max(1, BLOCK // len(rows))):
                nearest = (table[block] @ candidates.T).topk(self.count, dim=1, sorted=False).indices
                self.lists[block] = rows[nearest].int()

    def draw(self, triples: Tensor, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """(b,) whether it is the head that is replaced, by a coin, and (b, count) the rows that take its place."""
        device = triples.device
        at_head = torch.rand(len(triples), generator=generator, device=device) < 0.5
        replaced = torch.where(at_head, triples[:, 0], triples[:, 2])  # (b,)
        side = self.of_target[triples[:, 1]].long()
        chance = torch.rand(len(triples), count, generator=generator, device=device)
        near = self.lists[replaced[:, None], (chance * self.count).long()].long()  # (b, count)
        anyone = self.members[self.starts[side, None] + (chance * self.sizes[side, None]).long()]
        return at_head, torch.where(self.is_target[replaced, None] == self.of_target[triples[:, 1], None], near, anyone)


def replaced(triples: Tensor, at_head: Tensor, drawn: Tensor) -> Tensor:
    """(b, k, 3) the (b, 3) triples with the (b, k) drawn rows in place of their head, where `at_head` says so, or else of their tail."""
    wrong = triples[:, None, :].repeat(1, drawn.shape[1], 1)
    wrong[..., 0] = torch.where(at_head[:, None], drawn, wrong[..., 0])
    wrong[..., 2] = torch.where(at_head[:, None], wrong[..., 2], drawn)
    return wrong


def errors(entities: Tensor, relations: Tensor, right: Tensor, at_head: Tensor, drawn: Tensor) -> tuple[Tensor, Tensor]:
    """(b,) the translation errors of the right triples, and (b, k) those with a drawn row in place of the head or the tail.

    What all wrong triples of a right one have in common is looked up once; that is most of the work. The tables have unit rows.
    """
    ends = functional.embedding(
        torch.cat([right[:, ::2], drawn], dim=1), entities
    )  # (b, 2 + k, d): one gradient of the table's size
    head, tail, offered = ends[:, 0], ends[:, 1], ends[:, 2:]
    relation = functional.embedding(right[:, 1], relations)  # (b, d)
    wanted = torch.where(at_head[:, None], tail - relation, head + relation)  # (b, d) where the drawn one would have to be
    products = (offered * wanted[:, None, :]).sum(-1)  # (b, k)
    return (head + relation - tail).square().sum(-1), 1 + wanted.square().sum(-1, keepdim=True) - 2 * products


def find_labels(source: Tensor, target: Tensor, bonus: sparse.csr_array, held: Ints, k: int, threshold: float) -> Ints:
    """(n,) position of the target that each source is labelled with, -1: none; no target twice.

    source, target  (n, d) and (m, d) unit vectors; their cosine is their similarity
    bonus           (n, m) what is added to it
    held            (n,) the labels so far
    """
    columns, similarities, held_similarity = [], [], []
    labelled = torch.as_tensor(held, device=source.device)
    for start in range(0, len(source), size := max(1, BLOCK // max(1, len(target)))):
        block = slice(start, start + size)
        similarity = source[block] @ target.T  # (b, m)
        extra = bonus[block].tocoo()
        at = torch.as_tensor(np.stack([extra.row, extra.col]).astype(np.int64), device=source.device)
        similarity[at[0], at[1]] += torch.as_tensor(extra.data, device=source.device)
        best = similarity.topk(min(k, len(target)), dim=1)
        columns.append(best.indices.cpu())
        similarities.append(best.values.cpu())
        held_similarity.append(similarity.gather(1, labelled[block, None].clamp(min=0))[:, 0].cpu())
    offers, values = torch.cat(columns).numpy(), torch.cat(similarities).numpy()  # (n, k)
    matched = match(offers, values, threshold, len(target))
    value = np.where(offers == matched[:, None], values, -np.inf).max(axis=1)
    return edit_labels(held, torch.cat(held_similarity).numpy(), matched, value)


def match(columns: Ints, values: Floats, threshold: float, column_count: int) -> Ints:
    """(n,) the columns that give the largest sum of values, one to one, of values above the threshold; -1: none."""
    rows, slots = np.nonzero(values > threshold)
    starts = np.searchsorted(rows, np.arange(len(columns) + 1))
    price = np.zeros(len(columns))
    return assign(starts, columns[rows, slots], -values[rows, slots].astype(np.float64), column_count, price).columns


def edit_labels(held: Ints, held_values: Floats, found: Ints, found_values: Floats) -> Ints:
    """(n,) the labels after an edit: a found label takes the place of one that is less similar; of sources with one label the best stays."""
    better = (found >= 0) & ((held < 0) | (found_values >= held_values))
    labels, values = np.where(better, found, held), np.where(better, found_values, held_values)
    order = np.lexsort((-values, labels))
    _, first = np.unique(labels[order], return_index=True)
    edited = np.full(len(labels), -1)
    edited[order[first]] = labels[order[first]]
    return edited


def unlikelihood(left: Tensor, right: Tensor, unlabelled: Tensor, pool: Tensor) -> Tensor:
    """Minus the log-likelihood of the alignment, in which the probability of a pair is the sigmoid of its inner product.

    left, right     (p, d) unit vectors of seeds and labelled pairs; each pair counts once
    unlabelled      (u, d) those of sources without a label, which are spread evenly over
    pool            (m, d)

    The even part has u x m terms -log sigmoid(x) = log 2 - x / 2 + x^2 / 8 - ..., whose sums over x and x^2 need only the sum and the
    moments of either side; what is left out is below x^4 / 192.
    """
    pairs = functional.softplus(-(left * right).sum(-1)).sum()
    products = unlabelled.sum(0) @ pool.sum(0)
    squares = ((unlabelled.T @ unlabelled) * (pool.T @ pool)).sum()
    even = len(unlabelled) * np.log(2) + (squares / 8 - products / 2) / max(1, len(pool))
    return pairs + even


def shared_neighbours(task: AlignmentTask, queries: Ints, pool: Ints) -> sparse.csr_array:
    """(n, m) how many seeds a query and a pool entry both point to."""
    source = _points_to(task.source, queries, task.seeds.sources)
    target = _points_to(task.target, pool, task.seeds.targets)
    return sparse.csr_array(source @ target.T)


def _points_to(graph: KnowledgeGraph, heads: Ints, tails: Ints) -> sparse.csr_array:
    """(n, s) 1 where the head has a triple with the tail."""
    pairs = np.unique(graph.triples[:, [0, 2]], axis=0)
    shape = len(graph.entities), len(graph.entities)
    return sparse.csr_array((np.ones(len(pairs), np.float32), tuple(pairs.T)), shape=shape)[heads][:, tails]
