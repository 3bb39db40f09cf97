"""Two tables linked by Splink without labels: one way to choose comparisons and blocking rules, the same for all tables."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import splink
import splink.comparison_level_library as levels
import splink.comparison_library as comparisons
from splink import DuckDBAPI, Linker, SettingsCreator, block_on
from splink.blocking_analysis import count_comparisons_from_blocking_rule

from kgalign.bench.judging import PLAUSIBLE, Link
from kgalign.bench.real_sets import SIDES, TableFacts
from kgalign.runs import peak_mb

ID = "unique_id"  # the column that Splink takes for the id
FIRST_WORD, WORDS = "_first_word", "_words"
SHARED_WORDS = (0.8, 0.6, 0.4, 0.2)  # shares of the words of the shorter text that two texts have in common
KEY_RECALL = 0.7  # the share of the matches that equal keys are expected to find, as in Splink's examples
SAMPLED_PAIRS = 1e7  # what Splink calls adequate for the u probabilities of a model that is tried out
MOST_PAIRS = 20_000_000  # that a blocking rule may make
NEAR_NUMBERS = (0.01, 0.03, 0.1, 0.3)  # shares by which two numbers differ; Splink's library has levels for them, but no comparison
MOST = 0.9  # the share of the values that decides what a column holds, and of the distinct values that makes a key

NUMBER = re.compile(r"\D{0,3}(-?\d[\d,]*(?:\.\d+)?)\D{0,3}")  # with a currency or a unit of up to three signs
YEAR = re.compile(r"[12]\d{3}")
DATE = re.compile(r"\d{4}-\d\d-\d\d")
CODE = re.compile(r"\S*\d\S*")


@dataclass(frozen=True)
class SplinkLinks:
    """What Splink found between two tables.

    Attributes:
        links: One-to-one links with their probabilities.
        rows: The ids of the rows of the source and of the target.
        options: The settings, with the names of the columns as the tables have them.
        seconds: The seconds from the files to the links.
        peak: The peak of memory in MiB.
    """

    links: list[Link]
    rows: tuple[set[str], set[str]]
    options: dict[str, Any]
    seconds: float
    peak: int | None


def link_with_splink(files: tuple[Path, Path], facts: TableFacts, words: bool, seed: int) -> SplinkLinks:
    """The links above 0.5 that are the best of both rows. Nothing here sees a gold link.

    Args:
        files: The source and the target.
        facts: How they are written.
        words: Compare texts by the words that they share, with a comparison of our own; or else as names, with Splink's.
        seed: The seed of the sample that the u probabilities are estimated on.
    """
    logging.getLogger("splink").setLevel(logging.ERROR)  # it warns of every level that no pair of rows reaches
    began = time.perf_counter()
    names, tables = _read(files, facts)
    kinds = {column: _kind(pd.concat([table[column] for table in tables])) for column in names}
    tables = [_prepared(table, kinds) for table in tables]
    database = DuckDBAPI()
    rules = _blocking_rules(tables, kinds, database)
    keys, training = _keys(tables, kinds), _training_columns(tables, kinds, rules)
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=[_comparison(column, kind, words) for column, kind in kinds.items()],
        blocking_rules_to_generate_predictions=[block_on(column) for column in rules],
        retain_matching_columns=False,
    )
    linker = Linker(tables, settings, database, set_up_basic_logging=False, input_table_aliases=list(SIDES))
    _train(linker, keys, training, seed)
    links = _one_to_one(linker)
    options = {
        "model": "splink",
        "texts": "words" if words else "names",
        "splink": splink.__version__,
        "duckdb": duckdb.__version__,
        "columns": {names[column]: kind for column, kind in kinds.items()},
        "blocking": {_said(rule, names): pairs for rule, pairs in rules.items()},
        "keys": [" and ".join(names[column] for column in key) for key in keys],
        "training": [names[column] for column in training],
        "seed": seed,
    }
    rows = [set(table[ID]) for table in tables]
    return SplinkLinks(links, (rows[0], rows[1]), options, time.perf_counter() - began, peak_mb())


def _read(files: tuple[Path, Path], facts: TableFacts) -> tuple[dict[str, str], list[pd.DataFrame]]:
    """The names of the columns that are compared, by the names that both tables get here, and the tables with these columns and an id.

    Columns of the same name are compared. Tables without such columns are compared column by column, in the order of the tables.
    """
    tables = [
        pd.read_csv(file, sep=facts.separator or ",", encoding=facts.encoding, encoding_errors="replace", dtype=str)
        for file in files
    ]
    tables = [table.rename(columns=str.strip) for table in tables]
    ids = [wanted or table.columns[0] for wanted, table in zip(facts.ids, tables, strict=True)]
    others = [[name for name in table if name != wanted] for wanted, table in zip(ids, tables, strict=True)]
    common = [(name, name) for name in others[0] if name in others[1]] or list(zip(*others, strict=False))
    filled = [pair for pair in common if all(table[name].notna().any() for name, table in zip(pair, tables, strict=True))]
    names = {f"column_{number}": pair[0] for number, pair in enumerate(filled)}
    renamed = []
    for side, (wanted, table) in enumerate(zip(ids, tables, strict=True)):
        columns = {ID: table[wanted].str.strip()}
        columns |= {column: _cleaned(table[pair[side]]) for column, pair in zip(names, filled, strict=True)}
        renamed.append(pd.DataFrame(columns).drop_duplicates(ID))
    return names, renamed


def _cleaned(cells: pd.Series) -> pd.Series:
    """The cells in lower case and without spare spaces, as Splink asks for; a cell without a letter or digit is missing."""
    return cells.str.lower().str.split().str.join(" ").where(cells.str.contains(r"[^\W_]", na=False))


def _kind(values: pd.Series) -> str:
    """What a column holds: date, year, number, code or text."""
    found = values.dropna()
    for kind, form in (("date", DATE), ("year", YEAR), ("number", NUMBER), ("code", CODE)):
        if found.str.fullmatch(form).mean() >= MOST:
            return kind
    return "text"


def _prepared(table: pd.DataFrame, kinds: Mapping[str, str]) -> pd.DataFrame:
    """The table with numbers as numbers, and the first word and the distinct words of each text in columns of their own."""
    columns = {ID: table[ID]}
    for column, kind in kinds.items():
        cells = table[column]
        if kind in ("year", "number"):
            cells = pd.to_numeric(cells.str.extract(NUMBER, expand=False).str.replace(",", ""), errors="coerce")
        columns[column] = cells
        if kind == "text":
            columns[column + FIRST_WORD] = cells.str.split(n=1).str[0]
            columns[column + WORDS] = cells.str.findall(r"\w+").map(lambda found: sorted(set(found)), na_action="ignore")
    return pd.DataFrame(columns)


def _comparison(column: str, kind: str, words: bool) -> Any:
    """The comparison of Splink's library for what a column holds; the one for names is its choice for short texts."""
    if kind == "date":
        return comparisons.DateOfBirthComparison(column, input_is_string=True)
    if kind == "code":
        return comparisons.LevenshteinAtThresholds(column)
    if kind == "text" and not words:
        return comparisons.NameComparison(column)
    exact = levels.ExactMatchLevel(column, term_frequency_adjustments=kind == "text")
    if kind == "text":
        near = [_shared_words(column, share) for share in SHARED_WORDS]
    elif kind == "year":
        near = [levels.AbsoluteDifferenceLevel(column, 1)]
    else:
        near = [levels.PercentageDifferenceLevel(column, share) for share in NEAR_NUMBERS]
    return comparisons.CustomComparison([levels.NullLevel(column), exact, *near, levels.ElseLevel()], output_column_name=column)


