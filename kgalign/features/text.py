"""Names as vectors: character n-grams, which need no download, and word vectors from a file."""

from __future__ import annotations

import logging
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy  # which imports its parts when they are first used

from kgalign.blocks import by_blocks
from kgalign.data import Floats, Ints
from kgalign.errors import DataError, OptionError
from kgalign.features.words import Words, fold
from kgalign.files import open_lines

logger = logging.getLogger(__name__)
SHARED_SCRIPT = 0.5  # share of their names that two sides must have in common scripts to be compared as they are
CODE_BITS = 21  # a code point has at most 21 bits, so three of them fit one int64 without collision


def comparable(source_names: Sequence[str], target_names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The names as they can be compared letter by letter: in Latin letters where the two sides are written in different scripts."""
    source, target = scripts(source_names), scripts(target_names)
    if script_overlap(source, target) >= SHARED_SCRIPT:
        return source_names, target_names
    logger.info("names in %s and %s script are compared in Latin letters", next(iter(source)), next(iter(target)))
    from anyascii import anyascii

    return [anyascii(name) for name in source_names], [anyascii(name) for name in target_names]


def scripts(names: Sequence[str]) -> dict[str, float]:
    """The share of each script in the names, as Unicode calls it (LATIN, CJK, ...), the largest first; each name counts for one.

    Some thousands of the names are enough.
    """
    shares: dict[str, float] = {}
    for name in names[:: max(1, len(names) // 10_000)]:
        for script, share in _scripts_of(name):
            shares[script] = shares.get(script, 0.0) + share
    total = sum(shares.values())
    return {script: share / total for script, share in sorted(shares.items(), key=lambda item: -item[1])}


def script_overlap(source: dict[str, float], target: dict[str, float]) -> float:
    """The share of names that both sides have in the same scripts; 1 where a side has no letters at all."""
    if not source or not target:
        return 1.0
    return sum(min(share, target.get(script, 0.0)) for script, share in source.items())


def ngram_vectors(
    source_names: Sequence[str], target_names: Sequence[str], longest: int = 3, words: Words | None = None
) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """Unit TF-IDF vectors of the character n-grams within words, for both sides over one vocabulary.

    Names in two scripts are transliterated first.

    Args:
        source_names: The names of one side.
        target_names: Those of the other.
        longest: The length of the longest n-grams, 3 at most.
        words: Those of the names of both sides, if they are known.
    """
    if longest not in (1, 2, 3):
        raise OptionError(f"longest n-gram {longest}: expected 1, 2 or 3")
    source, target = comparable(source_names, target_names)
    if words is None or source is not source_names:
        words = Words.of([*source, *target])
    vectors, _ = weighted_ngrams(words, longest)
    return vectors[: len(source_names)], vectors[len(source_names) :]


def weighted_ngrams(words: Words, longest: int = 3) -> tuple[scipy.sparse.csr_array, Ints]:
    """Unit TF-IDF vectors (n, f) of the n-grams of each text, and the number (f,) that stands for each n-gram everywhere."""
    from kgalign.matrices import from_entries, product, unit_rows  # compiled code, slow to import
    from kgalign.parallel import counts, unique

    keys, owners = _ngrams(words.different, longest)  # of each different word: its n-grams are found once
    vocabulary, features = unique(keys)
    of_words = from_entries(np.ones(len(owners), np.float32), owners, features, (len(words.different), max(1, len(vocabulary))))
    entries = np.ones(len(words.ids), np.float32), words.ids, words.starts
    of_names = scipy.sparse.csr_array(entries, shape=(len(words), len(words.different)))
    often = product(of_names, of_words)
    rarity = np.log((1 + len(words)) / (1 + counts(often.indices, often.shape[1]))) + 1
    often.data = by_blocks(
        lambda data, columns: ((1 + np.log(data)) * rarity[columns]).astype(np.float32), often.data, often.indices
    )
    return unit_rows(often), vocabulary


def projected_ngrams(names: Sequence[str], size: int) -> Floats:
    """(n, size) random projections of the TF-IDF vectors of names: their inner products are about those of the n-grams."""
    weights, keys = weighted_ngrams(Words.of(names))
    return (weights @ _random_signs(keys, weights.shape[1], size)).astype(np.float32)


def word_vectors(source_names: Sequence[str], target_names: Sequence[str], path: str | Path) -> tuple[Floats, Floats]:
    """Unit means of the word vectors of each name, zero where no word of it is known; (n, d) and (m, d).

    `path` is a text file in the format of GloVe or word2vec, plain or compressed.
    """
    words = [fold(name).split() for name in (*source_names, *target_names)]
    vocabulary, vectors = read_word_vectors(path, {word for name in words for word in name})
    rows = np.repeat(np.arange(len(words)), [len(name) for name in words])
    columns = np.array([vocabulary.get(word, -1) for name in words for word in name], np.int64)
    found = columns >= 0
    shape = (len(words), len(vectors))
    sums = scipy.sparse.csr_array((np.ones(found.sum(), np.float32), (rows[found], columns[found])), shape=shape) @ vectors
    means = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return means[: len(source_names)], means[len(source_names) :]


def check_word_vectors(options: Mapping[str, Any]) -> None:
    """Refuses options with a missing file of word vectors, before anything is read or trained."""
    path = options.get("word_vectors")
    if path is not None and not Path(path).is_file():
        raise DataError(f"{path}: no such file; expected word vectors, a GloVe or word2vec text file")


def read_word_vectors(path: str | Path, wanted: set[str]) -> tuple[dict[str, int], Floats]:
    """The position of each wanted word that the file has, and their vectors (n, d)."""
    lines = _skip_word2vec_header(open_lines(path))
    vocabulary: dict[str, int] = {}
    rows: list[Floats] = []
    dimensions = 0
    for number, line in lines:
        word, *numbers = line.rstrip().split(" ")
        dimensions = dimensions or len(numbers)
        if len(numbers) > dimensions:  # some releases have words with blanks in them
            word, numbers = line.rstrip().rsplit(" ", dimensions)[0], numbers[-dimensions:]
        if word not in wanted or word in vocabulary:
            continue
        try:
            rows.append(np.array(numbers, np.float32))
        except ValueError:
            rows.append(np.empty(0, np.float32))
        if len(rows[-1]) != dimensions or not dimensions:
            raise DataError(f"{path}:{number}: expected a word and {dimensions or 'its'} numbers, blank between them")
        vocabulary[word] = len(vocabulary)
    if not rows:
        raise DataError(f"{path}: none of the {len(wanted)} words of the names is in this word-vector file")
    return vocabulary, np.stack(rows)


@cache
def _scripts_of(name: str) -> list[tuple[str, float]]:
    """The share of each script in the letters of a name."""
    if name.isascii():
        return [("LATIN", 1.0)] if name.upper() != name.lower() else []
    letters = Counter(_script(char) for char in name if char.isalpha())
    return [(script, count / letters.total()) for script, count in letters.items()]


def _script(letter: str) -> str:
    return unicodedata.name(letter, "OTHER").split()[0]


def _ngrams(names: Sequence[str], longest: int) -> tuple[Ints, Ints]:
    """A number for each occurrence of an n-gram, equal n-grams having equal numbers, and the name it stands in.

    Words begin and end with a blank, and no n-gram reaches over a blank.
    """
    padded = [f" {name} " for name in names]
    codes = np.frombuffer("".join(padded).encode("utf-32-le"), np.uint32).astype(np.int64)
    owners = np.repeat(np.arange(len(padded)), [len(name) for name in padded])
    blank = codes == ord(" ")
    keys, found = [codes[~blank]], [owners[~blank]]
    for size in range(2, longest + 1):
        stop = len(codes) - size + 1
        key = codes[:stop].copy()
        whole = owners[:stop] == owners[size - 1 :]
        for step in range(1, size):
            key |= codes[step : stop + step] << (CODE_BITS * step)
            if step < size - 1:
                whole &= ~blank[step : stop + step]
        whole &= ~(blank[:stop] & blank[size - 1 :]) if size == 2 else True
        keys.append(key[whole])
        found.append(owners[:stop][whole])
    return np.concatenate(keys), np.concatenate(found)


def _random_signs(keys: Ints, count: int, size: int) -> Floats:
    """(count, size) for each key a pseudo-random vector of length 1, the same everywhere (the splitmix64 generator)."""
    state = np.zeros(count, np.uint64)
    state[: len(keys)] = keys
    columns = []
    for block in range(-(-size // 64)):
        bits = state + np.uint64((block + 1) * 0x9E3779B97F4A7C15 % 2**64)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        bits ^= bits >> np.uint64(31)
        columns.append((bits[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1))
    signs = np.concatenate(columns, axis=1)[:, :size].astype(np.float32)
    return (2 * signs - 1) / np.float32(np.sqrt(size))


def _skip_word2vec_header(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The numbered lines without word2vec's first one, which holds the number of words and of dimensions."""
    for number, line in lines:
        if not (number == 1 and len(line.split()) == 2):
            yield number, line
