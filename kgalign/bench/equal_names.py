"""The baseline of real graphs: entities with equal names, or, for tables, rows with the most similar words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from kgalign.bench.judging import Link
from kgalign.bench.raw_files import RawGraph, RawTable, read_raw_graph, read_raw_table
from kgalign.bench.real_sets import RealPair, TableFacts

EQUAL_NAMES = "equal names"
UNIQUE = 1000  # what a name counts that one entity of each graph has; any other shared name counts 1
MOST_PAIRS = 10_000  # pairs that a shared name makes at most; a name of more pairs is ignored
LEAST_COSINE = 0.3
MOST_ROWS, MOST_SHARE = 50, 0.05  # a word that more rows have finds no candidates


Raw = tuple[RawGraph, RawGraph] | tuple[RawTable, RawTable]


def read_raw(pair: RealPair, table: TableFacts) -> Raw:
    """Both sides of a pair as they are written."""
    if pair.is_table:
        return read_raw_table(pair.source, table, 0), read_raw_table(pair.target, table, 1)
    return read_raw_graph(pair.source), read_raw_graph(pair.target)


def match_equal_names(raw: Raw) -> list[Link]:
    """One-to-one links between entities with an equal name, or between rows of tables that are each other's most similar row."""
    source, target = raw
    if isinstance(source, RawTable) and isinstance(target, RawTable):
        return _nearest_rows(source, target)
    assert isinstance(source, RawGraph)
    assert isinstance(target, RawGraph)
    return _equal_names(source, target)


def _equal_names(source: RawGraph, target: RawGraph) -> list[Link]:
    """Greedy links between entities of the same group; those with most unique names in common come first."""
    bearers, others = _bearers(source), _bearers(target)
    weights: Counter[tuple[str, str]] = Counter()
    for name in bearers.keys() & others.keys():
        pairs = [(one, other) for one in bearers[name] for other in others[name]] if _is_rare(bearers[name], others[name]) else []
        for pair in pairs:
            weights[pair] += UNIQUE if len(pairs) == 1 else 1
    links: list[Link] = []
    linked: tuple[set[str], set[str]] = set(), set()
    for one, other in sorted(weights, key=lambda pair: (-weights[pair], pair)):
        if one not in linked[0] and other not in linked[1]:
            links.append((one, other, 1.0))
            linked[0].add(one)
            linked[1].add(other)
    return links


def _is_rare(one: list[str], other: list[str]) -> bool:
    return len(one) * len(other) <= MOST_PAIRS


def _bearers(graph: RawGraph) -> dict[tuple[str, str], list[str]]:
    """The entities of each group and name."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for entity, names in graph.names.items():
        for name in names:
            found[graph.groups.get(entity, ""), name].append(entity)
    return found


def _nearest_rows(source: RawTable, target: RawTable) -> list[Link]:
    """Rows that are each other's most similar one by the cosine of their TF-IDF vectors, if it is high enough."""
    from scipy.sparse import vstack  # slow to import, and graphs are compared without it

    rows = [*source.rows.values(), *target.rows.values()]
    often = Counter(word for words in rows for word in words)
    columns = {word: number for number, word in enumerate(often)}
    counts = np.fromiter(often.values(), float)
    vectors = vstack([_vectors(table.rows, columns, np.log(len(rows) / counts)) for table in (source, target)]).tocsc()
    finding = vectors[:, counts <= max(MOST_ROWS, MOST_SHARE * len(rows))].tocsr()
    cosines = (finding[: len(source.rows)] @ finding[len(source.rows) :].T).tocsr()
    if 0 in cosines.shape:
        return []
    best, best_back = (np.asarray(cosines.argmax(axis=axis)).ravel() for axis in (1, 0))
    sources, targets = list(source.rows), list(target.rows)
    mutual = [(row, column) for row, column in enumerate(best.tolist()) if best_back[column] == row]
    return [(sources[row], targets[column], 1.0) for row, column in mutual if cosines[row, column] > LEAST_COSINE]


def _vectors(rows: Mapping[str, Counter[str]], columns: Mapping[str, int], rarity: np.ndarray[Any, Any]) -> Any:
    """(rows, words) unit vectors: the logarithm of how often a row has a word, times the rarity of the word."""
    from scipy.sparse import csr_array, diags_array

    words = [columns[word] for counts in rows.values() for word in counts]
    ends = np.cumsum([0, *map(len, rows.values())])
    tf = 1 + np.log(np.array([count for counts in rows.values() for count in counts.values()], float))
    weights = csr_array((tf * rarity[words], words, ends), shape=(len(rows), len(columns)))
    lengths = np.sqrt(weights.multiply(weights).sum(axis=1))
    return diags_array(1 / np.where(lengths > 0, lengths, 1.0)) @ weights
