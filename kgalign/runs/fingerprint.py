"""What a task is known by: a hash of everything that a model sees, whatever file or object it came from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from kgalign.data import AlignmentTask

TEXTS = 1 << 16  # that are joined at once
REMARKS = "record"  # fields that say how something was read, for people


def task_hashes(task: AlignmentTask) -> dict[str, str]:
    """The SHA-256 of each part of a task: the source, the target, the seeds, the queries and so on."""
    return {field.name: value_hash(getattr(task, field.name)) for field in fields(task)}


def value_hash(value: Any) -> str:
    """The SHA-256 of numbers, texts, arrays, and of dataclasses, sequences and mappings of them. Remarks do not count."""
    digest = hashlib.sha256()
    for part in _parts(value):
        digest.update(part)
    return digest.hexdigest()


def _parts(value: Any) -> Iterator[bytes | memoryview]:
    """The bytes that tell a value from all others."""
    if isinstance(value, np.ndarray):
        yield f"array {value.dtype} {value.shape};".encode()
        yield np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
    elif is_dataclass(value):
        yield f"{type(value).__name__};".encode()
        for field in fields(value):
            if field.name != REMARKS:
                yield f"{field.name}=".encode()
                yield from _parts(getattr(value, field.name))
    elif isinstance(value, Mapping):
        yield f"mapping {len(value)};".encode()
        for key in sorted(value, key=str):
            yield from _parts(str(key))
            yield from _parts(value[key])
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield f"sequence {len(value)};".encode()
        for start in range(0, len(value), TEXTS):
            yield from _sequence_parts(value[start : start + TEXTS])
    else:
        yield f"{type(value).__name__} {value!r};".encode("utf-8", "surrogatepass")


def _sequence_parts(values: Sequence[Any]) -> Iterator[bytes | memoryview]:
    if all(isinstance(value, str) for value in values):
        yield np.fromiter(map(len, values), np.int64, len(values)).data
        yield "".join(values).encode("utf-8", "surrogatepass")
    else:
        for value in values:
            yield from _parts(value)
