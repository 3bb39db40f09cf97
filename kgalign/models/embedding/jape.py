"""JAPE: translation with shared seeds, in which entities with similar attributes and neighbours are pulled together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from scipy import sparse
from scipy.sparse.linalg import svds
from torch import Tensor
from torch.nn import functional

from kgalign.data import Alignment, AlignmentTask, Floats, Ints, KnowledgeGraph
from kgalign.errors import check_at_least
from kgalign.iri import local_name
from kgalign.models.embedding.layers import SparseMatrix
from kgalign.models.embedding.network import Network
from kgalign.models.embedding.translation import TranslationModel, TranslationNetwork, adagrad, paired_batches, step, unit
from kgalign.seams import Capabilities
from kgalign.search import top_k

SEED_PAIRS = 10  # the weight of a pair of attributes across the two entities of a seed, against one within an entity
BOOST = 100.0  # the similarity of a pair is multiplied by this for each seed that points to both, and once more


@dataclass(frozen=True)
class JAPE(TranslationModel):
    """Learns vectors in which head + relation is near tail. Every second epoch pulls each entity towards entities with similar attributes.

    Sun et al., Cross-lingual Entity Alignment via Joint Attribute-Preserving Embedding (ISWC 2017). The two entities of a seed have one
    vector, and so have relations of the same name. Attributes that occur together have similar vectors, and an entity has the mean of its
    attributes. Entities that a seed points to in the two graphs are similar, all the more if their attributes agree; without attributes,
    no other entities are. The authors push wrong triples away without a limit; here a margin is enough.

    The source of a known link takes the vector of its target, and the neighbours of both move, see `with_neighbour_evidence`.

    Attributes:
        margin: By how much a wrong triple should have the larger error.
        negatives: Wrong triples for each right one; the mean over them counts.
        attribute_size: The width of the vectors of attributes.
        similar: The least cosine of the attributes of similar entities within a graph.
        similar_across: The least cosine of the attributes of similar entities of the two graphs.
        similar_k: How many similar entities each entity has at most.
        similar_weight: The weight of similar entities across the graphs, against a triple.
        within_weight: The weight of those within a graph, against those across.
    """

    epochs: int = 300
    size: int = 150
    batch: int = 10000
    learning_rate: float = 0.05
    margin: float = 2.0
    negatives: int = 10
    attribute_size: int = 100
    similar: float = 0.95
    similar_across: float = 0.9
    similar_k: int = 100
    similar_weight: float = 0.05
    within_weight: float = 0.05
    evidence_weight: float = 1.0

    name: ClassVar[str] = "jape"

    def __post_init__(self) -> None:
        super().__post_init__()
        least = dict.fromkeys(("negatives", "attribute_size", "similar_k"), 1)
        least |= dict.fromkeys(("margin", "similar", "similar_across", "similar_weight", "within_weight"), 0)
        check_at_least(**{name: (getattr(self, name), value) for name, value in least.items()})

    @property
    def capabilities(self) -> Capabilities:
        quick = {"size": 64, "batch": 1000, "epochs": 60, "learning_rate": 0.1}
        return replace(super().capabilities, systems={"JAPE": {}}, quick_options=quick)

    def build(self, task: AlignmentTask, device: torch.device) -> Network:
        return JAPENetwork(self, task, device)


class JAPENetwork(TranslationNetwork):
    """Tables in which the two entities of a seed share a row, and so do relations of the same name.

    Attributes:
        similar: Similar entities across the graphs, within the source and within the target; computed when they are first needed.
    """

    def __init__(self, options: JAPE, task: AlignmentTask, device: torch.device) -> None:
        super().__init__(options, task, device, share=True)
        self.options = options
        self.similar: list[SparseMatrix] = []
        self.to(device)
        # Each loss has an optimiser of its own, since the optimiser adds up squared gradients.
        self.triple_steps, self.similar_steps = (adagrad(self.parameters(), options.learning_rate) for _ in range(2))

    def run_epoch(self, epoch: int) -> float:
        return self._learn_similar() if epoch % 2 else self._learn_triples()

    def _learn_triples(self) -> float:
        options = self.options
        return self.mean(
            [
                step(self.triple_steps, self.triple_losses(sides, options.margin, options.negatives).sum())
                for sides in paired_batches(self.sides[0], self.sides[1], options.batch, self.generator)
            ]
        )

    def _learn_similar(self) -> float:
        if not self.similar:
            self.similar = [SparseMatrix.of(matrix, self.entities.device) for matrix in self._find_similar()]
        across, within_source, within_target = self.similar
        table = unit(self.entities)
        source, target = (functional.embedding(rows, table) for rows in self.rows)
        within = _distance(source, within_source, source) + _distance(target, within_target, target)
        loss = self.options.similar_weight * (_distance(source, across, target) + self.options.within_weight * within)
        return float(step(self.similar_steps, loss)) / max(1, len(table))

    def _find_similar(self) -> tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array]:
        options, device = self.options, self.entities.device
        has = attribute_sets(self.task.source, self.task.target)
        vectors = attribute_vectors(attribute_pairs(*has, self.task.seeds), options.attribute_size)
        learnt = torch.tensor(vectors, device=device)
        source, target = (mean_attributes(sets, learnt) for sets in has)
        within = [similar_pairs(side, side, options.similar, options.similar_k) for side in (source, target)]
        across = similar_pairs(source, target, options.similar_across, options.similar_k)
        boosted = boost(across, source, target, meetings(self.task), self.task.seeds)
        return _shares(boosted), _shares(within[0]), _shares(within[1])


def attribute_sets(source: KnowledgeGraph, target: KnowledgeGraph) -> tuple[sparse.csr_array, sparse.csr_array]:
    """(n, a) and (m, a) 1 where an entity has an attribute, for the informative attributes, the most frequent first.

    Attributes are the same if their IRIs end in the same name. The most frequent 5 % are left out, and so are attributes that fewer than
    five entities have, and all attributes of an entity that has only one.
    """
    numbers: dict[str, int] = {}
    sides = []
    for graph in (source, target):
        names = [local_name(iri) for iri in graph.attributes.properties]
        ids = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
        facts = graph.attributes.facts
        sides.append(np.unique(np.column_stack([facts[:, 0], ids[facts[:, 1]]]), axis=0))
    often = np.bincount(np.concatenate([sides[0][:, 1], sides[1][:, 1]]), minlength=len(numbers))
    order = np.argsort(-often, kind="stable")
    kept = int(0.95 * len(order))
    order = order[len(order) - kept : kept]
    order = order[often[order] >= 5]
    matrices = []
    for graph, facts in zip((source, target), sides, strict=True):
        shape = len(graph.entities), len(numbers)
        has = sparse.csr_array((np.ones(len(facts), np.float32), tuple(facts.T)), shape=shape)[:, order]
        enough = (np.diff(has.indptr) >= 2).astype(np.float32)
        matrices.append(sparse.csr_array(sparse.diags_array(enough) @ has))
        matrices[-1].eliminate_zeros()
    return matrices[0], matrices[1]


def attribute_pairs(source: sparse.csr_array, target: sparse.csr_array, seeds: Alignment) -> sparse.csr_array:
    """(a, a) how often two attributes occur together: within an entity, or across the two entities of a seed, which counts for more."""
    together = (source.T @ source + target.T @ target) / 2  # each pair occurs in both orders, and counts once
    across = source[seeds.sources].T @ target[seeds.targets]
    pairs = (together + SEED_PAIRS * (across + across.T)).tocoo()
    apart = pairs.row != pairs.col
    return sparse.csr_array((pairs.data[apart], (pairs.row[apart], pairs.col[apart])), shape=pairs.shape)


def attribute_vectors(pairs: sparse.csr_array, size: int) -> Floats:
    """(a, size) unit vectors, similar for attributes that occur together with the same others.

    The paper learns them with a skip-gram. A skip-gram factorises the pointwise mutual information of pairs (Levy and Goldberg, 2014);
    the closed form takes a second, and cannot stop too early.
    """
    count = pairs.shape[0]
    if not pairs.nnz:
        return np.zeros((count, size), np.float32)
    edges = pairs.tocoo()
    totals = np.asarray(pairs.sum(axis=1)).ravel().astype(np.float64)  # the matrix is symmetric
    surprise = np.log(edges.data * totals.sum() / (totals[edges.row] * totals[edges.col]))
    matrix = sparse.csr_array((np.maximum(surprise, 0), (edges.row, edges.col)), shape=pairs.shape)
    left, strengths, _ = svds(matrix, k=min(size, count - 1), v0=np.ones(count))
    vectors = left * np.sqrt(strengths)
    return (vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)).astype(np.float32)


def mean_attributes(has: sparse.csr_array, vectors: Tensor) -> Tensor:
    """(n, d) the unit vector of each entity: the mean of its attributes; 0 if it has none."""
    return unit(SparseMatrix.of(has, vectors.device).times(vectors))


def similar_pairs(left: Tensor, right: Tensor, threshold: float, k: int) -> sparse.csr_array:
    """(n, m) the cosines that are not below the threshold, the k largest of each row at most."""
    shape = len(left), len(right)
    if not left.any() or not right.any():
        return sparse.csr_array(shape, dtype=np.float32)
    columns, cosines = top_k(left, right, k, metric="cosine")
    rows, slots = np.nonzero(cosines >= threshold)
    return sparse.csr_array((cosines[rows, slots], (rows, columns[rows, slots])), shape=shape)


def meetings(task: AlignmentTask) -> sparse.csr_array:
    """(n, m) for how many seeds the source of the seed points to the one entity and its target to the other."""
    sides = []
    for graph, ids in ((task.source, task.seeds.sources), (task.target, task.seeds.targets)):
        pairs = np.unique(graph.triples[:, [0, 2]], axis=0)
        shape = len(graph.entities), len(graph.entities)
        sides.append(sparse.csr_array((np.ones(len(pairs), np.float32), tuple(pairs.T)), shape=shape)[ids])
    return sparse.csr_array(sides[0].T @ sides[1])


def boost(
    similar: sparse.csr_array, source: Tensor, target: Tensor, meetings: sparse.csr_array, seeds: Alignment
) -> sparse.csr_array:
    """(n, m) the similarities across the graphs: 1 for seeds, and at least 1 and many times the cosine for pairs that seeds point to.

    Args:
        similar: (n, m) the similarities by attributes.
        source: (n, d) unit vectors of attributes.
        target: (m, d) unit vectors of attributes.
        meetings: (n, m) how many seeds point to each pair, see `meetings`.
        seeds: The seeds.
    """
    met = meetings.tocoo()
    own = _cosines(source, target, met.row, met.col)
    own[np.isin((met.row.astype(np.int64) << 32) | met.col, seeds.keys)] = 1
    values = np.maximum(1, own * BOOST * (met.data + 1))
    others = similar.tocoo()
    rows = np.concatenate([met.row, seeds.sources, others.row]).astype(np.int64)
    columns = np.concatenate([met.col, seeds.targets, others.col]).astype(np.int64)
    weights = np.concatenate([values, np.ones(len(seeds)), others.data]).astype(np.float32)
    _, first = np.unique(rows * similar.shape[1] + columns, return_index=True)  # boosted values come first
    return sparse.csr_array((weights[first], (rows[first], columns[first])), shape=similar.shape)


def _cosines(source: Tensor, target: Tensor, rows: Ints, columns: Ints, block: int = 2**20) -> Floats:
    """(p,) the inner products of the pairs."""
    ids = torch.as_tensor(np.stack([rows, columns]).astype(np.int64), device=source.device)
    parts = [
        (source[left] * target[right]).sum(-1).cpu() for left, right in zip(ids[0].split(block), ids[1].split(block), strict=True)
    ]
    return torch.cat(parts).numpy()


def _distance(entities: Tensor, similar: SparseMatrix, others: Tensor) -> Tensor:
    """The sum of the squared distances of entities to the mean direction of the entities that are similar to them."""
    return (entities - unit(similar.times(others))).square().sum()


def _shares(matrix: sparse.csr_array) -> sparse.csr_array:
    """The matrix with rows that sum to 1; empty rows stay empty."""
    totals = np.asarray(matrix.sum(axis=1)).ravel()
    return sparse.csr_array(sparse.diags_array(1 / np.where(totals > 0, totals, 1)) @ matrix)
