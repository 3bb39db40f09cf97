"""A trained model on disk: weights in NAME.safetensors, everything else in NAME.json. Files are written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from kgalign.errors import DataError


def write_saved(folder: Path, name: str, tensors: Mapping[str, Tensor], notes: Mapping[str, Any]) -> None:
    """Writes both files into a folder, in place of an earlier model of that name.

    Args:
        folder: It is made where it does not exist.
        name: The name of the model, and of the files.
        tensors: The weights.
        notes: Everything else, for JSON.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_tensors(folder / f".{name}.safetensors", tensors)
    (folder / f".{name}.json").write_text(json.dumps(notes, ensure_ascii=False, indent=1), encoding="utf-8")
    for file in (f"{name}.safetensors", f"{name}.json"):
        (folder / f".{file}").replace(folder / file)


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
    try:
        notes = json.loads(notes_path.read_text("utf-8"))
        notes = {key: notes[key] for key in keys}
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{notes_path}: expected what `save` has written, but {error}") from None
    return read_tensors(path)[0], notes


def write_tensors(path: Path, tensors: Mapping[str, Tensor], notes: Mapping[str, Any] | None = None) -> None:
    """Writes one safetensors file, with the notes in its header."""
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path, {"kgalign": json.dumps(notes or {})})


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of a safetensors file, and the notes in its header."""
    try:
        with safe_open(path, "pt") as file:
            notes = json.loads((file.metadata() or {}).get("kgalign", "{}"))
            return {name: file.get_tensor(name) for name in file.keys()}, notes  # noqa: SIM118
    except (SafetensorError, ValueError) as error:
        raise DataError(f"{path}: expected weights in the safetensors format, but {error}") from None
