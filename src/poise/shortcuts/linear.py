"""Ridge regression and least squares: one factorisation serves both fits, and every removal.

With C, c the centred rows and cross products and A = CᵀC + λI = LLᵀ, without row u::

    change at w = e/(1 − h) · (1/n + wᵀA⁻¹u),   h = 1/n + uᵀA⁻¹u,   e = (y_u − ȳ) − uᵀA⁻¹c

With at least as many columns as rows the same follows from K = CCᵀ: scikit-learn solves that
system too, and both must round alike. A ridge classifier is one regression of ±1 for each class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from poise.shortcuts.cells import (
    ROUNDING,
    Array,
    Cells,
    centred,
    diagonal_of,
    elected,
    last,
    members,
    norm,
    whitened,
)

_AT_ONCE = 1 << 18  # numbers, 2 MB: rows whose sums are taken together
_SMALLEST, _LARGEST = 1e-280, 1e280  # beyond, squares underflow or overflow


class _Trials(NamedTuple):
    """Responses (m, q, n) and points (m, T, d), about the means of their trials."""

    responses: Array
    test: Array
    share: float  # 1/n with an intercept, else 0
    mean: Array  # (m, 1, d)
    level: Array  # (m, q, 1)
    size: Array  # |x| + |mean|, (m, T, d)


@dataclass(frozen=True)
class Linear:
    """A ridge regression or classifier; least squares is one without penalty."""

    penalty: float
    intercept: bool
    largest_condition: float = math.inf  # beyond it the estimator drops directions
    classes: int = 0
    roundings: Array | float = 1.0  # that rows have behind them
    removes_all: bool = True

    def numbers(self, n: int, d: int, removals: int, points: int) -> int:
        """Return how many numbers a trial keeps in memory."""
        responses = max(1, self.classes)
        rows = 2 * (d + removals + points + responses) if d < n else n
        return rows * d + responses * (n + 3 * removals * points)

    def on_rounded_rows(self, roundings: Array) -> Linear:
        """Return the family for rows that have so many roundings behind them."""
        return replace(self, roundings=roundings[:, None, None])

    def cells(self, X: Array, y: Array, points: Array, removals: int) -> Cells:
        """Compute predictions, or the class of the highest score."""
        member = members(y, self.classes)
        Y = np.where(member, 1.0, -1.0) if self.classes else y[:, None]
        full, moved, error = self._scores(X, Y, points, removals)
        if self.classes:
            return elected(full, full[:, :, None] - moved, error.max(axis=1), member)
        return Cells(full[:, 0], full - moved[:, 0], error)

    def _scores(
        self, X: Array, Y: Array, points: Array, removals: int
    ) -> tuple[Array, Array, Array]:
        """Return predictions (m, q, T), what removals take from them (m, q, R, T), errors."""
        n, d = X.shape[1:]
        share = 1.0 / n if self.intercept else 0.0
        level = np.vecdot(Y, np.full(n, share))[..., None]
        Y = Y - level if self.intercept else Y
        if d < n:
            step = max(1, _AT_ONCE // (n * d))
            parts = [slice(k, k + step) for k in range(0, len(Y), step)]
            sums = zip(*(_sums(X[p], Y[p], share, removals) for p in parts), strict=True)
            mean, *known = map(np.concatenate, sums)
        else:
            rows = X[:]
            mean = np.full((1, n), share) @ rows
        data = _Trials(Y, points - mean, share, mean, level, np.abs(points) + np.abs(mean))
        found = self._narrow(data, *known) if d < n else self._wide(data, rows, removals)
        full, moved, error = found[0] + level, *found[1:]
        return full, moved, self.roundings * ROUNDING * (error + np.abs(full))

    def _narrow(
        self, data: _Trials, gram: Array, cross: Array, gone: Array
    ) -> tuple[Array, Array, Array]:
        Y, share, removals = data.responses, data.share, gone.shape[1]
        diagonal_of(gram)[:] += self.penalty
        half, inflation = whitened(gram, np.concatenate([gone, data.test, cross], axis=1))
        removed, test, fit = np.split(half, [removals, -Y.shape[1]], axis=1)
        gap = 1.0 - share - np.vecdot(removed, removed)  # (m, R)
        left_out = (last(Y, removals) - fit @ removed.mT) / gap[:, None]  # (m, q, R)
        weight = share + removed @ test.mT  # (m, R, T)
        error = self._error(data, gram, gap.min(axis=1), inflation, test, fit, left_out)
        return fit @ test.mT, left_out[..., None] * weight[:, None], error

    def _error(
        self,
        data: _Trials,
        gram: Array,
        least: Array,
        inflation: Array,
        test: Array,
        fit: Array,
        left_out: Array,
    ) -> Array:
        """Bound what rounding does to predictions, over all removals, to first order."""
        n = data.responses.shape[2]
        diagonal = diagonal_of(gram)
        columns = diagonal.T.copy()  # along which extremes are found many times as fast
        low, high = columns.min(axis=0), columns.max(axis=0)
        least = np.where((least > 0) & (low > _SMALLEST) & (high < _LARGEST), least, np.nan)
        condition = np.sqrt(diagonal.sum(axis=1) * inflation / (least * low))
        least[~(condition <= self.largest_condition)] = np.nan
        if self.largest_condition < math.inf:  # an SVD rounds small columns by what large ones hold
            inflation = np.maximum(inflation, condition)
        scale = np.sqrt(diagonal)[:, None]
        offset = norm(data.size / scale)[:, None]  # (m, 1, T)
        # A rounded mean moves all rows alike, which the formula for a removal takes for leverage.
        shifted = 1.0 + math.sqrt(n) * norm(data.mean / scale)[..., None]  # (m, 1, 1)
        inflation = inflation[:, None, None]
        reach = ((1.0 + norm(test)) / least[:, None])[:, None]
        solve = reach * inflation * (1.0 + ROUNDING * n * offset**2)
        cancel = offset * np.sqrt(inflation)
        worst = np.abs(left_out).max(axis=2, keepdims=True)
        error: Array = norm(data.responses)[..., None] * solve
        error += worst * (solve * shifted + cancel) + norm(fit)[..., None] * cancel
        error += np.abs(data.level) * (math.sqrt(n) * reach)
        return error

    def _wide(self, data: _Trials, rows: Array, removals: int) -> tuple[Array, Array, Array]:
        Y, share = data.responses, data.share
        m, n, _ = rows.shape
        if share:  # twice: the rounding error of a mean is the same in all rows
            rows = centred(rows, data.mean)
            rows = centred(rows, np.full((1, n), share) @ rows)
        system = rows @ rows.mT
        typical = np.trace(system, axis1=1, axis2=2) / n * (share > 0)
        # With an intercept the rows add up to 0: this makes the system regular, whatever λ is.
        system += (typical * share)[:, None, None]
        diagonal_of(system)[:] += self.penalty
        unit = np.broadcast_to(last(np.eye(n), removals).T, (m, removals, n))
        kernel = data.test @ rows.mT
        half, _ = whitened(system, np.concatenate([unit, kernel, Y], axis=1))
        unit, kernel, fit = np.split(half, [removals, -Y.shape[1]], axis=1)
        pivot = np.vecdot(unit, unit) - share / (typical + self.penalty)[:, None]  # (m, R)
        pivot = np.where((pivot > 0) & (self.penalty > 0), pivot, np.nan)
        left_out = fit @ unit.mT / pivot[:, None]
        weight = share + unit @ kernel.mT
        # An error E of the system moves k'Hy by (Hk)'E(Hy), and |Hk|² <= |L⁻¹k|²·|H|.
        largest, root = diagonal_of(system).max(axis=1), math.sqrt(self.penalty) or math.nan
        by_point = norm(kernel) + (np.abs(weight) / np.sqrt(pivot)[..., None]).max(axis=1)  # (m, T)
        by_fit = norm(fit) + (np.abs(left_out) * np.sqrt(pivot)[:, None]).max(axis=2)  # (m, q)
        blur = norm(norm(rows))[:, None] * norm(data.test) / root + norm(data.size)
        sharp = 2.0 * largest[:, None] / root**2 * by_point + blur  # (m, T)
        error = by_fit[..., None] * sharp[:, None]
        error += np.abs(data.level) * (math.sqrt(n) / root * by_point)[:, None]
        return fit @ kernel.mT, left_out[..., None] * weight[:, None], error


def _sums(X: Array, Y: Array, share: float, removals: int) -> tuple[Array, Array, Array, Array]:
    """Return means, Gram matrices and cross products about them, and the rows to be removed."""
    mean = np.full((1, X.shape[1]), share) @ X  # several times as fast as X.mean(axis=1)
    rows = centred(X, mean) if share else X
    gone = last(rows.mT, removals).mT.copy()  # a view would keep all rows in memory
    return mean, rows.mT @ rows, Y @ rows, gone  # the very same array: half the work
