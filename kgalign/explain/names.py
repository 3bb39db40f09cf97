"""The names by which two entities match: for each pair the two most similar names, and the share of letters that they have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgalign.data import AlignmentTask, Floats, Ints, Names
from kgalign.features.text import SHARED_SCRIPT, script_overlap, scripts
from kgalign.features.words import fold

CODE_BITS = 21  # of a code point


def matching_names(task: AlignmentTask, pairs: Ints) -> tuple[Ints, Floats]:
    """(p, 2) the positions of the most similar names of each pair in the names of either graph, and (p,) how similar they are.

    Names are compared by the share of letter pairs that they have in common (Dice), 0 to 1; case and accents do not count. Among the names
    of two entities, rank and language count as they do for a model. The position is -1 and the similarity 0 where no two names have
    anything in common. The result for a pair does not depend on the other pairs.
    """
    from kgalign.features.names import NamePair, NameSimilarity  # compiles its loops, which is slow

    sides = task.source.names, task.target.names
    is_latin = script_overlap(*(scripts(names.text) for names in sides)) < SHARED_SCRIPT
    letters = [_letter_pairs(names, np.unique(ids), is_latin) for names, ids in zip(sides, pairs.T, strict=True)]
    vocabulary = np.unique(np.concatenate([np.unique(keys) for _, keys in letters]))
    vectors = [_unit_vectors(*own, vocabulary, len(names.text)) for own, names in zip(letters, sides, strict=True)]
    best = np.column_stack(NameSimilarity(NamePair.of(*sides), *vectors).best_names(pairs[:, 0], pairs[:, 1]))
    similarities = np.zeros(len(pairs))
    found = np.flatnonzero(best[:, 0] >= 0)
    if len(found):
        left, right = (vector[rows] for vector, rows in zip(vectors, best[found].T, strict=True))
        counts = [np.diff(side.indptr) for side in (left, right)]
        common = left.multiply(right).sum(axis=1) * np.sqrt(counts[0] * counts[1])
        similarities[found] = np.round(2 * np.round(common) / (counts[0] + counts[1]), 4)
    return best, similarities


def _letter_pairs(names: Names, owners: Ints, is_latin: bool) -> tuple[Ints, Ints]:
    """(n,) the position of a name and (n,) a number for a letter pair of it, for the names of some entities.

    A word begins and ends with a blank. Names are transliterated first where the graphs have different scripts.
    """
    from anyascii import anyascii

    rows = np.flatnonzero(np.isin(names.owner, owners))
    folded = [f" {fold(anyascii(text) if is_latin else text)} " for text in (names.text[row] for row in rows.tolist())]
    codes = np.frombuffer("".join(folded).encode("utf-32-le"), np.uint32).astype(np.int64)
    places = np.repeat(np.arange(len(folded)), [len(text) for text in folded])
    is_inside = (places[:-1] == places[1:]) & (codes[:-1] + codes[1:] != 2 * ord(" "))  # two blanks are a name without letters
    keys = ((codes[:-1] << CODE_BITS) | codes[1:])[is_inside]
    return rows[places[:-1][is_inside]], keys


def _unit_vectors(rows: Ints, keys: Ints, vocabulary: Ints, count: int) -> Any:
    """(count, d) sparse vectors of length 1 of letter pairs, each counted once; zero for other names."""
    from scipy import sparse

    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])
    shape = (count, max(1, len(vocabulary)))
    vectors = sparse.csr_array((np.ones(len(rows), np.float32), np.searchsorted(vocabulary, keys), starts), shape=shape)
    vectors.sum_duplicates()
    lengths = np.diff(vectors.indptr)
    vectors.data = np.repeat(1 / np.sqrt(np.maximum(lengths, 1)), lengths).astype(np.float32)
    return vectors
