"""The options of `kgalign align` that say where searches work: an engine, or a part of a run and its join."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kgalign.cli.printing import console
from kgalign.engines import ENGINES
from kgalign.errors import OptionError

PART = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


def check_engine(engine: str, address: str | None, part: str | None, join: bool) -> None:
    """Refuses options that do not go together, before anything is read."""
    ENGINES.check(engine)
    if address is not None and engine != "ray":
        raise OptionError(f"--address {address}: expected --engine ray with it")
    if join and part is not None:
        raise OptionError("--join and --part exclude each other: one process joins, the others are parts")
    if join and engine != "local":
        raise OptionError(f"--join and --engine {engine} exclude each other: expected one of them, or none")
    if part is not None and engine != "local":
        raise OptionError(f"--part and --engine {engine} exclude each other: expected one of them, or none")
    if part is None:
        if engine != "local":
            _make(engine, address)  # says which extra is missing, and that nobody answers
        return
    found = PART.fullmatch(part)
    if found is None or int(found[1]) > int(found[2]):
        raise OptionError(f"--part {part}: expected the number of this part and of all parts, such as 3/16")


def work_as_part(output: Path, part: str) -> None:
    """Works on blocks for the join with that output, until it is over."""
    from kgalign.search.folder_tasks import work_on_part  # which imports numba

    number, parts = map(int, part.split("/"))
    work_on_part(place_of_parts(output), number, parts, console.print)


@contextmanager
def opened_engine(engine: str, address: str | None, join: Path | None) -> Iterator[Any]:
    """The engine while the block runs; for a join: the output that its parts are given, too."""
    if join is not None:
        from kgalign.search.folder_tasks import joined

        with joined(place_of_parts(join)) as chosen:
            yield chosen
    else:
        yield _make(engine, address)


def place_of_parts(output: Path) -> Path:
    """The hidden folder beside an output in which a join and its parts work together."""
    output = output.resolve()
    return output.with_name(f".{output.name}.parts")


def _make(engine: str, address: str | None) -> Any:
    return ENGINES[engine](address) if engine == "ray" else ENGINES[engine]()
