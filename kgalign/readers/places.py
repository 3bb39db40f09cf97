"""What a place holds, before it is read: which files are RDF, told by their names or first bytes, and what is an endpoint."""

from __future__ import annotations

import re
from pathlib import Path

from kgalign.files import COMPRESSIONS, UNREADABLE, open_bytes

SCHEMES = ("sparql+http://", "sparql+https://")
# By ending, the format as the parser knows it. The parser itself is imported where there is RDF to read.
FORMATS = {
    ".nt": "nt",
    ".ntriples": "nt",
    ".nq": "nq",
    ".nquads": "nq",
    ".ttl": "ttl",
    ".turtle": "ttl",
    ".n3": "ttl",  # what such files hold as a rule
    ".trig": "trig",
    ".rdf": "rdf",
    ".owl": "rdf",
    ".jsonld": "jsonld",
}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NODE = rb"(?:<[^<>]*>|_:\S+)"
OPENINGS = (
    (re.compile(rb"\s*<(?:\?xml|rdf:RDF|!DOCTYPE\s+rdf)"), "rdf"),
    (re.compile(rb'\s*(?:\[\s*)?\{\s*(?:"|\})'), "jsonld"),
    (re.compile(rb"(?:\s*#.*\n)*\s*(?:@prefix|@base|prefix|base)\s", re.IGNORECASE), "ttl"),
    (re.compile(rb"(?:\s*#.*\n)*\s*" + NODE + rb"\s*<[^<>]*>\s*(?:" + NODE + rb'|".*)\s*\.\s*(?:\n|$)'), "nq"),
)


def format_of(path: Path) -> str | None:
    """The format that the file's name tells, else what its first bytes look like; None for what is not RDF."""
    ending = _ending(path)
    if ending in FORMATS:
        return FORMATS[ending]
    if ending in (".tsv", ".csv", ".parquet") or not path.is_file():
        return None
    first = opening(path)
    return next((kind for pattern, kind in OPENINGS if pattern.match(first)), None)


def find_files(folder: Path) -> list[Path]:
    """The RDF files of a folder, by their names alone, in order."""
    return sorted(path for path in folder.iterdir() if path.is_file() and _ending(path) in FORMATS)


def _ending(path: Path) -> str:
    """What the name ends in, but for that of a compression."""
    return (Path(path.stem).suffix if path.suffix in COMPRESSIONS else path.suffix).lower()


def opening(path: Path) -> bytes:
    """The first bytes of a file, none where it cannot be read: the reader itself will say why."""
    try:
        with open_bytes(path) as stream:
            return bytes(stream.read(4096)).removeprefix(BYTE_ORDER_MARK)
    except UNREADABLE:
        return b""