def _shared_words(column: str, share: float) -> Any:
    one, other = f"{column}{WORDS}_l", f"{column}{WORDS}_r"
    return levels.CustomLevel(
        f"len(list_intersect({one}, {other})) >= {share} * least(len({one}), len({other}))", f"{share} of the words"
    )


def _blocking_rules(tables: Sequence[pd.DataFrame], kinds: Mapping[str, str], database: DuckDBAPI) -> dict[str, int]:
    """The columns, and first words of columns, whose equal values make pairs to compare, and how many; too many pairs are left out."""
    columns = [*kinds, *(column + FIRST_WORD for column, kind in kinds.items() if kind == "text")]
    pairs = {}
    for column in columns:
        counts = count_comparisons_from_blocking_rule(
            table_or_tables=tables, blocking_rule=block_on(column), link_type="link_only", db_api=database
        )
        pairs[column] = int(counts["number_of_comparisons_generated_pre_filter_conditions"])
    return {column: count for column, count in pairs.items() if 0 < count <= MOST_PAIRS}


def _keys(tables: Sequence[pd.DataFrame], kinds: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Columns, or pairs of columns, with texts or codes that are nearly unique in both tables: rows that share one are the same thing."""
    telling = [column for column, kind in kinds.items() if kind in ("text", "code")]
    found: list[tuple[str, ...]] = [(column,) for column in telling if _is_key(tables, [column])]
    rest = [column for column in kinds if (column,) not in found]
    found += [pair for pair in combinations(rest, 2) if not set(pair).isdisjoint(telling) and _is_key(tables, pair)]
    return found or [tuple(kinds)]


def _is_key(tables: Sequence[pd.DataFrame], columns: Iterable[str]) -> bool:
    values = [table[list(columns)].dropna() for table in tables]
    return all(len(each) and len(each.drop_duplicates()) >= MOST * len(each) for each in values)


def _training_columns(tables: Sequence[pd.DataFrame], kinds: Mapping[str, str], rules: Mapping[str, int]) -> list[str]:
    """The columns whose equal values make pairs to learn from: few enough that one in a hundred can be a match, but two columns at least."""
    columns = sorted((column for column in kinds if column in rules), key=lambda column: rules[column])
    tight = [column for column in columns if rules[column] <= 100 * min(map(len, tables))]
    return tight if len(tight) > 1 else columns[:2]


def _train(linker: Linker, keys: Sequence[Sequence[str]], training: Sequence[str], seed: int) -> None:
    """Estimates the share of matches, then the u probabilities, then the m probabilities by expectation maximisation."""
    equal_keys = [block_on(*key) for key in keys]
    linker.training.estimate_probability_two_random_records_match(equal_keys, recall=KEY_RECALL)
    linker.training.estimate_u_using_random_sampling(max_pairs=SAMPLED_PAIRS, seed=seed)
    for column in training:
        linker.training.estimate_parameters_using_expectation_maximisation(block_on(column))


def _one_to_one(linker: Linker) -> list[Link]:
    """The pairs that Splink's clustering leaves if each cluster has one row of each table at most."""
    scored = linker.inference.predict(threshold_match_probability=PLAUSIBLE)
    clustered = linker.clustering.cluster_using_single_best_links(
        scored, duplicate_free_datasets=list(SIDES), threshold_match_probability=PLAUSIBLE
    ).as_pandas_dataframe()
    clusters = clustered.set_index(["source_dataset", ID])["cluster_id"]
    cluster = dict(clusters.items())
    pairs = scored.as_pandas_dataframe()[["unique_id_l", "unique_id_r", "source_dataset_l", "match_probability"]]
    links = []
    for left, right, side, probability in pairs.itertuples(index=False):
        one, other = (left, right) if side == SIDES[0] else (right, left)
        if cluster[SIDES[0], one] == cluster[SIDES[1], other]:
            links.append((one, other, float(probability)))
    return links


def _said(rule: str, names: Mapping[str, str]) -> str:
    name = names[rule.removesuffix(FIRST_WORD)]
    return f"first word of {name}" if rule.endswith(FIRST_WORD) else name
