"""Gaussian naive Bayes; each row is removed in turn.

With u a row minus the mean of its class, which has m rows, and S the squares of all such rows,
the fit without the row has the class mean less u/(m − 1) and the squares S − m/(m − 1)·u². The
largest variance of all rows, a part of which smoothing adds, is downdated in the same way.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from poise.shortcuts.class_moments import ClassMoments, RemovedRows
from poise.shortcuts.rounding_bounds import ROUNDING
from poise.shortcuts.shortcut import Floats

__all__ = ["doubt_of_squares", "naive_bayes_removals", "small_or_unknown", "squares_of_columns"]

_LARGEST_RELATIVE_ERROR = 0.01
"""Of a variance; with a larger one, a bound of first order says nothing."""


class _Removal(NamedTuple):
    """What the fits without each of the last rows share."""

    apart: Floats  # the row minus the mean of its class, (trials, removals, d)
    added: Floats  # to every variance, (trials, removals, 1)
    added_error: Floats  # (trials, 1, 1)
    extent: Floats  # largest number of each column, (trials, 1, d)


class _Class(NamedTuple):
    """One class of the fits without each of the last rows, (trials, removals, d) each."""

    mean: Floats
    variance: Floats
    relative: Floats  # bound on the relative error of the variance


def squares_of_columns(moments: ClassMoments, squares: Floats) -> Floats:
    """Return the squares of every column about the mean of all rows, (trials, d)."""
    between = moments.sizes[..., None] * (moments.mean - moments.centre) ** 2
    return np.asarray((squares + between).sum(axis=1))


def doubt_of_squares(total: Floats, extent: Floats, n: int) -> Floats:
    """Bound the error of squares about the mean that were put together from those of classes.

    A class mean is rounded to the size of its numbers, and its distance from the mean of all
    rows, which may be far smaller, has the same error.
    """
    first_order = total + 2.0 * extent * np.sqrt(n * total)
    return np.asarray(ROUNDING * first_order + n * (ROUNDING * extent) ** 2)


def small_or_unknown(relative: Floats) -> Floats:
    """Return small relative errors as they are, and infinity for all others."""
    return np.where((relative >= 0.0) & (relative < _LARGEST_RELATIVE_ERROR), relative, np.inf)


def naive_bayes_removals(
    X: Floats,
    moments: ClassMoments,
    squares: Floats,
    removed: RemovedRows,
    points: Floats,
    smoothing: float,
) -> tuple[Floats, Floats]:
    """Score the classes without each of the last rows, and bound the error of the scores.

    The shapes are (trials, classes, removals, points) and (trials, removals, points).
    """
    shared = _shared(X, moments, squares, removed, smoothing)
    trials, classes, removals = removed.own.shape
    scores = np.empty((trials, classes, removals, points.shape[1]))
    errors = np.zeros((trials, removals, points.shape[1]))
    prior = np.log(removed.left / (X.shape[1] - 1.0))
    for k in range(classes):
        fitted = _without_each(k, moments, squares, removed, shared)
        exists = removed.left[:, k] > 0
        determinant = np.log(2.0 * math.pi * fitted.variance).sum(axis=2)
        for t in range(points.shape[1]):
            point = points[:, t, None]
            distance, error = _distance(point, fitted, shared.extent + np.abs(point))
            scores[:, k, :, t] = prior[:, k] - 0.5 * (determinant + distance)
            error += ROUNDING * np.abs(scores[:, k, :, t])
            np.maximum(errors[..., t], error, out=errors[..., t], where=exists)
    return scores, errors


def _shared(
    X: Floats, moments: ClassMoments, squares: Floats, removed: RemovedRows, smoothing: float
) -> _Removal:
    n, removals = X.shape[1], removed.own.shape[2]
    last = slice(None, -removals - 1, -1)
    total = squares_of_columns(moments, squares)[:, None]
    without = total - (n / (n - 1.0)) * (X[:, last] - moments.centre) ** 2
    extent = np.abs(X).max(axis=1)[:, None]
    doubt = doubt_of_squares(total, extent, n)
    part = smoothing / (n - 1.0)
    return _Removal(
        apart=moments.apart[:, last],
        added=part * without.max(axis=2, keepdims=True),
        added_error=part * doubt.max(axis=2, keepdims=True),
        extent=extent,
    )


def _without_each(
    k: int, moments: ClassMoments, squares: Floats, removed: RemovedRows, shared: _Removal
) -> _Class:
    """Downdate the mean and the variance of class k, where the removed row is one of it."""
    left = removed.left[:, k, :, None]
    rows, several = np.maximum(left, 1.0), left > 1.0  # one row has no variance, exactly
    before = np.where(several, squares[:, k, None], 0.0)
    factor = np.where(several, removed.own[:, k, :, None] * removed.factor[..., None], 0.0)
    variance = (before - factor * shared.apart**2) / rows + shared.added
    # Squares less a square keep the rounding of both, and of the mean in the latter.
    doubt = ROUNDING * (before + 2.0 * factor * shared.extent * np.abs(shared.apart)) / rows
    doubt += shared.added_error + (ROUNDING * shared.extent) ** 2
    mean = moments.mean[:, k, None] - removed.shift[:, k, :, None] * shared.apart
    return _Class(mean, variance, small_or_unknown(ROUNDING + doubt / variance))


def _distance(point: Floats, fitted: _Class, extent: Floats) -> tuple[Floats, Floats]:
    """Return the squared distance of a point in units of the variance, and a bound on its error.

    The bound includes that of the determinant.
    """
    apart = np.abs(point - fitted.mean)
    steep = apart / fitted.variance
    standard = apart * steep
    error = fitted.relative * (1.0 + standard) + ROUNDING * extent * steep
    return standard.sum(axis=2), error.sum(axis=2)
