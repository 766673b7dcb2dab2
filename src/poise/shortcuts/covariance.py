"""Kernel functions over a stack of trials: rows against rows, and rows against the test point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.shortcuts.centred import less
from poise.shortcuts.factor import norm
from poise.shortcuts.protocol import Floats

__all__ = ["Covariance", "gaussian", "inner_products", "laplacian", "polynomial"]

_BLOCK = 256  # rows of a symmetric matrix computed at once


class Covariance(NamedTuple):
    """A kernel evaluated on every trial."""

    rows: Floats  # of which the part above the diagonal is used, (trials, n, n)
    test: Floats  # (trials, n)
    sensitivity: Floats  # relative error of an entry in units of rounding, (trials,)


def inner_products(X: Floats, x: Floats) -> Covariance:
    """Evaluate x'x̃."""
    return Covariance(X @ X.mT, np.matvec(X, x), np.ones(len(X)))


def polynomial(X: Floats, x: Floats, gamma: float, constant: float, degree: float) -> Covariance:
    """Evaluate (γ·x'x̃ + c)^degree."""
    rows, test, _ = inner_products(gamma * X, x)
    sensitivity = np.full(len(X), 1.0 + degree)
    return Covariance((rows / gamma + constant) ** degree, (test + constant) ** degree, sensitivity)


def gaussian(X: Floats, x: Floats, length_scale: float | Floats, expands: bool) -> Covariance:
    """Evaluate exp(−|x − x̃|²/(2ℓ²)), with one length scale or one for every column.

    The estimator rounds x/ℓ before it takes differences, so its error grows with the
    distance of the data from the origin; and with the square of that distance where,
    as ``expands`` says, it multiplies |x − x̃|² out.
    """
    n = X.shape[1]
    # About the test point the expansion is accurate however far from the origin all points lie.
    rows = less(X, x[:, None, :])
    rows /= length_scale
    half = -0.5 * np.vecdot(rows, rows)[..., None]
    ones = np.ones_like(half)
    # [z, −|z|²/2, 1]·[z̃, 1, −|z̃|²/2] = −|z − z̃|²/2 in one product.
    left, right = np.concat([rows, half, ones], axis=2), np.concat([rows, ones, half], axis=2).mT
    matrix = np.zeros((len(X), n, n))
    for start in range(0, n, _BLOCK):
        block = matrix[:, start : start + _BLOCK, start:]
        np.matmul(left[:, start : start + _BLOCK], right[:, :, start:], out=block)
        np.exp(block, out=block)
    matrix[:, np.arange(n), np.arange(n)] = 1.0
    test = np.exp(half[..., 0])
    extent = np.sqrt(-2.0 * half.min(axis=(1, 2)))
    farthest = extent + norm(x / length_scale)
    return Covariance(matrix, test, 1.0 + farthest * (farthest if expands else extent))


def laplacian(X: Floats, x: Floats, gamma: float) -> Covariance:
    """Evaluate exp(−γ·|x − x̃|₁)."""
    trials, n, d = X.shape
    distances = np.zeros((trials, n, n))
    for column in range(d):
        values = X[:, :, column]
        distances += np.abs(values[:, :, None] - values[:, None, :])
    test = np.abs(X - x[:, None, :]).sum(axis=-1)
    return Covariance(np.exp(-gamma * distances), np.exp(-gamma * test), np.ones(trials))
