"""Links in the alignment format of the OAEI and of the Alignment API: RDF/XML with one cell for each link."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from kgalign.errors import DataError
from kgalign.files import UNREADABLE, open_bytes
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.link_files.table import as_score
from kgalign.readers.rdf import opening
from kgalign.seams import GivenLink

logger = logging.getLogger(__name__)
NAMESPACE = b"knowledgeweb.semanticweb.org/heterogeneity/alignment"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SAME, DIFFERENT = ("=", "equivalence", "EquivRelation"), ("%", "IncompatRelation")  # signs, or the ends of names
NOT_A_LINK = "neither = nor %"


class OaeiReader:
    """Reads the cells of an alignment."""

    expects = "the alignment format of the OAEI (.rdf, .xml)"

    def accepts(self, path: Path) -> bool:
        """Whether the beginning of the file names the namespace of the format."""
        return NAMESPACE in opening(path)

    def read(self, path: Path, *, strict: bool = False, limits: Limits = DEFAULT) -> Iterator[GivenLink]:
        """The cells whose relation is = (the same) or % (not the same). Cells of other relations are counted and left out.

        Args:
            path: The file.
            strict: Not used: broken XML is always refused.
            limits: How much of the file is taken in.
        """
        cells = _read_cells(path, limits)
        links = [cell for cell in cells if cell.holds is not None]
        if len(links) < len(cells):
            first = next(cell for cell in cells if cell.holds is None)
            logger.warning(
                "%s: %d cells are no links, since their relation is %s; line %d has %s",
                *(path, len(cells) - len(links), NOT_A_LINK, first.line, first.text["relation"] or "none"),
            )
        for cell in links:
            if not cell.ends.get("entity1") or not cell.ends.get("entity2"):
                raise DataError(f"{path}:{cell.line}: expected entity1 and entity2 with rdf:resource in this cell, one is missing")
            score = as_score(cell.text["measure"])
            yield GivenLink(cell.line, cell.ends["entity1"], cell.ends["entity2"], score, cell.holds is True)


@dataclass
class _Cell:
    """A cell while it is being read."""

    line: int
    ends: dict[str, str] = field(default_factory=dict)
    text: dict[str, str] = field(default_factory=lambda: {"relation": "", "measure": ""})

    @property
    def holds(self) -> bool | None:
        """Whether the two are the same; None: the relation is another one, such as subsumption."""
        relation = self.text["relation"].strip() or "="
        return True if relation.endswith(SAME) else False if relation.endswith(DIFFERENT) else None


def _read_cells(path: Path, limits: Limits) -> list[_Cell]:
    """All cells of the file, with their lines. Elements go by their local names, since older files have other namespaces."""
    cells: list[_Cell] = []
    within: list[tuple[str, str | None]] = []  # the local names of the open elements, each with the end that it is in
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if local == "Cell":
            cells.append(_Cell(parser.CurrentLineNumber))
        iri = attributes.get(f"{RDF} resource") or attributes.get(f"{RDF} about")
        end = local if local in ("entity1", "entity2") else within[-1][1] if within else None
        if cells and iri and end:
            cells[-1].ends.setdefault(end, iri)
        within.append((local, end))

    def text(part: str) -> None:
        if cells and within and within[-1][0] in cells[-1].text:
            cells[-1].text[within[-1][0]] += part

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: within.pop()
    parser.CharacterDataHandler = text
    try:
        with open_bytes(path, limits) as stream:
            parser.ParseFile(stream)
    except expat.ExpatError as error:
        raise DataError(f"{path}:{error.lineno}: expected XML, but {expat.ErrorString(error.code)}; mend the file") from None
    except UNREADABLE as error:
        raise DataError(f"{path}: expected a whole file, but reading it failed ({error})") from None
    return cells


reader = OaeiReader()
