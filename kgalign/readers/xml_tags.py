"""Tags and characters of XML, also where they are spelt wrongly."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from html.entities import html5

PLAIN_NAME = r"[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_.\-\u0080-\U0010ffff]*+"
NAME = rf"{PLAIN_NAME}(?::[A-Za-z0-9_.\-\u0080-\U0010ffff]++)?"
TAG = re.compile(rf"<(/?)({NAME})(?=[\s/>])((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>")
# A value with `<` in it: all on one line and without `=`, or else it is a value without its last quote that runs into another tag.
ODD_TAG = re.compile(
    rf"<(/?)({NAME})(?=[\s/>])((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|\"[^\"\n=<]*+<[^\"\n=]*+\"|'[^'\n=<]*+<[^'\n=]*+')*+)>"
)
UNQUOTED_TAG = re.compile(rf"<(/?)({NAME})(?=[\s/>])([^<>]*)>")
UNENDED_TAG = re.compile(rf"<(/?)({NAME})((?:\s+{NAME}\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'))*+)\s*(?=<|\Z)")
ATTRIBUTE = re.compile(rf"\s*({NAME})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|[\"']?([^\s\"']*)[\"']?)")
NEXT_ATTRIBUTE = re.compile(rf"\s{NAME}\s*=")
REFERENCE = re.compile(rf"&(?:#(\d+)|#[xX]([0-9A-Fa-f]+)|({NAME}));|&")
PREDEFINED = frozenset({"lt", "gt", "amp", "quot", "apos"})


@dataclass(frozen=True)
class Tag:
    """A tag.

    Attributes:
        name: With its prefix.
        attributes: The values by name, escaped.
        is_end: It closes an element.
        is_empty: It opens an element and closes it at once.
        problems: The reasons why it is not proper XML.
    """

    name: str
    attributes: dict[str, str]
    is_end: bool = False
    is_empty: bool = False
    problems: tuple[str, ...] = ()


def read_tag(text: str, at: int, entities: Collection[str]) -> tuple[Tag, int] | None:
    """The tag that begins there, and the place after it. None: the text is not a tag.

    Args:
        text: The document.
        at: The place of a `<`.
        entities: The names of the entities that the document declares.
    """
    found = TAG.match(text, at)
    problems: list[str] = []
    if found is None:
        if found := ODD_TAG.match(text, at):
            problems.append("< in an attribute")
        elif (found := UNQUOTED_TAG.match(text, at)) and (found[1] or "=" in found[3] or not found[3].strip(" /")):
            problems.append("a quote is missing")
        elif (found := UNENDED_TAG.match(text, at)) and (found[1] or found[3] or ":" in found[2]):
            problems.append("> is missing")
        else:
            return None
    end, name, rest = found.groups()
    is_empty = rest.rstrip().endswith("/") and not end
    if rest.strip(" \t\r\n/") and "=" not in rest and ":" not in name:
        return None  # text such as the middle of `a <b and c> d`
    attributes = _attributes(rest.rstrip().removesuffix("/") if is_empty else rest, entities, problems)
    return Tag(name, attributes, bool(end), is_empty, tuple(problems)), found.end()


def write_tag(name: str, attributes: dict[str, str], is_empty: bool = False) -> str:
    """The tag that opens an element."""
    written = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<{name}{written}{'/' if is_empty else ''}>"


def escape(text: str) -> str:
    """The text with its markup as characters."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def mend_references(text: str, entities: Collection[str], problems: list[str]) -> str:
    """The text with each `&` that begins no known reference as a character; the reasons are added to the problems."""

    def mended(found: re.Match[str]) -> str:
        decimal, hexadecimal, name = found.groups()
        if decimal or hexadecimal:
            code = (
                int(decimal)
                if decimal and len(decimal) < 9
                else int(hexadecimal, 16)
                if hexadecimal and len(hexadecimal) < 9
                else 0
            )
            if 0 < code < 0xD800 or 0xDFFF < code < 0x110000:
                return found[0]
            problems.append(f"{found[0]} is no character")
            return "\N{REPLACEMENT CHARACTER}"
        if name and (name in PREDEFINED or name in entities):
            return found[0]
        if name and f"{name};" in html5:
            problems.append(f"{found[0]} is not declared")
            return escape(html5[f"{name};"])
        problems.append("& is not escaped")
        return f"&amp;{found[0][1:]}"

    return REFERENCE.sub(mended, text) if "&" in text else text


def _attributes(rest: str, entities: Collection[str], problems: list[str]) -> dict[str, str]:
    """The attributes, each once."""
    attributes: dict[str, str] = {}
    at, end = 0, len(rest.rstrip())
    while at < end:
        found = ATTRIBUTE.match(rest, at)
        if found is None:
            problems.append(f"{rest[at:end].strip()[:40]!r} is no attribute")
            following = NEXT_ATTRIBUTE.search(rest, at + 1)
            at = following.start() if following else end
            continue
        at = found.end()
        name, double, single, bare = found.groups()
        value = double if double is not None else single if single is not None else bare
        if bare is not None and "a quote is missing" not in problems:
            problems.append("a quote is missing")
        if name in attributes:
            problems.append(f"{name} twice")
            continue
        attributes[name] = mend_references(value, entities, problems).replace("<", "&lt;").replace('"', "&quot;")
    return attributes
