"""IRIs, literals, and the names that they give to entities."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, unquote_to_bytes

LABEL_PROPERTIES = frozenset(
    {
        "http://www.w3.org/2000/01/rdf-schema#label",
        "http://www.w3.org/2004/02/skos/core#prefLabel",
        "http://xmlns.com/foaf/0.1/name",
        "http://schema.org/name",
        "https://schema.org/name",
        "rdfs:label",
        "skos:prefLabel",
        "foaf:name",
        "schema:name",
        "label",
        "name",
    }
)
BEFORE_LOCAL = re.compile(r"^.*/resource/|^.*#|^.*/")  # a name of DBpedia may hold a slash itself: AC/DC
ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!'()*,[]")
LITERAL = re.compile(r'^"(.*)"(@[A-Za-z][A-Za-z0-9-]*|\^\^\S+)?$', re.DOTALL)
DATATYPES = "http://www.w3.org/2001/XMLSchema#"


def local_name(iri: str) -> str:
    """The last part of an IRI as a person would write it: decoded, with spaces for underscores."""
    if "://" not in iri:
        return iri.replace("_", " ").strip() or iri  # not an IRI but a name, such as TCP/IP or C#
    local = BEFORE_LOCAL.sub("", iri.strip("<>").rstrip("/#"), count=1)
    return unquote(local).replace("_", " ").strip() or iri


def normal_iri(iri: str) -> str:
    """The normal spelling of an IRI: without the percent-encoding of characters that do not need it.

    These are letters of any script, digits and - . _ ~ as in RFC 3987, and ! ' ( ) * , [ ] which graphs such as DBpedia write either way.

    >>> normal_iri("http://x/Caf%C3%a9_%28bar%29%2fb")
    'http://x/Café_(bar)%2Fb'
    """
    return ESCAPES.sub(_decoded, iri) if "%" in iri else iri


def is_blank(entity: str) -> bool:
    """Whether an entity is a blank node, whose label has no meaning outside its file."""
    return entity.startswith("_:")


def names_of(entities: Sequence[str], labels: Mapping[str, str]) -> list[str]:
    """A name for each entity: its label, or else the last part of its IRI."""
    return [labels.get(entity) or local_name(entity) for entity in entities]


def as_name(text: str) -> str:
    """The text on one line, without repeated spaces."""
    name = " ".join(text.split())
    return text if name == text else name  # the same object where possible, which saves memory


def literal_parts(text: str) -> tuple[str, str]:
    """The text between the quotes of a literal, and its kind as in `Attributes`; any other text as it is, without a kind."""
    found = LITERAL.match(text)
    if not found:
        return text, ""
    kind = found.group(2) or ""
    return found.group(1), kind if not kind.startswith("^^") else datatype_kind(kind[2:].strip("<>"))


def datatype_kind(datatype: str) -> str:
    """The kind of a value of that datatype as in `Attributes`, empty for text."""
    datatype = datatype.replace("xsd:", DATATYPES, 1) if datatype.startswith("xsd:") else datatype
    return f"^^{datatype}" if datatype not in ("", f"{DATATYPES}string") else ""


def _decoded(found: re.Match[str]) -> str:
    text = unquote_to_bytes(found.group()).decode(errors="surrogateescape")  # bytes that are not UTF-8 stay encoded
    return "".join(
        char if char in PLAIN or (not char.isascii() and char.isprintable()) else _encoded(char.encode(errors="surrogateescape"))
        for char in text
    )


def _encoded(characters: bytes) -> str:
    return "".join(f"%{byte:02X}" for byte in characters)
