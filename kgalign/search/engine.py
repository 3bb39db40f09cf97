"""The seam behind which the blocks of a search are worked on: local threads, or whatever else has `map`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numba


class Engine(Protocol):
    """Applies a function to blocks of rows. Blocks are independent of each other; what they share is passed beside them."""

    def map(
        self, function: Callable[..., Any], blocks: Sequence[slice], shared: Sequence[Any], *, at_once: int | None = None
    ) -> Iterable[Any]:
        """What `function(block, *shared)` returns for each block, in the order of the blocks, as soon as it is known.

        Args:
            function: A function at the top of a module, so that other processes find it. It changes nothing that it is given.
            blocks: Rows that cover all rows.
            shared: What all blocks need.
            at_once: How many blocks one machine may work on at a time; None: as many as it has cores. 1 is for functions that are
                parallel inside or need much memory.
        """
        ...

    def begin(self, step: str) -> None:
        """Says what the next blocks are for, in a few words."""
        ...


@dataclass(frozen=True)
class LocalThreads:
    """Works on blocks in threads of this process. For functions that release the interpreter, such as compiled loops.

    Attributes:
        workers: How many threads; None: as many as numba uses.
    """

    workers: int | None = None

    def map(
        self, function: Callable[..., Any], blocks: Sequence[slice], shared: Sequence[Any], *, at_once: int | None = None
    ) -> Iterator[Any]:
        workers = min(at_once or self.workers or numba.get_num_threads(), len(blocks))
        if workers < 2:
            yield from (function(block, *shared) for block in blocks)
            return
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(lambda block: function(block, *shared), blocks)

    def begin(self, step: str) -> None:
        """Tells nobody."""


@dataclass(frozen=True)
class Watched:
    """Another engine, and who hears of its steps and its blocks.

    Attributes:
        engine: Where the blocks are worked on.
        on_step: Is called with what begins.
        on_block: Is called with the number of blocks that are done, and of all of them.
    """

    engine: Engine
    on_step: Callable[[str], None]
    on_block: Callable[[int, int], None]

    def map(
        self, function: Callable[..., Any], blocks: Sequence[slice], shared: Sequence[Any], *, at_once: int | None = None
    ) -> Iterator[Any]:
        for done, result in enumerate(self.engine.map(function, blocks, shared, at_once=at_once), start=1):
            self.on_block(done, len(blocks))
            yield result

    def begin(self, step: str) -> None:
        self.on_step(step)
        self.engine.begin(step)
