"""Options that several commands have, and how their values are read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kgalign.decoding import DECODERS
from kgalign.errors import OptionError
from kgalign.limits import DEFAULT, Limits
from kgalign.readers import READERS, TableForm
from kgalign.readers.places import expected
from kgalign.readers.restrictions import chosen_of, pairs_of_types
from kgalign.reasoning import Rules

MOST_DRAWS = 1_000_000
LARGEST = 2**31 - 1  # that a number of an option may be, in compiled code too
RULES = Rules()  # the defaults
SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
SIZE = re.compile(r"(\d{1,15})\s*([kmg]?)(?:i?b)?", re.IGNORECASE)


def shown_limit(name: str) -> str:
    """The default of a limit, as it may be written."""
    value = int(getattr(DEFAULT, name))
    sign = next((sign for sign in "gmk" if value % SIZES[sign] == 0), "")
    return f"{value // SIZES[sign]}{sign.upper() and f'{sign.upper()}iB'}"


class Protocols(StrEnum):
    closed = "closed"
    open = "open"


class Cardinalities(StrEnum):
    one_to_one = "one-to-one"
    one_to_many = "one-to-many"
    many_to_one = "many-to-one"
    many_to_many = "many-to-many"


Output = Annotated[Path, typer.Option("-o", "--output", help="folder of the run; an earlier run there is replaced")]
AsJson = Annotated[bool, typer.Option("--json", help="print the result as JSON on stdout")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="an option of the model or of the decoder; may be repeated")
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--label", metavar="IRI", help="property of RDF, or column of a table, that holds the names; may be repeated, best first"
    ),
]
Languages = Annotated[
    str | None,
    typer.Option(
        "--lang",
        metavar="TAG[,TAG]",
        help="language of the names in RDF: fr for both graphs; zh,en for the source and for the target; "
        "none or und: names without a language (fr,none). By default all names count",
    ),
]
NoNames = Annotated[bool, typer.Option("--no-names", help="withhold all names: only relations, values and seeds are evidence")]
Classes = Annotated[bool, typer.Option("--classes", help="align classes and properties too, not only individuals")]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="refuse broken RDF, broken tables and links of unknown entities, instead of leaving them out"),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--types",
        metavar="CLASS=CLASS[,...]",
        help="align only entities of these classes, source=target, and only with each other (Film=Movie,Book=Novel); others stay evidence",
    ),
]
OnlySource = Annotated[
    list[str] | None,
    typer.Option(
        "--only-source",
        metavar="X[,Y]",
        help="align only these entities of the source: IRIs, classes, or a file with one IRI a line; others stay evidence",
    ),
]
OnlyTarget = Annotated[list[str] | None, typer.Option("--only-target", metavar="X[,Y]", help="the same for the target")]
Changed = Annotated[bool, typer.Option("--changed", help="use graphs that have changed since the run as they are now")]
AsTable = Annotated[
    bool, typer.Option("--table", help="read tables as rows of entities, whatever their content looks like; RDF is read as RDF")
]
AsTriples = Annotated[bool, typer.Option("--triples", help="read tables as head, relation and tail")]
IdSource = Annotated[
    str | None, typer.Option("--id-source", metavar="COLUMN", help="column with the ids, where the source is a table of entities")
]
IdTarget = Annotated[str | None, typer.Option("--id-target", metavar="COLUMN", help="the same for the target")]
CardinalityName = Annotated[
    Cardinalities,
    typer.Option(
        "--cardinality",
        help="how many links an entity may have; one-to-many: a source may have several targets, a target one source at most",
    ),
]
Query = Annotated[
    Path | None,
    typer.Option("--query", help="file with a CONSTRUCT query: read its statements, and not all that an endpoint has"),
]
LimitSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=VALUE",
        help="raise a limit of the readers, such as memory=4GiB; one of "
        + ", ".join(f"{field.name} ({shown_limit(field.name)})" for field in fields(Limits)),
    ),
]
DecoderName = Annotated[
    str,
    typer.Option(
        "--decoder",
        help=f"one of {', '.join(DECODERS)}; or, as EntMatcher says, "
        + ", ".join(f"{alias} ({name})" for alias, name in DECODERS.aliases.items()),
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST, help="the same seed gives the same result")]
Bootstrap = Annotated[int, typer.Option(min=0, max=MOST_DRAWS, help="draws for confidence intervals, 0: none")]
KINDS: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def places() -> str:
    """Where a graph can be read from, for help texts."""
    return f"{expected(READERS)} (readers: {', '.join(READERS)})"


def parse_settings(settings: list[str] | None, known: Mapping[str, Any]) -> dict[str, Any]:
    """Options by name, each with the type of its default."""
    options = {}
    for setting in settings or ():
        name, equals, text = setting.partition("=")
        if not equals or name not in known:
            raise OptionError(f"--set {setting}: expected NAME=VALUE with one of the names {', '.join(known)}")
        options[name] = _parse_value(setting, text, known[name])
    return options


def _parse_value(setting: str, text: str, default: Any) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    if isinstance(value, int) and abs(value) > LARGEST:
        raise OptionError(f"--set {setting}: expected a number up to {LARGEST:,}, such as {json.dumps(default, default=str)}")
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if default is None:
        return text  # only paths have no default
    if isinstance(default, tuple) and isinstance(value, list):
        value = tuple(value)
    if type(value) is not type(default):
        kind = KINDS.get(type(default), f"a value of the type {type(default).__name__}")
        raise OptionError(f"--set {setting}: expected {kind}, such as {json.dumps(default, default=str)}")
    return value


def parse_types(given: list[str] | None) -> list[list[str]]:
    """Pairs of a source class and a target class."""
    return [list(pair) for pair in pairs_of_types(given)]


def parse_only(given: list[str] | None) -> list[str]:
    """IRIs and classes, and the whole paths of files."""
    parts = [part for text in given or () for part in chosen_of("only_source", text)]
    return [str(Path(part).resolve()) if Path(part).is_file() else part for part in parts]


def parse_limits(settings: list[str] | None) -> dict[str, float]:
    """Limits by name; sizes may be written with KiB, MiB or GiB."""
    limits: dict[str, float] = {}
    for setting in settings or ():
        name, _, text = setting.partition("=")
        number = SIZE.fullmatch(text)
        if number is None or name not in {field.name for field in fields(Limits)}:
            names = ", ".join(field.name for field in fields(Limits))
            raise OptionError(
                f"--limit {setting}: expected NAME=VALUE with a whole number, such as memory=4GiB; the names are {names}"
            )
        limits[name] = int(number[1]) * SIZES[number[2].lower()]
    return limits


def parse_form(table: bool, triples: bool) -> TableForm | None:
    if table and triples:
        raise OptionError("--table and --triples exclude each other: expected one of them, or none")
    return "table" if table else "triples" if triples else None


def parse_languages(text: str | None) -> list[str]:
    languages = [part.strip() for part in text.split(",")] if text is not None else []
    if not all(languages) or len(languages) > 2:
        raise OptionError(f"--lang {text}: expected a language such as en, or two such as zh,en; `none` for names without one")
    return languages
