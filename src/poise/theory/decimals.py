"""Floors and ceilings of decimal numbers that doubles represent inexactly.

0.29 · 100 is 28.999999999999996 in doubles, but a user who writes 0.29 expects a floor of
29. A relative noise of 1e-12 is rounded away before the floor or the ceiling is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["NOISE", "ceiling", "floor"]

# Relative; a few thousand roundings of a double stay below it.
NOISE = 1e-12


def floor(value: ArrayLike) -> NDArray[np.int64]:
    """Round non-negative numbers down, except those that only noise keeps below an integer.

    Examples
    --------
    >>> int(floor(0.29 * 100)), int(floor(28.9))
    (29, 28)
    """
    return np.floor(np.asarray(value) * (1 + NOISE)).astype(np.int64)


def ceiling(value: ArrayLike) -> NDArray[np.int64]:
    """Round non-negative numbers up, except those that only noise puts above an integer.

    Examples
    --------
    >>> int(ceiling(1.1 * 30)), int(ceiling(33.1))
    (33, 34)
    """
    return np.ceil(np.asarray(value) * (1 - NOISE)).astype(np.int64)
