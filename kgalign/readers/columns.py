"""What the columns of a table mean: which one holds the ids, which ones point to them, and which cells are lists."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kgalign.characters import whole_characters
from kgalign.errors import OptionError
from kgalign.iri import is_iri, local_name
from kgalign.readers.label_properties import NAMING, is_alternative_name
from kgalign.readers.table_form import column_words

ID_NAMES = (  # names of columns with ids, best first
    "id", "identifier", "iri", "uri", "uuid", "guid", "key", "pk", "@id", "_id", "qid", "identifiant", "kennung",
    "code", "isbn", "doi", "ean", "gtin", "asin", "sku", "url", "nr", "no", "number", "nummer",
)  # fmt: skip
PLAIN_IDS = frozenset(
    {"id", "identifier", "iri", "uri", "uuid", "guid", "key", "pk", "@id", "_id", "identifiant", "kennung", "index", "row"}
)
LAST_WORDS = frozenset({"id", "key", "iri", "uri", "code", "identifier", "uuid", "isbn", "number", "nr", "no"})
# Columns whose numbers may be ids of rows: a row is what another row of the same table is to it.
POINTERS = frozenset({
    "parent", "parents", "manager", "supervisor", "boss", "broader", "narrower", "father", "mother", "child", "children",
    "spouse", "predecessor", "successor", "previous", "next", "superior", "partof",
})  # fmt: skip
POINTING_PHRASES = ("part of", "reports to", "belongs to", "subclass of", "child of")
PAGES = frozenset({
    "url", "urls", "homepage", "website", "web", "site", "page", "link", "links", "image", "img", "picture", "photo", "logo",
    "thumbnail", "depiction", "wikipedia",
})  # fmt: skip
MOST_SHARED = 0.1  # share of rows that may have the id of an earlier row, in a column whose name says that it holds ids
POINTING = 0.9  # share of values that are ids, in a column that points to rows
LONGEST_ID = 100  # mean characters of an id
SAMPLE = 2_000  # cells that are examined for lists
SOME_LISTS, MANY_LISTS = 0.05, 0.3  # share of cells with a separator
LONGEST_PART = 50  # mean characters of an item of a list
RECURRING = 0.2  # share of the items of lists that other cells have too
ARRAY = "[]"
WHOLE_NUMBER = re.compile(r"\d+(?:\.0)?")


@dataclass(frozen=True)
class IdColumn:
    """The column that holds the ids of the rows.

    Attributes:
        number: Its position, None: there is none, and the ids are row numbers.
        reason: Why it was taken, or why there is none.
        is_value: Its cells say something of the rows besides, as a name or an ISBN does.
    """

    number: int | None
    reason: str
    is_value: bool = False


def find_id_column(names: Sequence[str], columns: Sequence[Sequence[str]], given: str | None, where: str) -> IdColumn:
    """The column with the ids of the rows.

    Without a given one: a column that is called `id` or alike, one of IRIs, one whose name ends in `id` or alike, or the first column. It
    has a cell in every row. The cells are all different; if the name says that they are ids, nearly all.

    Args:
        names: The name of each column.
        columns: The cells of each column.
        given: The name of the column that the user says, None: none.
        where: The file, for errors.
    """
    if given is not None:
        return _given_column(names, columns, given, where)
    words = [" ".join(column_words(name)) for name in names]
    called = [words.index(name) for name in ID_NAMES if name in words]
    refused = ""
    for number in called:
        if _identifies(columns[number], MOST_SHARED):
            return IdColumn(number, "by its name", words[number] not in PLAIN_IDS and not is_counted(columns[number]))
        refused = refused or f"; `{names[number]}` is empty or the same in several rows"
    for number, cells in enumerate(columns):
        of_iris = all(map(_is_plain_iri, cells)) and not PAGES & set(words[number].split())
        if of_iris and _identifies(cells, MOST_SHARED):
            return IdColumn(number, "it holds IRIs")
    ends = [number for number, name in enumerate(words) if name.split() and name.split()[-1] in LAST_WORDS]
    for number in ends:
        if _identifies(columns[number]):
            return IdColumn(number, "by its name", words[number].split()[-1] != "id" and not is_counted(columns[number]))
    if columns and _identifies(columns[0]) and sum(map(len, columns[0])) <= LONGEST_ID * len(columns[0]):
        return IdColumn(0, "the first column, all different", not is_counted(columns[0]))
    return IdColumn(None, f"no column has an id for each row{refused}")


def shown_column(name: str) -> str:
    """The name of a column for people: as it is, or the last part of an IRI."""
    return local_name(name) if is_iri(name) else name


def is_counted(cells: Sequence[str]) -> bool:
    """Whether cells are whole numbers, as ids that a database counts; they mean nothing outside of their table."""
    return all(cell.isdigit() for cell in cells)


def counts_rows(cells: Sequence[str]) -> bool:
    """Whether cells are the numbers of their rows, from 0 or 1 on."""
    if len(cells) < 2 or cells[0] not in ("0", "1"):
        return False
    first = int(cells[0])
    return all(cell == str(number) for number, cell in enumerate(cells, start=first))


def points_to(name: str, values: Sequence[str], ids: frozenset[str], id_name: str, counted: bool) -> bool:
    """Whether the values of a column are ids of rows. Numbers are ids only if the name of the column says so.

    Args:
        name: The name of the column.
        values: Its values, without empty ones.
        ids: The ids of all rows.
        id_name: The name of the column with these ids.
        counted: The ids are numbers.
    """
    words = column_words(name)
    if (
        not values
        or " ".join(words) in ID_NAMES
        or (counted and not says_row(words) and not _repeats(words, column_words(id_name)))
    ):
        return False
    sample = values[:: max(1, len(values) // SAMPLE)]
    return sum(value in ids for value in sample) >= POINTING * len(sample)


def says_row(words: Sequence[str]) -> bool:
    """Whether the words of a column say that it refers to another row of the same table: `parent company`, `boss id`, `part of`."""
    return not POINTERS.isdisjoint(words) or any(f" {phrase} " in f" {' '.join(words)} " for phrase in POINTING_PHRASES)


def whole_numbers(values: Sequence[str]) -> Sequence[str]:
    """The values without `.0`, if all are whole numbers: a program that knows no empty whole number writes `17.0` for 17."""
    return [value.removesuffix(".0") for value in values] if all(map(WHOLE_NUMBER.fullmatch, values)) else values


def holds_iris(name: str, values: Sequence[str]) -> bool:
    """Whether the values of a column are IRIs of things, not addresses of pages."""
    sample = values[:: max(1, len(values) // SAMPLE)]
    return bool(sample) and not PAGES & set(column_words(name)) and all(map(_is_plain_iri, sample))


def find_separator(name: str, cells: Sequence[str]) -> str:
    """What stands between the items of the lists in a column; `[]` for arrays of JSON or Python; empty: no lists.

    A separator is one if many cells have it and the items are short. Items of `a; b` must recur in other cells. For `a, b` they must do so
    in other places too, and their number must differ, since `Scott, Ridley` and addresses are no lists.

    Args:
        name: The name of the column.
        cells: Its cells, without empty ones.
    """
    sample = cells[:: max(1, len(cells) // SAMPLE)]
    if not sample:
        return ""
    if all(cell.startswith("[") and cell.endswith("]") for cell in sample) and all(_array(cell) is not None for cell in sample):
        return ARRAY
    words = column_words(name)
    is_name, is_alternative = bool(NAMING & set(words)), is_alternative_name(words)
    for separator in ("|", ";", ","):
        lists = [items for cell in sample if separator in cell and len(items := split_cell(cell, separator)) > 1]
        share = len(lists) / len(sample)
        total = sum(map(len, lists))
        if not lists or share < SOME_LISTS or sum(len(item) for items in lists for item in items) > LONGEST_PART * total:
            continue
        if is_alternative and separator != ",":
            return separator
        if len(lists) < 2 or (is_name and not is_alternative):
            continue
        often = Counter(item for cell in sample for item in set(split_cell(cell, separator)))
        recurring = sum(often[item] > 1 for items in lists for item in items) >= RECURRING * total
        if separator == "|" and (recurring or share >= MANY_LISTS):
            return separator
        if recurring and (separator == ";" or _are_lists(lists, often)):
            return separator
    return ""


def split_cell(cell: str, separator: str) -> list[str]:
    """The items of a list in a cell, without empty ones."""
    if separator == ARRAY:
        return [text for item in _array(cell) or [] if (text := whole_characters(str(item)).strip())]
    return [item for part in cell.split(separator) if (item := part.strip())]


def _repeats(words: Sequence[str], own: Sequence[str]) -> bool:
    """Whether the words of a column have those of the id column and others: `deputy staff no` beside `staff no`, not `group id` beside `id`."""
    return 1 < len(own) < len(words) and f" {' '.join(own)} " in f" {' '.join(words)} "


def _given_column(names: Sequence[str], columns: Sequence[Sequence[str]], given: str, where: str) -> IdColumn:
    matches = [number for number, name in enumerate(names) if name == given]
    matches = matches or [number for number, name in enumerate(names) if name.casefold() == given.strip().casefold()]
    if not matches:
        raise OptionError(f"{where}: no column is called {given!r}; there are {', '.join(names)}")
    words = " ".join(column_words(names[matches[0]]))
    return IdColumn(matches[0], "given", words not in PLAIN_IDS and not is_counted([cell for cell in columns[matches[0]] if cell]))


def _identifies(cells: Sequence[str], most_shared: float = 0.0) -> bool:
    """Whether all cells are filled, and at most a share of them repeats an earlier one."""
    return all(cells) and len(cells) - len(set(cells)) <= most_shared * len(cells)


def _is_plain_iri(cell: str) -> bool:
    return is_iri(cell.strip("<>")) and " " not in cell


def _array(cell: str) -> list[object] | None:
    """The items of an array as JSON or Python writes it; None: it is none, or has more than plain items."""
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        try:
            found = ast.literal_eval(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    is_plain = isinstance(found, list) and not any(isinstance(item, list | dict | tuple) for item in found)
    return [item for item in found if item is not None] if is_plain else None


def _are_lists(lists: Sequence[Sequence[str]], often: Counter[str]) -> bool:
    """Whether cells with commas are lists: of different lengths, without digits, with items that change their place."""
    items = [item for own in lists for item in own]
    with_digits = sum(any(map(str.isdigit, item)) for item in items)
    places: dict[str, set[int]] = {}
    for own in lists:
        for place, item in enumerate(own):
            if often[item] > 1:
                places.setdefault(item, set()).add(place)
    moving = sum(len(found) > 1 for found in places.values())
    return len({len(own) for own in lists}) > 1 and with_digits <= SOME_LISTS * len(items) and moving >= RECURRING * len(places)
