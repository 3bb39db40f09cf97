"""Wide tables: a row is an entity, and a column a property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import Ints
from kgalign.errors import DataError
from kgalign.iri import normal_iri
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.columns import (
    ARRAY,
    IdColumn,
    counts_rows,
    find_id_column,
    find_separator,
    holds_iris,
    is_counted,
    points_to,
    shown_column,
    split_cell,
    whole_numbers,
)
from kgalign.readers.statements import TABLE
from kgalign.readers.table_files import RawTable, read_raw
from kgalign.readers.table_form import holds_triples
from kgalign.readers.table_rows import Table, as_table
from kgalign.seams import Place, Statements


class WideTableReader:
    """Reads a table of entities: each row has an id, and the columns are properties."""

    expects = "a table (csv, tsv, parquet, xlsx, jsonl)"

    def accepts(self, place: Place) -> bool:
        """Whether the place is a single file that does not hold triples."""
        if not isinstance(place, str | Path) or not Path(place).is_file():
            return False
        try:
            return not holds_triples(read_raw(Path(place), sample=True))
        except DataError:
            return True  # so that `read` says what is wrong

    def read(self, place: Place, *, strict: bool = False, limits: Limits = DEFAULT, id_column: str | None = None) -> Statements:
        """A row is an entity. A cell is a literal, or points to a row or an IRI. Lists in cells are split.

        Args:
            place: The file.
            strict: Refuse rows with too many or too few cells and rows without an id, instead of counting them.
            limits: How much of the file is taken in.
            id_column: The name of the column with the ids. None: it is found out; without one the row number is the id.
        """
        if not isinstance(place, str | Path):
            raise DataError(f"{', '.join(map(str, place))}: expected one table, found {len(place)} files")
        raw = read_raw(Path(place), strict=strict, limits=limits)
        return table_statements(raw, strict=strict, id_column=id_column, limits=limits)


reader = WideTableReader()


def table_statements(raw: RawTable, *, strict: bool = False, id_column: str | None = None, limits: Limits = DEFAULT) -> Statements:
    """The statements of the rows of a table, see `WideTableReader.read`."""
    table = as_table(raw, strict, limits)
    chosen = find_id_column(table.names, table.columns, id_column, str(raw.path))
    return _statements(raw, table, chosen, strict)


def _statements(raw: RawTable, table: Table, chosen: IdColumn, strict: bool) -> Statements:
    """The statements of a table whose ids are known."""
    entities, ids, owners = _entities(raw, table, chosen, strict)
    found = _Gathered(entities, ids)
    row_ids, counted = frozenset(ids) if chosen.number is not None else frozenset[str](), is_counted(entities)
    id_name = "" if chosen.number is None else table.names[chosen.number]
    for number, (name, column) in enumerate(zip(table.names, table.columns, strict=True)):
        if number == chosen.number and not chosen.is_value:
            continue
        filled = [row for row, cell in enumerate(column) if cell and owners[row] >= 0]
        if not filled:
            found.left_out.append(f"{shown_column(name)} (empty)")
            continue
        if counts_rows(column):
            found.left_out.append(f"{shown_column(name)} (row numbers)")
            continue
        values = [_plain(column[row]) for row in filled]
        heads = owners[filled]
        if separator := find_separator(name, values):
            lists = [split_cell(cell, separator) for cell in values]
            heads = np.repeat(heads, [len(items) for items in lists])
            values = [item for items in lists for item in items]
            found.lists.append(f"{shown_column(name)}, {'arrays' if separator == ARRAY else f'items between {separator}'}")
        references = whole_numbers(values) if row_ids.isdisjoint(values) else values
        if number != chosen.number and points_to(name, references, row_ids, id_name, counted):
            found.add_triples(name, heads, references)
        elif number != chosen.number and holds_iris(name, values):
            found.add_triples(name, heads, values)
        else:
            found.add_literals(name, heads, values)
    return found.statements(_record(raw, table, chosen, found))


def _plain(cell: str) -> str:
    """The cell without entities of HTML, such as `&amp;`."""
    return unescape(cell) if "&" in cell and ";" in cell else cell


def _entities(raw: RawTable, table: Table, chosen: IdColumn, strict: bool) -> tuple[list[str], dict[str, int], Ints]:
    """The ids of the entities, the number of each by all spellings, and (n,) the number of the entity of each row, -1 for none.

    Rows with the same id are one entity.
    """
    if chosen.number is None:
        numbers = [str(number) for number in range(1, len(table.lines) + 1)]
        return numbers, {number: place for place, number in enumerate(numbers)}, np.arange(len(numbers))
    entities: list[str] = []
    ids: dict[str, int] = {}
    owners = np.full(len(table.lines), -1, np.int64)
    shared = 0
    for row, cell in enumerate(table.columns[chosen.number]):
        problem = ""
        if not cell:
            problem = f"expected an id in the column {table.names[chosen.number]}, found none"
        elif (known := ids.get(cell, ids.get(normal_iri(cell.strip("<>"))))) is not None:
            owners[row] = known
            shared += 1
            problem = f"expected an id that no other row has, found {cell!r} again" if strict else ""
        else:
            owners[row] = ids[cell] = ids[normal_iri(cell.strip("<>"))] = len(entities)
            entities.append(cell)
        if problem and strict:
            raise DataError(f"{raw.path}:{table.lines[row]}: {problem}; mend it, or leave out `strict` to read on")
        if problem:
            raw.damage.add(f"{raw.path}:{table.lines[row]}: {problem}")
    if shared:
        table.remarks.append(
            f"{shared:,} row{' has' if shared == 1 else 's have'} the id of an earlier row and count as one entity with it"
        )
    if not entities:
        raise DataError(f"{raw.path}: the column {table.names[chosen.number]} is empty; expected the ids of the rows in it")
    return entities, ids, owners


@dataclass
class _Gathered:
    """The statements so far."""

    entities: list[str]
    ids: dict[str, int]
    relations: list[str] = field(default_factory=list)
    triples: list[Ints] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)
    facts: list[Ints] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def add_triples(self, name: str, heads: Ints, values: Sequence[str]) -> None:
        """Adds a column whose values are ids of rows, or IRIs, which become entities."""
        tails = []
        for value in values:
            key = value if value in self.ids else normal_iri(value.strip("<>"))
            if key not in self.ids:
                self.ids[key] = self.ids[value] = len(self.entities)
                self.entities.append(value)
            tails.append(self.ids[key])
        self.triples.append(np.column_stack([heads, np.full(len(heads), len(self.relations)), np.array(tails, np.int64)]))
        self.relations.append(name)

    def add_literals(self, name: str, heads: Ints, values: Sequence[str]) -> None:
        self.facts.append(np.column_stack([heads, np.full(len(heads), len(self.properties))]))
        self.values.extend(values)
        self.properties.append(name)

    def statements(self, record: dict[str, Any]) -> Statements:
        triples = np.concatenate(self.triples) if self.triples else np.empty((0, 3), np.int64)
        facts = np.concatenate(self.facts) if self.facts else np.empty((0, 2), np.int64)
        rows = _each_once(facts, self.values)
        return Statements(
            self.entities,
            self.ids,
            self.relations,
            np.unique(triples, axis=0),
            self.properties,
            facts[rows],
            [self.values[row] for row in rows.tolist()],
            [""],
            np.zeros(len(rows), np.int32),
            [""],
            np.zeros(len(rows), np.int32),
            record,
        )


def _each_once(facts: Ints, values: Sequence[str]) -> Ints:
    """(n,) the positions of the literals without repetitions, those of one entity together, in the order of the columns."""
    numbers: dict[str, int] = {}
    found = np.fromiter((numbers.setdefault(value, len(numbers)) for value in values), np.int64, len(values))
    order = np.lexsort((found, facts[:, 1], facts[:, 0]))  # stable
    keys = np.column_stack([facts, found])[order]
    new = np.ones(len(order), bool)
    new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    kept = np.sort(order[new])
    ordered: Ints = kept[np.lexsort((kept, facts[kept, 1], facts[kept, 0]))]
    return ordered


def _record(raw: RawTable, table: Table, chosen: IdColumn, found: _Gathered) -> dict[str, Any]:
    """What people should know of the table."""
    rows = len(table.lines)
    form = ", ".join(
        [f"{raw.form}{f', {raw.encoding}' if raw.encoding else ''}: {rows:,} row{'' if rows == 1 else 's'}", *table.remarks]
    )
    column = (
        f"the column {shown_column(table.names[chosen.number])} ({chosen.reason})"
        if chosen.number is not None
        else f"row numbers ({chosen.reason})"
    )
    parts = {
        TABLE: form,
        "ids from": column,
        "relations from": ", ".join(map(shown_column, found.relations)),
        "literals from": ", ".join(map(shown_column, found.properties)),
        "lists split": ", ".join(found.lists),
        "columns left out": ", ".join(found.left_out),
    }
    return {**raw.damage.record(), **{key: text for key, text in parts.items() if text}}
