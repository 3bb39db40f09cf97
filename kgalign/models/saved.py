"""A trained model on disk: weights in NAME.safetensors, everything else in NAME.json. Files are written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from kgalign.characters import json_text
from kgalign.drafts import NEW, draft_of, put_in_place
from kgalign.errors import DataError

MOST_SHOWN = 120  # characters of a problem in a message
WEIGHTS = "weights"  # the note that has the SHA-256 of the weights: the two files belong together


def write_saved(folder: Path, name: str, tensors: Mapping[str, Tensor], notes: Mapping[str, Any]) -> None:
    """Writes both files into a folder, in place of an earlier model of that name.

    Args:
        folder: It is made where it does not exist.
        name: The name of the model, and of the files.
        tensors: The weights.
        notes: Everything else, for JSON.
    """
    weights, rest = folder / f"{name}.safetensors", folder / f"{name}.json"
    with draft_of(weights) as draft, draft_of(rest) as other:
        write_tensors(draft / NEW, tensors)
        text = json_text({**notes, WEIGHTS: _hash(draft / NEW)}, indent=1)
        (other / NEW).write_text(text, encoding="utf-8")
        put_in_place(draft / NEW, weights)
        put_in_place(other / NEW, rest)


def read_saved(folder: Path, name: str, keys: Iterable[str]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the notes of a model that `write_saved` has written.

    Args:
        folder: Where it was written.
        name: The name of the model.
        keys: The notes that must be there.

    Raises:
        DataError: A file is missing, or is not as it was written.
    """
    notes_path, path = folder / f"{name}.json", folder / f"{name}.safetensors"
    for file in (notes_path, path):
        if not file.is_file():
            raise DataError(f"{file}: no such file; expected a folder that `save` has written")
    with content_of(notes_path):
        notes = json.loads(notes_path.read_text("utf-8"))
        found = {key: notes[key] for key in keys}
        if not isinstance(found["options"], dict):
            raise ValueError("its options are no object")
    tensors = read_tensors(path)[0]
    if notes.get(WEIGHTS) not in (None, _hash(path)):  # an older model has none
        raise DataError(f"{path}: expected the weights that were saved with {notes_path.name}, found others; train the model again")
    if not all(torch.isfinite(tensor).all() for tensor in tensors.values() if tensor.is_floating_point()):
        raise DataError(f"{path}: expected finite weights, found others; train the model again")
    return tensors, found


@contextmanager
def content_of(file: Path | None) -> Iterator[None]:
    """Turns what the content of a saved file breaks in the block into one line that names the file; None: there is no file.

    Whatever can be wrong in such a file shows when a model is built from it, so every error of values and types counts.
    """
    try:
        yield
    except (AttributeError, LookupError, RuntimeError, TypeError, ValueError, DataError, ArithmeticError) as error:
        if file is None:
            raise
        what = next(iter(str(error).splitlines()[-1:]), "").strip() or type(error).__name__
        what = f"there is no {what}" if isinstance(error, KeyError) else what[:MOST_SHOWN]
        raise DataError(f"{file}: expected what `save` has written for these graphs, but {what}; train the model again") from None


def check_shapes(tensors: Mapping[str, Tensor], shapes: Mapping[str, Sequence[int]]) -> None:
    """Refuses tensors with other names or shapes than these."""
    for name, shape in shapes.items():
        if tuple(tensors[name].shape) != tuple(shape):
            raise ValueError(f"{name} has the shape {tuple(tensors[name].shape)}, not {tuple(shape)}")


def calibration_of(value: Any) -> tuple[float, float]:
    """The temperature and the no-match score that a file holds."""
    temperature, no_match_score = map(float, value)
    if not 0 < temperature < math.inf or math.isnan(no_match_score):
        raise ValueError(f"the calibration is {value}")
    return temperature, no_match_score


def texts(value: Any) -> list[str]:
    """A list of texts that a file holds."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"{str(value)[:MOST_SHOWN]} is no list of texts")
    return value


def write_tensors(path: Path, tensors: Mapping[str, Tensor], notes: Mapping[str, Any] | None = None) -> None:
    """Writes one safetensors file, with the notes in its header."""
    try:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path, {"kgalign": json.dumps(notes or {})})
    except SafetensorError as error:
        raise OSError(str(error)) from None  # the disk is full


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of a safetensors file, and the notes in its header."""
    try:
        with safe_open(path, "pt") as file:
            notes = json.loads((file.metadata() or {}).get("kgalign", "{}"))
            if not isinstance(notes, dict):
                raise ValueError("its notes are no object")
            return {name: file.get_tensor(name) for name in file.keys()}, notes  # noqa: SIM118
    except (SafetensorError, ValueError, RuntimeError) as error:
        raise DataError(f"{path}: expected weights in the safetensors format, but {error}") from None


def _hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
