"""Values of Python as literals: their text and their datatype."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterator, Set
from typing import Any

from kgalign.readers.vocabulary import XSD

MISSING = ("NAType", "NaTType")  # types of pandas for a value that is not there


def literals_of(value: Any) -> Iterator[tuple[str, str]]:
    """The text and the datatype ("" for text) of a value, or of each value of a list, a tuple or a set; none where it is missing."""
    if isinstance(value, list | tuple | Set):
        for each in value:
            yield from literals_of(each)
    elif not is_missing(value):
        yield literal_of(value)


def literal_of(value: Any) -> tuple[str, str]:
    """The text and the datatype of one value that is not missing; a time at midnight is a date."""
    value = value.item() if type(value).__module__ == "numpy" and value.ndim == 0 else value
    match value:
        case str():
            return value, ""
        case bool():
            return str(value).lower(), f"{XSD}boolean"
        case int():
            return str(value), f"{XSD}integer"
        case float() if value.is_integer():
            return str(int(value)), f"{XSD}integer"  # data frames turn whole numbers with gaps between them into floats
        case float():
            return repr(value), f"{XSD}double"
        case decimal.Decimal():
            return str(value), f"{XSD}decimal"
        case datetime.datetime() if value.time() != datetime.time():
            return value.isoformat(), f"{XSD}dateTime"
        case datetime.datetime():
            return value.date().isoformat(), f"{XSD}date"
        case datetime.date():
            return value.isoformat(), f"{XSD}date"
    return str(value), ""


def is_missing(value: Any) -> bool:
    """Whether a value stands for nothing: None, not a number, or the missing values of pandas."""
    return value is None or type(value).__name__ in MISSING or (isinstance(value, float) and math.isnan(value))


def quoted(text: str, datatype: str = "") -> str:
    """A literal in double quotes, as tables of triples have them, see `kgalign.iri.literal_parts`."""
    return f'"{text}"^^{datatype}' if datatype else f'"{text}"'
