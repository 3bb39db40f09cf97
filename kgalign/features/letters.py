"""Compiled loops over the letters of many texts at once. It is slow to import, so import it late."""

from __future__ import annotations

import numba
import numpy as np

BLANK, LINE = ord(" "), ord("\n")
# The number of some letters is a polynomial modulo 2**64. Different words with the same number can be made, but do not occur.
STEP = np.uint64(0x9E3779B97F4A7C15)  # odd: the number of letters is multiplied by it for each letter that follows


@numba.njit(nogil=True, cache=True)
def find_words(letters, count):  # type: ignore[no-untyped-def]
    """Where each word of so many lines begins and ends, a number for its letters, and how many words each line has."""
    most = (len(letters) + 1) // 2
    starts, ends = np.empty(most, np.int32), np.empty(most, np.int32)
    numbers, counts = np.empty(most, np.uint64), np.zeros(count, np.int32)
    found, line, begin, number = 0, 0, -1, np.uint64(0)
    for at in range(len(letters) + 1):
        letter = letters[at] if at < len(letters) else LINE
        if letter != BLANK and letter != LINE:
            if begin < 0:
                begin, number = at, np.uint64(0)
            number = number * STEP + _mixed(np.uint64(letter))
        elif begin >= 0:
            starts[found], ends[found], numbers[found] = begin, at, number
            counts[line] += 1
            found += 1
            begin = -1
        if letter == LINE:
            line += 1
    return starts[:found], ends[:found], numbers[:found], counts


@numba.njit(parallel=True, cache=True)
def joined_numbers(ids, starts, numbers, lengths):  # type: ignore[no-untyped-def]
    """The number of the letters of each text without its blanks.

    Args:
        ids: (w,) the words of all texts.
        starts: (n + 1,) where those of each text begin.
        numbers: (v,) the number of the letters of each word.
        lengths: (v,) how many letters it has.
    """
    found = np.zeros(len(starts) - 1, np.uint64)
    for text in numba.prange(len(found)):
        number = np.uint64(0)
        for at in range(starts[text], starts[text + 1]):
            for _ in range(lengths[ids[at]]):
                number *= STEP
            number += numbers[ids[at]]
        found[text] = number
    return found


@numba.njit(cache=True)
def _mixed(letter):  # type: ignore[no-untyped-def]
    """A number that looks drawn at random (splitmix64)."""
    bits = letter + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
