"""The arrays of npz files, never more of them than the limits allow."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from kgalign.errors import DataError
from kgalign.limits import Limits

NUMBER = 64  # bytes that a candidate takes while it is read, however small its score is in the file
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_arrays(path: Path, names: tuple[str, ...], limits: Limits) -> dict[str, NDArray[Any]]:
    """The arrays of these names, as far as they are there; their sizes are known before anything is unpacked.

    Args:
        path: The file.
        names: The arrays to read. The first one must be there.
        limits: How much memory they may take, with all that is made of their numbers.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    expected = f"expected the array `{names[0]}`" + (
        f" and perhaps {' and '.join(f'`{name}`' for name in names[1:])}" if names[1:] else ""
    )
    try:
        with ZipFile(path) as archive:
            there = [name for name in names if f"{name}.npy" in archive.namelist()]
            sizes = [_size(archive, f"{name}.npy") for name in there]
        if sum(sizes) > limits.memory:
            raise limits.exceeded(path, "memory", "arrays of")
        with np.load(path, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in there}
    except DataError:
        raise
    except Exception as error:  # a damaged archive leads to errors of many kinds
        raise DataError(f"{path}: {expected}, but {str(error) or type(error).__name__}; write it again") from None
    if names[0] not in found:
        raise DataError(f"{path}: {expected}, found no `{names[0]}`")
    for name, array in found.items():
        if array.dtype.kind not in "fiu":
            raise DataError(f"{path}: {expected}, found `{name}` of the type {array.dtype} and not of numbers")
    return found


def _size(archive: ZipFile, name: str) -> int:
    """The bytes of an array by the number of its elements, and at least those that its archive says."""
    with archive.open(name) as stream:
        version = npy.read_magic(stream)
        shape, _, dtype = HEADERS.get(version, npy.read_array_header_2_0)(stream)
    return max(int(np.prod(shape, dtype=object)) * max(NUMBER, dtype.itemsize), archive.getinfo(name).file_size)
