"""How much the readers take in before they refuse a file or an endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from kgalign.errors import DataError, OptionError, check_at_least

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@dataclass(frozen=True)
class Limits:
    """How much the readers take in. A small file can describe gigabytes, and an endpoint can answer for ever.

    Attributes:
        line: Bytes of a line of text, and of a literal in Turtle. The parser of RDF holds literals of up to 16 MiB, 8 in
            JSON-LD and any in RDF/XML.
        json_levels: Levels of objects and lists in JSON-LD; 1,500 at most.
        xml_levels: Levels of elements in RDF/XML; 20,000 at most.
        expansion: How many times its own size a document may grow by XML entities, or its IRIs by prefixes and bases, where they grow by
            more than 8 MiB.
        unpacked: Bytes of a compressed file after decompression.
        memory: Bytes of a file that has to be in memory as a whole: Parquet, XLSX, JSON, arrays, text tables and damaged RDF/XML.
        answer: Bytes of one answer of an endpoint.
        requests: Requests that are sent to an endpoint, repeated ones too.
        seconds: The time that reading an endpoint may take.
    """

    line: int = 16 * MIB
    json_levels: int = 200
    xml_levels: int = 10_000
    expansion: int = 100
    unpacked: int = 16 * GIB
    memory: int = 2 * GIB
    answer: int = 64 * MIB
    requests: int = 10_000
    seconds: float = 3600.0

    def __post_init__(self) -> None:
        check_at_least(**{field.name: (getattr(self, field.name), 0 if field.name == "seconds" else 1) for field in fields(self)})
        for name, most in HIGHEST.items():
            if getattr(self, name) > most:
                raise OptionError(f"{name}={getattr(self, name)}: expected {most} or less")

    @classmethod
    def of(cls, given: Limits | Mapping[str, float]) -> Limits:
        """Limits out of some of them by name; the others have their defaults."""
        if isinstance(given, Limits):
            return given
        names = [field.name for field in fields(cls)]
        for name in given:
            if name not in names:
                raise OptionError(f"`limits` {name}: expected one of {', '.join(names)}")
        return cls(**given)  # type: ignore[arg-type]

    def exceeded(self, place: object, name: str, what: str) -> DataError:
        """The error about input that is above a limit.

        Args:
            place: The file, perhaps with a line, or the address.
            name: The limit.
            what: What is limited, such as `a line of`; the number follows.
        """
        value = getattr(self, name)
        found = f"{place}: expected {what} at most {value:,} {UNITS.get(name, 'bytes')}, found more"
        raised = min(2 * value, HIGHEST.get(name, 2 * value))
        return DataError(f"{found}; this limit cannot be raised") if raised == value else DataError(found, f"{name}={raised:.15g}")


HIGHEST = {
    "json_levels": 1_500,
    "xml_levels": 20_000,
}  # for which the stack is large enough: the parsers call themselves for each level
UNITS = {
    "json_levels": "levels",
    "xml_levels": "levels",
    "expansion": "times its size",
    "requests": "requests",
    "seconds": "seconds",
}
DEFAULT = Limits()
