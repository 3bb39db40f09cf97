"""The seam behind which the blocks of a search are worked on: local threads, or whatever else has `map`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numba


class Engine(Protocol):
    """Applies a function to blocks of rows. Blocks are independent of each other; what they share is passed beside them."""

    def map(self, function: Callable[..., Any], blocks: Sequence[slice], shared: Sequence[Any]) -> list[Any]:
        """What `function(block, *shared)` returns for each block, in the order of the blocks."""
        ...


@dataclass(frozen=True)
class LocalThreads:
    """Works on blocks in threads of this process. For functions that release the interpreter, such as compiled loops.

    Attributes:
        workers: How many threads; None: as many as numba uses.
    """

    workers: int | None = None

    def map(self, function: Callable[..., Any], blocks: Sequence[slice], shared: Sequence[Any]) -> list[Any]:
        workers = min(self.workers or numba.get_num_threads(), len(blocks))
        if workers < 2:
            return [function(block, *shared) for block in blocks]
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(lambda block: function(block, *shared), blocks))


ONE_BY_ONE = LocalThreads(1)  # for functions that are parallel inside: matrix products, a GPU
