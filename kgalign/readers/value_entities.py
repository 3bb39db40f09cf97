"""Entities for the values that recur in the columns of a table, such as countries, brands and directors."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kgalign.data import PREFERRED, Alignment, AlignmentTask, Attributes, Ints, KnowledgeGraph, Names
from kgalign.features.spelling import are_addresses
from kgalign.features.words import fold
from kgalign.iri import is_code, local_name
from kgalign.readers.classes import CALLED_CATEGORY, CALLED_TYPE
from kgalign.readers.columns import POINTING, says_row, shown_column
from kgalign.readers.label_properties import is_name_part
from kgalign.readers.statements import TABLE
from kgalign.readers.table_form import column_words
from kgalign.seams import Statements

VALUE_ENTITIES = "value entities"  # in the record: how many there are; they are the last entities of a graph
SHARED = 0.3  # share of a column's values that other rows have too, from which on the column is a relation
LEAST_VALUES = 3  # different values of a column that is a relation
LONGEST = 50  # mean characters of its values
LETTERS = 0.5  # share of letters in its values
SAMPLE = 2_000  # values that are examined for letters and codes
CODES = 0.5  # share of the values from which on they are codes
CONTACTS = frozenset({"email", "mail", "phone", "telephone", "telefon", "tel", "mobile", "fax"})  # words of columns
ANSWERS = frozenset({
    "yes", "no", "true", "false", "y", "n", "ja", "nein", "oui", "non", "si", "0", "1", "m", "f", "male", "female", "x",
    "unknown", "none", "other",
})  # fmt: skip


def is_table(graph: Statements | KnowledgeGraph) -> bool:
    """Whether the graph comes from a table with an entity on each row."""
    return TABLE in graph.record


def add_value_entities(graph: KnowledgeGraph, ids: Mapping[str, int]) -> tuple[KnowledgeGraph, Mapping[str, int]]:
    """The graph with an entity for each value of a column whose values recur, and the id of each entity by its names in files.

    At least 30 % of the values in such a column occur in several rows. They are short texts, not numbers, dates, codes, addresses, parts of
    names or answers such as `yes`. A column called `type` or alike may have fewer values. If the values of a column are unique names of
    other rows, they stand for these. A row gets a triple to the entity, and keeps the literal too: the other graph may have the same value
    as a literal, see `drop_common_literals`. Values that differ in letter case, accents and signs alone are one entity. Its name is the
    spelling that occurs most.

    Args:
        graph: The graph of a table.
        ids: The id of each entity by its names in files.
    """
    ids, literals = dict(ids), graph.attributes
    entities, relations = list(graph.entities), list(graph.relations)
    triples, values, columns = [graph.triples], list[str](), dict[str, str]()
    named = _uniquely_named(graph)
    by_column = np.argsort(literals.facts[:, 1], kind="stable")
    starts = np.searchsorted(literals.facts[by_column, 1], np.arange(len(literals.properties) + 1))
    for number, column in enumerate(literals.properties):
        rows = by_column[starts[number] : starts[number + 1]]
        keys, spelt = _keys(literals, rows)
        heads = literals.facts[rows, 0]
        are_rows = _are_names_of_rows(column, keys, heads, named)
        if not are_rows and not _recur(column, keys, spelt):
            continue
        places = {key: named[key] for key in keys if key in named} if are_rows else {}
        new = {key: value for key, value in _usual_spellings(keys, spelt).items() if key not in places}
        for key, value in new.items():
            entity = _free_id(f"{shown_column(column)}={value}", ids)
            places[key] = ids[entity] = len(entities)
            entities.append(entity)
            values.append(value)
        relations += [] if column in relations else [column]
        ends = np.fromiter((places[key] for key in keys), np.int64, len(keys))
        relation = np.full(len(rows), relations.index(column))
        triples.append(np.unique(np.column_stack([heads, relation, ends])[heads != ends], axis=0))
        counted = f"{len(new):,} value{'' if len(new) == 1 else 's'}" if new else ""
        columns[column] = ", ".join(filter(None, ("names of rows" if are_rows else "", counted)))
    names, kinds = _more_names(graph.names, values), np.concatenate([graph.kinds, np.zeros(len(values), np.int8)])
    record = _record(graph, columns, len(values))
    return replace(
        graph, entities=entities, relations=relations, triples=np.concatenate(triples), names=names, kinds=kinds, record=record
    ), ids


def drop_common_literals(graphs: Sequence[KnowledgeGraph]) -> list[KnowledgeGraph]:
    """Two tables without the literals of columns that are relations in both: the same fact is no evidence twice.

    Two columns are the same if they have the same name, or if at least 30 % of the values of one are values of the other.
    """
    first, second = (_values_by_column(graph) for graph in graphs)
    common = [
        (one, other)
        for one, values in first.items()
        for other, others in second.items()
        if fold(shown_column(one)) == fold(shown_column(other)) or len(values & others) >= SHARED * min(len(values), len(others))
    ]
    if not common:
        return list(graphs)
    columns = (set(names) for names in zip(*common, strict=True))
    return [_without_columns(graph, own) for graph, own in zip(graphs, columns, strict=True)]


def without_value_entities(task: AlignmentTask, links: Alignment) -> tuple[AlignmentTask, Alignment]:
    """The task and the links between rows alone. Entities of values serve to align rows, and are no part of a table."""
    counts = [len(graph.entities) - int(graph.record.get(VALUE_ENTITIES, 0)) for graph in (task.source, task.target)]
    source, target = (_first_entities(graph, count) for graph, count in zip((task.source, task.target), counts, strict=True))
    kept = [each.where((each.sources < counts[0]) & (each.targets < counts[1])) for each in (task.seeds, task.rejected, links)]
    rows = replace(
        task,
        source=source,
        target=target,
        seeds=kept[0],
        queries=task.queries[task.queries < counts[0]],
        pool=task.pool[task.pool < counts[1]],
        rejected=kept[1],
        types=None if task.types is None else (task.types[0][: counts[0]], task.types[1][: counts[1]]),
    )
    return rows, kept[2]


def _values_by_column(graph: KnowledgeGraph) -> dict[str, set[str]]:
    """The values of each column that is a relation and has literals too, with their words in order."""
    columns = set(graph.attributes.properties)
    both = np.fromiter((relation in columns for relation in graph.relations), bool, len(graph.relations))
    found: dict[str, set[str]] = defaultdict(set)
    for relation, tail in np.unique(graph.triples[both[graph.triples[:, 1]]][:, 1:], axis=0).tolist():
        found[graph.relations[relation]].add(" ".join(sorted(fold(graph.names[tail]).split())))
    return found


def _without_columns(graph: KnowledgeGraph, columns: set[str]) -> KnowledgeGraph:
    """The graph without the literals of some columns."""
    literals = graph.attributes
    gone = np.fromiter((column in columns for column in literals.properties), bool, len(literals.properties))
    kept = np.flatnonzero(~gone[literals.facts[:, 1]])
    values, kinds = ([each[row] for row in kept.tolist()] for each in (literals.values, literals.kinds))
    return replace(graph, attributes=Attributes(literals.properties, literals.facts[kept], values, kinds))


def _uniquely_named(graph: KnowledgeGraph) -> dict[str, int]:
    """The entities whose name no other entity has, by these names without letter case, accents and signs."""
    keys = [fold(name) for name in graph.names.shown]
    often = Counter(keys)
    return {key: entity for entity, key in enumerate(keys) if key and often[key] == 1 and not key.isdigit()}


def _keys(literals: Attributes, rows: Ints) -> tuple[list[str], list[str]]:
    """What the values of a column are told apart by, and the values."""
    values = [literals.values[row] for row in rows.tolist()]
    folded = {value: fold(value) or value for value in set(values)}
    return [folded[value] for value in values], values


def _are_names_of_rows(column: str, keys: Sequence[str], heads: Ints, named: Mapping[str, int]) -> bool:
    """Whether the values of a column are names of other rows: nearly all, or most if the column is called `parent` or alike."""
    others = sum(named.get(key, head) != head for key, head in zip(keys, heads.tolist(), strict=True))
    if says_row(column_words(column)):
        return others > len(keys) / 2
    return others > 1 and others >= POINTING * len(keys)


def _recur(column: str, keys: Sequence[str], values: Sequence[str]) -> bool:
    """Whether the values of a column recur and are short texts."""
    if len(values) < 2 or sum(map(len, values)) > LONGEST * len(values) or _are_marks(column, list(dict.fromkeys(values))):
        return False
    sample = "".join(values[:: max(1, len(values) // SAMPLE)])
    if sum(map(str.isalpha, sample)) < LETTERS * len(sample):
        return False
    often = Counter(keys)
    if set(often) <= ANSWERS:
        return False
    if len(often) < LEAST_VALUES:
        return local_name(column).casefold() in (*CALLED_TYPE, *CALLED_CATEGORY)
    return sum(count for count in often.values() if count > 1) >= SHARED * len(keys)


def _are_marks(column: str, values: Sequence[str]) -> bool:
    """Whether the different values of a column mark single things and are no things themselves: addresses, codes, parts of names."""
    words = column_words(column)
    if is_name_part(words) or not CONTACTS.isdisjoint(words):
        return True
    sample = values[:: max(1, len(values) // SAMPLE)]
    return are_addresses(sample) or sum(map(is_code, sample)) > CODES * len(sample)


def _usual_spellings(keys: Sequence[str], values: Sequence[str]) -> dict[str, str]:
    """For each key the value that occurs most, of several the first."""
    often: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for key, value in zip(keys, values, strict=True):
        often[key][value] += 1
    return {key: own.most_common(1)[0][0] for key, own in often.items()}


def _free_id(entity: str, ids: Mapping[str, int]) -> str:
    """The id, with a sign behind it where another entity has it already."""
    while entity in ids:
        entity += "'"
    return entity


def _more_names(names: Names, values: Sequence[str]) -> Names:
    """The names, and one for each further entity."""
    count = len(names)
    return Names(
        [*names.shown, *values],
        np.concatenate([names.owner, np.arange(count, count + len(values))]),
        [*names.text, *values],
        [*names.language, *[""] * len(values)],
        np.concatenate([names.rank, np.full(len(values), PREFERRED, np.int8)]),
    )


def _record(graph: KnowledgeGraph, columns: Mapping[str, str], new: int) -> dict[str, Any]:
    """The record, with the columns that became relations, and those that are only literals."""
    others = [shown_column(name) for name in graph.relations]
    relations = [*others, *(f"{shown_column(name)} ({what})" for name, what in columns.items())]
    used = set(graph.attributes.facts[:, 1].tolist()) - set(graph.labels.facts[:, 1].tolist())
    literals = [
        shown_column(name) for number, name in enumerate(graph.attributes.properties) if number in used and name not in columns
    ]
    found = {"relations from": ", ".join(relations), "literals from": ", ".join(literals)}
    kept = {key: value for key, value in graph.record.items() if key not in found}
    counted = {VALUE_ENTITIES: new} if new else {}
    return {**kept, **{key: text for key, text in found.items() if text}, **counted}


def _first_entities(graph: KnowledgeGraph, count: int) -> KnowledgeGraph:
    """The graph with its first entities alone."""
    if count == len(graph.entities):
        return graph
    named = graph.names.owner < count
    at = np.flatnonzero(named).tolist()
    names = Names(
        graph.names.shown[:count],
        graph.names.owner[named],
        [graph.names.text[place] for place in at],
        [graph.names.language[place] for place in at],
        graph.names.rank[named],
    )
    kept = (graph.triples[:, [0, 2]] < count).all(axis=1)
    record = {key: value for key, value in graph.record.items() if key != VALUE_ENTITIES}
    return replace(
        graph, entities=graph.entities[:count], triples=graph.triples[kept], names=names, kinds=graph.kinds[:count], record=record
    )
