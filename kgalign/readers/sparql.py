"""SPARQL endpoints as graphs. This module recognises their addresses; `kgalign.readers.endpoint` sends the queries."""

from __future__ import annotations

from pathlib import Path

from kgalign.limits import DEFAULT, Limits
from kgalign.seams import Place, Statements

SCHEMES = ("sparql+http://", "sparql+https://")


class SparqlReader:
    """Reads the graph of a SPARQL endpoint, whole or in part."""

    expects = "a SPARQL endpoint (sparql+http://host/path)"

    def accepts(self, place: Place) -> bool:
        """Whether the place is the address of an endpoint."""
        return isinstance(place, str) and place.startswith(SCHEMES)

    def read(self, place: Place, *, strict: bool = False, query: str | Path | None = None, limits: Limits = DEFAULT) -> Statements:
        """All statements of the endpoint about entities with an IRI, or those of a query.

        Args:
            place: The address, such as `sparql+http://host/path`.
            strict: Not used: an endpoint sends whole statements.
            query: A file with a CONSTRUCT query.
            limits: The size and number of the answers, and the time that all of them may take.
        """
        from kgalign.readers.endpoint import read_statements  # slow to import, and files are read without it

        return read_statements(str(place).removeprefix("sparql+"), query=query, limits=limits)


reader = SparqlReader()
