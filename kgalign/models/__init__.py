"""What a model is, and the models there are.

A model is a frozen dataclass whose fields are its options. To add one, write its file and add its line to MODELS.

Its class may say how benchmarks are to run it:

systems         what tables call it, and its options there; more than one where it stands for several systems. Else by its name in MODELS
plain_options   where it is trained another way if nothing is to be fed back to it
quick_options   for a run that takes seconds on a small graph, to see that it works
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import Any, Protocol, Self

from kgalign.data import Alignment, AlignmentTask, Candidates
from kgalign.errors import OptionError

Options = Mapping[str, Any]
Systems = Mapping[str, Options]


class Model(Protocol):
    """Scores candidates. `fit` learns from the seeds and returns the fitted model; `predict` changes nothing.

    `known` holds the pairs that count as true by now: seeds and easy pairs. What a model does with them is its own affair. One that has
    `weighs_doubt` is given every pair that may be right, with its probability as the score; seeds have 1.
    """

    def fit(self, task: AlignmentTask) -> Self: ...

    def predict(self, task: AlignmentTask, known: Alignment) -> Candidates: ...


MODELS: dict[str, str] = {  # imported when they are used, since some need PyTorch
    "fast": "kgalign.models.fast:Fast",
    "bootea": "kgalign.models.bootea:BootEA",
    "gcn_align": "kgalign.models.gcn_align:GCNAlign",
    "gm": "kgalign.models.gm:GraphMatching",
    "iptranse": "kgalign.models.iptranse:IPTransE",
    "jape": "kgalign.models.jape:JAPE",
    "je": "kgalign.models.je:JE",
    "mtranse": "kgalign.models.mtranse:MTransE",
    "names": "kgalign.models.names:Names",
    "rdgcn": "kgalign.models.rdgcn:RDGCN",
}


def make_model(name: str, **options: Any) -> Any:
    """The model of that name with its options set."""
    known = model_options(name)
    for option in options:
        if option not in known:
            raise OptionError(f"the model {name} has no option {option!r}: expected one of {', '.join(known)}")
    return model_class(name)(**options)


def model_options(name: str) -> dict[str, Any]:
    """The options of a model and their defaults."""
    return {option.name: option.default for option in fields(model_class(name)) if option.init}


def model_class(name: str) -> type[Any]:
    """The class of the model of that name."""
    if name not in MODELS:
        raise OptionError(f"unknown model {name!r}: expected one of {', '.join(MODELS)}")
    module, _, kind = MODELS[name].partition(":")
    try:
        found: type[Any] = getattr(import_module(module), kind)
    except ImportError as error:
        if error.name not in ("torch", "safetensors"):
            raise
        raise OptionError(f"the model {name} needs {error.name}: pip install torch safetensors") from None
    return found
