"""Linear fits with more rows than columns: one row is removed by formula.

With S the centred Gram matrix, c the centred cross products, u and w the
removed row and the test point relative to the mean, and A = S + λI::

    change = e/(1 − h) · (1/n + w'A⁻¹u),   h = 1/n + u'A⁻¹u,   e = (y_n − ȳ) − u'A⁻¹c

so one factorisation of A serves both fits. All that is needed are inner
products in A⁻¹, which a bordered Cholesky factorisation leaves behind: one LAPACK
call per trial does everything. :func:`remove_row` runs unchanged on NumPy and on
JAX arrays.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from poise.shortcuts.factor import bordered, cholesky, norm, smallest_eigenvalue
from poise.shortcuts.protocol import Array, Floats
from poise.shortcuts.regressor import LARGEST, ROUNDING, SMALLEST

__all__ = ["LinearPairs", "RowRemoval", "centred", "narrow_pairs", "remove_row"]


class LinearPairs(NamedTuple):
    """Both predictions for every trial and response, with a bound on their error."""

    full: Floats  # (trials, responses)
    reduced: Floats  # (trials, responses)
    error: Floats  # (trials, responses)
    condition: Floats  # bound on the larger condition number of the two fits, (trials,)


class RowRemoval(NamedTuple):
    """Both predictions, and the quantities their rounding error depends on."""

    full: Array  # (trials, responses)
    reduced: Array  # (trials, responses)
    gram: Array  # A, (trials, d, d)
    pivots: Array  # diagonal of the Cholesky factor of A, (trials, d)
    reach: Array  # |L⁻¹w|, how far out the test point lies, (trials,)
    fitted: Array  # |L⁻¹c|, size of the fit, (trials, responses)
    spread: Array  # |y − ȳ|, (trials, responses)
    left_out: Array  # |y_n − prediction without row n|, (trials, responses)
    gap: Array  # 1 − h, what the leverage of the removed row leaves, (trials,)
    mean: Array  # x̄, or 0 without intercept, (trials, d)
    level: Array  # ȳ, or 0 without intercept, (trials, responses)
    n: int


def narrow_pairs(X: Floats, Y: Floats, x: Floats, penalty: float, intercept: bool) -> LinearPairs:
    """Fit with and without the last row; arguments as in :func:`remove_row`."""
    found = remove_row(X, Y, x, penalty, intercept)
    smallest = smallest_eigenvalue(found.gram, found.pivots)
    diagonal = np.linalg.diagonal(found.gram)
    regular = (
        (found.gap > 0) & (diagonal > SMALLEST).all(axis=-1) & (diagonal < LARGEST).all(axis=-1)
    )
    gap = np.where(regular, found.gap, np.nan)
    # Removing the row takes at most the factor 1 − h from the smallest eigenvalue.
    floor = smallest * gap * diagonal.min(axis=-1)
    return LinearPairs(
        found.full,
        found.reduced,
        _rounding_error(found, x, smallest, gap),
        np.sqrt(diagonal.sum(axis=-1) / floor),
    )


def remove_row(X: Array, Y: Array, x: Array, penalty: float, intercept: bool) -> RowRemoval:
    """Fit ``Y`` on ``X`` with and without the last row and predict at ``x``.

    Parameters
    ----------
    X : array of shape (trials, n, d)
    Y : array of shape (trials, responses, n)
    x : array of shape (trials, d)
    penalty : float >= 0
        λ; with 0, least squares, both fits must have full rank.
    intercept : bool
        Whether an unpenalised constant is fitted.
    """
    xp = X.__array_namespace__()
    d = X.shape[2]
    rows, mean, responses, level, share = centred(X, Y, intercept)
    gram = _gram(rows) + penalty * xp.eye(d, dtype=X.dtype)
    removed, test = rows[:, -1:, :], x[:, None, :] - mean
    lower = cholesky(bordered(gram, xp.concat([removed, test, responses @ rows], axis=1)))
    removed, test, fit = lower[:, d, :d], lower[:, d + 1, :d], lower[:, d + 2 :, :d]
    full = level + xp.vecdot(fit, test[:, None, :])
    gap = 1.0 - share - xp.vecdot(removed, removed)
    left_out = (responses[:, :, -1] - xp.vecdot(fit, removed[:, None, :])) / gap[:, None]
    weight = share + xp.vecdot(removed, test)
    return RowRemoval(
        full=full,
        reduced=full - left_out * weight[:, None],
        gram=gram,
        pivots=xp.linalg.diagonal(lower)[:, :d],
        reach=norm(test),
        fitted=norm(fit),
        spread=norm(responses),
        left_out=xp.abs(left_out),
        gap=gap,
        mean=mean[:, 0, :],
        level=level,
        n=X.shape[1],
    )


def centred(X: Array, Y: Array, intercept: bool) -> tuple[Array, Array, Array, Array, float]:
    """Return rows and responses less their means, each with its means, and 1/n."""
    xp = X.__array_namespace__()
    n = X.shape[1]
    share = 1.0 / n if intercept else 0.0
    averaging = xp.full((1, n), share, dtype=X.dtype)
    # Both of these are several times faster than a mean over, and broadcasting along,
    # the middle axis, where every inner loop is only d long.
    mean = averaging @ X
    level = xp.vecdot(Y, averaging)
    if not intercept:
        return X, mean, Y, level, share
    return X - xp.repeat(mean, n, axis=1), mean, Y - level[..., None], level, share


def _gram(rows: Array) -> Array:
    """Multiply the rows by themselves.

    NumPy recognises the same array twice and calls a routine that does half the
    arithmetic, but loses by it on few columns. A copy is not recognised.
    """
    xp = rows.__array_namespace__()
    few = rows.shape[2] < 32
    return xp.matrix_transpose(rows) @ (xp.asarray(rows, copy=True) if few else rows)


def _rounding_error(found: RowRemoval, x: Floats, smallest: Floats, gap: Floats) -> Floats:
    """Bound the difference from another correct computation, per trial and response.

    A perturbation E of the Gram matrix, |E_ij| <= u·√(A_ii·A_jj), moves w'A⁻¹c by at
    most u·d·|L⁻¹w|·|L⁻¹c|/``smallest``, and dividing by 1 − h enlarges that. Beside it
    stands the cancellation in x'β + (ȳ − x̄'β), large for data far from the origin.
    """
    size = np.sqrt(np.linalg.diagonal(found.gram))
    offset = norm((np.abs(x) + np.abs(found.mean)) / size)
    # The rounding of the means themselves: of second order, unless nothing else varies.
    drift = 1.0 + ROUNDING * found.n * norm(found.mean / size) ** 2
    solve = (1.0 + found.reach) * drift / (smallest * gap)
    level = np.abs(found.level) * (math.sqrt(found.n) * (1.0 + found.reach) / gap)[:, None]
    error = (found.spread + found.left_out) * solve[:, None] + level
    error += (found.fitted + found.left_out) * (offset / np.sqrt(smallest))[:, None]
    return np.asarray(ROUNDING * (error + np.abs(found.full)))
