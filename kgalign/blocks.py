"""Blocks of rows that the cores of this machine work on side by side."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

CELLS = 1 << 18  # of a block: its arrays fit into the cache of a core


def row_blocks(count: int, size: int) -> list[slice]:
    """Slices of at most `size` rows that cover 0..count-1."""
    return [slice(start, min(start + size, count)) for start in range(0, count, max(1, size))]


def starts_of(counts: NDArray[Any]) -> NDArray[Any]:
    """Where each row begins, and the last one ends, if each has so many entries."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def threads() -> int:
    """How many cores are used: NUMBA_NUM_THREADS, or all that this process may use."""
    given = os.environ.get("NUMBA_NUM_THREADS", "")
    return int(given) if given.isdecimal() and int(given) else available_cores()


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def by_blocks(function: Callable[..., Any], *arrays: Any) -> Any:
    """What a function of rows returns for these arrays, block by block: the same as at once, in less memory and on all cores.

    Args:
        function: Returns one array or a tuple of arrays with as many rows as it gets, each row from the same row of the arguments; their
            types do not depend on the rows.
        *arrays: Arrays with the same number of rows.
    """
    count = len(arrays[0])
    width = max(1, int(np.prod(arrays[0].shape[1:], dtype=np.int64)))
    blocks = row_blocks(count, max(1, CELLS // width))
    if len(blocks) < 2:
        return function(*arrays)
    first = function(*(array[blocks[0]] for array in arrays))
    parts = first if isinstance(first, tuple) else (first,)
    found = tuple(np.empty((count, *part.shape[1:]), part.dtype) for part in parts)

    def fill(block: slice, parts: tuple[Any, ...]) -> None:
        for whole, part in zip(found, parts, strict=True):
            whole[block] = part

    def work(block: slice) -> None:
        part = function(*(array[block] for array in arrays))
        fill(block, part if isinstance(part, tuple) else (part,))

    fill(blocks[0], parts)
    with ThreadPoolExecutor(threads()) as pool:
        list(pool.map(work, blocks[1:]))
    return found if isinstance(first, tuple) else found[0]


def one_dense_thread() -> AbstractContextManager[Any]:
    """A context in which factors and products of dense matrices take one thread.

    Where matrices are small, more threads spend their time waiting for each other, and their number could show in the last digits.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # machines with a GPU often have numpy, scipy, numba and torch, and nothing else: only time is lost
        return nullcontext()
    found: AbstractContextManager[Any] = threadpool_limits(1, "blas")
    return found
