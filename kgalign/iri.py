"""IRIs, literals, and the names that they give to entities."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from ipaddress import IPv6Address
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
HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?<!\b[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][^\W\d_A-Z])")  # between the words of CamelCase
# A word of Latin letters has three or more and no digit beside it; one letter of Chinese is a word, also beside a digit.
PLAIN_WORD = re.compile(r"(?<!\w)(?:[^\W\d_]{3,}|[^\W\d_\x00-\u024f]+)(?!\w)|[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af]+")
HASH = re.compile(r"(?<!\w)(?:[0-9a-f]{2,}-)*(?=[a-f]*\d)[0-9a-f]{8,}(?:-[0-9a-f]{2,})*(?!\w)", re.IGNORECASE)
NUMBERED_PREFIX = re.compile(r"[A-Z]{2,}[ _:-]?[A-Z]?\d{4,}")  # an ontology and a number in it: NCIT_C12345
NUMBER = re.compile(r"\d+")
YEAR = re.compile(r"(?:1[89]|20)\d\d")
BEFORE_WORD = re.compile(r"(?<=\d)(?=[A-Z][a-z]{2})")
# Entities whose IRIs differ in numbers alone: so many show that the numbers are ids, and what is around them is no name. In large graphs
# a few such IRIs are names, as those of Apollo 11 to Apollo 17 are.
FEWEST_NUMBERED, MOST_NUMBERED, NUMBERED_SHARE = 5, 20, 0.005
COUNTED = re.compile(r"\D*\d+")  # a number, perhaps with something before it
SHORTEST_RANDOM = 6  # characters of a random id
QUALIFIER = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
LITERAL = re.compile(r'^"(.*)"(@[A-Za-z][A-Za-z0-9-]*|\^\^\S+)?$', re.DOTALL)
DATATYPES = "http://www.w3.org/2001/XMLSchema#"
MADE_UP = re.compile(r"urn:kgalign:(?:source|target):")  # before an id that is no IRI, in files that hold nothing but IRIs
NOT_IN_AN_IRI = re.compile(r'[\x00-\x20\x7f<>"{}|^`\\]|%(?![0-9A-Fa-f]{2})')
# What strict parsers refuse too: brackets outside of an address, C1 controls, characters for private use, and such that are none.
NOT_IN_A_STRICT_IRI = re.compile(
    rf"{NOT_IN_AN_IRI.pattern}|[\[\]\x7f-\x9f\ud800-\uf8ff\ufdd0-\ufdef\ufff0-\uffff]|[^\x00-\U000dffff]|"
    f"[{''.join(chr(plane * 0x10000 + end) for plane in range(1, 14) for end in (0xFFFE, 0xFFFF))}]"
)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
AUTHORITY = re.compile(rf"({SCHEME.pattern}//)([^/?#]*)")  # user, host and port
ADDRESS = re.compile(r"((?:[^\[\]@]*@)?)\[([^\[\]]*)\](:\d*)?")  # an authority whose host is an address, as of IPv6
HOST = re.compile(r"(?:[^@]*@)?[^:@]*(?::\d*)?")  # any other authority
LATER_ADDRESS = re.compile(r"v[0-9a-f]+\.[a-z0-9._~!$&'()*+,;=:-]+", re.IGNORECASE)  # of a later version, as RFC 3986 has it


def local_name(iri: str) -> str:
    """The last part of an IRI as a person would write it: decoded, with spaces for underscores."""
    if "://" not in iri:
        if iri.strip("<>").startswith("urn:"):
            iri = iri.strip("<>").rpartition(":")[2] or iri
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


def same_spelling(entity: str) -> str:
    """The one spelling of an entity in all files: of an IRI, and of an id that a file had to turn into an IRI.

    >>> same_spelling("<http://x/Caf%C3%a9>"), same_spelling("urn:kgalign:source:my%20id") == same_spelling("my id")
    ('http://x/Café', True)
    """
    entity = entity.strip()
    bare = entity[1:-1] if entity.startswith("<") and entity.endswith(">") else entity
    spelt = NOT_IN_AN_IRI.sub(lambda found: _encoded(found.group().encode()), normal_iri(MADE_UP.sub("", bare, count=1)))
    return _one_fragment(spelt)


def strict_iri(iri: str) -> str:
    """The IRI as strict parsers read it: what cannot be in it is percent-encoded. The brackets of an IPv6 host stay.

    >>> strict_iri("http://[::1]:80/a[0] b"), strict_iri("http://[eth0]/a")
    ('http://[::1]:80/a%5B0%5D%20b', 'http://%5Beth0%5D/a')
    """
    found = AUTHORITY.match(iri)
    if found is None:
        return _strict_rest(iri)
    return f"{found[1]}{_strict_authority(found[2])}{_strict_rest(iri[found.end() :])}"


def is_iri(entity: str) -> bool:
    """Whether an entity is an IRI, which means the same in every file; ids and names in tables do not."""
    return "://" in entity or entity.startswith("urn:")


def is_blank(entity: str) -> bool:
    """Whether an entity is a blank node, whose label has no meaning outside its file."""
    return entity.startswith("_:")


def names_of(entities: Sequence[str], labels: Mapping[str, str]) -> list[str]:
    """A name for each entity: its label, or else the readable name in its IRI; empty where it has neither."""
    return [labels.get(entity) or name for entity, name in zip(entities, readable_names(entities), strict=True)]


def readable_names(entities: Sequence[str]) -> list[str]:
    """The name that a person can read in the last part of each IRI, empty where there is none.

    Words are split at capitals, underscores and hyphens. Codes, hashes and numbered ids are no names: `MA_0000982`, `Q42`, and
    `person_17` if there are several such. Neither is an ending that many IRIs have, such as `/time`. Names that are no IRIs stay as they
    are, unless they are codes; several with a blank inside, such as `city 17`, are names.

    >>> readable_names(["http://x/hasTitle", "http://x/Q42", "http://x/e0a1b2c3d4", "Apollo 11", "http://x/C%23_major"])
    ['has Title', '', '', 'Apollo 11', 'C# major']
    """
    names = ["" if is_blank(entity) else local_name(normal_iri(entity)) for entity in entities]
    codes = [
        is_code(name) or (numbered and (is_iri(entity) or " " not in entity))
        for entity, name, numbered in zip(entities, names, _numbered(names), strict=True)
    ]
    is_random = _random(entities, names, codes)
    return [
        "" if code or random else split_words(name) if "://" in entity else name
        for entity, name, code, random in zip(entities, names, codes, is_random, strict=True)
    ]


def is_code(name: str) -> bool:
    """Whether a name is a code: it has digits, and no word that is more than a prefix of them."""
    if not any(map(str.isdigit, name)):
        return False
    if HASH.fullmatch(name) or NUMBERED_PREFIX.fullmatch(name):
        return True
    words = PLAIN_WORD.findall(BEFORE_WORD.sub(" ", name))
    return not any(len(word) > 3 or not word.isupper() or not word.isascii() for word in words)


def split_words(name: str) -> str:
    """The words of a name in an IRI, with blanks between them: `hasTitle` has two. A name that has blanks already stays as it is."""
    if " " in name or not name.isascii():
        return name
    return " ".join(HUMP.sub(" ", name.replace("-", " ")).split())


def without_qualifier(name: str) -> str:
    """The name without what stands behind it in brackets to tell it from others: `musette` for `musette (dance)`."""
    return QUALIFIER.sub("", name) or name


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


def _numbered(names: Sequence[str]) -> list[bool]:
    """Whether each name is one of many that differ in numbers alone, or not at all. Years are no such numbers."""
    patterns = [NUMBER.sub("#", HASH.sub("#", name)) for name in names]
    often = Counter(patterns)
    many = max(FEWEST_NUMBERED, min(MOST_NUMBERED, NUMBERED_SHARE * len(names)))
    frequent = {pattern for pattern, count in often.items() if count >= (many if "#" in pattern else FEWEST_NUMBERED)}
    with_ids = {
        pattern for name, pattern in zip(names, patterns, strict=True) if pattern in frequent and not _has_years_alone(name)
    }
    return [pattern in with_ids for pattern in patterns]


def _has_years_alone(name: str) -> bool:
    """Whether a name has words and numbers, and all its numbers are years."""
    numbers = NUMBER.findall(name)
    return bool(numbers) and all(map(YEAR.fullmatch, numbers)) and not is_code(name)


def _random(entities: Sequence[str], names: Sequence[str], codes: Sequence[bool]) -> list[bool]:
    """Whether each name is a random id without a digit: most names of its length and namespace are codes of letters and digits."""
    spaces = [entity[: len(entity) - len(name)] for entity, name in zip(entities, names, strict=True)]
    shapes = list(zip(spaces, map(len, names), strict=True))
    mixed = Counter(
        shape
        for shape, name, code in zip(shapes, names, codes, strict=True)
        if code and any(map(str.isalpha, name)) and not COUNTED.fullmatch(name)
    )
    often = Counter(shapes)
    random = {
        shape
        for shape, count in mixed.items()
        if count >= FEWEST_NUMBERED and count > often[shape] / 2 and shape[1] >= SHORTEST_RANDOM
    }
    return [shape in random for shape in shapes]


def _decoded(found: re.Match[str]) -> str:
    text = unquote_to_bytes(found.group()).decode(errors="surrogateescape")  # bytes that are not UTF-8 stay encoded
    return "".join(
        char if char in PLAIN or (not char.isascii() and char.isprintable()) else _encoded(char.encode(errors="surrogateescape"))
        for char in text
    )


def _strict_authority(authority: str) -> str:
    """The user, host and port of an IRI. A colon or an at sign that is none of their separators is percent-encoded."""
    found = ADDRESS.fullmatch(authority)
    if found is not None and _is_address(found[2]):
        return f"{_strict(found[1])}[{found[2]}]{found[3] or ''}"
    strict = _strict(authority)
    return strict if HOST.fullmatch(strict) else strict.replace(":", "%3A").replace("@", "%40")


def _strict_rest(text: str) -> str:
    return _one_fragment(_strict(text))


def _one_fragment(iri: str) -> str:
    """The IRI with one number sign at most: those after the first are percent-encoded."""
    before, sign, fragment = iri.partition("#")
    return before + sign + fragment.replace("#", "%23") if "#" in fragment else iri


def _strict(text: str) -> str:
    return NOT_IN_A_STRICT_IRI.sub(lambda found: _encoded(found.group().encode(errors="replace")), text)


def _is_address(host: str) -> bool:
    """Whether the text may be in brackets in a host: an address of IPv6, or of a later version."""
    try:
        return bool(LATER_ADDRESS.fullmatch(host)) or not IPv6Address(host).scope_id
    except ValueError:
        return False


def _encoded(characters: bytes) -> str:
    return "".join(f"%{byte:02X}" for byte in characters)
