"""What a table is: triples or rows of entities, and whether its first row holds the names of its columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from kgalign.iri import LABEL_PROPERTIES, is_iri, local_name, split_words
from kgalign.readers.table_files import RawTable
from kgalign.readers.tables import HEADERS

TRIPLE_WORDS = HEADERS | {"h", "r", "t", "rel", "subj", "pred", "obj"}
COLUMN_WORDS = frozenset({
    "id", "ids", "key", "code", "iri", "uri", "url", "identifier", "uuid", "isbn", "doi", "ean", "sku", "nr", "no", "number",
    "index", "rank", "name", "names", "title", "titles", "label", "labels", "description", "text", "comment", "note", "notes",
    "abstract", "summary", "keyword", "keywords", "tag", "tags", "type", "kind", "category", "class", "genre", "status",
    "year", "date", "month", "day", "time", "start", "end", "born", "died", "birthday", "founded", "country", "city", "state",
    "region", "place", "location", "address", "street", "zip", "postcode", "postal", "latitude", "longitude", "lat", "lon",
    "lng", "price", "amount", "cost", "currency", "quantity", "size", "weight", "height", "width", "length", "area",
    "population", "age", "sex", "gender", "email", "mail", "phone", "telephone", "tel", "fax", "website", "homepage", "link",
    "image", "company", "organisation", "organization", "employer", "industry", "sector", "person", "people", "author",
    "authors", "artist", "director", "actor", "actors", "brand", "manufacturer", "maker", "vendor", "model", "product",
    "item", "publisher", "journal", "venue", "volume", "issue", "pages", "language", "nationality", "school", "university",
    "department", "team", "club", "league", "film", "movie", "book", "song", "album", "capital", "continent", "source",
    "target", "value", "rating", "score", "votes", "revenue", "employees", "ceo", "parent", "nom", "titre", "libelle", "pays",
    "ville", "annee", "prix", "adresse", "auteur", "titel", "bezeichnung", "nummer", "land", "stadt", "ort", "jahr", "datum",
    "preis", "marke", "strasse", "plz", "firma", "verein", "nombre", "titulo", "pais", "ciudad", "precio", "autor", "nome",
    "titolo", "citta", "prezzo", "autore",
})  # fmt: skip
MOST_WORDS = 3  # of the name of a column
MOST_COLUMNS = 5  # of triples with further columns
FEW_ROWS = 5  # below which a recurring value shows little
NUMBER = re.compile(r"[-+]?[\d.,:/\s%$€£-]*\d[\d.,:/\s%$€£-]*")
YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
RDF_TERMS = (
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://www.w3.org/2000/01/rdf-schema#",
    "rdf:",
    "rdfs:",
    "owl:",
    "skos:",
)


def holds_triples(raw: RawTable) -> bool:
    """Whether the rows are head, relation and tail, by the header, or else by what recurs in which column."""
    if not raw.rows and not raw.header:
        return False
    first, rest = (raw.header, raw.rows) if raw.header is not None else (raw.rows[0], raw.rows[1:])
    if len(first) < 3 and (rest or len(first) < 2):
        return False
    words = [" ".join(column_words(cell)) for cell in first]
    if set(words[:2]) <= TRIPLE_WORDS:
        return True
    named = [_names_column(cell) for cell in words]
    has_names = sum(named) > 1 or any(named[:1] + named[2:3])  # a relation may be called like a column
    if not rest:  # one triple, perhaps cut off, or a header alone
        return raw.header is None and len(first) <= 3 and not has_names
    rest = [row for row in rest if row != first]  # a header may be repeated
    columns = [[row[number].strip() if number < len(row) else "" for row in rest] for number in range(3)]
    if raw.header is None and len(first) <= MOST_COLUMNS and not (named[0] and any(named[1:])):
        if any(cell.strip() and cell.strip() in column for cell, column in zip(first[:2], columns, strict=False)):
            return True  # the first row is a triple like others
        if _is_term(first[1]):
            return True
    if len(first) != 3 or has_names:
        return False
    heads, relations, tails = columns
    if any(map(_is_term, relations)):
        return True
    if _has_number(first) and not has_header(first, rest):
        return _share_recurring(relations) > 0.5 or all(NUMBER.fullmatch(cell) for cell in first if cell.strip())
    recurring = _share_recurring(relations) > 0.5
    if len(set(heads)) == len(heads):
        return len(rest) < FEW_ROWS and (recurring or bool(set(tails) & set(heads)) or len(rest) < 3)
    return recurring or len(rest) < FEW_ROWS


def has_header(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: it has no number but perhaps years, and no cell that recurs below itself."""
    cells = [cell.strip() for cell in first]
    numbers = [cell for cell in cells if cell and NUMBER.fullmatch(cell)]
    if numbers and not (len(numbers) < len([cell for cell in cells if cell]) and all(map(YEAR.fullmatch, numbers))):
        return False
    below: list[set[str]] = [set() for _ in cells]
    for row in rest:
        if [cell.strip() for cell in row] != cells:  # a header may be repeated
            for seen, cell in zip(below, row, strict=False):
                seen.add(cell.strip())
    recurring = sum(cell in seen for cell, seen in zip(cells, below, strict=True) if cell)
    return recurring == 0 or (recurring < len(cells) / 2 and sum(map(_names_column, map(_joined, cells))) >= 2)


def column_words(name: str) -> list[str]:
    """The words of the name of a column, in lower case: two for `BirthDate`, `birth_date` and `http://x/birthDate`."""
    return split_words(local_name(name)).replace("-", " ").lower().split()


def _joined(cell: str) -> str:
    return " ".join(column_words(cell))


def _names_column(words: str) -> bool:
    """Whether words are those of a column: few, without a number, and the last or the first of them is usual for one."""
    found = words.split()
    return (
        0 < len(found) <= MOST_WORDS
        and not any(map(str.isdigit, found))
        and (found[-1] in COLUMN_WORDS or found[0] in COLUMN_WORDS)
    )


def _is_term(cell: str) -> bool:
    """Whether a cell is a property of RDF, or one that gives names."""
    cell = cell.strip().strip("<>")
    return (cell in LABEL_PROPERTIES and (is_iri(cell) or ":" in cell)) or cell.startswith(RDF_TERMS)


def _has_number(cells: Sequence[str]) -> bool:
    return any(NUMBER.fullmatch(cell.strip()) for cell in cells if cell.strip())


def _share_recurring(cells: Sequence[str]) -> float:
    """The share of cells whose value another cell has too."""
    often = Counter(cells)
    return sum(count for count in often.values() if count > 1) / max(1, len(cells))
