"""What a task is known by: a hash of everything that a model sees, whatever file or object it came from."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from operator import attrgetter
from pathlib import PurePath
from types import FunctionType, MethodType, NoneType
from typing import Any

import numpy as np

from kgalign.data import AlignmentTask
from kgalign.errors import OptionError

TEXTS = 1 << 16  # that are joined at once
REMARKS = "record"  # fields that say how something was read, for people
PLAIN = NoneType, str, int, float, complex, np.generic, np.dtype, Enum, PurePath  # whose text says all there is


def task_hashes(task: AlignmentTask) -> dict[str, str]:
    """The SHA-256 of each part of a task: the source, the target, the seeds, the queries and so on."""
    return {field.name: value_hash(getattr(task, field.name)) for field in fields(task)}


def value_hash(value: Any) -> str:
    """The SHA-256 of numbers, texts, arrays, functions, and of dataclasses, sequences, sets and mappings of them. Remarks do not count.

    Raises:
        OptionError: Something in it cannot be recognised in another process, such as a lambda.
    """
    digest = hashlib.sha256()
    for part in _parts(value):
        digest.update(part)
    return digest.hexdigest()


def _parts(value: Any) -> Iterator[bytes | memoryview]:
    """The bytes that tell a value from all others."""
    if isinstance(value, np.ndarray):
        yield f"array {value.dtype} {value.shape};".encode()
        yield np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
    elif isinstance(value, partial):
        yield b"partial;"
        yield from _parts((value.func, value.args, value.keywords))
    elif isinstance(value, MethodType):
        yield b"method;"
        yield from _parts((value.__func__, value.__self__))
    elif is_dataclass(value) and not isinstance(value, type):
        yield f"{type(value).__module__}.{type(value).__qualname__};".encode()
        for field in fields(value):
            if field.name != REMARKS:
                yield f"{field.name}=".encode()
                yield from _parts(getattr(value, field.name))
    elif isinstance(value, Mapping):
        yield f"mapping {len(value)};".encode()
        for key in sorted(value, key=str):
            yield from _parts(str(key))
            yield from _parts(value[key])
    elif isinstance(value, Set):
        yield f"set {len(value)};".encode()
        yield from map(str.encode, sorted(map(value_hash, value)))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield f"sequence {len(value)};".encode()
        for start in range(0, len(value), TEXTS):
            yield from _sequence_parts(value[start : start + TEXTS])
    elif isinstance(value, PLAIN):
        yield f"{type(value).__name__} {value!r};".encode("utf-8", "surrogatepass")
    else:
        yield f"{_place_in_code(value)};".encode()


def _place_in_code(value: Any) -> str:
    """Where a function or class is found again: by its name in its module, or by its line in kgalign, whose version is known."""
    try:
        if attrgetter(value.__qualname__)(sys.modules[value.__module__]) is value:
            return f"{value.__module__}.{value.__qualname__}"
    except (AttributeError, KeyError):  # an object that is no function, or one that was made inside of another
        pass
    if isinstance(value, FunctionType) and not value.__closure__:
        module = value.__globals__["__name__"]  # a decorator may have copied that of another function
        if module.startswith("kgalign."):
            return f"{module}:{value.__code__.co_firstlineno}"
    name = getattr(value, "__qualname__", type(value).__qualname__)
    raise OptionError(
        f"{name} cannot be recognised in another process; expected a dataclass, a function with a name in a module, or a partial"
    )


def _sequence_parts(values: Sequence[Any]) -> Iterator[bytes | memoryview]:
    if all(isinstance(value, str) for value in values):
        yield np.fromiter(map(len, values), np.int64, len(values)).data
        yield "".join(values).encode("utf-8", "surrogatepass")
    else:
        for value in values:
            yield from _parts(value)
