"""Folders of real graphs with gold links: which sets there are, and how each is judged."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgalign.data import CARDINALITIES, Cardinality
from kgalign.errors import DataError, OptionError
from kgalign.files import read_rows

FACTS = "sets.json"
GOLD = "gold.tsv"
SIDES = ("source", "target")
FORM = "a set is a folder with source.*, target.* and gold.tsv, or with such folders in it"
JUDGED = ("C", "K", "T")
BEST_PEER = re.compile(r"(.+?) [01]?\.\d")  # the name before the first figure: sets.json lists the best peer first

Gold = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class TableFacts:
    """How a pair of tables is written; None: it is found out.

    Attributes:
        separator: The character between two cells.
        encoding: The encoding of both files.
        ids: The name of the id column of the source and of the target.
    """

    separator: str | None = None
    encoding: str | None = None
    ids: tuple[str | None, str | None] = (None, None)


@dataclass(frozen=True)
class RealPair:
    """Two files and the gold links between their entities.

    Attributes:
        source: The source file.
        target: The target file.
        gold: The gold links, as the ids that entities have in the files.
    """

    source: Path
    target: Path
    gold: Gold

    @property
    def is_table(self) -> bool:
        return ".csv" in self.source.suffixes or ".tsv" in self.source.suffixes


@dataclass(frozen=True)
class RealSet:
    """Pairs of files whose counts are summed.

    Attributes:
        name: The name of its folder.
        pairs: The pairs.
        judged: The links that count. C: all links. K: those with an end of a type that gold entities have. T: those with an end in the gold.
        kind: What it is, in a few words.
        peer: A published F1 of another system, for comparison.
        peer_name: The name of that system.
        cardinality: How many links the entities of each side have.
        table: How its tables are written.
    """

    name: str
    pairs: tuple[RealPair, ...]
    judged: str = "T"
    kind: str = ""
    peer: float | None = None
    peer_name: str = ""
    cardinality: Cardinality = "one-to-one"
    table: TableFacts = TableFacts()

    @property
    def facts(self) -> dict[str, Any]:
        """What lines of results say of the set."""
        return {
            "kind": self.kind,
            "judged": self.judged,
            "cardinality": self.cardinality,
            "pairs": len(self.pairs),
            "peer": self.peer,
            "peer_name": self.peer_name,
        }


def find_sets(data: Path, parts: Sequence[str] = ()) -> list[RealSet]:
    """The sets of a folder: those that its sets.json lists, in that order, then other folders of the same form.

    Args:
        data: The folder, or the folder of a single set.
        parts: Parts of the names of the sets to take; empty: all.
    """
    if not data.is_dir():
        raise DataError(f"{data}: no such folder; expected a folder of sets: {FORM}")
    facts = _read_facts(data / FACTS)
    found = {name: data / name for name in facts}
    if _is_pair(data):
        found[data.resolve().name] = data
    else:
        inside = [folder for folder in sorted(data.iterdir()) if folder.is_dir() and any(map(_is_pair, _folders(folder)))]
        found |= {folder.name: folder for folder in inside}
    if not found:
        raise DataError(f"{data}: no set in this folder; {FORM}")
    chosen = [name for name in found if not parts or any(part in name for part in parts)]
    if not chosen:
        raise OptionError(f"no set is called like {' or '.join(parts)}: {data} has {', '.join(found)}")
    return [_make_set(name, found[name], facts.get(name, {})) for name in chosen]


def _make_set(name: str, folder: Path, fact: Mapping[str, Any]) -> RealSet:
    pairs = tuple(_read_pair(place) for place in _folders(folder) if _is_pair(place))
    if not pairs:
        raise DataError(f"{folder}: expected the files of a set that {FACTS} lists, found none; {FORM}")
    table, peers = fact.get("table", {}), str(fact.get("peers", ""))
    named = BEST_PEER.match(peers)
    return RealSet(
        name,
        pairs,
        judged=fact.get("judged", "T"),
        kind=fact.get("kind", ""),
        peer=fact.get("peer"),
        peer_name=named[1] if named else peers if fact.get("peer") is not None else "",
        cardinality=fact.get("cardinality", "one-to-one"),
        table=TableFacts(table.get("separator"), table.get("encoding"), tuple(table.get("id", (None, None)))),
    )


def _folders(folder: Path) -> list[Path]:
    """The folder and all folders in it."""
    return [folder, *(path for path in sorted(folder.rglob("*")) if path.is_dir())] if folder.is_dir() else []


def _is_pair(folder: Path) -> bool:
    """Whether the folder has some of the files of a pair."""
    return (folder / GOLD).is_file() or all(any(folder.glob(f"{side}.*")) for side in SIDES)


def _read_pair(folder: Path) -> RealPair:
    sides = []
    for side in SIDES:
        files = sorted(folder.glob(f"{side}.*"))
        if len(files) != 1:
            raise DataError(
                f"{folder}: expected one file {side}.*, found {', '.join(file.name for file in files) or 'none'}; {FORM}"
            )
        sides.append(files[0])
    file = folder / GOLD
    if not file.is_file():
        raise DataError(
            f"{file}: no such file; expected the gold links of {folder.name}, a source and a target on each line; {FORM}"
        )
    gold = tuple(dict.fromkeys((source, rest.split("\t")[0]) for _, (source, rest) in read_rows(file, 2)))
    if not gold:
        raise DataError(f"{file}: expected at least one gold link, found none")
    return RealPair(sides[0], sides[1], gold)


def _read_facts(file: Path) -> dict[str, dict[str, Any]]:
    """What sets.json says of each set; nothing if there is no such file."""
    if not file.is_file():
        return {}
    try:
        facts = json.loads(file.read_text("utf-8"))
    except json.JSONDecodeError as error:
        raise DataError(f"{file}:{error.lineno}: expected JSON, but {error.msg}; mend it, or remove the file") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{file}: expected UTF-8, but {error.reason}; convert the file") from None
    if not isinstance(facts, dict):
        raise DataError(f"{file}: expected an object with the name of each set, found {_shown(facts)}")
    for name, fact in facts.items():
        _check_fact(f"{file}: {name}", fact)
    return facts


def _check_fact(where: str, fact: Any) -> None:
    if not isinstance(fact, dict):
        raise DataError(f'{where}: expected an object such as {{"judged": "C"}}, found {_shown(fact)}')
    for name, allowed in (("judged", JUDGED), ("cardinality", CARDINALITIES)):
        if name in fact and fact[name] not in allowed:
            raise DataError(f"{where}: {name}: expected {', '.join(allowed)}, found {_shown(fact[name])}")
    for name in ("kind", "peers"):
        if not isinstance(fact.get(name, ""), str):
            raise DataError(f"{where}: {name}: expected a text, found {_shown(fact[name])}")
    if not isinstance(fact.get("peer", 0.0), int | float | None):
        raise DataError(f"{where}: peer: expected an F1 from 0 to 1, found {_shown(fact['peer'])}")
    table = fact.get("table", {})
    ids = table.get("id", ["", ""]) if isinstance(table, dict) else None
    if not isinstance(ids, list) or len(ids) != 2:
        raise DataError(
            f"{where}: table: expected separator, encoding and id, which has the id column of both sides, found {_shown(table)}"
        )


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:60]
