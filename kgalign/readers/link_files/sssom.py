"""Links in SSSOM, the Simple Standard for Sharing Ontological Mappings: a table below comments that say what its prefixes mean.

https://mapping-commons.github.io/sssom/
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from kgalign.errors import DataError
from kgalign.files import without_apostrophe
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.link_files.predicates import DIFFERENT, SAME, SHOWN
from kgalign.readers.link_files.table import as_score, lines_of, read_rows, read_text
from kgalign.readers.rdf import opening
from kgalign.readers.vocabulary import OWL, RDF, RDFS, SKOS
from kgalign.seams import GivenLink

logger = logging.getLogger(__name__)
BUILT_IN = {
    "owl": OWL,
    "rdf": RDF,
    "rdfs": RDFS,
    "skos": SKOS,
    "semapv": "https://w3id.org/semapv/vocab/",
    "sssom": "https://w3id.org/sssom/",
}
NEEDED = ("subject_id", "object_id")
NO_MATCH = "https://w3id.org/sssom/NoTermFound"
BY_HAND = "https://w3id.org/semapv/vocab/ManualMappingCuration"
HEADER = re.compile(rb"^#[ \t]*(?:sssom_version|curie_map|mapping_set_id)[ \t]*:|^subject_id[\t,].*object_id", re.MULTILINE)
ENTRY = re.compile(r"""\s*["']?([\w.-]*)["']?\s*:\s*["']?(\S*?)["']?\s*$""")


class SssomReader:
    """Reads a table of mappings."""

    expects = "SSSOM (.sssom.tsv)"

    def accepts(self, path: Path) -> bool:
        """Whether the name says so, or the beginning has the metadata or the columns of SSSOM."""
        return path.is_file() and (".sssom." in path.name or HEADER.search(opening(path)) is not None)

    def read(self, path: Path, *, strict: bool = False, limits: Limits = DEFAULT) -> Iterator[GivenLink]:
        """The mappings whose predicate says that two entities are the same. Those with another predicate are counted and left out.

        Rows of unmatched entities are skipped, and rows of which a reviewer was not sure. The modifier `Not` says that the two are not the
        same.

        Args:
            path: The file.
            strict: Refuse bytes that are no UTF-8. A broken table is always refused.
            limits: How much of the file is taken in.
        """
        prefixes = {**BUILT_IN, **read_prefixes(path, limits)}
        others = Counter[str]()
        for number, row in _read_mappings(path, strict, limits):
            subject, object_, predicate = (expanded(row.get(name, ""), prefixes) for name in (*NEEDED, "predicate_id"))
            if NO_MATCH in (subject, object_) or (row.get("reviewer_agreement") and as_score(row["reviewer_agreement"]) == 0):
                continue
            if predicate and predicate not in SAME | DIFFERENT:
                others[row["predicate_id"]] += 1
                continue
            holds = (predicate not in DIFFERENT) != (row.get("predicate_modifier", "").lower() == "not")
            score = as_score(row["confidence"]) if row.get("confidence") else None
            labels = (without_apostrophe(row.get(name, "")) for name in ("subject_label", "object_label"))
            yield GivenLink(number, subject, object_, score, holds, *labels)
        if others:
            shown = ", ".join(f"{name} ({count:,})" for name, count in others.most_common(3))
            logger.warning("%s: %d rows are no links: expected %s, found %s", path, others.total(), SHOWN, shown)

    def unmatched(self, path: Path, *, limits: Limits = DEFAULT) -> Iterator[str]:
        """The subjects of which a person, and no program, says that they have no counterpart.

        Args:
            path: The file.
            limits: How much of the file is taken in.
        """
        prefixes = {**BUILT_IN, **read_prefixes(path, limits)}
        for _, row in _read_mappings(path, False, limits):
            by_hand = expanded(row.get("mapping_justification", ""), prefixes) == BY_HAND
            if by_hand and expanded(row["object_id"], prefixes) == NO_MATCH:
                yield expanded(row["subject_id"], prefixes)


def _read_mappings(path: Path, strict: bool, limits: Limits) -> Iterator[tuple[int, dict[str, str]]]:
    """The numbered rows by the names of their columns."""
    rows = read_rows(path, "\t", quoted=True, comment="#", strict=strict, limits=limits)
    header = next(([name.strip() for name in fields] for _, fields in rows), [])
    if not all(name in header for name in NEEDED):
        raise DataError(f"{path}: expected a header with the columns subject_id and object_id, found {', '.join(header)[:60]!r}")
    for number, fields in rows:
        row = dict(zip(header, map(str.strip, fields), strict=False))
        if not all(row.get(name) for name in NEEDED):
            raise DataError(f"{path}:{number}: expected a subject_id and an object_id, one is missing")
        yield number, row


def read_prefixes(path: Path, limits: Limits = DEFAULT) -> dict[str, str]:
    """The prefixes that the comments at the beginning declare under curie_map."""
    prefixes: dict[str, str] = {}
    deeper = None  # the indentation of the key, while its entries are read
    for _, line in lines_of(read_text(path, limits=limits)[0]):
        if not line.startswith("#"):
            break
        content = line[1:].rstrip("\t ")  # some tools pad comments with tabs
        indent = len(content) - len(content.lstrip())
        if deeper is not None and indent > deeper and (entry := ENTRY.match(content)):
            prefixes[entry[1]] = entry[2]
        else:
            deeper = indent if content.strip() == "curie_map:" else None
    return prefixes


def expanded(text: str, prefixes: dict[str, str]) -> str:
    """The IRI that a CURIE stands for; a text without a known prefix as it is."""
    prefix, colon, local = text.partition(":")
    return prefixes[prefix] + local if colon and prefix in prefixes and not local.startswith("//") else text


reader = SssomReader()
