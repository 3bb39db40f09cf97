"""BootEA: translation with limits; similar pairs are labelled in training, and learnt from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from kgalign.data import AlignmentTask, Ints
from kgalign.errors import OptionError, check_at_least
from kgalign.features.constraints import allowed
from kgalign.models.embedding.labelling import find_labels, shared_neighbours, unlikelihood
from kgalign.models.embedding.network import Network
from kgalign.models.embedding.numbering import Numbering
from kgalign.models.embedding.translation import (
    TranslationModel,
    TranslationNetwork,
    adagrad,
    are_known,
    step,
    swapped,
    translation_error,
    triple_keys,
    unit,
    with_one_end,
)
from kgalign.seams import Capabilities
from kgalign.search.dense import dense_blocks, similarities


@dataclass(frozen=True)
class BootEA(TranslationModel):
    """Learns vectors in which the errors of triples are below a limit and those of wrong triples above another. In training it labels
    the most probable pairs and learns from them.

    Sun et al., Bootstrapping Entity Alignment with Knowledge Graph Embedding (IJCAI 2018). Seeds join the graphs by triples in which one
    entity of a seed replaces the other. Labels come from the exact one-to-one optimum, where the released code has an approximation; vectors
    are wider and wrong entities more similar than there. Without `bootstrap` it is AlignE of the same paper.

    The source of a known link takes the vector of its target, and the neighbours of both move, see `with_neighbour_evidence`.

    Attributes:
        right_limit: The error below which a triple has no loss.
        wrong_limit: The error above which a wrong triple has no loss.
        wrong_weight: The weight of a wrong triple against a right one.
        negatives: Wrong triples for each right one.
        near: In wrong triples, one of the most similar entities of the same graph replaces an entity: this share of the graph.
        near_every: Epochs between two searches for the most similar entities.
        bootstrap: Whether pairs are labelled.
        label_every: Epochs between two labellings.
        label_k: A label is among this many most similar targets.
        label_threshold: Labels are more similar than this.
        neighbour_weight: How much each seed that two entities both point to adds to their similarity in a labelling.
    """

    epochs: int = 500
    evaluate_every: int = 10
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

    @property
    def capabilities(self) -> Capabilities:
        systems = {"AlignE": {"bootstrap": False}, "BootEA": {}}
        quick = {"size": 32, "batch": 2000, "epochs": 30, "negatives": 5, "learning_rate": 0.1}
        return replace(super().capabilities, systems=systems, quick_options=quick)

    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        return BootEANetwork(self, task, device)


class BootEANetwork(TranslationNetwork):
    """Tables in which no rows are shared.

    Attributes:
        labels: (n,) the target that each source entity is labelled with, -1: none.
        triples: (t, 3) the triples of both graphs, and those in which one entity of a seed replaces the other.
        keys: (t,) the key of each triple, ascending.
    """

    labels: Tensor
    triples: Tensor
    keys: Tensor

    def __init__(self, options: BootEA, task: AlignmentTask, device: torch.device) -> None:
        super().__init__(options, task, device, share=False)
        self.options, self.seeds = options, task.seeds
        self.queries = np.setdiff1d(task.queries, task.seeds.sources)
        self.pool = np.setdiff1d(task.pool, task.seeds.targets)
        self.register_buffer("labels", torch.full((len(task.source.entities),), -1))
        given = torch.tensor(np.concatenate([self.numbering.source_triples, self.numbering.target_triples]))
        matches = self._matches(task.seeds.sources, task.seeds.targets, torch.device("cpu"))
        triples = torch.cat([given, swapped(given, matches)[0]])
        keys, once = np.unique(triple_keys(triples, self.numbering).numpy(), return_index=True)
        self.register_buffer("triples", triples[torch.from_numpy(once)], persistent=False)
        self.register_buffer("keys", torch.from_numpy(keys), persistent=False)
        self.near = NearRows(self.numbering, self.triples, options.near, device)
        self.shared_neighbours = shared_neighbours(task, self.queries, self.pool)
        self.to(device)
        # Each loss has an optimiser of its own, since the optimiser adds up squared gradients.
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
            wrong = with_one_end(right, drawn, at_head[:, None])
            right_error, wrong_error = errors(unit(self.entities), unit(self.relations), right, at_head, drawn)
            allowed = ~are_known(triple_keys(wrong, self.numbering), self.keys)
            too_near = (self.options.wrong_limit - wrong_error).relu() * allowed
            loss = (right_error - self.options.right_limit).relu().sum() + self.options.wrong_weight * too_near.sum()
            losses.append(step(self.triple_steps, loss))
        return float(torch.stack(losses).sum()) / max(1, len(self.triples))

    def _label(self) -> None:
        """Labels similar pairs, one to one; an earlier label stays where no better one is found."""
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
        found = np.where(allowed(self.task, self.queries, self.pool[found]), found, -1)
        labels = np.full(len(self.labels), -1)
        labels[self.queries] = np.where(found >= 0, self.pool[found], -1)
        self.labels.copy_(torch.from_numpy(labels))

    def _learn_labels(self) -> None:
        """Takes one pass over the triples in which one entity of a labelled pair replaces the other."""
        sources, targets = self._labelled()
        if not len(sources):
            return
        new, _ = swapped(self.triples, self._matches(sources, targets, self.triples.device))
        order = torch.randperm(len(new), generator=self.generator, device=new.device)
        for chosen in order.split(self.options.batch):
            error = translation_error(unit(self.entities), unit(self.relations), new[chosen])
            step(self.label_steps, functional.softplus(error).sum())

    def _raise_likelihood(self) -> None:
        """Takes one step towards a higher likelihood of the seeds and the labels."""
        sources, targets = self._labelled()
        pairs = np.concatenate([self.seeds.sources, sources]), np.concatenate([self.seeds.targets, targets])
        open_rows, pool_rows = self._rows(np.setdiff1d(self.queries, sources), self.pool)
        step(self.likelihood_steps, unlikelihood(*self._rows(*pairs), open_rows, pool_rows))

    def _labelled(self) -> tuple[Ints, Ints]:
        """(p,) the sources with a label, and (p,) their labels."""
        labels = self.labels.cpu().numpy()
        sources = np.flatnonzero(labels >= 0)
        return sources, labels[sources]

    def _rows(self, sources: Ints, targets: Ints) -> tuple[Tensor, Tensor]:
        """(n, d) and (m, d) unit vectors of source and target entities."""
        table = unit(self.entities)
        rows = self.numbering.source[sources], self.numbering.target[targets]
        left, right = (functional.embedding(torch.as_tensor(row, device=table.device), table) for row in rows)
        return left, right

    def _matches(self, sources: Ints, targets: Ints, device: torch.device) -> Tensor:
        """(entities,) the row of the other entity of its pair, for each row; -1: it is in no pair."""
        matches = np.full(self.numbering.entities, -1)
        matches[self.numbering.source[sources]] = self.numbering.target[targets]
        matches[self.numbering.target[targets]] = self.numbering.source[sources]
        return torch.tensor(matches, device=device)


class NearRows:
    """The most similar rows of the same graph for each row of the table, to draw wrong entities from.

    An entity that replaces another one in a triple of the other graph has no similar rows there: any entity of that graph may replace it.

    Attributes:
        rows: The rows of either graph.
        count: How many similar rows each row has, itself included.
        is_target: (entities,) whether each entity is one of the target.
        of_target: (relations,) whether each relation is one of the target.
        members: The entities in the triples of the source, then those in the triples of the target.
        starts: Where the entities of either graph start in `members`.
        sizes: How many there are of either graph.
        lists: (entities, count) the similar rows of each row.
    """

    def __init__(self, numbering: Numbering, triples: Tensor, share: float, device: torch.device) -> None:
        self.rows = [torch.tensor(rows, device=device) for rows in (numbering.source, numbering.target)]
        self.count = min(*map(len, self.rows), int(share * len(self.rows[0])) + 1)
        is_target = torch.zeros(numbering.entities, dtype=torch.bool)
        is_target[numbering.target] = True
        of_target = torch.zeros(numbering.relations, dtype=torch.bool)
        of_target[numbering.target_triples[:, 1]] = True
        self.is_target, self.of_target = is_target.to(device), of_target.to(device)
        within = of_target[triples[:, 1]]
        members = [triples[within == side][:, [0, 2]].unique() for side in (False, True)]
        self.members = torch.cat(members).to(device)
        self.starts = torch.tensor([0, len(members[0])], device=device)
        self.sizes = torch.tensor([len(rows) for rows in members], device=device)
        self.lists = torch.empty(0, 0, device=device)

    def refresh(self, table: Tensor) -> None:
        """Searches the most similar rows again, by the inner product in the (entities, d) table."""
        self.lists = torch.empty(len(table), self.count, dtype=torch.int32, device=table.device)
        for rows in self.rows:
            own = table[rows]
            for block in dense_blocks(own, own):
                nearest = similarities(block, own, own).topk(self.count, dim=1, sorted=False).indices
                self.lists[rows[block]] = rows[nearest].int()

    def draw(self, triples: Tensor, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """(b,) whether the head is replaced, at random, or else the tail, and (b, count) the rows that replace it."""
        device = triples.device
        at_head = torch.rand(len(triples), generator=generator, device=device) < 0.5
        replaced = torch.where(at_head, triples[:, 0], triples[:, 2])  # (b,)
        side = self.of_target[triples[:, 1]].long()
        chance = torch.rand(len(triples), count, generator=generator, device=device)
        near = self.lists[replaced[:, None], (chance * self.count).long()].long()  # (b, count)
        anyone = self.members[self.starts[side, None] + (chance * self.sizes[side, None]).long()]
        return at_head, torch.where(self.is_target[replaced, None] == self.of_target[triples[:, 1], None], near, anyone)


def errors(entities: Tensor, relations: Tensor, right: Tensor, at_head: Tensor, drawn: Tensor) -> tuple[Tensor, Tensor]:
    """(b,) the translation errors of the right triples, and (b, k) those with a drawn row in place of the head or the tail.

    All wrong triples of a right one share two of its vectors, which are looked up once; that is most of the work.

    Args:
        entities: The table of entities, with unit rows.
        relations: The table of relations, with unit rows.
        right: (b, 3) triples.
        at_head: (b,) whether the drawn rows replace the head.
        drawn: (b, k) rows.
    """
    # (b, 2 + k, d) in one look-up: one gradient of the size of the table
    ends = functional.embedding(torch.cat([right[:, ::2], drawn], dim=1), entities)
    head, tail, others = ends[:, 0], ends[:, 1], ends[:, 2:]
    relation = functional.embedding(right[:, 1], relations)  # (b, d)
    ideal = torch.where(at_head[:, None], tail - relation, head + relation)  # (b, d) the position without any error
    products = (others * ideal[:, None, :]).sum(-1)  # (b, k)
    return (head + relation - tail).square().sum(-1), 1 + ideal.square().sum(-1, keepdim=True) - 2 * products
