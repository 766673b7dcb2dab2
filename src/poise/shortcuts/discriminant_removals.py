"""Linear discriminant analysis; each row is removed in turn.

With u a row minus the mean of its class, which has m rows, and W the products of all such rows,
the fit without the row has the class mean less u/(m − 1) and the products W − m/(m − 1)·uu'. So
one factor W = LL' serves all removals: with a = L⁻¹u and w = L⁻¹(x − mean of a class)::

    w' = w + a/(m − 1) for the row's own class, w for every other
    squared distance without the row = |w'|² + g(a'w')²/(1 − g|a|²),  g = m/(m − 1)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.class_moments import ClassMoments, RemovedRows, directions_are_clear
from poise.shortcuts.factorizations import cholesky, inverse_of_triangles
from poise.shortcuts.shortcut import Floats

__all__ = ["Whitened", "remove_each_row_of_classes"]

_NUMBERS_AT_ONCE = 1 << 18  # products of many class means, for many removals, would fill memory


class Whitened(NamedTuple):
    """Squared distances of points from class means, and what their rounding depends on."""

    full: Floats  # (trials, classes, points)
    reduced: Floats  # (trials, classes, removals, points)
    reach: Floats  # largest length of w and w' over the classes, (trials, removals, points)
    gap: Floats  # 1 − g|a|², (trials, removals)
    within: Floats  # W, (trials, d, d)
    pivots: Floats  # diagonal of L, (trials, d)
    clear: NDArray[np.bool_]  # all directions between class means are kept, (trials,)


def remove_each_row_of_classes(
    moments: ClassMoments, removed: RemovedRows, points: Floats, tolerance: float
) -> Whitened:
    """Measure distances in units of the covariance, with all rows and without each of the last."""
    within = moments.apart.mT @ moments.apart
    lower = cholesky(within)
    whiten = inverse_of_triangles(lower).mT
    rows = moments.apart[:, : -removed.own.shape[2] - 1 : -1] @ whiten
    squares = np.vecdot(rows, rows)
    gap = 1.0 - removed.factor * squares
    apart = (points[:, None] - moments.mean[:, :, None]) @ whiten[:, None]
    full = np.vecdot(apart, apart)
    along = rows[:, None] @ apart.mT  # a'w, (trials, classes, removals, points)
    shift, length = removed.shift[..., None], squares[:, None, :, None]
    reduced = full[:, :, None] + shift * (2.0 * along + shift * length)
    reduced += (removed.factor / gap)[:, None, :, None] * (along + shift * length) ** 2
    present = (moments.sizes > 0)[..., None, None]
    longest = np.sqrt(full)[:, :, None] + shift * np.sqrt(length)
    return Whitened(
        full=full,
        reduced=reduced,
        reach=np.max(longest, axis=1, where=present, initial=0.0),
        gap=gap,
        within=within,
        pivots=np.linalg.diagonal(lower),
        clear=_clear(moments, removed, rows, gap, whiten, tolerance),
    )


def _clear(
    moments: ClassMoments,
    removed: RemovedRows,
    rows: Floats,
    gap: Floats,
    whiten: Floats,
    tolerance: float,
) -> NDArray[np.bool_]:
    """Tell in which trials no fit drops a direction; two class means have only one."""
    trials, classes, removals = removed.own.shape
    if tolerance == 0.0 or classes <= 2:
        return np.ones(trials, dtype=np.bool_)
    means = (moments.centre - moments.mean) @ whiten
    between = (means @ means.mT)[:, None]
    clear = directions_are_clear(_weighted(between, moments.prior[:, None]), tolerance)[:, 0]
    along = (means @ rows.mT).mT  # (trials, removals, classes)
    shift, prior = removed.shift.mT, removed.left.mT / (moments.apart.shape[1] - 1)
    squares, inflation = np.vecdot(rows, rows)[..., None], (removed.factor / gap)[..., None, None]
    step = max(1, _NUMBERS_AT_ONCE // (trials * classes**2))
    for some in (slice(start, start + step) for start in range(0, removals, step)):
        cross = shift[:, some, :, None] * along[:, some, None, :]
        products = between + cross + cross.mT
        products += _outer(shift[:, some]) * squares[:, some, None]
        products += inflation[:, some] * _outer(along[:, some] + shift[:, some] * squares[:, some])
        kept = directions_are_clear(_weighted(products, prior[:, some]), tolerance)
        clear &= kept.all(axis=1)
    return np.asarray(clear)


def _outer(vectors: Floats) -> Floats:
    return np.asarray(vectors[..., :, None] * vectors[..., None, :])


def _weighted(products: Floats, prior: Floats) -> Floats:
    """Centre products of class means at the mean of all rows, and weight them by the priors."""
    centred = products - (products @ prior[..., None])
    centred -= prior[..., None, :] @ centred
    return np.asarray(centred * np.sqrt(_outer(prior)))
