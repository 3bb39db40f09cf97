"""Models score candidates. MODELS has all of them by name.

A model is a frozen dataclass whose fields are its options, with `capabilities` and `fit`; see `kgalign.seams`.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from kgalign.errors import OptionError
from kgalign.registry import Registry
from kgalign.seams import Model

__all__ = ["BASELINE", "DEFAULT", "MODELS", "changed_options", "make_model", "model_options", "options_of"]

DEFAULT = "fast"
BASELINE = "names"  # names alone: the row that stands beside every other
MODELS = Registry(
    "model",
    "kgalign.models",
    {  # imported when they are used, since some need PyTorch
        "fast": "kgalign.models.fast:Fast",
        "bootea": "kgalign.models.embedding.bootea:BootEA",
        "gcn_align": "kgalign.models.embedding.gcn_align:GCNAlign",
        "gm": "kgalign.models.gm:GraphMatching",
        "iptranse": "kgalign.models.embedding.iptranse:IPTransE",
        "jape": "kgalign.models.embedding.jape:JAPE",
        "je": "kgalign.models.embedding.je:JE",
        "mtranse": "kgalign.models.embedding.mtranse:MTransE",
        "names": "kgalign.models.names:Names",
        "rdgcn": "kgalign.models.embedding.rdgcn:RDGCN",
    },
    extras={"torch": "neural", "safetensors": "neural"},
)


def make_model(name: str, **options: Any) -> Any:
    """The model of that name with its options set."""
    known = model_options(name)
    for option in options:
        if option not in known:
            raise OptionError(f"the model {name} has no option {option!r}: expected one of {', '.join(known)}")
    return MODELS[name](**options)


def model_options(name: str) -> dict[str, Any]:
    """The options of a model and their defaults."""
    model = MODELS[name]
    if not is_dataclass(model):
        raise OptionError(f"the model {name} is {model!r}: expected a dataclass whose fields are its options")
    return {option.name: _default(option) for option in fields(model) if _is_option(option)}


def options_of(model: Model) -> dict[str, Any]:
    """The options of a model and their values."""
    return {option.name: getattr(model, option.name) for option in fields(model) if _is_option(option)}  # type: ignore[arg-type]


def changed_options(model: Model) -> dict[str, Any]:
    """The options of a model that are not its defaults; none for a model that is no dataclass."""
    if not is_dataclass(model):
        return {}
    defaults = {option.name: _default(option) for option in fields(model)}
    return {name: value for name, value in options_of(model).items() if value != defaults[name]}


def _default(option: Any) -> Any:
    if option.default is not MISSING:
        return option.default
    return None if option.default_factory is MISSING else option.default_factory()


def _is_option(option: Any) -> bool:
    return option.init and option.metadata.get("option", True)
