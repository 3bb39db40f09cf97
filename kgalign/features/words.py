"""The words of many texts at once: each different word has a number, and a text is a row of numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy  # which imports its parts when they are first used

from kgalign.blocks import row_blocks, starts_of, threads
from kgalign.data import Floats, Ints

NOT_A_WORD = re.compile(r"[\W_]+")
ACCENTS = re.compile("[\u0300-\u036f]")
UNDECOMPOSED = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
ASCII_WORDS = str.maketrans({char: char.lower() if char.isalnum() else " " for char in map(chr, range(128))})
FOLDED = np.frombuffer("".join(map(chr, range(128))).translate(ASCII_WORDS | {ord("\n"): "\n"}).encode(), np.uint8)
UTF32 = "utf-32-le"
ENDINGS = (  # of plurals and simple inflections, and what stands in their place; longest first
    ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("eaux", "eau"), ("ies", "i"), ("ais", "ai"), ("xes", "x"), ("aux", "al"), ("ing", ""),
    ("ys", "i"), ("ie", "i"), ("es", ""), ("ed", ""), ("s", ""), ("e", ""), ("y", "i"),
)  # fmt: skip
LAST_LETTERS = frozenset(ending[-1] for ending, _ in ENDINGS)
EMPTY_WORDS = frozenset({"has", "the", "an", "le", "la", "les", "der", "die", "das", "el", "los", "las", "il", "lo"})
KEPT = ("ss", "us", "is", "eed")  # endings that are none
SHORTEST_STEM = 3
LONG = SHORTEST_STEM + max(len(ending) for ending, _ in ENDINGS)  # letters of a word that loses any of them by itself
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
TEXTS = 1 << 16  # of a block, in which one thread finds the words


@dataclass(frozen=True, eq=False)
class Words:
    """The words of texts, in their order.

    Attributes:
        different: (v,) each different word.
        ids: (w,) the words of all texts, one text after the other, as positions in `different`.
        starts: (n + 1,) where the words of each text begin.
    """

    different: Sequence[str]
    ids: Ints
    starts: Ints

    @classmethod
    def of(cls, texts: Sequence[str]) -> Words:
        """The words of texts in lower case, without accents, see `fold`."""
        from kgalign.parallel import unique  # compiled code, slow to import

        with ThreadPoolExecutor(threads()) as pool:
            blocks = list(pool.map(lambda block: _Block.of(texts[block]), row_blocks(len(texts), TEXTS) or [slice(0)]))
        _, places = unique(np.concatenate([each.numbers for each in blocks]))
        first = np.zeros(int(places.max(initial=-1)) + 1, np.int64)  # where each different word stands first
        first[places[::-1]] = np.arange(len(places))[::-1]
        order = np.argsort(first)
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order))
        bounds = starts_of(np.array([len(each.numbers) for each in blocks]))
        parts = np.split(first[order], np.searchsorted(first[order], bounds[1:-1]))
        different = [word for each, start, own in zip(blocks, bounds, parts, strict=False) for word in each.words(own - start)]
        return cls(different, ranks[places], starts_of(np.concatenate([each.counts for each in blocks])))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def rows(self) -> Ints:
        """(w,) the text of each word."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def stems(self) -> Words:
        """The same texts without articles, plural and simple inflection; each character of a script without spaces is a word.

        A text of nothing but articles keeps them.

        >>> stems = Words.of(["Guitares électriques", "The boxes"]).stems
        >>> [stems.different[at] for at in stems.ids]
        ['guitar', 'electriqu', 'box']
        """
        parts = [_parts(word) for word in self.different]
        counts = np.fromiter(map(len, parts), np.int64, len(parts))
        bare = np.diff(starts_of(counts[self.ids])[self.starts]) == 0
        words = self.ids + len(parts) * bare[self.rows]  # of a text without stems, words stand for themselves
        parts += [(word,) for word in self.different]
        numbers: dict[str, int] = {}
        flat = np.array([numbers.setdefault(stem, len(numbers)) for own in parts for stem in own], np.int64)
        bounds = starts_of(np.append(counts, np.ones(len(counts), np.int64)))
        long = np.diff(bounds)[words]
        ends = starts_of(long)
        ids = flat[np.arange(ends[-1]) - np.repeat(ends[:-1] - bounds[words], long)]
        return Words(list(numbers), ids, ends[self.starts])

    def grouped(self, owners: Ints, count: int) -> Words:
        """The words of all texts of each owner 0..count-1 as one text, the texts in their order."""
        order = np.argsort(owners[self.rows], kind="stable")
        sizes = np.bincount(owners, np.diff(self.starts), count).astype(np.int64)
        return Words(self.different, self.ids[order], starts_of(sizes))

    def letter_numbers(self) -> Ints:
        """(n,) the same number for texts of the same letters, whatever blanks are between them, without the ending of what they join to."""
        from kgalign.features.letters import joined_numbers  # compiled code, slow to import

        count = len(self.different)
        words = [*self.different, *map(stem, self.different)]
        several = np.flatnonzero(np.diff(self.starts) > 1)
        last = self.starts[1:][np.diff(self.starts) > 0] - 1
        ids = self.ids.copy()
        ids[last] += count
        found: Ints = joined_numbers(ids, self.starts, word_numbers(words), np.fromiter(map(len, words), np.int32, len(words)))
        # A short word keeps an ending that it loses behind another: "sea bed" is "seabed".
        is_short = np.fromiter((len(word) < LONG and word[-1] in LAST_LETTERS for word in self.different), bool, count)
        for block in row_blocks(len(several), TEXTS):
            texts = several[block][is_short[self.ids[self.starts[1:][several[block]] - 1]]]
            places = zip(self.starts[texts].tolist(), self.starts[texts + 1].tolist(), strict=True)
            found[texts] = word_numbers(
                [stem("".join([self.different[at] for at in self.ids[start:end].tolist()])) for start, end in places]
            )
        return found

    def numbers(self) -> Ints:
        """(n,) the same number for texts of the same words in the same order."""
        from kgalign.parallel import unique  # compiled code, slow to import

        random = np.random.default_rng(0)
        codes = random.integers(0, 2**64, len(self.different), np.uint64)
        steps = random.integers(0, 2**63, max(1, int(np.diff(self.starts).max(initial=0))), np.uint64) * np.uint64(2) + np.uint64(1)
        places = np.arange(len(self.ids)) - np.repeat(self.starts[:-1], np.diff(self.starts))
        keys = np.zeros(len(self), np.uint64)
        np.add.at(keys, self.rows, codes[self.ids] * steps[places])  # which wraps around
        return unique(keys)[1] if len(self) else _NONE


