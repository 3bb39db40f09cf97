"""Links from files of all formats. LINK_READERS has the formats by name; `kgalign.seams.LinkReader` is their contract."""

from __future__ import annotations

from pathlib import Path

from kgalign.errors import DataError
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.places import expected, find_reader
from kgalign.readers.rdf import opening
from kgalign.registry import Registry
from kgalign.seams import GivenLink

LINK_READERS = Registry(
    "link reader",
    "kgalign.link_readers",
    {
        "sssom": "kgalign.readers.link_files.sssom:reader",
        "oaei": "kgalign.readers.link_files.oaei:reader",
        "rdf": "kgalign.readers.link_files.rdf:reader",
        "table": "kgalign.readers.link_files.table:reader",  # the last one, since it accepts any file
    },
)
SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
ZIP = b"PK\x03\x04"  # how XLSX and ODS begin


def read_link_file(path: str | Path, strict: bool = False, limits: Limits = DEFAULT) -> list[GivenLink]:
    """The links of a file, as texts.

    Args:
        path: The file, in any of the formats that `kgalign.write` writes, and a few more.
        strict: Refuse broken input where it could be left out.
        limits: How much of the file is taken in, where kgalign itself reads the format.
    """
    path = Path(path)
    name = find_reader(LINK_READERS, path) if path.is_file() else None
    if name is None:
        raise DataError(f"{path}: no such file; expected links: {expected(LINK_READERS)}")
    if name in LINK_READERS.built_in and (path.suffix.lower() in SPREADSHEETS or opening(path).startswith(ZIP)):
        raise DataError(
            f"{path}: a spreadsheet such as XLSX is no format of links; save it as CSV; expected {expected(LINK_READERS)}"
        )
    own = {"limits": limits} if name in LINK_READERS.built_in else {}
    return list(LINK_READERS[name].read(path, strict=strict, **own))
