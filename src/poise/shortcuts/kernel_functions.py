"""Kernel functions between the rows and the points of each trial."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from poise.shortcuts.centred_moments import less
from poise.shortcuts.factorizations import length, norm
from poise.shortcuts.shortcut import Floats

__all__ = [
    "Covariance",
    "combined",
    "gaussian",
    "inner_products",
    "laplacian",
    "polynomial",
    "to_power",
]

_ROWS_AT_ONCE = 256  # rows of a symmetric matrix computed at once


class Covariance(NamedTuple):
    """A kernel evaluated on every trial."""

    rows: Floats  # of which the part above the diagonal is used, (trials, n, n)
    test: Floats  # (trials, points, n)
    sensitivity: Floats  # error of an entry divided by the largest, in units of rounding, (trials,)
    blur: Floats  # error of the test vectors, a length, in units of rounding, (trials, points)

    @classmethod
    def of(cls, rows: Floats, test: Floats, sensitivity: Floats) -> Covariance:
        """Build it from entries whose errors are proportional to the entries."""
        return cls(rows, test, sensitivity, sensitivity[:, None] * length(test))

    def with_penalty(self, penalty: float) -> Covariance:
        """Add a constant to the diagonal, in place."""
        diagonal = np.arange(self.rows.shape[1])
        self.rows[:, diagonal, diagonal] += penalty
        return self


def inner_products(X: Floats, points: Floats, constant: float = 0.0) -> Covariance:
    """Evaluate x'x̃ + c, whose terms may cancel."""
    rows, test = X @ X.mT + constant, points @ X.mT + constant
    terms = norm(X)[:, None, :] * norm(points)[..., None] + abs(constant)
    largest = np.vecdot(X, X).max(axis=1) + abs(constant)
    sensitivity = largest / np.abs(np.linalg.diagonal(rows)).max(axis=-1)
    return Covariance(rows, test, sensitivity, length(terms))


def polynomial(
    X: Floats, points: Floats, gamma: float, constant: float, degree: float
) -> Covariance:
    """Evaluate (γ·x'x̃ + c)^degree."""
    unit = math.sqrt(gamma)
    return to_power(inner_products(unit * X, unit * points, constant), degree)


def to_power(base: Covariance, degree: float) -> Covariance:
    """Raise every entry of a kernel to a power."""
    rows, test = base.rows**degree, base.test**degree
    if degree < 1:  # a large derivative where an entry is small
        return Covariance.of(rows, test, np.full(len(rows), np.inf))
    slope = degree * np.abs(base.test).max(axis=-1) ** (degree - 1.0)
    sensitivity = 1.0 + degree * base.sensitivity
    return Covariance(rows, test, sensitivity, length(test) + slope * base.blur)


def combined(left: Covariance, right: Covariance, is_sum: bool) -> Covariance:
    """Add or multiply the entries of two kernels."""
    if is_sum:
        larger = np.maximum(left.sensitivity, right.sensitivity)
        blur = left.blur + right.blur
        return Covariance(left.rows + right.rows, left.test + right.test, larger, blur)
    together = left.sensitivity + right.sensitivity
    sizes = (np.abs(kernel.test).max(axis=-1) for kernel in (right, left))
    blur = sum(size * kernel.blur for size, kernel in zip(sizes, (left, right), strict=True))
    return Covariance(left.rows * right.rows, left.test * right.test, together, blur)


def gaussian(X: Floats, points: Floats, length_scale: float | Floats, expands: bool) -> Covariance:
    """Evaluate exp(−|x − x̃|²/(2ℓ²)), with one length scale or one for every column.

    The estimator rounds x/ℓ before it takes differences, so its error grows with the
    distance of the data from the origin. If ``expands`` is True, it expands |x − x̃|², and
    the error grows with the square of that distance.
    """
    n = X.shape[1]
    # Relative to a test point the expansion is accurate, also far from the origin.
    rows = _relative(X, points[:, 0], length_scale)
    half = -0.5 * np.vecdot(rows, rows)
    matrix = _gaussian_matrix(rows, half[..., None])
    matrix[:, np.arange(n), np.arange(n)] = 1.0
    others = (_relative(X, points[:, t], length_scale) for t in range(1, points.shape[1]))
    halves = np.stack([half, *(-0.5 * np.vecdot(other, other) for other in others)], axis=1)
    extent = np.sqrt(-2.0 * halves.min(axis=2))
    farthest = extent + norm(points / length_scale)
    factor = farthest * (farthest if expands else extent)
    return Covariance.of(matrix, np.exp(halves), 1.0 + factor.max(axis=1))


def _relative(X: Floats, x: Floats, length_scale: float | Floats) -> Floats:
    """Return rows relative to one point of each trial, in units of the length scale."""
    rows: Floats = less(X, x[:, None, :])
    rows /= length_scale
    return rows


def _gaussian_matrix(rows: Floats, half: Floats) -> Floats:
    """Fill the part above the diagonal, from rows z and −|z|²/2."""
    trials, n, _ = rows.shape
    ones = np.ones_like(half)
    # [z, −|z|²/2, 1]·[z̃, 1, −|z̃|²/2] = −|z − z̃|²/2 in one product.
    left, right = np.concat([rows, half, ones], axis=2), np.concat([rows, ones, half], axis=2).mT
    matrix = np.zeros((trials, n, n))
    for start in range(0, n, _ROWS_AT_ONCE):
        block = matrix[:, start : start + _ROWS_AT_ONCE, start:]
        np.matmul(left[:, start : start + _ROWS_AT_ONCE], right[:, :, start:], out=block)
        np.exp(block, out=block)
    return matrix


def laplacian(X: Floats, points: Floats, gamma: float) -> Covariance:
    """Evaluate exp(−γ·|x − x̃|₁)."""
    trials, n, d = X.shape
    distances = np.zeros((trials, n, n))
    for column in range(d):
        values = X[:, :, column]
        distances += np.abs(values[:, :, None] - values[:, None, :])
    apart = [np.abs(X - points[:, t, None, :]).sum(axis=-1) for t in range(points.shape[1])]
    test = np.stack(apart, axis=1)
    return Covariance.of(np.exp(-gamma * distances), np.exp(-gamma * test), np.ones(trials))
