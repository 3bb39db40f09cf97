"""run.json, read back: whatever is in the file, what comes out has the parts and the types that a run writes."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kgalign.data import CARDINALITIES
from kgalign.errors import DataError
from kgalign.readers import read
from kgalign.runs.inputs import REPORT

DECIDED = "decided"  # the option with the last line of each log of decisions that a run was made with, by path
Check = Callable[[Any], bool]


def read_report(folder: str | Path) -> dict[str, Any]:
    """The content of run.json: options, figures and rounds of a run."""
    path = expect_file(folder, REPORT)
    try:
        report = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        report = None
    if not isinstance(report, dict):
        raise DataError(f"{path}: expected the JSON object that a run writes; the file may be cut off, so align again")
    for key, (wanted, fits, is_needed) in PARTS.items():
        if not fits(report[key]) if key in report else is_needed:
            found = "nothing" if key not in report else repr(report[key])[:60]
            raise DataError(f"{path}: expected {wanted} as `{key}`, found {found}; the file is damaged, so align again")
    return report


def reading_of(folder: str | Path, report: Mapping[str, Any]) -> dict[str, Any]:
    """How a run has read its graphs: arguments for `kgalign.read`."""
    path, arguments = Path(folder) / REPORT, report["options"].get("read")
    if not isinstance(arguments, dict):
        raise DataError(f"{path}: does not say where its graphs are; expected a run of the command kgalign align")
    known = {name: parameter.default for name, parameter in inspect.signature(read).parameters.items() if name != "gold"}
    for name, value in arguments.items():
        if name not in known or not _fits(value, known[name]):
            where = f"expected an argument of kgalign.read as `{name}` in options.read"
            raise DataError(f"{path}: {where}, found {repr(value)[:60]}; the file is damaged, so align again")
    if "source" not in arguments:
        raise DataError(f"{path}: expected a text as `source` in options.read, found nothing; the file is damaged, so align again")
    # A dataset folder can be read in either protocol. The test links of two graphs are not kept, so that these are read in the open one.
    return arguments if arguments.get("target") is not None else {**arguments, "protocol": report["protocol"]}


def expect_file(folder: str | Path, name: str) -> Path:
    """The path of a file in a run folder, which must exist."""
    path = Path(folder) / name
    if not path.parent.exists():
        raise DataError(f"{path.parent}: no such run folder; expected one that kgalign align has written")
    if not path.is_file():
        raise DataError(f"{path}: no such file; expected a run folder, as kgalign align writes it")
    return path


def _fits(value: Any, default: Any) -> bool:
    """Whether JSON holds what an argument with that default can be."""
    if isinstance(default, bool):
        return isinstance(value, bool)
    if isinstance(default, int | float):
        return _is_number(value) and (isinstance(value, int) or isinstance(default, float)) and value >= 0
    if isinstance(default, str | tuple) or default is inspect.Parameter.empty:
        return _is_text(value) if not isinstance(default, tuple) else _are_texts(value)
    if isinstance(value, dict):
        return all(_is_number(each) and each >= 0 for each in value.values())  # options by name
    if isinstance(value, list):
        return all(_is_text(each) or _are_texts(each) for each in value)
    return value is None or _is_text(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value  # which no path can hold


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _maps_to(fits: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(map(fits, value.values()))


PARTS: dict[
    str, tuple[str, Check, bool]
] = {  # of run.json that are read again: what is expected, how to tell, and whether it must be there
    "options": (
        "an object, whose `decided` has texts by path",
        lambda value: isinstance(value, dict) and _maps_to(_is_text)(value.get(DECIDED, {})),
        True,
    ),
    "protocol": ("`open` or `closed`", lambda value: value in ("open", "closed"), True),
    "cardinality": ("a cardinality", lambda value: value in CARDINALITIES, False),
    "seconds": ("an object of numbers", _maps_to(_is_number), False),
    "inputs": ("an object of SHA-256 by path", _maps_to(_is_text), False),
}
