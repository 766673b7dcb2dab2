"""Distances between the rows of each trial and its test point."""

from __future__ import annotations

import math

import numpy as np

from poise.shortcuts.block_memory import cached_slices, scratch
from poise.shortcuts.centred_moments import less
from poise.shortcuts.shortcut import Floats

__all__ = ["differences_to_power", "expanded_squares"]

_FEW_COLUMNS = 16  # with fewer, a call of BLAS per row costs more than squaring all entries at once


def expanded_squares(X: Floats, x: Floats) -> Floats:
    """Return |X|² − 2X·x + |x|², as a brute-force search does, without storing differences.

    The terms may be far larger than the result. So the error of the result is that of
    rounding (|X| + |x|)², and the result may be negative.
    """
    distances = np.empty(X.shape[:2])
    twice = -2.0 * x
    for part in cached_slices(X):
        # The squares first: they read the rows in the order of memory, a matrix product does not.
        _squares(X[part], distances[part])
        distances[part] += np.matvec(X[part], twice[part])
    distances += np.vecdot(x, x)[:, None]
    return distances


def _squares(X: Floats, out: Floats) -> None:
    if X.shape[2] >= _FEW_COLUMNS:
        np.vecdot(X, X, out=out)
        return
    squares = np.multiply(X, X, out=scratch("squares", X.shape))
    np.matvec(squares, np.ones(X.shape[2]), out=out)


def differences_to_power(X: Floats, x: Floats, power: float) -> Floats:
    """Return the sums of |X − x|^power along each row, or their largest if it is infinite."""
    distances = np.empty(X.shape[:2])
    ones = np.ones(X.shape[2])
    for part in cached_slices(X):
        apart = less(X[part], x[part, None, :])
        if power == 2:
            np.vecdot(apart, apart, out=distances[part])
            continue
        np.abs(apart, out=apart)
        if math.isinf(power):
            apart.max(axis=-1, out=distances[part])
            continue
        if power != 1:
            apart **= power
        np.matvec(apart, ones, out=distances[part])
    return distances
