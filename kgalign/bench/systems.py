"""The systems that tables have rows for: models with their options, each on a dataset with a seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kgalign.bench.plan import Dataset, LazyTask, Plan
from kgalign.models import MODELS, make_model, model_options
from kgalign.seams import Capabilities


@dataclass(frozen=True)
class System:
    """A model with options, under the name that tables give it."""

    name: str
    model: str
    options: Mapping[str, Any]

    @property
    def capabilities(self) -> Capabilities:
        return make_model(self.model, **self.options).capabilities

    @property
    def plain(self) -> System:
        """The system for rows in which no link is fed back."""
        return self.with_options(**self.capabilities.plain_options)

    def has(self, option: str) -> bool:
        return option in model_options(self.model)

    def with_options(self, **options: Any) -> System:
        """The same system with other options; those that its model does not have are ignored."""
        return replace(self, options={**self.options, **{name: value for name, value in options.items() if self.has(name)}})


def find_systems(plan: Plan, models: Iterable[str] = MODELS, seed: int = 0) -> list[System]:
    """The systems of the planned models.

    An option has the value of the plan's settings, else the one that the model declares for its rows, else what the plan offers: the
    seed, the device, the word vectors beside the data.

    Args:
        plan: The plan.
        models: The models to take where the plan names none.
        seed: The random seed.
    """
    offered = {"seed": seed, "device": plan.device, "word_vectors": plan.word_vectors}
    return [
        System(name, model, {}).with_options(**{**offered, **own, **plan.settings})
        for model in plan.models or models
        for name, own in (make_model(model).capabilities.systems or {model: {}}).items()
    ]


@dataclass(frozen=True, eq=False)
class Case:
    """A system on a dataset with a seed. The rows of a table are its variants."""

    plan: Plan
    data: LazyTask
    seed: int
    system: System

    @property
    def dataset(self) -> Dataset:
        return self.data.dataset

    def row(self, suffix: str) -> str:
        """The name that a table gives to a variant."""
        return f"{self.system.name}{suffix}{self.plan.label}"

    def missing(self, experiment: str, rows: Iterable[str], protocol: str = "closed", split: str | None = None) -> list[str]:
        """The rows without a line."""
        where = self.dataset.pair, self.seed, protocol, split or self.dataset.split
        return [row for row in rows if not self.plan.is_finished(experiment, row, *where)]


def find_cases(plan: Plan, models: Iterable[str] = MODELS) -> Iterator[Case]:
    """Every planned case, dataset by dataset. The cases of a dataset share its task."""
    for dataset in plan.datasets:
        data = LazyTask(dataset)
        for seed in plan.seeds:
            for system in find_systems(plan, models, seed):
                yield Case(plan, data, seed, system)
