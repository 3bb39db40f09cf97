"""The frame of every embedding model: fit, prepare, predict, save and load. A model adds its own options and its network."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kgalign.data import Alignment, AlignmentTask, Candidates, same_graphs
from kgalign.errors import OptionError
from kgalign.models.device import pick_device
from kgalign.models.embedding.network import Network, nearest_candidates
from kgalign.models.embedding.options import EmbeddingOptions
from kgalign.models.embedding.training import Learnt, fingerprint, train
from kgalign.models.saved import calibration_of, content_of, read_saved, texts, write_saved
from kgalign.seams import Capabilities

NOT_LEARNT = ("k", "refit", "device", "word_vectors")  # options that may change after the training


@dataclass(frozen=True)
class EmbeddingModel(EmbeddingOptions):
    """A model that gives each entity a vector: it learns from the seeds, and candidates are the nearest targets.

    For the options that all of them have see `EmbeddingOptions`.
    """

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(learns_from_seeds=True, prepares=True, stores=True)

    def fit(self, task: AlignmentTask) -> FittedEmbedding:
        learnt, network = train(self, task)
        return FittedEmbedding(self, learnt, task, network)

    @classmethod
    def load(cls, folder: str | Path, **options: Any) -> FittedEmbedding:
        """The fitted model that was saved in a folder.

        Args:
            folder: Where `save` has stored it.
            **options: Options to set anew, of those that nothing learnt depends on.
        """
        tensors, notes = read_saved(Path(folder), cls.name, ("options", "graphs", "calibration", "history"))
        _check_changes(options, notes["options"], f"the model in {folder}")
        with content_of(Path(folder) / f"{cls.name}.json"):
            model = cls(**{**notes["options"], **options})
            temperature, no_match_score = calibration_of(notes["calibration"])
            history, (graphs,) = [dict(epoch) for epoch in notes["history"]], texts([notes["graphs"]])
        weights = Path(folder) / f"{cls.name}.safetensors"
        with content_of(weights):
            seeds = Alignment(tensors.pop("seeds").numpy())
        return FittedEmbedding(model, Learnt(tensors, seeds, graphs, temperature, no_match_score, history, weights))


@dataclass(frozen=True, eq=False)
class FittedEmbedding:
    """An embedding model that is trained. Its vectors belong to the entities of two graphs, so it predicts for those alone.

    Attributes:
        options: The model.
        learnt: What the training has learnt.
        task: The task whose graphs the network was built for; None: there is no network yet.
        network: The trained network.
    """

    options: EmbeddingModel
    learnt: Learnt = field(repr=False)
    task: AlignmentTask | None = field(default=None, repr=False)
    network: Network | None = field(default=None, repr=False)

    @property
    def capabilities(self) -> Capabilities:
        return self.options.capabilities

    @property
    def history(self) -> list[dict[str, float]]:
        """Epoch, loss, development hits@1 and seconds of each evaluation on the development links."""
        return self.learnt.history

    def changed(self, **options: Any) -> FittedEmbedding:
        """The same trained model with other options, of those that nothing learnt depends on."""
        _check_changes(options, asdict(self.options), "the model")
        model = replace(self.options, **options)
        if model.device != self.options.device:
            return FittedEmbedding(model, self.learnt)
        return replace(self, options=model)

    def for_task(self, task: AlignmentTask) -> FittedEmbedding:
        """The same with the trained network, built for the graphs of that task.

        Raises:
            OptionError: The model was trained on other graphs, or on links that are no seeds of the task.
        """
        model, learnt = self.options, self.learnt
        ready = self.task is not None and same_graphs(self.task, task)
        if not ready and fingerprint(task.source, task.target) != learnt.graphs:
            raise OptionError(
                f"the model {model.name} was trained on other graphs: its vectors belong to their entities; train it on these"
            )
        unknown = np.count_nonzero(~learnt.seeds.among(task.seeds))
        if unknown:
            raise OptionError(
                f"the model {model.name} was trained on {unknown} links that are no seeds here: it would be tested on what it has learnt; "
                "give the same seeds, or train it on these"
            )
        if ready:
            return self
        with content_of(learnt.file):
            network = model.rebuild(replace(task, seeds=learnt.seeds), pick_device(model.device), learnt.tensors)
            network.load_state_dict(learnt.tensors)
        return replace(self, task=task, network=network)

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates:
        if self.options.refit and len(confident := _beside(task.seeds, known)):
            return self._refitted(task, confident).predict(replace(task, seeds=task.seeds + confident), task.seeds)
        network = self.for_task(task).network
        assert network is not None
        candidates = nearest_candidates(network, task, known, self.options.k, self.options.seed)
        return replace(candidates, temperature=self.learnt.temperature, no_match_score=self.learnt.no_match_score)

    def save(self, folder: str | Path) -> None:
        """Stores the trained model in a folder."""
        notes = {
            "options": {name: value for name, value in asdict(self.options).items() if name != "device"},
            "graphs": self.learnt.graphs,
            "calibration": [self.learnt.temperature, self.learnt.no_match_score],
            "history": self.learnt.history,
        }
        tensors = {**self.learnt.tensors, "seeds": torch.tensor(self.learnt.seeds.pairs)}
        write_saved(Path(folder), self.options.name, tensors, notes)

    def _refitted(self, task: AlignmentTask, confident: Alignment) -> FittedEmbedding:
        """The model trained anew, on the seeds and on confident links."""
        model = replace(self.options, refit=False)
        learnt, network = train(model, task, confident)
        return FittedEmbedding(model, learnt, task, network)


def _check_changes(options: dict[str, Any], trained: dict[str, Any], model: str) -> None:
    """Refuses options under which the training would have been another one."""
    for name, value in options.items():
        if name not in NOT_LEARNT and value != trained.get(name):
            raise OptionError(f"{name}={value}: {model} was trained with {trained.get(name)}")


def _beside(seeds: Alignment, known: Alignment) -> Alignment:
    """The known links of entities that no seed has; of several with the same entity the first."""
    links = known.where(~np.isin(known.sources, seeds.sources) & ~np.isin(known.targets, seeds.targets))
    for side in (0, 1):
        _, first = np.unique(links.pairs[:, side], return_index=True)
        links = links.where(np.sort(first))
    return links
