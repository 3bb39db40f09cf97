"""Links as statements in RDF: owl:sameAs, owl:equivalentClass, owl:equivalentProperty and skos:exactMatch."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

from kgalign.errors import DataError
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.link_files.predicates import DIFFERENT, SAME, SHOWN
from kgalign.readers.rdf import format_of
from kgalign.seams import GivenLink

logger = logging.getLogger(__name__)
MOST_SHOWN = 3  # predicates in an error


class RdfLinkReader:
    """Reads the statements of an RDF file that link two entities; owl:differentFrom says that they are not the same."""

    expects = f"RDF with {SHOWN}"

    def accepts(self, path: Path) -> bool:
        """Whether the file is RDF."""
        return format_of(path) is not None

    def read(self, path: Path, *, strict: bool = False, limits: Limits = DEFAULT) -> Iterator[GivenLink]:
        """The links. All other statements are skipped.

        Args:
            path: The file.
            strict: Refuse the first broken statement, instead of leaving it out.
            limits: How much of the file is taken in.
        """
        from kgalign.readers.rdf_parser import read_statements  # slow to import, and tables are read without it

        found = read_statements([path], strict, limits)
        links = {number: name in SAME for number, name in enumerate(found.relations) if name in SAME | DIFFERENT}
        if not links:
            there = ", ".join([*found.relations, *found.properties][:MOST_SHOWN])
            raise DataError(f"{path}: no statement of this file is a link; expected {SHOWN}, found {there}")
        if found.record["broken"]:
            logger.warning(
                "%s: %d broken statements are left out; %s", path, found.record["broken"], found.record["first broken"][0]
            )
        for head, relation, tail in found.triples.tolist():
            if relation in links:
                yield GivenLink(0, found.entities[head], found.entities[tail], holds=links[relation])


reader = RdfLinkReader()
