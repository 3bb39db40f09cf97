"""The requests that the page of the review makes: what each must hold, and what the session answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kgalign.errors import OptionError
from kgalign.review.rows import Filters
from kgalign.review.session import ReviewSession

LONGEST = 8192  # characters of a text
LONGEST_AUTHOR = 80
MOST_ROWS = 200  # of an answer
FILTERS = ("class", "from", "to", "round", "text", "verdict")

Given = Mapping[str, Any]  # what a request holds: texts of an address, or values of a JSON object


def next_item(session: ReviewSession, given: Given) -> Any:
    """The next link that this author is asked about, or null: nothing is left."""
    item = session.next(_author(given), _filters(given))
    return item.as_json() if item else None


def one_item(session: ReviewSession, given: Given) -> Any:
    """Any pair, or a source by itself."""
    return session.item(_text(given, "source"), _text(given, "target", "")).as_json()


def links(session: ReviewSession, given: Given) -> Any:
    """Some rows of the list of links."""
    limit = min(_whole(given, "limit", 50), MOST_ROWS)
    return session.links(_filters(given), offset=_whole(given, "offset", 0), limit=limit, sort=_text(given, "sort", "probability"))


def search(session: ReviewSession, given: Given) -> Any:
    """The entities of both graphs that a text fits."""
    return session.search(_text(given, "text"), limit=min(_whole(given, "limit", 20), MOST_ROWS))


def above(session: ReviewSession, given: Given) -> Any:
    """How many undecided links are at or above a line, and how many of them are probably wrong."""
    return session.above(_part(given, "line"), _filters(given))


def summary(session: ReviewSession, given: Given) -> Any:
    """The decisions, what they say about the links, and what they have changed."""
    return session.summary().as_json()


def changes(session: ReviewSession, given: Given) -> Any:
    """What the decisions have changed since the run, or that the run goes on at the moment."""
    return session.changes().as_json()


def export(session: ReviewSession, given: Given) -> Any:
    """The decisions that stand as a file of SSSOM."""
    return {"name": f"{session.path.stem}.sssom.tsv", "text": session.sssom()}


def decide(session: ReviewSession, given: Given) -> Any:
    """Keeps a decision."""
    probability = _part(given, "probability") if given.get("probability") is not None else None
    return session.decide(
        _author(given),
        _text(given, "source"),
        _text(given, "target", ""),
        _text(given, "verdict"),
        request=_text(given, "request"),
        drawn=_text(given, "drawn", "queue"),
        probability=probability,
    ).as_line()


def undo(session: ReviewSession, given: Given) -> Any:
    """Takes back the last decision of an author; null: there is none."""
    decision = session.undo(_author(given), _text(given, "request"))
    return decision.as_line() if decision else None


def accept(session: ReviewSession, given: Given) -> Any:
    """Accepts all undecided links at or above a line, if they are still as many as the page has shown."""
    filters = given.get("filters")
    if not isinstance(filters, dict):
        raise OptionError("filters: expected a JSON object")
    line, links = _part(given, "line"), _whole(given, "links", 0)
    return {"accepted": session.accept_above(_author(given), line, _filters(filters), _text(given, "request"), links=links)}


def go_on(session: ReviewSession, given: Given) -> Any:
    """Lets the run go on with the decisions, in the background."""
    session.go_on()
    return session.changes().as_json()


READS: dict[str, Callable[[ReviewSession, Given], Any]] = {
    "next": next_item,
    "item": one_item,
    "links": links,
    "search": search,
    "above": above,
    "summary": summary,
    "changes": changes,
    "export": export,
}
CHANGES: dict[str, Callable[[ReviewSession, Given], Any]] = {"decide": decide, "undo": undo, "accept": accept, "go-on": go_on}


def _filters(given: Given) -> Filters:
    """The filters of a request; those that it does not name let everything through."""
    return Filters.of({name: _text({name: str(given[name])}, name) for name in FILTERS if given.get(name) is not None})


def _author(given: Given) -> str:
    name = " ".join(_text(given, "author").split())
    if not 0 < len(name) <= LONGEST_AUTHOR:
        raise OptionError(f"author: expected a name of at most {LONGEST_AUTHOR} characters")
    return name


def _text(given: Given, name: str, default: str | None = None) -> str:
    value = given.get(name, default)
    if not isinstance(value, str) or len(value) > LONGEST:
        raise OptionError(f"{name}: expected a text of at most {LONGEST:,} characters")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise OptionError(f"{name}: expected a text without half characters") from None
    return value


def _whole(given: Given, name: str, default: int) -> int:
    value = str(given.get(name, default))
    if not (value.isascii() and value.isdecimal() and len(value) < 16):
        raise OptionError(f"{name}: expected a whole number, 0 or more")
    return int(value)


def _part(given: Given, name: str) -> float:
    try:
        value = float(given.get(name, ""))
    except (TypeError, ValueError, OverflowError):
        value = -1.0
    if not 0 <= value <= 1:
        raise OptionError(f"{name}: expected a number from 0 to 1")
    return value
