"""Addresses of pages and images in RDF: they are values of the entity that has them, as they are in tables."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgalign.readers.columns import PAGES
from kgalign.readers.rewriting import add_texts
from kgalign.readers.table_form import column_words
from kgalign.readers.vocabulary import XSD
from kgalign.seams import Statements

WEB = ("http://", "https://", "ftp://")
FILE = re.compile(r"\.(?:html?|php|aspx?|jsp|pdf|jpe?g|png|gif|svg|webp|tiff?|bmp)$", re.IGNORECASE)


def fold_pages(side: Statements, gone: NDArray[Any]) -> tuple[Statements, NDArray[Any]]:
    """The statements with the addresses of pages as literals too, and (n,) the entities that are only such addresses.

    An address of a page is never a subject. Only relations whose own name says so lead to it, such as foaf:homepage and schema:url. It does
    not look like the subjects of the graph, unless it ends as a file does.

    Args:
        side: The statements.
        gone: (n,) entities that count no more.
    """
    to_pages = np.fromiter((not PAGES.isdisjoint(column_words(name)) for name in side.relations), bool, len(side.relations))
    pages = np.zeros(len(side.entities), bool)
    if not to_pages.any():
        return side, pages
    head, relation, tail = side.triples[~gone[side.triples[:, 0]] & ~gone[side.triples[:, 2]]].T
    pages[tail[to_pages[relation]]] = True
    pages[tail[~to_pages[relation]]] = False
    pages[head] = pages[side.facts[:, 0]] = False
    spaces = {_namespace(side.entities[subject]) for subject in np.union1d(head, side.facts[:, 0]).tolist()}
    for entity in np.flatnonzero(pages).tolist():
        iri = side.entities[entity]
        is_own = (space := _namespace(iri)) in spaces and space != iri and not FILE.search(iri)
        pages[entity] = iri.startswith(WEB) and not is_own
    rows = np.flatnonzero(pages[tail])
    texts = [(int(head[row]), side.relations[relation[row]], side.entities[tail[row]]) for row in rows.tolist()]
    return add_texts(side, texts, f"{XSD}anyURI"), pages


def _namespace(iri: str) -> str:
    """The IRI up to its last slash or number sign."""
    return iri[: max(iri.rfind("/"), iri.rfind("#")) + 1]
