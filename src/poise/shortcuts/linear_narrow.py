"""Linear fits with more rows than columns; the last row is removed.

With S the centred Gram matrix, c the centred cross products, u and w the
removed row and the test point relative to the mean, and A = S + λI = LL'::

    change = e/(1 − h) · (1/n + w'A⁻¹u),   h = 1/n + u'A⁻¹u,   e = (y_n − ȳ) − u'A⁻¹c

so one factorisation of A serves both fits. Only L⁻¹u, L⁻¹w and L⁻¹c are needed, and a
bordered Cholesky factorisation of A gives them in one LAPACK call per trial. Its error
grows with the square of the condition number. If that is too large, an orthogonal
factorisation of the rows gives the same vectors, with an error that grows with the
condition number itself.
:func:`remove_row` runs unchanged on NumPy and on JAX arrays.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from poise.shortcuts.centred_moments import Centred, Moments
from poise.shortcuts.factorizations import bordered, cholesky, norm, smallest_eigenvalue
from poise.shortcuts.rounding_bounds import LARGEST, ROUNDING, SMALLEST
from poise.shortcuts.shortcut import Array, Floats

__all__ = [
    "LinearPairs",
    "RowRemoval",
    "conditioning",
    "distance_to_origin",
    "narrow_pairs",
    "orthogonal_pairs",
    "remove_row",
    "rounding_error",
]


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
    pivots: Array  # diagonal of L, (trials, d)
    reach: Array  # |L⁻¹w|, distance of the test point from the mean, (trials,)
    fitted: Array  # |L⁻¹c|, size of the fit, (trials, responses)
    spread: Array  # |y − ȳ|, (trials, responses)
    left_out: Array  # |y_n − prediction without row n|, (trials, responses)
    gap: Array  # 1 − h, with h the leverage of the removed row, (trials,)


def narrow_pairs(X: Floats, Y: Floats, x: Floats, penalty: float, intercept: bool) -> LinearPairs:
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
    data = Moments.of(X, Y, intercept)
    found = remove_row(data, x, penalty)
    smallest, condition = conditioning(found)
    error = _error(found, data, x, 1.0 / smallest)
    return LinearPairs(found.full, found.reduced, error, condition)


def orthogonal_pairs(X: Floats, Y: Floats, x: Floats, intercept: bool) -> LinearPairs:
    """Fit least squares with and without the last row, more slowly and more accurately."""
    data, found = _by_reflections(Centred.of(X, Y, intercept), x)
    _, condition = conditioning(found)
    error = _error(found, data, x, condition)
    return LinearPairs(found.full, found.reduced, error, condition)


def remove_row(data: Moments, x: Array, penalty: float) -> RowRemoval:
    """Apply the formula to the moments of rows and responses; they may be JAX arrays."""
    xp, d = data.gram.__array_namespace__(), data.gram.shape[2]
    gram = data.gram + penalty * xp.eye(d, dtype=data.gram.dtype)
    vectors = [data.last, x[:, None, :] - data.mean, data.cross]
    lower = cholesky(bordered(gram, xp.concat(vectors, axis=1)))
    pivots = xp.linalg.diagonal(lower)[:, :d]
    return _removal(data, gram, pivots, lower[:, d, :d], lower[:, d + 1, :d], lower[:, d + 2 :, :d])


def _by_reflections(data: Centred, x: Floats) -> tuple[Moments, RowRemoval]:
    """Factor rows and responses together: the last columns of R are then L⁻¹c."""
    d = data.rows.shape[2]
    together = np.concat([data.rows, data.responses.mT], axis=2)
    factor: Floats = np.asarray(np.linalg.qr(together, mode="r"))
    upper, fit = factor[:, :d, :d], factor[:, :d, d:].mT
    sides = np.stack([data.rows[:, -1], x - data.mean[:, 0]], axis=2)
    solved = np.linalg.solve(upper.mT, sides)
    pivots = np.abs(np.linalg.diagonal(upper))
    moments = Moments.about(data, upper.mT @ upper)
    found = _removal(moments, moments.gram, pivots, solved[..., 0], solved[..., 1], fit)
    return moments, found


def _removal(
    data: Moments, gram: Array, pivots: Array, removed: Array, test: Array, fit: Array
) -> RowRemoval:
    """Apply the formula to L⁻¹u, L⁻¹w and L⁻¹c."""
    xp = gram.__array_namespace__()
    full = data.level + xp.vecdot(fit, test[:, None, :])
    gap = 1.0 - data.share - xp.vecdot(removed, removed)
    residual = data.responses[:, :, -1] - xp.vecdot(fit, removed[:, None, :])
    left_out = residual / gap[:, None]
    weight = data.share + xp.vecdot(removed, test)
    return RowRemoval(
        full=full,
        reduced=full - left_out * weight[:, None],
        gram=gram,
        pivots=pivots,
        reach=norm(test),
        fitted=norm(fit),
        spread=norm(data.responses),
        left_out=xp.abs(left_out),
        gap=gap,
    )


def conditioning(found: RowRemoval) -> tuple[Floats, Floats]:
    """Bound the smallest eigenvalue of the scaled Gram matrix, and the condition number.

    Both are NaN where one of the fits is degenerate.
    """
    # Transposed, because NumPy reduces along the first axis several times faster.
    diagonal = np.ascontiguousarray(np.linalg.diagonal(found.gram).T)
    low, high = diagonal.min(axis=0), diagonal.max(axis=0)
    regular = (found.gap > 0) & (low > SMALLEST) & (high < LARGEST)
    smallest = np.where(regular, smallest_eigenvalue(found.gram, found.pivots), np.nan)
    # Removing the row multiplies the smallest eigenvalue by at least 1 − h.
    return smallest, np.sqrt(diagonal.sum(axis=0) / (smallest * found.gap * low))


def _error(found: RowRemoval, data: Moments, x: Floats, amplification: Floats) -> Floats:
    """Bound the error of one test point per trial, for every response."""
    by_trial = found._replace(reach=found.reach[:, None], gap=found.gap[:, None])
    offset = distance_to_origin(found.gram, data.mean[:, 0], x)[:, None]
    n = data.responses.shape[2]
    return rounding_error(by_trial, np.abs(data.level), n, offset, amplification[:, None])


def distance_to_origin(gram: Floats, mean: Floats, x: Floats) -> Floats:
    """Measure |x| + |mean| in units of the spread of the columns, along the last axis."""
    return np.asarray(norm((np.abs(x) + np.abs(mean)) / np.sqrt(np.linalg.diagonal(gram))))


def rounding_error(
    found: RowRemoval, level: Floats, n: int, offset: Floats, amplification: Floats
) -> Floats:
    """Bound the difference from another correct computation; all arrays are broadcast.

    A perturbation E of the Gram matrix, |E_ij| <= u·√(A_ii·A_jj), moves w'A⁻¹c by at
    most u·d·|L⁻¹w|·|L⁻¹c| over the smallest eigenvalue, and dividing by 1 − h
    enlarges that. A perturbation of the rows moves it by the condition number at most. To
    this the cancellation in x'β + (ȳ − x̄'β) is added, large for data far from the origin.
    """
    reach = (1.0 + found.reach) / found.gap
    # The rounding of the means themselves: of second order, unless nothing else varies.
    solve = reach * amplification * (1.0 + ROUNDING * n * offset**2)
    cancel = offset * np.sqrt(amplification)
    error = found.spread * solve + found.left_out * (solve + cancel)
    error += found.fitted * cancel
    error += level * (math.sqrt(n) * reach) + np.abs(found.full)
    return np.asarray(ROUNDING * error)
