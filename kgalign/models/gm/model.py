"""GM with its options, and GM when it is trained: fit, prepare, predict, save and load."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates, same_graphs
from kgalign.errors import OptionError
from kgalign.models.device import pick_device
from kgalign.models.gm.candidate_lists import SearchSpace, lists_by_name, with_lists_by_graph
from kgalign.models.gm.files import fill, read_model, write_model
from kgalign.models.gm.options import OF_NETWORK, GraphMatchingOptions
from kgalign.models.gm.scoring import Scorer, pairs_at_once
from kgalign.models.gm.training import Trained, empty_network, make_scene, rescored, train
from kgalign.models.saved import calibration_of, content_of, texts
from kgalign.seams import Capabilities


@dataclass(frozen=True)
class GraphMatching(GraphMatchingOptions):
    """Compares the topic graphs of two entities, node by node and as a whole, with a neural network that learns from the seeds.

    The topic graph of an entity holds the entity, its neighbours and the edges among them. Candidates come from the names and from the
    known links around a query; the network scores them. For the options see `GraphMatchingOptions`.

    Xu et al., Cross-lingual Knowledge Graph Alignment via Graph Matching Neural Network (ACL 2019), and the enhanced form of Xu et al.,
    Coordinated Reasoning for Cross-Lingual Knowledge Graph Alignment (AAAI 2020).

    In every topic graph the source of a known link takes the name of its target, and the matching layer sets the similarity of the two to
    1. A link is never evidence for itself. A network that was trained without simulated links can use known links too (option 1 of the
    paper); one that has seen them in training makes more of them (option 2).
    """

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            learns_from_seeds=True,
            prepares=True,
            stores=True,
            systems={"GM": {}},
            plain_options={"simulated": 0, "seeds_as_evidence": False},
            quick_options={"size": 16, "ngrams": 128, "negatives": 4, "k": 8, "nodes": 12, "epochs": 2, "perspectives": 3},
        )

    def fit(self, task: AlignmentTask) -> FittedGraphMatching:
        return FittedGraphMatching(self, train(self, task)).for_task(task)

    @classmethod
    def load(cls, folder: str | Path, **options: Any) -> FittedGraphMatching:
        """The fitted model that was saved in a folder.

        Args:
            folder: Where `save` has stored it.
            **options: Options to set anew, of those that the network does not depend on.
        """
        weights, notes = read_model(Path(folder))
        _check_changes(options, notes["options"], f"the model in {folder}")
        with content_of(Path(folder) / "gm.json"):
            model = cls(**{**notes["options"], **options})
            vocabulary = texts(notes["vocabulary"])
            network = empty_network(model, len(vocabulary), notes["word_size"])
            calibration = {label: calibration_of(notes["calibration"][label]) for label in ("plain", "evidence")}
            history = [dict(epoch) for epoch in notes["history"]]
        fill(Path(folder) / "gm.safetensors", network, weights)
        return FittedGraphMatching(model, Trained(network.to(pick_device(model.device)), vocabulary, calibration, history))


@dataclass(frozen=True, eq=False)
class Prepared:
    """The parts that every round on a task needs.

    Attributes:
        task: The graphs, queries and pool that it was prepared for.
        space: Where candidates are searched.
        scorer: Both graphs on the device. It remembers scores, which saves time and changes none.
        by_name: The candidates by name of the queries.
    """

    task: AlignmentTask
    space: SearchSpace
    scorer: Scorer
    by_name: Candidates

    def fits(self, task: AlignmentTask) -> bool:
        """Whether it was prepared for these graphs, these queries and this pool."""
        return (
            same_graphs(self.task, task)
            and np.array_equal(self.task.queries, task.queries)
            and np.array_equal(self.task.pool, task.pool)
        )


@dataclass(frozen=True, eq=False)
class FittedGraphMatching:
    """GM with a trained network. The network fits any two graphs, since it knows entities by their names and neighbours alone."""

    options: GraphMatching
    trained: Trained = field(repr=False)
    prepared: Prepared | None = field(default=None, repr=False)

    @property
    def capabilities(self) -> Capabilities:
        return self.options.capabilities

    @property
    def history(self) -> list[dict[str, float]]:
        """Loss, development hits@1 and seconds of each epoch."""
        return self.trained.history

    def changed(self, **options: Any) -> FittedGraphMatching:
        """The same network with other options, of those that it does not depend on. Nothing is prepared for a task yet."""
        _check_changes(options, asdict(self.options), "the model")
        return FittedGraphMatching(replace(self.options, **options), self.trained)

    def for_task(self, task: AlignmentTask) -> FittedGraphMatching:
        """The same with both graphs ready to score, and with the candidates by name of the queries."""
        before = self.prepared
        if before is not None and before.fits(task):
            return self
        if before is not None and same_graphs(before.task, task):
            space, scorer = before.space, before.scorer
        else:
            space, scorer = SearchSpace.of(task, self.options.word_vectors), self._scorer(task)
        by_name = lists_by_name(space, self.options, task.queries, task.pool)
        return replace(self, prepared=Prepared(task, space, scorer, by_name))

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        prepared = self.for_task(task).prepared
        assert prepared is not None
        if not self.options.seeds_as_evidence:
            known = known.where(~known.among(task.seeds))
        lists = with_lists_by_graph(prepared.by_name, prepared.space, self.options, task.seeds + known, task.pool)
        candidates = rescored(prepared.scorer, lists, known)
        temperature, no_match_score = self.trained.calibration["evidence" if len(known) else "plain"]
        return replace(candidates, temperature=temperature, no_match_score=no_match_score)

    def save(self, folder: str | Path) -> None:
        """Stores the trained model in a folder."""
        network = self.trained.network
        notes = {
            "options": {name: value for name, value in asdict(self.options).items() if name not in ("device", "checkpoint")},
            "vocabulary": self.trained.vocabulary,
            "word_size": network.shape.word_size,
            "calibration": self.trained.calibration,
            "history": self.trained.history,
        }
        write_model(Path(folder), network, notes)

    def _scorer(self, task: AlignmentTask) -> Scorer:
        network = self.trained.network
        device = next(network.parameters()).device
        return Scorer(network, make_scene(self.options, task, self.trained.vocabulary, device), pairs_at_once(device))


def _check_changes(options: dict[str, Any], trained: dict[str, Any], model: str) -> None:
    """Refuses options under which the weights would be those of another network."""
    for name, value in options.items():
        if name in OF_NETWORK and value != trained.get(name):
            raise OptionError(f"{name}={value}: {model} was trained with {trained.get(name)}")
