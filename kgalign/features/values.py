"""The values of literals in one spelling: dates, numbers, measures, telephone numbers, codes and texts."""

from __future__ import annotations

import math
import re
import unicodedata

from kgalign.features.spelling import DIGIT_DATE, NUMERIC_DATE, PLAIN, Spelling, is_web_address, with_points
from kgalign.features.words import fold

DATE = re.compile(r"([+-]?\d{4,6})-(\d\d)(?:-(\d\d))?(?:T[\d:.]+| \d\d:[\d:.]+)?(?:Z|[+-]\d\d:\d\d)?")
YEAR = re.compile(r"([+-]?\d{4,6})(?:Z|[+-]\d\d:\d\d)")  # without a time zone it is a number like others
SPELT_DATE = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|\.)?[ -](?:de |of )?([^\W\d_]{3,10})\.?,?[ -](?:de )?(\d{4})")  # 25 June 1982
MONTH_FIRST = re.compile(r"([^\W\d_]{3,10})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})")  # June 25, 1982
YEAR_FIRST = re.compile(r"(\d{4})[./](\d{1,2})[./](\d{1,2})")
NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
MEASURE = re.compile(
    r"([$€£¥]|[A-Z]{3})? ?((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\d+,\d{1,2}|\d{1,3}(?:\.\d{3})+,\d\d) ?([$€£¥%°]|[^\W\d_]{1,12}\.?)?"
)
TELEPHONE = re.compile(r"(?=.*[ ()/.+-])\+?[\d ()/.-]{8,24}")
OTHER_DIGIT = re.compile(r"[^\D0-9]")  # of another script
DECIMAL = re.compile(r"(?<=\d)[.,](?=\d)")
BEGINNINGS = tuple("+-.0123456789")  # of dates and numbers
ADDRESS = re.compile(r"https?://(?:www\.)?|www\.(?=\S+$)", re.IGNORECASE)
EXACT_DIGITS = 15  # of an integer that a float holds exactly; longer ones are identifiers
YEARS = (1000, 2100)  # integers that are compared as years, for which near is not near enough
FEW = 100  # integers below count something: 12 is not nearly 13
GRID = 0.01  # relative width of the grids on which near numbers meet
LONGEST = 200  # characters of a text that are compared
FEWEST_DIGITS = 7  # of a telephone number without the codes of country and town
LONGEST_CODE = 12  # characters of a code that may be written in parts, such as a postcode
MONTHS = {
    name: number
    for names in (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    )
    for number, name in enumerate(names.split(), start=1)
}

Values = tuple[str, list[str], bool]


def value_features(value: str, spelling: Spelling = PLAIN) -> Values:
    """The exact value of a literal, its approximate values, and whether it is a date or a number. An empty literal has no value.

    Args:
        value: The text of the literal.
        spelling: How the values of its property are written, see `kgalign.features.spelling.spellings_of`.

    >>> value_features("1982-06-25") == value_features("25 June 1982")
    True
    >>> value_features("1982-06-25")
    ('1982-06-25', ['1982'], True)
    >>> value_features("+12.0") == value_features("1.2e1")
    True
    >>> value_features("2.390,96", Spelling(decimal_comma=True)) == value_features("2390.96")
    True
    """
    value = value.strip()[:LONGEST]
    if not value.isascii():
        value = unicodedata.normalize("NFKC", value).replace("\N{MINUS SIGN}", "-")
        value = OTHER_DIGIT.sub(lambda found: str(unicodedata.decimal(found[0])), value)
    if spelling.digit_dates and (found := DIGIT_DATE.fullmatch(value)):
        value = "-".join(found.groups())
    elif spelling.decimal_comma:
        value = with_points(value)
    if value.startswith(BEGINNINGS):
        if found := YEAR.fullmatch(value):
            return str(int(found[1])), [], True
        if found := DATE.fullmatch(value):
            year = str(int(found[1]))
            return f"{year}-{'-'.join(filter(None, found.groups()[1:]))}", [year], True
        if NUMBER.fullmatch(value):
            return _number(value.replace(",", ""))
    start = ADDRESS.match(value)
    if start or (spelling.is_web and is_web_address(value)):
        return value[start.end() if start else 0 :].rstrip("/").casefold(), [], False
    if not any(map(str.isdigit, value)):
        return _text(value), [], False
    return _date(value, spelling.day_first) or _measure(value, spelling.unit) or _code(value)


