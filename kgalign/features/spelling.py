"""How the values of one property are written: decimal commas, the order of day and month, dates of eight digits, addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

NUMERIC_DATE = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})")  # 25.06.1982 or 6/25/1982
DIGIT_DATE = re.compile(r"((?:1\d|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")  # 19820625
# A number with at most a unit or currency on either side: what stands before, the number, what stands behind.
AMOUNT = re.compile(r"([^\d.,+-]{0,4}[+-]?)(\d[\d.,'’ \u00a0\u202f]*)((?<=\d)|(?<=[\d ])[^\d.,]{1,12})")
DECIMAL_COMMA = re.compile(r"\d+,(?:\d{1,2}|\d{4,})|0,\d+|\d{1,3}(?:[.'’ \u00a0\u202f]\d{3})+,\d+")
DECIMAL_POINT = re.compile(r"\d{1,3}(?:[,'’ \u00a0\u202f]\d{3})+\.\d+|\d+\.(?:\d{1,2}|\d{4,})|0\.\d+|\d{1,3}(?:,\d{3}){2,}")
THOUSANDS = re.compile(r"(?<=\d)[.'’ \u00a0\u202f](?=\d{3}(?!\d))")
WEB = re.compile(r"(?:https?|ftp)://\S+|www\.\S+", re.IGNORECASE)
DOMAIN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?", re.IGNORECASE)
MAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
SAMPLE = 10_000  # values of a property that are examined at most
MOSTLY = 0.9  # share of the values that must be so
MOST_CONTRARY = 0.05  # share of the telling values that may tell the contrary


@dataclass(frozen=True)
class Spelling:
    """How the values of a property are written.

    Attributes:
        decimal_comma: `1.234` is 1234, and `1,234` is a little more than 1.
        day_first: `03/05/1982` is in May; False: it is in March; None: nobody knows.
        digit_dates: `19820625` is a date.
        unit: The unit or currency of all values, which says nothing of a single one.
        is_web: The values are addresses of pages, perhaps without `http://` and `www.`.
    """

    decimal_comma: bool = False
    day_first: bool | None = None
    digit_dates: bool = False
    unit: str = ""
    is_web: bool = False


PLAIN = Spelling()


def spellings_of(columns: Iterable[Sequence[str]]) -> list[Spelling]:
    """How the values of each property of a graph are written. Where `1,234` may mean either, the other properties decide.

    >>> spellings_of([["48,5", "2.390,96"], ["1,234"]])[1].decimal_comma
    True
    >>> spellings_of([["25/03/1961", "03/05/1982"]])[0].day_first
    True
    """
    values = [[value for cell in _sample(column) if (value := cell.strip())] for column in columns]
    amounts = [[found for value in own if (found := AMOUNT.fullmatch(value))] for own in values]
    numbers = [[found[2].strip() for found in own] for own in amounts]
    commas = [_prevails(own, DECIMAL_COMMA.fullmatch, DECIMAL_POINT.fullmatch) for own in numbers]
    usual = True in commas and False not in commas
    return [
        PLAIN
        if not texts
        else Spelling(
            decimal_comma=usual and any("," in value for value in own) if comma is None else comma,
            day_first=_prevails(texts, _is_day_first, _is_month_first),
            digit_dates=bool(texts) and all(map(DIGIT_DATE.fullmatch, texts)),
            unit=_unit(found[0]) if found and len(found) == len(texts) and len(set(map(_unit, found))) == 1 else "",
            is_web=_mostly(texts, is_web_address),
        )
        for texts, found, own, comma in zip(values, amounts, numbers, commas, strict=True)
    ]


def units_of(columns: Iterable[Sequence[str]]) -> set[str]:
    """The units and currencies of all values.

    >>> sorted(units_of([["5 kg", "$ 7"], ["12"]]))
    ['$', 'kg']
    """
    amounts = (AMOUNT.fullmatch(value.strip()) for column in columns for value in set(_sample(column)))
    return {_unit(found) for found in amounts if found} - {""}


def with_points(value: str) -> str:
    """The value with a decimal point instead of a comma, and without signs between thousands; as it is where it is no number.

    >>> with_points("2.390,96 €"), with_points("1 234,5"), with_points("A,1")
    ('2390.96 €', '1234.5', 'A,1')
    """
    found = AMOUNT.fullmatch(value)
    if not found or found[2].count(",") > 1:
        return value
    return f"{found[1]}{THOUSANDS.sub('', found[2]).replace(',', '.')}{found[3]}"


def is_web_address(value: str) -> bool:
    """Whether a value is the address of a page, perhaps without `http://` and `www.`."""
    return WEB.fullmatch(value) is not None or DOMAIN.fullmatch(value) is not None


def are_addresses(values: Sequence[str]) -> bool:
    """Whether nearly all values are addresses of pages or of mail."""
    return _mostly(values, lambda value: is_web_address(value) or MAIL.fullmatch(value) is not None)


def _sample(column: Sequence[str]) -> Sequence[str]:
    return column[:: max(1, len(column) // SAMPLE)]


def _unit(amount: re.Match[str]) -> str:
    return (amount[1].strip(" +-") + amount[3].strip()).casefold()


def _mostly(values: Sequence[str], holds: Callable[[str], object]) -> bool:
    return bool(values) and sum(bool(holds(value)) for value in values) >= MOSTLY * len(values)


def _prevails(values: Sequence[str], speaks_for: Callable[[str], object], against: Callable[[str], object]) -> bool | None:
    """Whether values tell so, False: the contrary, None: neither, or both."""
    ours, theirs = (sum(bool(tells(value)) for value in values) for tells in (speaks_for, against))
    if min(ours, theirs) > MOST_CONTRARY * (ours + theirs) or ours == theirs:
        return None
    return ours > theirs


def _is_day_first(value: str) -> bool:
    found = NUMERIC_DATE.fullmatch(value)
    return found is not None and int(found[1]) > 12 >= int(found[3])


def _is_month_first(value: str) -> bool:
    found = NUMERIC_DATE.fullmatch(value)
    return found is not None and int(found[3]) > 12 >= int(found[1])
