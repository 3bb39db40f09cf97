"""Blocks of a search as tasks of Ray Core, on all machines of a cluster. It needs the extra `ray`."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # read when ray is imported: it would report its use to its makers
os.environ.setdefault("RAY_task_oom_retries", "20")  # likewise: RETRIES, of tasks that are killed for their memory

import ray
from ray.exceptions import RayError, RayTaskError

from kgalign.characters import first_line
from kgalign.errors import KgalignError, OptionError
from kgalign.search.engine import LocalThreads
from kgalign.version import __version__

PLACE = re.compile(r"(?:ray://)?([^/\s]+):(\d{1,5})")  # of a machine and its port
RETRIES = 20  # of a task whose process or machine is killed: a block that always does so must not run for ever
PATIENCE = 10.0  # seconds that a cluster may take to answer


@dataclass(frozen=True)
class RayTasks:
    """Works on each block in a task. A task whose process or machine is killed runs again, so the result is the same, later.

    The driver puts what the blocks share into the object store, where the processes of a machine read it without a copy. Only their results
    come back. Blocks are the same as those of local threads, and so are the bytes. Products of dense matrices stay in the driver.

    Attributes:
        address: Of a cluster that runs, such as `auto` or `ray://host:10001`. None: one is started on this machine.
        store_mb: How much shared memory the object store may take on this machine, where one is started; None: Ray decides.
    """

    address: str | None = None
    store_mb: int | None = None

    def __post_init__(self) -> None:
        found = PLACE.fullmatch(self.address or "")
        if found is None:
            return
        try:
            socket.create_connection((found[1], int(found[2])), PATIENCE).close()
        except (OSError, OverflowError) as error:  # Ray itself would try for minutes
            raise _nobody_answers(self.address, error) from None

    def map(
        self, function: Callable[..., Any], blocks: Sequence[slice], shared: Sequence[Any], *, at_once: int | None = None
    ) -> Iterator[Any]:
        if at_once is not None:  # products of dense matrices: their last digits depend on the threads that a process has
            yield from LocalThreads().map(function, blocks, shared, at_once=at_once)
            return
        self._connect()
        task = ray.remote(_work).options(num_cpus=1, max_retries=RETRIES)
        given = ray.put((__version__, function, tuple(shared)))  # by the driver: what a worker puts there is lost with it
        waiting = [task.remote(block, given) for block in blocks]
        try:
            for block in blocks:
                try:
                    result = ray.get(waiting[0])
                except RayError as error:
                    raise _failed(block, error) from error
                yield result
                waiting.pop(0)
        finally:
            for each in waiting:
                ray.cancel(each, force=True)

    def begin(self, step: str) -> None:
        """Tells nobody."""

    def _connect(self) -> None:
        if ray.is_initialized():
            return
        store = None if self.store_mb is None else self.store_mb * 2**20
        started = {} if self.address is not None else {"include_dashboard": False, "object_store_memory": store}
        try:
            ray.init(self.address or "local", log_to_driver=False, logging_level="ERROR", **started)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise _nobody_answers(self.address, error) from None


def _work(block: slice, given: tuple[str, Callable[..., Any], tuple[Any, ...]]) -> Any:
    version, function, shared = given
    if version != __version__:
        raise OptionError(f"{socket.gethostname()} has kgalign {__version__}; the process that aligns has {version}")
    return function(block, *shared)


def _failed(block: slice, error: RayError) -> KgalignError:
    reason = first_line(error.cause if isinstance(error, RayTaskError) else error)
    return KgalignError(
        f"rows {block.start:,} to {block.stop:,} of a search cannot be worked on in the cluster ({reason}); "
        "expected the same version of kgalign and enough memory on all its machines"
    )


def _nobody_answers(address: str | None, error: Exception) -> OptionError:
    return OptionError(
        f"`address` {address}: no cluster of Ray answers there ({error}); expected one such as `auto`, after `ray start --head`"
    )
