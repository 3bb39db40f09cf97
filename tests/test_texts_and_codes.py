"""Products described in two shops: words of all texts are evidence, and so are model numbers, shared or different."""

import numpy as np
import pytest
from conftest import task_of

from kgalign import Alignment, Attributes, KnowledgeGraph, align
from kgalign.features.codes import OtherCodes, codes_in, shared_codes
from kgalign.features.texts import text_vectors
from kgalign.models.fast import KINDS, Fast

SHOP = [
    ("Sony Turntable - PSLX350H", "Belt drive turntable with two speeds"),
    ("Netgear Ethernet Switch FS105", "Desktop switch with five ports"),
    ("Canon Ink Cartridge CLI8BK", "Black ink for photo printers"),
    ("Canon Ink Cartridge CLI8C", "Cyan ink for photo printers"),
    ("Bose Cube Speaker AM53", "Compact speaker in a black finish"),
]
OTHER_SHOP = [
    ("PS-LX350H", "Turntable by Sony, belt drive"),
    ("ProSafe FS105NA", "Five port switch for the desktop, Netgear"),
    ("Ink black CLI-8BK", "Photo printers by Canon"),
    ("Ink cyan CLI-8C", "Photo printers by Canon"),
    ("AM53 speaker", "Bose, compact cube, black"),
]


def shop(rows):
    """A graph of products without relations."""
    return KnowledgeGraph(
        [f"p{number}" for number in range(len(rows))],
        [],
        np.empty((0, 3), np.int64),
        [name for name, _ in rows],
        Attributes(["description"], np.array([(number, 0) for number in range(len(rows))]), [text for _, text in rows]),
    )


def everything(count):
    return np.repeat(np.arange(count), count), np.tile(np.arange(count), count)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Canon CLI-8BK", ["cli8bk"]),
        ("in 2008, on 2008-05-01 or 10/100, 33-1/3", []),
        ("1080p and 500GB at 399.00", []),
        ("item 1163641", ["1163641"]),
        ("at 48,51701", []),
        ("FS105,FS108", ["fs105", "fs108"]),
        ("page 1234", []),
        ("Apollo 11", []),
    ],
)
def test_codes_are_told_from_numbers_dates_and_measures(text, codes):
    assert [code for code, _ in codes_in(text)] == codes


def test_a_code_is_shared_however_it_is_spaced_and_continued():
    found = shared_codes(shop(SHOP), shop(OTHER_SHOP)).compare(*everything(5)).reshape(5, 5)
    assert (np.diag(found) > 0.6).all()
    assert (found[~np.eye(5, dtype=bool)] == 0).all()


def test_a_code_that_many_share_counts_for_less():
    few, many = (shared_codes(*[shop([("thing AB1234", "") for n in range(count)])] * 2) for count in (1, 4))
    assert few.compare(np.array([0]), np.array([0])) == 1
    assert many.compare(np.array([0]), np.array([0])) == pytest.approx(0.25)


def test_different_codes_are_negative_evidence_as_far_as_known_links_share_theirs():
    codes = shared_codes(shop(SHOP), shop(OTHER_SHOP))
    pair = np.array([2]), np.array([3])
    known = Alignment(np.repeat(np.arange(5), 2).reshape(-1, 2))
    assert OtherCodes.of(codes, known).compare(*pair) < -0.1
    assert OtherCodes.of(codes, known).compare(np.array([2]), np.array([2])) == 0
    assert OtherCodes.of(codes, Alignment.empty()).compare(*pair) == 0


def test_texts_compare_names_with_descriptions():
    left, right = text_vectors(shop(SHOP), shop(OTHER_SHOP))
    similarity = (left @ right.T).toarray()
    assert (similarity.argmax(axis=1) == np.arange(5)).all()


def test_graphs_with_few_texts_have_no_such_evidence():
    silent = shop([(name, "12") for name, _ in SHOP])
    assert text_vectors(shop(SHOP), silent) is None
    assert shared_codes(silent, shop([("no code", "none")])) is None


def test_products_with_other_words_are_linked_by_their_texts_and_codes():
    task = task_of(shop(SHOP), shop(OTHER_SHOP))
    found = align(task).alignment
    assert found.pairs.tolist() == [[number, number] for number in range(5)]
    bare = align(task, model=Fast(without="texts,codes,other codes")).alignment
    assert found.scores.mean() > bare.scores[(bare.pairs[:, 0] == bare.pairs[:, 1])].sum() / 5 + 0.1


def test_codes_can_be_left_out():
    assert {"codes", "other codes"} < {kind.name for kind in KINDS}
    found = align(task_of(shop(SHOP), shop(OTHER_SHOP)), model=Fast(without="codes"))
    assert found.alignment.pairs.shape[1] == 2
