"""Decisions of people about pairs of entities: a file of them, and which of them stand.

A file has one JSON object a line and is only ever added to. Most lines are decisions; the others take decisions back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgalign.characters import whole_characters
from kgalign.errors import DataError
from kgalign.files import read_bytes
from kgalign.limits import DEFAULT, Limits

MATCH, NO_MATCH, UNSURE, SKIP = "match", "no match", "unsure", "skip"
VERDICTS = (MATCH, NO_MATCH, UNSURE, SKIP)
DRAWN = QUEUE, CHECK, SEARCH = "queue", "check", "search"
TEXTS = ("id", "source", "target", "author", "at", "batch", "shown")
BEGINS = b'{"id": "'  # every line that is written here
EXPECTED = "a decision, as `kgalign review` writes it"


@dataclass(frozen=True)
class Decision:
    """What a person said about a pair of entities.

    Attributes:
        id: Tells it from all others; whoever asks for a decision makes it, so that asking twice decides once.
        verdict: `match`, `no match`, `unsure` or `skip`.
        source: The IRI of the source entity.
        target: The IRI of the target entity. Empty: the source has no counterpart at all.
        author: Who decided.
        at: When, in UTC.
        probability: The probability of the link when it was decided.
        drawn: Why it was shown: `queue`, `check` (drawn at random to measure) or `search`.
        batch: The id of the request that decided many links at once; empty for a single decision.
        batch_size: How many it decided.
        shown: The IRI of the target that was shown, where the person chose another one.
        linked: Whether what was shown was a link of the run; None: nobody asked.
    """

    id: str
    verdict: str
    source: str
    target: str
    author: str = ""
    at: str = ""
    probability: float | None = None
    drawn: str = QUEUE
    batch: str = ""
    batch_size: int = 0
    shown: str = ""
    linked: bool | None = None

    @property
    def pair(self) -> tuple[str, str]:
        return self.source, self.target

    @property
    def request(self) -> str:
        """What an undo names to take it back: its id, or that of its batch."""
        return self.batch or self.id

    def as_line(self) -> dict[str, Any]:
        """The object that a file has for it."""
        found = {"id": self.id, "verdict": self.verdict, "source": self.source, "target": self.target, "author": self.author}
        more: dict[str, Any] = {"at": self.at, "probability": self.probability, "drawn": self.drawn}
        more |= {"shown": self.shown} if self.shown else {}
        more |= {"linked": self.linked} if self.linked is not None else {}
        return found | more | ({"batch": self.batch, "batch_size": self.batch_size} if self.batch else {})


@dataclass(frozen=True)
class Undo:
    """Takes back a decision, or all of a batch.

    Attributes:
        id: Tells it from all others.
        undo: The id of the decision or of the batch.
        author: Who took it back.
        at: When, in UTC.
    """

    id: str
    undo: str
    author: str = ""
    at: str = ""

    def as_line(self) -> dict[str, Any]:
        """The object that a file has for it."""
        return {"id": self.id, "undo": self.undo, "author": self.author, "at": self.at}


Entry = Decision | Undo


@dataclass(frozen=True)
class Standing:
    """What decisions say together.

    Attributes:
        matches: The decision that stands for each pair that is a match.
        rejected: The same for each pair that is none.
        alone: The same for each source without a counterpart.
        unsure: The same for each pair that nobody could decide.
        conflicts: Decisions that cannot all be right; of each group the last one stands.
    """

    matches: dict[tuple[str, str], Decision] = field(default_factory=dict)
    rejected: dict[tuple[str, str], Decision] = field(default_factory=dict)
    alone: dict[str, Decision] = field(default_factory=dict)
    unsure: dict[tuple[str, str], Decision] = field(default_factory=dict)
    conflicts: list[tuple[Decision, ...]] = field(default_factory=list)


def decisions_beside(folder: str | Path) -> Path:
    """The file beside a run folder that keeps the decisions about it, unless another one is named."""
    whole = Path(folder).resolve()
    return whole.with_name(f"{whole.name}.decisions.jsonl")


def read_decisions(path: str | Path, limits: Limits = DEFAULT) -> list[Entry]:
    """The lines of a file of decisions. Half a line at its end, of a process that was killed, does not count."""
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path}: no such file; expected {EXPECTED}")
    content = read_bytes(path, limits)
    whole = whole_lines(content)
    found = entries_of(whole, path)
    check_half(content[len(whole) :], path, whole.count(b"\n") + 1)
    return found


def whole_lines(content: bytes) -> bytes:
    """The content without half a line at its end. A last line that only lacks its line end is whole."""
    end = content.rfind(b"\n") + 1
    last = content[end:]
    try:
        parse_line(last)
    except ValueError:
        return content[:end]
    return content + b"\n"


def check_half(half: bytes, path: Path, number: int) -> None:
    """Refuses half a line that no decision begins with: it is of another file."""
    if half[: len(BEGINS)] != BEGINS[: len(half)]:
        raise DataError(f"{path}:{number}: expected {EXPECTED}, found {half[:40].decode('utf-8', 'replace')!r}")


def entries_of(content: bytes, path: Path, first: int = 1) -> list[Entry]:
    """The decisions and undos in whole lines, of which the first has that number in its file."""
    found: list[Entry] = []
    for number, line in enumerate(content.split(b"\n")[:-1], start=first):
        if not line.strip():
            continue
        try:
            found.append(parse_line(line))
        except ValueError as error:
            raise DataError(f"{path}:{number}: expected {EXPECTED}, but {error}; correct or remove the line") from None
    return found


def parse_line(line: bytes) -> Entry:
    """The decision or undo of a line.

    Raises:
        ValueError: It is something else, and what.
    """
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError(f"found no JSON: {line[:40].decode('utf-8', 'replace')!r}") from None
    if not isinstance(given, dict):
        raise ValueError(f"found {type(given).__name__}")
    if "undo" in given:
        return Undo(**{name: _text(given, name, name in ("id", "undo")) for name in ("id", "undo", "author", "at")})
    texts = {name: _text(given, name, name in ("id", "source")) for name in TEXTS}
    verdict, drawn, size = given.get("verdict"), given.get("drawn", QUEUE), given.get("batch_size", 0)
    if verdict not in VERDICTS:
        raise ValueError(f"found {str(verdict)[:20]!r} as `verdict`: one of {', '.join(VERDICTS)} would do")
    if verdict == MATCH and not texts["target"]:
        raise ValueError("found a match without a `target`")
    if drawn not in DRAWN:
        raise ValueError(f"found {str(drawn)[:20]!r} as `drawn`: one of {', '.join(DRAWN)} would do")
    probability = given.get("probability")
    if probability is not None and not (_is_number(probability) and 0 <= probability <= 1):
        raise ValueError(f"found {str(probability)[:20]!r} as `probability`: a number from 0 to 1 would do")
    if not isinstance(size, int) or isinstance(size, bool):
        raise ValueError(f"found {str(size)[:20]!r} as `batch_size`: a whole number would do")
    linked = given.get("linked")
    if linked is not None and not isinstance(linked, bool):
        raise ValueError(f"found {str(linked)[:20]!r} as `linked`: true or false would do")
    return Decision(**texts, verdict=verdict, drawn=drawn, probability=probability, batch_size=size, linked=linked)


def not_undone(entries: Iterable[Entry]) -> list[Decision]:
    """The decisions that nobody took back, in their order. An undo takes back what came before it."""
    valid: dict[int, Decision] = {}
    by_request: dict[str, list[int]] = {}
    for number, entry in enumerate(entries):
        if isinstance(entry, Undo):
            for each in by_request.pop(entry.undo, ()):
                del valid[each]
        else:
            valid[number] = entry
            by_request.setdefault(entry.request, []).append(number)
    return list(valid.values())


def ever_made(entries: Iterable[Entry]) -> Standing:
    """All matches, rejected pairs and sources without a counterpart that were ever decided, whether they stand or not."""
    made = Standing()
    for each in entries:
        if isinstance(each, Decision) and each.verdict == MATCH:
            made.matches[each.pair] = each
        elif isinstance(each, Decision) and each.verdict == NO_MATCH and each.target:
            made.rejected[each.pair] = each
        elif isinstance(each, Decision) and each.verdict == NO_MATCH:
            made.alone[each.source] = each
    return made


def last_of_each(decisions: Iterable[Decision]) -> list[Decision]:
    """The last decision of each author about each pair, in their order. To skip a pair says nothing about it."""
    last: dict[tuple[str, str, str], Decision] = {}
    for each in decisions:
        if each.verdict != SKIP:
            key = each.author, each.source, each.target
            last.pop(key, None)
            last[key] = each
    return list(last.values())


def stand(decisions: Sequence[Decision], single: tuple[bool, bool] = (True, True)) -> Standing:
    """What stands of decisions that nobody took back. A later decision replaces earlier ones that cannot hold beside it.

    Such decisions are a conflict if two people made them, or if they give one target to two sources. Who is unsure contradicts nobody.

    Args:
        decisions: In the order in which they were made.
        single: Whether a source, and whether a target, has one match at most.
    """
    standing = Standing()
    matched: tuple[dict[str, set[str]], dict[str, set[str]]] = ({}, {})  # the targets of each source, and the reverse
    groups: dict[str, list[Decision]] = {}  # decisions of one conflict, by the id of each
    for each in last_of_each(decisions):
        pair = each.pair
        if each.verdict == UNSURE:
            if pair not in standing.matches and pair not in standing.rejected:
                standing.unsure[pair] = each
            continue
        for other in _contradicting(each, standing, matched, single):
            _take_out(other, standing, matched)
            if other.author != each.author or other.source != each.source:
                _join(groups, other, each)
        standing.unsure.pop(pair, None)
        if each.verdict == MATCH:
            standing.matches[pair] = each
            for own, one, two in zip(matched, pair, reversed(pair), strict=True):
                own.setdefault(one, set()).add(two)
        elif each.target:
            standing.rejected[pair] = each
        else:
            standing.alone[each.source] = each
    standing.conflicts.extend({id(group): tuple(group) for group in groups.values()}.values())
    return standing


def _contradicting(
    decision: Decision, standing: Standing, matched: tuple[dict[str, set[str]], dict[str, set[str]]], single: tuple[bool, bool]
) -> list[Decision]:
    """The standing decisions that cannot hold beside a later one."""
    source, target = pair = decision.pair
    targets = matched[0].get(source, set())
    if decision.verdict == MATCH:
        rivals = {(source, other) for other in targets if single[0]}
        rivals |= {(other, target) for other in matched[1].get(target, set()) if single[1]}
        found = [standing.matches[rival] for rival in sorted(rivals - {pair})]
        found += [standing.rejected[pair]] if pair in standing.rejected else []
        return found + ([standing.alone[source]] if source in standing.alone else [])
    if target:
        return [standing.matches[pair]] if pair in standing.matches else []
    return [standing.matches[source, other] for other in sorted(targets)]


def _take_out(decision: Decision, standing: Standing, matched: tuple[dict[str, set[str]], dict[str, set[str]]]) -> None:
    if decision.verdict == MATCH:
        del standing.matches[decision.pair]
        matched[0][decision.source].discard(decision.target)
        matched[1][decision.target].discard(decision.source)
    elif decision.target:
        del standing.rejected[decision.pair]
    else:
        del standing.alone[decision.source]


def _join(groups: dict[str, list[Decision]], one: Decision, other: Decision) -> None:
    """Puts two decisions into one conflict, with all that either is in already."""
    group = groups.setdefault(one.id, [one])
    for each in groups.get(other.id, [other]):
        if each not in group:
            group.append(each)
    for each in group:
        groups[each.id] = group


def _text(given: dict[str, Any], name: str, is_needed: bool) -> str:
    text = given.get(name, "")
    if not isinstance(text, str) or (is_needed and not text):
        raise ValueError(f"found {str(text)[:20]!r} as `{name}`: a text would do")
    return whole_characters(text)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
