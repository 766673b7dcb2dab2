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
from poise.shortcuts.factorizations import cholesky, inverse_of_triangles, norm
from poise.shortcuts.linear_narrow import (
    RowRemoval,
    conditioning,
    distance_to_origin,
    rounding_error,
)
from poise.shortcuts.rounding_bounds import trusted_tables
from poise.shortcuts.shortcut import Floats, Tables

__all__ = ["LinearTables", "linear_tables", "remove_each_row"]


class LinearTables(NamedTuple):
    """All predictions for every trial and response, with a bound on their error."""

    full: Floats  # (trials, responses, points)
    reduced: Floats  # (trials, responses, removals, points)
    error: Floats  # (trials, responses, points)
    condition: Floats  # bound on the largest condition number of the fits, (trials,)


class _Solved(NamedTuple):
    """L⁻¹ times the removed rows, the test points and the cross products."""

    gram: Floats
    pivots: Floats
    removed: Floats  # (trials, removals, d)
    test: Floats  # (trials, points, d)
    fit: Floats  # (trials, responses, d)


def linear_tables(
    data: Centred, points: Floats, removals: int, penalty: float, largest_condition: float
) -> Tables:
    """Fit one response; trust what another computation would confirm."""
    found = remove_each_row(data, points, removals, penalty, largest_condition < np.inf)
    alone = found.full[:, 0], found.reduced[:, 0], found.error[:, 0]
    tables = trusted_tables(*alone, data.responses, points)
    return tables._replace(trusted=tables.trusted & (found.condition <= largest_condition))


def remove_each_row(
    data: Centred, points: Floats, removals: int, penalty: float, by_svd: bool
) -> LinearTables:
    """Fit once and remove each of the last rows.

    The bounds are those of one removal, for the smallest 1 − h and the largest left-out
    residual of the trial. ``by_svd`` says that the estimator uses a singular value
    decomposition, which rounds small columns by what large ones hold.
    """
    solved = _solved(data, points, removals, penalty)
    found = _removals(data, solved)
    smallest, condition = conditioning(found._replace(gap=found.gap[:, 0, 0]))
    amplification = np.maximum(1.0 / smallest, condition) if by_svd else 1.0 / smallest
    offset = distance_to_origin(solved.gram[:, None], data.mean, points)[:, None, :]
    level, n = np.abs(data.level)[..., None], data.rows.shape[1]
    error = rounding_error(found, level, n, offset, amplification[:, None, None])
    return LinearTables(found.full, found.reduced, error, condition)


def _solved(data: Centred, points: Floats, removals: int, penalty: float) -> _Solved:
    rows, d = data.rows, data.rows.shape[2]
    gram = rows.mT @ rows + penalty * np.eye(d)
    lower = cholesky(gram)
    removed, test = rows[:, : -removals - 1 : -1], points - data.mean
    sides = (
        np.concat([removed, test, data.responses @ rows], axis=1) @ inverse_of_triangles(lower).mT
    )
    ends = np.cumsum([removals, points.shape[1]])
    return _Solved(gram, np.linalg.diagonal(lower), *np.split(sides, ends, axis=1))


def _removals(data: Centred, solved: _Solved) -> RowRemoval:
    """Apply the formula to every removed row, and keep the worst of them for the bounds."""
    _, _, removed, test, fit = solved
    full = data.level[..., None] + fit @ test.mT
    gap = 1.0 - data.share - np.vecdot(removed, removed)
    responses = data.responses[..., : -removed.shape[1] - 1 : -1]
    left_out = (responses - fit @ removed.mT) / gap[:, None, :]
    weights = data.share + removed @ test.mT
    return RowRemoval(
        full=full,
        reduced=full[:, :, None, :] - left_out[..., None] * weights[:, None],
        gram=solved.gram,
        pivots=solved.pivots,
        reach=norm(test)[:, None, :],
        fitted=norm(fit)[..., None],
        spread=norm(data.responses)[..., None],
        left_out=np.abs(left_out).max(axis=2, keepdims=True),
        gap=gap.min(axis=1)[:, None, None],
    )
