"""A fingerprint of rows that does not depend on how they are partitioned.

It is a polynomial of the hashes of the rows, modulo 2⁶⁴: each partition computes its own part,
multiplied by the power that belongs to its first row, and the parts are added. Two such
polynomials with different bases make 128 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["fingerprint_of_part", "hashes_of_rows"]

_BASES = (0x9E3779B97F4A7C15, 0xD1342543DE82EF95)
_MODULUS = 1 << 64


def fingerprint_of_part(frame: Any, first: int) -> tuple[int, int]:
    """Return the part of some rows in the fingerprint of a table; parts are added.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "z"]})
    >>> parts = fingerprint_of_part(frame[:2], 0), fingerprint_of_part(frame[2:], 2)
    >>> sums = [sum(pair) % 2**64 for pair in zip(*parts)]
    >>> tuple(sums) == fingerprint_of_part(frame, 0)
    True
    """
    words = hashes_of_rows(frame)
    one, two = (_polynomial(words, base, first) for base in _BASES)
    return one, two


def hashes_of_rows(frame: Any) -> NDArray[np.uint64]:
    """Return a hash of each row, the same in every process."""
    from pandas.util import hash_pandas_object

    try:
        words = hash_pandas_object(frame, index=False)
    except TypeError:  # lists and dicts
        words = hash_pandas_object(frame.astype(str), index=False)
    return np.asarray(words, dtype=np.uint64)


def _polynomial(words: NDArray[np.uint64], base: int, first: int) -> int:
    powers = np.cumprod(np.full(len(words), base, dtype=np.uint64))
    before = pow(base, first, _MODULUS)
    return int((words * powers).sum(dtype=np.uint64)) * before % _MODULUS
