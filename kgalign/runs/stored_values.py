"""Frozen dataclasses of arrays, numbers and texts as one npz file, and back. No pickle: a file can only become the types that are named."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, BinaryIO, Literal, Union, get_args, get_origin, get_type_hints
from zipfile import ZIP_STORED

import numpy as np

TREE = "tree"  # the entry of the file that says how the arrays belong together


def store(value: Any, file: BinaryIO) -> None:
    """Writes a value to a file; an array that occurs twice is stored once."""
    arrays: dict[int, tuple[str, Any]] = {}
    tree = json.dumps(_tree(value, arrays))
    entries: dict[str, Any] = {TREE: np.frombuffer(tree.encode(), np.uint8), **dict(arrays.values())}
    np.savez(file, **entries)


def restore(file: BinaryIO, types: Sequence[type]) -> Any:
    """The value in a file that `store` has written.

    Args:
        file: The file.
        types: The dataclasses that may be in it.

    Raises:
        ValueError: The file is something else, or damaged.
    """
    try:
        with np.load(file, allow_pickle=False) as stored:
            if any(entry.compress_type != ZIP_STORED for entry in stored.zip.infolist()):
                raise ValueError("its arrays are compressed")  # so a small file may describe gigabytes
            arrays = {name: stored[name] for name in stored.files}
        tree = json.loads(arrays.pop(TREE).tobytes())
        return _value(tree, arrays, {kind.__name__: kind for kind in types})
    except Exception as error:  # of numpy, zipfile, zlib, json or a dataclass: damage takes many forms
        raise ValueError(str(error)) from error


def _tree(value: Any, arrays: dict[int, tuple[str, Any]]) -> Any:
    """The value in JSON, with the names of its arrays in their place."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        name, _ = arrays.setdefault(id(value), (f"array{len(arrays)}", value))
        return {"array": name}
    if is_dataclass(value):
        parts = {field.name: _tree(getattr(value, field.name), arrays) for field in fields(value)}
        return {"type": type(value).__name__, "fields": parts}
    if isinstance(value, Mapping):
        return {"mapping": {str(key): _tree(each, arrays) for key, each in value.items()}}
    if isinstance(value, tuple | list):
        return {"tuple": [_tree(each, arrays) for each in value]}
    return value


def _value(tree: Any, arrays: Mapping[str, Any], types: Mapping[str, type]) -> Any:
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        return arrays[tree["array"]]
    if "tuple" in tree:
        return tuple(_value(each, arrays, types) for each in tree["tuple"])
    if "mapping" in tree:
        return {key: _value(each, arrays, types) for key, each in tree["mapping"].items()}
    kind, parts = types[tree["type"]], {name: _value(each, arrays, types) for name, each in tree["fields"].items()}
    hints = get_type_hints(kind)
    if wrong := [name for name, each in parts.items() if not _has_type(each, hints[name])]:
        raise ValueError(f"{tree['type']} has another {wrong[0]}")
    return kind(**parts)


def _has_type(value: Any, hint: Any) -> bool:
    """Whether a field of that type may hold a value."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_has_type(value, part) for part in parts)
    if origin is Literal:
        return value in parts
    if origin is tuple and isinstance(value, tuple):
        wanted = parts[:1] * len(value) if parts[-1] is Ellipsis else parts
        return len(value) == len(wanted) and all(map(_has_type, value, wanted))
    if hint is float:
        return isinstance(value, int | float)
    return isinstance(value, origin or hint)
