"""Codes inside texts, such as model numbers: they tell one product, part or document from all others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kgalign.data import Alignment, Floats, Ints, KnowledgeGraph
from kgalign.features.contradictions import difference_weights
from kgalign.features.literals import read_spellings
from kgalign.features.shared import capped
from kgalign.features.spelling import Spelling
from kgalign.features.texts import texts_of
from kgalign.search import Similarity

DIGIT = re.compile(r"\d")
TOKEN = re.compile(  # 48,51701 is a number, not a code behind a comma
    r"(?<![A-Za-z0-9])\d+(?:[.,]\d+)*,\d+(?![A-Za-z0-9./_-])|[A-Za-z0-9](?:[A-Za-z0-9./_-]*[A-Za-z0-9])?"
)
SEPARATORS = re.compile(r"[./_-]")
NUMERIC = re.compile(r"\d+(?:[\d-]*[.,/_][\d.,/_-]*)?|\d{4}-\d\d?-\d\d?|\d{4}-\d{4}")  # numbers, dates, and spans of years
PLAIN_NUMBER = re.compile(r"\d{5,}")
MEASURE = re.compile(r"\d+(?:[a-z]{1,2}|inch|watts?|volts?|hours?|hrs?)")  # 1080p, 500gb
SHORTEST = 4  # characters of a code
SHORTEST_PREFIX = 5  # characters that two codes have in common, where one of them continues
CONTINUED = 0.7  # the weight of a code that continues the other
MOST_BEARERS = 20  # entities of a graph with the same code: if there are more, it is none


@dataclass(frozen=True, eq=False)
class Codes(Similarity):
    """The codes that two graphs have in common; rare ones count for more.

    Attributes:
        source: (n, c) the square root of one over the number of entities with the same code.
        target: (m, c) the same for the target.
        have: (n,) and (m,) whether an entity has a code in a name, or as a literal by itself.
    """

    have: tuple[Ints, Ints]

    def compare(self, sources: Ints, targets: Ints) -> Floats:
        """(n,) 0 to 1: how rare the codes are that both entities of each pair have."""
        return np.minimum(super().compare(sources, targets), 1)

    def differ(self, sources: Ints, targets: Ints) -> Ints:
        """(n,) whether both entities of each pair have codes, and none in common."""
        have, other_have = self.have
        return have[sources] & other_have[targets] & (self.compare(sources, targets) == 0)


@dataclass(frozen=True, eq=False)
class OtherCodes:
    """Evidence against pairs that have different codes, as far as known links agree in theirs."""

    codes: Codes
    weight: float

    @classmethod
    def of(cls, codes: Codes, known: Alignment) -> OtherCodes:
        have = codes.have[0][known.sources] & codes.have[1][known.targets]
        agreed = float((have & ~codes.differ(known.sources, known.targets)).sum())
        return cls(codes, float(difference_weights(np.array(agreed), np.array(have.sum()))))

    def compare(self, sources: Ints, targets: Ints) -> Floats:
        """(n,) 0 to -1, the same for all pairs that differ."""
        return np.where(self.codes.differ(sources, targets), -self.weight, 0).astype(np.float32)


def shared_codes(source: KnowledgeGraph, target: KnowledgeGraph) -> Codes | None:
    """The codes of two graphs; None where they have none in common."""
    spellings = read_spellings(source, target)
    ours, theirs = _Found.in_graph(source, spellings[0]), _Found.in_graph(target, spellings[1])
    features = [one.features(other) for one, other in ((ours, theirs), (theirs, ours))]
    common = {code for _, code, _ in features[0]} & {code for _, code, _ in features[1]}
    numbers = {code: number for number, code in enumerate(sorted(common))}
    if not numbers:
        return None
    vectors = [
        _vectors(
            [(owner, numbers[code], weight) for owner, code, weight in own if code in numbers], len(graph.entities), len(numbers)
        )
        for own, graph in zip(features, (source, target), strict=True)
    ]
    return Codes(vectors[0], vectors[1], (ours.have, theirs.have))


def codes_in(text: str) -> Iterator[tuple[str, str]]:
    """The codes of a text in one spelling, each with a longer one that begins with the short word before it, or an empty one.

    >>> list(codes_in("Sony PS LX350H turntable, DSC-W120/B, 33-1/3 rpm, 2008-05-01, 500GB"))
    [('lx350h', 'pslx350h'), ('dscw120b', '')]
    """
    before = ""
    for token in TOKEN.findall(text):
        code = SEPARATORS.sub("", token).casefold()
        if _is_code(token, code):
            yield code, before + code if before else ""
        before = code if code.isalpha() and len(code) <= 4 else ""


def _is_code(token: str, code: str) -> bool:
    if len(code) < SHORTEST or not DIGIT.search(code):
        return False
    if NUMERIC.fullmatch(token):
        return PLAIN_NUMBER.fullmatch(token) is not None
    return not MEASURE.fullmatch(code)


@dataclass(frozen=True, eq=False)
class _Found:
    """The codes of one graph.

    Attributes:
        codes: Owner and code.
        longer: Owner and the code together with the word before it.
        have: (n,) whether an entity has a code in a name, or as a literal by itself.
    """

    codes: list[tuple[int, str]]
    longer: list[tuple[int, str]]
    have: Ints

    @classmethod
    def in_graph(cls, graph: KnowledgeGraph, spellings: Sequence[Spelling]) -> _Found:
        codes, longer, dates = [], [], _digit_dates(graph, spellings)
        have = np.zeros(len(graph.entities), bool)
        for number, (owner, text) in enumerate(texts_of(graph)):
            if not DIGIT.search(text) or text in dates:
                continue
            for code, with_word in codes_in(text):
                codes.append((owner, code))
                have[owner] |= number < len(graph.names.text) or " " not in text
                if with_word:
                    longer.append((owner, with_word))
        return cls(codes, longer, have)

    def features(self, other: _Found) -> list[tuple[int, str, float]]:
        """Owner, code and weight of what can be equal to a code of the other graph: codes, and codes that continue one of the other's."""
        theirs = {code for _, code in other.codes}
        found = dict.fromkeys(self.codes, 1.0)
        found |= {(owner, code): 1.0 for owner, code in self.longer if code in theirs}
        beginnings = {code: _longest_beginning(code, theirs) for _, code in found}
        for owner, code in list(found):
            if beginnings[code]:
                found.setdefault((owner, beginnings[code]), CONTINUED)
        bearers = Counter(code for _, code in found)
        return [
            (owner, code, weight / bearers[code] ** 0.5) for (owner, code), weight in found.items() if bearers[code] <= MOST_BEARERS
        ]


def _digit_dates(graph: KnowledgeGraph, spellings: Sequence[Spelling]) -> set[str]:
    """The literals of eight digits that are dates."""
    if not any(spelling.digit_dates for spelling in spellings):
        return set()
    kinds = np.asarray(graph.attributes.facts)[:, 1].tolist()
    return {value for value, kind in zip(graph.attributes.values, kinds, strict=True) if spellings[kind].digit_dates}


def _longest_beginning(code: str, others: Collection[str]) -> str:
    """The longest of the others that the code continues, or an empty string."""
    lengths = range(len(code) - 1, SHORTEST_PREFIX - 1, -1)
    return next((code[:length] for length in lengths if code[:length] in others), "")


def _vectors(entries: list[tuple[int, int, float]], rows: int, columns: int) -> sparse.csr_array:
    """(rows, columns) the entries, sorted."""
    owners, codes, weights = (np.array(part) for part in zip(*entries, strict=True))
    vectors = capped(sparse.csr_array((weights.astype(np.float32), (owners, codes)), shape=(rows, columns)))
    vectors.sort_indices()
    return vectors
