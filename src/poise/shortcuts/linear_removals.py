"""Linear fits with more rows than columns; each is removed in turn.

With the notation of :mod:`poise.shortcuts.linear_narrow`, one factor A = LL' and one product
L⁻¹u_i per row give the leverage h_i and the left-out residual of every row, and so its change
at every test point::

    change = e_i/(1 − h_i) · (1/n + w'A⁻¹u_i)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.shortcuts.centred_moments import Centred
from poise.shortcuts.factorizations import cholesky, norm
from poise.shortcuts.linear_narrow import (
    RowRemoval,
    conditioning,
    distance_to_origin,
    rounding_error,
)
from poise.shortcuts.rounding_bounds import LARGEST, SMALLEST, finite_trials
from poise.shortcuts.shortcut import AGREEMENT, Floats, Tables

__all__ = ["linear_tables"]


class _Solved(NamedTuple):
    """L⁻¹ times the removed rows, the test points and the cross products."""

    gram: Floats
    pivots: Floats
    removed: Floats  # (trials, removals, d)
    test: Floats  # (trials, points, d)
    fit: Floats  # (trials, 1, d)


@np.errstate(all="ignore")
def linear_tables(
    data: Centred, points: Floats, removals: int, penalty: float, largest_condition: float
) -> Tables:
    """Fit once and remove each of the last rows; trust what another computation would confirm.

    ``data`` hold one response. The bounds are those of one removal, for the smallest 1 − h and
    the largest left-out residual of the trial.
    """
    solved = _solved(data, points, removals, penalty)
    found = _removals(data, solved)
    smallest, condition = conditioning(found._replace(gap=found.gap[:, 0]))
    offset = distance_to_origin(solved.gram[:, None], data.mean, points)
    n = data.rows.shape[1]
    error = rounding_error(found, np.abs(data.level), n, offset, 1.0 / smallest[:, None])
    size = np.maximum(np.abs(found.full).max(axis=1), np.abs(found.reduced).max(axis=(1, 2)))
    sure = (error <= AGREEMENT * size[:, None]).all(axis=1) & (condition <= largest_condition)
    sure &= (size > SMALLEST) & (size < LARGEST) & finite_trials(data.responses, points)
    sure &= (found.reduced != found.full[:, None, :]).all(axis=(1, 2))
    return Tables(found.full, found.reduced, error, sure)


def _solved(data: Centred, points: Floats, removals: int, penalty: float) -> _Solved:
    rows, d = data.rows, data.rows.shape[2]
    gram = rows.mT @ rows + penalty * np.eye(d)
    lower = cholesky(gram)
    removed, test = rows[:, : -removals - 1 : -1], points - data.mean
    sides = np.concat([removed, test, data.responses @ rows], axis=1) @ _inverse(lower).mT
    ends = np.cumsum([removals, points.shape[1]])
    return _Solved(gram, np.linalg.diagonal(lower), *np.split(sides, ends, axis=1))


def _inverse(lower: Floats) -> Floats:
    """Invert every triangular factor; NaN where there is none."""
    usable = np.isfinite(lower[:, :1, :1])
    inverse: Floats = np.linalg.inv(np.where(usable, lower, np.eye(lower.shape[1])))
    return np.where(usable, inverse, np.nan)


def _removals(data: Centred, solved: _Solved) -> RowRemoval:
    """Apply the formula to every removed row, and keep the worst of them for the bounds."""
    _, _, removed, test, fit = solved
    full = data.level + np.vecdot(fit, test)
    gap = 1.0 - data.share - np.vecdot(removed, removed)
    responses = data.responses[:, 0, : -removed.shape[1] - 1 : -1]
    left_out = (responses - np.vecdot(fit, removed)) / gap
    weights = data.share + removed @ test.mT
    return RowRemoval(
        full=full,
        reduced=full[:, None, :] - left_out[:, :, None] * weights,
        gram=solved.gram,
        pivots=solved.pivots,
        reach=norm(test),
        fitted=norm(fit),
        spread=norm(data.responses),
        left_out=np.abs(left_out).max(axis=1, keepdims=True),
        gap=gap.min(axis=1, keepdims=True),
    )
