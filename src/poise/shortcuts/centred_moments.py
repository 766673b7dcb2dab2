"""Centred rows and responses, and their products, for linear fits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.shortcuts.block_memory import cached_slices, scratch
from poise.shortcuts.shortcut import Array, Floats

__all__ = ["Centred", "Moments", "less"]

_FEW_COLUMNS = 32  # with fewer, computing half of a product takes longer than all of it


class Centred(NamedTuple):
    """Rows and responses minus their means; unchanged without an intercept."""

    rows: Array  # (trials, n, d)
    mean: Array  # (trials, 1, d)
    responses: Array  # (trials, responses, n)
    level: Array  # (trials, responses)
    share: float  # 1/n, or 0 without an intercept

    @classmethod
    def of(cls, X: Array, Y: Array, intercept: bool) -> Centred:
        """Centre rows and responses if an intercept is fitted."""
        xp = X.__array_namespace__()
        n = X.shape[1]
        share = 1.0 / n if intercept else 0.0
        averaging = xp.full((1, n), share, dtype=X.dtype)
        # Several times faster than a mean over the middle axis.
        mean = averaging @ X
        level = xp.vecdot(Y, averaging)
        if not intercept:
            return cls(X, mean, Y, level, share)
        return cls(less(X, mean), mean, Y - level[..., None], level, share)


class Moments(NamedTuple):
    """The products of rows and responses that a linear fit needs."""

    gram: Array  # rows' rows, (trials, d, d)
    cross: Array  # responses' rows, (trials, responses, d)
    last: Array  # the row that is removed, (trials, 1, d)
    mean: Array  # (trials, 1, d)
    responses: Array  # (trials, responses, n)
    level: Array  # (trials, responses)
    share: float

    @classmethod
    def of(cls, X: Array, Y: Array, intercept: bool) -> Moments:
        """Multiply centred rows by themselves and by the responses."""
        if isinstance(X, np.ndarray):
            return cls._in_cache(X, Y, intercept)
        data = Centred.of(X, Y, intercept)
        return cls.about(data, data.rows.mT @ data.rows)

    @classmethod
    def about(cls, data: Centred, gram: Array) -> Moments:
        """Add the other products to a matrix that was computed elsewhere."""
        rows, mean, responses, level, share = data
        return cls(gram, responses @ rows, rows[:, -1:, :], mean, responses, level, share)

    @classmethod
    def _in_cache(cls, X: Floats, Y: Floats, intercept: bool) -> Moments:
        """Do the same a few trials at a time: rows are read once and centred in the cache."""
        trials, n, d = X.shape
        share = 1.0 / n if intercept else 0.0
        averaging = np.full((1, n), share)
        level = np.vecdot(Y, averaging)
        responses = Y - level[..., None] if intercept else Y
        gram, cross = np.empty((trials, d, d)), np.empty((trials, Y.shape[1], d))
        last, mean = np.empty((trials, 1, d)), np.empty((trials, 1, d))
        for part in cached_slices(X):
            np.matmul(averaging, X[part], out=mean[part])
            rows = less(X[part], mean[part]) if intercept else X[part]
            _multiply_by_itself(rows, out=gram[part])
            np.matmul(responses[part], rows, out=cross[part])
            last[part] = rows[:, -1:]
        return cls(gram, cross, last, mean, responses, level, share)


def less(X: Array, point: Array) -> Array:
    """Subtract one point per trial, (trials, 1, d), from all rows of the trial.

    Repeating the point is several times faster than broadcasting it along the
    middle axis, where every inner loop is only d long.
    """
    rows = X.__array_namespace__().repeat(-point, X.shape[1], axis=1)
    rows += X  # in place with NumPy
    return rows


def _multiply_by_itself(rows: Floats, out: Floats) -> None:
    """Multiply the rows by themselves.

    NumPy recognises the same array twice and calls a routine that does half the
    arithmetic, but is slower with few columns. A copy is not recognised.
    """
    other = rows
    if rows.shape[2] < _FEW_COLUMNS:
        other = scratch("rows again", rows.shape)
        other[...] = rows
    np.matmul(rows.mT, other, out=out)
