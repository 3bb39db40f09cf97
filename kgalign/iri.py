"""Names of entities: labels where there are some, the readable part of the IRI where there are none."""

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
BEFORE_LOCAL = re.compile(r"^.*/resource/|^.*#|^.*/")  # names of DBpedia may hold slashes themselves: AC/DC
ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!'()*,[]")
LITERAL = re.compile(r'^"(.*)"(@[A-Za-z][A-Za-z0-9-]*|\^\^\S+)?$', re.DOTALL)
DATATYPES = "http://www.w3.org/2001/XMLSchema#"


def local_name(iri: str) -> str:
    """The last part of an IRI as a person would write it: decoded, with blanks for underscores."""
    if "://" not in iri:
        return iri.replace("_", " ").strip() or iri  # a name as it is, such as TCP/IP or C#
    local = BEFORE_LOCAL.sub("", iri.strip("<>").rstrip("/#"), count=1)
    return unquote(local).replace("_", " ").strip() or iri


def normal_iri(iri: str) -> str:
    """The IRI with all percent-encoding undone that makes no difference: letters of any script, digits and - . _ ~ as in RFC 3987,
    and ! ' ( ) * , [ ] which graphs such as DBpedia write either way.

    >>> normal_iri("http://x/Caf%C3%a9_%28bar%29%2fb")
    'http://x/Café_(bar)%2Fb'
    """
    return ESCAPES.sub(_decoded, iri) if "%" in iri else iri


def is_blank(entity: str) -> bool:
    """Whether this is a blank node, which nobody outside its file can name."""
    return entity.startswith("_:")


def names_of(entities: Sequence[str], labels: Mapping[str, str]) -> list[str]:
    """One name for each entity."""
    return [labels.get(entity) or local_name(entity) for entity in entities]


def as_name(text: str) -> str:
    """The text on one line; the same object where nothing had to be changed, as with most of a million labels."""
    name = " ".join(text.split())
    return text if name == text else name


def literal_parts(text: str) -> tuple[str, str]:
    """What stands between the quotes of a literal, and its kind, see Attributes; any other text as it is."""
    found = LITERAL.match(text)
    if not found:
        return text, ""
    kind = found.group(2) or ""
    return found.group(1), kind if not kind.startswith("^^") else datatype_kind(kind[2:].strip("<>"))


def datatype_kind(datatype: str) -> str:
    """The kind of a value of that datatype, see Attributes: none for text."""
    datatype = datatype.replace("xsd:", DATATYPES, 1) if datatype.startswith("xsd:") else datatype
    return f"^^{datatype}" if datatype not in ("", f"{DATATYPES}string") else ""


def _decoded(found: re.Match[str]) -> str:
    text = unquote_to_bytes(found.group()).decode(errors="surrogateescape")  # what is not UTF-8 stays encoded
    return "".join(
        char if char in PLAIN or (not char.isascii() and char.isprintable()) else _encoded(char.encode(errors="surrogateescape"))
        for char in text
    )


def _encoded(characters: bytes) -> str:
    return "".join(f"%{byte:02X}" for byte in characters)
