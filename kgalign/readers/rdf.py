"""RDF in files, plain or compressed: N-Triples, N-Quads, Turtle, TriG, RDF/XML and JSON-LD.

This module recognises the files; `kgalign.readers.rdf_parser` parses them.
"""

from __future__ import annotations

import re
from pathlib import Path

from kgalign.files import COMPRESSIONS, UNREADABLE, open_bytes
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.encodings import as_utf8
from kgalign.seams import Place, Statements

# The format of each ending, as the parser calls it.
FORMATS = {
    ".nt": "nt",
    ".ntriples": "nt",
    ".nq": "nq",
    ".nquads": "nq",
    ".ttl": "ttl",
    ".turtle": "ttl",
    ".n3": "ttl",  # most such files hold nothing but Turtle
    ".trig": "trig",
    ".rdf": "rdf",
    ".owl": "rdf",
    ".jsonld": "jsonld",
}
OF_TABLES = (".tsv", ".csv", ".parquet", ".xlsx", ".jsonl", ".ndjson")
KEYWORD = re.compile(rb'"@(?:context|id|graph|type|value|list|set)"\s*:')  # of JSON-LD, which other JSON does not have
NODE = rb"(?:<[^<>]*>|_:\S+)"
OPENINGS = (
    (re.compile(rb"\s*<(?:\?xml|rdf:RDF|!DOCTYPE\s+rdf)"), "rdf"),
    (re.compile(rb'\s*(?:\[\s*)?\{\s*(?:"|\})'), "jsonld"),
    (re.compile(rb"(?:\s*#.*\n)*\s*(?:@prefix|@base|prefix|base)\s", re.IGNORECASE), "ttl"),
    (re.compile(rb"(?:\s*#.*\n)*\s*" + NODE + rb"\s*<[^<>]*>\s*(?:" + NODE + rb'|".*)\s*\.\s*(?:\n|$)'), "nq"),
)


class RdfReader:
    """Reads RDF files: one, several, or all in a folder, as one graph."""

    expects = "RDF (a file, a folder, or a pattern in quotes)"

    def accepts(self, place: Place) -> bool:
        """Whether a file is RDF, a folder has a file with an ending of RDF, or one of several files is RDF."""
        if not isinstance(place, str | Path):
            return any(format_of(Path(path)) is not None for path in place)
        path = Path(place)
        return bool(find_files(path)) if path.is_dir() else path.is_file() and format_of(path) is not None

    def read(self, place: Place, *, strict: bool = False, limits: Limits = DEFAULT) -> Statements:
        """All statements of the files.

        Args:
            place: A file, several files, or a folder, whose other files are skipped.
            strict: Refuse the first broken statement, instead of leaving it out and counting it in the record.
            limits: How much of each file is taken in.
        """
        from kgalign.readers.rdf_parser import read_statements  # slow to import, and tables are read without it

        if not isinstance(place, str | Path):
            return read_statements([Path(path) for path in place], strict, limits)
        path = Path(place)
        return read_statements(find_files(path) if path.is_dir() else [path], strict, limits)


reader = RdfReader()


def format_of(path: Path) -> str | None:
    """The RDF format that the ending of the file says, else the one that its first bytes look like; None: not RDF."""
    ending = _ending(path)
    if ending in FORMATS:
        return FORMATS[ending]
    if ending in OF_TABLES or not path.is_file():
        return None
    first = opening(path)
    kind = next((kind for pattern, kind in OPENINGS if pattern.match(first)), None)
    return None if kind == "jsonld" and not KEYWORD.search(first) else kind


def find_files(folder: Path) -> list[Path]:
    """The files of a folder that have an ending of RDF, in order of their names."""
    return sorted(path for path in folder.iterdir() if path.is_file() and _ending(path) in FORMATS)


def opening(path: Path) -> bytes:
    """The first bytes of a file, decompressed and in UTF-8; none where it cannot be read, so that its reader can say why."""
    try:
        with open_bytes(path) as stream:
            return as_utf8(bytes(stream.read(4096)))
    except UNREADABLE:
        return b""


def _ending(path: Path) -> str:
    """The ending of the name, before that of a compression."""
    return (Path(path.stem).suffix if path.suffix in COMPRESSIONS else path.suffix).lower()
