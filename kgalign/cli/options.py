"""Options that several commands have, and how their values are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kgalign.decoding import DECODERS
from kgalign.errors import OptionError
from kgalign.readers import READERS
from kgalign.readers.places import expected
from kgalign.reasoning import Rules

RULES = Rules()  # the defaults


class Protocols(StrEnum):
    closed = "closed"
    open = "open"


Output = Annotated[Path, typer.Option("-o", "--output", help="folder of the run; an earlier run there is replaced")]
AsJson = Annotated[bool, typer.Option("--json", help="print the result as JSON on stdout")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="an option of the model or of the decoder; may be repeated")
]
Labels = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="IRI", help="property that holds the names in RDF; may be repeated, best first"),
]
Languages = Annotated[
    str | None,
    typer.Option("--lang", help="language of the names in RDF, for instance zh,en: first the source's, then the target's"),
]
Classes = Annotated[bool, typer.Option("--classes", help="align classes and properties too, not only individuals")]
Strict = Annotated[bool, typer.Option("--strict", help="refuse broken RDF instead of leaving broken statements out")]
DecoderName = Annotated[
    str,
    typer.Option(
        "--decoder",
        help=f"one of {', '.join(DECODERS)}; or, as EntMatcher says, "
        + ", ".join(f"{alias} ({name})" for alias, name in DECODERS.aliases.items()),
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="the same seed gives the same result")]
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
    except json.JSONDecodeError:
        value = text
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


def parse_languages(text: str | None) -> list[str]:
    languages = [part.strip() for part in text.split(",")] if text else []
    if not all(languages) or len(languages) > 2:
        raise OptionError(f"--lang {text}: expected a language such as en, or two such as zh,en")
    return languages