def _date(value: str, is_day_first: bool | None) -> Values | None:
    """The value as a date in a usual spelling, None: it is none. Where day and month cannot be told apart, both are near."""
    if found := SPELT_DATE.fullmatch(value):
        return _day(found[3], MONTHS.get(found[2].casefold()), int(found[1]))
    if found := MONTH_FIRST.fullmatch(value):
        return _day(found[3], MONTHS.get(found[1].casefold()), int(found[2]))
    if found := YEAR_FIRST.fullmatch(value):
        return _day(found[1], int(found[2]), int(found[3]))
    if not (found := NUMERIC_DATE.fullmatch(value)):
        return None
    first, second, year = int(found[1]), int(found[3]), found[4]
    day_first, month_first = _day(year, second, first), _day(year, first, second)
    if found[2] == "." or is_day_first or not month_first or day_first == month_first:
        return day_first or month_first
    if is_day_first is False or not day_first:
        return month_first
    both = sorted((day_first[0], month_first[0]))
    return "/".join(both), [str(int(year)), *both], True


def _day(year: str, month: int | None, day: int) -> Values | None:
    if month is None or not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{int(year)}-{month:02}-{day:02}", [str(int(year))], True


def _measure(value: str, common_unit: str) -> Values | None:
    """The value as a number with a unit or a currency, None: it is none. A unit that all values have in common is left out."""
    if not (found := MEASURE.fullmatch(value)) or not (found[1] or found[3]):
        return None
    unit, number = fold(found[1] or found[3]) or found[1] or found[3], found[2]
    if DECIMAL.findall(number)[-1:] == [","] and len(number.rpartition(",")[2]) < 3:  # 1.299,00 and 12,5
        number = number.replace(".", "").replace(",", ".")
    exact, near, _ = _number(number.replace(",", ""), has_unit=True)
    if common_unit:
        return exact, near, True
    return f"{exact} {unit}", [f"{each} {unit}" for each in near], True


def _code(value: str) -> Values:
    """The value as a telephone number, a code or a text with digits."""
    words = fold(value).split()
    if len(DECIMAL.findall(value)) == 1:  # 12.5 by 3 is neither 125 by 3 nor 5.12 by 3
        return " ".join(words), [], False
    joined = "".join(words)
    digits = sum(map(str.isdigit, joined))
    if digits > len(joined) / 2:  # a code, however it is spaced: 0-306-40615-2
        near = [f"…{joined[-FEWEST_DIGITS:]}"] if digits >= FEWEST_DIGITS and TELEPHONE.fullmatch(value) else []
        return joined.lstrip("0"), near, False
    if len(joined) <= LONGEST_CODE and len(words) <= 2:  # SW1A 1AA
        return joined, [], False
    return _text(value), [], False


def _text(value: str) -> str:
    if value.count(",") == 1:  # Scott, Ridley is Ridley Scott; left to right is not right to left
        value = " ".join(reversed(value.split(",")))
    return fold(value)


def _number(value: str, *, has_unit: bool = False) -> Values:
    digits = value.lstrip("+-0")
    if digits.isdigit() and len(digits) > EXACT_DIGITS:
        return digits, [], False
    number = float(value)
    whole = number.is_integer() and abs(number) < 10**EXACT_DIGITS
    exact = str(int(number)) if whole else f"{number:.12g}"
    is_year = whole and not has_unit and YEARS[0] <= number <= YEARS[1]
    if not number or not math.isfinite(number) or is_year or (whole and abs(number) < FEW):
        return exact, [], True
    place, sign = math.log(abs(number)) / GRID, "-" if number < 0 else ""
    # Two grids, half a step apart: a number at an edge of one lies in the middle of the other.
    return exact, [f"{sign}~{math.floor(place)}", f"{sign}~~{math.floor(place + 0.5)}"], True