@dataclass(frozen=True, eq=False)
class _Block:
    """Some texts, and where their words are.

    Attributes:
        letters: The texts, a line each; of ASCII in a byte each.
        starts: (w,) where each word begins.
        ends: (w,) where it ends.
        numbers: (w,) the same for the same word.
        counts: (n,) how many words each text has.
    """

    letters: Ints
    starts: Ints
    ends: Ints
    numbers: Ints
    counts: Ints

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Block:
        from kgalign.features.letters import find_words  # compiled code, slow to import

        letters = _letters([text if text.isascii() and "\n" not in text else fold(text) for text in texts])
        small = letters < len(FOLDED)
        letters = FOLDED[letters] if small.all() else np.where(small, FOLDED[np.where(small, letters, 0)], letters)
        return cls(letters, *find_words(letters, len(texts)))

    def words(self, places: Ints) -> Iterator[str]:
        """The words at these places."""
        text = self.letters.tobytes().decode("ascii" if self.letters.itemsize == 1 else UTF32, "surrogatepass")
        for start, end in zip(self.starts[places].tolist(), self.ends[places].tolist(), strict=True):
            yield text[start:end]


def fold(name: str) -> str:
    """The words of a name in lower case, without accents, with one blank between them. Any script."""
    if name.isascii():
        return " ".join(name.translate(ASCII_WORDS).split())
    decomposed = unicodedata.normalize("NFKD", name)
    # Only the accents of alphabets go: the marks of other scripts (a dakuten, a vowel sign) distinguish words.
    name = unicodedata.normalize("NFC", ACCENTS.sub("", decomposed))
    return " ".join(NOT_A_WORD.sub(_blank_but_marks, name.casefold().translate(UNDECOMPOSED)).split())


def stem(word: str) -> str:
    """The word without its ending, if enough is left."""
    if word[-1:] in LAST_LETTERS and word.isalpha() and (not word.endswith(KEPT) or word.endswith("ais")):
        for ending, instead in ENDINGS:
            if word.endswith(ending):
                found = word.removesuffix(ending) + instead
                return found if len(found) >= SHORTEST_STEM else word
    return word


def word_numbers(words: Sequence[str]) -> Ints:
    """(n,) the same number for the same word, everywhere."""
    from kgalign.features.letters import find_words  # compiled code, slow to import

    numbers: Ints = find_words(_letters(words), len(words))[2]
    return numbers


def weighted_words(words: Words) -> scipy.sparse.csr_array:
    """(n, v) unit TF-IDF vectors of the words of texts; indices sorted."""
    from kgalign.matrices import from_entries, unit_rows  # compiled code, slow to import
    from kgalign.parallel import counts

    shape = len(words), max(1, len(words.different))
    vectors = from_entries(np.ones(len(words.ids), np.float32), words.rows, words.ids, shape)
    rarity: Floats = np.log((1 + len(words)) / (1 + counts(vectors.indices, shape[1]))) + 1
    vectors.data = rarity.astype(np.float32)[vectors.indices]
    return unit_rows(vectors)


def _parts(word: str) -> tuple[str, ...]:
    """The stems of a word in lower case; none for an article."""
    parts = (word,) if word.isascii() else CJK.sub(lambda found: f" {found[0]} ", word).split()
    return tuple(stem(part) for part in parts if part not in EMPTY_WORDS)


def _blank_but_marks(found: re.Match[str]) -> str:
    """A blank for each character, but marks (vowel signs, for instance) stay: they belong to the word."""
    signs = found.group()
    return " " if signs.isascii() else "".join(char if unicodedata.category(char).startswith("M") else " " for char in signs)


def _letters(lines: Sequence[str]) -> Ints:
    """The letters of some lines, as bytes where all of them are ASCII."""
    text = "\n".join(lines)
    return (
        np.frombuffer(text.encode(), np.uint8) if text.isascii() else np.frombuffer(text.encode(UTF32, "surrogatepass"), np.uint32)
    )


_NONE = np.empty(0, np.int64)
