"""GM, the paper's own model: two entities are the same if the graphs around them match, and known pairs help to see that."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch

from kgalign.data import Alignment, AlignmentTask, Candidates, Ints, KnowledgeGraph
from kgalign.errors import OptionError, check_at_least
from kgalign.models import Options, Systems
from kgalign.models.device import pick_device
from kgalign.models.gm.files import fill, read_model, write_model
from kgalign.models.gm.scoring import Scorer
from kgalign.models.gm.training import Trained, empty_network, make_scene, rescored, train
from kgalign.models.gm.topic_graphs import find_lists

CHOICES = {
    "directions": ("both", "out"),
    "matching": ("pooled", "attentive"),
    "readout": ("topic", "pooled"),
    "loss": ("list", "pair"),
}


@dataclass(frozen=True)
class GraphMatching:
    """Compares the topic graphs of two entities, node by node and as a whole, with a neural network that learns from the seeds.

    Xu et al., Cross-lingual Knowledge Graph Alignment via Graph Matching Neural Network (ACL 2019), and the enhanced form of Xu et al.,
    Coordinated Reasoning for Cross-Lingual Knowledge Graph Alignment (AAAI 2020).

    Known pairs share the name of their target in every topic graph, and their similarity in the matching layer is 1; the topic's own pair
    is never among them. A model that was trained without simulated pairs takes them too (option 1 of the paper), one that has seen them
    in training makes more of them (option 2).

    k, graph_k          candidates for each query: the k best by name, and the graph_k best by the known pairs around it (0: by name alone)
    both_directions     targets that have it among their own best come on top
    word_vectors        a GloVe or word2vec text file; without it words are learnt
    ngrams              width of the n-gram vectors that stand beside the words of a name; 0: words alone, as in the paper
    nodes, directions   how many nodes a topic graph has at most, and whether neighbours count that point to the topic (both) or not (out)
    size                width of the states; input_hops and matching_hops tell how far they travel before and after matching
    matching            pooled: the features of the released code, with true cosines; attentive: those of the paper
    readout             topic: the topic's own state stands beside the mean and the maximum over all nodes; pooled: it does not (the paper)
    loss                list: the right one among all negatives of a seed; pair: each pair by itself (the paper)
    negatives           of each seed, from either end
    simulated           at most so many known pairs are shown in each training graph; 0: none
    seeds_as_evidence   whether seeds count as known pairs too, or easy pairs only
    epochs, patience    looks at every seed; so many epochs without a better result on development links end it
    dev_fraction        the share of the seeds that judges epochs and makes probabilities of scores
    device              auto, cpu, cuda
    checkpoint          a folder that keeps each epoch; an interrupted training goes on from there
    """

    k: int = 50
    both_directions: bool = True
    graph_k: int = 20
    word_vectors: str | None = None
    ngrams: int = 256
    nodes: int = 24
    directions: str = "both"
    size: int = 100
    input_hops: int = 2
    matching_hops: int = 3
    perspectives: int = 10
    matching: str = "pooled"
    readout: str = "topic"
    dropout: float = 0.0
    loss: str = "list"
    negatives: int = 10
    simulated: int = 2
    seeds_as_evidence: bool = True
    epochs: int = 30
    patience: int = 10
    batch: int = 32
    learning_rate: float = 1e-3
    dev_fraction: float = 0.1
    device: str = "auto"
    checkpoint: str | None = None
    seed: int = 0
    _trained: Trained | None = field(default=None, init=False, repr=False, compare=False)
    _memory: list[tuple[KnowledgeGraph, KnowledgeGraph, Scorer]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    systems: ClassVar[Systems] = {"GM": {}}
    plain_options: ClassVar[Options] = {"simulated": 0, "seeds_as_evidence": False}
    quick_options: ClassVar[Options] = {
        "size": 16,
        "ngrams": 128,
        "negatives": 4,
        "k": 8,
        "nodes": 12,
        "epochs": 2,
        "perspectives": 3,
    }

    def __post_init__(self) -> None:
        least = dict.fromkeys(("k", "nodes", "size", "input_hops", "matching_hops", "perspectives", "negatives", "epochs"), 1)
        least |= dict.fromkeys(("patience", "batch"), 1) | dict.fromkeys(("graph_k", "ngrams", "simulated", "seed"), 0)
        check_at_least(**{name: (getattr(self, name), value) for name, value in least.items()})
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise OptionError(f"{name}={getattr(self, name)}: expected {' or '.join(choices)}")
        if not (0 < self.dev_fraction < 1 and 0 <= self.dropout < 1 and self.learning_rate > 0):
            raise OptionError(
                f"dev_fraction={self.dev_fraction}, dropout={self.dropout}, learning_rate={self.learning_rate}: "
                "expected shares below 1 and a rate above 0"
            )

    def fit(self, task: AlignmentTask) -> Self:
        return self._with(train(self, task))

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        if self._trained is None:
            raise OptionError("the model gm has learnt nothing yet: fit it first, or load a trained one")
        if not self.seeds_as_evidence:
            known = known.where(~np.isin(known.keys, task.seeds.keys))
        lists = self.find_lists(task.source, task.target, task.seeds + known, task.queries, task.pool)
        candidates = rescored(self._scorer(task), lists, known)
        temperature, no_match_score = self._trained.calibration["evidence" if len(known) else "plain"]
        return replace(candidates, temperature=temperature, no_match_score=nobody)

    def find_lists(
        self,
        source: KnowledgeGraph,
        target: KnowledgeGraph,
        known: Alignment,
        queries: Ints,
        pool: Ints,
        *,
        both_directions: bool | None = None,
    ) -> Candidates:
        """Who is compared with whom, see topic_graphs.find_lists."""
        _, once = np.unique(known.keys, return_index=True)
        return find_lists(
            source,
            target,
            known.where(np.sort(once)),
            queries,
            pool,
            k=self.k,
            graph_k=self.graph_k,
            both_directions=self.both_directions if both_directions is None else both_directions,
            word_vectors=self.word_vectors,
            seed=self.seed,
        )

    def save(self, folder: str | Path) -> None:
        """Writes the trained model into a folder."""
        if self._trained is None:
            raise OptionError("the model gm has learnt nothing yet: fit it before it is saved")
        network = self._trained.network
        notes = {
            "options": {name: value for name, value in self.options().items() if name not in ("device", "checkpoint")},
            "vocabulary": self._trained.vocabulary,
            "word_size": network.shape.word_size,
            "calibration": self._trained.calibration,
            "history": self._trained.history,
        }
        write_model(Path(folder), network, notes)

    @classmethod
    def load(cls, folder: str | Path, **options: Any) -> Self:
        """A model that was saved. Options that its weights depend on are those of its training, the others may be set anew."""
        weights, notes = read_model(Path(folder))
        for name, value in options.items():
            if name in SHAPING and value != notes["options"].get(name):
                raise OptionError(f"{name}={value}: the model in {folder} was trained with {notes['options'].get(name)}")
        model = cls(**{**notes["options"], **options})
        network = empty_network(model, len(notes["vocabulary"]), notes["word_size"])
        fill(Path(folder) / "gm.safetensors", network, weights)
        calibration = {label: (pair[0], pair[1]) for label, pair in notes["calibration"].items()}
        network = network.to(pick_device(model.device))
        return model._with(Trained(network, notes["vocabulary"], calibration, notes["history"]))

    def options(self) -> dict[str, Any]:
        """The options by name."""
        return {option.name: getattr(self, option.name) for option in fields(self) if option.init}

    def changed(self, **options: Any) -> Self:
        """The same trained model with other options, of those that do not touch its weights."""
        return replace(self, **options)._with(self._trained)

    def scoring_batch(self, device: torch.device) -> int:
        """Pairs that are scored at a time."""
        return 128 if device.type == "cpu" else 2048

    @property
    def history(self) -> list[dict[str, float]]:
        """Loss, development hits@1 and seconds of each epoch."""
        return self._trained.history if self._trained else []

    def _with(self, trained: Trained | None) -> Self:
        fitted = replace(self)
        object.__setattr__(fitted, "_trained", trained)
        return fitted

    def _scorer(self, task: AlignmentTask) -> Scorer:
        """What is remembered of these two graphs, from call to call."""
        assert self._trained is not None
        for source, target, scorer in self._memory:
            if source is task.source and target is task.target:
                return scorer
        network = self._trained.network
        device = next(network.parameters()).device
        scene = make_scene(self, task, self._trained.vocabulary, device)
        scorer = Scorer(network, scene, self.scoring_batch(device))
        self._memory[:] = [(task.source, task.target, scorer)]
        return scorer


SHAPING = {"ngrams", "size", "input_hops", "matching_hops", "perspectives", "matching", "readout", "nodes", "directions"}
