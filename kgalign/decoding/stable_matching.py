"""The proposals of a stable matching (Gale and Shapley), as compiled code."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True)
def propose(columns, scores, count):  # type: ignore[no-untyped-def]
    """The slot that each row ends up with, -1: none. A target prefers the row that scores higher."""
    chosen = np.full(len(columns), -1, np.int64)
    owner = np.full(count, -1, np.int64)
    for first in range(len(columns)):
        row = first
        while row >= 0:
            chosen[row] += 1
            slot = chosen[row]
            if slot == columns.shape[1] or columns[row, slot] < 0:
                chosen[row] = -1
                break
            column = columns[row, slot]
            rival = owner[column]
            if rival < 0:
                owner[column] = row
                break
            if scores[row, slot] > scores[rival, chosen[rival]]:
                owner[column] = row
                row = rival
    return chosen
