"""Decimal commas, dates and addresses: the values of a property show together how each of them is meant."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgalign import Attributes, KnowledgeGraph, align, read
from kgalign.features.literals import read_literals
from kgalign.features.spelling import spellings_of
from kgalign.features.values import value_features


def read_column(*cells):
    """The exact value of each cell of a column."""
    (spelling,) = spellings_of([cells])
    return [value_features(cell, spelling)[0] for cell in cells]


def things(**columns):
    """A graph of things without names, with a literal for each cell."""
    facts = [(row, kind, cell) for kind, cells in enumerate(columns.values()) for row, cell in enumerate(cells)]
    count = max(map(len, columns.values()))
    values = Attributes(list(columns), np.array([fact[:2] for fact in facts]), [cell for *_, cell in facts])
    return KnowledgeGraph([f"e{number}" for number in range(count)], [], np.empty((0, 3), np.int64), [""] * count, values)


def same_values(one, other):
    """How many values the two graphs have exactly in common, of the first one's."""
    both = read_literals(one, other)
    exact = [side.features == 1 for side in (both.source, both.target)]
    return int(((exact[0].astype(int) @ exact[1].astype(int).T).sum(axis=1) > 0).sum())


@pytest.mark.parametrize(
    ("cells", "plain"),
    [
        (["48,12345", "7,5", "51,125"], ["48.12345", "7.5", "51.125"]),
        (["2.390,96 €", "160,25 €", "1.000 €"], ["2390.96 €", "160.25 €", "1000 €"]),
        (["1 234,5", "-12,25", "7"], ["1234.5", "-12.25", "7"]),
        (["1'234,50", "0,125"], ["1234.5", "0.125"]),
        (["1,234", "12,345"], ["1234", "12345"]),
        (["1,234", "12.5"], ["1234", "12.5"]),
        (["1,234,567", "1,234"], ["1234567", "1234"]),
        (["$1,299.00", "$7.50", "$1,000"], ["$1299", "$7.5", "$1000"]),
    ],
)
def test_the_cells_of_a_column_show_what_a_comma_means(cells, plain):
    assert read_column(*cells) == read_column(*plain)


@given(st.lists(st.integers(-(10**8), 10**8), min_size=1), st.integers(1, 6))
def test_numbers_with_decimal_commas_are_the_numbers_with_points(numbers, places):
    points = [f"{number / 10**places:,.{places}f}" for number in numbers]
    commas = [text.translate(str.maketrans(",.", ".,")) for text in points]
    if any(text.count(",") + text.count(".") > 1 for text in points) or places != 3:
        assert read_column(*commas) == read_column(*points)


def test_where_one_column_does_not_tell_the_others_of_the_graph_do():
    weights, prices = ["29,938", "46,405"], ["12,5", "7,25"]
    assert [spelling.decimal_comma for spelling in spellings_of([weights, prices])] == [True, True]
    assert [spelling.decimal_comma for spelling in spellings_of([weights, ["12.5", "7.25"]])] == [False, False]


@pytest.mark.parametrize(
    ("cells", "dates"),
    [
        (["25/03/1961", "04/05/1970"], ["1961-03-25", "1970-05-04"]),
        (["03/25/1961", "04/05/1970"], ["1961-03-25", "1970-04-05"]),
        (["3-25-1961", "4-5-1970"], ["1961-03-25", "1970-04-05"]),
        (["19610325", "19700405"], ["1961-03-25", "1970-04-05"]),
        (["19610325", "19701305"], ["19610325", "19701305"]),  # there is no month 13, so these are no dates
    ],
)
def test_one_cell_shows_the_order_of_day_and_month_in_all(cells, dates):
    assert read_column(*cells) == dates


def test_where_no_cell_tells_day_from_month_or_cells_disagree_both_are_near():
    for cells in (["04/05/1970", "06/07/1970"], ["04/05/1970", "25/03/1961", "03/25/1961"]):
        assert read_column(*cells)[0] == "1970-04-05/1970-05-04"


def test_dates_of_eight_digits_are_dates_if_others_are_written_otherwise():
    digits, signs = things(born=["19610325", "19700405"]), things(birthday=["1961-03-25", "1970-04-05"])
    assert same_values(digits, signs) == same_values(signs, digits) == same_values(digits, digits) == 2


def test_a_unit_that_all_values_have_may_be_left_out():
    plain, priced = things(price=["12.5", "7.25"]), things(preis=["12,50 €", "7,25 €"])
    assert same_values(plain, priced) == same_values(priced, plain) == 2
    assert same_values(plain, things(size=["12.5 kg", "7.25 lb"])) == 0
    assert same_values(things(price=["12.5 €", "7.25 €"]), things(price=["12.5 €", "7.25 $"])) == 1


@pytest.mark.parametrize("spelling", ["https://www.One.example/", "http://one.example", "www.one.example", "one.example/"])
def test_a_web_address_is_the_same_in_all_spellings(spelling):
    assert read_column(spelling, "www.two.example/a") == ["one.example", "two.example/a"]


def test_a_table_with_decimal_commas_is_aligned_with_one_of_points(tmp_path):
    places = [(f"{47 + number * 0.71317:.5f}", f"{7 + number * 0.53919:.5f}") for number in range(12)]
    rows = [";".join([f"s{number}", *place]).replace(".", ",") for number, place in enumerate(places)]
    (tmp_path / "a.csv").write_text("\n".join(["id;lat;lon", *rows]))
    rows = [",".join([f"x{number}", *place]) for number, place in enumerate(places)]
    (tmp_path / "b.csv").write_text("\n".join(["code,latitude,longitude", *reversed(rows)]))
    task, _ = read(tmp_path / "a.csv", tmp_path / "b.csv")
    pairs = align(task).alignment.pairs.tolist()
    assert sorted(pairs) == [[number, 11 - number] for number in range(12)]
